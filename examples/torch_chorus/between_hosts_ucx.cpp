// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "backend.hpp"

#include <chorus/transport/ucx.hpp>

#include <memory>

chorus::any_transport torch_chorus::open_between_hosts(store_rendezvous& meet) {
    return chorus::any_transport{std::make_unique<chorus::ucx_transport>(meet)};
}
