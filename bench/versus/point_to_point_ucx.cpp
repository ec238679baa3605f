// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/ucx.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

// Ping-pong between two processes, in turns of a batch each: UCX's tag matching, called with nothing in between, and ucx_transport (post, poll).
// Both find their ways by UCX's own choice: UCX_TLS and UCX_NET_DEVICES apply to both. Half round trips, the median batch counts.

namespace {

using chorus::shared_memory_transport;

void expect(ucs_status_t status) {
    if (status == UCS_OK) return;
    std::fprintf(stderr, "UCX: %s\n", ucs_status_string(status));
    std::exit(1);
}

/// UCX as its own benchmark uses it.
class raw_ucx {
 public:
    explicit raw_ucx(shared_memory_transport& host) {
        ucp_config_t* config = nullptr;
        expect(ucp_config_read(nullptr, nullptr, &config));
        ucp_params_t wanted{};
        wanted.field_mask = UCP_PARAM_FIELD_FEATURES;
        wanted.features = UCP_FEATURE_TAG;
        expect(ucp_init(&wanted, config, &context_));
        ucp_config_release(config);
        ucp_worker_params_t single{};
        single.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        single.thread_mode = UCS_THREAD_MODE_SINGLE;
        expect(ucp_worker_create(context_, &single, &worker_));
        ucp_address_t* own = nullptr;
        std::size_t length = 0;
        expect(ucp_worker_get_address(worker_, &own, &length));
        std::vector<std::byte> address(1024);
        std::vector<std::byte> other(1024);
        std::copy_n(reinterpret_cast<std::byte const*>(own), length, address.data());
        swap(host, address, other);
        ucp_ep_params_t to{};
        to.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        to.address = reinterpret_cast<ucp_address_t const*>(other.data());
        expect(ucp_ep_create(worker_, &to, &endpoint_));
    }

    void send(std::span<std::byte const> out) {
        ucp_request_param_t const how{};
        finish(ucp_tag_send_nbx(endpoint_, out.data(), out.size(), 1, &how));
    }
    void receive(std::span<std::byte> in) {
        ucp_request_param_t const how{};
        finish(ucp_tag_recv_nbx(worker_, in.data(), in.size(), 1, ~ucp_tag_t{0}, &how));
    }

    static void swap(shared_memory_transport& host, std::span<std::byte const> out, std::span<std::byte> in) {
        auto sent = host.post_send(1 - host.rank(), {1, 0}, out);
        auto came = host.post_recv(1 - host.rank(), {1, 0}, in);
        while (host.poll(sent) != chorus::progress::done) {}
        while (host.poll(came) != chorus::progress::done) {}
    }

 private:
    void finish(ucs_status_ptr_t request) {
        if (request == nullptr) return;
        if (UCS_PTR_IS_ERR(request)) expect(UCS_PTR_STATUS(request));
        while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
        ucp_request_free(request);
    }

    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    ucp_ep_h endpoint_ = nullptr;
};

class own_ucx {
 public:
    explicit own_ucx(chorus::ucx_transport& net) : net_{&net} {}

    void send(std::span<std::byte const> out) { finish(net_->post_send(1 - net_->rank(), {7, 7}, out)); }
    void receive(std::span<std::byte> in) { finish(net_->post_recv(1 - net_->rank(), {7, 7}, in)); }

 private:
    void finish(chorus::ucx_transport::ticket pending) {
        for (;;) {
            chorus::progress const now = net_->poll(pending);
            if (now == chorus::progress::done) return;
            if (now != chorus::progress::failed) continue;
            std::fprintf(stderr, "%s\n", net_->failure().what());
            std::exit(1);
        }
    }
    chorus::ucx_transport* net_;
};

/// Swaps addresses through shared memory.
struct host_rendezvous {
    shared_memory_transport* host;

    chorus::rank_id rank() const noexcept { return host->rank(); }
    chorus::rank_id size() const noexcept { return 2; }
    std::vector<std::vector<std::byte>> exchange(std::span<std::byte const> mine) {
        std::vector<std::byte> out(4096);
        std::vector<std::byte> in(4096);
        std::size_t length = mine.size();
        std::memcpy(out.data(), &length, sizeof length);
        std::copy(mine.begin(), mine.end(), out.begin() + sizeof length);
        raw_ucx::swap(*host, out, in);
        std::memcpy(&length, in.data(), sizeof length);
        auto const first = in.begin() + sizeof length;
        std::vector<std::byte> const theirs(first, first + static_cast<std::ptrdiff_t>(length));
        std::vector<std::byte> const ours(mine.begin(), mine.end());
        return rank() == 0 ? std::vector{ours, theirs} : std::vector{theirs, ours};
    }
};

template <class Ends>
double half_round_trip(Ends& ends, chorus::rank_id me, std::span<std::byte> buffer, int turns) {
    auto const begin = std::chrono::steady_clock::now();
    for (int i = 0; i < turns; ++i) {
        if (me == 0) ends.send(buffer);
        ends.receive(buffer);
        if (me == 1) ends.send(buffer);
    }
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / turns / 2;
}

double median(std::vector<double>& of) {
    std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
    return of[of.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    int const batches = argc > 1 ? std::atoi(argv[1]) : 41;
    chorus::process_fleet{2}.run([&](shared_memory_transport& host) {
        raw_ucx raw{host};
        host_rendezvous meet{&host};
        chorus::ucx_transport net{meet};
        own_ucx own{net};
        if (net.rank() == 0) std::printf("%s\n%10s %12s %12s %8s\n", net.describe().c_str(), "bytes", "UCX us", "chorus us", "ratio");
        for (std::size_t bytes = 8; bytes <= std::size_t{1} << 20; bytes *= bytes == 8 ? 8 : 2) {
            std::vector<std::byte> buffer(bytes, std::byte{1});
            int const turns = bytes <= 16384 ? 500 : 50;
            std::vector<double> raw_times;
            std::vector<double> own_times;
            for (int b = -2; b < batches; ++b) {
                double const r = half_round_trip(raw, net.rank(), buffer, turns);
                double const o = half_round_trip(own, net.rank(), buffer, turns);
                if (b < 0) continue;
                raw_times.push_back(r);
                own_times.push_back(o);
            }
            if (net.rank() != 0) continue;
            double const r = median(raw_times);
            double const o = median(own_times);
            std::printf("%10zu %12.3f %12.3f %8.3f\n", bytes, r, o, o / r);
            std::fflush(stdout);
        }
        std::_Exit(0);  // UCX's own objects are left as they are
    });
}
