// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
//
// inout = inout op other on one core, in every instruction set of the machine. Bytes per second count the bytes of
// `inout` once; the traffic is three times as much (two reads, one write).
#include "chorus/data/reduce_block.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using chorus::detail::instruction_set;

template <class T, class Op>
void run(benchmark::State& state, instruction_set level) {
    std::size_t const bytes = static_cast<std::size_t>(state.range(0));
    std::size_t const count = bytes / sizeof(T);
    std::vector<T> inout(count, T(1.0f)), other(count, T(0.0f));
    chorus::reducer const made = chorus::make_reducer<T>(Op{}, level);
    auto* const out = reinterpret_cast<std::byte*>(inout.data());
    auto const* const right = reinterpret_cast<std::byte const*>(other.data());
    for (auto _ : state) {
        made.apply(out, out, right, count, nullptr);
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

template <class T, class Op> void add() {
    std::string const pair = std::string{chorus::element_name<T>()} + ' ' + std::string{Op::name};
    for (int level = 0; level <= static_cast<int>(chorus::detail::widest_instruction_set()); ++level) {
        auto const chosen = static_cast<instruction_set>(level);
        std::string const name = "reduce_block/" + pair + '/' + std::string{to_string(chosen)};
        benchmark::RegisterBenchmark(name.c_str(), &run<T, Op>, chosen)->Arg(4 << 10)->Arg(256 << 10)->Arg(16 << 20);
    }
}

template <class T> void add_operations() {
    add<T, chorus::sum>();
    add<T, chorus::maximum>();
}

}  // namespace

int main(int argc, char** argv) {
    add_operations<float>();
    add_operations<chorus::half>();
    add_operations<chorus::bfloat16>();
    add_operations<std::int8_t>();
    add_operations<double>();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
