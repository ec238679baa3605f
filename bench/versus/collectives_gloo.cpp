// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Gloo over TCP on the loopback interface, which is its only way between processes: collectives_gloo RANKS FOLDER
// It has no reduce_scatter that leaves its input alone.

#include "turns.hpp"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <exception>
#include <memory>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using context = std::shared_ptr<gloo::rendezvous::Context>;

context connect(int rank, int ranks, std::string const& folder) {
    gloo::transport::tcp::attr loopback;
    loopback.iface = "lo";
    auto device = gloo::transport::tcp::CreateDevice(loopback);
    gloo::rendezvous::FileStore store{folder};
    auto all = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
    all->connectFullMesh(store, device);
    return all;
}

class gloo_library {
 public:
    explicit gloo_library(context all) : all_{std::move(all)} {}

    std::size_t rank() const { return static_cast<std::size_t>(all_->rank); }
    std::size_t ranks() const { return static_cast<std::size_t>(all_->size); }
    void barrier() {
        gloo::BarrierOptions options{all_};
        gloo::barrier(options);
    }

    versus::prepared prepare(versus::command const& asked, float* in, float* out) {
        versus::shape const of{asked, ranks()};
        if (asked.operation == "all_reduce") {
            auto options = std::make_shared<gloo::AllreduceOptions>(all_);
            options->setInput(in, of.given);
            options->setOutput(out, of.got);
            options->setReduceFunction([](void* c, void const* a, void const* b, std::size_t n) { gloo::sum<float>(c, a, b, n); });
            return [options](std::size_t) { gloo::allreduce(*options); };
        }
        if (asked.operation == "broadcast") {
            auto options = std::make_shared<gloo::BroadcastOptions>(all_);
            options->setOutput(out, of.got);
            return with_roots(options, [](auto& each) { gloo::broadcast(each); });
        }
        if (asked.operation == "reduce") {
            auto options = std::make_shared<gloo::ReduceOptions>(all_);
            options->setInput(in, of.given);
            options->setOutput(out, of.got);
            options->setReduceFunction([](void* c, void const* a, void const* b, std::size_t n) { gloo::sum<float>(c, a, b, n); });
            return with_roots(options, [](auto& each) { gloo::reduce(each); });
        }
        if (asked.operation == "all_gather") {
            auto options = std::make_shared<gloo::AllgatherOptions>(all_);
            options->setInput(in, of.given);
            options->setOutput(out, of.got);
            return [options](std::size_t) { gloo::allgather(*options); };
        }
        if (asked.operation == "all_to_all") {
            auto options = std::make_shared<gloo::AlltoallOptions>(all_);
            options->setInput(in, of.given);
            options->setOutput(out, of.got);
            return [options](std::size_t) { gloo::alltoall(*options); };
        }
        if (asked.operation == "barrier") return [this](std::size_t) { barrier(); };
        throw versus::unknown(asked);
    }

 private:
    template <class Options, class Call>
    versus::prepared with_roots(std::shared_ptr<Options> options, Call call) {
        return [options, call, root = 0, ranks = all_->size](std::size_t) mutable {
            options->setRoot(root);
            call(*options);
            if (++root == ranks) root = 0;
        };
    }

    context all_;
};

int play(int rank, int ranks, std::string const& folder) {
    try {
        gloo_library library{connect(rank, ranks, folder)};
        versus::player{library, folder}.play();
        return 0;
    } catch (std::exception const& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: collectives_gloo RANKS FOLDER\n");
        return 2;
    }
    int const ranks = std::atoi(argv[1]);
    for (int rank = 1; rank < ranks; ++rank)
        if (fork() == 0) return play(rank, ranks, argv[2]);
    int problem = play(0, ranks, argv[2]);
    for (int status = 0; wait(&status) > 0;) problem |= status;
    return problem == 0 ? 0 : 1;
}
