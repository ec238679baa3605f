// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "ranks.hpp"

#include <chorus/transport/rendezvous_environment.hpp>

#include <stdexcept>

namespace bench {

chorus::time_limit start::limit() const {
    if (seconds <= 0) return {};
    return std::chrono::duration<double>{seconds};
}

bool has_launcher() {
    for (auto const& known : chorus::detail::launcher_conventions)
        if (chorus::process_environment(known.rank) && chorus::process_environment(known.size)) return true;
    return false;
}

std::vector<std::string_view> transports() {
    std::vector<std::string_view> all{"thread", "shm", "self"};
    if (has_ucx()) all.push_back("ucx");
    if (has_mpi()) all.push_back("mpi");
    return all;
}

start completed(start const& asked) {
    start chosen = asked;
    bool const launched = has_launcher() && asked.ranks == 0;
    if (chosen.transport.empty()) chosen.transport = !launched ? "thread" : has_mpi() ? "mpi" : has_ucx() ? "ucx" : "shm";
    if (chosen.ranks == 0 && !launched) chosen.ranks = chosen.transport == "self" ? 1 : 2;
    return chosen;
}

int run_ranks(start const& asked, rank_program const& program) {
    start const chosen = completed(asked);
    if (chosen.transport == "self") return run_on_self(chosen, program);
    if (chosen.transport == "thread") return run_on_threads(chosen, program);
    if (chosen.transport == "shm") return run_on_processes(chosen, program);
    if (chosen.transport == "ucx") return run_on_ucx(chosen, program);
    if (chosen.transport == "mpi") return run_on_mpi(chosen, program);
    std::string known;
    for (std::string_view name : transports()) known += (known.empty() ? "" : ", ") + std::string{name};
    throw std::invalid_argument{"no transport '" + chosen.transport + "': " + known};
}

}  // namespace bench
