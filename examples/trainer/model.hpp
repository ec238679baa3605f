// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "images.hpp"

#include <chorus/base/random.hpp>

#include <Eigen/Core>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace trainer {

/// A dense layer of in -> out signals, or, with a side, a convolution of 3 x 3 pixels and stride 2 over square pictures of `in` channels, whose signals
/// lie pixel by pixel. Its out x fan_in() weights, then its out biases, begin at `begin` in the model's vectors.
struct layer {
    Eigen::Index in, out, side = 0, begin = 0;

    Eigen::Index fan_in() const { return side > 0 ? 9 * in : in; }
    Eigen::Index places() const { return side > 0 ? ((side + 1) / 2) * ((side + 1) / 2) : 1; }
    Eigen::Index parameters() const { return out * (fan_in() + 1); }

    Eigen::Map<Eigen::MatrixXf> matrix_in(Eigen::VectorXf& flat) const { return {flat.data() + begin, out, fan_in()}; }
    Eigen::Map<Eigen::VectorXf> bias_in(Eigen::VectorXf& flat) const { return {flat.data() + begin + out * fan_in(), out}; }

    Eigen::MatrixXf forward(Eigen::VectorXf& weights, Eigen::MatrixXf const& signals) const {
        Eigen::MatrixXf next{out * places(), signals.cols()};
        if (side == 0) next.noalias() = matrix_in(weights) * signals;
        else
            for (Eigen::Index i = 0; i < signals.cols(); ++i) reshaped(next, i).noalias() = matrix_in(weights) * patches(signals, i);
        for (Eigen::Index i = 0; i < signals.cols(); ++i) reshaped(next, i).colwise() += bias_in(weights);
        return next;
    }

    /// Adds to the gradient; returns the error of what came in, if it is wanted.
    Eigen::MatrixXf backward(Eigen::VectorXf& weights, Eigen::VectorXf& gradient, Eigen::MatrixXf const& signals, Eigen::MatrixXf& error, bool is_wanted) const {
        if (side == 0) {
            matrix_in(gradient).noalias() = error * signals.transpose();
            bias_in(gradient) = error.rowwise().sum();
            return is_wanted ? Eigen::MatrixXf{matrix_in(weights).transpose() * error} : Eigen::MatrixXf{};
        }
        Eigen::MatrixXf back = Eigen::MatrixXf::Zero(is_wanted ? signals.rows() : 0, signals.cols());
        for (Eigen::Index i = 0; i < signals.cols(); ++i) {
            matrix_in(gradient).noalias() += reshaped(error, i) * patches(signals, i).transpose();
            bias_in(gradient) += reshaped(error, i).rowwise().sum();
            if (!is_wanted) continue;
            Eigen::MatrixXf const spread = matrix_in(weights).transpose() * reshaped(error, i);
            for_each_tap([&](Eigen::Index place, Eigen::Index tap, Eigen::Index pixel) {
                back.col(i).segment(pixel * in, in) += spread.col(place).segment(tap * in, in);
            });
        }
        return back;
    }

 private:
    Eigen::Map<Eigen::MatrixXf> reshaped(Eigen::MatrixXf& signals, Eigen::Index image) const { return {signals.col(image).data(), out, places()}; }

    /// What each place of the output looks at: a column of 9 * in signals, 0 beyond the border.
    Eigen::MatrixXf patches(Eigen::MatrixXf const& signals, Eigen::Index image) const {
        Eigen::MatrixXf all = Eigen::MatrixXf::Zero(fan_in(), places());
        for_each_tap([&](Eigen::Index place, Eigen::Index tap, Eigen::Index pixel) {
            all.col(place).segment(tap * in, in) = signals.col(image).segment(pixel * in, in);
        });
        return all;
    }

    template <class Visit>
    void for_each_tap(Visit const& visit) const {
        Eigen::Index const wide = (side + 1) / 2;
        for (Eigen::Index place = 0; place < places(); ++place)
            for (Eigen::Index tap = 0; tap < 9; ++tap) {
                Eigen::Index const row = 2 * (place / wide) + tap / 3 - 1;
                Eigen::Index const column = 2 * (place % wide) + tap % 3 - 1;
                if (row >= 0 && row < side && column >= 0 && column < side) visit(place, tap, row * side + column);
            }
    }
};

/// Layers with rectified linear units between them, then softmax and cross-entropy.
///
/// All weights lie in one vector and all their gradients in another of the same shape, so that one exchange a step can carry the whole model; a
/// layer's are one span of it.
class model {
 public:
    model(std::vector<layer> layers, std::uint64_t seed) : layers_{std::move(layers)} {
        Eigen::Index end = 0;
        for (layer& l : layers_) l.begin = std::exchange(end, end + l.parameters());
        weights_.setZero(end);
        gradient_.setZero(end);
        velocity_.setZero(end);
        for (std::size_t l = 0; l < layers_.size(); ++l) draw(layers_[l], chorus::counter_random{seed, l});
    }

    /// Dense layers of these widths.
    static std::vector<layer> perceptron(Eigen::Index pixels, std::vector<Eigen::Index> const& hidden) {
        std::vector<layer> layers;
        for (Eigen::Index width : hidden) layers.push_back({layers.empty() ? pixels : layers.back().out, width});
        layers.push_back({layers.empty() ? pixels : layers.back().out, 10});
        return layers;
    }
    /// Two convolutions to 16 and 32 channels on a quarter of the side, then dense layers.
    static std::vector<layer> convolutional(Eigen::Index pixels, std::vector<Eigen::Index> const& hidden) {
        auto const side = static_cast<Eigen::Index>(std::lround(std::sqrt(static_cast<double>(pixels))));
        std::vector<layer> layers{{1, 16, side}, {16, 32, (side + 1) / 2}};
        for (layer const& dense : perceptron(32 * layers.back().places(), hidden)) layers.push_back(dense);
        return layers;
    }

    std::span<float> weights() { return {weights_.data(), static_cast<std::size_t>(weights_.size())}; }
    std::span<float> gradient() { return {gradient_.data(), static_cast<std::size_t>(gradient_.size())}; }

    /// Sets the gradient to the sum over these images (none: zero), divided by `samples`, and returns the sum of their losses. Sums, unlike
    /// means, can be averaged over ranks whose shares of a batch differ in size.
    double differentiate(images const& batch, double samples) {
        gradient_.setZero();
        if (batch.count() == 0) return 0;
        std::vector<Eigen::MatrixXf> const signals = forward(batch.pixels);
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
        error /= static_cast<float>(samples);
        for (std::size_t l = layers_.size(); l-- > 0;) {
            Eigen::MatrixXf const back = layers_[l].backward(weights_, gradient_, signals[l], error, l > 0);
            if (l > 0) error = (signals[l].array() > 0).select(back, 0.0F);
        }
        return loss;
    }

    /// One step of stochastic gradient descent with momentum.
    void descend(double rate, double momentum) {
        velocity_ = static_cast<float>(momentum) * velocity_ + gradient_;
        weights_ -= static_cast<float>(rate) * velocity_;
    }

    std::size_t count_correct(images const& batch) {
        if (batch.count() == 0) return 0;
        Eigen::MatrixXf const scores = forward(batch.pixels).back();
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
    // Uniform with variance 2 / fan_in (He, Zhang, Ren, Sun, 2015); biases stay 0.
    void draw(layer const& l, chorus::counter_random random) {
        double const limit = std::sqrt(6.0 / static_cast<double>(l.fan_in()));
        for (Eigen::Index i = 0; i < l.out * l.fan_in(); ++i)
            weights_[l.begin + i] = static_cast<float>(limit * (2 * random.unit(static_cast<std::uint64_t>(i)) - 1));
    }

    // The input, and what each layer makes of it.
    std::vector<Eigen::MatrixXf> forward(Eigen::MatrixXf const& pixels) {
        std::vector<Eigen::MatrixXf> signals{pixels};
        for (layer const& l : layers_) {
            Eigen::MatrixXf next = l.forward(weights_, signals.back());
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
