// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// chorus with its default algorithms, plans kept: collectives_chorus shm|thread RANKS FOLDER

#include "turns.hpp"

#include <chorus/chorus.hpp>
#include <chorus/transport/shared_memory.hpp>
#include <chorus/transport/thread.hpp>

#include <span>
#include <string_view>
#include <utility>

namespace {

template <chorus::transport Transport>
class chorus_library {
 public:
    explicit chorus_library(Transport& net) : world_{net}, barrier_{chorus::plan_barrier(world_)} {}

    std::size_t rank() const { return world_.rank(); }
    std::size_t ranks() const { return world_.size(); }
    void barrier() { barrier_.run(); }

    versus::prepared prepare(versus::command const& asked, float* in, float* out) {
        plans_.clear();
        next_ = 0;
        versus::shape const of{asked, ranks()};
        std::span<float const> const given{in, of.given};
        std::span<float> const got{out, of.got};
        bool const has_root = asked.operation == "broadcast" || asked.operation == "reduce";
        for (chorus::rank_id root = 0; root < (has_root ? world_.size() : 1); ++root) plans_.push_back(plan_for(asked, given, got, root));
        return [this](std::size_t) {
            plans_[next_].run();
            if (++next_ == plans_.size()) next_ = 0;
        };
    }

 private:
    chorus::plan plan_for(versus::command const& asked, std::span<float const> in, std::span<float> out, chorus::rank_id root) {
        if (asked.operation == "all_reduce") return chorus::plan_all_reduce(world_, in, out, chorus::sum{});
        if (asked.operation == "broadcast") return chorus::plan_broadcast(world_, out, root);
        if (asked.operation == "reduce") return chorus::plan_reduce(world_, in, out, root, chorus::sum{});
        if (asked.operation == "all_gather") return chorus::plan_all_gather(world_, in, out);
        if (asked.operation == "reduce_scatter") return chorus::plan_reduce_scatter(world_, in, out, chorus::sum{});
        if (asked.operation == "all_to_all") return chorus::plan_all_to_all(world_, in, out);
        if (asked.operation == "barrier") return chorus::plan_barrier(world_);
        throw versus::unknown(asked);
    }

    chorus::group<Transport> world_;
    chorus::plan barrier_;
    std::vector<chorus::plan> plans_;
    std::size_t next_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: collectives_chorus shm|thread RANKS FOLDER\n");
        return 2;
    }
    auto const ranks = static_cast<chorus::rank_id>(std::strtoul(argv[2], nullptr, 10));
    auto const play = [&](auto& net) {
        chorus_library library{net};
        versus::player{library, argv[3]}.play();
    };
    if (std::string_view{argv[1]} == "thread") chorus::thread_fleet{ranks}.run([&](chorus::thread_transport& net) { play(net); });
    else chorus::process_fleet{ranks}.run([&](chorus::shared_memory_transport& net) { play(net); });
}
