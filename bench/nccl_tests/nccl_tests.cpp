// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// The programs of nccl-tests over bench_engine, a rank in the place of a device.

#include "nccl_tests.hpp"

#include "../bandwidth.hpp"
#include "../nccl_options.hpp"
#include "../nccl_text.hpp"
#include "../progress_line.hpp"
#include "../record.hpp"

#include <chorus/base/error.hpp>
#include <chorus/version.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <stdexcept>

#include <unistd.h>

namespace bench {

namespace {

using nlohmann::json;

std::string library_in_words() {
    return fmt::format("chorus-{}.{}.{}", chorus::version_major, chorus::version_minor, chorus::version_patch);
}

json to_json(nccl_half const& half, bool checked) {
    json made{{"time", half.microseconds}, {"alg_bw", half.algorithm}, {"bus_bw", half.bus}};
    made["nwrong"] = checked && half.wrong ? json(*half.wrong) : json("N/A");
    if (half.iterations) {
        nccl_iterations const& i = *half.iterations;
        made["per_iteration"] = {{"times_us", {{"min", i.least}, {"max", i.most}}}, {"p50", i.p50}, {"p95", i.p95},
                                 {"p99", i.p99}, {"stdev", i.deviation}, {"cv", i.variation}};
    }
    if (half.carried) made["carried"] = to_json(*half.carried);
    return made;
}

std::string truth(bool value) { return value ? "true" : "false"; }

/// Created by us or not at all: NAME, else NAME.0, NAME.1, …
std::FILE* create_alone(std::string const& name) {
    for (int i = -1; i < 1000; ++i) {
        std::string const path = i < 0 ? name : name + '.' + std::to_string(i);
        if (std::FILE* const file = std::fopen(path.c_str(), "wx"); file != nullptr) return file;
        if (errno != EEXIST) break;
    }
    throw std::runtime_error{"cannot create " + name};
}

struct device {
    std::string host;
    std::int64_t pid = 0;
};

/// Who and where the ranks are, the same on all of them.
std::vector<device> all_devices(endpoint& net) {
    constexpr std::size_t words = 9;
    std::vector<std::int64_t> told(words * net.size(), 0);
    char host[64] = "";
    ::gethostname(host, sizeof host - 1);
    std::memcpy(told.data() + words * net.rank(), host, sizeof host);
    told[words * net.rank() + 8] = ::getpid();
    agree(net, told, operation::sum);
    std::vector<device> all;
    for (chorus::rank_id r = 0; r < net.size(); ++r) {
        char text[65] = "";
        std::memcpy(text, told.data() + words * r, 64);
        all.push_back({text, told[words * r + 8]});
    }
    return all;
}

class nccl_run {
 public:
    nccl_run(endpoint& net, nccl_program const& program, nccl_options const& asked, std::vector<std::string> const& arguments)
        : net_{net}, program_{program}, asked_{asked}, arguments_{arguments}, started_{now_in_words()}, progress_{net.rank() == 0} {}

    int run() {
        if (asked_.root && *asked_.root >= net_.size())
            throw std::invalid_argument{"the root " + std::to_string(*asked_.root) + " is not below the number of ranks"};
        devices_ = all_devices(net_);
        print_head();
        for (std::size_t cycle = 0; asked_.cycles == 0 || cycle < asked_.cycles; ++cycle) run_cycle();
        return finish();
    }

 private:
    void say(std::string const& text) const {
        if (net_.rank() != 0) return;
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
    }

    void print_head() const {
        std::string step = asked_.factor > 1 ? fmt::format("{:g}(factor)", asked_.factor) : fmt::format("{}(bytes)", asked_.step);
        say(fmt::format("# nccl-tests version 2.19.6 nccl-headers=none nccl-library={}\n", library_in_words()));
        say(fmt::format("# Collective test starting: {}\n", program_.name));
        say(fmt::format("# nThread {} nGpus {} minBytes {} maxBytes {} step: {} warmup iters: {} iters: {} agg iters: {} "
                        "validation: {} graph: 0 unalign: {}\n",
                        asked_.threads, asked_.per_thread, asked_.smallest, asked_.largest, step, asked_.warm_up,
                        asked_.iterations, asked_.aggregated, asked_.check_calls, asked_.unaligned));
        if (asked_.blocking != 0) say(fmt::format("# Blocking enabled: mode {}\n", asked_.blocking));
        if (asked_.per_iteration) say(fmt::format("# Per-iteration timing enabled, skipping {}\n", asked_.skipped));
        if (!asked_.carry.empty()) say(fmt::format("# Carried by: {}\n", asked_.carry));
        if (asked_.parallel_init) say("# Parallel init enabled: ranks start side by side\n");
        say("#\n# Using devices\n");
        for (std::size_t r = 0; r < devices_.size(); ++r)
            say(fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [0000:00:00] {}\n", r, 0, devices_[r].pid,
                            devices_[r].host, r, net_.describe()));
        say("#\n" + nccl_heading(asked_.per_iteration, asked_.stamps));
    }

    void run_cycle() {
        std::vector<std::uint64_t> const sizes = nccl_sizes(asked_);
        auto operations = asked_.operations;
        if (!program_.reduces()) operations = {{"none", operation::sum}};
        std::vector<chorus::rank_id> roots{asked_.root.value_or(0)};
        if (program_.has_root() && !asked_.root)
            for (chorus::rank_id r = 1; r < net_.size(); ++r) roots.push_back(r);
        for (auto const& [shown, element] : asked_.types)
            for (auto const& [name, op] : operations)
                for (chorus::rank_id root : roots)
                    for (std::size_t i = 0; i < sizes.size(); ++i) {
                        progress_.show(i, sizes.size(), fmt::format("{} {} at {} bytes", shown, name, sizes[i]));
                        run_row(shown, name, {.what = program_.what, .ranks = net_.size(), .root = root, .op = op,
                                              .element = &element_named(element), .unaligned = asked_.unaligned,
                                              .carried_by = carried_by(asked_.carry, program_.what, op, element)},
                                sizes[i]);
                    }
    }

    void run_row(std::string const& type, std::string const& op, call_shape shape, std::uint64_t bytes) {
        nccl_row row;
        row.type = type;
        row.operation = op;
        row.root = program_.has_root() ? static_cast<int>(shape.root) : -1;
        std::uint64_t const width = shape.element->bytes;
        if (program_.has_blocks()) {
            std::uint64_t const unit = (std::max)(16 / width, std::uint64_t{1});
            row.count = bytes / width / net_.size() / unit * unit;
            shape.count = row.count * net_.size();
        } else {
            row.count = shape.count = bytes / width;
        }
        row.size = shape.bytes();
        for (bool in_place : {false, true}) {
            if (in_place && !program_.has_in_place()) continue;
            shape.in_place = in_place;
            row.halves[in_place ? 1 : 0] = run_half(shape, row.size);
        }
        if (asked_.stamps) row.stamp = now_in_words();
        progress_.clear();
        say(nccl_line(row));
        rows_.push_back(std::move(row));
    }

    std::unique_ptr<measured_call> call_for(call_shape const& shape) {
        if (program_.is_shift) return std::make_unique<shift_call>(net_, shape);
        return std::make_unique<collective_call>(net_, shape, asked_.algorithm);
    }

    nccl_half run_half(call_shape const& shape, std::uint64_t bytes) {
        auto const call = call_for(shape);
        call->fill(0);
        for (std::size_t i = 0; i < asked_.warm_up; ++i) call->run();
        sampling const whole{.warm_up = 0,
                             .repeat = 1,
                             .batch = asked_.iterations * asked_.aggregated,
                             .barrier_in_batch = asked_.blocking == 1,
                             .check = asked_.check_calls > 0,
                             .check_calls = asked_.check_calls,
                             .spoil = asked_.spoil};
        timing const taken = measure(net_, *call, whole);
        double const seconds = asked_.average == 0   ? taken.own.front()
                               : asked_.average == 1 ? taken.between_ranks.mean
                               : asked_.average == 2 ? taken.between_ranks.minimum
                                                     : taken.between_ranks.maximum;
        bandwidth rates = bandwidth_of(shape.what, net_.size(), static_cast<double>(bytes), seconds);
        if (program_.is_shift) rates.bus = rates.algorithm;
        nccl_half half;
        half.microseconds = 1e6 * seconds;
        half.algorithm = rates.algorithm;
        half.bus = rates.bus;
        if (whole.check) half.wrong = taken.wrong;
        half.carried = call->carried();
        if (asked_.per_iteration) half.iterations = iterations_of(*call);
        wrong_ += taken.wrong;
        bus_sum_ += rates.bus;
        ++bus_count_;
        if (missed_.empty()) missed_ = asked_.limits.missed(bytes, rates.bus, seconds);
        return half;
    }

    nccl_iterations iterations_of(measured_call& call) {
        sampling const each{.warm_up = asked_.skipped, .repeat = asked_.iterations - asked_.skipped, .check = false};
        timing const taken = measure(net_, call, each);
        summary const& t = taken.time;
        return {.least = 1e6 * t.minimum,
                .most = 1e6 * t.maximum,
                .p50 = 1e6 * percentile(taken.samples, 50),
                .p95 = 1e6 * percentile(taken.samples, 95),
                .p99 = 1e6 * t.p99,
                .deviation = 1e6 * t.deviation,
                .variation = t.mean > 0 ? 100 * t.deviation / t.mean : 0};
    }

    int finish() {
        double const average = bus_count_ == 0 ? 0 : bus_sum_ / static_cast<double>(bus_count_);
        std::optional<bool> reached;
        if (asked_.least_bus) reached = average >= 0.9 * *asked_.least_bus;
        if (net_.rank() == 0 && !asked_.json.empty()) write_record(average, reached);
        say(nccl_footer(program_.name, wrong_, average, reached));
        net_.barrier();
        if (net_.rank() == 0 && !missed_.empty()) fmt::print(stderr, "{}: {}\n", program_.name, missed_);
        return wrong_ > 0 || !reached.value_or(true) || !missed_.empty() ? 1 : 0;
    }

    json config() const {
        json made{{"nthreads", asked_.threads},
                  {"ngpus", asked_.per_thread},
                  {"minimum_bytes", asked_.smallest},
                  {"maximum_bytes", asked_.largest},
                  {"warmup_iters", asked_.warm_up},
                  {"iterations", asked_.iterations},
                  {"aggregated_iterations", asked_.aggregated},
                  {"validation", asked_.check_calls},
                  {"graph", 0},
                  {"blocking_collectives", truth(asked_.blocking != 0)},
                  {"per_iter_timing", truth(asked_.per_iteration)},
                  {"per_iter_skip", asked_.skipped},
                  {"parallel_init", truth(asked_.parallel_init)}};
        if (asked_.factor > 1) made["step_factor"] = asked_.factor;
        else made["step_bytes"] = asked_.step;
        return made;
    }

    void write_record(double average, std::optional<bool> reached) const {
        json devices = json::array();
        for (std::size_t r = 0; r < devices_.size(); ++r)
            devices.push_back({{"rank", r}, {"group", 0}, {"pid", devices_[r].pid}, {"hostname", devices_[r].host}, {"device", r},
                               {"device_hex", "0000:00:00"}, {"device_info", net_.describe()}});
        json results = json::array();
        for (nccl_row const& row : rows_) {
            json made{{"size", row.size}, {"count", row.count}, {"type", row.type}, {"redop", row.operation}, {"root", row.root},
                      {"out_of_place", to_json(row.halves[0], true)}, {"in_place", to_json(row.halves[1], true)},
                      {"actual_iterations", asked_.iterations}, {"experiment_name", ""}};
            results.push_back(std::move(made));
        }
        json const all{{"version", 3},
                       {"start_time", started_},
                       {"args", arguments_},
                       {"env", json::object()},
                       {"nccl_version", library_in_words()},
                       {"machine", describe_build_and_machine()},
                       {"config", config()},
                       {"devices", devices},
                       {"results", results},
                       {"out_of_bounds", {{"count", wrong_}, {"okay", truth(wrong_ == 0)}}},
                       {"average_bus_bandwidth", {{"bandwidth", average}, {"okay", truth(reached.value_or(true))}}},
                       {"errors", json::array()},
                       {"end_time", now_in_words()}};
        std::FILE* const file = create_alone(asked_.json);
        std::string const text = all.dump(2) + '\n';
        bool const written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
        if (std::fclose(file) != 0 || !written) throw std::runtime_error{"cannot write " + asked_.json};
    }

    endpoint& net_;
    nccl_program const& program_;
    nccl_options const& asked_;
    std::vector<std::string> const& arguments_;
    std::string started_;
    progress_line progress_;
    std::vector<device> devices_;
    std::vector<nccl_row> rows_;
    std::uint64_t wrong_ = 0;
    double bus_sum_ = 0;
    std::size_t bus_count_ = 0;
    std::string missed_;
};

/// Under a launcher its processes are the ranks, one each; else -t times -g threads, or what --ranks and --transport say.
start ranks_for(nccl_options const& asked) {
    start where = asked.where;
    std::size_t const here = asked.threads * asked.per_thread;
    bool const launched = has_launcher() && where.ranks == 0 && where.transport != "thread" && where.transport != "self";
    if (launched && here == 1) return where;
    if (launched) throw std::invalid_argument{"under a launcher every process is one rank: -t 1 -g 1"};
    if (where.ranks == 0) where.ranks = static_cast<chorus::rank_id>(here);
    if (where.transport.empty()) where.transport = "thread";
    return where;
}

}  // namespace

int nccl_main(char const* name, int argc, char** argv) {
    nccl_program const program = nccl_program_named(name);
    std::vector<std::string> const arguments(argv, argv + argc);
    nccl_options asked;
    start where;
    try {
        asked = parse_nccl_options({argv + 1, argv + argc});
        where = ranks_for(asked);
        expect_carried(program, asked);
    } catch (std::exception const& problem) {
        fmt::print(stderr, "{}: {}\n", name, problem.what());
        std::fputs(nccl_usage(name).c_str(), stdout);
        return 1;
    }
    if (asked.wants_help) {
        std::fputs(nccl_usage(name).c_str(), stdout);
        return 0;
    }
    try {
        return run_ranks(where, [&](endpoint& net) { return nccl_run{net, program, asked, arguments}.run(); });
    } catch (chorus::error const& failure) {
        std::fflush(stdout);
        fmt::print(stderr, "{}: {}\n", name, failure.what());
        return failure.code() == chorus::errc::timed_out ? 4 : 3;
    } catch (std::exception const& failure) {
        std::fflush(stdout);
        fmt::print(stderr, "{}: {}\n", name, failure.what());
        return 1;
    }
}

}  // namespace bench
