// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/rendezvous_environment.hpp"

#include "suites/expected_error.hpp"

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::launch;
using chorus::rank_id;

namespace {

using variables = std::map<std::string, std::string>;

launch read(variables const& set) {
    return chorus::launch_from_environment([&](std::string const& name) -> std::optional<std::string> {
        auto const found = set.find(name);
        return found == set.end() ? std::nullopt : std::optional{found->second};
    });
}

std::string refused(variables const& set, std::initializer_list<std::string_view> words) {
    return suites::unlike(errc::invalid_argument, words, [&] { read(set); });
}

variables with(variables set, variables const& more) {
    for (auto const& [name, value] : more) set[name] = value;
    return set;
}

variables without(variables set, std::string const& name) {
    set.erase(name);
    return set;
}

variables const torchrun{{"RANK", "5"},
                         {"WORLD_SIZE", "8"},
                         {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "4"},
                         {"MASTER_ADDR", "node7"},
                         {"MASTER_PORT", "29500"},
                         {"TORCHELASTIC_RUN_ID", "none"}};
variables const open_mpi{{"OMPI_COMM_WORLD_RANK", "2"},
                         {"OMPI_COMM_WORLD_SIZE", "4"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                         {"PMIX_NAMESPACE", "1463484417"}};
variables const hydra{
    {"PMI_RANK", "1"}, {"PMI_SIZE", "3"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "3"}, {"MASTER_PORT", "4000"}};
variables const slurm{{"SLURM_PROCID", "6"},    {"SLURM_NTASKS", "9"},  {"SLURM_LOCALID", "2"},
                      {"SLURM_JOB_ID", "4711"}, {"SLURM_STEP_ID", "0"}, {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.9"}};

}  // namespace

TEST_CASE("torchrun's variables are understood") {
    launch const found = read(torchrun);
    CHECK(found.rank == 5);
    CHECK(found.size == 8);
    CHECK(found.local_rank == rank_id{1});
    CHECK(found.local_size == rank_id{4});
    CHECK(found.address == "node7");
    CHECK(found.port == 29500);
    CHECK(found.launcher.find("torchrun") == 0);
    CHECK(found.token.find("none") != std::string::npos);
}

TEST_CASE("Open MPI's variables are understood; all ranks here: the address is the loopback's, the port the job's") {
    launch const found = read(open_mpi);
    CHECK(found.rank == 2);
    CHECK(found.size == 4);
    CHECK(found.local_rank == rank_id{2});
    CHECK(found.address == "127.0.0.1");
    CHECK(found.port >= 20000);
    CHECK(found.port < 32000);
    CHECK(read(with(open_mpi, {{"OMPI_COMM_WORLD_RANK", "0"}})).port == found.port);
    CHECK(read(with(open_mpi, {{"OMPI_COMM_WORLD_RANK", "0"}})).token == found.token);
    CHECK(read(with(open_mpi, {{"PMIX_NAMESPACE", "1463484418"}})).port != found.port);
    CHECK(read(with(open_mpi, {{"PMIX_NAMESPACE", "1463484418"}})).token != found.token);
    CHECK(refused(with(open_mpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}}), {"MASTER_ADDR", "3 of 4"}) == "");
    CHECK(read(with(open_mpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}, {"MASTER_ADDR", "fd00::1"}})).address == "fd00::1");
}

TEST_CASE("PMI's variables are understood; Hydra does not name the job, so a port must be given") {
    launch const found = read(hydra);
    CHECK(found.rank == 1);
    CHECK(found.size == 3);
    CHECK(found.local_rank == rank_id{1});
    CHECK(found.address == "127.0.0.1");
    CHECK(found.port == 4000);
    CHECK(refused(without(hydra, "MASTER_PORT"), {"MASTER_PORT", "PMI"}) == "");
}

TEST_CASE("Slurm's variables are understood") {
    launch const found = read(slurm);
    CHECK(found.rank == 6);
    CHECK(found.size == 9);
    CHECK(found.local_rank == rank_id{2});
    CHECK(!found.local_size);
    CHECK(found.address == "10.0.0.9");
    CHECK(found.port != read(with(slurm, {{"SLURM_STEP_ID", "1"}})).port);
    CHECK(read(with(slurm, {{"SLURM_STEP_NODELIST", "gpu[07-09,12],z1"}})).address == "gpu07");
    CHECK(read(with(slurm, {{"SLURM_STEP_NODELIST", "gpu[3,12]-ib"}})).address == "gpu3-ib");
    CHECK(read(with(slurm, {{"SLURM_STEP_NODELIST", "first,gpu[3,12]"}})).address == "first");
    CHECK(read(with(slurm, {{"SLURM_STEP_NODELIST", "only"}})).address == "only");
    CHECK(read(with(slurm, {{"SLURM_STEP_NODELIST", "torn[1"}})).address == "10.0.0.9");
    CHECK(read(with(slurm, {{"SLURM_STEP_NUM_NODES", "1"}})).address == "127.0.0.1");
    CHECK(read(with(slurm, {{"MASTER_ADDR", "host"}, {"MASTER_PORT", "1"}})).address == "host");
    CHECK(read(with(slurm, {{"MASTER_PORT", "65535"}})).port == 65535);
    CHECK(refused(without(slurm, "SLURM_LAUNCH_NODE_IPADDR"), {"MASTER_ADDR", "Slurm"}) == "");
}

TEST_CASE("one rank alone needs neither address nor port") {
    launch const found = read({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
    CHECK(found.address == "127.0.0.1");
    CHECK(found.port == 0);
    CHECK(found.local_size == rank_id{1});
}

TEST_CASE("of two launchers the innermost is believed, and the other named") {
    CHECK(read(with(slurm, open_mpi)).launcher.find("Open MPI") == 0);
    CHECK(read(with(slurm, open_mpi)).rank == 2);
    CHECK(read(with(slurm, open_mpi)).launcher.find("before Slurm") != std::string::npos);
    CHECK(read(with(slurm, hydra)).rank == 1);
    CHECK(read(with(open_mpi, hydra)).rank == 2);
    variables const all = with(with(slurm, open_mpi), with(hydra, torchrun));
    CHECK(read(all).rank == 5);
    CHECK(read(all).launcher.find("before Open MPI and PMI and Slurm") != std::string::npos);
}

TEST_CASE("half a convention is none") {
    CHECK(read(with(open_mpi, {{"RANK", "7"}})).rank == 2);
    CHECK(refused({{"RANK", "7"}}, {"RANK is set, but WORLD_SIZE is not"}) == "");
    CHECK(refused({{"SLURM_NTASKS", "7"}}, {"SLURM_NTASKS is set, but SLURM_PROCID is not"}) == "");
}

TEST_CASE("nothing set: the error lists what was looked for") {
    CHECK(refused({}, {"RANK and WORLD_SIZE (torchrun)", "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE (Open MPI)",
                       "PMI_RANK and PMI_SIZE (PMI)", "SLURM_PROCID and SLURM_NTASKS (Slurm)"}) == "");
}

TEST_CASE("bad values are refused by name") {
    for (char const* value :
         {"", " 1", "1 ", "-1", "+1", "0x1", "1.0", "one", "8", "99999999999999999999", "4294967295"}) {
        CAPTURE(value);
        std::string const shown = "RANK = \"" + std::string{value} + '"';
        CHECK(refused(with(torchrun, {{"RANK", value}}), {shown, "below WORLD_SIZE = 8", "0 to 7"}) == "");
    }
    for (char const* value : {"", "0", "-8", "eight", "4294967295", "4294967296"}) {
        CAPTURE(value);
        std::string const shown = "WORLD_SIZE = \"" + std::string{value} + '"';
        CHECK(refused(with(torchrun, {{"WORLD_SIZE", value}}), {shown, "whole number from 1"}) == "");
    }
    for (char const* value : {"", "0", "70000", "65536", "-1", "http"}) {
        CAPTURE(value);
        std::string const shown = "MASTER_PORT = \"" + std::string{value} + '"';
        CHECK(refused(with(slurm, {{"MASTER_PORT", value}}), {shown, "1 to 65535"}) == "");
    }
    CHECK(refused(with(torchrun, {{"LOCAL_RANK", "4"}}), {"LOCAL_RANK = \"4\"", "0 to 3"}) == "");
    CHECK(refused(with(torchrun, {{"LOCAL_WORLD_SIZE", "9"}}), {"LOCAL_WORLD_SIZE = \"9\"", "1 to 8"}) == "");
}

TEST_CASE("a token that is given goes before the job's") {
    CHECK(read(with(torchrun, {{"CHORUS_TOKEN", "secret"}})).token == "secret");
    CHECK(read(torchrun).token.find("weak") == 0);
}

TEST_CASE("the environment of the process is what is read by default") {
    REQUIRE(::setenv("CHORUS_TEST_OF_LOOKUP", "here", 1) == 0);
    CHECK(chorus::process_environment("CHORUS_TEST_OF_LOOKUP") == std::optional<std::string>{"here"});
    CHECK(!chorus::process_environment("CHORUS_TEST_OF_NOTHING"));
}
