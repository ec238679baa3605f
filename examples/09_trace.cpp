// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// What every rank did when, as a picture for https://ui.perfetto.dev, and who kept the others waiting.

#include <chorus/chorus.hpp>
#include <chorus/observe/arrival_spread.hpp>
#include <chorus/observe/clock_offset.hpp>
#include <chorus/observe/trace.hpp>
#include <chorus/transport/thread.hpp>

#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
    constexpr chorus::rank_id ranks = 3;
    std::vector<std::string> traces(ranks);

    chorus::thread_fleet{ranks}.run([&](chorus::thread_transport& net) {
        chorus::group world{net};
        // [observe]
        chorus::trace trace;
        chorus::arrival_spread arrivals;
        auto const traced = world.observed_by(trace);
        auto const timed = world.observed_by(arrivals);

        std::vector<float> gradient(1000, 1.0f);
        for (int step = 0; step < 20; ++step) {
            if (net.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds{5});  // the slow one
            chorus::all_reduce(timed, gradient, chorus::mean{});
            chorus::barrier(traced);
        }

        std::ostringstream text;
        trace.write(text, net.rank(), chorus::measure_clock_offset(world));
        chorus::arrival_report const report = arrivals.collect(world);  // on rank 0
        // […]
        traces[net.rank()] = text.str();
        if (net.rank() != 0) return;
        std::cout << report.describe();
        if (report.operations.size() != 20) throw std::runtime_error{"not all operations are in the report"};
        if (report.blamed.empty()) throw std::runtime_error{"nobody is blamed"};
    });

    std::string const all = chorus::trace::merge(traces);
    std::size_t barriers = 0;
    for (std::size_t at = all.find("\"barrier\""); at != std::string::npos; at = all.find("\"barrier\"", at + 1)) ++barriers;
    if (barriers != 20 * ranks) throw std::runtime_error{"the trace holds " + std::to_string(barriers) + " barriers"};
    if (argc > 1) std::ofstream{argv[1]} << all;
}
