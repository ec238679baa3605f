// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "record.hpp"
#include "cache.hpp"
#include "plot.hpp"

#include <chorus/version.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <thread>

#include <sys/utsname.h>

namespace bench {

namespace {

std::string processor() {
    std::ifstream facts{"/proc/cpuinfo"};
    for (std::string line; std::getline(facts, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
}

std::string compiler() {
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

nlohmann::json in_microseconds(summary const& of) {
    nlohmann::json middle;
    if (!of.middle.is_empty()) middle = {1e6 * of.middle.low, 1e6 * of.middle.high};
    return {{"median", 1e6 * of.median}, {"minimum", 1e6 * of.minimum}, {"mean", 1e6 * of.mean},
            {"deviation", 1e6 * of.deviation}, {"p90", 1e6 * of.p90}, {"p99", 1e6 * of.p99},
            {"maximum", 1e6 * of.maximum}, {"interval_of_median", middle}};
}

nlohmann::json to_json(settings const& asked, endpoint const& net) {
    bool const reduces = !asked.pattern && chorus::has_reduction(asked.what);
    bool const rooted = !asked.pattern && chorus::has_root(asked.what);
    return {{"collective", asked.subject},
            {"transport", asked.where.transport},
            {"way", net.describe()},
            {"ranks", net.size()},
            {"one_clock", net.shares_clock()},
            {"algorithms", asked.algorithms},
            {"element", asked.element},
            {"operation", reduces ? nlohmann::json(to_string(asked.op)) : nlohmann::json{}},
            {"in_place", asked.in_place},
            {"root", rooted ? nlohmann::json(asked.root) : nlohmann::json{}},
            {"uneven", asked.uneven},
            {"carried_by", asked.carry.empty() ? nlohmann::json{} : nlohmann::json(asked.carry)},
            {"bytes", asked.bytes},
            {"warm_up", asked.how.warm_up},
            {"repeat", asked.how.repeat},
            {"within", asked.how.within},
            {"off_cache", asked.how.off_cache},
            {"checked", asked.how.check}};
}

}  // namespace

nlohmann::json to_json(carried_facts const& found) {
    return {{"compressor", found.compressor},
            {"wire_bytes_of_ranks", found.wire_bytes},
            {"ratio", found.ratio},
            {"relative_error", found.error ? nlohmann::json(*found.error) : nlohmann::json{}},
            {"checked", found.checked}};
}

namespace {

nlohmann::json to_json(settings const& asked, row const& r) {
    nlohmann::json ranks = nlohmann::json::array();
    for (double own : r.taken.own) ranks.push_back(1e6 * own);
    nlohmann::json made{{"element", r.element},
                        {"algorithm", r.algorithm},
                        {"chosen", r.chosen},
                        {"bytes", r.bytes},
                        {"count", r.count},
                        {"samples", r.taken.samples.size()},
                        {"microseconds", in_microseconds(r.taken.time)},
                        {"skew_microseconds", in_microseconds(r.taken.skew)},
                        {"ranks_microseconds", ranks},
                        {"slowest_rank", r.taken.slowest},
                        {"algorithm_gigabytes_per_second", r.rates.algorithm},
                        {"bus_gigabytes_per_second", r.rates.bus},
                        {"wrong", asked.how.check ? nlohmann::json(r.wrong()) : nlohmann::json{}}};
    if (r.native) {
        made["native_microseconds"] = in_microseconds(r.native->time);
        made["ratio_to_native"] = r.taken.time.median / r.native->time.median;
    }
    if (r.carried) made["carried"] = to_json(*r.carried);
    return made;
}

}  // namespace

nlohmann::json describe_build_and_machine() {
    utsname system{};
    ::uname(&system);
    return {{"processor", processor()},
            {"hardware_threads", std::thread::hardware_concurrency()},
            {"largest_cache_bytes", largest_cache()},
            {"host", system.nodename},
            {"system", std::string{system.sysname} + ' ' + system.release + ' ' + system.machine},
            {"compiler", compiler()},
            {"flags", BENCH_FLAGS},
            {"commit", BENCH_COMMIT},
            {"version", {chorus::version_major, chorus::version_minor, chorus::version_patch}}};
}

std::string build_and_machine_in_words() {
    return processor() + ", " + std::to_string(std::thread::hardware_concurrency()) + " hardware threads, " + compiler() +
           " " + BENCH_FLAGS + ", commit " + BENCH_COMMIT;
}

std::string now_in_words() {
    std::time_t const now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    char when[32] = "";
    std::strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    return when;
}

void write_json(settings const& asked, endpoint const& net, std::vector<row> const& rows) {
    nlohmann::json results = nlohmann::json::array();
    for (row const& r : rows) results.push_back(to_json(asked, r));
    nlohmann::json const all{{"finished", now_in_words()},
                             {"settings", to_json(asked, net)},
                             {"machine", describe_build_and_machine()},
                             {"results", results}};
    write_text(asked.json, all.dump(2) + '\n');
}

namespace {

/// The compressor, the bytes that the rank sends which sends most, the ratio and the error.
std::string carried_in_csv(std::optional<carried_facts> const& found) {
    if (!found) return ",,,";
    return fmt::format("\"{}\",{},{:.4f},{}", found->compressor, *std::max_element(found->wire_bytes.begin(), found->wire_bytes.end()),
                       found->ratio, found->error ? fmt::format("{:.6g}", *found->error) : "");
}

}  // namespace

std::string to_csv(settings const& asked, endpoint const& net, std::vector<row> const& rows) {
    std::string text = fmt::format(
        "# {}; {}\ncollective,transport,ranks,element,operation,in_place,root,algorithm,bytes,count,samples,median_us,"
        "minimum_us,mean_us,p90_us,p99_us,maximum_us,interval_low_us,interval_high_us,skew_us,slowest_rank,"
        "algorithm_gbps,bus_gbps,native_median_us,wrong,carried_by,wire_bytes,wire_ratio,relative_error\n",
        now_in_words(), build_and_machine_in_words());
    for (row const& r : rows) {
        summary const& t = r.taken.time;
        text += fmt::format("{},{},{},{},{},{},{},\"{}\",{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},"
                            "{:.3f},{},{:.6f},{:.6f},{},{},{}\n",
                            asked.subject, asked.where.transport, net.size(), r.element, to_string(asked.op),
                            asked.in_place ? 1 : 0, asked.root, r.chosen, r.bytes, r.count, r.taken.samples.size(),
                            1e6 * t.median, 1e6 * t.minimum, 1e6 * t.mean, 1e6 * t.p90, 1e6 * t.p99, 1e6 * t.maximum,
                            1e6 * t.middle.low, 1e6 * t.middle.high, 1e6 * r.taken.skew.median, r.taken.slowest,
                            r.rates.algorithm, r.rates.bus,
                            r.native ? fmt::format("{:.3f}", 1e6 * r.native->time.median) : "",
                            asked.how.check ? std::to_string(r.wrong()) : "", carried_in_csv(r.carried));
    }
    return text;
}

}  // namespace bench
