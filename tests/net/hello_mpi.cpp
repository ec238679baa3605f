// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "networks/end_connections.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

// A plain MPI program that finds out whether a cluster on one machine is one:
//
//     hello_mpi HOSTS PER_HOST             bytes between hosts pass the cable, bytes inside a host do not
//     hello_mpi HOSTS PER_HOST BYTES GBIT  … and how long MPI_Allreduce of BYTES of float takes, against 2(p-1)/p BYTES / GBIT
namespace {

int failures = 0;
int me = 0;

void check(bool holds, std::string const& what) {
    if (holds) return;
    ++failures;
    std::printf("rank %d: %s\n", me, what.c_str());
}

std::uint64_t cable_bytes() {
    std::uint64_t bytes = 0;
    std::ifstream{"/sys/class/net/eth0/statistics/tx_bytes"} >> bytes;
    return bytes;
}

std::string host_of_rank() {
    std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return std::string{name.data(), static_cast<std::size_t>(length)};
}

std::vector<std::string> all_hosts(int size) {
    constexpr std::size_t width = MPI_MAX_PROCESSOR_NAME + 1;
    std::string own = host_of_rank();
    own.resize(width);
    std::vector<char> texts(width * static_cast<std::size_t>(size));
    MPI_Allgather(own.data(), width, MPI_CHAR, texts.data(), width, MPI_CHAR, MPI_COMM_WORLD);
    std::vector<std::string> hosts;
    for (std::size_t r = 0; r < static_cast<std::size_t>(size); ++r) hosts.emplace_back(texts.data() + r * width);
    return hosts;
}

/// Bytes that rank `from`'s host puts on its cable while it sends `many` bytes to rank `to`; known to `from`.
std::uint64_t cable_bytes_of_message(int from, int to, int many) {
    std::vector<char> data(static_cast<std::size_t>(many), static_cast<char>(from + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    std::uint64_t const before = cable_bytes();
    char answer = 0;
    if (me == from) {
        MPI_Send(data.data(), many, MPI_CHAR, to, 1, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_CHAR, to, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (me == to) {
        std::fill(data.begin(), data.end(), '\0');
        MPI_Recv(data.data(), many, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        auto const wrong = std::count_if(data.begin(), data.end(), [&](char c) { return c != static_cast<char>(from + 1); });
        check(wrong == 0, "wrong bytes from rank " + std::to_string(from));
        MPI_Send(&answer, 1, MPI_CHAR, from, 2, MPI_COMM_WORLD);
    }
    return cable_bytes() - before;
}

void check_cables(std::vector<std::string> const& hosts) {
    constexpr int many = 4 << 20;
    for (int to = 1; to < static_cast<int>(hosts.size()); ++to) {
        std::uint64_t const sent = cable_bytes_of_message(0, to, many);
        if (me != 0) continue;
        bool const is_near = hosts[0] == hosts[static_cast<std::size_t>(to)];
        std::string const text = std::to_string(sent) + " bytes passed the cable while " + std::to_string(many) + " were sent to rank " +
                                 std::to_string(to) + (is_near ? " of the same host" : " of another host");
        check(is_near ? sent < many / 16 : sent >= many, text);
    }
}

void check_sum(int size) {
    std::vector<int> v(1000);
    std::iota(v.begin(), v.end(), me);
    MPI_Allreduce(MPI_IN_PLACE, v.data(), 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; ++i) check(v[static_cast<std::size_t>(i)] == size * (size - 1) / 2 + size * i, "wrong sum");
}

void measure(int size, std::size_t bytes, double gbit) {
    std::vector<float> v(bytes / sizeof(float), 1.0f);
    std::vector<double> times;
    for (int turn = 0; turn < 11; ++turn) {
        MPI_Barrier(MPI_COMM_WORLD);
        double const begin = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, v.data(), static_cast<int>(v.size()), MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
        double own = MPI_Wtime() - begin;
        MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        times.push_back(own);
    }
    if (me != 0) return;
    std::sort(times.begin(), times.end());
    double const bound = 2.0 * (size - 1) / size * static_cast<double>(bytes) * 8 / (gbit * 1e9);
    std::printf("MPI_Allreduce of %zu bytes on %d ranks: median %.1f ms, least %.1f ms; bound %.1f ms; median / bound %.2f\n", bytes, size,
                times[times.size() / 2] * 1e3, times[0] * 1e3, bound * 1e3, times[times.size() / 2] / bound);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int const hosts = argc > 2 ? std::atoi(argv[1]) : 0;
    int const per_host = argc > 2 ? std::atoi(argv[2]) : 0;
    std::vector<std::string> const names = all_hosts(size);
    check(size == hosts * per_host, "there are " + std::to_string(size) + " ranks");
    check(std::set<std::string>(names.begin(), names.end()).size() == static_cast<std::size_t>(hosts), "another number of hosts");
    check_sum(size);
    check_cables(names);
    if (argc > 4) measure(size, static_cast<std::size_t>(std::atoll(argv[3])), std::atof(argv[4]));
    int total = 0;
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) std::printf("%d ranks on %d hosts, %d failures\n", size, hosts, total);
    std::fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    networks::end_connections_after(std::chrono::seconds{2});
    MPI_Finalize();
    return total == 0 ? 0 : 1;
}
