// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/bandwidth.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using bench::bandwidth_of;
using chorus::collective;

TEST_CASE("BEN-4: bandwidth of 1 MiB in 1 ms over 4 ranks") {
    auto const bus = [](collective operation) { return bandwidth_of(operation, 4, 1048576, 1e-3).bus; };
    for (collective operation : chorus::all_collectives)
        CHECK(bandwidth_of(operation, 4, 1048576, 1e-3).algorithm == doctest::Approx(1.048576).epsilon(1e-12));
    CHECK(bus(collective::all_reduce) == doctest::Approx(1.572864).epsilon(1e-12));
    for (collective operation : {collective::reduce_scatter, collective::all_gather, collective::all_to_all,
                                 collective::gather, collective::scatter})
        CHECK(bus(operation) == doctest::Approx(0.786432).epsilon(1e-12));
    for (collective operation :
         {collective::broadcast, collective::reduce, collective::scan, collective::exclusive_scan})
        CHECK(bus(operation) == doctest::Approx(1.048576).epsilon(1e-12));
    CHECK(bus(collective::barrier) == 0);
}

TEST_CASE("BEN-4: one rank has no bus bandwidth") {
    for (collective operation : chorus::all_collectives) {
        CHECK(bandwidth_of(operation, 1, 1048576, 1e-3).bus == 0);
        CHECK(bandwidth_of(operation, 0, 1048576, 1e-3).bus == 0);
    }
}

TEST_CASE("BEN-4: never infinite, never not a number") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    for (collective operation : chorus::all_collectives)
        for (unsigned ranks : {0u, 1u, 2u, 4294967295u})
            for (double bytes : {0.0, 1.0, 1e18, nan})
                for (double seconds : {0.0, -1.0, 1e-9, 1e9, nan}) {
                    auto const found = bandwidth_of(operation, ranks, bytes, seconds);
                    CHECK(std::isfinite(found.algorithm));
                    CHECK(std::isfinite(found.bus));
                    if (!(seconds > 0)) CHECK(found.algorithm == 0);
                }
}
