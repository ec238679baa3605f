// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "digits.hpp"

#include <chorus/base/random.hpp>

#include <Eigen/Core>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace trainer {

/// A multi-layer perceptron 64-128-64-10: rectified linear units, then softmax and cross-entropy.
///
/// All weights lie in one vector and all their gradients in another of the same shape, so that one all-reduce
/// a step carries the whole model. Layers only look into these vectors.
class network {
 public:
    explicit network(std::uint64_t seed) {
        Eigen::Index end = 0;
        for (std::size_t l = 0; l + 1 < std::size(widths); ++l) {
            layers_.push_back({widths[l], widths[l + 1], end});
            end += widths[l + 1] * (widths[l] + 1);
        }
        weights_.setZero(end);
        gradient_.setZero(end);
        velocity_.setZero(end);
        for (std::size_t l = 0; l < layers_.size(); ++l) draw(layers_[l], chorus::counter_random{seed, l});
    }

    std::span<float> weights() { return {weights_.data(), static_cast<std::size_t>(weights_.size())}; }
    std::span<float> gradient() { return {gradient_.data(), static_cast<std::size_t>(gradient_.size())}; }

    /// Sets the gradient to the *sum* over these images (none: zero) and returns the sum of their losses. Sums, unlike
    /// means, can be added over ranks whose shares of a batch differ in size.
    double differentiate(digits const& batch) {
        gradient_.setZero();
        if (batch.count() == 0) return 0;
        std::vector<Eigen::MatrixXf> const signals = forward(batch.images);
        Eigen::MatrixXf error = signals.back().rowwise() - signals.back().colwise().maxCoeff();
        double loss = 0;
        for (Eigen::Index i = 0; i < error.cols(); ++i) {
            int const label = batch.labels[static_cast<std::size_t>(i)];
            float const evidence = error(label, i);
            error.col(i) = error.col(i).array().exp();
            float const total = error.col(i).sum();
            error.col(i) /= total;
            error(label, i) -= 1;
            loss += static_cast<double>(std::log(total) - evidence);
        }
        for (std::size_t l = layers_.size(); l-- > 0;) {
            matrix_in(gradient_, layers_[l]).noalias() = error * signals[l].transpose();
            bias_in(gradient_, layers_[l]) = error.rowwise().sum();
            if (l == 0) break;
            Eigen::MatrixXf const back = matrix_in(weights_, layers_[l]).transpose() * error;
            error = (signals[l].array() > 0).select(back, 0.0F);
        }
        return loss;
    }

    /// One step of stochastic gradient descent with momentum 0.9; `samples` is how many images the gradient sums.
    void descend(float rate, std::size_t samples) {
        velocity_ = 0.9F * velocity_ + gradient_ / static_cast<float>(samples);
        weights_ -= rate * velocity_;
    }

    std::size_t count_correct(digits const& batch) {
        if (batch.count() == 0) return 0;
        Eigen::MatrixXf const scores = forward(batch.images).back();
        std::size_t correct = 0;
        for (std::size_t i = 0; i < batch.count(); ++i) {
            Eigen::Index best = 0;
            scores.col(static_cast<Eigen::Index>(i)).maxCoeff(&best);
            if (best == batch.labels[i]) ++correct;
        }
        return correct;
    }

    /// Changes if any bit of any weight does (FNV-1a over the words).
    std::uint64_t fingerprint() const {
        std::uint64_t hash = 0xCBF29CE484222325u;
        for (float weight : weights_) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, &weight, sizeof bits);
            hash = (hash ^ bits) * 0x100000001B3u;
        }
        return hash;
    }

 private:
    static constexpr Eigen::Index widths[] = {digits::pixels, 128, 64, digits::classes};

    struct layer {
        Eigen::Index in, out, begin;  // out x in weights from `begin`, then out biases
    };

    static Eigen::Map<Eigen::MatrixXf> matrix_in(Eigen::VectorXf& flat, layer const& l) {
        return {flat.data() + l.begin, l.out, l.in};
    }
    static Eigen::Map<Eigen::VectorXf> bias_in(Eigen::VectorXf& flat, layer const& l) {
        return {flat.data() + l.begin + l.out * l.in, l.out};
    }

    // Uniform with variance 2 / in (He, Zhang, Ren, Sun, 2015); biases stay 0.
    void draw(layer const& l, chorus::counter_random random) {
        double const limit = std::sqrt(6.0 / static_cast<double>(l.in));
        for (Eigen::Index i = 0; i < l.out * l.in; ++i)
            weights_[l.begin + i] = static_cast<float>(limit * (2 * random.unit(static_cast<std::uint64_t>(i)) - 1));
    }

    // The input, and what each layer makes of it.
    std::vector<Eigen::MatrixXf> forward(Eigen::MatrixXf const& images) {
        std::vector<Eigen::MatrixXf> signals{images};
        for (layer const& l : layers_) {
            Eigen::MatrixXf next = matrix_in(weights_, l) * signals.back();
            next.colwise() += bias_in(weights_, l);
            if (&l != &layers_.back()) next = next.cwiseMax(0.0F);
            signals.push_back(std::move(next));
        }
        return signals;
    }

    std::vector<layer> layers_;
    Eigen::VectorXf weights_;
    Eigen::VectorXf gradient_;
    Eigen::VectorXf velocity_;
};

}  // namespace trainer
