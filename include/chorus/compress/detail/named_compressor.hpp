// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/any_compressor.hpp"
#include "chorus/compress/clipping.hpp"
#include "chorus/compress/detail/compressor_text.hpp"
#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/minimum_size.hpp"
#include "chorus/compress/momentum_correction.hpp"
#include "chorus/compress/warm_up.hpp"
#include "chorus/detail/named_list.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus {

constexpr std::array<std::string_view, 2> words_of(approximation) noexcept { return {"own", "averaged"}; }

namespace detail {

struct size_options {
    std::size_t smallest = 1024;
};

/// The options of what is built around a compressor, by name.
struct with_adaptor_options {
    template <class O, class Visit>
    void operator()(O& o, Visit const& visit) const {
        if constexpr (requires { o.decay; }) visit("decay", o.decay), visit("against", o.against);
        if constexpr (requires { o.masks_factors; }) {
            visit("momentum", o.momentum);
            visit("is_nesterov", o.is_nesterov);
            visit("masks_factors", o.masks_factors);
        }
        if constexpr (requires { o.element; }) visit("element", o.element), visit("norm", o.norm);
        if constexpr (requires { o.smallest; }) visit("smallest", o.smallest);
        if constexpr (requires { o.first_ratio; }) {
            visit("first_ratio", o.first_ratio);
            visit("factor", o.factor);
            visit("steps_per_stage", o.steps_per_stage);
        }
    }
};

/// Sets the options that are named in the text and adds those that differ from their defaults to `told`.
template <class Options>
void read_options(Options& options, parsed_text const& asked, std::string& told) {
    set_parameters(options, asked, with_adaptor_options{});
    std::string const changed = changed_parameters(options, Options{}, with_adaptor_options{});
    if (!changed.empty()) told += ", " + changed.substr(1);  // without its parenthesis
}

/// The text of the one compressor that another is built around.
inline parsed_text inner_text(parsed_text const& asked) {
    std::optional<std::string_view> found;
    for (auto const& [name, value] : asked.parameters) {
        if (!name.empty()) continue;
        expects(!found, [&] { return asked.name + " is built around one compressor, not several"; });
        found = value;
    }
    expects(found.has_value(), [&] {
        return asked.name + " is built around a compressor: " + asked.name + "(top_k) or " + asked.name + "(top_k(ratio=0.1))";
    });
    return parse_text(*found, true);
}

/// A listed compressor with its parameters set.
template <class C>
void set_compressor_parameters(C& c, parsed_text const& asked) {
    expect_all_named(asked);
    set_parameters(c, asked, with_compressor_parameters{});
}

inline constexpr std::string_view adaptor_names[] = {"clipping", "error_feedback", "minimum_size", "momentum_correction",
                                                     "warm_up"};

/// Makes compressors of the types of List, and of what is built around them, from texts.
template <class List> struct named_from_list;
template <class... C> struct named_from_list<std::tuple<C...>> {
    static any_compressor make(parsed_text const& asked) {
        std::optional<any_compressor> found = make_adaptor(asked);
        if (!found) (make_if_named<C>(asked, found), ...);
        expects(found.has_value(), [&] {
            std::vector<std::string> names{std::string{C::name}...};
            for (std::string_view const name : adaptor_names) names.emplace_back(name) += "(…)";
            return none_named("compressor", asked.name, names);
        });
        return *std::move(found);
    }

 private:
    template <class Each>
    static void make_if_named(parsed_text const& asked, std::optional<any_compressor>& found) {
        if (asked.name != Each::name) return;
        Each c{};
        set_compressor_parameters(c, asked);
        static_cast<void>(c.max_wire_bytes(1));  // refuses parameters that it cannot work with
        found.emplace(std::move(c));
    }

    template <template <class> class Adaptor, class Options>
    static any_compressor around(parsed_text const& asked, Options options) {
        any_compressor inner = make(inner_text(asked));
        std::string told = asked.name + '(' + inner.describe();
        read_options(options, asked, told);
        if constexpr (requires { Adaptor<any_compressor>{std::move(inner), options}; })
            return {Adaptor<any_compressor>{std::move(inner), options}, told + ')'};
        else return {Adaptor<any_compressor>{std::move(inner), options.smallest}, told + ')'};
    }

    static std::optional<any_compressor> make_adaptor(parsed_text const& asked) {
        if (asked.name == "error_feedback") return around<error_feedback>(asked, feedback_options{});
        if (asked.name == "momentum_correction") return around<momentum_correction>(asked, momentum_options{});
        if (asked.name == "clipping") return around<clipping>(asked, clip_limits{});
        if (asked.name == "minimum_size") return around<minimum_size>(asked, size_options{});
        if (asked.name != "warm_up") return std::nullopt;
        std::optional<any_compressor> found;
        parsed_text const inner = inner_text(asked);
        (warm_up_if_named<C>(asked, inner, found), ...);
        expects(found.has_value(), [&] { return "warm_up changes a ratio, and " + inner.name + " has none"; });
        return found;
    }

    template <class Each>
    static void warm_up_if_named(parsed_text const& asked, parsed_text const& inner, std::optional<any_compressor>& found) {
        if constexpr (ratio_compressor<Each>) {
            if (inner.name != Each::name) return;
            Each c{};
            set_compressor_parameters(c, inner);
            std::string told = asked.name + '(' + described_compressor(c);
            warm_up_options options{};
            read_options(options, asked, told);
            found.emplace(warm_up<Each>{std::move(c), options}, told + ')');
        }
    }
};

}  // namespace detail
}  // namespace chorus
