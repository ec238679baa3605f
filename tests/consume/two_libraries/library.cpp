// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Compiled twice, as two shared libraries with other flags: NAME tells them apart.
#include <chorus/chorus.hpp>
#include <chorus/transport/thread.hpp>

#include <vector>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int JOIN(sum_by_, NAME)(void* net, int mine) {
    std::vector<int> v(5, mine);
    chorus::all_reduce(chorus::group{*static_cast<chorus::thread_transport*>(net)}, v, chorus::sum{});
    return v.back();
}

EXPORTED void JOIN(throw_by_, NAME)() { throw chorus::error{chorus::errc::invalid_argument, "on purpose"}; }

EXPORTED bool JOIN(catches_, NAME)(void (*thrower)()) {
    try {
        thrower();
    } catch (chorus::error const& caught) {
        return caught.code() == chorus::errc::invalid_argument;
    }
    return false;
}

EXPORTED void JOIN(run_by_, NAME)(unsigned ranks, void (*body)(void*, unsigned)) {
    chorus::thread_fleet{ranks}.run([&](chorus::thread_transport& net) { body(&net, net.rank()); });
}
