// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/weight_average.hpp"

#include "chorus/base/random.hpp"
#include "chorus/data/half.hpp"
#include "suites/expected_error.hpp"

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::weight_average;
using chorus::weight_average_options;

namespace {

/// Two tensors, one of them empty, whose values at record k are known.
struct model {
    std::vector<float> values = std::vector<float>(9);

    std::vector<std::span<float>> tensors() { return {std::span{values}.first(4), {}, std::span{values}.subspan(4)}; }
    void set(std::uint64_t k) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = at(k, i);
    }
    static float at(std::uint64_t k, std::size_t i) { return static_cast<float>(chorus::counter_random{k}.unit(i)) - 0.5f; }
};

std::vector<float> averaged(weight_average_options const& options, std::uint64_t records) {
    model w;
    weight_average average{w.tensors(), options};
    for (std::uint64_t k = 0; k < records; ++k) {
        w.set(k);
        average.record();
    }
    average.store();
    return w.values;
}

}  // namespace

TEST_CASE("the average is that of the definition: all, the last n, fading") {
    for (std::uint32_t last : {0u, 1u, 3u, 8u})
        for (double decay : {1.0, 0.5, 0.9})
            for (std::uint64_t records : {1u, 2u, 3u, 7u, 8u, 20u}) {
                auto const made = averaged({last, decay}, records);
                std::uint64_t const begin = last == 0 ? 0 : records - (std::min)(records, std::uint64_t{last});
                for (std::size_t i = 0; i < made.size(); ++i) {
                    double sum = 0, weights = 0;
                    for (std::uint64_t k = begin; k < records; ++k) {
                        double const weight = std::pow(decay, static_cast<double>(records - 1 - k));
                        sum += weight * static_cast<double>(model::at(k, i));
                        weights += weight;
                    }
                    CHECK(made[i] == doctest::Approx(sum / weights).epsilon(1e-6));
                }
            }
}

TEST_CASE("a window that nothing has left is an average of all, to the bit; one record is itself; equal records are themselves") {
    for (double decay : {1.0, 0.75})
        for (std::uint64_t records : {1u, 4u, 9u}) CHECK(averaged({9, decay}, records) == averaged({0, decay}, records));
    model one;
    one.set(0);
    for (std::uint32_t last : {0u, 4u}) CHECK(averaged({last, 0.9}, 1) == one.values);
    model same;
    same.set(5);
    auto const before = same.values;
    weight_average average{same.tensors(), {0, 0.99}};
    for (int k = 0; k < 50; ++k) average.record();
    average.store();
    CHECK(same.values == before);
}

TEST_CASE("whole numbers of halves are averaged exactly") {
    std::vector<chorus::half> w(3);
    weight_average average{std::vector{std::span{w}}};
    for (int k = 0; k < 5; ++k) {
        for (std::size_t i = 0; i < w.size(); ++i) w[i] = chorus::half{static_cast<float>(k * static_cast<int>(i + 1))};
        average.record();
    }
    average.store();
    for (std::size_t i = 0; i < w.size(); ++i) CHECK(static_cast<float>(w[i]) == 2.0f * static_cast<float>(i + 1));
}

TEST_CASE("saved and restored at any record, it goes on as if never stopped, to the bit") {
    for (weight_average_options const options : {weight_average_options{}, weight_average_options{3, 1}, weight_average_options{0, 0.9}, weight_average_options{4, 0.5}})
        for (std::uint64_t stop : {0u, 1u, 3u, 5u, 11u}) {
            model w;
            weight_average first{w.tensors(), options};
            for (std::uint64_t k = 0; k < stop; ++k) w.set(k), first.record();
            auto const saved = first.save();
            weight_average second{w.tensors(), options};
            second.restore(saved);
            CHECK(second.save() == saved);
            for (std::uint64_t k = stop; k < 12; ++k) w.set(k), second.record();
            CHECK(second.records() == 12);
            second.store();
            CHECK(w.values == averaged(options, 12));
            second.reset();
            CHECK(second.save() == weight_average{w.tensors(), options}.save());
        }
}

TEST_CASE("what is no average, or no state of this one, is refused and changes nothing") {
    model w;
    w.set(1);
    weight_average average{w.tensors(), {3}};
    CHECK(suites::unlike(errc::invalid_argument, {"before anything was recorded"}, [&] { average.store(); }) == "");
    for (double decay : {0.0, -1.0, 1.5, std::nan("")}) CHECK(suites::unlike(errc::invalid_argument, {"a decay of"}, [&] { weight_average{w.tensors(), {0, decay}}; }) == "");
    average.record();
    auto const saved = average.save();
    auto refuses = [&](std::initializer_list<std::string_view> words, std::vector<std::byte> const& other) {
        CHECK(suites::unlike(errc::corrupt, words, [&] { average.restore(other); }) == "");
        CHECK(average.save() == saved);
    };
    for (std::size_t many = 0; many < saved.size(); ++many) refuses({}, {saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(many)});
    for (std::size_t at = 0; at < saved.size(); ++at) {
        auto changed = saved;
        changed[at] ^= std::byte{1};
        refuses({}, changed);
    }
    refuses({"another window: 4 with"}, weight_average{w.tensors(), {4}}.save());
    refuses({"another model"}, weight_average{std::vector{std::span{w.values}}, {3}}.save());
}
