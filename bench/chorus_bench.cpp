// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// chorus-bench: measures the collectives on threads or processes of this host and checks every result.

#include "list.hpp"
#include "names.hpp"
#include "run.hpp"
#include "settings.hpp"

#include <chorus/chorus.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace {

using bench::settings;

struct command_line {
    settings asked;
    std::string algorithms = "automatic";
    std::string operation = "sum";
    bool skip_check = false;
};

void add_options(CLI::App& app, command_line& line, chorus::collective what) {
    settings& asked = line.asked;
    app.option_defaults()->always_capture_default();
    app.add_option("--transport", asked.transport, "What a rank is: thread, or shm: a process, over shared memory")
        ->check(CLI::IsMember({"thread", "shm"}));
    app.add_option("--ranks", asked.ranks, "How many")->check(CLI::Range(1, 126));
    app.add_option("--algorithm", line.algorithms,
                   "Names separated by commas, as `chorus-bench list` shows them, or automatic");
    app.add_option("--element", asked.element, "float, double, half, bfloat16, int8 ... int64, uint8 ... uint64");
    app.add_option("--bytes", asked.bytes,
                   "A, A:B or A:B:xF: from A to B, both included, F times (2) as much each time; K, M, G are powers "
                   "of 1024. Of each rank's whole vector; rounded up to whole elements, and to equal blocks where "
                   "every rank has one");
    app.add_option("--warm-up", asked.warm_up, "Calls before the timed ones")->check(CLI::Range(0, 1000000));
    app.add_option("--repeat", asked.repeat, "Timed calls")->check(CLI::Range(1, 1000000));
    if (chorus::has_reduction(what))
        app.add_option("--op", line.operation, "sum, product, minimum, maximum");
    if (chorus::has_root(what)) app.add_option("--root", asked.root, "The root's rank");
    app.add_flag("--in-place", asked.in_place, "Input and output are the same memory");
    app.add_flag("--no-check", line.skip_check, "Do not look at the results");
    app.add_option("--spoil", asked.spoil, "Flip a byte of each result on this rank, to see that it is noticed")
        ->default_str("no rank");
    app.add_option("--json", asked.json, "Also write everything to this file");
}

void run(command_line& line, chorus::collective what) {
    settings& asked = line.asked;
    asked.what = what;
    asked.check = !line.skip_check;
    asked.algorithms = bench::split_names(line.algorithms);
    asked.op = bench::operation_named(line.operation);
    bench::parse_sizes(asked.bytes);
    if (what == chorus::collective::broadcast) asked.in_place = true;  // there is one buffer
    if (what == chorus::collective::all_to_all && asked.in_place)
        throw std::invalid_argument{"all_to_all cannot be in place"};
    if (asked.root >= asked.ranks) throw std::invalid_argument{"--root is not below --ranks"};
    if (asked.spoil != chorus::nobody && asked.spoil >= asked.ranks)
        throw std::invalid_argument{"--spoil is not below --ranks"};
    for (std::string const& name : asked.algorithms)
        if (name != "automatic" && !chorus::algorithm_named(name).supports(what))
            throw std::invalid_argument{name + " does not offer " + std::string{chorus::to_string(what)}};
    bench::run(asked);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Measures collectives on threads or processes of this host and checks every result.\n"
                 "Ends with another code than 0 if a result was wrong."};
    app.require_subcommand(1);
    app.footer("Try:\n  chorus-bench list\n"
               "  chorus-bench all_reduce --ranks 4 --algorithm ring,rabenseifner,automatic --bytes 1K:4M:x4\n"
               "  chorus-bench broadcast --transport shm --ranks 3 --root 2 --element int8 --json out.json");
    app.add_subcommand("list", "The algorithms of every collective, with their costs on 8 and 64 ranks")
        ->callback(bench::print_algorithms);
    command_line line;
    for (chorus::collective what : chorus::all_collectives) {
        std::string const name{chorus::to_string(what)};
        CLI::App* const command = app.add_subcommand(name, "Measures " + name);
        add_options(*command, line, what);
        command->callback([&line, what] { run(line, what); });
    }
#if !defined(__OPTIMIZE__)
    fmt::print(stderr, "chorus-bench: compiled without optimisation; its numbers mean nothing\n");
#endif
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& problem) {
        return app.exit(problem);
    } catch (std::exception const& failure) {
        std::fflush(stdout);
        fmt::print(stderr, "chorus-bench: {}\n", failure.what());
        return 1;
    }
}
