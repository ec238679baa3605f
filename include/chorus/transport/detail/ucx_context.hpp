// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/base/time_limit.hpp"
#include "chorus/base/types.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

namespace chorus {

/// What UCX is told. An environment variable UCX_… of the same setting wins over it.
struct ucx_options {
    std::string transports{};  ///< UCX_TLS: "tcp", "posix,cma,self", …; empty: UCX chooses
    std::string devices{};     ///< UCX_NET_DEVICES: "eth0", "mlx5_0:1", …; empty: all
    /// A peer whose connection is silent is asked for a sign of life after half of this, and lost after all of it (TCP keep-alive).
    std::chrono::seconds silence{6};
    time_limit connect_within = std::chrono::seconds{30};
    rank_id connect_all_up_to = 256;  ///< with more ranks, connections are made when they are first used
    /// Any other settings, by UCX's names without the prefix: {"RNDV_THRESH", "32K"}.
    std::vector<std::pair<std::string, std::string>> settings{};
};

namespace detail {

[[noreturn]] inline void raise_ucx(std::string const& what, ucs_status_t status, rank_id peer = nobody) {
    raise(errc::system_failed, what + ": UCX says \"" + ucs_status_string(status) + '"', peer);
}

inline void expect_ucx(ucs_status_t status, char const* what) {
    if (status != UCS_OK) raise_ucx(what, status);
}

/// UCX sets up tables of the process at the first calls; threads that make contexts at the same time take turns.
inline std::mutex& ucx_setup_mutex() {
    static std::mutex mutex;
    return mutex;
}

/// What one of UCX's print functions prints.
template <class Print>
std::string printed_by(Print const& print) {
    char* text = nullptr;
    std::size_t length = 0;
    std::FILE* const stream = ::open_memstream(&text, &length);
    if (stream == nullptr) return {};
    print(stream);
    std::fclose(stream);
    std::string const result(text, length);
    std::free(text);
    return result;
}

/// UCX's settings for one context.
class ucx_settings {
 public:
    ucx_settings() {
        if (ucs_status_t const status = ::ucp_config_read(nullptr, nullptr, &config_); status != UCS_OK)
            raise_ucx("reading the UCX_ environment", status);
    }
    ~ucx_settings() { ::ucp_config_release(config_); }
    ucx_settings(ucx_settings const&) = delete;
    ucx_settings& operator=(ucx_settings const&) = delete;

    ucp_config_t* get() const noexcept { return config_; }

    /// `table`: the part of the variable's name that UCX wants left out before version 1.14, as "TCP_".
    void set(std::string const& table, std::string const& name, std::string const& value) {
        if (std::getenv(("UCX_" + table + name).c_str()) != nullptr) return;
        bool const wants_table = version() >= UCP_VERSION(1, 14);
        std::string const key = wants_table ? table + name : name;
        if (ucs_status_t const status = ::ucp_config_modify(config_, key.c_str(), value.c_str()); status != UCS_OK)
            raise(errc::invalid_argument, "UCX " + std::string{::ucp_get_version_string()} + " does not take the setting " + key +
                                              " = \"" + value + "\": " + ucs_status_string(status));
    }

 private:
    static unsigned version() {
        unsigned major = 0;
        unsigned minor = 0;
        unsigned release = 0;
        ::ucp_get_version(&major, &minor, &release);
        return UCP_VERSION(major, minor);
    }

    ucp_config_t* config_ = nullptr;
};

/// UCX's context: what the process may use, and the memory that is registered with it. Shared by a wire and its pins.
class ucx_context {
 public:
    explicit ucx_context(ucx_options const& options) : owner_{::getpid()} {
        std::lock_guard const hold{ucx_setup_mutex()};
        open(options, "");
        std::string const resources = printed_by([&](std::FILE* to) { ::ucp_context_print_info(handle_, to); });
        ::ucp_cleanup(handle_);
        open(options, resources);  // again, now that it is known which settings there are: UCX prints a warning about others
    }
    ~ucx_context() {
        if (owner_ == ::getpid()) ::ucp_cleanup(handle_);
    }
    ucx_context(ucx_context const&) = delete;
    ucx_context& operator=(ucx_context const&) = delete;

    ucp_context_h get() const noexcept { return handle_; }
    pid_t owner() const noexcept { return owner_; }

 private:
    void open(ucx_options const& options, std::string_view resources) {
        ucx_settings settings;
        if (!options.transports.empty()) settings.set("", "TLS", options.transports);
        if (!options.devices.empty()) settings.set("", "NET_DEVICES", options.devices);
        settings.set("", "KEEPALIVE_INTERVAL", std::to_string(options.silence.count() / 2 + 1) + "s");
        for (auto const& [name, value] : options.settings) settings.set("", name, value);
        auto const has = [&](char const* resource) { return resources.find(resource) != std::string_view::npos; };
        // Without these two, endpoints that notice the end of a peer may not use shared memory.
        if (has("posix/") || has("sysv/")) settings.set("", "MM_ERROR_HANDLING", "y");
        if (has("cma/")) settings.set("CMA_", "MEMORY_INVALIDATE", "y");
        if (has("tcp/")) {
            settings.set("", "RNDV_SEND_NBR_THRESH", "inf");   // bulk goes at once: see ucx_wire::note_route
            settings.set("TCP_", "TX_SEG_SIZE", "64K");        // in pieces of this, instead of 8K
            settings.set("TCP_", "RX_SEG_SIZE", "128K");
            auto const probe = std::to_string((options.silence.count() + 5) / 6) + "s";
            settings.set("TCP_", "KEEPIDLE", std::to_string((options.silence.count() + 1) / 2) + "s");
            settings.set("TCP_", "KEEPINTVL", probe);
            settings.set("TCP_", "KEEPCNT", "3");
        }
        ucp_params_t wanted{};
        wanted.field_mask = UCP_PARAM_FIELD_FEATURES;
        wanted.features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
        expect_ucx(::ucp_init(&wanted, settings.get(), &handle_), "opening UCX");
    }

    ucp_context_h handle_ = nullptr;
    pid_t owner_;
};

/// Memory registered with a context, found again by address. One thread at a time.
class ucx_registrations {
 public:
    explicit ucx_registrations(ucx_options const& options) : context{options} {}

    ucx_context context;

    /// Of memory that contains `bytes`, or nullptr.
    ucp_mem_h find(void const* at, std::size_t bytes) const noexcept {
        auto const begin = reinterpret_cast<std::uintptr_t>(at);
        for (entry const& known : entries_)
            if (begin >= known.begin && begin + bytes <= known.end) return known.handle;
        return nullptr;
    }

    /// nullptr if the system does not permit it: then UCX does without.
    ucp_mem_h add(std::span<std::byte> memory) {
        ucp_mem_map_params_t wanted{};
        wanted.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
        wanted.address = memory.data();
        wanted.length = memory.size();
        ucp_mem_h handle = nullptr;
        entries_.reserve(entries_.size() + 1);
        if (::ucp_mem_map(context.get(), &wanted, &handle) != UCS_OK) return nullptr;
        auto const begin = reinterpret_cast<std::uintptr_t>(memory.data());
        entries_.push_back({begin, begin + memory.size(), handle});
        ++made_;
        return handle;
    }

    void remove(ucp_mem_h handle) noexcept {
        if (context.owner() == ::getpid()) ::ucp_mem_unmap(context.get(), handle);
        std::erase_if(entries_, [&](entry const& known) { return known.handle == handle; });
    }

    std::uint64_t made() const noexcept { return made_; }

 private:
    struct entry {
        std::uintptr_t begin;
        std::uintptr_t end;
        ucp_mem_h handle;
    };
    std::vector<entry> entries_;
    std::uint64_t made_ = 0;
};

/// UCX's worker: the endpoint of this rank, used by one thread at a time.
class ucx_worker {
 public:
    explicit ucx_worker(ucx_context const& context) : owner_{context.owner()} {
        std::lock_guard const hold{ucx_setup_mutex()};
        ucp_worker_params_t wanted{};
        wanted.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_EVENTS | UCP_WORKER_PARAM_FIELD_FLAGS;
        wanted.thread_mode = UCS_THREAD_MODE_SINGLE;
        wanted.events = UCP_WAKEUP_RX | UCP_WAKEUP_TX;
        wanted.flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK;  // of transfers to a peer that ended
        expect_ucx(::ucp_worker_create(context.get(), &wanted, &handle_), "making a UCX worker");
    }
    ~ucx_worker() {
        if (owner_ != ::getpid()) return;
        std::lock_guard const hold{ucx_setup_mutex()};
        ::ucp_worker_destroy(handle_);
    }
    ucx_worker(ucx_worker const&) = delete;
    ucx_worker& operator=(ucx_worker const&) = delete;

    ucp_worker_h get() const noexcept { return handle_; }

    std::vector<std::byte> address() const {
        ucp_address_t* text = nullptr;
        std::size_t length = 0;
        expect_ucx(::ucp_worker_get_address(handle_, &text, &length), "asking for the UCX worker's address");
        auto const* const first = reinterpret_cast<std::byte const*>(text);
        std::vector<std::byte> result(first, first + length);
        ::ucp_worker_release_address(handle_, text);
        return result;
    }

 private:
    ucp_worker_h handle_ = nullptr;
    pid_t owner_;
};

}  // namespace detail
}  // namespace chorus
