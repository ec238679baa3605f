// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/transport/self.hpp"
#include "chorus/transport/thread.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace chorus;

namespace {

template <class Act>
std::optional<error> refusal(Act const& act) {
    try {
        act();
    } catch (error const& refused) {
        return refused;
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("native on a transport that stands on no library with collectives is refused, naming the call and the transport") {
    thread_fleet fleet{2};
    fleet.run([](thread_transport& net) {
        std::vector<int> v(3, 1);
        auto const refused = refusal([&] { all_reduce(group{net}, v, sum{}, native{}); });
        REQUIRE(refused);
        CHECK((refused->code() == errc::unsupported || refused->code() == errc::poisoned));
        std::string const text = refused->what();
        CHECK(text.find("all_reduce on rank") != std::string::npos);
        CHECK(text.find('"' + std::string{kind_of(net)} + '"') != std::string::npos);
        CHECK(v == std::vector<int>(3, 1));
    });
}

TEST_CASE("native by name is refused alike") {
    self_transport net;
    auto const refused = refusal([&] { barrier(group{net}, algorithm_named("native")); });
    REQUIRE(refused);
    CHECK(refused->code() == errc::unsupported);
    CHECK(std::string{refused->what()}.find("barrier on rank 0: there is no native one") != std::string::npos);
}
