// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <sched.h>

// What all programs of bench/versus/collectives have in common. Each rank reads commands from a pipe of its own, so that all sleep while it is another
// program's turn, performs them in step with its peers, and rank 0 prints a line `operation bytes microseconds` for every batch, then `end`.

namespace versus {

/// `batches` times `per_batch` operations back to back on vectors of `bytes` bytes (the whole vector on one rank).
struct command {
    std::string operation;
    std::size_t bytes = 0;
    std::size_t batches = 1;
    std::size_t per_batch = 1;
};

/// Elements of float that a rank gives and gets. Blocks: one for each rank.
struct shape {
    std::size_t given;
    std::size_t got;

    shape(command const& asked, std::size_t ranks) : given{asked.bytes / sizeof(float)}, got{given} {
        if (asked.operation == "all_gather") given /= ranks;
        if (asked.operation == "reduce_scatter") got /= ranks;
    }
};

/// An operation on in and out, prepared once: the argument counts its runs. The root of those that have one moves on by a rank at every run, so that no rank
/// runs ahead of the others.
using prepared = std::function<void(std::size_t)>;

inline float value_of(std::size_t rank, std::size_t i) { return static_cast<float>(rank + 1 + i % 7); }

/// Of the first run, root 0.
inline float expected_at(std::string const& operation, std::size_t rank, std::size_t ranks, std::size_t got, std::size_t i) {
    auto const sum = [&](std::size_t at) { return static_cast<float>(ranks * (ranks + 1) / 2 + ranks * (at % 7)); };
    if (operation == "broadcast") return value_of(0, i);
    if (operation == "all_gather") return value_of(i / (got / ranks), i % (got / ranks));
    if (operation == "all_to_all") return value_of(i / (got / ranks), rank * (got / ranks) + i % (got / ranks));
    return operation == "reduce_scatter" ? sum(rank * got + i) : sum(i);
}

/// Of all libraries alike the calling thread of rank r stays on core r modulo the cores: woken together, ranks may otherwise share one for a whole turn.
inline void stay_on_core_of(std::size_t rank) {
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    std::size_t wanted = rank % static_cast<std::size_t>(CPU_COUNT(&all));
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(core, &all) || wanted-- > 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

/// `Library` has rank(), ranks(), barrier(), and prepare(command, in, out), which returns `prepared`; its buffers stay where they are until the next.
/// A broadcast works on `out` alone.
template <class Library>
class player {
 public:
    player(Library& library, std::string const& folder)
        : library_{library}, from_{folder + '/' + std::to_string(library.rank())} {
        stay_on_core_of(library.rank());
    }

    void play() {
        for (std::string line; std::getline(from_, line) && line != "end";) {
            command asked;
            std::istringstream words{line};
            words >> asked.operation >> asked.bytes >> asked.batches >> asked.per_batch;
            perform(asked);
        }
    }

 private:
    void perform(command const& asked) {
        if (asked.operation != last_.operation || asked.bytes != last_.bytes) prepare(asked);
        library_.barrier();
        std::size_t run = 1;
        for (std::size_t warm_up = (asked.batches * asked.per_batch + 9) / 10; warm_up > 0; --warm_up) call_(run++);
        std::vector<double> samples(asked.batches);
        for (double& sample : samples) {
            auto const begin = std::chrono::steady_clock::now();
            for (std::size_t i = 0; i < asked.per_batch; ++i) call_(run++);
            std::chrono::duration<double, std::micro> const took = std::chrono::steady_clock::now() - begin;
            sample = took.count() / static_cast<double>(asked.per_batch);
        }
        library_.barrier();
        if (library_.rank() != 0) return;
        for (double sample : samples) std::printf("%s %zu %.4f\n", asked.operation.c_str(), asked.bytes, sample);
        std::puts("end");
        std::fflush(stdout);
    }

    /// Memory only grows: what has been touched once is used again. The first run is checked.
    void prepare(command const& asked) {
        shape const needed{asked, library_.ranks()};
        if (in_.size() < needed.given) in_.resize(needed.given);
        if (out_.size() < needed.got) out_.resize(needed.got);
        for (std::size_t i = 0; i < needed.given; ++i) in_[i] = value_of(library_.rank(), i);
        bool const is_given_by_me = asked.operation == "broadcast" && library_.rank() == 0;
        for (std::size_t i = 0; i < needed.got; ++i) out_[i] = is_given_by_me ? in_[i] : -1.0f;
        call_ = nullptr;
        call_ = library_.prepare(asked, in_.data(), out_.data());
        last_ = asked;
        call_(0);
        if (asked.operation == "barrier" || (asked.operation == "reduce" && library_.rank() != 0)) return;
        for (std::size_t i = 0; i < needed.got; ++i)
            if (out_[i] != expected_at(asked.operation, library_.rank(), library_.ranks(), needed.got, i))
                throw std::runtime_error{asked.operation + " of " + std::to_string(asked.bytes) + " bytes: element " + std::to_string(i) + " is wrong"};
    }

    Library& library_;
    std::ifstream from_;
    std::vector<float> in_;
    std::vector<float> out_;
    command last_;
    prepared call_;
};

inline std::runtime_error unknown(command const& asked) { return std::runtime_error{"unknown operation " + asked.operation}; }

}  // namespace versus
