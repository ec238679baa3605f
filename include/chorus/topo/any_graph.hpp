// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/topo/detail/graph_text.hpp"
#include "chorus/topo/graph.hpp"

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace chorus::topo {

namespace detail {

class graph_model {
 public:
    virtual ~graph_model() = default;
    virtual std::string_view kind() const = 0;
    virtual std::string describe() const = 0;
    virtual neighbours at(step_id step, rank_id rank, rank_id size) const = 0;
    virtual step_id period(rank_id size) const = 0;
};

template <class G>
class graph_model_of final : public graph_model {
 public:
    explicit graph_model_of(G g) : g_{std::move(g)} {}

    std::string_view kind() const override { return G::name; }
    std::string describe() const override { return described_graph(g_); }
    neighbours at(step_id step, rank_id rank, rank_id size) const override { return g_.at(step, rank, size); }
    step_id period(rank_id size) const override { return g_.period(size); }

 private:
    G g_;
};

}  // namespace detail

/// Any graph as one ordinary type, for choices made at run time. A value that never changes: copies share it, and may be
/// used from several threads. Equal if `describe()` is. Constructing allocates once.
class any_graph {
 public:
    static constexpr std::string_view name = "any_graph";

    template <class G>
        requires(!std::same_as<std::remove_cvref_t<G>, any_graph>) && requires { std::remove_cvref_t<G>::name; } &&
                graph<std::remove_cvref_t<G>>
    any_graph(G&& g) : model_{std::make_shared<detail::graph_model_of<std::remove_cvref_t<G>>>(std::forward<G>(g))} {}

    /// The name of the graph inside.
    std::string_view kind() const { return model_->kind(); }

    /// The same with the parameters that differ from their defaults, "expander(cycles=3)"; `graph_named` reads it.
    std::string describe() const { return model_->describe(); }

    neighbours at(step_id step, rank_id rank, rank_id size) const { return model_->at(step, rank, size); }
    step_id period(rank_id size) const { return model_->period(size); }

    friend bool operator==(any_graph const& a, any_graph const& b) {
        return a.model_ == b.model_ || a.describe() == b.describe();
    }

 private:
    std::shared_ptr<detail::graph_model const> model_;
};
static_assert(graph<any_graph>);

}  // namespace chorus::topo
