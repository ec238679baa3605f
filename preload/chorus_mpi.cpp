// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// MPI's collectives on chorus, for programs as they are: LD_PRELOAD this library. docs/preload.md says what is carried and what is left to MPI.
//
// All ranks of a communicator decide alike where a call is done. So that depends on nothing but what MPI's rules make equal on all of them: the communicator, the
// collective, the root, for reductions the operation and the kind of number, and the number of bytes where every rank knows it. It does not depend on
// buffers, MPI_IN_PLACE, displacements, or the datatypes of data that is only moved, which ranks may describe differently: what is not bytes one after another is packed
// and unpacked here. Calls that are wrong on the face of it go to MPI, which says so.

#include "library.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace preload {
namespace {

std::atomic<library*> current{nullptr};  // between MPI_Init and MPI_Finalize; never destroyed, since MPI may come back to it from within MPI_Finalize

/// Blocking calls have no request.
struct place {
    MPI_Comm comm;
    MPI_Request* request = nullptr;

    bool is_blocking() const noexcept { return request == nullptr; }
};

/// One rank says what is wrong, and the program ends, on all ranks.
void end_if_wrong(std::string const& problem) {
    int rank = 0;
    int size = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    int speaker = problem.empty() ? size : rank;
    PMPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (speaker == size) return;
    if (speaker == rank) std::fprintf(stderr, "chorus: rank %d: %s\n", rank, problem.c_str());
    PMPI_Barrier(MPI_COMM_WORLD);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

template <class Body>
std::string problem_of(Body const& body) {
    try {
        body();
        return {};
    } catch (std::exception const& failure) {
        return failure.what();
    }
}

int begin(int provided) {
    settings given;
    std::unique_ptr<trace> traced;
    end_if_wrong(problem_of([&] {
        given = settings_of_environment();
        traced = std::make_unique<trace>(given.is_off ? std::string{} : given.trace);
    }));
    int size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    std::uint64_t const digest = given.digest();
    std::uint64_t const is_multiple = provided == MPI_THREAD_MULTIPLE ? 1 : 0;
    std::uint64_t most[] = {digest, ~digest, 1 - is_multiple};
    PMPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    bool const all_agree = most[0] == digest && most[1] == ~digest;
    end_if_wrong(all_agree ? "" : "CHORUS_ALGORITHM, CHORUS_CARRY, CHORUS_TRANSPORT and CHORUS_OFF must be the same on all ranks");
    if (given.is_off || size == 1) return MPI_SUCCESS;
    end_if_wrong(problem_of([&] { current = new library{std::move(given), std::move(traced), is_multiple != 0, most[2] == 0}; }));
    return MPI_SUCCESS;
}

/// A call that MPI does itself.
template <class Pass>
int leave_to_mpi(library* chorus, collective what, std::uint64_t bytes, Pass const& pass) {
    if (chorus == nullptr || !chorus->traced().is_on()) return pass();
    auto const begin = steady::now();
    int const code = pass();
    chorus->traced().add(what, bytes, "MPI", begin);
    return code;
}

/// Describes a call by `compose(members, asked, memory)`, which says false if it is not for chorus, and does it.
template <class Pass, class Compose>
int carry(place where, collective what, std::uint64_t bytes, bool is_offered, Pass const& pass, Compose const& compose) {
    library* const chorus = current.load(std::memory_order_acquire);
    if (chorus == nullptr || !is_offered) return leave_to_mpi(chorus, what, bytes, pass);
    communicator* const members = chorus->find(where.comm, where.is_blocking());
    if (members == nullptr) return leave_to_mpi(chorus, what, bytes, pass);
    call asked;
    asked.what = what;
    buffers memory;
    try {
        if (!compose(*members, asked, memory)) return leave_to_mpi(chorus, what, bytes, pass);
    } catch (mpi_refusal const& refused) {
        return refused.code;
    }
    asked.in = memory.in;
    asked.out = memory.out;
    if (where.is_blocking()) return chorus->run(*members, where.comm, asked, memory);
    return chorus->start(*members, where.comm, asked, memory, where.request);
}

type_facts facts_of(MPI_Datatype type) {
    library const* const chorus = current.load(std::memory_order_acquire);
    return chorus == nullptr || type == MPI_DATATYPE_NULL ? type_facts{} : chorus->types().of(type);
}
chorus::reducer const* reducer_of(MPI_Op op, type_facts const& type) {
    library const* const chorus = current.load(std::memory_order_acquire);
    return chorus == nullptr ? nullptr : chorus->reductions().find(op, type.kind);
}

bool is_in_place(void const* memory) { return memory == MPI_IN_PLACE; }
std::byte* bytes_of(void const* memory) { return static_cast<std::byte*>(const_cast<void*>(memory)); }
pieces one_piece(void const* memory, type_facts const& type, int count) { return {.base = bytes_of(memory), .type = type, .each = count}; }
pieces even_pieces(void const* memory, type_facts const& type, int count, rank_id many) {
    return {.base = bytes_of(memory), .type = type, .many = static_cast<int>(many), .each = count};
}
pieces uneven_pieces(void const* memory, type_facts const& type, int const* counts, int const* starts, rank_id many) {
    return {.base = bytes_of(memory), .type = type, .many = static_cast<int>(many), .counts = counts, .starts = starts};
}

/// In and out in one buffer, the own piece where it belongs in the result, unless the result has to be unpacked.
void read_own_piece(call& asked, buffers& memory, pieces const& result, int me) {
    pieces const own = result.one(me);
    memory.read(own);
    asked.in_bytes = own.bytes();
    asked.in_place_at = static_cast<std::uint64_t>(own.base - result.begin());
    asked.in_place = result.is_straight() && own.bytes() > 0;
    if (asked.in_place) memory.in = memory.out + asked.in_place_at;
}

std::vector<std::uint64_t> bytes_of_pieces(pieces const& all) {
    std::vector<std::uint64_t> each;
    for (int i = 0; i < all.many; ++i) each.push_back(all.bytes(i));
    return each;
}

template <class Pass>
int all_reduce(void const* in, void* out, int count, MPI_Datatype type, MPI_Op op, place where, Pass const& pass) {
    type_facts const facts = facts_of(type);
    auto const* const by = reducer_of(op, facts);
    std::uint64_t const bytes = static_cast<std::uint64_t>(count) * facts.bytes;
    return carry(where, collective::all_reduce, bytes, by != nullptr && count > 0 && out != nullptr, pass, [&](communicator&, call& asked, buffers& memory) {
        asked.reduction = by;
        asked.count = static_cast<std::uint64_t>(count);
        asked.in_place = is_in_place(in);
        asked.in_bytes = bytes;
        memory.out = bytes_of(out);
        memory.in = asked.in_place ? memory.out : bytes_of(in);
        return memory.in != nullptr;
    });
}

template <class Pass>
int reduce(void const* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, place where, Pass const& pass) {
    type_facts const facts = facts_of(type);
    auto const* const by = reducer_of(op, facts);
    std::uint64_t const bytes = static_cast<std::uint64_t>(count) * facts.bytes;
    return carry(where, collective::reduce, bytes, by != nullptr && count > 0 && root >= 0, pass, [&](communicator& members, call& asked, buffers& memory) {
        asked.reduction = by;
        asked.count = static_cast<std::uint64_t>(count);
        asked.root = static_cast<rank_id>(root);
        bool const is_root = members.rank() == asked.root;
        asked.in_place = is_in_place(in) && is_root;
        asked.in_bytes = bytes;
        memory.out = is_root ? bytes_of(out) : nullptr;
        memory.in = asked.in_place ? memory.out : bytes_of(in);
        return asked.root < members.size() && memory.in != nullptr && (!is_root || out != nullptr);
    });
}

/// The blocks of the result are `counts` long, or all `each`.
template <class Pass>
int reduce_scatter(void const* in, void* out, int const* counts, int each, MPI_Datatype type, MPI_Op op, place where, Pass const& pass) {
    type_facts const facts = facts_of(type);
    auto const* const by = reducer_of(op, facts);
    std::uint64_t const bytes = static_cast<std::uint64_t>(each) * facts.bytes;
    return carry(where, collective::reduce_scatter, bytes, by != nullptr && (counts != nullptr || each > 0), pass, [&](communicator& members, call& asked, buffers& memory) {
        asked.reduction = by;
        asked.count = static_cast<std::uint64_t>(each);
        if (counts != nullptr) {
            for (rank_id r = 0; r < members.size(); ++r) {
                if (counts[r] < 0) return false;
                asked.counts.push_back(static_cast<std::uint64_t>(counts[r]));
            }
            asked.count = 0;
        }
        if (asked.bytes(members.size()) == 0) return false;
        pieces const own = one_piece(out, facts, counts != nullptr ? counts[members.rank()] : each);
        memory.in = is_in_place(in) ? bytes_of(out) : bytes_of(in);
        if (is_in_place(in)) memory.write_copy(own);
        else memory.write(own);
        return memory.in != nullptr;
    });
}

template <class Pass>
int broadcast(void* memory_of_user, int count, MPI_Datatype type, int root, place where, Pass const& pass) {
    type_facts const facts = facts_of(type);
    std::uint64_t const bytes = static_cast<std::uint64_t>(count) * facts.bytes;
    bool const is_offered = count > 0 && bytes > 0 && root >= 0 && (memory_of_user != nullptr || !facts.is_basic);
    return carry(where, collective::broadcast, bytes, is_offered, pass, [&](communicator& members, call& asked, buffers& memory) {
        asked.count = bytes;
        asked.root = static_cast<rank_id>(root);
        pieces const all = one_piece(memory_of_user, facts, count);
        if (members.rank() != asked.root) memory.write(all);
        else memory.read(all);
        if (members.rank() == asked.root) memory.out = const_cast<std::byte*>(memory.in);
        return asked.root < members.size();
    });
}

template <class Pass>
int barrier(place where, Pass const& pass) {
    return carry(where, collective::barrier, 0, true, pass, [](communicator&, call&, buffers&) { return true; });
}

/// Every block has `count` items in the result.
template <class Pass>
int all_gather(void const* in, int in_count, MPI_Datatype in_type, void* out, int count, MPI_Datatype type, place where, Pass const& pass) {
    type_facts const facts = facts_of(type);
    std::uint64_t const bytes = static_cast<std::uint64_t>(count) * facts.bytes;
    return carry(where, collective::all_gather, bytes, count > 0 && bytes > 0, pass, [&](communicator& members, call& asked, buffers& memory) {
        asked.count = bytes;
        pieces const all = even_pieces(out, facts, count, members.size());
        memory.write(all);
        if (is_in_place(in)) read_own_piece(asked, memory, all, static_cast<int>(members.rank()));
        else memory.read(one_piece(in, facts_of(in_type), in_count));
        asked.in_bytes = bytes;
        asked.in_place_at = members.rank() * bytes;
        return true;
    });
}

template <class Pass>
int all_gather_v(void const* in, int in_count, MPI_Datatype in_type, void* out, int const* counts, int const* starts, MPI_Datatype type, place where,
                 Pass const& pass) {
    type_facts const facts = facts_of(type);
    return carry(where, collective::all_gather, 0, facts.bytes > 0 && counts != nullptr && starts != nullptr, pass, [&](communicator& members, call& asked, buffers& memory) {
        pieces const all = uneven_pieces(out, facts, counts, starts, members.size());
        asked.counts = bytes_of_pieces(all);
        memory.write(all);
        if (is_in_place(in)) read_own_piece(asked, memory, all, static_cast<int>(members.rank()));
        else memory.read(one_piece(in, facts_of(in_type), in_count));
        asked.in_bytes = asked.counts[members.rank()];
        asked.in_place_at = 0;
        for (rank_id r = 0; r < members.rank(); ++r) asked.in_place_at += asked.counts[r];
        return all.bytes() > 0;
    });
}

/// The root has all blocks, counts of them where they differ, in gather's result or scatter's input; every rank has its own.
struct rooted_side {
    void const* all;
    int each;
    int const* counts;
    int const* starts;
    MPI_Datatype type;
};
struct own_side {
    void const* memory;
    int count;
    MPI_Datatype type;
};

template <class Pass>
int gather_or_scatter(collective what, own_side own, rooted_side rooted, int root, bool differ, place where, Pass const& pass) {
    return carry(where, what, 0, root >= 0, pass, [&](communicator& members, call& asked, buffers& memory) {
        asked.root = static_cast<rank_id>(root);
        if (asked.root >= members.size()) return false;
        bool const is_root = members.rank() == asked.root;
        bool const gathers = what == collective::gather;
        bool const in_place = is_root && is_in_place(own.memory);
        int const me = static_cast<int>(members.rank());
        pieces all{};
        if (is_root) {
            all = differ ? uneven_pieces(rooted.all, facts_of(rooted.type), rooted.counts, rooted.starts, members.size())
                         : even_pieces(rooted.all, facts_of(rooted.type), rooted.each, members.size());
            if (gathers) memory.write(all);
            else memory.read(all);
        }
        pieces const mine = in_place ? all.one(me) : one_piece(own.memory, facts_of(own.type), own.count);
        asked.in_bytes = mine.bytes();
        if (differ) {
            asked.knows_own_alone = true;
            asked.counts.assign(members.size(), 0);
            if (is_root) asked.counts = bytes_of_pieces(all);
            else asked.counts[members.rank()] = mine.bytes();
        } else {
            asked.count = mine.bytes();
            if (asked.count == 0) return false;
        }
        if (gathers && in_place) memory.read_copy(mine);
        else if (gathers) memory.read(mine);
        else if (in_place) memory.write_nowhere(mine.bytes());
        else memory.write(mine);
        return true;
    });
}

template <class Pass>
int all_to_all(void const* in, int in_count, MPI_Datatype in_type, void* out, int count, MPI_Datatype type, place where, Pass const& pass) {
    type_facts const facts = facts_of(type);
    std::uint64_t const bytes = static_cast<std::uint64_t>(count) * facts.bytes;
    return carry(where, collective::all_to_all, bytes, count > 0 && bytes > 0, pass, [&](communicator& members, call& asked, buffers& memory) {
        asked.count = bytes;
        pieces const result = even_pieces(out, facts, count, members.size());
        if (is_in_place(in)) memory.read_copy(result);
        else memory.read(even_pieces(in, facts_of(in_type), in_count, members.size()));
        memory.write(result);
        return true;
    });
}

template <class Pass>
int all_to_all_v(void const* in, int const* in_counts, int const* in_starts, MPI_Datatype in_type, void* out, int const* counts, int const* starts,
                 MPI_Datatype type, place where, Pass const& pass) {
    return carry(where, collective::all_to_all, 0, true, pass, [&](communicator& members, call& asked, buffers& memory) {
        pieces const result = uneven_pieces(out, facts_of(type), counts, starts, members.size());
        pieces const given = is_in_place(in) ? result : uneven_pieces(in, facts_of(in_type), in_counts, in_starts, members.size());
        asked.knows_own_alone = true;
        asked.counts = bytes_of_pieces(result);
        asked.sent_counts = bytes_of_pieces(given);
        if (is_in_place(in)) memory.read_copy(given);
        else memory.read(given);
        memory.write(result);
        return true;
    });
}

/// Goes on with chorus until MPI says that what it is asked for is there.
template <class Ready>
int wait_until(Ready const& ready) {
    for (unsigned turn = 0;; ++turn) {
        current.load(std::memory_order_acquire)->progress();
        int is_ready = 0;
        int const code = ready(is_ready);
        if (code != MPI_SUCCESS || is_ready != 0) return code;
        if (turn > 50) std::this_thread::yield();
    }
}
bool has_pending() {
    library const* const chorus = current.load(std::memory_order_acquire);
    return chorus != nullptr && chorus->has_pending();
}
void progress() {
    if (has_pending()) current.load(std::memory_order_acquire)->progress();
}

void end() {
    if (library* const chorus = current.exchange(nullptr)) chorus->end();
}

}  // namespace
}  // namespace preload

using preload::collective;

#pragma GCC visibility push(default)
extern "C" {

int MPI_Init(int* argc, char*** argv) {
    int const code = PMPI_Init(argc, argv);
    int level = MPI_THREAD_SINGLE;
    if (code != MPI_SUCCESS) return code;
    PMPI_Query_thread(&level);
    return preload::begin(level);
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    int const code = PMPI_Init_thread(argc, argv, required, provided);
    return code != MPI_SUCCESS ? code : preload::begin(*provided);
}
int MPI_Finalize() {
    preload::end();
    return PMPI_Finalize();
}

int MPI_Allreduce(void const* in, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
    return preload::all_reduce(in, out, n, t, op, {c}, [&] { return PMPI_Allreduce(in, out, n, t, op, c); });
}
int MPI_Iallreduce(void const* in, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* r) {
    return preload::all_reduce(in, out, n, t, op, {c, r}, [&] { return PMPI_Iallreduce(in, out, n, t, op, c, r); });
}
int MPI_Reduce(void const* in, void* out, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c) {
    return preload::reduce(in, out, n, t, op, root, {c}, [&] { return PMPI_Reduce(in, out, n, t, op, root, c); });
}
int MPI_Ireduce(void const* in, void* out, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c, MPI_Request* r) {
    return preload::reduce(in, out, n, t, op, root, {c, r}, [&] { return PMPI_Ireduce(in, out, n, t, op, root, c, r); });
}
int MPI_Reduce_scatter(void const* in, void* out, int const n[], MPI_Datatype t, MPI_Op op, MPI_Comm c) {
    return preload::reduce_scatter(in, out, n, 0, t, op, {c}, [&] { return PMPI_Reduce_scatter(in, out, n, t, op, c); });
}
int MPI_Ireduce_scatter(void const* in, void* out, int const n[], MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* r) {
    return preload::reduce_scatter(in, out, n, 0, t, op, {c, r}, [&] { return PMPI_Ireduce_scatter(in, out, n, t, op, c, r); });
}
int MPI_Reduce_scatter_block(void const* in, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
    return preload::reduce_scatter(in, out, nullptr, n, t, op, {c}, [&] { return PMPI_Reduce_scatter_block(in, out, n, t, op, c); });
}
int MPI_Ireduce_scatter_block(void const* in, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* r) {
    return preload::reduce_scatter(in, out, nullptr, n, t, op, {c, r}, [&] { return PMPI_Ireduce_scatter_block(in, out, n, t, op, c, r); });
}
int MPI_Bcast(void* memory, int n, MPI_Datatype t, int root, MPI_Comm c) {
    return preload::broadcast(memory, n, t, root, {c}, [&] { return PMPI_Bcast(memory, n, t, root, c); });
}
int MPI_Ibcast(void* memory, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r) {
    return preload::broadcast(memory, n, t, root, {c, r}, [&] { return PMPI_Ibcast(memory, n, t, root, c, r); });
}
int MPI_Barrier(MPI_Comm c) {
    return preload::barrier({c}, [&] { return PMPI_Barrier(c); });
}
int MPI_Ibarrier(MPI_Comm c, MPI_Request* r) {
    return preload::barrier({c, r}, [&] { return PMPI_Ibarrier(c, r); });
}
int MPI_Allgather(void const* in, int m, MPI_Datatype u, void* out, int n, MPI_Datatype t, MPI_Comm c) {
    return preload::all_gather(in, m, u, out, n, t, {c}, [&] { return PMPI_Allgather(in, m, u, out, n, t, c); });
}
int MPI_Iallgather(void const* in, int m, MPI_Datatype u, void* out, int n, MPI_Datatype t, MPI_Comm c, MPI_Request* r) {
    return preload::all_gather(in, m, u, out, n, t, {c, r}, [&] { return PMPI_Iallgather(in, m, u, out, n, t, c, r); });
}
int MPI_Allgatherv(void const* in, int m, MPI_Datatype u, void* out, int const n[], int const at[], MPI_Datatype t, MPI_Comm c) {
    return preload::all_gather_v(in, m, u, out, n, at, t, {c}, [&] { return PMPI_Allgatherv(in, m, u, out, n, at, t, c); });
}
int MPI_Iallgatherv(void const* in, int m, MPI_Datatype u, void* out, int const n[], int const at[], MPI_Datatype t, MPI_Comm c, MPI_Request* r) {
    return preload::all_gather_v(in, m, u, out, n, at, t, {c, r}, [&] { return PMPI_Iallgatherv(in, m, u, out, n, at, t, c, r); });
}
int MPI_Gather(void const* in, int m, MPI_Datatype u, void* out, int n, MPI_Datatype t, int root, MPI_Comm c) {
    return preload::gather_or_scatter(collective::gather, {in, m, u}, {out, n, nullptr, nullptr, t}, root, false, {c},
                                      [&] { return PMPI_Gather(in, m, u, out, n, t, root, c); });
}
int MPI_Igather(void const* in, int m, MPI_Datatype u, void* out, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r) {
    return preload::gather_or_scatter(collective::gather, {in, m, u}, {out, n, nullptr, nullptr, t}, root, false, {c, r},
                                      [&] { return PMPI_Igather(in, m, u, out, n, t, root, c, r); });
}
int MPI_Gatherv(void const* in, int m, MPI_Datatype u, void* out, int const n[], int const at[], MPI_Datatype t, int root, MPI_Comm c) {
    return preload::gather_or_scatter(collective::gather, {in, m, u}, {out, 0, n, at, t}, root, true, {c},
                                      [&] { return PMPI_Gatherv(in, m, u, out, n, at, t, root, c); });
}
int MPI_Igatherv(void const* in, int m, MPI_Datatype u, void* out, int const n[], int const at[], MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r) {
    return preload::gather_or_scatter(collective::gather, {in, m, u}, {out, 0, n, at, t}, root, true, {c, r},
                                      [&] { return PMPI_Igatherv(in, m, u, out, n, at, t, root, c, r); });
}
int MPI_Scatter(void const* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u, int root, MPI_Comm c) {
    return preload::gather_or_scatter(collective::scatter, {out, m, u}, {in, n, nullptr, nullptr, t}, root, false, {c},
                                      [&] { return PMPI_Scatter(in, n, t, out, m, u, root, c); });
}
int MPI_Iscatter(void const* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u, int root, MPI_Comm c, MPI_Request* r) {
    return preload::gather_or_scatter(collective::scatter, {out, m, u}, {in, n, nullptr, nullptr, t}, root, false, {c, r},
                                      [&] { return PMPI_Iscatter(in, n, t, out, m, u, root, c, r); });
}
int MPI_Scatterv(void const* in, int const n[], int const at[], MPI_Datatype t, void* out, int m, MPI_Datatype u, int root, MPI_Comm c) {
    return preload::gather_or_scatter(collective::scatter, {out, m, u}, {in, 0, n, at, t}, root, true, {c},
                                      [&] { return PMPI_Scatterv(in, n, at, t, out, m, u, root, c); });
}
int MPI_Iscatterv(void const* in, int const n[], int const at[], MPI_Datatype t, void* out, int m, MPI_Datatype u, int root, MPI_Comm c, MPI_Request* r) {
    return preload::gather_or_scatter(collective::scatter, {out, m, u}, {in, 0, n, at, t}, root, true, {c, r},
                                      [&] { return PMPI_Iscatterv(in, n, at, t, out, m, u, root, c, r); });
}
int MPI_Alltoall(void const* in, int m, MPI_Datatype u, void* out, int n, MPI_Datatype t, MPI_Comm c) {
    return preload::all_to_all(in, m, u, out, n, t, {c}, [&] { return PMPI_Alltoall(in, m, u, out, n, t, c); });
}
int MPI_Ialltoall(void const* in, int m, MPI_Datatype u, void* out, int n, MPI_Datatype t, MPI_Comm c, MPI_Request* r) {
    return preload::all_to_all(in, m, u, out, n, t, {c, r}, [&] { return PMPI_Ialltoall(in, m, u, out, n, t, c, r); });
}
int MPI_Alltoallv(void const* in, int const m[], int const from[], MPI_Datatype u, void* out, int const n[], int const at[], MPI_Datatype t, MPI_Comm c) {
    return preload::all_to_all_v(in, m, from, u, out, n, at, t, {c}, [&] { return PMPI_Alltoallv(in, m, from, u, out, n, at, t, c); });
}
int MPI_Ialltoallv(void const* in, int const m[], int const from[], MPI_Datatype u, void* out, int const n[], int const at[], MPI_Datatype t, MPI_Comm c,
                   MPI_Request* r) {
    return preload::all_to_all_v(in, m, from, u, out, n, at, t, {c, r}, [&] { return PMPI_Ialltoallv(in, m, from, u, out, n, at, t, c, r); });
}

// Requests of chorus are generalised requests: whoever waits for any request goes on with chorus as well.

int MPI_Wait(MPI_Request* r, MPI_Status* s) {
    if (!preload::has_pending()) return PMPI_Wait(r, s);
    return preload::wait_until([&](int& is_over) { return PMPI_Test(r, &is_over, s); });
}
int MPI_Waitall(int n, MPI_Request r[], MPI_Status s[]) {
    if (!preload::has_pending()) return PMPI_Waitall(n, r, s);
    return preload::wait_until([&](int& is_over) { return PMPI_Testall(n, r, &is_over, s); });
}
int MPI_Waitany(int n, MPI_Request r[], int* which, MPI_Status* s) {
    if (!preload::has_pending()) return PMPI_Waitany(n, r, which, s);
    return preload::wait_until([&](int& is_over) { return PMPI_Testany(n, r, which, &is_over, s); });
}
int MPI_Waitsome(int n, MPI_Request r[], int* many, int which[], MPI_Status s[]) {
    if (!preload::has_pending()) return PMPI_Waitsome(n, r, many, which, s);
    return preload::wait_until([&](int& is_over) {
        int const code = PMPI_Testsome(n, r, many, which, s);
        is_over = *many != 0 ? 1 : 0;
        return code;
    });
}
int MPI_Test(MPI_Request* r, int* is_over, MPI_Status* s) {
    preload::progress();
    return PMPI_Test(r, is_over, s);
}
int MPI_Testall(int n, MPI_Request r[], int* is_over, MPI_Status s[]) {
    preload::progress();
    return PMPI_Testall(n, r, is_over, s);
}
int MPI_Testany(int n, MPI_Request r[], int* which, int* is_over, MPI_Status* s) {
    preload::progress();
    return PMPI_Testany(n, r, which, is_over, s);
}
int MPI_Testsome(int n, MPI_Request r[], int* many, int which[], MPI_Status s[]) {
    preload::progress();
    return PMPI_Testsome(n, r, many, which, s);
}
int MPI_Request_get_status(MPI_Request r, int* is_over, MPI_Status* s) {
    preload::progress();
    return PMPI_Request_get_status(r, is_over, s);
}

}  // extern "C"
#pragma GCC visibility pop
