// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/ucx.hpp"

#include "chorus/transport/rendezvous_tcp.hpp"
#include "networks/conformance.hpp"

#include <memory>

// Processes that a launcher has started meet over TCP and go on over what UCX_TLS and UCX_NET_DEVICES say.
int main(int argc, char** argv) {
    chorus::tcp_rendezvous meet = chorus::tcp_rendezvous::from_environment();
    return networks::run_conformance(argc, argv, meet.rank(), meet.size(), [&] {
        return chorus::any_transport{std::make_unique<chorus::ucx_transport>(meet)};
    });
}
