// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/ordered_arrivals.hpp"
#include "chorus/transport/detail/process_watch.hpp"
#include "chorus/transport/detail/ucx_context.hpp"
#include "chorus/transport/rendezvous.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace chorus::detail {

/// What a rank has before it knows any other: a context, a worker, and then everybody's addresses.
struct ucx_introduction {
    std::shared_ptr<ucx_registrations> registrations;
    std::unique_ptr<ucx_worker> worker;
    rank_id me = 0;
    std::vector<process_identity> identities;
    std::vector<std::vector<std::byte>> addresses;

    template <bootstrap Bootstrap>
    ucx_introduction(Bootstrap& meet, ucx_options const& options)
        : registrations{std::make_shared<ucx_registrations>(options)},
          worker{std::make_unique<ucx_worker>(registrations->context)}, me{meet.rank()}, identities(meet.size()),
          addresses(meet.size()) {
        expects(meet.size() <= arrival_prefix::most_ranks, [&] {
            return std::to_string(meet.size()) + " ranks over UCX: at most " + std::to_string(arrival_prefix::most_ranks) + " are possible";
        });
        process_identity const own = process_identity::own();
        std::vector<std::byte> const address = worker->address();
        std::vector<std::byte> card(sizeof own + address.size());
        std::memcpy(card.data(), &own, sizeof own);
        std::memcpy(card.data() + sizeof own, address.data(), address.size());
        auto const cards = meet.exchange(std::span<std::byte const>{card});
        for (rank_id p = 0; p < identities.size(); ++p) {
            if (p >= cards.size() || cards[p].size() <= sizeof own)
                raise(errc::mismatch, "rank " + std::to_string(p) + " told no UCX address: it uses another transport or version", p);
            std::memcpy(&identities[p], cards[p].data(), sizeof own);
            addresses[p].assign(cards[p].begin() + sizeof own, cards[p].end());
        }
    }

    rank_id ranks_on_host() const noexcept {
        return static_cast<rank_id>(std::count_if(identities.begin(), identities.end(), [&](process_identity const& other) {
            return other.host == identities[me].host;
        }));
    }
};

/// "posix+cma" or "tcp/eth0", from what UCX prints about the lanes of an endpoint.
inline std::string ucx_route_of(ucp_ep_h endpoint) {
    std::string const lanes = printed_by([&](std::FILE* to) { ::ucp_ep_print_info(endpoint, to); });
    std::string route;
    for (std::size_t at = lanes.find("lane["); at != std::string::npos; at = lanes.find("lane[", at + 1)) {
        std::size_t const colon = lanes.find(':', lanes.find(':', at) + 1);
        std::size_t const end = lanes.find_first_of(". \n", colon);
        if (colon == std::string::npos || end == std::string::npos) break;
        std::string name = lanes.substr(colon + 1, end - colon - 1);
        if (name.ends_with("/memory")) name.resize(name.find('/'));
        if (route.find(name) == std::string::npos) route += (route.empty() ? "" : "+") + name;
    }
    return route.empty() ? "an unknown route" : route;
}

}  // namespace chorus::detail
