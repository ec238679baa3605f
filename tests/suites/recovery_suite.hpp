// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "suites/transport_suite.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

// What `recover` owes, for any transport: the living agree on who lives, and nothing of what was under way comes through.
//
//     suites::check_recovery(make_fleet, [](auto& net) { /* end this rank as roughly as the transport knows */ });
namespace suites {

/// Everybody to everybody among `alive`, short and long, on a stream on which junk was under way before.
template <class Net>
void exchange_among(rank_of<Net>& rank, std::vector<chorus::rank_id> const& alive, std::uint64_t round) {
    for (std::size_t many : {std::size_t{8}, std::size_t{3000}, std::size_t{200000}}) {
        std::vector<bytes> out;
        std::vector<bytes> in(alive.size(), bytes(many));
        std::vector<typename Net::ticket> open;
        for (chorus::rank_id p : alive) out.push_back(payload(many, rank.me(), p, 50, round));
        for (std::size_t i = 0; i < alive.size(); ++i) {
            open.push_back(rank.send(alive[i], 50, out[i]));
            open.push_back(rank.recv(alive[i], 50, in[i]));
        }
        rank.finish(open, "exchange after recovery");
        for (std::size_t i = 0; i < alive.size(); ++i)
            rank.check(in[i] == payload(many, alive[i], rank.me(), 50, round), "wrong bytes after recovery");
    }
}

/// Sends that nobody takes and receives that nobody serves are pending when rank `victim` dies; the others recover.
template <class Net, class Die>
bool lose_one(rank_of<Net>& rank, std::vector<chorus::rank_id>& alive, chorus::rank_id victim, Die const& die,
              std::uint64_t round) {
    exchange_among(rank, alive, 100 * round);
    bytes const junk_short(30);
    bytes const junk_long(300000);
    bytes never(64);
    std::vector<typename Net::ticket> open;
    for (chorus::rank_id p : alive) {
        open.push_back(rank.send(p, 50, junk_short));
        open.push_back(rank.send(p, 50, junk_long));
    }
    bytes ready(1);
    if (rank.me() == victim) {  // dies when the others are through with what came before
        std::vector<bytes> told(alive.size(), bytes(1));
        for (std::size_t i = 0; i < alive.size(); ++i)
            if (alive[i] != victim) {
                auto from = rank.recv(alive[i], 53, told[i]);
                rank.finish(from, "the others are ready");
            }
        die(rank.net());
        return false;
    }
    open.push_back(rank.send(victim, 53, ready));
    open.push_back(rank.recv(victim, 51, never));
    rank.check(rank.wait(open.back()) == chorus::progress::failed, "waits for a dead rank");
    for (auto& t : open) rank.net().cancel(t);
    std::erase(alive, victim);
    rank.check(rank.net().recover(std::chrono::seconds{10}) == alive, "other survivors");
    rank.check(rank.net().recoveries() == round, "recoveries are not counted");
    rank.check(!rank.net().is_aborted(), "is still aborted");
    exchange_among(rank, alive, 100 * round + 1);
    return true;
}

/// The victims die one after the other; each time the others go on.
template <class MakeFleet, class Die>
void check_recovery(MakeFleet const& make, Die const& die, chorus::rank_id ranks,
                    std::vector<chorus::rank_id> const& victims) {
    CAPTURE(ranks);
    CAPTURE(victims.front());
    outcome const seen = observe(make, ranks, [&](auto& rank) {
        std::vector<chorus::rank_id> alive;
        for (chorus::rank_id p = 0; p < ranks; ++p) alive.push_back(p);
        std::uint64_t round = 0;
        for (chorus::rank_id victim : victims)
            if (!lose_one(rank, alive, victim, die, ++round)) return;
        bytes in(8);
        auto lost = rank.recv(victims.front(), 52, in);
        rank.check(rank.wait(lost) == chorus::progress::failed, "a rank that was left behind is waited for");
        rank.check(rank.net().failure().code() == chorus::errc::peer_lost, "wrong code" + rank.reason());
    });
    for (std::string const& text : seen.failures) FAIL_CHECK(text);
}

template <class MakeFleet, class Die>
void check_recovery(MakeFleet const& make, Die const& die) {
    check_recovery(make, die, 2, {1});
    check_recovery(make, die, 2, {0});
    check_recovery(make, die, 3, {0});
    check_recovery(make, die, 5, {2, 0, 4});
}

}  // namespace suites
