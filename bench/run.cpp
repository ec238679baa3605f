// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "run.hpp"
#include "plot.hpp"
#include "progress_line.hpp"
#include "record.hpp"
#include "table.hpp"

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

namespace {

/// Elements to measure: whole blocks where every rank has one, nothing for a barrier.
std::vector<std::uint64_t> counts_for(settings const& asked, chorus::rank_id ranks) {
    if (!asked.pattern && asked.what == chorus::collective::barrier) return {0};
    bool const in_blocks = !asked.pattern && chorus::has_block_per_rank(asked.what);
    std::uint64_t const unit = in_blocks ? ranks : 1;
    std::uint64_t const element = element_named(asked.element).bytes;
    std::vector<std::uint64_t> counts = element_counts(parse_sizes(asked.bytes), element * unit);
    for (std::uint64_t& count : counts) count *= unit;
    return counts;
}

row measure_collective(endpoint& net, settings const& asked, std::string const& algorithm, std::uint64_t count) {
    call_shape const shape{.what = asked.what,
                           .ranks = net.size(),
                           .root = asked.root,
                           .op = asked.op,
                           .element = &element_named(asked.element),
                           .count = count,
                           .in_place = asked.in_place,
                           .by_counts = asked.by_counts,
                           .uneven = asked.uneven,
                           .carried_by = carried_by(asked.carry, asked.what, asked.op, asked.element)};
    collective_call call{net, shape, algorithm};
    row made{.element = asked.element,
             .algorithm = algorithm,
             .chosen = call.algorithm(),
             .bytes = shape.bytes(),
             .count = count};
    if (asked.versus_native) {
        auto const other = net.native(shape);
        paired_timing both = measure_pair(net, call, *other, asked.how);
        made.taken = std::move(both.first);
        made.native = std::move(both.second);
    } else {
        made.taken = measure(net, call, asked.how);
    }
    made.rates =
        bandwidth_of(asked.what, net.size(), static_cast<double>(made.bytes), made.taken.time.median);
    made.carried = call.carried();
    return made;
}

row measure_pattern(endpoint& net, settings const& asked, std::uint64_t count) {
    std::uint64_t const bytes = count * element_named(asked.element).bytes;
    message_timing found =
        measure_messages(net, {.pattern = *asked.pattern, .bytes = bytes, .window = asked.window}, asked.how);
    row made{.element = asked.element, .algorithm = "messages", .chosen = "messages", .bytes = bytes, .count = count};
    made.taken.samples = std::move(found.samples);
    made.taken.time = found.time;
    made.taken.wrong = found.wrong;
    double const rate = found.time.median > 0 ? static_cast<double>(bytes) / found.time.median / 1e9 : 0;
    made.rates = {rate, rate};
    return made;
}

void write_plot(settings const& asked, endpoint const& net, std::vector<row> const& rows) {
    std::vector<curve> curves;
    for (std::string const& name : asked.algorithms) {
        curve line{name, {}};
        curve native{"native", {}};
        for (row const& r : rows) {
            if (!asked.pattern && r.algorithm != name) continue;
            line.points.emplace_back(static_cast<double>(r.bytes), 1e6 * r.taken.time.median);
            if (r.native) native.points.emplace_back(static_cast<double>(r.bytes), 1e6 * r.native->time.median);
        }
        curves.push_back(std::move(line));
        if (!native.points.empty() && curves.size() == 1) curves.push_back(std::move(native));
    }
    write_text(asked.plot, plot_svg(asked.subject + ", " + std::to_string(net.size()) + " ranks, " + asked.where.transport,
                                    "microseconds, median", curves));
}

/// Everything that is asked for, on this rank; rank 0 prints and writes. All ranks finish whatever is wrong.
int measure_all(endpoint& net, settings const& asked) {
    if (asked.root >= net.size()) throw std::invalid_argument{"--root is not below --ranks"};
    bool const speaks = net.rank() == 0;
    table const lines{asked};
    progress_line progress{speaks};
    std::vector<row> rows;
    std::uint64_t wrong = 0;
    std::string missed;
    if (speaks) lines.print_heading(net);
    std::vector<std::uint64_t> const counts = counts_for(asked, net.size());
    std::vector<std::string> const names = asked.pattern ? std::vector<std::string>{""} : asked.algorithms;
    for (std::uint64_t count : counts)
        for (std::string const& name : names) {
            std::uint64_t const bytes = count * element_named(asked.element).bytes;
            progress.show(rows.size(), counts.size() * names.size(),
                          asked.subject + ' ' + name + " at " + std::to_string(bytes) + " bytes");
            rows.push_back(asked.pattern ? measure_pattern(net, asked, count) : measure_collective(net, asked, name, count));
            row const& last = rows.back();
            wrong += last.wrong();
            if (missed.empty()) missed = asked.limits.missed(last.bytes, last.rates.bus, last.taken.time.median);
            progress.clear();
            if (speaks) lines.print(last);
        }
    if (speaks && !asked.json.empty()) write_json(asked, net, rows);
    if (speaks && !asked.csv.empty()) write_text(asked.csv, to_csv(asked, net, rows));
    if (speaks && !asked.plot.empty()) write_plot(asked, net, rows);
    net.barrier();
    if (speaks && wrong > 0) fmt::print(stderr, "chorus-bench: {} elements were wrong\n", wrong);
    if (speaks && !missed.empty()) fmt::print(stderr, "chorus-bench: {}\n", missed);
    return wrong > 0 || !missed.empty() ? 1 : 0;
}

}  // namespace

int run(settings const& asked) {
    settings complete = asked;
    complete.where = completed(asked.where);
    return run_ranks(complete.where, [&](endpoint& net) { return measure_all(net, complete); });
}

}  // namespace bench
