// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/ucx.hpp"

#include "suites/transport_suite.hpp"

#include <doctest/doctest.h>

using chorus::rank_id;
using chorus::ucx_fleet;
using chorus::ucx_options;

namespace {

ucx_options const shared_memory{.transports = "posix,cma,self"};
ucx_options const loopback{.transports = "tcp", .devices = "lo"};

}  // namespace

TEST_CASE("the laws of a transport hold over UCX through shared memory") {
    suites::check_transport([](rank_id p) { return ucx_fleet{p, shared_memory}; });
}

TEST_CASE("the laws of a transport hold over UCX through TCP") {
    suites::check_transport([](rank_id p) { return ucx_fleet{p, loopback}; });
}
