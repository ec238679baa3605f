// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// oneCCL, host memory, over the MPI library that it comes with: mpiexec.hydra -n RANKS collectives_oneccl FOLDER

#include "turns.hpp"

#include <oneapi/ccl.hpp>

#include <exception>
#include <thread>

namespace {

/// Rank 0's address comes to the others through a file.
ccl::communicator connect(int rank, int ranks, std::string const& folder) {
    ccl::init();
    std::string const meeting = folder + "/address";
    ccl::kvs::address_type address{};
    if (rank == 0) {
        auto main = ccl::create_main_kvs();
        address = main->get_address();
        std::ofstream{meeting + ".new"}.write(address.data(), static_cast<std::streamsize>(address.size()));
        std::rename((meeting + ".new").c_str(), meeting.c_str());
        return ccl::create_communicator(ranks, rank, main);
    }
    for (;;) {
        std::ifstream file{meeting};
        if (file.read(address.data(), static_cast<std::streamsize>(address.size()))) break;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return ccl::create_communicator(ranks, rank, ccl::create_kvs(address));
}

class oneccl_library {
 public:
    explicit oneccl_library(ccl::communicator& all) : all_{all} {}

    std::size_t rank() const { return static_cast<std::size_t>(all_.rank()); }
    std::size_t ranks() const { return static_cast<std::size_t>(all_.size()); }
    void barrier() { ccl::barrier(all_).wait(); }

    versus::prepared prepare(versus::command const& asked, float* in, float* out) {
        versus::shape const of{asked, ranks()};
        auto const sum = ccl::reduction::sum;
        if (asked.operation == "all_reduce") return [=, this](std::size_t) { ccl::allreduce(in, out, of.got, sum, all_).wait(); };
        if (asked.operation == "broadcast")
            return [=, this](std::size_t run) { ccl::broadcast(out, of.got, static_cast<int>(run % ranks()), all_).wait(); };
        if (asked.operation == "reduce")
            return [=, this](std::size_t run) { ccl::reduce(in, out, of.got, sum, static_cast<int>(run % ranks()), all_).wait(); };
        if (asked.operation == "all_gather")
            return [=, this, counts = std::vector<std::size_t>(ranks(), of.given)](std::size_t) {
                ccl::allgatherv(in, of.given, out, counts, all_).wait();
            };
        if (asked.operation == "reduce_scatter") return [=, this](std::size_t) { ccl::reduce_scatter(in, out, of.got, sum, all_).wait(); };
        if (asked.operation == "all_to_all") return [=, this](std::size_t) { ccl::alltoall(in, out, of.given / ranks(), all_).wait(); };
        if (asked.operation == "barrier") return [this](std::size_t) { barrier(); };
        throw versus::unknown(asked);
    }

 private:
    ccl::communicator& all_;
};

int from_launcher(char const* variable) {
    char const* const text = std::getenv(variable);
    if (text == nullptr) throw std::runtime_error{std::string{variable} + " is not set: this program is started by mpiexec.hydra"};
    return std::atoi(text);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        std::string const folder = argc > 1 ? argv[1] : ".";
        ccl::communicator all = connect(from_launcher("PMI_RANK"), from_launcher("PMI_SIZE"), folder);
        oneccl_library library{all};
        versus::player{library, folder}.play();
        return 0;
    } catch (std::exception const& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}
