// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "call_shape.hpp"
#include "carried_facts.hpp"

#include <chorus/base/types.hpp>
#include <chorus/collective/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace bench {

/// Something that a rank does again and again while it is timed, with memory of its own. Collective.
class measured_call {
 public:
    virtual ~measured_call() = default;
    virtual void run() = 0;
    virtual void fill(std::uint64_t) {}                            ///< inputs of call number so and so
    virtual std::uint64_t count_wrong(std::uint64_t) { return 0; }  ///< elements of its results
    virtual void spoil() {}
    virtual std::string algorithm() const { return {}; }            ///< with its parameters

    /// After the last call; none where no compressor carries it. Collective.
    virtual std::optional<carried_facts> carried() const { return std::nullopt; }
};

/// One rank of a benchmark with types erased: the waist between what is measured and what carries the messages, so that
/// only some small templates are compiled for each transport (endpoint_on.hpp). Calls are collective unless they say
/// otherwise; all of them end within the time limit that the ranks were started with.
class endpoint {
 public:
    virtual ~endpoint() = default;

    virtual chorus::rank_id rank() const noexcept = 0;
    virtual chorus::rank_id size() const noexcept = 0;

    /// A plan for `shape` on memory cut as `vectors` cuts it. `algorithm`: a name as algorithm_named takes it, or
    /// "automatic", or "automatic(FILE)" with a table.
    virtual chorus::plan make_plan(call_shape const& shape, std::span<std::byte const> in, std::span<std::byte> out,
                                   std::string const& algorithm) = 0;
    virtual void barrier() = 0;

    /// Ranks 0 and 1: a message of that length there and one back. Others do nothing.
    virtual void ping_pong(std::span<std::byte const> out, std::span<std::byte> in) = 0;

    /// Rank 0 sends `window` messages at once to rank 1, which answers by 4 bytes when all are there; both ways at the
    /// same time if asked. Messages of a window share their buffer, or have one each in `in`, one after another.
    virtual void stream(std::span<std::byte const> out, std::span<std::byte> in, std::size_t window, bool both_ways) = 0;

    /// Every rank sends to the next one and receives from the one before.
    virtual void shift(std::span<std::byte const> out, std::span<std::byte> in) = 0;

    /// The transport's own blocking collective on the same memory, to compare with. Throws chorus::error (unsupported)
    /// where it has none.
    virtual std::unique_ptr<measured_call> native(call_shape const& shape);

    /// Whether the ranks read one steady clock: those of one host.
    bool shares_clock() const noexcept { return shares_clock_; }
    void find_out_about_clocks();

    /// Which way the messages go, in words.
    virtual std::string describe() const = 0;

 private:
    bool shares_clock_ = true;
};

/// On every rank, values[i] becomes the sum, the least, or the greatest of the ranks' values[i].
void agree(endpoint& net, std::span<std::int64_t> values, operation op);

/// "ring" from what a plan says of itself.
std::string algorithm_of(chorus::plan const& made);

}  // namespace bench
