// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "compress.hpp"
#include "gradients.hpp"
#include "link_rate.hpp"
#include "names.hpp"
#include "plot.hpp"
#include "record.hpp"
#include "sizes.hpp"

#include <chorus/compress/compressors.hpp>
#include <chorus/compress/measure_codec.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

namespace {

struct question {
    std::string compressors = "all";
    std::string bytes = "64K:64M:x32";
    std::size_t repeat = 5;
    compression_link over{};
    bool insists = false;
    std::string json, csv, plot;
};

/// One compressor at one size.
struct answer {
    std::string compressor;
    std::uint64_t bytes = 0;
    chorus::codec_measurement found{};
    chorus::break_even_verdict verdict{};

    double seconds(double per_byte) const { return per_byte * static_cast<double>(bytes); }
    double rate(double per_byte) const { return 1e-9 / per_byte; }
    double less() const { return static_cast<double>(bytes) / found.message_bytes; }
    /// GB/s of the vector from the one who encodes to the one who has added it, over the link.
    double effective(double link) const {
        return 1e-9 * static_cast<double>(bytes) /
               (seconds(found.rates.per_encoded_byte) + found.message_bytes / link + seconds(found.rates.per_decoded_byte));
    }
    std::string in_short() const {
        return fmt::format("{} {:.2f}x", verdict.pays ? "pays" : "does not", verdict.dense.total() / verdict.compressed.total());
    }
};

std::vector<float> gradient(std::uint64_t bytes) {
    std::vector<float> x((std::max)(bytes / sizeof(float), std::uint64_t{1}));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = gradients::value(0, i);
    return x;
}

answer measure(std::string const& compressor, std::vector<float> const& vector, std::size_t repeat, compression_link const& over) {
    chorus::any_compressor by = chorus::compressor_named(compressor);
    answer made{compressor, vector.size() * sizeof(float), chorus::measure_codec(by, vector, repeat), {}};
    auto const rates = chorus::rates_of_link(parse_link(over.rate), over.latency_microseconds * 1e-6, made.found);
    made.verdict = chorus::break_even(static_cast<double>(made.bytes), over.ranks, rates, made.found.rates);
    return made;
}

void print(answer const& a, double link, std::size_t width) {
    auto const& r = a.found.rates;
    fmt::print("{:>11}  {:<{}} {:>11.2f} {:>11.2f} {:>8.2f} {:>8.2f} {:>7.2f} {:>7.2f} {:>11.0f} {:>7.2f} {:>9.3g} {:>9.3f}  {}\n", a.bytes, a.compressor,
               width, 1e6 * a.seconds(r.per_encoded_byte), 1e6 * a.seconds(r.per_decoded_byte), a.rate(r.per_encoded_byte), a.rate(r.per_decoded_byte),
               a.found.per_copied_byte / r.per_encoded_byte, a.found.per_copied_byte / r.per_decoded_byte, a.found.message_bytes, a.less(),
               a.found.relative_error, a.effective(link), a.in_short());
    std::fflush(stdout);
}

void print_heading(question const& asked, std::size_t width) {
    fmt::print("# compress, one core, gradients of float, medians of {}; times in us, GB/s of the vector, 1 GB = 10^9 bytes; /copy: rate over that of "
               "memcpy in the same run\n# less: bytes of the vector over those of the message; error: relative; over {}: GB/s of encoding, wire and adding, "
               "one after another; an all-reduce of {} ranks, {} us a message\n",
               asked.repeat, asked.over.rate, asked.over.ranks, asked.over.latency_microseconds);
    fmt::print("{:>11}  {:<{}} {:>11} {:>11} {:>8} {:>8} {:>7} {:>7} {:>11} {:>7} {:>9} {:>9}  {}\n", "bytes", "compressor", width, "encode", "decode_add",
               "GB/s", "GB/s", "/copy", "/copy", "wire bytes", "less", "error", "over link", "advice");
}

/// The advisor's choice at each size, and what it says of it.
void print_advice(question const& asked, std::vector<answer> const& rows) {
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
        while (end < rows.size() && rows[end].bytes == rows[begin].bytes) ++end;
        std::vector<chorus::codec_rates> candidates;
        for (std::size_t i = begin; i < end; ++i) candidates.push_back(rows[i].found.rates);
        auto const rates = chorus::rates_of_link(parse_link(asked.over.rate), asked.over.latency_microseconds * 1e-6, rows[begin].found);
        auto const advised =
            chorus::advise_compression(static_cast<double>(rows[begin].bytes), asked.over.ranks, rates, candidates, 1.05, asked.insists);
        fmt::print("# {} bytes: {}; {}\n", rows[begin].bytes, advised.chosen ? "use " + rows[begin + *advised.chosen].compressor : "send as they are",
                   advised.verdict.reason);
    }
}

nlohmann::json to_json(answer const& a, double link) {
    auto const& r = a.found.rates;
    return {{"compressor", a.compressor},
            {"bytes", a.bytes},
            {"encode_microseconds", 1e6 * a.seconds(r.per_encoded_byte)},
            {"decode_add_microseconds", 1e6 * a.seconds(r.per_decoded_byte)},
            {"memcpy_microseconds", 1e6 * a.seconds(a.found.per_copied_byte)},
            {"encode_rate_over_memcpy", a.found.per_copied_byte / r.per_encoded_byte},
            {"decode_add_rate_over_memcpy", a.found.per_copied_byte / r.per_decoded_byte},
            {"wire_bytes", a.found.message_bytes},
            {"most_wire_bytes", r.wire_bytes},
            {"ratio", a.less()},
            {"relative_error", a.found.relative_error},
            {"effective_gigabytes_per_second", a.effective(link)},
            {"pays", a.verdict.pays},
            {"pays_below_gigabytes_per_second", 1e-9 / a.verdict.break_even_per_byte},
            {"reason", a.verdict.reason}};
}

void write_records(question const& asked, std::vector<answer> const& rows, double link) {
    if (!asked.json.empty()) {
        nlohmann::json results = nlohmann::json::array();
        for (answer const& a : rows) results.push_back(to_json(a, link));
        nlohmann::json const settings{{"link", asked.over.rate}, {"latency_microseconds", asked.over.latency_microseconds}, {"ranks", asked.over.ranks},
                                      {"repeat", asked.repeat}, {"bytes", asked.bytes}};
        nlohmann::json const all{{"finished", now_in_words()}, {"settings", settings}, {"machine", describe_build_and_machine()}, {"results", results}};
        write_text(asked.json, all.dump(2) + '\n');
    }
    if (!asked.csv.empty()) {
        std::string text = fmt::format("# {}; {}\ncompressor,bytes,encode_us,decode_add_us,memcpy_us,wire_bytes,ratio,relative_error,effective_gbps,pays\n",
                                       now_in_words(), build_and_machine_in_words());
        for (answer const& a : rows)
            text += fmt::format("\"{}\",{},{:.3f},{:.3f},{:.3f},{:.0f},{:.4f},{:.6g},{:.6f},{}\n", a.compressor, a.bytes,
                                1e6 * a.seconds(a.found.rates.per_encoded_byte), 1e6 * a.seconds(a.found.rates.per_decoded_byte),
                                1e6 * a.seconds(a.found.per_copied_byte), a.found.message_bytes, a.less(), a.found.relative_error, a.effective(link),
                                a.verdict.pays ? 1 : 0);
        write_text(asked.csv, text);
    }
    if (asked.plot.empty()) return;
    std::vector<curve> curves;
    for (answer const& a : rows) {
        auto at = std::find_if(curves.begin(), curves.end(), [&](curve const& c) { return c.name == a.compressor; });
        if (at == curves.end()) at = curves.insert(at, {a.compressor, {}});
        at->points.emplace_back(static_cast<double>(a.bytes), 1e6 * a.seconds(a.found.rates.per_encoded_byte + a.found.rates.per_decoded_byte));
    }
    write_text(asked.plot, plot_svg("compressors on one core", "microseconds to encode and add, median", curves));
}

void run(question const& asked) {
    std::vector<std::string> names;
    if (asked.compressors != "all") names = split_names(asked.compressors);
    else
        for (std::string_view name : chorus::known_compressors()) names.emplace_back(name);
    std::size_t width = 10;
    for (std::string const& name : names) width = (std::max)(width, chorus::compressor_named(name).describe().empty() ? width : name.size());
    double const link = parse_link(asked.over.rate);
    std::vector<answer> rows;
    print_heading(asked, width);
    for (std::uint64_t bytes : parse_sizes(asked.bytes)) {
        std::vector<float> const vector = gradient(bytes);
        for (std::string const& name : names) {
            rows.push_back(measure(name, vector, asked.repeat, asked.over));
            print(rows.back(), link, width);
        }
    }
    print_advice(asked, rows);
    write_records(asked, rows, link);
}

}  // namespace

std::string advice(std::string const& compressor, std::uint64_t bytes, compression_link const& over) {
    answer found = measure(compressor, gradient((std::min)(bytes, std::uint64_t{16} << 20)), 3, over);
    double const scale = static_cast<double>((std::max)(bytes, std::uint64_t{4})) / static_cast<double>(found.bytes);
    found.found.rates.wire_bytes *= scale;
    auto const rates = chorus::rates_of_link(parse_link(over.rate), over.latency_microseconds * 1e-6, found.found);
    auto const verdict = chorus::break_even(static_cast<double>(found.bytes) * scale, over.ranks, rates, found.found.rates);
    std::string const where = verdict.break_even_per_byte <= 0                ? "it would pay on any link"
                              : !std::isfinite(verdict.break_even_per_byte) ? "it would pay on no link"
                                                                             : fmt::format("it pays below {:.3g} GB/s", 1e-9 / verdict.break_even_per_byte);
    return fmt::format("{} over {}: {}; {}", compressor, over.rate, verdict.reason, where);
}

void add_compress(CLI::App& app) {
    auto const asked = std::make_shared<question>();
    CLI::App* const command = app.add_subcommand("compress", "Measures compressors on one core, and says on which links they pay");
    command->option_defaults()->always_capture_default();
    command->add_option("compressor", asked->compressors, "Names separated by commas, with their parameters, or all");
    command->add_option("--bytes", asked->bytes, "Of the vector, as for collectives");
    command->add_option("--repeat", asked->repeat, "Timed calls")->check(CLI::Range(1, 100000));
    command->add_option("--link", asked->over.rate, "1Gbit, 100Mbit, 12GB, ...");
    command->add_option("--latency", asked->over.latency_microseconds, "Microseconds of a message")->check(CLI::NonNegativeNumber);
    command->add_option("--ranks", asked->over.ranks, "Of the all-reduce that is advised on")->check(CLI::Range(1, 100000));
    command->add_flag("--insist", asked->insists, "Advise the best compressor also where none pays");
    command->add_option("--json", asked->json, "Also write everything to this file");
    command->add_option("--csv", asked->csv, "Also write the rows to this file");
    command->add_option("--plot", asked->plot, "Also draw the times into this SVG file");
    command->callback([asked] { run(*asked); });
}

}  // namespace bench
