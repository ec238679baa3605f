// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/rendezvous_tcp.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "networks/faults.hpp"
#ifdef CHORUS_HAS_UCX
#include "chorus/transport/ucx.hpp"
#endif

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

// faults_local shm|ucx SCENARIO …: over what needs no launcher of its own.
int main(int argc, char** argv) {
    chorus::launch const own = chorus::launch_from_environment();
    bool const over_ucx = argc > 1 && std::string_view{argv[1]} == "ucx";
    return networks::run_fault(argc - 1, argv + 1, own.rank, own.size, [&] {
#ifdef CHORUS_HAS_UCX
        if (over_ucx) {
            auto meet = chorus::tcp_rendezvous::from_environment({.deadline = std::chrono::seconds{3}});
            return chorus::any_transport{std::make_unique<chorus::ucx_transport>(meet)};
        }
#endif
        if (over_ucx) throw std::runtime_error{"built without UCX"};
        return chorus::any_transport{std::make_unique<chorus::shared_memory_transport>(
            "faults" + std::to_string(own.port), own.rank, own.size,
            chorus::shared_memory_options{.join_within = std::chrono::seconds{3}})};
    });
}
