// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/collective/detail/collective_call.hpp"
#include "chorus/data/element.hpp"
#include "chorus/gossip/detail/pair_meetings.hpp"
#include "chorus/gossip/detail/pair_model.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/graph.hpp"

#include <memory>
#include <utility>

namespace chorus::gossip {

/// Averaging in pairs, without steps: a rank asks a partner when it likes, and whoever is asked answers when it next calls. AD-PSGD, and gossiping SGD.
///
///     chorus::gossip::pairwise pairs{world, weights};   // half of the ranks ask, half answer: AD-PSGD
///     for (int step = 0; step < steps; ++step) {        // as many as this rank likes
///         pairs.ask();                                  // sends the weights as they stand; false where there is nobody to ask
///         …                                             // the gradient, applied to the weights
///         pairs.wait();                                 // x = (x_sent + y) / 2 + (x - x_sent); where nothing was asked: answers what came
///     }
///     pairs.finish();                                   // answers until all ranks are through
///
/// Move-only; made by all ranks of the group in the same order among its plans. No rank waits in order to answer, so ranks that wait for one another's answers cannot
/// lock up, whoever asks whom; an answer takes as long as the asked rank is away from its calls. Values belong to the caller, who may change them between calls:
/// they are written by `ask`, `advance`, `wait` and `finish` alone, and read also while other operations of the group are waited for, which answers as well.
///
/// both: partners take the same mean, and the sum over all ranks is kept at every meeting, to the roundings of the element. An asked rank whose own question is open
/// refuses, unless the two asked each other, which is a meeting; with `askers::even_ranks` nobody is refused.
///
/// messages per meeting: two of 16 bytes, and the values there (both, push) and back (both, pull) | memory: the values twice on a rank that asks; once, 8 count bytes,
/// and once for each answer not yet taken on one that answers | a partner that is lost is skipped, and not asked again; what it had is lost | float, double, half, bfloat16
/// X. Lian et al., "Asynchronous decentralized parallel stochastic gradient descent" (ICML 2018); P. Jin et al., "How to scale distributed deep learning?" (2016)
class pairwise {
 public:
    /// Partners are the neighbours in a graph of period 1. Throws `invalid_argument` if some rank can never hear of another's values, `mismatch` if ranks were given different arguments.
    template <transport Transport, buffer Values, topo::graph Graph = topo::full>
        requires chorus::detail::real<element_of<Values>>
    pairwise(group<Transport> const& members, Values&& values, pairwise_options const& options = {}, Graph const& graph = {})
        : model_{detail::meetings_of(members, chorus::detail::target_span(values), graph, options)} {}

    /// Asks a partner drawn from the seed. False, with nothing sent, on a rank that has nobody to ask: it answers alone, or all its partners are lost.
    /// Throws `invalid_argument` while an earlier question is open, and after `finish`.
    bool ask() { return model_->ask(nobody); }
    bool ask(rank_id partner) { return model_->ask(partner); }

    /// Answers, and goes on with the own question, as far as it goes without blocking: `done` when none is open, `failed` once the transport has.
    progress advance() noexcept { return model_->advance(); }

    /// Blocks until the own question is answered. Throws timed_out, which leaves it open, and what the transport failed with.
    void wait() { model_->wait_for({}); }
    /// The same for so long at most: false when it is still open.
    bool wait_for(time_limit limit) { return model_->wait_for(limit); }

    /// Waits for the own question, then answers until every rank that is not lost has come here; afterwards nothing is under way and the values do not change.
    /// Called by all ranks, after all else but `disagreement`. Throws like `wait`, naming who has not come. Destroyed without it, a rank counts as lost.
    void finish() { model_->finish_for({}); }
    /// The same for so long at most: false when not all have come, and it is to be called again.
    bool finish_for(time_limit limit) { return model_->finish_for(limit); }

    /// As `stepper::disagreement`: a blocking collective of all ranks, after `finish`.
    double disagreement() { return model_->disagreement(); }

    pair_counts const& counts() const noexcept { return model_->counts(); }

 private:
    std::unique_ptr<detail::pair_model> model_;
};

}  // namespace chorus::gossip
