// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/shared_memory.hpp"

#include "chorus/transport/rendezvous_environment.hpp"
#include "networks/conformance.hpp"

#include <memory>
#include <string>

// Processes that a launcher has started meet in shared memory by name.
int main(int argc, char** argv) {
    chorus::launch const own = chorus::launch_from_environment();
    int meetings = 0;
    return networks::run_conformance(argc, argv, own.rank, own.size, [&] {
        std::string const name = "conformance" + std::to_string(own.port) + "_" + std::to_string(meetings++);
        return chorus::any_transport{std::make_unique<chorus::shared_memory_transport>(name, own.rank, own.size)};
    });
}
