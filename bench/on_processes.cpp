// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "measure.hpp"
#include "run.hpp"

#include <chorus/transport/shared_memory.hpp>

void bench::run_on_processes(settings const& asked) {
    chorus::process_fleet{asked.ranks}.run([&](auto& net) { measure(net, asked); });
}
