// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "measure.hpp"
#include "run.hpp"

#include <chorus/transport/thread.hpp>

void bench::run_on_threads(settings const& asked) {
    chorus::thread_fleet{asked.ranks}.run([&](auto& net) { measure(net, asked); });
}
