// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include <doctest/doctest.h>

#include "chorus/transport/hierarchical.hpp"

#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/discover_layout.hpp"
#include "chorus/schedule/hierarchical.hpp"
#include "chorus/schedule/ring.hpp"
#include "chorus/transport/rendezvous_tcp.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/this_host.hpp"
#include "chorus/transport/ucx.hpp"
#include "networks/conformance.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using chorus::rank_id;
using chorus::topo::layout;

namespace {

struct carriers {
    carriers(std::unique_ptr<chorus::ucx_transport> between, std::string const& session, layout const& places)
        : between_hosts{std::move(between)},
          inside_host{session, places.local_rank(between_hosts->rank()),
                      static_cast<rank_id>(places.ranks_of(places.host_of(between_hosts->rank())).size())} {}

    std::unique_ptr<chorus::ucx_transport> between_hosts;
    chorus::shared_memory_transport inside_host;
};

/// Both carriers and what joins them, in the order in which they are needed.
class joined_hosts : carriers, public chorus::hierarchical_transport<chorus::shared_memory_transport, chorus::ucx_transport> {
 public:
    joined_hosts(std::unique_ptr<chorus::ucx_transport> between, std::string const& session, layout const& places)
        : carriers{std::move(between), session, places}, hierarchical_transport{inside_host, *between_hosts, places} {}
};

/// "2,3": the first two ranks on one host, the next three on another; "dealt 2": ranks dealt out to two hosts.
layout parsed(std::string_view text, rank_id size) {
    auto const number = [](std::string_view digits) {
        rank_id value = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return value;
    };
    constexpr std::string_view dealt = "dealt ";
    if (text.substr(0, dealt.size()) == dealt) return layout::round_robin(size, number(text.substr(dealt.size())));
    std::vector<rank_id> host_of;
    for (rank_id host = 0; !text.empty(); ++host) {
        auto const comma = text.find(',');
        host_of.insert(host_of.end(), number(text.substr(0, comma)), host);
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    }
    return layout{host_of};
}

/// What the launcher started, on hosts that are real or, on one machine, agreed upon.
class meeting_of_hosts {
 public:
    explicit meeting_of_hosts(std::optional<std::string> agreed) : agreed_{std::move(agreed)} {}

    rank_id rank() const { return meet_.rank(); }
    rank_id size() const { return meet_.size(); }
    bool has_real_hosts() const { return !agreed_; }

    std::unique_ptr<joined_hosts> join() {
        auto between = std::make_unique<chorus::ucx_transport>(meet_);
        layout const places = agreed_ ? parsed(*agreed_, size()) : chorus::discover_layout(chorus::group{*between}, chorus::this_host());
        std::string const session = "hosts" + std::to_string(own_.port) + "_" + std::to_string(joins_++) + "_" +
                                    std::to_string(places.host_of(rank()));
        return std::make_unique<joined_hosts>(std::move(between), session, places);
    }

 private:
    chorus::launch own_ = chorus::launch_from_environment();
    chorus::tcp_rendezvous meet_ = chorus::tcp_rendezvous::from_environment();
    std::optional<std::string> agreed_;
    int joins_ = 0;
};

std::unique_ptr<meeting_of_hosts> all_hosts;

/// Bytes that have left this host by its cable, with all headers.
std::uint64_t bytes_on_cable() {
    std::uint64_t bytes = 0;
    std::ifstream{"/sys/class/net/eth0/statistics/tx_bytes"} >> bytes;
    return bytes;
}

struct host_traffic {
    std::vector<std::uint64_t> payload;  // that each host sent to others
    std::uint64_t on_cable = 0;          // of this one
};

template <class Algorithm>
host_traffic traffic_of(joined_hosts& net, std::vector<rank_id> const& order, std::uint64_t count, Algorithm const& algorithm) {
    auto const world = chorus::group{net}.within(std::chrono::seconds{20});
    auto const members = world.subgroup(order);
    std::vector<std::int32_t> v(count, static_cast<std::int32_t>(net.rank() + 1));
    chorus::barrier(world);
    host_traffic seen{std::vector<std::uint64_t>(net.places().hosts()), bytes_on_cable()};
    chorus::barrier(world);  // nobody sends before all have looked
    std::vector<std::uint64_t> own{net.bytes_between()};
    chorus::all_reduce(members, v, chorus::sum{}, algorithm);
    own[0] = net.bytes_between() - own[0];
    chorus::barrier(world);
    seen.on_cable = bytes_on_cable() - seen.on_cable;
    auto const p = static_cast<std::int32_t>(net.size());
    CHECK(v == std::vector<std::int32_t>(count, p * (p + 1) / 2));
    std::vector<std::uint64_t> all(net.size());
    chorus::all_gather(world, own, all);
    for (rank_id r = 0; r < net.size(); ++r) seen.payload[net.places().host_of(r)] += all[r];
    return seen;
}

}  // namespace

TEST_CASE("of every host one vector's worth leaves by two levels, more by a flat ring") {
    auto const net = all_hosts->join();
    layout const& places = net->places();
    std::uint64_t const h = places.hosts();
    std::uint64_t const p = places.size();
    std::uint64_t const count = 60 * h * p * (all_hosts->has_real_hosts() ? 500 : 50);
    std::uint64_t const n = 4 * count;
    chorus::hierarchical const two_levels{chorus::ring{}, chorus::ring{}, 1, places.sizes()};
    host_traffic const by_two = traffic_of(*net, places.order(), count, two_levels);
    host_traffic const by_ring = traffic_of(*net, places.order(), count, chorus::ring{});
    CHECK(by_two.payload == std::vector<std::uint64_t>(h, 2 * (h - 1) * n / h));
    CHECK(by_ring.payload == std::vector<std::uint64_t>(h, 2 * (p - 1) * n / p));
    if (!all_hosts->has_real_hosts()) return;
    CHECK(h > 1);
    std::uint64_t const counted = by_two.payload[0];  // the cable has headers, acknowledgements and all other talk too
    INFO("payload ", counted, " bytes, on the cable ", by_two.on_cable);
    CHECK(by_two.on_cable >= counted);
    CHECK(by_two.on_cable <= counted + counted / 10 + 200'000);
}

// Shared memory inside each host, UCX between them. Options, besides those of the conformance: --hosts LAYOUT (see `parsed`)
// makes hosts of the ranks of one machine; without it ranks share a host where `this_host()` is the same.
int main(int argc, char** argv) {
    std::optional<std::string> agreed;
    for (int i = 1; i + 1 < argc; ++i)
        if (std::string_view{argv[i]} == "--hosts") agreed = argv[i + 1];
    all_hosts = std::make_unique<meeting_of_hosts>(std::move(agreed));
    int const code = networks::run_conformance(argc, argv, all_hosts->rank(), all_hosts->size(),
                                               [] { return chorus::any_transport{all_hosts->join()}; });
    all_hosts.reset();
    return code;
}
