// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "measure_row_by.hpp"

#include <cstdint>

namespace bench {

template struct measurement<std::int8_t>;
template struct measurement<std::int16_t>;
template struct measurement<std::int32_t>;
template struct measurement<std::int64_t>;
template struct measurement<std::uint8_t>;
template struct measurement<std::uint16_t>;
template struct measurement<std::uint32_t>;
template struct measurement<std::uint64_t>;

}  // namespace bench
