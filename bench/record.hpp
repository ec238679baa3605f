// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "settings.hpp"

#include <chorus/version.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/utsname.h>
#include <thread>
#include <vector>

namespace bench {

/// What the numbers depend on besides the settings. BENCH_FLAGS and BENCH_COMMIT come from the build.
inline nlohmann::json describe_build_and_machine() {
    std::string processor = "unknown";
    std::ifstream facts{"/proc/cpuinfo"};
    for (std::string line; std::getline(facts, line);) {
        if (!line.starts_with("model name")) continue;
        processor = line.substr(line.find(':') + 2);
        break;
    }
    utsname system{};
    ::uname(&system);
    return {{"processor", processor},
            {"hardware_threads", std::thread::hardware_concurrency()},
            {"system", std::string{system.sysname} + ' ' + system.release + ' ' + system.machine},
#if defined(__clang__)
            {"compiler", "clang " __clang_version__},
#else
            {"compiler", "gcc " __VERSION__},
#endif
            {"flags", BENCH_FLAGS},
            {"commit", BENCH_COMMIT},
            {"version", {chorus::version_major, chorus::version_minor, chorus::version_patch}}};
}

inline nlohmann::json to_json(settings const& asked) {
    nlohmann::json const root = chorus::has_root(asked.what) ? nlohmann::json(asked.root) : nlohmann::json{};
    nlohmann::json const op =
        chorus::has_reduction(asked.what) ? nlohmann::json(to_string(asked.op)) : nlohmann::json{};
    return {{"collective", chorus::to_string(asked.what)},
            {"transport", asked.transport},
            {"ranks", asked.ranks},
            {"algorithms", asked.algorithms},
            {"element", asked.element},
            {"operation", op},
            {"in_place", asked.in_place},
            {"root", root},
            {"bytes", asked.bytes},
            {"warm_up", asked.warm_up},
            {"repeat", asked.repeat},
            {"checked", asked.check}};
}

inline nlohmann::json to_json(settings const& asked, row const& r) {
    bandwidth const rates = r.rates(asked);
    return {{"algorithm", r.algorithm},
            {"chosen", r.chosen},
            {"bytes", r.bytes},
            {"count", r.count},
            {"microseconds",
             {{"median", 1e6 * r.time.median},
              {"minimum", 1e6 * r.time.minimum},
              {"mean", 1e6 * r.time.mean},
              {"p99", 1e6 * r.time.p99},
              {"maximum", 1e6 * r.time.maximum}}},
            {"algorithm_gigabytes_per_second", rates.algorithm},
            {"bus_gigabytes_per_second", rates.bus},
            {"wrong", asked.check ? nlohmann::json(r.wrong) : nlohmann::json{}}};
}

/// Writes settings, machine and rows as one JSON object. Throws std::runtime_error.
inline void write_json(settings const& asked, std::vector<row> const& rows) {
    std::time_t const now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    char when[32] = "";
    std::strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    nlohmann::json results = nlohmann::json::array();
    for (row const& r : rows) results.push_back(to_json(asked, r));
    nlohmann::json const all{{"finished", when},
                             {"settings", to_json(asked)},
                             {"machine", describe_build_and_machine()},
                             {"results", results}};
    std::ofstream file{asked.json};
    file << all.dump(2) << '\n';
    if (!file.flush()) throw std::runtime_error{"cannot write " + asked.json};
}

}  // namespace bench
