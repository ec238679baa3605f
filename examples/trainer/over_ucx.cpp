// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "carriers.hpp"

#include <chorus/transport/rendezvous_tcp.hpp>
#include <chorus/transport/ucx.hpp>

void trainer::run_over_ucx(rank_program const& program) {
    auto meet = chorus::tcp_rendezvous::from_environment();
    chorus::ucx_transport ucx{meet};
    chorus::any_transport net{ucx};
    program(net);
}
