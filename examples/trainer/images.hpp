// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chorus/base/random.hpp>
#include <chorus/data/blocks.hpp>

#include <Eigen/Core>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace trainer {

/// Square pictures of ten classes: one column of side * side pixels in [0, 1] per picture, and what each one shows.
struct images {
    Eigen::MatrixXf pixels;
    std::vector<int> labels;

    std::size_t count() const noexcept { return labels.size(); }

    /// Those named by `chosen`, in that order.
    images pick(std::span<std::size_t const> chosen) const {
        images picked{Eigen::MatrixXf{pixels.rows(), static_cast<Eigen::Index>(chosen.size())}, {}};
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            picked.pixels.col(static_cast<Eigen::Index>(i)) = pixels.col(static_cast<Eigen::Index>(chosen[i]));
            picked.labels.push_back(labels[chosen[i]]);
        }
        return picked;
    }
};

struct train_and_test {
    images train;
    images test;
};

/// 0 … count - 1 in an order that depends on (seed, round) alone: every rank computes the same one, no message needed.
inline std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, std::uint64_t round) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    chorus::counter_random const random{seed, round};
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i, i)]);
    return order;
}

/// This rank's near-equal part of what was chosen; empty for some if there are more ranks than that.
inline std::span<std::size_t const> share(std::span<std::size_t const> chosen, chorus::rank_id rank, chorus::rank_id size) {
    auto const cut = chorus::blocks::near_equal(chosen.size(), size);
    return chosen.subspan(cut.begin(rank), cut.length(rank));
}

/// Handwritten digits of 8 x 8 pixels from lines of 64 numbers (0 … 16) and a digit. A fifth, drawn once and for all, is kept aside for testing: 1,437 to
/// learn from, 360 to be judged by. Throws std::runtime_error.
inline train_and_test load_digits(std::string const& path) {
    std::ifstream file{path};
    if (!file) throw std::runtime_error{"cannot open " + path + " (name the file with --from)"};
    std::vector<float> pixels;
    images all;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields{line};
        std::vector<int> values;
        for (std::string field; std::getline(fields, field, ',');) values.push_back(std::stoi(field));
        if (values.size() != 65 || values.back() < 0 || values.back() > 9)
            throw std::runtime_error{path + ": line " + std::to_string(all.count() + 1) + " is not 64 pixels and a digit"};
        std::transform(values.begin(), values.end() - 1, std::back_inserter(pixels),
                       [](int pixel) { return static_cast<float>(pixel) / 16; });
        all.labels.push_back(values.back());
    }
    if (all.count() < 10) throw std::runtime_error{path + " holds too few images"};
    all.pixels = Eigen::Map<Eigen::MatrixXf>{pixels.data(), 64, static_cast<Eigen::Index>(all.count())};
    auto const mixed = shuffled(all.count(), 1998, 0);
    auto const kept = std::span{mixed}.first(all.count() * 4 / 5);
    return {all.pick(kept), all.pick(std::span{mixed}.subspan(kept.size()))};
}

/// The bytes of a file of the MNIST family after its header of 4 + 4 * dimensions bytes, packed by gzip or not. Throws std::runtime_error.
inline std::vector<unsigned char> read_idx(std::string const& path, std::size_t dimensions) {
    std::unique_ptr<gzFile_s, int (*)(gzFile)> const file{gzopen(path.c_str(), "rb"), gzclose};
    if (!file) throw std::runtime_error{"cannot open " + path + " (apt-get install dataset-fashion-mnist, or name the folder with --from)"};
    std::vector<unsigned char> bytes;
    unsigned char part[65536];
    for (int got = 0; (got = gzread(file.get(), part, sizeof part)) > 0;) bytes.insert(bytes.end(), part, part + got);
    std::size_t const header = 4 + 4 * dimensions;
    if (bytes.size() < header || bytes[3] != dimensions) throw std::runtime_error{path + " is no idx file of " + std::to_string(dimensions) + " dimensions"};
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
    return bytes;
}

/// Clothes of 28 x 28 pixels (Xiao, Rasul, Vollgraf, 2017): the first `most` of 60,000 to learn from, 10,000 to be judged by.
inline train_and_test load_fashion(std::string const& folder, std::size_t most) {
    auto const read = [&](std::string const& name, std::size_t limit) {
        auto const pixels = read_idx(folder + '/' + name + "-images-idx3-ubyte.gz", 3);
        auto const labels = read_idx(folder + '/' + name + "-labels-idx1-ubyte.gz", 1);
        std::size_t const count = (std::min)(labels.size(), limit);
        if (pixels.size() != labels.size() * 784) throw std::runtime_error{folder + ": " + name + " has not one label per image"};
        images read_ones{Eigen::MatrixXf{784, static_cast<Eigen::Index>(count)}, {labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(count)}};
        std::transform(pixels.begin(), pixels.begin() + static_cast<std::ptrdiff_t>(count * 784), read_ones.pixels.data(),
                       [](unsigned char pixel) { return static_cast<float>(pixel) / 255; });
        return read_ones;
    };
    return {read("train", most), read("t10k", 10000)};
}

}  // namespace trainer
