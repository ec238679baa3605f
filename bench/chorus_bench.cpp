// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// chorus-bench: measures collectives and messages on the ranks of this host or of a launcher, and checks every result.

#include "compress.hpp"
#include "explain.hpp"
#include "list.hpp"
#include "names.hpp"
#include "run.hpp"
#include "settings.hpp"
#include "tune.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bench::settings;
using chorus::collective;

struct command_line {
    settings asked;
    std::string algorithms = "automatic";
    std::string operation = "sum";
    std::string versus;
    double at_least = 0;
    double at_most = 0;
    bool skip_check = false;
    CLI::Option* ranks = nullptr;
    CLI::Option* transport = nullptr;
};

/// A command: a collective, its form that is told the length of each block, or messages between two ranks.
struct subject {
    std::string name;
    collective what = collective::all_reduce;
    bool by_counts = false;
    std::optional<bench::message_pattern> pattern{};
};

std::vector<subject> all_subjects() {
    std::vector<subject> all;
    for (collective what : chorus::all_collectives) {
        std::string const name{chorus::to_string(what)};
        all.push_back({name, what, false});
        if (chorus::has_block_per_rank(what)) all.push_back({name + "_v", what, true});
    }
    for (auto pattern : {bench::message_pattern::latency, bench::message_pattern::bandwidth,
                         bench::message_pattern::bidirectional})
        all.push_back({std::string{to_string(pattern)}, collective::barrier, false, pattern});
    return all;
}

void add_general_options(CLI::App& app, command_line& line) {
    settings& asked = line.asked;
    std::string known;
    for (std::string_view name : bench::transports()) known += (known.empty() ? "" : ", ") + std::string{name};
    line.transport = app.add_option("--transport", asked.where.transport, "What carries the messages: " + known);
    line.ranks = app.add_option("--ranks", asked.where.ranks,
                                "How many are started, as threads (thread, ucx) or processes (shm); not given under a "
                                "launcher (torchrun, mpirun, srun), its ranks are taken")
                     ->check(CLI::Range(1, 126));
    app.add_option("--deadline", asked.where.seconds, "Seconds that an operation may take; 0: for ever");
    app.add_option("--element", asked.element, "float, double, half, bfloat16, int8 ... int64, uint8 ... uint64");
    app.add_option("--bytes", asked.bytes,
                   "A, A:B or A:B:xF: from A to B, both included, F times (2) as much each time; K, M, G are powers "
                   "of 1024. Of each rank's whole vector; rounded up to whole elements, and to equal blocks where "
                   "every rank has one");
    app.add_option("--warm-up", asked.how.warm_up, "Calls before the timed ones")->check(CLI::Range(0, 1000000));
    app.add_option("--repeat", asked.how.repeat, "Timed calls")->check(CLI::Range(1, 1000000));
    app.add_option("--within", asked.how.within,
                   "Go on, --repeat calls at a time, until the median is known within so many percent to either side, "
                   "with a probability of 95 %")
        ->check(CLI::Range(0.0, 100.0));
    app.add_option("--seconds", asked.how.seconds, "But for no longer than so many seconds per row");
    app.add_flag("--off-cache", asked.how.off_cache, "Displace what the caches hold before each call");
    app.add_flag("--no-check", line.skip_check, "Do not look at the results");
    app.add_option("--spoil", asked.how.spoil, "Flip a byte of each result on this rank, to see that it is noticed")
        ->default_str("no rank");
    app.add_option("--at-least", line.at_least, "GB/s of bus bandwidth that every row must reach, else the exit code is 1");
    app.add_option("--at-most", line.at_most, "Microseconds that every row's median must not exceed, else the exit code is 1");
    app.add_option("--json", asked.json, "Also write everything to this file");
    app.add_option("--csv", asked.csv, "Also write the rows to this file");
    app.add_option("--plot", asked.plot, "Also draw the medians into this SVG file, both axes logarithmic");
}

void add_options(CLI::App& app, command_line& line, subject const& of) {
    settings& asked = line.asked;
    app.option_defaults()->always_capture_default();
    add_general_options(app, line);
    if (of.pattern) {
        app.add_option("--window", asked.window, "Messages under way at once (bandwidth, bidirectional)")
            ->check(CLI::Range(1, 65536));
        return;
    }
    app.add_option("--algorithm", line.algorithms,
                   "Names separated by commas, as `chorus-bench list` shows them, automatic, or automatic(FILE) with a "
                   "table of measured choices");
    if (chorus::has_reduction(of.what)) app.add_option("--op", line.operation, "sum, product, minimum, maximum, mean");
    if (chorus::has_root(of.what)) app.add_option("--root", asked.root, "The root's rank");
    if (of.by_counts) app.add_flag("--uneven", asked.uneven, "Block b is b + 1 times as long as block 0");
    app.add_option("--carry", asked.carry,
                   "A compressor that carries the messages: half_cast, block_integer(bits=4), error_feedback(top_k(ratio=0.01)), ...; "
                   "of float, sum or mean")
        ->default_str("none");
    app.add_flag("--in-place", asked.in_place, "Input and output are the same memory");
    app.add_option("--versus", line.versus, "native: the transport's own collective, in turn with ours, and the ratio")
        ->check(CLI::IsMember({"native"}));
}

int run(command_line& line, subject const& of) {
    settings& asked = line.asked;
    bool const launched = bench::has_launcher() && line.ranks->count() == 0 &&
                          (line.transport->count() == 0 || (asked.where.transport != "thread" && asked.where.transport != "self"));
    if (launched) asked.where.ranks = 0;
    if (launched && line.transport->count() == 0) asked.where.transport.clear();
    if (line.ranks->count() == 0 && asked.where.transport == "self") asked.where.ranks = 1;
    asked.subject = of.name;
    asked.what = of.what;
    asked.pattern = of.pattern;
    asked.by_counts = of.by_counts;
    asked.how.check = !line.skip_check;
    asked.how.within /= 100;
    asked.algorithms = bench::split_names(line.algorithms);
    asked.op = bench::operation_named(line.operation);
    asked.versus_native = !line.versus.empty();
    if (line.at_least > 0) asked.limits.gigabytes_per_second = line.at_least;
    if (line.at_most > 0) asked.limits.microseconds = line.at_most;
    bench::parse_sizes(asked.bytes);
    bench::element_named(asked.element);
    if (!of.pattern) {
        if (of.what == collective::broadcast) asked.in_place = true;  // there is one buffer
        if (of.what == collective::all_to_all && asked.in_place)
            throw std::invalid_argument{"all_to_all cannot be in place"};
        bool const is_scan = of.what == collective::scan || of.what == collective::exclusive_scan;
        if (is_scan && asked.op == bench::operation::mean) throw std::invalid_argument{"a scan has no mean"};
        for (std::string const& name : asked.algorithms) bench::expect_offered(name, of.what);
        bench::carried_by(asked.carry, of.what, asked.op, asked.element);
    }
    if (!launched && asked.root >= asked.where.ranks) throw std::invalid_argument{"--root is not below --ranks"};
    if (!launched && asked.how.spoil != chorus::nobody && asked.how.spoil >= asked.where.ranks)
        throw std::invalid_argument{"--spoil is not below --ranks"};
    return bench::run(asked);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Measures collectives and messages and checks every result.\n"
                 "Ends with 0; with 1 if a result was wrong, a floor was missed or something failed."};
    app.require_subcommand(1);
    app.footer("Try:\n  chorus-bench list\n"
               "  chorus-bench all_reduce --ranks 4 --algorithm ring,rabenseifner,automatic --bytes 1K:4M:x4\n"
               "  chorus-bench broadcast --transport shm --ranks 3 --root 2 --element int8 --json out.json\n"
               "  chorus-bench latency --transport shm --bytes 1:4M --within 1 --plot latency.svg\n"
               "  chorus-bench all_reduce --ranks 4 --carry 'error_feedback(top_k(ratio=0.01))' --bytes 64K:16M:x4\n"
               "  chorus-bench compress half_cast,block_integer,top_k --bytes 16M --link 1Gbit\n"
               "  chorus-bench tune --transport shm --ranks 2,4 --write table.txt\n"
               "  chorus-bench explain all_gather --ranks 4 --bytes 1K:64M:x8 --table table.txt");
    app.add_subcommand("list", "The algorithms of every collective, with their costs on 8 and 64 ranks")
        ->callback(bench::print_algorithms);
    bench::add_compress(app);
    bench::add_explain(app);
    bench::add_tune(app);
    std::vector<subject> const subjects = all_subjects();
    std::vector<command_line> lines(subjects.size());
    int code = 0;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        CLI::App* const command = app.add_subcommand(subjects[i].name, "Measures " + subjects[i].name);
        add_options(*command, lines[i], subjects[i]);
        command->callback([&, i] { code = run(lines[i], subjects[i]); });
    }
#if !defined(__OPTIMIZE__)
    fmt::print(stderr, "chorus-bench: compiled without optimisation; its numbers mean nothing\n");
#endif
    try {
        app.parse(argc, argv);
        return code;
    } catch (CLI::ParseError const& problem) {
        return app.exit(problem);
    } catch (std::exception const& failure) {
        std::fflush(stdout);
        fmt::print(stderr, "chorus-bench: {}\n", failure.what());
        return 1;
    }
}
