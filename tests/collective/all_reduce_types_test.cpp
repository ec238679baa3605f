// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_reduce.hpp"

#include "suites/all_reduced.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using namespace chorus;
using namespace suites;

namespace {

std::vector<chosen> const every_algorithm = algorithms_for(collective::all_reduce);

using all_elements = std::tuple<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                std::int64_t, std::uint64_t, half, bfloat16, float, double>;

template <class Visit> void for_each_element(Visit const& visit) {
    std::apply([&](auto... each) { (visit(each), ...); }, all_elements{});
}

}  // namespace

TEST_CASE("ZER-1, NBL-3: waiting for a sum or a mean of any type ends; without elements at once, and without memory") {
    for (rank_id size : {2u, 1u, 4u}) {
        failure_list failures;
        thread_fleet{size}.run([&](thread_transport& net) {
            group const members{net};
            auto const check = [&]<class T>(T three, std::size_t count, auto const& op, T expected) {
                for (chosen const& by : every_algorithm) {
                    std::vector<T> values(count, three);
                    std::span<T> const memory{values.data(), count};
                    plan work = by ? plan_all_reduce(members, memory, op, *by) : plan_all_reduce(members, memory, op);
                    work.start();
                    bool const ended = work.wait_for(std::chrono::seconds{5});
                    if (!ended || values != std::vector<T>(count, expected)) failures.add(work.describe());
                }
            };
            for_each_element([&](auto zero) {
                using T = decltype(zero);
                for (std::size_t count : {0u, 9u}) {
                    check(static_cast<T>(3), count, sum{}, static_cast<T>(static_cast<std::int8_t>(3 * size)));
                    check(static_cast<T>(3), count, mean{}, static_cast<T>(3));
                }
            });
        });
        expect_none(failures);
    }
}
