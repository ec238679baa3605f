// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "ranks.hpp"

#include <stdexcept>

namespace bench {

bool has_ucx() { return false; }

int run_on_ucx(start const&, rank_program const&) {
    throw std::invalid_argument{"no transport 'ucx': built without UCX"};
}

}  // namespace bench
