// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/ordered_arrivals.hpp"
#include "chorus/transport/detail/process_watch.hpp"
#include "chorus/transport/detail/silence_watch.hpp"
#include "chorus/transport/detail/ucx_context.hpp"
#include "chorus/transport/rendezvous.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
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
    std::vector<std::vector<host_address>> hosts;
    std::chrono::milliseconds silence;

    template <bootstrap Bootstrap>
    ucx_introduction(Bootstrap& meet, ucx_options const& options)
        : registrations{std::make_shared<ucx_registrations>(options)},
          worker{std::make_unique<ucx_worker>(registrations->context)}, me{meet.rank()}, identities(meet.size()),
          addresses(meet.size()), hosts(meet.size()), silence{options.silence} {
        expects(meet.size() <= arrival_prefix::most_ranks, [&] {
            return std::to_string(meet.size()) + " ranks over UCX: at most " + std::to_string(arrival_prefix::most_ranks) + " are possible";
        });
        std::vector<std::byte> const card = own_card();
        auto const cards = meet.exchange(std::span<std::byte const>{card});
        for (rank_id p = 0; p < identities.size(); ++p)
            if (p >= cards.size() || !read_card(p, cards[p]))
                raise(errc::mismatch, "rank " + std::to_string(p) + " told no UCX address: it uses another transport or version", p);
    }

    rank_id ranks_on_host() const noexcept {
        return static_cast<rank_id>(std::count_if(identities.begin(), identities.end(), [&](process_identity const& other) {
            return other.host == identities[me].host;
        }));
    }

 private:
    struct card_header {
        process_identity identity;
        std::uint64_t hosts = 0;  ///< addresses of this host, 16 bytes each, that follow; then comes UCX's
    };

    std::vector<std::byte> own_card() const {
        std::vector<host_address> const at = own_addresses();
        std::vector<std::byte> const address = worker->address();
        card_header const header{process_identity::own(), at.size()};
        std::vector<std::byte> card(sizeof header + at.size() * sizeof(host_address) + address.size());
        std::memcpy(card.data(), &header, sizeof header);
        if (!at.empty()) std::memcpy(card.data() + sizeof header, at.data(), at.size() * sizeof(host_address));
        std::memcpy(card.data() + card.size() - address.size(), address.data(), address.size());
        return card;
    }

    bool read_card(rank_id p, std::span<std::byte const> card) {
        card_header header;
        if (card.size() <= sizeof header) return false;
        std::memcpy(&header, card.data(), sizeof header);
        card = card.subspan(sizeof header);
        if (header.hosts >= card.size() / sizeof(host_address)) return false;
        identities[p] = header.identity;
        hosts[p].resize(header.hosts);
        std::size_t const bytes = header.hosts * sizeof(host_address);
        if (bytes > 0) std::memcpy(hosts[p].data(), card.data(), bytes);
        addresses[p].assign(card.begin() + static_cast<std::ptrdiff_t>(bytes), card.end());
        return true;
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
