// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/schedule/algorithm.hpp"
#include "chorus/schedule/detail/offered.hpp"
#include "chorus/schedule/detail/parameters.hpp"

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace chorus {

namespace detail {

/// Asked first by `any_algorithm`: what has no name must not be asked whether it can be compared, since that may look
/// for a conversion to `any_algorithm`.
template <class A> concept has_name = requires { A::name; };

class algorithm_model {
 public:
    virtual ~algorithm_model() = default;
    virtual std::string_view name() const = 0;
    virtual std::string describe() const = 0;
    virtual bool offers(collective operation) const = 0;
    virtual bool keeps_order() const = 0;
    virtual bool takes_uneven() const = 0;
    virtual bool adds_up_everywhere() const { return false; }
    virtual schedule make(collective operation, rank_id me, rank_id size, rank_id root) const = 0;
    virtual cost cost_of(collective operation, rank_id size, double bytes) const = 0;
};

template <class A>
class algorithm_model_of final : public algorithm_model {
 public:
    explicit algorithm_model_of(A algorithm) : algorithm_{std::move(algorithm)} {}

    std::string_view name() const override { return A::name; }
    std::string describe() const override { return described(algorithm_); }
    bool offers(collective operation) const override { return detail::offers<A>(operation); }
    bool keeps_order() const override {
        if constexpr (requires { algorithm_.keeps_order_now(); }) return algorithm_.keeps_order_now();
        else return keeps_order_of<A>();
    }
    bool takes_uneven() const override { return takes_uneven_of<A>(); }
    bool adds_up_everywhere() const override {
        if constexpr (requires { algorithm_.adds_up_everywhere_now(); }) return algorithm_.adds_up_everywhere_now();
        else return adds_up_everywhere_of<A>();
    }
    schedule make(collective operation, rank_id me, rank_id size, rank_id root) const override {
        return make_offered(algorithm_, operation, me, size, root);
    }
    cost cost_of(collective operation, rank_id size, double bytes) const override {
        return cost_offered(algorithm_, operation, size, bytes);
    }

 private:
    A algorithm_;
};

}  // namespace detail

/// Any algorithm as one ordinary type, for choices made at run time. A value that never changes: copies share it, and
/// may be used from several threads. Equal if `describe()` is. Constructing allocates once.
class any_algorithm {
 public:
    template <class A>
        requires(!std::same_as<std::remove_cvref_t<A>, any_algorithm>) && detail::has_name<std::remove_cvref_t<A>> &&
                named_algorithm<std::remove_cvref_t<A>>
    any_algorithm(A&& algorithm)
        : model_{std::make_shared<detail::algorithm_model_of<std::remove_cvref_t<A>>>(std::forward<A>(algorithm))} {}

    std::string_view name() const { return model_->name(); }

    /// The name with its parameters, "ring(segments=4)"; `algorithm_named` reads it.
    std::string describe() const { return model_->describe(); }

    bool supports(collective operation) const { return model_->offers(operation); }

    /// Whether operations need to be associative only; false for algorithms that do not reduce.
    bool keeps_order() const { return model_->keeps_order(); }

    /// Whether its all-to-all takes blocks of any lengths.
    bool takes_uneven() const { return model_->takes_uneven(); }

    /// Whether in an all-reduce several ranks add up the same block, instead of one that hands on what it found.
    bool adds_up_everywhere() const { return model_->adds_up_everywhere(); }

    /// The schedule of rank `me`; `root` matters to collectives that have one. Throws `unsupported` if the algorithm
    /// does not offer the collective, `invalid_argument` if its parameters do not fit.
    schedule make(collective operation, rank_id me, rank_id size, rank_id root = 0) const {
        expect_supported(operation);
        return model_->make(operation, me, size, root);
    }

    /// As the algorithm's own cost function; for a collective with a root that of the dearest root. Throws as `make`.
    cost cost_of(collective operation, rank_id size, double bytes) const {
        expect_supported(operation);
        return model_->cost_of(operation, size, bytes);
    }

    friend bool operator==(any_algorithm const& a, any_algorithm const& b) {
        return a.model_ == b.model_ || a.describe() == b.describe();
    }

 private:
    void expect_supported(collective operation) const {
        if (supports(operation)) return;
        std::string offered;
        for (collective other : all_collectives)
            if (supports(other)) offered += (offered.empty() ? "" : ", ") + std::string{to_string(other)};
        detail::raise(errc::unsupported, describe() + " does not offer " + std::string{to_string(operation)} +
                                             "; it offers " + (offered.empty() ? "nothing" : offered));
    }

    std::shared_ptr<detail::algorithm_model const> model_;
};

}  // namespace chorus
