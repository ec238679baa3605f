// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "call_memory.hpp"
#include "endpoint.hpp"
#include "statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// Where the ranks meet: before each sample, or after it, as OSU does.
enum class meeting : std::uint8_t { before, after };

/// How a call is sampled.
struct sampling {
    std::size_t warm_up = 5;      ///< calls before the first sample
    std::size_t repeat = 30;      ///< samples; the least number where `within` asks for more
    std::size_t batch = 1;        ///< calls in one sample, back to back
    meeting at = meeting::before;
    bool barrier_in_batch = false;  ///< a barrier behind each call of a batch, inside the timing
    double within = 0;            ///< more samples, `repeat` at a time, until the interval of the median is as narrow as
                                  ///< that on either side, in proportion; 0: no more
    double seconds = 10;          ///< but not after so long
    bool check = true;            ///< the results of each call, warm-up included; of a batch those of `check_calls` after it
    std::size_t check_calls = 1;
    std::size_t rehearsals = 0;   ///< calls before each sample where results are checked
    bool off_cache = false;       ///< what the caches hold is displaced before each sample
    chorus::rank_id spoil = chorus::nobody;  ///< flips a byte of each result on this rank before it is checked
};

/// Whether sampling may end: enough samples, narrow enough or out of time. Of agreed values only: the same on all ranks.
bool is_enough(std::vector<double> samples, sampling const& asked, double elapsed);

/// Times in seconds per call, the same on all ranks.
struct timing {
    std::vector<double> samples;  ///< sorted; from the last rank's begin to the last rank's end, or, where the ranks have
                                  ///< clocks of their own, the longest of the ranks' own times
    summary time;                 ///< of the samples
    summary skew;                 ///< from the first rank's end to the last one's; with clocks of their own: between the
                                  ///< ranks' own times
    std::vector<double> own;      ///< each rank's own time, mean over the samples
    summary between_ranks;        ///< of `own`
    chorus::rank_id slowest = 0;  ///< by `own`
    std::uint64_t wrong = 0;      ///< elements, over all ranks and calls
};

/// Collective.
timing measure(endpoint& net, measured_call& call, sampling const& asked);

/// Two calls in turn, sample by sample, so that whatever else the machine does meets both alike.
struct paired_timing {
    timing first;
    timing second;
};
paired_timing measure_pair(endpoint& net, measured_call& first, measured_call& second, sampling const& asked);

class carried_check;

/// A collective of chorus with its memory; with `roots` > 1 each call has the next of the ranks 0 … roots - 1 as its root.
/// What a compressor carries works on gradients, which `carried_check` looks at: where results are counted, all ranks do it.
class collective_call : public measured_call {
 public:
    collective_call(endpoint& net, call_shape const& shape, std::string const& algorithm, chorus::rank_id roots = 1);
    ~collective_call() override;
    void run() override;
    void fill(std::uint64_t call) override;
    std::uint64_t count_wrong(std::uint64_t call) override;
    void spoil() override;
    std::string algorithm() const override;

    /// Told of each wrong element from now on.
    void tell(wrong_element told);

    chorus::plan& plan();  ///< of the root whose turn it is
    void next_root();      ///< `run` does so itself

    std::optional<carried_facts> carried() const override;

 private:
    struct one_root;
    one_root& last() const;

    std::unique_ptr<carried_check> check_;
    std::vector<std::unique_ptr<one_root>> roots_;
    std::size_t turn_ = 0;
    wrong_element told_;
    bool is_checked_ = false;
};

/// Every rank sends a message to the next one.
class shift_call : public measured_call {
 public:
    shift_call(endpoint& net, call_shape const& shape);
    ~shift_call() override;
    void run() override;
    void fill(std::uint64_t call) override;
    std::uint64_t count_wrong(std::uint64_t call) override;
    void spoil() override;

 private:
    endpoint& net_;
    call_shape shape_;
    std::vector<std::byte> out_;
    std::vector<std::byte> in_;
};

/// A collective that computes while it is under way. Means over ranks and samples, in seconds; `pure` is the blocking
/// call, `compute` the dummy computation, which takes as long as that.
struct overlap_timing {
    timing pure;
    double overall = 0;
    double compute = 0;
    double start = 0;
    double advance = 0;  ///< calls of `advance` during the computation
    double wait = 0;
    double overlap = 0;  ///< percent of the pure time that is hidden, 0 … 100
    std::vector<double> samples;  ///< sorted: overall, of the slowest rank
    std::uint64_t wrong = 0;
};

/// `advances` calls of `advance` while computing on an array of `array` doubles.
overlap_timing measure_overlap(endpoint& net, collective_call& call, sampling const& asked, std::size_t advances,
                               std::size_t array);

/// What two ranks do with messages.
enum class message_pattern : std::uint8_t { latency, bandwidth, bidirectional };

std::string_view to_string(message_pattern pattern) noexcept;

/// `time`: per message: half a round trip; for the other two a window's time divided by the messages in it.
struct message_timing {
    std::vector<double> samples;  ///< sorted
    summary time;
    std::uint64_t wrong = 0;      ///< bytes
};

struct message_shape {
    message_pattern pattern = message_pattern::latency;
    std::uint64_t bytes = 0;
    std::size_t window = 64;
    bool own_buffers = false;  ///< each message of a window has a landing place of its own
};

/// Collective; needs two ranks, more of them look on. Uses warm_up, repeat, within, seconds, check, off_cache and spoil.
message_timing measure_messages(endpoint& net, message_shape const& shape, sampling const& asked);

}  // namespace bench
