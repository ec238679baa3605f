// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/mpi.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

// Ping-pong between two processes, in turns of a batch each: MPI_Send and MPI_Recv, called with nothing in between, and mpi_transport (post, poll).
// Each batch of the latter has a transport of its own, so that the former finds none of its receives posted. Half round trips, the median batch counts.
// Arguments: batches, largest message in bytes.

namespace {

struct raw_mpi {
    int peer;

    void send(std::span<std::byte const> out) const { MPI_Send(out.data(), static_cast<int>(out.size()), MPI_BYTE, peer, 1, MPI_COMM_WORLD); }
    void receive(std::span<std::byte> in) const {
        MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
};

struct own_mpi {
    chorus::mpi_transport& net;

    void send(std::span<std::byte const> out) const { finish(net.post_send(1 - net.rank(), {7, 7}, out)); }
    void receive(std::span<std::byte> in) const { finish(net.post_recv(1 - net.rank(), {7, 7}, in)); }

    void finish(chorus::mpi_transport::ticket pending) const {
        for (;;) {
            chorus::progress const now = net.poll(pending);
            if (now == chorus::progress::done) return;
            if (now != chorus::progress::failed) continue;
            std::fprintf(stderr, "%s\n", net.failure().what());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
};

/// A tenth of the turns goes before, unmeasured.
template <class Ends>
double half_round_trip(Ends const& ends, int me, std::span<std::byte> buffer, int turns) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = -turns / 10 - 1; i < turns; ++i) {
        if (i == 0) begin = std::chrono::steady_clock::now();
        if (me == 0) ends.send(buffer);
        ends.receive(buffer);
        if (me == 1) ends.send(buffer);
    }
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / turns / 2;
}

double median(std::vector<double>& of) {
    std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
    return of[of.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    chorus::mpi::session const session{argc, argv};
    int const batches = argc > 1 ? std::atoi(argv[1]) : 21;
    std::size_t const largest = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::size_t{1} << 20;
    int me = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) std::printf("%10s %12s %12s %8s\n", "bytes", "MPI us", "chorus us", "ratio");
    for (std::size_t bytes = 8; bytes <= largest; bytes *= bytes == 8 ? 8 : 2) {
        std::vector<std::byte> buffer(bytes, std::byte{1});
        int const turns = bytes <= 16384 ? 1000 : 100;
        std::vector<double> raw_times;
        std::vector<double> own_times;
        for (int b = 0; b < batches; ++b) {
            MPI_Barrier(MPI_COMM_WORLD);
            raw_times.push_back(half_round_trip(raw_mpi{1 - me}, me, buffer, turns));
            chorus::mpi_transport net{MPI_COMM_WORLD};
            own_times.push_back(half_round_trip(own_mpi{net}, me, buffer, turns));
        }
        if (me != 0) continue;
        double const r = median(raw_times);
        double const o = median(own_times);
        std::printf("%10zu %12.3f %12.3f %8.3f\n", bytes, r, o, o / r);
        std::fflush(stdout);
    }
}
