// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/detail/store_protocol.hpp"

#include "chorus/base/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace chorus::detail;

namespace {

using bytes = std::vector<std::byte>;

constexpr std::size_t most = 300;  // allowed payload

// One well-formed frame of each kind, by number.
bytes sample(std::uint64_t kind) {
    nonce const greeted{std::byte{7}};
    switch (static_cast<frame_kind>(kind)) {
        case frame_kind::greeting: return frame_writer{frame_kind::greeting}.put(greeted).finish();
        case frame_kind::join: return join_frame("token", {2, 5, nonce{std::byte{9}}, {}}, greeted);
        case frame_kind::set: return frame_writer{frame_kind::set}.put(3, 2).put("key").put("and its value").finish();
        case frame_kind::share: return frame_writer{frame_kind::share}.put(6, 8).put(2, 4).put("shared").finish();
        case frame_kind::refused:
        case frame_kind::failure:
            return failure_frame(static_cast<frame_kind>(kind), {chorus::errc::peer_lost, "it is gone", 3});
        default: return frame_writer{static_cast<frame_kind>(kind)}.put(4, 8).put("something").finish();
    }
}

// Everything that reads payloads; the sanitizers watch. Says how many of the readers understood it.
unsigned read_all(std::span<std::byte const> payload) {
    unsigned understood = 0;
    understood += read_join(payload) ? 1u : 0u;
    understood += read_set(payload) && read_set(payload)->key.size() <= largest_key ? 1u : 0u;
    understood += read_numbered(payload) ? 1u : 0u;
    understood += read_share(payload) ? 1u : 0u;
    understood += read_failure(payload) && !read_failure(payload)->message().empty() ? 1u : 0u;
    return understood;
}

// What must hold for any input. The input lies at the end of an allocation of exactly its size.
bool is_lawful(bytes const& input) {
    auto const exact = std::make_unique<std::byte[]>(input.size());
    std::copy(input.begin(), input.end(), exact.get());
    std::span<std::byte const> const all{exact.get(), input.size()};
    frame_view const seen = parse_frame(all, most);
    if (seen.state == frame_state::complete) {
        if (seen.bytes > all.size() || seen.payload.size() > most ||
            seen.bytes != frame_header_bytes + seen.payload.size())
            return false;
        if (seen.payload.data() != all.data() + frame_header_bytes ||
            static_cast<std::uint16_t>(seen.kind) >= frame_kinds)
            return false;
        read_all(seen.payload);
        // Nothing behind the frame matters, and nothing less is a frame.
        if (parse_frame(all.first(seen.bytes), most).state != frame_state::complete) return false;
        return parse_frame(all.first(seen.bytes - 1), most).state == frame_state::incomplete;
    }
    if (seen.bytes != 0 || !seen.payload.empty()) return false;
    // A verdict stands, whatever follows; what is incomplete is short.
    if (seen.state == frame_state::incomplete) return all.size() < frame_header_bytes + most;
    bytes longer = input;
    longer.push_back(std::byte{'x'});
    return parse_frame(longer, most).state == seen.state;
}

// A change somewhere: a bit, a byte, a hole, an insertion, a cut, a field of the header, another frame behind it.
void mutate(bytes& frame, chorus::counter_random const& random, std::uint64_t at) {
    auto const place = [&](std::uint64_t k, std::size_t below) {
        return static_cast<std::size_t>(random.below(at + k, below));
    };
    auto const change = [&] { return static_cast<std::byte>(random.bits(at + 3)); };
    if (frame.empty()) return frame.push_back(change());
    switch (random.below(at, 7)) {
        case 0: frame[place(1, frame.size())] ^= std::byte{1} << static_cast<int>(random.below(at + 2, 8)); break;
        case 1: frame[place(1, frame.size())] = change(); break;
        case 2: frame.erase(frame.begin() + static_cast<std::ptrdiff_t>(place(1, frame.size()))); break;
        case 3:
            frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(place(1, frame.size())), place(2, 400), change());
            break;
        case 4: frame.resize(place(1, frame.size())); break;
        case 5: frame[(std::min)(4 + place(1, 8), frame.size() - 1)] = change(); break;
        default: {
            bytes const more = sample(random.below(at + 1, frame_kinds));
            frame.insert(frame.end(), more.begin(), more.end());
        }
    }
}

}  // namespace

TEST_CASE("what is written is read, whole, in pieces and one after the other") {
    for (std::uint64_t kind = 0; kind < frame_kinds; ++kind) {
        CAPTURE(kind);
        bytes two = sample(kind);
        std::size_t const first = two.size();
        bytes const second = sample((kind + 1) % frame_kinds);
        two.insert(two.end(), second.begin(), second.end());
        for (std::size_t n = 0; n <= two.size(); ++n) {
            frame_view const seen = parse_frame(std::span{two}.first(n), most);
            CHECK(seen.state == (n < first ? frame_state::incomplete : frame_state::complete));
        }
        frame_view const seen = parse_frame(two, most);
        CHECK(seen.bytes == first);
        CHECK(static_cast<std::uint64_t>(seen.kind) == kind);
        CHECK(seen.version == store_version);
        CHECK(parse_frame(std::span{two}.subspan(first), most).bytes == second.size());
    }
}

TEST_CASE("payloads come back") {
    bytes const join = sample(static_cast<std::uint64_t>(frame_kind::join));
    auto const asked = read_join(parse_frame(join, most).payload);
    REQUIRE(asked);
    CHECK(asked->rank == 2);
    CHECK(asked->size == 5);
    CHECK(is_same(asked->proof, proof_of("token", "join", *asked, nonce{std::byte{7}}, store_version)));
    bytes const set = sample(static_cast<std::uint64_t>(frame_kind::set));
    auto const pair = read_set(parse_frame(set, most).payload);
    REQUIRE(pair);
    CHECK(pair->key == "key");
    CHECK(pair->value.size() == 13);
    bytes const share = sample(static_cast<std::uint64_t>(frame_kind::share));
    auto const part = read_share(parse_frame(share, most).payload);
    REQUIRE(part);
    CHECK(part->round == 6);
    CHECK(part->rank == 2);
    CHECK(part->bytes.size() == 6);
    bytes const failure = sample(static_cast<std::uint64_t>(frame_kind::failure));
    auto const why = read_failure(parse_frame(failure, most).payload);
    REQUIRE(why);
    CHECK(why->code() == chorus::errc::peer_lost);
    CHECK(why->peer() == 3);
    CHECK(why->message() == "it is gone");
}

TEST_CASE("a proof depends on the token, the role, the nonces, the rank, the size and the version") {
    join_request const asked{2, 5, nonce{std::byte{9}}, {}};
    nonce const greeted{std::byte{7}};
    digest const proof = proof_of("token", "join", asked, greeted, 1);
    CHECK(is_same(proof, proof_of("token", "join", asked, greeted, 1)));
    CHECK(!is_same(proof, proof_of("Token", "join", asked, greeted, 1)));
    CHECK(!is_same(proof, proof_of("", "join", asked, greeted, 1)));
    CHECK(!is_same(proof, proof_of("token", "accept", asked, greeted, 1)));
    CHECK(!is_same(proof, proof_of("token", "join", asked, nonce{}, 1)));
    CHECK(!is_same(proof, proof_of("token", "join", asked, greeted, 2)));
    CHECK(!is_same(proof, proof_of("token", "join", {3, 5, asked.own, {}}, greeted, 1)));
    CHECK(!is_same(proof, proof_of("token", "join", {2, 6, asked.own, {}}, greeted, 1)));
    CHECK(!is_same(proof, proof_of("token", "join", {2, 5, nonce{}, {}}, greeted, 1)));
}

TEST_CASE("a length beyond what is allowed is told from the header alone; a wrong first byte at once") {
    bytes frame = frame_writer{frame_kind::contribution}.put(bytes(most + 1)).finish();
    frame.resize(frame_header_bytes);
    CHECK(parse_frame(frame, most).state == frame_state::oversize);
    CHECK(parse_frame(frame, most + 1).state == frame_state::incomplete);
    for (int first = 0; first < 256; ++first) {
        bytes const one{static_cast<std::byte>(first)};
        CHECK(parse_frame(one, most).state == (first == 'C' ? frame_state::incomplete : frame_state::foreign));
    }
}

TEST_CASE("fuzz: 150000 mutated frames and random bytes") {
    std::uint64_t lawful = 0;
    std::uint64_t complete = 0;
    constexpr std::uint64_t inputs = 150000;
    for (std::uint64_t i = 0; i < inputs; ++i) {
        chorus::counter_random const random{20260, i};
        bytes input;
        if (i % 4 == 0) {  // random bytes, half of them behind a good beginning
            if (i % 8 == 0) input = sample(random.below(0, frame_kinds)), input.resize(4 + random.below(1, 9));
            for (std::uint64_t n = random.below(2, 400), k = 0; k < n; ++k)
                input.push_back(static_cast<std::byte>(random.bits(10 + k)));
        } else {
            input = sample(random.below(0, frame_kinds));
            for (std::uint64_t n = random.below(1, 4), k = 0; k <= n; ++k) mutate(input, random, 10 + 4 * k);
        }
        bool const holds = is_lawful(input);
        if (!holds) FAIL_CHECK("input " << i);
        lawful += holds ? 1u : 0u;
        complete += parse_frame(input, most).state == frame_state::complete ? 1u : 0u;
    }
    CHECK(lawful == inputs);
    CHECK(complete > inputs / 20);  // the readers of payloads were fed, too
    CHECK(complete < inputs);
}
