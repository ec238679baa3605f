// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/compressor_set.hpp"

#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/top_k.hpp"
#include "suites/compressor_suite.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <doctest/doctest.h>

using chorus::compressor_set;
using chorus::errc;
using chorus::error_feedback;
using chorus::top_k;
using suites::floats;

namespace {

using bank = compressor_set<error_feedback<top_k>>;

floats copy_of(std::span<float const> values) { return floats(values.begin(), values.end()); }

bank some_steps() {
    bank all{error_feedback{top_k{0.1}}};
    for (std::uint64_t step = 0; step < 5; ++step)
        for (std::uint64_t tensor = 0; tensor < 4; ++tensor)
            suites::encoded(all[std::to_string(tensor)], suites::drawn(20 + 10 * tensor, 100 * step + tensor));
    return all;
}

}  // namespace

TEST_CASE("EFB-3: residuals follow the name, wherever the elements lie, and do not grow in number") {
    bank moved{error_feedback{top_k::of(1)}}, settled{error_feedback{top_k::of(1)}};
    floats storage[2] = {floats(30), floats(30)};
    for (std::uint64_t step = 0; step < 1000; ++step) {
        floats const first = suites::drawn(30, 2 * step), second = suites::drawn(30, 2 * step + 1);
        std::size_t const swapped = step % 2;
        storage[swapped] = first;
        storage[1 - swapped] = second;
        auto const fresh = std::make_unique<floats>(second);
        bool const is_same = suites::encoded(moved["first"], storage[swapped]) == suites::encoded(settled["first"], first) &&
                             suites::encoded(moved["second"], *fresh) == suites::encoded(settled["second"], second);
        REQUIRE(is_same);
    }
    CHECK(moved.size() == 2);
    CHECK(copy_of(moved["first"].residual()) == copy_of(settled["first"].residual()));
    CHECK(copy_of(moved["first"].residual()) != copy_of(moved["second"].residual()));
}

TEST_CASE("EFB-7: the states of all tensors are saved and restored under their names") {
    bank whole = some_steps();
    bank restored{error_feedback{top_k{0.1}}};
    suites::encoded(restored["another"], suites::drawn(7, 1));
    restored.restore(whole.save());
    CHECK(restored.size() == 4);
    CHECK(!restored.contains("another"));
    for (std::uint64_t tensor = 0; tensor < 4; ++tensor) {
        auto const name = std::to_string(tensor);
        floats const x = suites::drawn(20 + 10 * tensor, 77);
        CHECK(suites::encoded(restored[name], x) == suites::encoded(whole[name], x));
    }
    bank reversed{error_feedback{top_k{0.1}}}, forward{error_feedback{top_k{0.1}}};
    for (char const* name : {"b", "a"}) suites::encoded(reversed[name], suites::drawn(9, 1));
    for (char const* name : {"a", "b"}) suites::encoded(forward[name], suites::drawn(9, 1));
    CHECK(reversed.save() == forward.save());
}

TEST_CASE("EFB-7: what was saved of other compressors, or is damaged, is refused and changes nothing") {
    bank whole = some_steps();
    auto const saved = whole.save();
    auto const refused = [&](std::span<std::byte const> wrong) {
        return suites::unlike(errc::corrupt, {"compressor_set<error_feedback{top_k}>"}, [&] { whole.restore(wrong); });
    };
    for (std::size_t length = 0; length < saved.size(); length += 13) CHECK(refused(std::span{saved}.first(length)) == "");
    for (std::size_t at = 0; at < saved.size(); at += 11) {
        auto changed = saved;
        changed[at] ^= std::byte{0x10};
        CHECK(refused(changed) == "");
    }
    compressor_set plain{top_k{0.1}};
    plain["only"];
    CHECK(refused(plain.save()) == "");
    CHECK(whole.save() == saved);

    compressor_set decaying{error_feedback{top_k{0.1}, {.decay = 0.5f}}};
    CHECK(suites::unlike(errc::corrupt, {"decay"}, [&] { decaying.restore(saved); }) == "");
    CHECK(decaying.size() == 0);
}

TEST_CASE("a set of compressors without a state remembers their names") {
    compressor_set plain{top_k{0.1}};
    for (char const* name : {"weights", "", "bias"}) plain[name];
    compressor_set again{top_k{0.1}};
    again.restore(plain.save());
    CHECK(again.size() == 3);
    CHECK((again.contains("weights") && again.contains("") && again.contains("bias")));
    again.erase("bias");
    again.erase("bias");
    CHECK((again.size() == 2 && !again.contains("bias")));
    again.clear();
    CHECK(again.size() == 0);
}

TEST_CASE("references stay valid while other tensors come") {
    bank all{error_feedback{top_k::of(1)}};
    auto& first = all["first"];
    for (int i = 0; i < 100; ++i) all[std::to_string(i)];
    CHECK(&first == &all["first"]);
}
