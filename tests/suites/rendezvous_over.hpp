// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/rendezvous.hpp"
#include "chorus/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace suites {

/// A rendezvous over another transport between the same ranks.
template <chorus::transport Net>
class rendezvous_over {
 public:
    explicit rendezvous_over(Net& net) : net_{&net} {}

    chorus::rank_id rank() const noexcept { return net_->rank(); }
    chorus::rank_id size() const noexcept { return net_->size(); }

    std::vector<std::vector<std::byte>> exchange(std::span<std::byte const> mine) {
        std::uint64_t const length = mine.size();
        std::vector<std::uint64_t> lengths(size());
        swap(std::as_bytes(std::span{&length, 1}), [&](chorus::rank_id p) { return std::as_writable_bytes(std::span{&lengths[p], 1}); });
        std::vector<std::vector<std::byte>> all;
        for (std::uint64_t each : lengths) all.emplace_back(each);
        swap(mine, [&](chorus::rank_id p) { return std::span{all[p]}; });
        return all;
    }

 private:
    template <class Place>
    void swap(std::span<std::byte const> mine, Place const& place_of) {
        std::vector<typename Net::ticket> open;
        for (chorus::rank_id p = 0; p < size(); ++p) {
            open.push_back(net_->post_send(p, {~std::uint64_t{0}, 0}, mine));
            open.push_back(net_->post_recv(p, {~std::uint64_t{0}, 0}, place_of(p)));
        }
        for (auto& pending : open)
            for (std::uint32_t idle = 0;;) {
                chorus::progress const now = net_->poll(pending);
                if (now == chorus::progress::done) break;
                if (now == chorus::progress::failed) throw std::runtime_error{"the rendezvous failed"};
                net_->rest(++idle);
            }
    }

    Net* net_;
};

}  // namespace suites
