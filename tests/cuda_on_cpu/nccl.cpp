// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/data/reduction.hpp"
#include "cuda_on_cpu/machine_state.hpp"
#include "cuda_on_cpu/nccl_control.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Communicators between threads. What a collective does in a stream is two pieces of work: the rank arrives, and what comes after waits until all have. The last one to arrive
// does it for all. A communicator is at rest again some polls after a call, as the seed draws; a call before that is a failure.

namespace {

using namespace cuda_on_cpu;

enum class kind { all_reduce, reduce_scatter, all_gather, broadcast, send, receive };

struct request {
    kind what = kind::send;
    std::byte const* in = nullptr;
    std::byte* out = nullptr;
    std::size_t count = 0;
    ncclDataType_t type = ncclUint8;
    ncclRedOp_t op = ncclSum;
    int other = 0;  ///< root or peer
};
using requests = std::vector<request>;

struct team;

struct split_wish {
    int colour = 0;
    int key = 0;
};

struct team {
    explicit team(std::size_t ranks) : arrived(ranks), wishes(ranks), members(ranks) {}
    std::vector<std::deque<requests>> arrived;
    std::vector<std::deque<split_wish>> wishes;
    std::vector<ncclComm_t> members;  ///< null: not come yet, or gone
    std::size_t came = 0;
    std::size_t completed = 0;
};

}  // namespace

struct ncclComm {
    std::shared_ptr<team> with;
    std::size_t rank = 0;
    int device = 0;
    int busy = 0;  ///< polls until it is at rest
    ncclResult_t failed = ncclSuccess;
    ncclComm_t* split_into = nullptr;
    struct shared {
        std::size_t arrived = 0;
        bool is_gone = false;
    };
    std::shared_ptr<shared> progress = std::make_shared<shared>();
};

namespace {

struct nccl_state {
    std::map<std::string, std::shared_ptr<team>> teams;
    std::set<ncclComm_t> open;
    std::size_t keys = 0;
    std::size_t splits = 0;
};
nccl_state& world() {
    static nccl_state& all = *new nccl_state;
    return all;
}

struct group_state {
    int depth = 0;
    requests collected;
    ncclComm_t communicator = nullptr;
    cudaStream_t stream = nullptr;
};
thread_local group_state group;

std::size_t bytes_of(ncclDataType_t type) {
    switch (type) {
        case ncclInt8:
        case ncclUint8: return 1;
        case ncclFloat16:
        case ncclBfloat16: return 2;
        case ncclInt32:
        case ncclUint32:
        case ncclFloat32: return 4;
        default: return 8;
    }
}

template <class T> T combined(ncclRedOp_t op, T a, T b) {
    switch (op) {
        case ncclProd: return chorus::product{}(a, b);
        case ncclMax: return chorus::maximum{}(a, b);
        case ncclMin: return chorus::minimum{}(a, b);
        default: return chorus::sum{}(a, b);
    }
}

template <class T> void reduce_as(std::vector<std::byte const*> const& from, std::byte* to, std::size_t count, ncclRedOp_t op) {
    using wide = chorus::wide_t<T>;
    for (std::size_t i = 0; i < count; ++i) {
        wide all{};
        for (std::size_t r = 0; r < from.size(); ++r) {
            T one;
            std::memcpy(&one, from[r] + i * sizeof(T), sizeof(T));
            all = r == 0 ? static_cast<wide>(one) : combined(op, all, static_cast<wide>(one));
        }
        if (op == ncclAvg) all = static_cast<wide>(all / static_cast<wide>(from.size()));
        T const result = static_cast<T>(all);
        std::memcpy(to + i * sizeof(T), &result, sizeof(T));
    }
}

void reduce(std::vector<std::byte const*> const& from, std::byte* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op) {
    switch (type) {
        case ncclInt8: return reduce_as<std::int8_t>(from, to, count, op);
        case ncclUint8: return reduce_as<std::uint8_t>(from, to, count, op);
        case ncclInt32: return reduce_as<std::int32_t>(from, to, count, op);
        case ncclUint32: return reduce_as<std::uint32_t>(from, to, count, op);
        case ncclInt64: return reduce_as<std::int64_t>(from, to, count, op);
        case ncclUint64: return reduce_as<std::uint64_t>(from, to, count, op);
        case ncclFloat16: return reduce_as<chorus::half>(from, to, count, op);
        case ncclFloat32: return reduce_as<float>(from, to, count, op);
        case ncclFloat64: return reduce_as<double>(from, to, count, op);
        case ncclBfloat16: return reduce_as<chorus::bfloat16>(from, to, count, op);
    }
}

/// What each rank has in `out` afterwards; all inputs are read before anything is written.
std::vector<std::byte> result_for(std::size_t rank, std::vector<requests> const& all) {
    request const& mine = all[rank][0];
    std::size_t const bytes = mine.count * bytes_of(mine.type);
    std::vector<std::byte const*> from;
    for (requests const& each : all) from.push_back(each[0].in + (mine.what == kind::reduce_scatter ? rank * bytes : 0));
    std::vector<std::byte> result(mine.what == kind::all_gather ? bytes * all.size() : bytes);
    if (bytes == 0) return result;
    if (mine.what == kind::broadcast) std::memcpy(result.data(), from[static_cast<std::size_t>(mine.other)], bytes);
    else if (mine.what == kind::all_gather)
        for (std::size_t r = 0; r < all.size(); ++r) std::memcpy(result.data() + r * bytes, from[r], bytes);
    else reduce(from, result.data(), mine.count, mine.type, mine.op);
    return result;
}

void exchange_pairs(std::vector<requests> const& all) {
    std::map<std::pair<int, int>, std::deque<request>> sent;
    for (std::size_t r = 0; r < all.size(); ++r)
        for (request const& each : all[r])
            if (each.what == kind::send) sent[{static_cast<int>(r), each.other}].push_back(each);
    for (std::size_t r = 0; r < all.size(); ++r)
        for (request const& each : all[r]) {
            if (each.what != kind::receive) continue;
            auto& queue = sent[{each.other, static_cast<int>(r)}];
            if (queue.empty() || queue.front().count != each.count) return fail("NCCL: a receive without its send", cudaSuccess);
            if (each.count != 0) std::memcpy(each.out, queue.front().in, each.count * bytes_of(each.type));
            queue.pop_front();
        }
}

bool agree(std::vector<requests> const& all) {
    auto const is_like = [&](requests const& each) {
        request const &a = each[0], &b = all[0][0];
        bool const is_pairs = a.what == kind::send || a.what == kind::receive;
        return is_pairs ? b.what == kind::send || b.what == kind::receive : a.what == b.what && a.count == b.count && a.type == b.type && a.op == b.op && a.other == b.other;
    };
    return std::all_of(all.begin(), all.end(), is_like);
}

/// Those that do not agree wait for ever.
void perform_what_is_complete(team& of) {
    while (std::none_of(of.arrived.begin(), of.arrived.end(), [](auto const& queue) { return queue.empty(); })) {
        std::vector<requests> all;
        for (auto const& queue : of.arrived) all.push_back(queue.front());
        if (!agree(all)) return;
        for (auto& queue : of.arrived) queue.pop_front();
        if (all[0][0].what == kind::send || all[0][0].what == kind::receive) exchange_pairs(all);
        else {
            std::vector<std::vector<std::byte>> results;
            for (std::size_t r = 0; r < all.size(); ++r) results.push_back(result_for(r, all));
            for (std::size_t r = 0; r < all.size(); ++r)
                if (!results[r].empty()) std::memcpy(all[r][0].out, results[r].data(), results[r].size());
        }
        ++of.completed;
    }
}

ncclResult_t begin_call(ncclComm_t communicator, char const* name) {
    if (world().open.count(communicator) == 0) return fail(std::string{name} + " of no communicator", cudaSuccess), ncclInvalidArgument;
    if (communicator->failed != ncclSuccess) return communicator->failed;
    if (communicator->busy != 0) return fail(std::string{name} + " of a communicator that is not at rest", cudaSuccess), ncclInvalidUsage;
    communicator->busy = 1 + static_cast<int>(state().draws.below(3));
    return ncclInProgress;
}

/// Under the lock.
ncclResult_t submit(ncclComm_t communicator, requests what, cudaStream_t stream) {
    CUstream_st* const in = stream_of(stream);
    if (in == nullptr || in->device != communicator->device || current_device() != communicator->device) return ncclInvalidUsage;
    auto const with = communicator->with;
    auto const own = communicator->progress;
    enqueue(*in, [=, rank = communicator->rank, what = std::move(what)] {
        ++own->arrived;
        if (own->is_gone) return;
        with->arrived[rank].push_back(what);
        perform_what_is_complete(*with);
    });
    enqueue(*in, nullptr, false, [=] { return own->is_gone || with->completed >= own->arrived; });
    return ncclSuccess;
}

ncclResult_t ask(char const* name, request what, ncclComm_t communicator, cudaStream_t stream) {
    call on{name};
    if (group.depth > 0) {
        group.communicator = communicator;
        group.stream = stream;
        group.collected.push_back(what);
        return ncclSuccess;
    }
    ncclResult_t const begun = begin_call(communicator, name);
    if (begun != ncclInProgress) return begun;
    ncclResult_t const submitted = submit(communicator, {what}, stream);
    return submitted == ncclSuccess ? begun : submitted;
}

ncclComm_t join(std::shared_ptr<team> const& with, std::size_t rank, int device) {
    auto* const made = new ncclComm{};
    made->with = with;
    made->rank = rank;
    made->device = device;
    made->busy = 1;
    with->members[rank] = made;
    ++with->came;
    world().open.insert(made);
    return made;
}

/// When all have wished.
void split_if_complete(team& of) {
    if (std::any_of(of.wishes.begin(), of.wishes.end(), [](auto const& queue) { return queue.empty(); })) return;
    std::map<int, std::vector<std::pair<int, std::size_t>>> parts;
    for (std::size_t r = 0; r < of.wishes.size(); ++r) {
        if (of.wishes[r].front().colour != NCCL_SPLIT_NOCOLOR) parts[of.wishes[r].front().colour].push_back({of.wishes[r].front().key, r});
        of.wishes[r].pop_front();
    }
    for (auto& [colour, ranks] : parts) {
        std::sort(ranks.begin(), ranks.end());
        auto const child = std::make_shared<team>(ranks.size());
        for (std::size_t i = 0; i < ranks.size(); ++i)
            if (ncclComm_t const parent = of.members[ranks[i].second]; parent != nullptr) *parent->split_into = join(child, i, parent->device);
    }
    for (ncclComm_t each : of.members)
        if (each != nullptr) each->split_into = nullptr;
}

ncclResult_t close(ncclComm_t communicator, char const* name) {
    if (world().open.erase(communicator) == 0) return fail(std::string{name} + " of no communicator", cudaSuccess), ncclInvalidArgument;
    communicator->progress->is_gone = true;
    communicator->with->members[communicator->rank] = nullptr;
    state().changed.notify_all();
    delete communicator;
    return ncclSuccess;
}

}  // namespace

namespace cuda_on_cpu {

void fail_communicators(ncclResult_t result) {
    std::lock_guard const held{state().lock};
    for (ncclComm_t each : world().open) each->failed = result;
}
std::size_t splits() {
    std::lock_guard const held{state().lock};
    return world().splits;
}
std::size_t open_communicators() {
    std::lock_guard const held{state().lock};
    return world().open.size();
}

}  // namespace cuda_on_cpu

ncclResult_t ncclGetVersion(int* version) { return *version = NCCL_VERSION_CODE, ncclSuccess; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* key) {
    call on{"ncclGetUniqueId"};
    *key = {};
    std::string const text = std::to_string(++world().keys);
    std::memcpy(key->internal, text.data(), text.size());
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int ranks, ncclUniqueId key, int rank, ncclConfig_t* config) {
    call on{"ncclCommInitRankConfig"};
    if (config->blocking != 0) return ncclInvalidUsage;
    auto& with = world().teams[key.internal];
    if (!with) with = std::make_shared<team>(static_cast<std::size_t>(ranks));
    *made = join(with, static_cast<std::size_t>(rank), current_device());
    return ncclInProgress;
}

ncclResult_t ncclCommSplit(ncclComm_t from, int colour, int key, ncclComm_t* made, ncclConfig_t*) {
    call on{"ncclCommSplit"};
    ncclResult_t const begun = begin_call(from, "ncclCommSplit");
    if (begun != ncclInProgress) return begun;
    *made = nullptr;
    ++world().splits;
    from->split_into = made;
    from->with->wishes[from->rank].push_back({colour, key});
    split_if_complete(*from->with);
    return ncclInProgress;
}

ncclResult_t ncclCommFinalize(ncclComm_t communicator) {
    call on{"ncclCommFinalize"};
    return begin_call(communicator, "ncclCommFinalize");
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
    call on{"ncclCommDestroy"};
    return close(communicator, "ncclCommDestroy");
}
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
    call on{"ncclCommAbort"};
    return close(communicator, "ncclCommAbort");
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* result) {
    call on{"ncclCommGetAsyncError"};
    if (world().open.count(communicator) == 0) return fail("ncclCommGetAsyncError of no communicator", cudaSuccess), ncclInvalidArgument;
    *result = communicator->failed;
    if (*result != ncclSuccess) return ncclSuccess;
    bool const is_waiting = communicator->with->came < communicator->with->arrived.size() || communicator->split_into != nullptr;
    if (!is_waiting && communicator->busy > 0) --communicator->busy;
    if (is_waiting || communicator->busy > 0) *result = ncclInProgress;
    return ncclSuccess;
}

char const* ncclGetErrorString(ncclResult_t result) {
    switch (result) {
        case ncclSuccess: return "no error";
        case ncclInvalidArgument: return "invalid argument";
        case ncclInvalidUsage: return "invalid usage";
        case ncclRemoteError: return "remote process exited or there was a network error";
        default: return "internal error";
    }
}
char const* ncclGetLastError(ncclComm_t) { return "said by the stand-in"; }

namespace {

std::byte const* in_of(void const* memory) { return static_cast<std::byte const*>(memory); }
std::byte* out_of(void* memory) { return static_cast<std::byte*>(memory); }

}  // namespace

ncclResult_t ncclAllReduce(void const* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t communicator, cudaStream_t stream) {
    return ask("ncclAllReduce", {kind::all_reduce, in_of(in), out_of(out), count, type, op, 0}, communicator, stream);
}
ncclResult_t ncclReduceScatter(void const* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t communicator, cudaStream_t stream) {
    return ask("ncclReduceScatter", {kind::reduce_scatter, in_of(in), out_of(out), count, type, op, 0}, communicator, stream);
}
ncclResult_t ncclAllGather(void const* in, void* out, std::size_t count, ncclDataType_t type, ncclComm_t communicator, cudaStream_t stream) {
    return ask("ncclAllGather", {kind::all_gather, in_of(in), out_of(out), count, type, ncclSum, 0}, communicator, stream);
}
ncclResult_t ncclBroadcast(void const* in, void* out, std::size_t count, ncclDataType_t type, int root, ncclComm_t communicator, cudaStream_t stream) {
    return ask("ncclBroadcast", {kind::broadcast, in_of(in), out_of(out), count, type, ncclSum, root}, communicator, stream);
}
ncclResult_t ncclSend(void const* in, std::size_t count, ncclDataType_t type, int peer, ncclComm_t communicator, cudaStream_t stream) {
    return ask("ncclSend", {kind::send, in_of(in), nullptr, count, type, ncclSum, peer}, communicator, stream);
}
ncclResult_t ncclRecv(void* out, std::size_t count, ncclDataType_t type, int peer, ncclComm_t communicator, cudaStream_t stream) {
    return ask("ncclRecv", {kind::receive, nullptr, out_of(out), count, type, ncclSum, peer}, communicator, stream);
}

ncclResult_t ncclGroupStart() { return ++group.depth, ncclSuccess; }
ncclResult_t ncclGroupEnd() {
    call on{"ncclGroupEnd"};
    if (--group.depth > 0) return ncclSuccess;
    group_state const ended = std::exchange(group, {});
    if (ended.collected.empty()) return ncclSuccess;
    ncclResult_t const begun = begin_call(ended.communicator, "ncclGroupEnd");
    if (begun != ncclInProgress) return begun;
    ncclResult_t const submitted = submit(ended.communicator, ended.collected, ended.stream);
    return submitted == ncclSuccess ? begun : submitted;
}
