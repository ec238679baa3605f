// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "element_kind.hpp"

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

// The only place where element types and operations meet: their kernels are compiled here.

namespace bench {

namespace {

template <class Element>
chorus::reducer reducer_of(operation op) {
    switch (op) {
        case operation::sum: return chorus::make_reducer<Element>(chorus::sum{});
        case operation::product: return chorus::make_reducer<Element>(chorus::product{});
        case operation::minimum: return chorus::make_reducer<Element>(chorus::minimum{});
        case operation::maximum: return chorus::make_reducer<Element>(chorus::maximum{});
        case operation::mean: return chorus::make_reducer<Element>(chorus::mean{});
    }
    throw std::invalid_argument{"no such operation"};
}

template <class Element>
constexpr element_kind kind_of() {
    return {.name = chorus::element_name<Element>(),
            .bytes = sizeof(Element),
            .write =
                [](int value, std::byte* where) {
                    auto const element = static_cast<Element>(static_cast<float>(value));
                    std::memcpy(where, &element, sizeof element);
                },
            .read =
                [](std::byte const* where) {
                    Element element{};
                    std::memcpy(&element, where, sizeof element);
                    return static_cast<double>(static_cast<chorus::wide_t<Element>>(element));
                },
            .reducer_of = reducer_of<Element>};
}

constexpr element_kind kinds[] = {
    kind_of<float>(),        kind_of<double>(),        kind_of<chorus::half>(),  kind_of<chorus::bfloat16>(),
    kind_of<std::int8_t>(),  kind_of<std::int16_t>(),  kind_of<std::int32_t>(),  kind_of<std::int64_t>(),
    kind_of<std::uint8_t>(), kind_of<std::uint16_t>(), kind_of<std::uint32_t>(), kind_of<std::uint64_t>()};

}  // namespace

std::span<element_kind const> all_elements() noexcept { return kinds; }

element_kind const& element_named(std::string_view name) {
    std::string known;
    for (element_kind const& kind : kinds) {
        if (kind.name == name) return kind;
        known += (known.empty() ? "" : ", ") + std::string{kind.name};
    }
    throw std::invalid_argument{"no element '" + std::string{name} + "': " + known};
}

}  // namespace bench
