// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "run.hpp"
#include "measure_row.hpp"
#include "record.hpp"
#include "sizes.hpp"
#include "table.hpp"

#include <chorus/chorus.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace bench {

namespace {

using elements = std::tuple<float, double, chorus::half, chorus::bfloat16, std::int8_t, std::int16_t, std::int32_t,
                            std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

/// Calls visit(Element{}) for the element of that name. Throws std::invalid_argument.
template <class Visit>
void with_element(std::string const& name, Visit visit) {
    bool const found = std::apply(
        [&](auto... each) { return ((chorus::element_name<decltype(each)>() == name && (visit(each), true)) || ...); },
        elements{});
    if (!found) throw std::invalid_argument{"no element '" + name + "'"};
}

/// Elements to measure: whole blocks where every rank has one, nothing for a barrier.
std::vector<std::uint64_t> counts_for(settings const& asked, std::uint64_t element_bytes) {
    if (asked.what == chorus::collective::barrier) return {0};
    bool const in_blocks = chorus::has_block_per_rank(asked.what);
    std::uint64_t const unit = in_blocks ? asked.ranks : 1;
    std::vector<std::uint64_t> counts = element_counts(parse_sizes(asked.bytes), element_bytes * unit);
    for (std::uint64_t& count : counts) count *= unit;
    return counts;
}

/// Measures everything that is asked for, on this rank; rank 0 prints and writes. All ranks finish whatever is wrong;
/// then rank 0 throws if anything was.
template <chorus::transport Transport>
void measure(Transport& net, settings const& asked) {
    chorus::group world{net};
    bool const speaks = world.rank() == 0;
    table const lines{asked};
    std::vector<row> rows;
    std::uint64_t wrong = 0;
    if (speaks) lines.print_heading();
    with_element(asked.element, [&]<class Element>(Element) {
        for (std::uint64_t count : counts_for(asked, sizeof(Element)))
            for (std::string const& name : asked.algorithms) {
                if (speaks) lines.print_progress(name, count * sizeof(Element));
                rows.push_back(measurement<Element>::run(world, asked, name, count));
                wrong += rows.back().wrong;
                if (speaks) lines.print(rows.back());
            }
    });
    if (speaks && !asked.json.empty()) write_json(asked, rows);
    chorus::barrier(world);
    if (speaks && wrong > 0) throw std::runtime_error{std::to_string(wrong) + " elements were wrong"};
}

}  // namespace

void run(settings const& asked) {
    auto const on_rank = [&](auto& net) { measure(net, asked); };
    if (asked.transport == "thread") chorus::thread_fleet{asked.ranks}.run(on_rank);
    else chorus::process_fleet{asked.ranks}.run(on_rank);
}

}  // namespace bench
