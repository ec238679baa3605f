// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "tune.hpp"
#include "names.hpp"
#include "record.hpp"
#include "sizes.hpp"

#include <chorus/collective/tune.hpp>
#include <chorus/schedule/find_cliffs.hpp>
#include <chorus/schedule/import_rules.hpp>
#include <chorus/transport/shared_memory.hpp>
#include <chorus/transport/thread.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

namespace bench {

namespace {

struct tuning {
    std::string transport = "shm";
    std::vector<chorus::rank_id> ranks{2};
    std::string collectives;
    std::string algorithms;
    std::string bytes = "4:16M:x4";
    double seconds = 60;
    std::size_t repeat = 101;
    std::string file;
};

/// Writes a file as a whole or not at all. Throws std::runtime_error.
void write_whole(std::string const& path, chorus::selection_table const& table) {
    std::string const next = path + ".new";
    std::ofstream out{next};
    table.write(out);
    if (!out.flush()) throw std::runtime_error{"cannot write " + next};
    out.close();
    std::filesystem::rename(next, path);
}

/// What is in the file already stays, but for the collectives, transport and numbers of ranks that were measured.
void keep(std::string const& path, chorus::selection_table const& measured) {
    if (path.empty()) {
        measured.write(std::cout);
        std::cout.flush();
        return;
    }
    chorus::selection_table table;
    if (std::filesystem::exists(path)) table = chorus::selection_table::load(path);
    table.replace(measured);
    write_whole(path, table);
}

chorus::tune_options options_of(tuning const& asked) {
    chorus::tune_options options;
    options.bytes = parse_sizes(asked.bytes);
    options.seconds = asked.seconds / static_cast<double>(asked.ranks.size());
    options.repeat = asked.repeat;
    if (!asked.algorithms.empty())
        for (std::string const& name : split_names(asked.algorithms))
            options.candidates.push_back(chorus::algorithm_named(name));
    if (asked.collectives.empty()) return options;
    options.operations.clear();
    for (std::string const& name : split_names(asked.collectives)) {
        auto const what = chorus::detail::collective_named(name);
        if (!what) throw std::invalid_argument{"no collective '" + name + "'"};
        options.operations.push_back(*what);
    }
    return options;
}

void show_progress(chorus::tuning_step const& step) {
    fmt::print(stderr, "\r\033[K{}/{} {:.0f} s  {} of {} bytes: {}", step.done, step.all, step.seconds,
               to_string(step.measured.operation), step.measured.bytes, step.measured.times.front().algorithm.describe());
    if (step.done == step.all) fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
}

void print_summary(chorus::selection_table const& table) {
    for (chorus::selection_row const& row : table.rows()) fmt::print("{}\n", to_string(row));
    for (chorus::cliff const& found : chorus::find_cliffs(table)) fmt::print("cliff: {}\n", to_string(found));
    std::fflush(stdout);
}

template <chorus::transport Transport>
void measure(Transport& net, tuning const& asked) {
    chorus::group world{net};
    chorus::tune_options options = options_of(asked);
    bool const speaks = world.rank() == 0;
    if (speaks && ::isatty(STDERR_FILENO) == 1) options.report = show_progress;
    chorus::selection_table table = chorus::tune(world, options);
    if (!speaks) return;
    table.comments = {build_and_machine_in_words(), now_in_words() + " chorus-bench tune --transport " + asked.transport +
                                                        " --ranks " + std::to_string(world.size()) + " --bytes " + asked.bytes};
    if (!asked.file.empty()) print_summary(table);
    keep(asked.file, table);
}

void run(tuning const& asked) {
    options_of(asked);  // mistakes are told before anything is started
    if (!asked.file.empty() && std::filesystem::exists(asked.file)) chorus::selection_table::load(asked.file);
    auto const on_rank = [&](auto& net) { measure(net, asked); };
    for (chorus::rank_id ranks : asked.ranks) {
        if (asked.transport == "thread") chorus::thread_fleet{ranks}.run(on_rank);
        else chorus::process_fleet{ranks}.run(on_rank);
    }
}

struct foreign {
    std::string form;
    std::string rules;
    std::string file;
    std::int64_t nodes = 0;
};

void import_rules(foreign const& asked) {
    std::ifstream text{asked.rules};
    if (!text) throw std::runtime_error{"cannot read " + asked.rules};
    chorus::imported_table made = asked.form == "nccl" ? chorus::import_nccl_tuner(text, asked.rules, asked.nodes)
                                                       : chorus::import_open_mpi_rules(text, asked.rules);
    made.table.comments = {now_in_words() + " made of " + asked.rules + ", rules for " + asked.form};
    for (std::string const& why : made.left_out) fmt::print(stderr, "left out: {}\n", why);
    keep(asked.file, made.table);
}

void add_import(CLI::App& app) {
    auto const asked = std::make_shared<foreign>();
    CLI::App* const command = app.add_subcommand("import", "Makes a table of rules that were written for another library");
    command->add_option("form", asked->form, "open_mpi: coll_tuned_dynamic_rules_filename; nccl: the example tuner's CSV")
        ->required()
        ->check(CLI::IsMember({"open_mpi", "nccl"}));
    command->add_option("rules", asked->rules, "The file to read")->required();
    command->add_option("--nodes", asked->nodes, "nccl: take lines for so many nodes");
    command->add_option("--write", asked->file, "The table to write or add to; not given: standard output");
    command->callback([asked] { import_rules(*asked); });
}

}  // namespace

void add_tune(CLI::App& app) {
    auto const asked = std::make_shared<tuning>();
    CLI::App* const command =
        app.add_subcommand("tune", "Measures which algorithm is fastest where, and writes a table for automatic");
    command->option_defaults()->always_capture_default();
    command->add_option("--transport", asked->transport, "thread, or shm: processes of this host")
        ->check(CLI::IsMember({"thread", "shm"}));
    command->add_option("--ranks", asked->ranks, "How many; several numbers, separated by commas, one after another")
        ->delimiter(',')
        ->check(CLI::Range(1, 126));
    command->add_option("--collectives", asked->collectives, "Names separated by commas; not given: all");
    command->add_option("--algorithm", asked->algorithms, "Names separated by commas; not given: all worth measuring");
    command->add_option("--bytes", asked->bytes, "As for measuring");
    command->add_option("--seconds", asked->seconds, "All together; what is not reached is left to the cost model")
        ->check(CLI::Range(0.0, 1e6));
    command->add_option("--repeat", asked->repeat, "Timed calls of each algorithm at each size, at most")
        ->check(CLI::Range(1, 1000000));
    command->add_option("--write", asked->file,
                        "The table to write; rows for other transports or numbers of ranks in it are kept. Not given: "
                        "standard output");
    command->callback([asked] { run(*asked); });
    add_import(app);
}

}  // namespace bench
