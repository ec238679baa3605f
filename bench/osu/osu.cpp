// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// The programs of OSU's micro-benchmarks over bench_engine. Each rank times its own calls and the ranks meet behind each,
// outside the timing; what is printed as average, least and greatest is over the ranks' means. Otherwise than there: results
// are compared bit for bit, for every type and operation, and no sum wraps; percentiles are of the slowest rank in each
// iteration, so that none is averaged away; each table has iterations of its own; sizes take suffixes; JSON and CSV hold
// every rank's time, skew and intervals.

#include "osu.hpp"

#include "../osu_options.hpp"
#include "../osu_text.hpp"
#include "../plot.hpp"
#include "../progress_line.hpp"
#include "../record.hpp"
#include "../settings.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace bench {

namespace {

/// One run of a program on one rank.
class osu_run {
 public:
    osu_run(endpoint& net, osu_program const& program, osu_options const& asked)
        : net_{net}, program_{program}, asked_{asked}, progress_{net.rank() == 0} {
        columns_.has_size = program.pattern || program.what != chorus::collective::barrier;
        columns_.overlaps = program.overlaps;
        columns_.is_bandwidth = program.pattern && *program.pattern != message_pattern::latency;
        columns_.is_full = asked.is_full;
        columns_.is_checked = asked.check;
        columns_.percentiles = asked.percentiles;
    }

    int run() {
        if (net_.size() < 2) throw std::invalid_argument{program_.name + " needs at least two ranks: --ranks 2, or a launcher"};
        if (asked_.root && *asked_.root >= net_.size())
            throw std::invalid_argument{"the root " + std::to_string(*asked_.root) + " is not below the number of ranks"};
        if (!asked_.log_folder.empty()) open_log();
        say(osu_title(program_.title, program_.overlaps));
        if (!asked_.carry.empty()) say("# Carried by: " + asked_.carry + ".\n");
        for (auto const& [shown, element] : asked_.types)
            if (int const code = run_type(shown, element_named(element)); code != 0) return finish(code);
        return finish(0);
    }

 private:
    void say(std::string const& text) const {
        if (net_.rank() != 0) return;
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
    }

    void open_log() {
        if (net_.rank() == 0 && !std::filesystem::create_directory(asked_.log_folder))
            throw std::runtime_error{"the folder for the logs is there already: " + asked_.log_folder};
        net_.barrier();
        log_.open(asked_.log_folder + "/log-" + std::to_string(net_.rank()) + ".log");
        if (!log_) throw std::runtime_error{"cannot write into " + asked_.log_folder};
        log_ << "position expected actual\n";
    }

    /// Sizes in bytes that this type can have and that fit in the memory allowed.
    std::vector<std::uint64_t> sizes_for(element_kind const& element) const {
        if (!columns_.has_size) return {0};
        std::uint64_t const copies = program_.has_block_size ? net_.size() : 1;
        std::vector<std::uint64_t> sizes;
        for (std::uint64_t size = asked_.smallest; size <= asked_.largest; size = size == 0 ? 1 : size * 2) {
            if (size >= element.bytes && size % element.bytes == 0 && size <= asked_.memory / copies) sizes.push_back(size);
            if (size > asked_.largest / 2 && size != 0) break;
        }
        return sizes;
    }

    int run_type(std::string const& shown, element_kind const& element) {
        if (columns_.has_size) say("# Datatype: " + shown + ".\n");
        say(osu_heading(columns_));
        std::vector<std::uint64_t> const sizes = sizes_for(element);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            progress_.show(i, sizes.size(), program_.name + ' ' + shown + " at " + std::to_string(sizes[i]) + " bytes");
            osu_row const printed = program_.pattern    ? run_messages(element, sizes[i])
                                    : program_.overlaps ? run_overlapping(element, sizes[i])
                                                        : run_blocking(element, sizes[i]);
            progress_.clear();
            say(osu_line(columns_, printed));
            if (printed.is_right) continue;
            say("DATA VALIDATION ERROR: " + program_.name + " exited with status 1 on message size " +
                std::to_string(sizes[i]) + ".\n");
            return 1;
        }
        return 0;
    }

    sampling sampling_for(std::uint64_t bytes) const {
        return {.warm_up = asked_.warm_up_for(bytes),
                .repeat = asked_.iterations_for(bytes),
                .at = meeting::after,
                .check = asked_.check,
                .rehearsals = asked_.rehearsals,
                .off_cache = asked_.off_cache,
                .spoil = asked_.spoil};
    }

    call_shape shape_for(element_kind const& element, std::uint64_t bytes) const {
        std::uint64_t const copies = program_.has_block_size ? net_.size() : 1;
        return {.what = program_.what,
                .ranks = net_.size(),
                .root = asked_.root.value_or(0),
                .op = asked_.op,
                .element = &element,
                .count = bytes / element.bytes * copies,
                .in_place = asked_.in_place,
                .by_counts = program_.by_counts,
                .carried_by = carried_by(asked_.carry, program_.what, asked_.op, element.name)};
    }

    std::unique_ptr<collective_call> call_for(call_shape const& shape) {
        chorus::rank_id const roots = asked_.root || !chorus::has_root(shape.what) ? 1 : net_.size();
        auto call = std::make_unique<collective_call>(net_, shape, asked_.algorithm, roots);
        if (log_.is_open())
            call->tell([this](std::uint64_t place, double expected, double found) {
                log_ << place << ' ' << expected << ' ' << found << '\n';
            });
        return call;
    }

    std::vector<double> percentiles_of(std::vector<double> const& sorted) const {
        std::vector<double> all;
        for (unsigned p : asked_.percentiles) all.push_back(1e6 * percentile(sorted, p));
        return all;
    }

    osu_row run_blocking(element_kind const& element, std::uint64_t bytes) {
        call_shape const shape = shape_for(element, bytes);
        auto const call = call_for(shape);
        sampling const how = sampling_for(bytes);
        timing taken = measure(net_, *call, how);
        osu_row printed{.size = bytes,
                        .average = 1e6 * taken.between_ranks.mean,
                        .minimum = 1e6 * taken.between_ranks.minimum,
                        .maximum = 1e6 * taken.between_ranks.maximum,
                        .iterations = how.repeat,
                        .is_right = taken.wrong == 0,
                        .percentiles = percentiles_of(taken.samples)};
        keep(shape, call->algorithm(), std::move(taken), call->carried());
        return printed;
    }

    osu_row run_overlapping(element_kind const& element, std::uint64_t bytes) {
        call_shape const shape = shape_for(element, bytes);
        auto const call = call_for(shape);
        sampling const how = sampling_for(bytes);
        overlap_timing taken = measure_overlap(net_, *call, how, asked_.advances, asked_.array);
        osu_row printed{.size = bytes,
                        .average = 1e6 * taken.overall,
                        .minimum = 1e6 * taken.pure.between_ranks.minimum,
                        .maximum = 1e6 * taken.pure.between_ranks.maximum,
                        .iterations = how.repeat,
                        .compute = 1e6 * taken.compute,
                        .start = 1e6 * taken.start,
                        .test = 1e6 * taken.advance,
                        .wait = 1e6 * taken.wait,
                        .pure = 1e6 * taken.pure.between_ranks.mean,
                        .overlap = taken.overlap,
                        .is_right = taken.wrong == 0,
                        .percentiles = percentiles_of(taken.samples)};
        taken.pure.wrong = taken.wrong;
        keep(shape, call->algorithm(), std::move(taken.pure), call->carried());
        return printed;
    }

    osu_row run_messages(element_kind const& element, std::uint64_t bytes) {
        message_shape const shape{.pattern = *program_.pattern, .bytes = bytes, .window = asked_.window,
                                  .own_buffers = asked_.own_buffers};
        message_timing taken = measure_messages(net_, shape, sampling_for(bytes));
        osu_row printed{.size = bytes, .average = 1e6 * taken.time.mean, .iterations = taken.samples.size(),
                        .is_right = taken.wrong == 0};
        auto const rate = [&](double seconds) { return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e6 : 0; };
        if (columns_.is_bandwidth) printed.average = rate(taken.time.mean);
        for (unsigned p : asked_.percentiles) {
            double const seconds = percentile(taken.samples, columns_.is_bandwidth ? 100 - p : p);
            printed.percentiles.push_back(columns_.is_bandwidth ? rate(seconds) : 1e6 * seconds);
        }
        timing kept;
        kept.time = taken.time;
        kept.samples = std::move(taken.samples);
        kept.wrong = taken.wrong;
        keep({.ranks = net_.size(), .element = &element, .count = bytes / element.bytes}, "messages", std::move(kept));
        return printed;
    }

    void keep(call_shape const& shape, std::string const& chosen, timing taken, std::optional<carried_facts> carried = {}) {
        row made{.element = std::string{shape.element->name},
                 .algorithm = asked_.algorithm,
                 .chosen = chosen,
                 .bytes = shape.bytes(),
                 .count = shape.count,
                 .carried = std::move(carried)};
        double const seconds = taken.time.median;
        made.rates = bandwidth_of(shape.what, net_.size(), static_cast<double>(made.bytes), seconds);
        if (program_.pattern) made.rates.bus = made.rates.algorithm;
        made.taken = std::move(taken);
        if (missed_.empty()) missed_ = asked_.limits.missed(made.bytes, made.rates.bus, seconds);
        rows_.push_back(std::move(made));
    }

    int finish(int code) {
        settings as_settings{.subject = program_.name, .what = program_.what, .pattern = program_.pattern,
                             .where = asked_.where, .algorithms = {asked_.algorithm}, .op = asked_.op,
                             .root = asked_.root.value_or(0), .in_place = asked_.in_place, .by_counts = program_.by_counts,
                             .window = asked_.window, .carry = asked_.carry, .how = sampling_for(1), .json = asked_.json};
        as_settings.bytes = std::to_string(asked_.smallest) + ':' + std::to_string(asked_.largest);
        if (as_settings.where.transport.empty()) as_settings.where.transport = "launcher";
        if (net_.rank() == 0 && !asked_.json.empty()) write_json(as_settings, net_, rows_);
        if (net_.rank() == 0 && !asked_.csv.empty()) write_text(asked_.csv, to_csv(as_settings, net_, rows_));
        net_.barrier();
        if (net_.rank() == 0 && !missed_.empty()) fmt::print(stderr, "{}: {}\n", program_.name, missed_);
        return code != 0 || !missed_.empty() ? 1 : 0;
    }

    endpoint& net_;
    osu_program const& program_;
    osu_options const& asked_;
    osu_columns columns_;
    progress_line progress_;
    std::ofstream log_;
    std::vector<row> rows_;
    std::string missed_;
};

}  // namespace

int osu_main(char const* name, int argc, char** argv) {
    osu_program const program = osu_program_named(name);
    osu_options asked;
    try {
        asked = parse_osu_options(program, {argv + 1, argv + argc});
    } catch (std::exception const& problem) {
        fmt::print(stderr, "{}: {}\n", name, problem.what());
        std::fputs(osu_usage(program).c_str(), stdout);
        return 1;
    }
    if (asked.wants_help) {
        std::fputs(osu_usage(program).c_str(), stdout);
        return 0;
    }
    if (asked.wants_version) {
        std::fputs(osu_title(program.title, false).c_str() + 1, stdout);
        fmt::print("chorus: {}\n", build_and_machine_in_words());
        return 0;
    }
    if (asked.where.transport.empty() && (asked.where.ranks != 0 || !has_launcher())) asked.where.transport = "shm";
    try {
        return run_ranks(asked.where, [&](endpoint& net) { return osu_run{net, program, asked}.run(); });
    } catch (std::exception const& failure) {
        std::fflush(stdout);
        fmt::print(stderr, "{}: {}\n", name, failure.what());
        return 1;
    }
}

}  // namespace bench
