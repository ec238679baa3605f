// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/base/error.hpp"
#include "chorus/base/random.hpp"
#include "chorus/compress/compressors.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// Decoders under libFuzzer: any bytes either raise `corrupt`, and the output is as it was, or are decoded; nothing outside is touched (the address sanitizer sees that).
// The first two bytes of an input are the count of elements, below 4096; the rest is the message. `--compressor=NAME` chooses; `--list` prints the names.

namespace {

constexpr std::size_t most = 4096;

struct target {
    std::string_view name;
    std::function<void(std::span<std::byte const>, std::span<float>, bool adds)> decode;
    std::function<std::vector<std::byte>(std::span<float const>)> encode;
};

template <class C>
target target_of(C c) {
    auto const fixed = c;
    return {C::name,
            [fixed](std::span<std::byte const> wire, std::span<float> out, bool adds) { adds ? fixed.decode_add(wire, out) : fixed.decode(wire, out); },
            [c](std::span<float const> dense) {
                C fresh = c;
                std::vector<std::byte> wire(fresh.max_wire_bytes(dense.size()));
                wire.resize(fresh.encode(dense, wire));
                return wire;
            }};
}

std::vector<target> all_targets() {
    std::vector<target> all;
    std::apply([&](auto const&... each) { (all.push_back(target_of(each)), ...); }, chorus::compressors{});
    return all;
}

target* chosen = nullptr;

void fail(char const* what) {
    std::fprintf(stderr, "%s: %s\n", std::string{chosen->name}.c_str(), what);
    std::abort();
}

void decode(std::span<std::byte const> wire, std::size_t count, bool adds) {
    std::vector<float> out(count, 1.0f);
    try {
        chosen->decode(wire, out, adds);
    } catch (chorus::error const& refused) {
        if (refused.code() != chorus::errc::corrupt) fail(refused.what());
        for (float x : out)
            if (x != 1.0f) fail("the output was touched before the message was refused");
    }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    static std::vector<target> all = all_targets();
    constexpr std::string_view flag = "--compressor=";
    chosen = &all.front();
    for (int i = 1; i < *argc; ++i) {
        std::string_view const word = (*argv)[i];
        if (word == "--list") {
            for (target const& t : all) std::printf("%s\n", std::string{t.name}.c_str());
            std::exit(0);
        }
        if (!word.starts_with(flag)) continue;
        for (target& t : all)
            if (t.name == word.substr(flag.size())) chosen = &t;
        if (chosen->name != word.substr(flag.size())) return std::fprintf(stderr, "there is no such compressor\n"), std::exit(2), 0;
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size < 2) return 0;
    std::size_t const count = (data[0] | std::size_t{data[1]} << 8) % most;
    std::vector<std::byte> wire(size - 2);  // of its own, so that a read past its end is seen
    if (!wire.empty()) std::memcpy(wire.data(), data + 2, wire.size());
    decode(wire, count, false);
    decode(wire, count, true);
    return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t room);

/// Now and then begins with a message as an encoder writes it.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t room, unsigned seed) {
    chorus::counter_random const random{seed};
    if (random.below(0, 4) == 0) {
        std::size_t const count = random.below(1, random.below(2, 2) == 0 ? 20 : most);
        std::vector<float> dense(count);
        for (std::size_t i = 0; i < count; ++i) dense[i] = random.below(3 + i, 3) == 0 ? 0.0f : static_cast<float>(random.unit(3 + i) - 0.5);
        auto const wire = chosen->encode(dense);
        if (wire.size() + 2 > room) return LLVMFuzzerMutate(data, size, room);
        data[0] = static_cast<std::uint8_t>(count & 0xFF);
        data[1] = static_cast<std::uint8_t>(count >> 8);
        std::memcpy(data + 2, wire.data(), wire.size());
        size = wire.size() + 2;
        if (random.below(most + 3, 8) == 0) return size;
    }
    return LLVMFuzzerMutate(data, size, room);
}
