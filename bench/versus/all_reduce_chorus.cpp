// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// chorus with its default algorithm: all_reduce_chorus shm|thread RANKS BYTES...

#include "repeated.hpp"

#include <chorus/chorus.hpp>
#include <chorus/transport/shared_memory.hpp>
#include <chorus/transport/thread.hpp>

#include <stdexcept>
#include <string_view>

namespace {

template <chorus::transport Transport>
void run(Transport& net, char const* name, std::vector<std::size_t> const& sizes) {
    chorus::group world{net};
    for (std::size_t bytes : sizes) {
        std::vector<float> const in(bytes / sizeof(float), 1.0f);
        std::vector<float> out(in.size(), 0.0f);
        chorus::plan all_reduce = chorus::plan_all_reduce(world, in, out, chorus::sum{});
        versus::line const measured = versus::measure(bytes, [&] { all_reduce.run(); });
        for (float value : out)
            if (value != static_cast<float>(world.size())) throw std::runtime_error{"a sum is wrong"};
        if (world.rank() == 0) versus::print(name, static_cast<int>(world.size()), measured);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: all_reduce_chorus shm|thread RANKS BYTES...\n");
        return 2;
    }
    bool const threads = std::string_view{argv[1]} == "thread";
    auto const ranks = static_cast<chorus::rank_id>(std::strtoul(argv[2], nullptr, 10));
    std::vector<std::size_t> sizes;
    for (int i = 3; i < argc; ++i) sizes.push_back(static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)));
    if (threads)
        chorus::thread_fleet{ranks}.run([&](chorus::thread_transport& net) { run(net, "chorus-thread", sizes); });
    else
        chorus::process_fleet{ranks}.run([&](chorus::shared_memory_transport& net) { run(net, "chorus-shm", sizes); });
}
