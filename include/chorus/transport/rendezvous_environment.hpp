// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace chorus {

/// What the launcher of this process says about it.
struct launch {
    rank_id rank = 0;
    rank_id size = 1;
    std::optional<rank_id> local_rank;  ///< among the ranks of this host
    std::optional<rank_id> local_size;
    std::string address;     ///< where rank 0 is to be found: a name, or an IPv4 or IPv6 address
    std::uint16_t port = 0;  ///< 0 only where there is one rank alone
    std::string launcher;    ///< which convention was understood, and from which variables
    std::string token;       ///< what all ranks of the job know; see launch_from_environment
};

/// The value of a variable, if it is set.
using environment_lookup = std::function<std::optional<std::string>(std::string const&)>;

inline std::optional<std::string> process_environment(std::string const& name) {
    char const* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

namespace detail {

/// The variables by which one launcher tells a rank who it is; "" where it has none for that.
struct launcher_convention {
    char const* name;
    char const* rank;
    char const* size;
    char const* local_rank;
    char const* local_size;
    std::array<char const*, 3> job;  ///< values that the ranks of one job share, and no two jobs on one machine
};

/// Innermost launcher first: torchrun may be started by srun or mpirun, and mpirun by sbatch, seldom the other way
/// round.
inline constexpr std::array<launcher_convention, 4> launcher_conventions{{
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", {"TORCHELASTIC_RUN_ID", "", ""}},
    {"Open MPI",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", ""}},
    {"PMI",
     "PMI_RANK",
     "PMI_SIZE",
     "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS",
     {"PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "", {"SLURM_JOB_ID", "SLURM_STEP_ID", ""}},
}};

/// The first host of a Slurm list: "node[07-09,12],other" is node07, the home of rank 0.
inline std::string first_host(std::string_view list) {
    auto const open = list.find('[');
    auto const comma = list.find(',');
    if (open >= comma || open == std::string_view::npos) return std::string{list.substr(0, comma)};
    auto const close = list.find(']', open);
    if (close == std::string_view::npos) return {};
    std::string_view const numbers = list.substr(open + 1, close - open - 1);
    std::string_view const behind = list.substr(close + 1);
    return std::string{list.substr(0, open)} + std::string{numbers.substr(0, numbers.find_first_of(",-"))} +
           std::string{behind.substr(0, behind.find(','))};
}

/// Reads the variables of one launcher. Errors name the variable, its value and what was expected.
class launch_reader {
 public:
    explicit launch_reader(environment_lookup const& lookup) : lookup_{lookup} {}

    launch read() const {
        std::string half;
        for (launcher_convention const& known : launcher_conventions) {
            bool const has_rank = is_set(known.rank);
            bool const has_size = is_set(known.size);
            if (has_rank && has_size) return read_by(known);
            if (has_rank != has_size)
                half += std::string{"; "} + (has_rank ? known.rank : known.size) + " is set, but " +
                        (has_rank ? known.size : known.rank) + " is not";
        }
        std::string text = "no launcher has told this process its rank; looked for";
        for (launcher_convention const& known : launcher_conventions)
            text += std::string{text.back() == 'r' ? " " : ", or "} + known.rank + " and " + known.size + " (" +
                    known.name + ')';
        raise(errc::invalid_argument, text + half);
    }

 private:
    bool is_set(char const* name) const { return *name != '\0' && lookup_(name).has_value(); }

    launch read_by(launcher_convention const& known) const {
        launch found;
        found.size = static_cast<rank_id>(number(known.size, 1, nobody - 1, "how many ranks there are"));
        found.rank = static_cast<rank_id>(number(known.rank, 0, found.size - 1, ranks_below(known.size, found.size)));
        if (is_set(known.local_size))
            found.local_size =
                static_cast<rank_id>(number(known.local_size, 1, found.size, "how many ranks this host has"));
        else if (found.size == 1 || lookup_("SLURM_STEP_NUM_NODES") == "1") found.local_size = found.size;
        if (is_set(known.local_rank)) {
            rank_id const below = found.local_size.value_or(found.size);
            found.local_rank = static_cast<rank_id>(number(known.local_rank, 0, below - 1, "a rank within this host"));
        }
        found.launcher =
            std::string{known.name} + " (" + known.rank + " and " + known.size + " are set)" + others(known);
        std::string const job = job_of(known);
        found.address = address_for(known, found);
        found.port = port_for(known, found, job);
        found.token = lookup_("CHORUS_TOKEN").value_or("weak: " + job);
        return found;
    }

    static std::string ranks_below(char const* variable, rank_id size) {
        return "a rank below " + std::string{variable} + " = " + std::to_string(size);
    }

    std::uint64_t number(char const* name, std::uint64_t least, std::uint64_t most, std::string const& meaning) const {
        std::string const text = lookup_(name).value_or("");
        std::uint64_t value = 0;
        auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (text.empty() || problem != std::errc{} || end != text.data() + text.size() || value < least || value > most)
            raise(errc::invalid_argument, std::string{name} + " = \"" + text + "\": expected " + meaning +
                                              ", a whole number from " + std::to_string(least) + " to " +
                                              std::to_string(most));
        return value;
    }

    std::string others(launcher_convention const& used) const {
        std::string text;
        for (launcher_convention const& known : launcher_conventions)
            if (known.name != used.name && is_set(known.rank) && is_set(known.size))
                text += (text.empty() ? "; it goes before " : " and ") + std::string{known.name};
        return text.empty() ? text : text + ", set as well";
    }

    std::string job_of(launcher_convention const& known) const {
        std::string job;
        for (char const* name : known.job)
            if (is_set(name)) job += std::string{name} + '=' + *lookup_(name) + ' ';
        return job;
    }

    std::string address_for(launcher_convention const& known, launch const& found) const {
        if (auto const given = lookup_("MASTER_ADDR"); given && !given->empty()) return *given;
        if (found.local_size == found.size) return "127.0.0.1";
        if (known.name == std::string_view{"Slurm"}) {
            if (auto const nodes = lookup_("SLURM_STEP_NODELIST"); nodes && !first_host(*nodes).empty())
                return first_host(*nodes);
            if (auto const starter = lookup_("SLURM_LAUNCH_NODE_IPADDR"); starter && !starter->empty()) return *starter;
        }
        raise(errc::invalid_argument,
              "MASTER_ADDR is not set and rank 0 may be on another host (" + found.launcher + ", " +
                  (found.local_size ? std::to_string(*found.local_size) : std::string{"an unknown number"}) + " of " +
                  std::to_string(found.size) + " ranks are here): set it to a name or address of rank 0's host");
    }

    std::uint16_t port_for(launcher_convention const& known, launch const& found, std::string const& job) const {
        if (is_set("MASTER_PORT"))
            return static_cast<std::uint16_t>(number("MASTER_PORT", 1, 65535, "the port of rank 0"));
        if (found.size == 1) return 0;
        if (job.empty()) {
            std::string names;
            for (char const* name : known.job)
                if (*name != '\0') names += std::string{names.empty() ? "" : " or "} + name;
            raise(errc::invalid_argument, "MASTER_PORT is not set and " + found.launcher +
                                              " has not named the job, from which a port would be made (" + names +
                                              "): set MASTER_PORT to a free port, 1 to 65535, the same for all ranks");
        }
        std::uint64_t hash = 0;
        for (char c : job) hash = counter_random::mix(hash + static_cast<unsigned char>(c) + 1);
        return static_cast<std::uint16_t>(20000 + hash % 12000);  // below the ports that Linux gives away by itself
    }

    environment_lookup const& lookup_;
};

}  // namespace detail

/// Reads who this process is from the variables of torchrun, Open MPI, PMI (MPICH's Hydra, and others) or Slurm. The
/// first of these whose rank and size are both set is believed, the innermost launcher: torchrun before Open MPI before
/// PMI before Slurm.
///
/// address: MASTER_ADDR, else 127.0.0.1 if all ranks are on this host, else (Slurm) the first host of
/// SLURM_STEP_NODELIST, else SLURM_LAUNCH_NODE_IPADDR. port: MASTER_PORT, else made of the job's id: 20000 … 31999, the
/// same for all ranks; two jobs may meet on one. token: CHORUS_TOKEN, else made of the job's id, which is weak: it
/// keeps jobs apart by accident, not by intent, for whoever can see the processes, or guess a small number, knows it.
/// Errors: invalid_argument, naming the variable, its value and what was expected; if nothing is set, all that was
/// looked for.
inline launch launch_from_environment(environment_lookup const& lookup = process_environment) {
    return detail::launch_reader{lookup}.read();
}

}  // namespace chorus
