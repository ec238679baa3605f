// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Ranks of one host. One file: most of its compile time is spent on what all transports share.

#include "endpoint_on.hpp"
#include "ranks.hpp"

#include <chorus/transport/any_transport.hpp>
#include <chorus/transport/rendezvous_environment.hpp>
#include <chorus/transport/self.hpp>
#include <chorus/transport/shared_memory.hpp>
#include <chorus/transport/thread.hpp>

#include <atomic>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>

#include <sys/mman.h>

namespace bench {

namespace {

/// The code of rank 0, which is a child process.
class shared_code {
 public:
    shared_code() : page_{::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)} {
        if (page_ == MAP_FAILED) throw std::bad_alloc{};
        value_ = new (page_) std::atomic<int>{0};
    }
    shared_code(shared_code const&) = delete;
    ~shared_code() { ::munmap(page_, size); }

    std::atomic<int>& value() noexcept { return *value_; }

 private:
    static constexpr std::size_t size = 4096;
    void* page_;
    std::atomic<int>* value_;
};

int run_rank(chorus::shared_memory_transport& net, start const& asked, rank_program const& program) {
    endpoint_on<chorus::shared_memory_transport> mine{net, asked.limit(), "shared memory between processes of one host"};
    return program(mine);
}

}  // namespace

int run_on_self(start const& asked, rank_program const& program) {
    if (asked.ranks > 1)
        throw std::invalid_argument{"the transport self has one rank, not " + std::to_string(asked.ranks)};
    chorus::self_transport inner;
    chorus::any_transport net{inner};
    endpoint_on<chorus::any_transport> mine{net, asked.limit(), "one rank alone, through any_transport"};
    return program(mine);
}

int run_on_threads(start const& asked, rank_program const& program) {
    std::atomic<int> code{0};
    chorus::thread_fleet{asked.ranks == 0 ? 2 : asked.ranks}.run([&](chorus::thread_transport& net) {
        endpoint_on<chorus::thread_transport> mine{net, asked.limit(), "threads of one process"};
        int const ended = program(mine);
        if (net.rank() == 0) code = ended;
    });
    return code;
}

int run_on_processes(start const& asked, rank_program const& program) {
    if (asked.ranks == 0) {
        chorus::launch const job = chorus::launch_from_environment();
        std::string const session = "bench-" + std::to_string(job.port) + '-' + job.token;
        chorus::shared_memory_transport net{session, job.rank, job.size};
        return run_rank(net, asked, program);
    }
    shared_code code;
    chorus::process_fleet{asked.ranks}.run([&](chorus::shared_memory_transport& net) {
        int const ended = run_rank(net, asked, program);
        if (net.rank() == 0) code.value() = ended;
    });
    return code.value();
}

}  // namespace bench
