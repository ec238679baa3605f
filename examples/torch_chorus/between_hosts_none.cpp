// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "backend.hpp"

#include <stdexcept>

chorus::any_transport torch_chorus::open_between_hosts(store_rendezvous&) {
    throw std::runtime_error{"torch_chorus: the ranks are on several hosts, and it was built without UCX (libucx-dev)"};
}
