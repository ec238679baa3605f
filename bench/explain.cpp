// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "explain.hpp"
#include "compress.hpp"
#include "sizes.hpp"

#include <chorus/schedule/automatic.hpp>
#include <chorus/schedule/explain.hpp>
#include <chorus/schedule/find_cliffs.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace bench {

namespace {

struct question {
    std::string what;
    std::string transport = "shm";
    chorus::rank_id ranks = 2;
    std::string bytes = "4:16M:x16";
    std::string table;
    bool in_order = false;
    bool uneven = false;
    chorus::rank_id cores = 0;
    std::string carry;
    compression_link over{};
};

void answer(question const& asked) {
    auto const what = chorus::detail::collective_named(asked.what);
    if (!what) throw std::invalid_argument{"no collective '" + asked.what + "'"};
    chorus::automatic const chooser =
        asked.table.empty() ? chorus::automatic{} : chorus::automatic::load(asked.table);
    if (!asked.carry.empty() && *what != chorus::collective::all_reduce)
        throw std::invalid_argument{"--carry: whether a compressor pays is told for all_reduce"};
    compression_link over = asked.over;
    over.ranks = asked.ranks;
    for (std::uint64_t bytes : parse_sizes(asked.bytes)) {
        fmt::print("{}", chorus::explain(chooser, {*what, asked.ranks, bytes, asked.transport, asked.in_order, asked.uneven, asked.cores}));
        if (!asked.carry.empty()) fmt::print("  carried by {}\n", advice(asked.carry, bytes, over));
    }
    if (!chooser.table) return;
    for (chorus::cliff const& found : chorus::find_cliffs(*chooser.table))
        if (found.operation == *what && found.ranks == asked.ranks && found.transport == asked.transport)
            fmt::print("cliff: {}\n", to_string(found));
}

}  // namespace

void add_explain(CLI::App& app) {
    auto const asked = std::make_shared<question>();
    CLI::App* const command = app.add_subcommand("explain", "What automatic chooses for each size, and why");
    command->option_defaults()->always_capture_default();
    command->add_option("collective", asked->what, "all_reduce, broadcast, ...")->required();
    command->add_option("--transport", asked->transport, "As a table names it: thread, shm, mpi, ucx");
    command->add_option("--ranks", asked->ranks, "How many")->check(CLI::Range(1, 100000));
    command->add_option("--bytes", asked->bytes, "As for measuring");
    command->add_option("--table", asked->table, "A table that `tune` wrote");
    command->add_flag("--in-order", asked->in_order, "The operation does not commute");
    command->add_flag("--uneven", asked->uneven, "Blocks of an all-to-all differ in length");
    command->add_option("--cores", asked->cores, "On which the ranks take turns; 0: each has its own");
    command->add_option("--carry", asked->carry, "A compressor: whether an all-reduce that it carries is faster over --link, by rates measured now");
    command->add_option("--link", asked->over.rate, "1Gbit, 100Mbit, 12GB, ...");
    command->add_option("--latency", asked->over.latency_microseconds, "Microseconds of a message")->check(CLI::NonNegativeNumber);
    command->callback([asked] { answer(*asked); });
}

}  // namespace bench
