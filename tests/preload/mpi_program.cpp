// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// A program of MPI that knows nothing of chorus: every collective with every built-in type and operation, in place and not, from every root, with uneven and
// empty blocks, blocking and not, among messages, users' operations, derived types, inter-communicators and communicators that come and go. Whole numbers
// only, so that every order of adding gives the same bits. Rank 0 prints a checksum for each part, of all ranks' results.
//
//     mpi_program [rounds of communicators that come and go]

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int rank = 0;
int size = 0;

class checksum {
 public:
    void add(void const* memory, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) hash_ = (hash_ ^ static_cast<unsigned char const*>(memory)[i]) * 0x100000001B3u;
    }
    template <class T>
    void add(std::vector<T> const& all) {
        add(all.data(), all.size() * sizeof(T));
    }

    /// Of all ranks, by messages, so that what is tested is not what tells.
    void print(char const* part) const {
        std::uint64_t all = hash_;
        if (rank != 0) MPI_Send(&hash_, 1, MPI_UINT64_T, 0, 77, MPI_COMM_WORLD);
        for (int r = 1; rank == 0 && r < size; ++r) {
            std::uint64_t other = 0;
            MPI_Recv(&other, 1, MPI_UINT64_T, r, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            all = (all ^ other) * 0x100000001B3u;
        }
        if (rank == 0) std::printf("%-28s %016llx\n", part, static_cast<unsigned long long>(all));
        if (rank == 0) std::fflush(stdout);
    }

 private:
    std::uint64_t hash_ = 0xCBF29CE484222325u;
};

struct named_type {
    MPI_Datatype type;
    char use;  // i: whole numbers, f: with fractions, m: is moved only
    int bytes;
};

std::vector<named_type> all_types() {
    return {{MPI_CHAR, 'm', 1},          {MPI_BYTE, 'b', 1},           {MPI_SIGNED_CHAR, 'i', 1}, {MPI_UNSIGNED_CHAR, 'i', 1},
            {MPI_SHORT, 'i', 2},         {MPI_UNSIGNED_SHORT, 'i', 2}, {MPI_INT, 'i', 4},         {MPI_UNSIGNED, 'i', 4},
            {MPI_LONG, 'i', 8},          {MPI_UNSIGNED_LONG, 'i', 8},  {MPI_LONG_LONG, 'i', 8},   {MPI_INT64_T, 'i', 8},
            {MPI_UINT16_T, 'i', 2},      {MPI_INT8_T, 'i', 1},         {MPI_FLOAT, 'f', 4},       {MPI_DOUBLE, 'd', 8},
            {MPI_C_FLOAT_COMPLEX, 'm', 8}, {MPI_LONG_DOUBLE, 'm', 16}, {MPI_C_BOOL, 'l', 1}, {MPI_DOUBLE_INT, 'm', 12}};
}

/// All for few elements, every third for many.
std::vector<named_type> some_types(int count) {
    auto const all = all_types();
    std::vector<named_type> some;
    for (std::size_t i = 0; i < all.size(); i += count > 100 ? 3 : 1) some.push_back(all[i]);
    return some;
}

/// Small whole numbers, different on every rank.
std::vector<unsigned char> fill(named_type const& of, int count, int salt) {
    MPI_Aint begin = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(of.type, &begin, &extent);
    std::vector<unsigned char> memory(static_cast<std::size_t>(count * extent) + 16, 0);
    for (int i = 0; i < count; ++i) {
        unsigned char* const at = memory.data() + i * extent;
        int const value = (rank * 7 + i * 3 + salt) % 5;
        float const single = static_cast<float>(value);
        double const twice = value;
        if (of.use == 'f') std::memcpy(at, &single, sizeof single);
        else if (of.use == 'd') std::memcpy(at, &twice, sizeof twice);
        else at[0] = static_cast<unsigned char>(of.use == 'l' ? value & 1 : value);
    }
    return memory;
}

std::vector<MPI_Op> operations_for(char use) {
    if (use == 'i') return {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
    if (use == 'f' || use == 'd') return {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
    if (use == 'b') return {MPI_BAND, MPI_BOR, MPI_BXOR};
    if (use == 'l') return {MPI_LAND, MPI_LOR, MPI_LXOR};
    return {};
}

/// The reductions, all types and operations.
void reductions(MPI_Comm comm, int count, checksum& sum) {
    int const p = size;
    std::vector<int> uneven;
    int total = 0;
    for (int r = 0; r < p; ++r) total += uneven.emplace_back((r * 3) % 4 == 3 ? 0 : count + r);
    for (auto const& type : some_types(count)) {
        for (MPI_Op op : operations_for(type.use)) {
            auto in = fill(type, total + count * p, 1);
            auto out = fill(type, total + count * p, 2);
            MPI_Allreduce(in.data(), out.data(), count, type.type, op, comm);
            sum.add(out);
            MPI_Allreduce(MPI_IN_PLACE, out.data(), count, type.type, op, comm);
            sum.add(out);
            for (int root : {0, p - 1, p / 2}) {
                bool const here = rank == root;
                MPI_Reduce(in.data(), here ? out.data() : nullptr, count, type.type, op, root, comm);
                sum.add(out);
                if (count * type.bytes > 2048) continue;  // MPICH 4.0 itself reads from MPI_IN_PLACE above that
                MPI_Reduce(here ? MPI_IN_PLACE : in.data(), here ? out.data() : nullptr, count, type.type, op, root, comm);
                sum.add(out);
            }
            auto few = fill(type, count + p, 3);
            MPI_Reduce_scatter_block(in.data(), few.data(), count, type.type, op, comm);
            sum.add(few);
            MPI_Reduce_scatter(in.data(), few.data(), uneven.data(), type.type, op, comm);
            sum.add(few);
            auto both = in;
            MPI_Reduce_scatter(MPI_IN_PLACE, both.data(), uneven.data(), type.type, op, comm);
            sum.add(both.data(), static_cast<std::size_t>(uneven[static_cast<std::size_t>(rank)] * type.bytes));
            both = in;
            MPI_Reduce_scatter_block(MPI_IN_PLACE, both.data(), count, type.type, op, comm);
            sum.add(both.data(), static_cast<std::size_t>(count * type.bytes));
        }
    }
}

/// What only moves, all types.
void movements(MPI_Comm comm, int count, checksum& sum) {
    int const p = size;
    std::vector<int> uneven;
    std::vector<int> with_gaps;
    int total = 0;
    for (int r = 0; r < p; ++r) {
        uneven.push_back(r % 3 == 1 ? 0 : count + r);
        with_gaps.push_back(total + r + 2);
        total += uneven.back();
    }
    int const own = uneven[static_cast<std::size_t>(rank)];
    int const room = total + 2 * p + count * p + 8;
    for (auto const& type : some_types(count)) {
        auto in = fill(type, room, 4);
        auto out = fill(type, room, 5);
        MPI_Allgather(in.data(), count, type.type, out.data(), count, type.type, comm);
        sum.add(out);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out.data(), count, type.type, comm);
        sum.add(out);
        MPI_Allgatherv(in.data(), own, type.type, out.data(), uneven.data(), with_gaps.data(), type.type, comm);
        sum.add(out);
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out.data(), uneven.data(), with_gaps.data(), type.type, comm);
        sum.add(out);
        MPI_Alltoall(in.data(), count, type.type, out.data(), count, type.type, comm);
        sum.add(out);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out.data(), count, type.type, comm);
        sum.add(out);
        std::vector<int> sent(static_cast<std::size_t>(p));
        std::vector<int> taken(sent);
        std::vector<int> from(sent);
        std::vector<int> to(sent);
        for (int r = 0, a = 1, b = 0; r < p; ++r) {
            auto const i = static_cast<std::size_t>(r);
            sent[i] = (rank + 2 * r) % 3 == 0 ? 0 : (rank + r) % count;
            taken[i] = (r + 2 * rank) % 3 == 0 ? 0 : (rank + r) % count;
            from[i] = a;
            to[i] = b;
            a += sent[i] + 1;
            b += taken[i];
        }
        MPI_Alltoallv(in.data(), sent.data(), from.data(), type.type, out.data(), taken.data(), to.data(), type.type, comm);
        sum.add(out);
        for (int root = 0; root < p; root += 1 + p / 3) {
            bool const here = rank == root;
            auto same = here ? in : out;
            MPI_Bcast(same.data(), count, type.type, root, comm);
            sum.add(same);
            MPI_Gather(in.data(), count, type.type, here ? out.data() : nullptr, count, type.type, root, comm);
            sum.add(out);
            MPI_Gather(here ? MPI_IN_PLACE : in.data(), count, type.type, here ? out.data() : nullptr, count, type.type, root, comm);
            sum.add(out);
            MPI_Gatherv(in.data(), own, type.type, here ? out.data() : nullptr, here ? uneven.data() : nullptr, here ? with_gaps.data() : nullptr,
                        type.type, root, comm);
            sum.add(out);
            MPI_Scatter(here ? in.data() : nullptr, count, type.type, out.data(), count, type.type, root, comm);
            sum.add(out);
            MPI_Scatter(here ? in.data() : nullptr, count, type.type, here ? MPI_IN_PLACE : out.data(), count, type.type, root, comm);
            sum.add(out);
            MPI_Scatterv(here ? in.data() : nullptr, here ? uneven.data() : nullptr, here ? with_gaps.data() : nullptr, type.type, out.data(), own,
                         type.type, root, comm);
            sum.add(out);
        }
    }
    MPI_Barrier(comm);
}

/// Ranks may describe the same numbers by different types.
void derived_types(MPI_Comm comm, checksum& sum) {
    MPI_Datatype every_other = MPI_DATATYPE_NULL;
    MPI_Datatype eight = MPI_DATATYPE_NULL;
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
    MPI_Type_contiguous(8, MPI_INT, &eight);
    MPI_Type_commit(&every_other);
    MPI_Type_commit(&eight);
    std::vector<int> in(64 * static_cast<std::size_t>(size) + 64);
    std::vector<int> out(in.size(), -1);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = rank * 1000 + static_cast<int>(i);
    for (int root = 0; root < size; ++root) {
        std::vector<int> same = in;
        if (rank % 3 == 0) MPI_Bcast(same.data(), 2, every_other, root, comm);
        else if (rank % 3 == 1) MPI_Bcast(same.data(), 1, eight, root, comm);
        else MPI_Bcast(same.data(), 8, MPI_INT, root, comm);
        sum.add(same);
    }
    if (rank % 2 == 0) MPI_Gather(in.data(), 2, every_other, out.data(), 8, MPI_INT, 0, comm);
    else MPI_Gather(in.data(), 1, eight, nullptr, 0, MPI_DATATYPE_NULL, 0, comm);
    sum.add(out);
    MPI_Allgather(in.data(), 8, MPI_INT, out.data(), 2, every_other, comm);
    sum.add(out);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(in.data(), 2, every_other, out.data(), 1, eight, comm, &request);
    MPI_Type_free(&eight);  // while it is in use
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum.add(out);
    MPI_Alltoall(in.data(), 2, every_other, out.data(), 2, every_other, comm);
    sum.add(out);
    MPI_Type_free(&every_other);
    float const pair_in[] = {static_cast<float>(rank % 3), 0};
    struct { float value; int where; } best{pair_in[0], rank}, found{0, 0};
    MPI_Allreduce(&best, &found, 1, MPI_FLOAT_INT, MPI_MAXLOC, comm);
    sum.add(&found, sizeof found);
}

void add_and_count(void* in, void* in_out, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) static_cast<int*>(in_out)[i] = 2 * static_cast<int*>(in)[i] + static_cast<int*>(in_out)[i];
}

void users_operation(MPI_Comm comm, checksum& sum) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(&add_and_count, 0, &op);
    std::vector<int> in(10, rank + 1);
    std::vector<int> out(10);
    MPI_Allreduce(in.data(), out.data(), 10, MPI_INT, op, comm);
    sum.add(out);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ireduce(in.data(), out.data(), 10, MPI_INT, op, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum.add(out);
    MPI_Op_free(&op);
    MPI_Exscan(in.data(), out.data(), 10, MPI_INT, MPI_SUM, comm);
    if (rank > 0) sum.add(out);
}

void inter_communicator(checksum& sum) {
    if (size < 2) return;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Comm merged = MPI_COMM_NULL;
    int const side = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &both);
    int mine = rank + 1;
    int theirs = 0;
    MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, both);
    sum.add(&theirs, sizeof theirs);
    MPI_Bcast(&mine, 1, MPI_INT, side == 0 ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, both);
    sum.add(&mine, sizeof mine);
    MPI_Barrier(both);
    MPI_Intercomm_merge(both, side, &merged);
    MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_MAX, merged);
    sum.add(&theirs, sizeof theirs);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/// Many requests at once, waited for in other orders on other ranks, among messages.
void without_waiting(MPI_Comm comm, int count, checksum& sum) {
    auto const n = static_cast<std::size_t>(count);
    auto const p = static_cast<std::size_t>(size);
    std::vector<int> in(n * p);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = rank * 3 + static_cast<int>(i % 11);
    std::vector<int> const each(p, count);
    std::vector<int> starts(p);
    for (std::size_t r = 0; r < p; ++r) starts[r] = static_cast<int>(r) * count;
    for (int round = 0; round < 3; ++round) {
        std::vector<std::vector<int>> out(16, std::vector<int>(n * p, -1));
        std::vector<MPI_Request> all(18, MPI_REQUEST_NULL);
        int const root = round % size;
        out[4] = in;
        MPI_Iallreduce(in.data(), out[0].data(), count, MPI_INT, MPI_SUM, comm, &all[0]);
        MPI_Iallreduce(in.data(), out[1].data(), count, MPI_INT, MPI_SUM, comm, &all[1]);
        MPI_Ireduce(in.data(), out[2].data(), count, MPI_INT, MPI_MAX, root, comm, &all[2]);
        MPI_Irecv(out[14].data(), count, MPI_INT, (rank + size - 1) % size, 9, comm, &all[16]);
        MPI_Ibcast(out[4].data(), count, MPI_INT, root, comm, &all[4]);
        MPI_Iallgather(in.data(), count, MPI_INT, out[5].data(), count, MPI_INT, comm, &all[5]);
        MPI_Iallgatherv(in.data(), count, MPI_INT, out[6].data(), each.data(), starts.data(), MPI_INT, comm, &all[6]);
        MPI_Ireduce_scatter_block(in.data(), out[7].data(), count, MPI_INT, MPI_SUM, comm, &all[7]);
        MPI_Ireduce_scatter(in.data(), out[8].data(), each.data(), MPI_INT, MPI_MIN, comm, &all[8]);
        MPI_Ialltoall(in.data(), count, MPI_INT, out[9].data(), count, MPI_INT, comm, &all[9]);
        MPI_Ialltoallv(in.data(), each.data(), starts.data(), MPI_INT, out[10].data(), each.data(), starts.data(), MPI_INT, comm, &all[10]);
        MPI_Igather(in.data(), count, MPI_INT, out[11].data(), count, MPI_INT, root, comm, &all[11]);
        MPI_Igatherv(in.data(), count, MPI_INT, out[12].data(), each.data(), starts.data(), MPI_INT, root, comm, &all[12]);
        MPI_Iscatter(in.data(), count, MPI_INT, out[13].data(), count, MPI_INT, root, comm, &all[13]);
        MPI_Iscatterv(in.data(), each.data(), starts.data(), MPI_INT, out[3].data(), count, MPI_INT, root, comm, &all[14]);
        MPI_Ibarrier(comm, &all[15]);
        MPI_Isend(in.data(), count, MPI_INT, (rank + 1) % size, 9, comm, &all[17]);
        int over = 0;
        MPI_Test(&all[0], &over, MPI_STATUS_IGNORE);
        if ((rank + round) % 3 == 0) {
            MPI_Waitall(18, all.data(), MPI_STATUSES_IGNORE);
        } else if ((rank + round) % 3 == 1) {
            for (std::size_t i = 18; i-- > 0;) MPI_Wait(&all[i], MPI_STATUS_IGNORE);
        } else {
            int which = 0;
            for (int left = 18; left > 0; --left) MPI_Waitany(18, all.data(), &which, MPI_STATUS_IGNORE);
        }
        for (auto const& each_out : out) sum.add(each_out);
    }
}

/// A rank that waits for a message has to go on with the collective that it has begun, and one in a collective with the message that it has sent.
void progress_of_both(MPI_Comm comm, checksum& sum) {
    if (size < 2) return;
    std::vector<double> large(300'000, rank);
    std::vector<double> added(large.size());
    std::vector<double> message(400'000, rank + 0.5);
    int const next = (rank + 1) % size;
    int const previous = (rank + size - 1) % size;
    MPI_Request collective = MPI_REQUEST_NULL;
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Iallreduce(large.data(), added.data(), static_cast<int>(large.size()), MPI_DOUBLE, MPI_SUM, comm, &collective);
    int one = 0;
    if (rank == 0) MPI_Recv(&one, 1, MPI_INT, size - 1, 3, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&collective, MPI_STATUS_IGNORE);
    if (rank == size - 1) MPI_Send(&rank, 1, MPI_INT, 0, 3, comm);
    sum.add(added);
    MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_DOUBLE, next, 4, comm, &sent);
    std::vector<double> got(message.size());
    if (rank % 2 == 1) MPI_Recv(got.data(), static_cast<int>(got.size()), MPI_DOUBLE, previous, 4, comm, MPI_STATUS_IGNORE);
    MPI_Allreduce(large.data(), added.data(), 100, MPI_DOUBLE, MPI_MAX, comm);
    if (rank % 2 == 0) MPI_Recv(got.data(), static_cast<int>(got.size()), MPI_DOUBLE, previous, 4, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    sum.add(got);
    sum.add(added);
}

long resident_kilobytes() {
    long pages = 0;
    long resident = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
        std::fclose(file);
    }
    return resident * 4;
}

/// True if the second half of the rounds needs no more memory than noise.
bool communicators_that_come_and_go(int rounds, checksum& sum) {
    long half_way = 0;
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm some = MPI_COMM_NULL;
        MPI_Comm same = MPI_COMM_NULL;
        int const color = (round % 3 == 0) ? 0 : (rank + round) % 2;
        MPI_Comm_split(MPI_COMM_WORLD, color, round % 2 == 0 ? rank : -rank, &some);
        int mine = rank + round;
        int all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, some);
        sum.add(&all, sizeof all);
        if (round % 8 == 0) {
            MPI_Comm_dup(some, &same);
            MPI_Bcast(&mine, 1, MPI_INT, 0, same);
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_MAX, same, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Comm_free(&same);  // after the wait: Open MPI 4.1 does not survive it before, though it should
            sum.add(&all, sizeof all);
        }
        MPI_Comm_free(&some);
        if (round == rounds / 2) half_way = resident_kilobytes();
    }
    long const grown = resident_kilobytes() - half_way;
    if (grown > 4096) std::printf("rank %d grew by %ld KiB in the second half of %d rounds\n", rank, grown, rounds);
    return grown <= 4096;
}

bool errors_are_returned() {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    int in = 1;
    int const wrong_root = MPI_Bcast(&in, 1, MPI_INT, size + 3, own);
    int of_root = 0;
    MPI_Error_class(wrong_root, &of_root);
    MPI_Comm_free(&own);
    return of_root == MPI_ERR_ROOT;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const rounds = argc > 1 ? std::atoi(argv[1]) : 300;
    bool good = true;
    auto const part = [](char const* name, auto const& body) {
        checksum sum;
        body(sum);
        sum.print(name);
    };
    for (int count : {1, 7, 3000}) {
        part("reductions", [&](checksum& sum) { reductions(MPI_COMM_WORLD, count, sum); });
        part("movements", [&](checksum& sum) { movements(MPI_COMM_WORLD, count, sum); });
    }
    part("large", [](checksum& sum) {
        std::vector<double> in(100'000, rank + 1);
        std::vector<double> out(in.size() * static_cast<std::size_t>(size));
        MPI_Allreduce(in.data(), out.data(), 100'000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allgather(in.data(), 100'000, MPI_DOUBLE, out.data(), 100'000, MPI_DOUBLE, MPI_COMM_WORLD);
        sum.add(out);
    });
    part("derived types", [](checksum& sum) { derived_types(MPI_COMM_WORLD, sum); });
    part("users' operation", [](checksum& sum) { users_operation(MPI_COMM_WORLD, sum); });
    part("inter-communicator", [](checksum& sum) { inter_communicator(sum); });
    for (int count : {1, 500, 40'000}) part("without waiting", [&](checksum& sum) { without_waiting(MPI_COMM_WORLD, count, sum); });
    part("progress of both", [](checksum& sum) { progress_of_both(MPI_COMM_WORLD, sum); });
    part("come and go", [&](checksum& sum) { good = communicators_that_come_and_go(rounds, sum) && good; });
    good = errors_are_returned() && good;
    part(good ? "good" : "NOT GOOD", [](checksum&) {});
    MPI_Finalize();
    return good ? 0 : 1;
}
