// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
//
// Compressors on one core beside memcpy of their input: bytes per second count the 4 count bytes of the dense vector once,
// whatever is read and written. 64 MiB lie in no cache, 256 KiB in the second level. Arguments: texts of compressors, as
// compressor_named takes them; none: those below.
#include "chorus/base/random.hpp"
#include "chorus/compress/compressors.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t sizes[] = {256 << 10, 64 << 20};

/// Of the shape of gradients: most elements small, few large.
std::vector<float> gradient(std::size_t count) {
    chorus::counter_random const random{1};
    std::vector<float> x(count);
    for (std::size_t i = 0; i < count; ++i) {
        double const u = random.unit(i) * 2 - 1;
        x[i] = static_cast<float>(u * u * u * 1e-2);
    }
    return x;
}

void count_bytes(benchmark::State& state) { state.SetBytesProcessed(state.range(0) * state.iterations()); }

void copy(benchmark::State& state) {
    auto const x = gradient(static_cast<std::size_t>(state.range(0)) / sizeof(float));
    std::vector<float> out(x.size());
    for (auto _ : state) {
        std::memcpy(out.data(), x.data(), x.size() * sizeof(float));
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

void encode(benchmark::State& state, std::string const& text) {
    auto const x = gradient(static_cast<std::size_t>(state.range(0)) / sizeof(float));
    auto c = chorus::compressor_named(text);
    std::vector<std::byte> wire(c.max_wire_bytes(x.size()));
    std::size_t used = c.encode(x, wire);
    for (auto _ : state) {
        used = c.encode(x, wire);
        benchmark::ClobberMemory();
    }
    count_bytes(state);
    state.SetLabel(std::to_string(static_cast<double>(used) * 32 / static_cast<double>(state.range(0))) + " bits each");
}

void decode(benchmark::State& state, std::string const& text, bool adds) {
    auto const x = gradient(static_cast<std::size_t>(state.range(0)) / sizeof(float));
    auto c = chorus::compressor_named(text);
    std::vector<std::byte> wire(c.max_wire_bytes(x.size()));
    wire.resize(c.encode(x, wire));
    std::vector<float> out(x.size());
    for (auto _ : state) {
        if (adds) c.decode_add(wire, out);
        else c.decode(wire, out);
        benchmark::ClobberMemory();
    }
    count_bytes(state);
}

template <class... Arguments>
void add(std::string const& name, Arguments const&... arguments) {
    auto* const made = benchmark::RegisterBenchmark(name.c_str(), arguments...);
    for (std::int64_t bytes : sizes) made->Arg(bytes);
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    std::vector<std::string> texts(argv + 1, argv + argc);
    if (texts.empty())
        texts = {"uncompressed", "half_cast", "bfloat16_cast", "float8_e4m3_cast", "float8_e5m2_cast", "block_integer",
                 "block_integer(bits=4)", "block_integer(bits=2)", "block_integer(scale=range)",
                 "block_integer(bits=4, rounding=stochastic)", "qsgd", "qsgd(levels=7)", "ternary", "natural", "sign_bit",
                 "two_centroids", "signum", "top_k", "sampled_top_k", "gaussian_top_k", "threshold", "random_k",
                 "block_sparse", "error_feedback(top_k)", "error_feedback(sign_bit)"};
    add("memcpy", &copy);
    for (std::string const& text : texts) {
        add("encode/" + text, &encode, text);
        add("decode/" + text, &decode, text, false);
        add("decode_add/" + text, &decode, text, true);
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
