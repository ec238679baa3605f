// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "cuda_on_cpu/machine_state.hpp"

#include <algorithm>
#include <utility>

// Streams and events: work is done inside of calls of the runtime, in an order and at times that the seed draws, but never before what it
// must come after and never later than a call that waits for it returns.

namespace cuda_on_cpu {

void make_arenas(std::size_t devices);

namespace {

thread_local int device_of_thread = 0;
thread_local cudaError_t last_error = cudaSuccess;
thread_local bool is_in_host_function = false;

cudaError_t usable() {
    machine const& having = state().having;
    if (having.driver / 1000 < having.runtime / 1000) return cudaErrorInsufficientDriver;
    return having.devices == 0 ? cudaErrorNoDevice : cudaSuccess;
}

/// Makes the machine as `having` says; at the first call of the process, too.
void set_up(machine const& having) {
    machine_state& on = state();
    on.having = having;
    auto const devices = static_cast<std::size_t>((std::max)(having.devices, 1));
    make_arenas(devices);
    if (on.legacy.size() < devices) on.legacy.resize(devices);
    for (std::size_t i = 0; i < on.legacy.size(); ++i) on.legacy[i].device = static_cast<int>(i);
}

work const* choose_runnable() {
    machine_state& on = state();
    std::vector<work const*> runnable;
    for (work const& piece : on.queue) {
        bool const may = piece->state == operation::status::waiting && std::all_of(piece->after.begin(), piece->after.end(), is_done) && (!piece->gate || piece->gate());
        if (may) runnable.push_back(&piece);
    }
    return runnable.empty() ? nullptr : runnable[on.draws.below(runnable.size())];
}

void perform(std::unique_lock<std::mutex>& held, work const piece) {
    machine_state& on = state();
    piece->state = operation::status::running;
    if (piece->act && on.sticky == cudaSuccess) {
        if (piece->is_host_function) {
            held.unlock();
            is_in_host_function = true;
            piece->act();
            is_in_host_function = false;
            held.lock();
        } else {
            open_memory const open;
            piece->act();
        }
    }
    piece->state = operation::status::done;
    piece->act = nullptr;
    piece->gate = nullptr;
    piece->after.clear();
    std::erase(on.queue, piece);
    on.changed.notify_all();
}

work new_operation(CUstream_st const& stream, std::function<void()> act, bool is_host_function) {
    auto made = std::make_shared<operation>();
    made->act = std::move(act);
    made->device = stream.device;
    made->is_host_function = is_host_function;
    return made;
}

void after(operation& piece, work const& before) {
    if (!is_done(before)) piece.after.push_back(before);
}

void wait_for_streams(operation& piece, CUstream_st const& stream) {
    machine_state& on = state();
    after(piece, stream.last);
    auto& legacy = on.legacy[static_cast<std::size_t>(stream.device)];
    if (&stream == &legacy) {
        for (cudaStream_t other : on.streams)
            if (other->is_blocking && other->device == stream.device) after(piece, other->last);
    } else if (stream.is_blocking) {
        after(piece, legacy.last);
    }
}

void push(CUstream_st& stream, work piece) {
    stream.last = piece;
    state().queue.push_back(std::move(piece));
    state().changed.notify_all();  // others may wait for what comes after it
}

bool is_event(cudaEvent_t event) { return state().events.count(event) != 0; }

template <class Function> cudaError_t guarded(char const* name, Function const& function) {
    call on{name};
    return call::end(on.refused() != cudaSuccess ? on.refused() : function(on));
}

}  // namespace

machine_state& state() {
    static machine_state& on = *new machine_state;  // outlives every static that may still free memory
    return on;
}

void fail(std::string const& why, cudaError_t error) {
    if (state().first_failure.empty()) state().first_failure = why;
    if (error == cudaErrorLaunchFailure) state().sticky = error;
}

int current_device() { return device_of_thread; }
bool is_done(work const& piece) { return piece == nullptr || piece->state == operation::status::done; }

CUstream_st* stream_of(cudaStream_t stream) {
    if (stream == nullptr) return &state().legacy[static_cast<std::size_t>(device_of_thread)];
    return state().streams.count(stream) != 0 ? stream : nullptr;
}

cudaError_t enqueue(CUstream_st& stream, std::function<void()> act, bool is_host_function, std::function<bool()> gate) {
    if (stream.captured_by != nullptr) {
        auto& nodes = stream.captured_by->graph.nodes;
        nodes.push_back({std::move(act), stream.tail, stream.device, is_host_function, std::move(gate)});
        stream.tail = {nodes.size() - 1};
        return cudaSuccess;
    }
    work const piece = new_operation(stream, std::move(act), is_host_function);
    piece->gate = std::move(gate);
    wait_for_streams(*piece, stream);
    push(stream, piece);
    return cudaSuccess;
}

void move_on(std::unique_lock<std::mutex>& held, std::size_t at_most) {
    for (std::size_t i = 0; i < at_most; ++i) {
        work const* const chosen = choose_runnable();
        if (chosen == nullptr) return;
        perform(held, *chosen);
    }
}

void finish(std::unique_lock<std::mutex>& held, work const& until) {
    work const wanted = until;
    while (!is_done(wanted)) {
        work const* const chosen = choose_runnable();
        if (chosen != nullptr) perform(held, *chosen);
        else state().changed.wait(held);  // another thread is in a host function, or has not come to a collective of NCCL
    }
}

void finish_all(std::unique_lock<std::mutex>& held) {
    while (!state().queue.empty()) finish(held, state().queue.back());
}

call::call(char const* name) : held_{state().lock} {
    machine_state& on = state();
    if (on.arenas.empty()) set_up(on.having);
    if (is_in_host_function) {
        fail(std::string{name} + " was called by a host function of a stream", cudaErrorNotPermitted);
        refused_ = cudaErrorNotPermitted;
        return;
    }
    if (!on.queue.empty() && on.draws.one_in(3)) move_on(held_, 1 + on.draws.below(3));
    refused_ = on.sticky != cudaSuccess ? on.sticky : usable();
}

cudaError_t call::end(cudaError_t result) {
    if (result != cudaSuccess && result != cudaErrorNotReady) last_error = result;
    return result;
}

void begin(std::uint64_t seed, machine const& having) {
    std::unique_lock held{state().lock};
    finish_all(held);
    machine_state& on = state();
    on.draws = chance{seed};
    on.first_failure.clear();
    on.sticky = last_error = cudaSuccess;
    on.counts = {};
    device_of_thread = 0;
    set_up(having);
}

std::string failure() {
    std::lock_guard const held{state().lock};
    return state().first_failure;
}
moved_bytes moved() {
    std::lock_guard const held{state().lock};
    return state().counts;
}
std::size_t pending() {
    std::lock_guard const held{state().lock};
    return state().queue.size();
}

cudaError_t allow_shared_memory(void const* kernel, std::size_t bytes) {
    return guarded("cudaFuncSetAttribute", [&](call&) {
        if (bytes > 227 * 1024) return cudaErrorInvalidValue;
        state().allowed_shared[kernel] = bytes;
        return cudaSuccess;
    });
}

cudaError_t enqueue_kernel(kernel_call what, bool has_host_addresses, cudaStream_t stream) {
    return guarded("cudaLaunchKernelEx", [&](call&) {
        CUstream_st* const in = stream_of(stream);
        if (in == nullptr || in->device != device_of_thread) {
            fail("a kernel in a stream that is none of the current device", cudaErrorInvalidResourceHandle);
            return cudaErrorInvalidResourceHandle;
        }
        auto const allowed = state().allowed_shared.find(what.kernel);
        std::size_t const most_shared = allowed == state().allowed_shared.end() ? 48 * 1024 : (std::max)(allowed->second, std::size_t{48 * 1024});
        std::size_t const threads = std::size_t{what.block.x} * what.block.y * what.block.z;
        bool const fits = threads >= 1 && threads <= 1024 && what.block.z <= 64 && what.grid.x >= 1 && what.grid.x < 1u << 31 &&
                          what.grid.y >= 1 && what.grid.y < 1u << 16 && what.grid.z >= 1 && what.grid.z < 1u << 16;
        if (!fits) return cudaErrorInvalidConfiguration;
        if (what.shared_bytes > most_shared) return cudaErrorInvalidValue;
        if (has_host_addresses) {
            fail("an argument of a kernel is an address of host memory that is not pinned", cudaErrorLaunchFailure);
            return cudaErrorLaunchFailure;
        }
        return enqueue(*in, [what = std::move(what), device = in->device] { run_kernel(what, device); });
    });
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaDriverGetVersion(int* version) { return *version = state().having.driver, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = state().having.runtime, cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) {
    return guarded("cudaGetDeviceCount", [&](call&) { return *count = state().having.devices, cudaSuccess; });
}
cudaError_t cudaGetDevice(int* device) {
    return guarded("cudaGetDevice", [&](call&) { return *device = device_of_thread, cudaSuccess; });
}
cudaError_t cudaSetDevice(int device) {
    return guarded("cudaSetDevice", [&](call&) {
        if (device < 0 || device >= state().having.devices) return cudaErrorInvalidDevice;
        device_of_thread = device;
        return cudaSuccess;
    });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return guarded("cudaDeviceGetAttribute", [&](call&) {
        if (device < 0 || device >= state().having.devices) return cudaErrorInvalidDevice;
        switch (attribute) {
            case cudaDevAttrMultiProcessorCount: *value = 2; break;
            case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 1024; break;
            case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
            case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
            case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 227 * 1024; break;
            case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
        }
        return cudaSuccess;
    });
}
cudaError_t cudaDeviceSynchronize() {
    return guarded("cudaDeviceSynchronize", [&](call& on) { return finish_all(on.held()), state().sticky; });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    return guarded("cudaDeviceCanAccessPeer", [&](call&) {
        int const devices = state().having.devices;
        if (device < 0 || device >= devices || peer < 0 || peer >= devices) return cudaErrorInvalidDevice;
        *can = device != peer && state().having.has_peer_access;
        return cudaSuccess;
    });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
    return guarded("cudaDeviceEnablePeerAccess", [&](call&) {
        if (peer == device_of_thread || peer < 0 || peer >= state().having.devices) return cudaErrorInvalidDevice;
        if (!state().having.has_peer_access) return cudaErrorPeerAccessUnsupported;
        return state().peers.insert({device_of_thread, peer}).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
    });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return guarded("cudaStreamCreate", [&](call&) {
        *stream = new CUstream_st{};
        (*stream)->device = device_of_thread;
        (*stream)->is_blocking = flags != cudaStreamNonBlocking;
        state().streams.insert(*stream);
        return cudaSuccess;
    });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return guarded("cudaStreamDestroy", [&](call&) {  // what was enqueued is still done
        if (state().streams.erase(stream) == 0) return cudaErrorInvalidResourceHandle;
        delete stream;
        return cudaSuccess;
    });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
    return guarded("cudaStreamGetDevice", [&](call&) {
        CUstream_st const* const in = stream_of(stream);
        if (in == nullptr) return cudaErrorInvalidResourceHandle;
        return *device = in->device, cudaSuccess;
    });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return guarded("cudaStreamSynchronize", [&](call& on) {
        CUstream_st* const in = stream_of(stream);
        if (in == nullptr) return cudaErrorInvalidResourceHandle;
        if (in->captured_by != nullptr) return in->captured_by->is_invalid = true, cudaErrorStreamCaptureUnsupported;
        finish(on.held(), in->last);
        return state().sticky;
    });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return guarded("cudaStreamQuery", [&](call& on) {
        CUstream_st* const in = stream_of(stream);
        if (in == nullptr) return cudaErrorInvalidResourceHandle;
        if (in->captured_by != nullptr) return in->captured_by->is_invalid = true, cudaErrorStreamCaptureUnsupported;
        move_on(on.held(), state().draws.below(2));
        return is_done(in->last) ? state().sticky : cudaErrorNotReady;
    });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    return guarded("cudaLaunchHostFunc", [&](call&) {
        CUstream_st* const in = stream_of(stream);
        if (in == nullptr) return cudaErrorInvalidResourceHandle;
        return enqueue(*in, [=] { function(data); }, true);
    });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    return guarded("cudaStreamWaitEvent", [&](call&) {
        CUstream_st* const in = stream_of(stream);
        if (in == nullptr || !is_event(event)) return cudaErrorInvalidResourceHandle;
        if (event->captured_by != nullptr) {  // the stream joins the capture, or two branches of it meet
            if (in->captured_by != nullptr && in->captured_by != event->captured_by) return cudaErrorStreamCaptureIsolation;
            in->captured_by = event->captured_by;
            in->captured_by->streams.insert(in);
            in->tail.insert(in->tail.end(), event->tail.begin(), event->tail.end());
            return cudaSuccess;
        }
        if (in->captured_by != nullptr && !is_done(event->recorded)) return cudaErrorStreamCaptureIsolation;
        if (is_done(event->recorded)) return cudaSuccess;
        work const piece = new_operation(*in, nullptr, false);
        wait_for_streams(*piece, *in);
        after(*piece, event->recorded);
        push(*in, piece);
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    return guarded("cudaEventCreate", [&](call&) {
        *event = new CUevent_st{};
        (*event)->device = device_of_thread;
        state().events.insert(*event);
        return cudaSuccess;
    });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return guarded("cudaEventDestroy", [&](call&) {
        if (state().events.erase(event) == 0) return cudaErrorInvalidResourceHandle;
        delete event;
        return cudaSuccess;
    });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return guarded("cudaEventRecord", [&](call&) {
        CUstream_st* const in = stream_of(stream);
        if (in == nullptr || !is_event(event) || event->device != in->device) return cudaErrorInvalidResourceHandle;
        event->captured_by = in->captured_by;
        event->tail = in->tail;
        if (in->captured_by != nullptr) return cudaSuccess;
        cudaError_t const result = enqueue(*in, nullptr);
        event->recorded = in->last;
        return result;
    });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return guarded("cudaEventQuery", [&](call& on) {
        if (!is_event(event)) return cudaErrorInvalidResourceHandle;
        if (event->captured_by != nullptr) return cudaErrorStreamCaptureUnsupported;
        move_on(on.held(), state().draws.below(2));
        return is_done(event->recorded) ? state().sticky : cudaErrorNotReady;
    });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return guarded("cudaEventSynchronize", [&](call& on) {
        if (!is_event(event)) return cudaErrorInvalidResourceHandle;
        if (event->captured_by != nullptr) return cudaErrorStreamCaptureUnsupported;
        finish(on.held(), event->recorded);
        return state().sticky;
    });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    return guarded("cudaEventElapsedTime", [&](call&) {
        if (!is_event(begin) || !is_event(end) || begin->recorded == nullptr || end->recorded == nullptr) return cudaErrorInvalidResourceHandle;
        if (!is_done(begin->recorded) || !is_done(end->recorded)) return cudaErrorNotReady;
        *milliseconds = static_cast<float>(1 + state().draws.below(1000)) / 1000.0f;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    return guarded("cudaStreamBeginCapture", [&](call&) {
        CUstream_st* const in = stream == nullptr ? nullptr : stream_of(stream);
        if (in == nullptr || in->captured_by != nullptr) return cudaErrorStreamCaptureUnsupported;
        in->captured_by = std::make_shared<capture>();
        in->captured_by->origin = in;
        in->captured_by->streams.insert(in);
        in->tail.clear();
        return cudaSuccess;
    });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return guarded("cudaStreamIsCapturing", [&](call&) {
        CUstream_st* const in = stream_of(stream);
        if (in == nullptr) return cudaErrorInvalidResourceHandle;
        *status = in->captured_by == nullptr ? cudaStreamCaptureStatusNone
                  : in->captured_by->is_invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
        return cudaSuccess;
    });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    return guarded("cudaStreamEndCapture", [&](call&) {
        CUstream_st* const in = stream_of(stream);
        if (in == nullptr || in->captured_by == nullptr || in->captured_by->origin != in) return cudaErrorStreamCaptureUnmatched;
        auto const ended = in->captured_by;
        auto& nodes = ended->graph.nodes;
        std::vector<bool> is_joined(nodes.size(), false);
        for (std::size_t node : in->tail) is_joined[node] = true;
        for (std::size_t node = nodes.size(); node-- > 0;)
            if (is_joined[node])
                for (std::size_t before : nodes[node].after) is_joined[before] = true;
        for (cudaStream_t other : ended->streams) {
            other->captured_by = nullptr;
            other->tail.clear();
        }
        *graph = nullptr;
        if (ended->is_invalid) return cudaErrorStreamCaptureInvalidated;
        if (std::find(is_joined.begin(), is_joined.end(), false) != is_joined.end()) return cudaErrorStreamCaptureUnjoined;
        *graph = new CUgraph_st{std::move(nodes)};
        state().graphs.insert(*graph);
        return cudaSuccess;
    });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
    return guarded("cudaGraphInstantiate", [&](call&) {
        if (state().graphs.count(graph) == 0) return cudaErrorInvalidValue;
        *executable = new CUgraphExec_st{graph->nodes, nullptr};
        state().executables.insert(*executable);
        return cudaSuccess;
    });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    return guarded("cudaGraphLaunch", [&](call&) {
        CUstream_st* const in = stream_of(stream);
        if (in == nullptr || state().executables.count(executable) == 0) return cudaErrorInvalidResourceHandle;
        work const first = new_operation(*in, nullptr, false), last = new_operation(*in, nullptr, false);
        wait_for_streams(*first, *in);
        after(*first, executable->last);
        state().queue.push_back(first);
        std::vector<work> pieces;
        for (captured_node const& node : executable->nodes) {
            work const piece = new_operation(*in, node.act, node.is_host_function);
            piece->device = node.device;
            piece->gate = node.gate;
            piece->after.push_back(first);
            for (std::size_t before : node.after) piece->after.push_back(pieces[before]);
            last->after.push_back(piece);
            pieces.push_back(piece);
            state().queue.push_back(piece);
        }
        last->after.push_back(first);
        push(*in, last);
        executable->last = last;
        return cudaSuccess;
    });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return guarded("cudaGraphDestroy", [&](call&) {
        if (state().graphs.erase(graph) == 0) return cudaErrorInvalidValue;
        delete graph;
        return cudaSuccess;
    });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    return guarded("cudaGraphExecDestroy", [&](call&) {
        if (state().executables.erase(executable) == 0) return cudaErrorInvalidValue;
        delete executable;
        return cudaSuccess;
    });
}

namespace {

struct error_text {
    cudaError_t error;
    char const* name;
    char const* text;
};
constexpr error_text error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
};

error_text text_of(cudaError_t error) {
    for (error_text const& known : error_texts)
        if (known.error == error) return known;
    return {error, "cudaErrorUnknown", "unknown error"};
}

}  // namespace

char const* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }
char const* cudaGetErrorString(cudaError_t error) { return text_of(error).text; }
