// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/collective_kind.hpp"
#include "chorus/base/error.hpp"
#include "chorus/base/time_limit.hpp"
#include "chorus/base/types.hpp"

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// A transport moves bytes between the ranks 0 … size() - 1 and knows nothing of elements or collectives.
///
/// Matching: a receive from `peer` with `tag.stream` takes the earliest message that `peer` posted to this rank on that stream and that no
/// earlier receive took. Its length must equal the receive's; otherwise, or if the fingerprints differ, the receive fails.
/// Buffers belong to the caller and must stay in place and (receives: untouched, sends: unwritten) until `poll` says done or failed.
/// Zero bytes and peer == rank() are allowed. `post_send` and `post_recv` never block; a `ticket` is a small movable value,
/// and poll(ticket) after `done` says `done` again. `poll` makes progress on what is asked and may make progress on more.
/// One thread at a time uses an endpoint, unless the transport says otherwise.
template <class T> concept transport =
    requires(T& net, T const& known, typename T::ticket& pending, rank_id peer, message_tag tag,
             std::span<std::byte const> out, std::span<std::byte> in) {
        { known.rank() } noexcept -> std::same_as<rank_id>;
        { known.size() } noexcept -> std::same_as<rank_id>;
        { net.post_send(peer, tag, out) } -> std::same_as<typename T::ticket>;
        { net.post_recv(peer, tag, in) } -> std::same_as<typename T::ticket>;
        { net.poll(pending) } noexcept -> std::same_as<progress>;
    } && std::movable<typename T::ticket> && std::default_initializable<typename T::ticket>;

/// A reduction over bytes as a transport sees it: out = left ⊕ right for `count` elements; out may be the same memory as either.
/// `apply` may be called for consecutive parts of a message, each a whole number of elements.
struct byte_reduction {
    using function = void (*)(std::byte* out, std::byte const* left, std::byte const* right, std::size_t count,
                              void const* op);
    function apply = nullptr;
    void const* op = nullptr;
    std::size_t element_bytes = 1;
};

/// Where an arriving message is to be combined: out = message ⊕ mine (arriving_left) or mine ⊕ message. out == mine is allowed.
struct reduce_target {
    std::byte* out = nullptr;
    std::byte const* mine = nullptr;
    std::size_t bytes = 0;
    bool arriving_left = false;
    byte_reduction const* reduction = nullptr;  ///< outlives the receive

    void combine(std::size_t at, std::byte const* arrived, std::size_t part) const {
        std::size_t const count = part / reduction->element_bytes;
        if (arriving_left) reduction->apply(out + at, arrived, mine + at, count, reduction->op);
        else reduction->apply(out + at, mine + at, arrived, count, reduction->op);
    }
};

/// Reduces straight out of the peer's memory or its own receive slots, without a bounce copy.
template <class T> concept reducing_transport =
    transport<T> && requires(T& net, rank_id peer, message_tag tag, reduce_target const& into) {
        { net.post_recv_reduce(peer, tag, into) } -> std::same_as<typename T::ticket>;
    };

/// Sends in another way when told that the rank does nothing else until the message is out, and how long its elements are.
template <class T> concept pushing_transport =
    transport<T> && requires(T& net, rank_id peer, message_tag tag, std::span<std::byte const> out, std::uint64_t element_bytes) {
        { net.post_push(peer, tag, out, element_bytes) } -> std::same_as<typename T::ticket>;
    };

/// Can wake and fail everybody: after `abort` every pending and later poll, on every rank that can be told, says `failed` within a second.
/// `abort` may be called from any thread. The first call wins; its reason is kept.
template <class T> concept aborting_transport =
    transport<T> && requires(T& net, errc code, rank_id blamed, std::string_view why) {
        { net.abort(code, blamed, why) } noexcept;
        { net.is_aborted() } noexcept -> std::same_as<bool>;
    };

/// Says why a poll failed: the error that `wait` will throw.
template <class T> concept explaining_transport = transport<T> && requires(T const& net) {
    { net.failure() } -> std::same_as<error>;
};

/// Knows how to wait: `rest(n)` is called after the n-th poll in a row that found nothing; it may spin, yield or sleep until something may
/// have arrived, but for at most a few milliseconds, so that deadlines and lost peers are noticed.
template <class T> concept resting_transport = transport<T> && requires(T& net, std::uint32_t idle_polls) {
    { net.rest(idle_polls) } noexcept;
};

/// How far the operation that a rank shows has come.
enum class operation_state : std::uint32_t { nothing, running, done, failed };

/// What a rank is doing, in a form that fits one cache line pair and can be read by a peer at any time.
struct operation_record {
    std::uint64_t sequence = 0;   ///< how many plans were made before on this group
    std::uint64_t count = 0;      ///< elements
    std::uint64_t stream = 0;
    std::uint64_t ordinal = 0;    ///< from `count_plan`: equal stream and ordinal mean the same call; 0: not known
    std::uint32_t fingerprint = 0;
    rank_id root = nobody;
    std::uint32_t run = 0;        ///< how often this plan was started, this time included
    operation_state state = operation_state::nothing;
    std::uint32_t round = 0;      ///< the first that is not complete, from 1; as of the last look at the clock
    rank_id awaited = nobody;     ///< world rank, as of the last look at the clock
    std::uint32_t rounds = 0;     ///< of one run
    std::uint32_t group = 0;      ///< equal in all plans of one group, on all its members
    std::array<char, 16> operation{};  ///< texts, cut to fit, ended by 0
    std::array<char, 24> algorithm{};
    std::array<char, 24> element{};    ///< element and reduction, "float sum"
};

/// "all_reduce #3 of 1024 float sum by ring", for messages.
inline std::string describe(operation_record const& record) {
    if (record.operation[0] == '\0') return "nothing yet";
    std::string text = std::string{record.operation.data()} + " #" + std::to_string(record.sequence) + " of " +
                       std::to_string(record.count) + ' ' + record.element.data();
    if (record.root != nobody) text += " root " + std::to_string(record.root);
    if (record.algorithm[0] != '\0') text += std::string{" by "} + record.algorithm.data();
    return text;
}

/// Can forget a pending operation: afterwards its buffer is not touched any more. Peers learn nothing of it.
template <class T> concept cancelling_transport = transport<T> && requires(T& net, typename T::ticket& pending) {
    { net.cancel(pending) } noexcept;
};

/// Notices that two threads use it at once: `try_enter` says false while another thread is inside.
template <class T> concept guarded_transport = transport<T> && requires(T& net) {
    { net.try_enter() } noexcept -> std::same_as<bool>;
    { net.leave() } noexcept;
};

/// Lets ranks look at one another's current operation, for errors and reports that show both views.
template <class T> concept announcing_transport = transport<T> && requires(T& net, T const& known, rank_id peer,
                                                                           operation_record const& record) {
    { net.announce(record) } noexcept;
    { known.view_of(peer) } -> std::same_as<operation_record>;
};

/// Keeps what the others see of an operation up to date between announcements. `show` replaces the record, nothing else.
/// `show_end` stores how the operation ended, unless another one is shown by now; it must cost no more than a few stores.
template <class T> concept following_transport = announcing_transport<T> && requires(T& net, operation_record const& record) {
    { net.show(record) } noexcept;
    { net.show_end(record) } noexcept;
};

/// Can ask all peers for the records that they show now, without blocking; answers come in while this rank polls.
/// Where records are read straight from memory there is nothing to ask, and a view is always to be had.
template <class T> concept surveying_transport = announcing_transport<T> && requires(T& net, rank_id peer) {
    { net.ask_views() } noexcept;
    { net.has_view_of(peer) } noexcept -> std::same_as<bool>;  ///< one that is newer than the last question
    { net.has_lost(peer) } noexcept -> std::same_as<bool>;     ///< it ended, left, or did not survive a recovery
};

/// Counts the plans that this rank ever made in a context, whichever group object they were made through: 1, 2, …,
/// or 0 if it did not keep count. Ranks make the plans of a context in the same order: equal numbers, same call.
template <class T> concept counting_transport = transport<T> && requires(T& net, std::uint64_t context) {
    { net.count_plan(context) } -> std::same_as<std::uint64_t>;
};

/// Can register memory with the network, which spares messages from and into it the registration each time. What `pin` returns keeps the
/// registration for as long as it lives; an empty one does nothing. Memory that the system does not permit to register is moved all the same.
template <class T> concept registering_transport = transport<T> && requires(T& net, std::span<std::byte> memory) {
    typename T::pin_type;
    { net.pin(memory) } -> std::same_as<typename T::pin_type>;
} && std::movable<typename T::pin_type> && std::default_initializable<typename T::pin_type>;

/// Can go on without the ranks that were lost. After a failure every rank that lives calls `recover`, a collective among the living: what was under way
/// is forgotten, and the survivors, the same list on all of them in ascending order, come back; from then on the transport works between them as
/// before and holds the others for lost. A rank that does not call within `limit` is left behind; its own call then throws peer_lost.
/// Tickets must be cancelled before. `recoveries()` counts.
template <class T> concept recovering_transport = transport<T> && requires(T& net, T const& known, time_limit limit) {
    { net.recover(limit) } -> std::same_as<std::vector<rank_id>>;
    { known.recoveries() } noexcept -> std::same_as<std::uint64_t>;
};

/// One collective for the library that a transport stands on. Whole vectors have `count` elements; where `has_block_per_rank` says so,
/// rank r's block has counts[r], and what all_to_all sends to rank r has sent_counts[r].
struct native_call {
    collective what = collective::barrier;
    std::string_view element{};                ///< of a reduction, as `element_name` says
    std::string_view reduction{};              ///< name of a built-in operation; "user"; empty: none
    std::size_t element_bytes = 1;
    std::uint64_t count = 0;
    std::vector<std::uint64_t> counts{};
    std::vector<std::uint64_t> sent_counts{};
    bool is_even = false;                      ///< all blocks have one length, and every rank knows
    rank_id root = nobody;                     ///< in the group
    rank_id me = 0;                            ///< in the group
    std::vector<rank_id> members{};            ///< group rank -> rank of the transport
    std::byte const* input = nullptr;          ///< null: this rank gives nothing
    std::byte* output = nullptr;               ///< of the result; null: this rank gets nothing
};

/// Offers collectives of its library's own. `make_native` throws `unsupported`, naming what is missing, for what the library cannot do. `has_met` says
/// whether these ranks have made one before; if not, making one waits for them all, for ever, and chorus sees to it beforehand that they come. `start` and `poll` do not block. `failed`: the transport was aborted, or the library failed, and `why` says how.
/// `give_up`, before the operation's end: whether nobody touches the buffers any more; false: the library may, until it ends.
template <class T> concept native_transport =
    transport<T> && requires(T& net, native_call const& asked, typename T::native_operation& made) {
        { net.make_native(asked) } -> std::same_as<typename T::native_operation>;
        { net.has_met(std::span<rank_id const>{asked.members}) } -> std::same_as<bool>;
        { made.start() } noexcept;
        { made.poll() } noexcept -> std::same_as<progress>;
        { made.give_up() } noexcept -> std::same_as<bool>;
        { made.why() } -> std::same_as<std::string>;
    } && std::movable<typename T::native_operation> && std::default_initializable<typename T::native_operation>;

/// Says in one word what kind of transport it is, by which tables of algorithms know it: "thread", "shm", "mpi". It must be the same on all ranks.
template <class T> concept named_transport = transport<T> && requires(T const& known) {
    { known.kind() } noexcept -> std::convertible_to<std::string_view>;
};

/// The kind of a transport; empty for one that does not say.
template <transport Transport>
constexpr std::string_view kind_of(Transport const& net) noexcept {
    if constexpr (named_transport<Transport>) return net.kind();
    else return {};
}

/// Knows how many cores its ranks, all of one host, have together; 0: it does not know. It must be the same on all ranks.
template <class T> concept core_counting_transport = transport<T> && requires(T const& known) {
    { known.cores() } noexcept -> std::same_as<rank_id>;
};

/// The cores that `members` of a transport's ranks take turns on while the others are at work as well; 0: each has one of its own, or it is not known.
template <transport Transport>
constexpr rank_id shared_cores(Transport const& net, rank_id members) noexcept {
    if constexpr (core_counting_transport<Transport>) {
        if (net.cores() == 0 || net.cores() >= net.size()) return 0;
        std::uint64_t const share = std::uint64_t{net.cores()} * members / net.size();
        return share < 1 ? 1 : static_cast<rank_id>(share);
    } else {
        return 0;
    }
}

}  // namespace chorus
