// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "settings.hpp"

#include <chorus/collective/group.hpp>
#include <chorus/transport/shared_memory.hpp>
#include <chorus/transport/thread.hpp>

#include <cstdint>
#include <string>

namespace bench {

/// Measures one algorithm at one size: `count` elements in the whole vector. Collective; all ranks get the same row.
/// Before each call the inputs are written and the ranks meet at a barrier; a call's time runs from when the last rank
/// begins it to when the last rank is done: ranks leave a barrier at different times, above all where they outnumber
/// the cores, and that is not the call's doing. Instantiated in floats.cpp and integers.cpp: every element and
/// operation has kernels of its own.
template <class Element>
struct measurement {
    using threads = chorus::group<chorus::thread_transport>;
    using processes = chorus::group<chorus::shared_memory_transport>;

    static row run(threads const& world, settings const& asked, std::string const& algorithm, std::uint64_t count);
    static row run(processes const& world, settings const& asked, std::string const& algorithm, std::uint64_t count);
};

}  // namespace bench
