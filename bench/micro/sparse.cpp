// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
//
// The sparsifiers on one core: 16 Mi floats, normally distributed unless the name says otherwise. Bytes per second are
// those of the input, items per second the entries of the message.
#include "chorus/base/random.hpp"
#include "chorus/compress/block_sparse.hpp"
#include "chorus/compress/detail/sparse_merge.hpp"
#include "chorus/compress/gaussian_top_k.hpp"
#include "chorus/compress/random_k.hpp"
#include "chorus/compress/sampled_top_k.hpp"
#include "chorus/compress/threshold.hpp"
#include "chorus/compress/top_k.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using floats = std::vector<float>;
constexpr std::size_t count = std::size_t{16} << 20;

void count_work(benchmark::State& state, std::size_t bytes, std::size_t entries) {
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
    if (entries != 0) state.SetItemsProcessed(static_cast<std::int64_t>(entries) * state.iterations());
}

floats const& normal() {
    static floats const made = [] {
        chorus::counter_random const random{1};
        floats x(count);
        for (std::size_t i = 0; i < count; i += 2) {
            double const radius = std::sqrt(-2 * std::log(1 - random.unit(i))), angle = 6.283185307179586 * random.unit(i + 1);
            x[i] = static_cast<float>(radius * std::cos(angle));
            x[i + 1] = static_cast<float>(radius * std::sin(angle));
        }
        return x;
    }();
    return made;
}

/// What is hard on a selection by magnitude, made when it is first used.
floats const& shaped(std::string const& shape) {
    static std::vector<std::pair<std::string, floats>> all;
    for (auto const& [name, x] : all)
        if (name == shape) return x;
    floats x = normal();
    for (std::size_t i = 0; i < count; ++i) {
        if (shape == "rising") x[i] = static_cast<float>(i);
        if (shape == "mostly zero" && i % 512 != 3) x[i] = 0;
        if (shape == "blocks" && i / 4096 % 10 != 0) x[i] = 0;
        if (shape == "cubes") x[i] = x[i] * x[i] * x[i];
    }
    return all.emplace_back(shape, std::move(x)).second;
}

void add(std::string const& name, std::function<void(benchmark::State&)> const& run) {
    benchmark::RegisterBenchmark(("sparse/" + name).c_str(), run)->Unit(benchmark::kMillisecond)->MinTime(0.2);
}

template <class C>
std::function<void(benchmark::State&)> encoding(C prototype, std::function<floats const&()> data = &normal) {
    return [=](benchmark::State& state) {
        C c = prototype;
        floats const& x = data();
        std::vector<std::byte> wire(c.max_wire_bytes(count));
        std::size_t used = c.encode(x, wire);
        for (auto _ : state) benchmark::DoNotOptimize(used = c.encode(x, wire));
        count_work(state, 4 * count, 0);
        state.counters["wire_MB"] = static_cast<double>(used) / 1e6;
    };
}

template <class C>
void add_encode(std::string const& name, C prototype, std::function<floats const&()> const& data = &normal) {
    add("encode " + name, encoding(prototype, data));
}

template <class C>
void add_decode(std::string const& name, C prototype, bool adds) {
    add((adds ? "decode_add " : "decode ") + name, [=](benchmark::State& state) {
        C c = prototype;
        std::vector<std::byte> wire(c.max_wire_bytes(count));
        std::span<std::byte const> const message = std::span{wire}.first(c.encode(normal(), wire));
        floats out(count, 0.0f);
        for (auto _ : state) {
            if (adds) c.decode_add(message, out);
            else c.decode(message, out);
            benchmark::ClobberMemory();
        }
        count_work(state, 4 * count, c.kept(count));
    });
}

chorus::top_k packed(double ratio) {
    chorus::top_k c{ratio};
    c.indices = chorus::index_layout::packed;
    return c;
}

void add_yardsticks() {
    add("memcpy", [](benchmark::State& state) {
        floats out = normal();
        for (auto _ : state) {
            std::memcpy(out.data(), normal().data(), 4 * count);
            benchmark::ClobberMemory();
        }
        count_work(state, 4 * count, 0);
    });
    add("read", [](benchmark::State& state) {
        for (auto _ : state) benchmark::DoNotOptimize(chorus::detail::first_nonfinite(normal()));
        count_work(state, 4 * count, 0);
    });
    add("std::nth_element 0.01", [](benchmark::State& state) {
        for (auto _ : state) {
            state.PauseTiming();
            floats x = normal();
            state.ResumeTiming();
            auto const larger = [](float a, float b) { return std::abs(a) > std::abs(b); };
            std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count / 100), x.end(), larger);
            benchmark::DoNotOptimize(x.data());
        }
        count_work(state, 4 * count, 0);
    });
}

void add_levels() {
    for (int level = 0; level <= static_cast<int>(chorus::detail::widest_instruction_set()); ++level) {
        auto const chosen = static_cast<chorus::detail::instruction_set>(level);
        add("encode top_k 0.01 " + std::string{to_string(chosen)}, [chosen](benchmark::State& state) {
            chorus::detail::force_instruction_set(chosen);
            encoding(chorus::top_k{0.01})(state);
            chorus::detail::force_instruction_set(chorus::detail::widest_instruction_set());
        });
    }
}

void add_merge() {
    add("merge_add of two 0.01", [](benchmark::State& state) {
        std::vector<std::uint32_t> indices[2], sum(count / 10);
        for (std::uint32_t i = 0; i < count; ++i)
            for (std::uint64_t which : {0u, 1u})
                if (chorus::counter_random{which + 5}.unit(i) < 0.01) indices[which].push_back(i);
        floats const x(indices[0].size(), 1.0f), y(indices[1].size(), 2.0f);
        floats values(count / 10);
        for (auto _ : state)
            benchmark::DoNotOptimize(chorus::detail::merge_add({indices[0], x}, {indices[1], y}, sum.data(), values.data()));
        count_work(state, 8 * (x.size() + y.size()), x.size() + y.size());
    });
}

chorus::random_k drawing(chorus::nonfinite policy) {
    chorus::random_k c{0.01, 1};
    c.on_nonfinite = policy;
    return c;
}

}  // namespace

int main(int argc, char** argv) {
    normal();
    add_yardsticks();
    add_levels();
    for (double ratio : {0.001, 0.1}) add_encode("top_k " + std::to_string(ratio).substr(0, 5), chorus::top_k{ratio});
    for (char const* shape : {"rising", "mostly zero", "cubes"})
        add_encode(std::string{"top_k 0.01 of "} + shape, chorus::top_k{0.01}, [shape]() -> floats const& { return shaped(shape); });
    add_encode("top_k 0.01 packed", packed(0.01));
    add_encode("sampled_top_k 0.01", chorus::sampled_top_k{0.01});
    add_encode("gaussian_top_k 0.01", chorus::gaussian_top_k{0.01});
    add_encode("gaussian_top_k 0.01 of cubes", chorus::gaussian_top_k{0.01}, []() -> floats const& { return shaped("cubes"); });
    add_encode("threshold 2.576", chorus::threshold{2.576f});
    add_encode("random_k 0.01 propagate", drawing(chorus::nonfinite::propagate));
    add_encode("random_k 0.01 sanitise", drawing(chorus::nonfinite::sanitise));
    add_encode("block_sparse all blocks", chorus::block_sparse{});
    add_encode("block_sparse a tenth of the blocks", chorus::block_sparse{}, []() -> floats const& { return shaped("blocks"); });
    for (double ratio : {0.001, 0.01, 0.1}) {
        std::string const share = std::to_string(ratio).substr(0, 5);
        add_decode("top_k " + share, chorus::top_k{ratio}, true);
        add_decode("top_k packed " + share, packed(ratio), true);
    }
    add_decode("random_k 0.01", drawing(chorus::nonfinite::propagate), true);
    add_decode("top_k 0.01", chorus::top_k{0.01}, false);
    add_merge();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
