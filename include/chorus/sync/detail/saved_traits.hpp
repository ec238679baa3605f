// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/detail/state_image.hpp"
#include "chorus/data/element.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::detail {

/// Something that the saved and the restoring one must have in common. A state begins with its version and the texts of these.
struct saved_trait {
    std::string_view what;
    std::string text;
};

inline growing_state state_with(std::string_view name, std::uint64_t version, std::vector<saved_trait> const& traits) {
    growing_state out{name};
    out.number(version);
    for (saved_trait const& t : traits) out.text(t.text);
    return out;
}

/// Raises `corrupt` with what is another.
inline void expect_traits(state_reader& in, std::uint64_t version, std::vector<saved_trait> const& traits) {
    std::uint64_t const found = in.number();
    in.expect(found == version, [&] { return "its version is " + std::to_string(found) + ", expected " + std::to_string(version); });
    for (saved_trait const& mine : traits) {
        std::string const theirs = in.text();
        in.expect(theirs == mine.text, [&] {
            std::string why = "it was saved with another ";
            why += mine.what;
            return why + ": " + theirs + ", this one has " + mine.text;
        });
    }
}

/// How a model is cut into tensors.
inline saved_trait model_trait(std::span<std::size_t const> counts) {
    std::uint64_t elements = 0;
    for (std::size_t n : counts) elements += n;
    std::string text = std::to_string(counts.size());
    text += " tensors, " + std::to_string(elements) + " elements, cut " + std::to_string(checksum(std::as_bytes(counts)));
    return {"model", text};
}

template <class T>
saved_trait element_trait() {
    std::string text{element_name<T>()};
    text += " of " + std::to_string(sizeof(T)) + " bytes";
    return {"element", text};
}

}  // namespace chorus::detail
