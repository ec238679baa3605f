// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chorus/base/random.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace trainer {

/// Images of digits: one column of 64 pixels in [0, 1] per image, and what each one shows.
struct digits {
    static constexpr int pixels = 64;
    static constexpr int classes = 10;

    Eigen::MatrixXf images;
    std::vector<int> labels;

    std::size_t count() const noexcept { return labels.size(); }
};

/// The images named by `chosen`, in that order.
inline digits pick(digits const& from, std::vector<std::size_t> const& chosen) {
    digits picked{Eigen::MatrixXf{digits::pixels, static_cast<Eigen::Index>(chosen.size())}, {}};
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        picked.images.col(static_cast<Eigen::Index>(i)) = from.images.col(static_cast<Eigen::Index>(chosen[i]));
        picked.labels.push_back(from.labels[chosen[i]]);
    }
    return picked;
}

/// Images first … last - 1.
inline digits slice(digits const& from, std::size_t first, std::size_t last) {
    std::vector<std::size_t> chosen(last - first);
    std::iota(chosen.begin(), chosen.end(), first);
    return pick(from, chosen);
}

/// 0 … count - 1 in an order that depends on (seed, round) alone: every rank computes the same one, no message needed.
inline std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, std::uint64_t round) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    chorus::counter_random const random{seed, round};
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i, i)]);
    return order;
}

/// Reads lines of 64 pixels (0 … 16) and a digit, separated by commas. Throws std::runtime_error.
inline digits load_digits(std::string const& path) {
    std::ifstream file{path};
    if (!file) throw std::runtime_error{"cannot open " + path + " (name the file with --data)"};
    std::vector<float> pixels;
    digits all;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields{line};
        std::vector<int> values;
        for (std::string field; std::getline(fields, field, ',');) values.push_back(std::stoi(field));
        if (values.size() != digits::pixels + 1 || values.back() < 0 || values.back() >= digits::classes)
            throw std::runtime_error{path + ": line " + std::to_string(all.count() + 1) +
                                     " is not 64 pixels and a digit"};
        std::transform(values.begin(), values.end() - 1, std::back_inserter(pixels),
                       [](int pixel) { return static_cast<float>(pixel) / 16; });
        all.labels.push_back(values.back());
    }
    if (all.count() < 10) throw std::runtime_error{path + " holds too few images"};
    all.images = Eigen::Map<Eigen::MatrixXf>{pixels.data(), digits::pixels, static_cast<Eigen::Index>(all.count())};
    return all;
}

struct train_and_test {
    digits train;
    digits test;
};

/// A fifth, drawn once and for all, is kept aside for testing: 1,437 images to learn from, 360 to be judged by.
inline train_and_test split(digits const& all) {
    digits const mixed = pick(all, shuffled(all.count(), 1998, 0));
    std::size_t const kept = all.count() * 4 / 5;
    return {slice(mixed, 0, kept), slice(mixed, kept, all.count())};
}

}  // namespace trainer
