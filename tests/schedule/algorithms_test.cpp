// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/algorithms.hpp"

#include "chorus/schedule/prove.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace chorus;

namespace {

std::string refusal(std::string_view text) {
    try {
        algorithm_named(text);
    } catch (error const& failure) {
        CHECK(failure.code() == errc::invalid_argument);
        return failure.what();
    }
    return "accepted";
}

bool has(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("every listed name is known, once, and comes back") {
    std::set<std::string_view> seen;
    for (std::string_view name : known_algorithms()) {
        INFO(std::string{name});
        CHECK(seen.insert(name).second);
        any_algorithm const found = algorithm_named(name);
        CHECK(found.name() == name);
        CHECK(algorithm_named(found.describe()) == found);
    }
    CHECK(seen.size() == std::tuple_size_v<algorithms>);
}

TEST_CASE("every collective is offered by some listed algorithm, also where ranks must stay in order") {
    for (collective operation : all_collectives) {
        INFO(std::string{to_string(operation)});
        bool offered = false;
        for (std::string_view name : known_algorithms()) {
            any_algorithm const found = algorithm_named(name);
            offered = offered || (found.supports(operation) && (!has_reduction(operation) || found.keeps_order()));
        }
        CHECK(offered);
    }
}

TEST_CASE("a name with parameters is the type with these members") {
    CHECK(algorithm_named("ring(segments=4)") == any_algorithm{ring{.segments = 4}});
    CHECK(algorithm_named("  ring ( segments = 4 ) ") == any_algorithm{ring{.segments = 4}});
    CHECK(algorithm_named("ring()") == any_algorithm{ring{}});
    CHECK(algorithm_named("chain(segments=1)") == any_algorithm{chain{.segments = 1}});
    CHECK(algorithm_named("chain(segments=8)") == any_algorithm{chain{}});
    CHECK(algorithm_named("double_binary_tree(segments=2)") == any_algorithm{double_binary_tree{.segments = 2}});
    CHECK(algorithm_named("pairwise(in_flight=3)") == any_algorithm{pairwise{.in_flight = 3}});
}

TEST_CASE("a hierarchy by name makes the schedules of the same hierarchy by type") {
    any_algorithm const named = algorithm_named("hierarchical(inside=all_pairs, between=ring, width=4)");
    hierarchical const typed{all_pairs{}, ring{}, 4};
    CHECK(named == any_algorithm{typed});
    CHECK_FALSE(named.keeps_order());
    for (rank_id size = 1; size <= 17; ++size) {
        for (rank_id me = 0; me < size; ++me)
            CHECK(named.make(collective::all_reduce, me, size) == typed.all_reduce(me, size));
        CHECK(named.cost_of(collective::all_reduce, size, 4096) == typed.all_reduce_cost(size, 4096));
    }
    CHECK(algorithm_named("hierarchical") == any_algorithm{hierarchical{direct{}, recursive_doubling{}, 4}});
    CHECK(algorithm_named("hierarchical").keeps_order());
    CHECK(algorithm_named("hierarchical(groups=3+2)") ==
          any_algorithm{hierarchical{direct{}, recursive_doubling{}, 1, {3, 2}}});
}

TEST_CASE("hierarchies of every inner algorithm by name are proved") {
    for (char const* inside :
         {"direct", "ring", "binomial_tree", "all_pairs", "recursive_doubling", "recursive_halving", "rabenseifner",
          "chain(segments=2)", "double_binary_tree(segments=2)"})
        for (char const* between : {"ring(segments=2)", "hierarchical(width=2)"})
            for (rank_id size : {1u, 2u, 5u, 8u, 12u, 13u}) {
                std::string const text =
                    "hierarchical(inside=" + std::string{inside} + ", between=" + between + ", width=3)";
                INFO(text, " p=", size);
                any_algorithm const found = algorithm_named(text);
                CHECK(found.describe() == text.substr(0, text.find("hierarchical(width=2)")) +
                                              (has(text, "(width=2)") ? "hierarchical(inside=direct, between="
                                                                        "recursive_doubling, width=2), width=3)"
                                                                      : ""));
                proof const result =
                    prove(size, [&](rank_id me) { return found.make(collective::all_reduce, me, size); },
                          {.operation = collective::all_reduce, .keeps_order = found.keeps_order()});
                CHECK_MESSAGE(result.holds, result.why);
            }
}

TEST_CASE("unknown names and parameters are refused, and what exists is listed") {
    for (std::string_view name : known_algorithms()) CHECK(has(refusal("rign"), name));
    CHECK(has(refusal("rign"), "\"rign\""));
    CHECK(has(refusal("ring(pieces=3)"), "no parameter pieces; it has segments"));
    CHECK(has(refusal("direct(segments=3)"), "it has none"));
    CHECK(has(refusal("hierarchical(depth=2)"), "it has inside, between, width, groups"));
    CHECK(has(refusal("hierarchical(inside=bruck)"), "bruck"));
    CHECK(has(refusal("hierarchical(between=bruck)"), "all_reduce"));
    CHECK(has(refusal("hierarchical(inside=ring(x=1))"), "ring has no parameter x"));
    CHECK(has(refusal("hierarchical(width=0)"), "at least one rank"));
}

TEST_CASE("malformed texts are refused") {
    for (char const* text :
         {"", "(", "ring(", "ring)", "ring(segments)", "ring(=1)", "ring(segments=1))", "ring(segments=1,)",
          "ring((segments=1)", "ring(segments=)", "ring(segments=-1)", "ring(segments=1x)", "ring(segments=4294967296)",
          "ring(segments=1) x", "hierarchical(groups=2++3)"}) {
        INFO(text);
        CHECK(refusal(text) != "accepted");
    }
}
