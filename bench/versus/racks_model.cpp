// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/block_integer.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/schedule/combine.hpp"
#include "chorus/schedule/hierarchical.hpp"
#include "chorus/schedule/ring.hpp"
#include "chorus/schedule/timeline.hpp"
#include "chorus/topo/one_peer_exponential.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// What a training step takes by strategy, from 8 to 16 384 ranks in racks whose joining links are slow: predicted, not measured.
//
// Up to two million messages are simulated (schedule/timeline.hpp); beyond that a formula says it, which is printed beside the
// simulation wherever there is one, and must then agree to 5 %. Compressed rows are a hierarchical sum of as many bytes as one rank's message has: for
// top-k, whose messages grow as they meet, that is a lower bound. Computing is the same on all ranks and overlaps with nothing
// but in Pipe-SGD. Arguments: bytes of the model, seconds of computing a step, bits per second of a rank's link and of a
// rack's joining link, file for JSON:
//
//     racks_model 12000000 0.1 1e9 5e8 racks_model.json

// In units of the model over a link, with two racks of m and joining links u times slower, a large model and nothing computed: a ring
// takes (2 - 1/m) u, two floors 2 - 2/m + u, DS-Sync rack max(2 - 2/(m-1), u). Against the better of the two it is at most
// 2 - 1/m times faster, at u = 2: 1.75 for racks of 4, 1.94 from racks of 17 on. Computing brings this nearer to 1.

using namespace chorus;

namespace {

constexpr double most_messages = 2.2e6;
constexpr double local_period = 8;  // steps between the averages of local SGD

/// One kind of step: who sends what, and the same as formulas.
struct exchange {
    std::function<schedule(rank_id)> make;
    double messages = 0;
    double formula = 0;          // seconds
    double joining_formula = 0;  // bytes out of one rack
};

struct cluster {
    rank_id racks, width;
    network net;

    rank_id size() const { return racks * width; }
    double link(double bytes) const { return net.link.latency + bytes * net.link.per_byte; }
    /// `bytes` in each of `messages` that leave a rack at once.
    double joining(double bytes, double messages) const {
        return net.link.latency + net.uplink_latency +
               (std::max)(messages * bytes * net.uplink_per_byte, bytes * net.link.per_byte);
    }
};

/// A ring among some ranks, which are rank_of(0) … rank_of(count - 1).
template <class RankOf>
schedule ring_among(rank_id place, rank_id count, RankOf const& rank_of) {
    return mapped(ring{}.all_reduce(place, count), rank_of);
}

double rounds(rank_id ranks) { return 2.0 * (ranks - 1); }

exchange ring_of_all(cluster const& on, double bytes) {
    double const n = on.size(), sent = rounds(on.size()) / n * bytes;
    return {[&on](rank_id me) { return ring{}.all_reduce(me, on.size()); }, n * rounds(on.size()),
            rounds(on.size()) * on.joining(bytes / n, 1), on.racks > 1 ? sent : 0};
}

exchange two_floors(cluster const& on, double bytes) {
    double const m = on.width, r = on.racks;
    return {[&on](rank_id me) { return hierarchical<ring, ring>{.width = on.width}.all_reduce(me, on.size()); },
            m * r * (rounds(on.width) + rounds(on.racks)),
            rounds(on.width) * on.link(bytes / m) + rounds(on.racks) * on.joining(bytes / (m * r), m),
            rounds(on.racks) / r * bytes};
}

exchange rows(cluster const& on, double bytes) {
    return {[&on](rank_id me) {
                return ring_among(me % on.width, on.width, [&](rank_id p) { return me / on.width * on.width + p; });
            },
            on.size() * rounds(on.width), rounds(on.width) * on.link(bytes / on.width), 0};
}

exchange columns(cluster const& on, double bytes) {
    return {[&on](rank_id me) {
                return ring_among(me / on.width, on.racks, [&](rank_id p) { return p * on.width + me % on.width; });
            },
            on.size() * rounds(on.racks), rounds(on.racks) * on.joining(bytes / on.racks, on.width),
            on.width * rounds(on.racks) / on.racks * bytes};
}

/// Rank 0 of each rack with those of the others; the rest of a rack among themselves. Other delegates take as long.
exchange delegates(cluster const& on, double bytes) {
    rank_id const rest = on.width - 1;
    auto make = [&on, rest](rank_id me) {
        rank_id const rack = me / on.width, place = me % on.width;
        if (place == 0) return ring_among(rack, on.racks, [&](rank_id p) { return p * on.width; });
        return ring_among(place - 1, rest, [&](rank_id p) { return rack * on.width + 1 + p; });
    };
    return {make, on.racks * (rounds(on.racks) + rest * rounds(rest)),
            (std::max)(rounds(rest) * on.link(bytes / rest), rounds(on.racks) * on.joining(bytes / on.racks, 1)),
            rounds(on.racks) / on.racks * bytes};
}

exchange one_peer(cluster const& on, double bytes, step_id step) {
    auto make = [&on, step](rank_id me) {
        topo::neighbours const met = topo::one_peer_exponential{}.at(step, me, on.size());
        schedule s{1};
        block_range const arrived = s.slot({0, 1});
        s.round();
        for (rank_id const peer : met.to) s.send(peer, {0, 1});
        for (rank_id const peer : met.from) s.recv(peer, arrived);
        return s;
    };
    double leaving = 0;  // of the first rack, and of every other one
    for (rank_id me = 0; me < on.width; ++me)
        for (rank_id const peer : topo::one_peer_exponential{}.at(step, me, on.size()).to) leaving += peer >= on.width ? 1 : 0;
    return {make, static_cast<double>(on.size()), on.joining(bytes, leaving), leaving * bytes};
}

struct row {
    std::string name;
    double step = 0;      // seconds, computing included
    double formula = 0;   // the same by formula
    double joining = 0;   // bytes out of a rack, for each step
    bool is_simulated = true;
};

/// The mean over exchanges that take turns, `computed` seconds before each, one exchange in `every` steps.
row mean_of(std::string name, cluster const& on, std::vector<exchange> const& turns, double bytes, double computed,
            double every = 1, bool overlaps = false) {
    row result{.name = std::move(name)};
    double const share = 1.0 / static_cast<double>(turns.size());
    auto step_of = [&](double seconds) { return overlaps ? (std::max)(computed, seconds) : computed + seconds / every; };
    for (exchange const& turn : turns) {
        bool const is_simulated = turn.messages <= most_messages;
        double const seconds = is_simulated ? simulate(turn.make, on.size(), bytes, on.net).total : turn.formula;
        result.step += share * step_of(seconds);
        result.formula += share * step_of(turn.formula);
        result.is_simulated = result.is_simulated && is_simulated;
        double leaving = is_simulated ? 0 : turn.joining_formula;
        for (rank_id me = 0; is_simulated && me < on.width; ++me) {
            schedule const s = turn.make(me);
            for (step const& each : s.steps())
                if (each.kind == step_kind::send && each.peer >= on.width)
                    leaving += each.local.count * bytes / s.blocks();
        }
        result.joining += share * leaving / every;
    }
    return result;
}

std::vector<row> table_of(cluster const& on, double bytes, double computed) {
    auto const count = static_cast<std::size_t>(bytes / 4);
    double const int8 = static_cast<double>(block_integer{.bits = 8}.max_wire_bytes(count));
    double const sparse = static_cast<double>(top_k{0.01}.max_wire_bytes(count));
    std::vector<exchange> gossip;
    for (step_id step = 0; step < topo::one_peer_exponential{}.period(on.size()); ++step)
        gossip.push_back(one_peer(on, bytes, step));
    exchange const floors = two_floors(on, bytes);
    return {mean_of("ring BSP", on, {ring_of_all(on, bytes)}, bytes, computed),
            mean_of("hierarchical BSP", on, {floors}, bytes, computed),
            mean_of("local SGD, every 8 steps", on, {floors}, bytes, computed, local_period),
            mean_of("DS-Sync grid", on, {rows(on, bytes), columns(on, bytes)}, bytes, computed),
            mean_of("DS-Sync rack", on, {delegates(on, bytes)}, bytes, computed),
            mean_of("Pipe-SGD", on, {floors}, bytes, computed, 1, true),
            mean_of("one-peer gossip", on, gossip, bytes, computed),
            mean_of("int8 BSP", on, {two_floors(on, int8)}, int8, computed),
            mean_of("top-k 1 % BSP", on, {two_floors(on, sparse)}, sparse, computed)};
}

}  // namespace

int main(int argc, char** argv) {
    auto const argument = [&](int at, double otherwise) { return argc > at ? std::strtod(argv[at], nullptr) : otherwise; };
    double const bytes = argument(1, 12e6), computed = argument(2, 0.1), rate = argument(3, 1e9), joining = argument(4, 5e8);
    std::string json;
    bool agree = true;
    for (auto const& [racks, width] : {std::pair<rank_id, rank_id>{2, 4}, {2, 17}, {4, 16}, {32, 32}, {128, 128}}) {
        cluster const on{racks, width,
                         {.link = {.latency = 50e-6, .per_byte = 8 / rate, .per_reduced_byte = 1e-10},
                          .rack = width, .uplink_latency = 0, .uplink_per_byte = 8 / joining}};
        std::printf("\n%u ranks, %u racks of %u: %.1f MB, %.0f ms of computing, links %.0f Mbit/s, joining links %.0f Mbit/s\n\n",
                    on.size(), racks, width, bytes / 1e6, computed * 1e3, rate / 1e6, joining / 1e6);
        std::printf("| strategy | ms a step | by formula | faster than hierarchical BSP | MB out of a rack a step |\n| --- | --- | --- | --- | --- |\n");
        std::vector<row> const all = table_of(on, bytes, computed);
        for (row const& r : all) {
            std::printf("| %s | %.1f%s | %.1f | %.2f | %.2f |\n", r.name.c_str(), r.step * 1e3, r.is_simulated ? "" : " (formula)",
                        r.formula * 1e3, all[1].step / r.step, r.joining / 1e6);
            char line[400];
            std::snprintf(line, sizeof line,
                          "%s  {\"ranks\": %u, \"racks\": %u, \"strategy\": \"%s\", \"step_seconds\": %.9g, \"formula_seconds\": %.9g, "
                          "\"simulated\": %s, \"joining_bytes\": %.9g}",
                          json.empty() ? "" : ",\n", on.size(), racks, r.name.c_str(), r.step, r.formula,
                          r.is_simulated ? "true" : "false", r.joining);
            json += line;
            agree = agree && std::abs(r.step - r.formula) <= 0.05 * r.formula;
        }
        std::fflush(stdout);
    }
    if (!agree) return std::puts("\na formula is more than 5 % from what was simulated"), 1;
    if (argc <= 5) return 0;
    std::FILE* const file = std::fopen(argv[5], "w");
    if (file == nullptr) return std::perror(argv[5]), 1;
    std::fprintf(file, "[\n%s\n]\n", json.c_str());
    return std::fclose(file) == 0 ? 0 : 1;
}
