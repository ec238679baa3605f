// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "carry.hpp"

#include <chorus/compress/compressors.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bench {

using chorus::collective;

chorus::compression carried_by(std::string const& text, collective what, operation op, std::string_view element) {
    if (text.empty()) return {};
    chorus::compression const made{chorus::compressor_named(text)};
    auto const refuse = [&](std::string const& why) { throw std::invalid_argument{"--carry " + text + ": " + why}; };
    if (what == collective::scan || what == collective::exclusive_scan || what == collective::barrier)
        refuse(std::string{to_string(what)} + " cannot be carried by a compressor; all_reduce, reduce, reduce_scatter, all_gather, "
                                              "gather, broadcast, scatter and all_to_all can");
    if (element != "float") refuse("elements of " + std::string{element} + " cannot be carried; compressors take float (--element float, -T mpi_float, -d float)");
    if (chorus::has_reduction(what) && op != operation::sum && op != operation::mean)
        refuse("the operation " + std::string{to_string(op)} + " cannot be carried; sum and mean can");
    return made;
}

double error_bound(chorus::compression const& by, collective what, chorus::rank_id ranks, std::uint64_t count) {
    constexpr double nothing = std::numeric_limits<double>::infinity();
    double least = 1;
    for (std::uint64_t parts = 1; parts <= (std::min)(std::uint64_t{64} * ranks, (std::max)(count, std::uint64_t{1})); ++parts)
        for (std::uint64_t length : {count / parts, count / parts + (count % parts != 0 ? 1 : 0)}) {
            chorus::compression_promise const made = by.codec()->prototype().promise(length);
            if (made.is_unbiased) return nothing;  // its contraction holds in the mean
            least = (std::min)(least, made.is_selection ? 0.0 : made.contraction);
            if (!made.is_selection && !(made.contraction > 0)) return nothing;
        }
    double const lost = std::sqrt(1 - least) + 1e-6;  // and the rounding of sums in float
    return std::pow(1 + lost, chorus::has_reduction(what) ? 2.0 * ranks : 1.0) - 1;
}

bool gives_all_the_same(collective what) noexcept {
    return what == collective::all_reduce || what == collective::all_gather || what == collective::broadcast;
}

}  // namespace bench
