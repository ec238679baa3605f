// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "measure_row_by.hpp"

namespace bench {

template struct measurement<float>;
template struct measurement<double>;
template struct measurement<chorus::half>;
template struct measurement<chorus::bfloat16>;

}  // namespace bench
