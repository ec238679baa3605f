// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/detail/state_image.hpp"
#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/qsgd.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/sync/any_policy.hpp"
#include "chorus/sync/divide_and_shuffle.hpp"
#include "chorus/sync/every_step.hpp"
#include "chorus/sync/grid_groups.hpp"
#include "chorus/sync/growing_steps.hpp"
#include "chorus/sync/keep_progress.hpp"
#include "chorus/sync/synchroniser.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::any_compressor;
using chorus::any_policy;
using chorus::errc;
using chorus::rank_id;
using chorus::step_id;
using chorus::synchroniser_options;

namespace {

using net = suites::turn_taking_transport;
using bytes = std::vector<std::byte>;
using model = std::vector<float>;
using compressed_sync = chorus::synchroniser<net, any_policy, chorus::keep_progress, float>;

void on_ranks(rank_id p, char const* what, std::function<void(suites::rank_of<net>&)> const& law) {
    suites::hold(what, [](rank_id size) { return suites::simulated_fleet{size}; }, p, law);
}

any_compressor few_largest() { return chorus::error_feedback{chorus::top_k{0.25}}; }

struct setting {
    any_policy who = chorus::every_step{};
    any_compressor carried = few_largest();
    synchroniser_options options{};
};

/// Two tensors of a model of `count` floats.
compressed_sync made(suites::rank_of<net>& rank, model& w, setting const& s) {
    std::span const all{w};
    return {chorus::group{rank.net()}, std::vector{all.first(w.size() / 4), all.subspan(w.size() / 4)}, s.who, s.carried, {}, s.options};
}

void train(compressed_sync& sync, model& w, rank_id me, step_id begin, step_id end) {
    for (step_id t = begin; t < end; ++t) {
        for (std::size_t i = 0; i < w.size(); ++i) w[i] = 0.75f * w[i] + static_cast<float>(chorus::counter_random{me + std::uint64_t{1}, t}.unit(i));
        sync.step();
    }
}

/// The same bytes with another word and a checksum that fits it.
bytes forged(bytes saved, std::size_t word, std::uint64_t value) {
    std::size_t const at = 16 + 8 * word;
    std::memcpy(saved.data() + at, &value, (std::min)(std::size_t{8}, saved.size() - at));
    std::uint64_t const sum = chorus::detail::checksum(std::span<std::byte const>{saved}.subspan(16));
    std::memcpy(saved.data() + 8, &sum, 8);
    return saved;
}

}  // namespace

TEST_CASE("residuals and random choices go on as if never stopped, to the bit, in groups that change, late, and in the same synchroniser taken back") {
    suites::watchdog const guard{60};
    std::vector<setting> const settings{
        {},
        {chorus::grid_groups{}, few_largest(), {.bucket_bytes = 0}},
        {chorus::divide_and_shuffle{.cycle = 5}, few_largest(), {.delay = 2}},
        {chorus::every_step{}, chorus::qsgd{}, {.delay = 1, .warm_up = 3}},
        {chorus::grid_groups{}, few_largest(), {.delay = 1, .joins = true}},
        {chorus::growing_steps{}, few_largest(), {.delay = 1}},
    };
    for (rank_id p : {1u, 2u, 3u, 4u, 6u})
        on_ranks(p, "carried", [&](auto& rank) {
            for (std::size_t k = 0; k < settings.size(); ++k) {
                model whole(48), first(48);
                compressed_sync never_stopped = made(rank, whole, settings[k]), stopped = made(rank, first, settings[k]);
                train(never_stopped, whole, rank.me(), 0, 12);
                train(stopped, first, rank.me(), 0, 7);
                bytes const saved = stopped.save();
                model second = first, at_seven = first;
                compressed_sync goes_on = made(rank, second, settings[k]);
                goes_on.restore(saved);
                rank.check(goes_on.save() == saved, "restored and saved gives other bytes");
                train(goes_on, second, rank.me(), 7, 12);
                train(stopped, first, rank.me(), 7, 10);
                stopped.restore(saved);
                first = at_seven;
                train(stopped, first, rank.me(), 7, 12);
                for (compressed_sync* sync : {&never_stopped, &goes_on, &stopped}) sync->drain();
                rank.check(whole == second, "not the same bits, setting " + std::to_string(k));
                rank.check(whole == first, "not the same bits once taken back, setting " + std::to_string(k));
            }
        });
}

TEST_CASE("bytes that were cut, changed, or of another synchroniser are refused with what differs, and change nothing") {
    suites::watchdog const guard{60};
    on_ranks(2, "refused", [](auto& rank) {
        setting const plain{chorus::every_step{}, few_largest(), {.delay = 1}};
        model w(24);
        compressed_sync sync = made(rank, w, plain);
        train(sync, w, rank.me(), 0, 3);
        bytes const saved = sync.save();
        auto const refuses = [&](std::initializer_list<std::string_view> words, bytes const& other) {
            suites::expect_error(rank, errc::corrupt, words, [&] { sync.restore(other); });
            rank.check(sync.save() == saved, "a refused state has changed something");
        };
        for (std::size_t many = 0; many < saved.size(); many += many < 40 ? 1 : 97) refuses({"synchroniser cannot restore"}, bytes(saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(many)));
        for (std::size_t at = 0; at < saved.size(); at += at < 40 ? 1 : 53) {
            bytes changed = saved;
            changed[at] ^= std::byte{4};
            refuses({"synchroniser cannot restore"}, changed);
        }
        refuses({"its version is 7, expected 1"}, forged(saved, 0, 7));
        bytes longer = saved;
        longer.resize(longer.size() + 8);
        refuses({"checksum"}, longer);
        refuses({"it is too long"}, forged(longer, 0, 1));

        auto const from = [&](setting const& s, std::size_t count) {
            model v(count);
            return made(rank, v, s).save();
        };
        refuses({"another policy: grid_groups, this one has every_step"}, from({chorus::grid_groups{}, few_largest(), {.delay = 1}}, 24));
        refuses({"another delay: 2, this one has 1"}, from({chorus::every_step{}, few_largest(), {.delay = 2}}, 24));
        refuses({"another compressor: qsgd"}, from({chorus::every_step{}, chorus::qsgd{}, {.delay = 1}}, 24));
        refuses({"another warm-up"}, from({chorus::every_step{}, few_largest(), {.delay = 1, .warm_up = 1}}, 24));
        refuses({"another bucket size"}, from({chorus::every_step{}, few_largest(), {.delay = 1, .bucket_bytes = 0}}, 24));
        refuses({"another joining: active, this one has none"}, from({chorus::every_step{}, few_largest(), {.delay = 1, .joins = true}}, 24));
        refuses({"another model: 2 tensors, 25 elements"}, from(plain, 25));
        refuses({"something else wrote it"}, std::move(chorus::detail::growing_state{"weight_average"}).finished());
    });
}

TEST_CASE("a forged state of a right checksum is refused or taken, and is nothing worse") {
    suites::watchdog const guard{60};
    on_ranks(2, "forged", [](auto& rank) {
        setting const plain{chorus::grid_groups{}, few_largest(), {.delay = 2}};
        model w(24);
        compressed_sync sync = made(rank, w, plain);
        train(sync, w, rank.me(), 0, 3);
        bytes saved = sync.save();
        std::size_t refused = 0;
        for (std::size_t word = 0; 16 + 8 * word < saved.size(); ++word)
            for (std::uint64_t value : {std::uint64_t{0}, std::uint64_t{3}, ~std::uint64_t{0}, std::uint64_t{1} << 61}) {
                auto const thrown = suites::error_of([&] { sync.restore(forged(saved, word, value)); });
                rank.check(!thrown || thrown->code() == errc::corrupt, thrown ? thrown->what() : "");
                refused += thrown ? 1u : 0u;
                if (!thrown) sync.restore(saved);
                rank.check(sync.save() == saved, "word " + std::to_string(word));
            }
        rank.check(refused > 20, "too few were refused");
    });
}

TEST_CASE("a state belongs to a rank and to a number of ranks, and is not asked for within a step") {
    bytes of_rank_0;
    on_ranks(2, "rank 0", [&](auto& rank) {
        model w(8);
        compressed_sync sync = made(rank, w, {});
        if (rank.me() == 0) of_rank_0 = sync.save();
        sync.ready(0);
        suites::expect_error(rank, errc::invalid_argument, {"step 0", "saved while it is open"}, [&] { static_cast<void>(sync.save()); });
        suites::expect_error(rank, errc::invalid_argument, {"restored while it is open"}, [&] { sync.restore({}); });
        sync.finish();
    });
    on_ranks(3, "another rank", [&](auto& rank) {
        model w(8);
        compressed_sync sync = made(rank, w, {});
        suites::expect_error(rank, errc::corrupt, {"another rank: 0 of 2, this one has " + std::to_string(rank.me()) + " of 3"}, [&] { sync.restore(of_rank_0); });
    });
}
