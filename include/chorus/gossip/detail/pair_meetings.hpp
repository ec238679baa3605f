// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/base/random.hpp"
#include "chorus/detail/under_way.hpp"
#include "chorus/gossip/detail/disagreement.hpp"
#include "chorus/gossip/detail/method_steps.hpp"
#include "chorus/gossip/detail/pair_lines.hpp"
#include "chorus/gossip/detail/pair_model.hpp"
#include "chorus/topo/graph.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::gossip::detail {

/// Meetings in pairs. The asker sends `ask` and its values at once; the asked answers them one after the other, by `answer` and its own values as they were before, or
/// by `busy`, and never waits for anything in order to do so. What it comes to by that is kept as a change until a call of its own. `finished` is sent to all once a rank's last
/// question is closed: who has it of all ranks knows that no more questions come.
template <transport Transport, class Element>
class pair_meetings final : public pair_model, private chorus::detail::under_way_item {
 public:
    static constexpr std::string_view name = "pairwise";

    pair_meetings(group<Transport> const& members, std::span<Element> values, std::vector<rank_id> partners, pairwise_options const& options)
        : members_{members}, group_{members.state()}, net_{&members.net()}, values_{values}, partners_{std::move(partners)}, options_{options},
          deadline_{options.deadline.is_for_ever() ? members.deadline() : options.deadline}, random_{options.seed, members.rank()},
          stream_{counter_random::mix(group_->context ^ counter_random::mix(chorus::detail::next_plan(*net_, *group_) ^ 0xBB67AE8584CAA73Bu))},
          lines_{members, stream_}, is_asking_(members.size()), has_finished_(members.size()) {
        has_finished_[group_->me] = true;
        for (rank_id p = 0; p < members.size(); ++p)
            if (p != group_->me) lines_.listen(p);
        group_->under_way->add(*this);
    }

    pair_meetings(pair_meetings const&) = delete;
    pair_meetings& operator=(pair_meetings const&) = delete;

    ~pair_meetings() override {
        group_->under_way->remove(*this);
        if (!is_over_) leave();
    }

    bool ask(rank_id partner) override {
        expect_usable();
        expects(!is_over_ && !is_closing_, [&] { return title() + " asks after it was finished"; });
        expects(state_ == state::none, [&] { return title() + " asks while its question to rank " + std::to_string(group_->members[partner_]) + " is open"; });
        std::erase_if(partners_, [&](rank_id p) { return lines_.is_lost(p); });
        if (partner == nobody) {
            if (partners_.empty()) return false;
            partner = partners_[static_cast<std::size_t>(random_.below(draws_++, partners_.size()))];
        } else if (!std::binary_search(partners_.begin(), partners_.end(), partner)) {
            expects(partner < members_.size() && lines_.is_lost(partner), [&] { return title() + " asks rank " + std::to_string(partner) + ", which is no partner of it"; });
            return false;
        }
        settle();
        CHORUS_TRY { post_question(partner); }
        CHORUS_CATCH_ALL { fail_with_current_exception(); }
        return true;
    }

    progress advance() noexcept override {
        bool const moved = step(true);
        if (moved) idle_ = 0;
        else if ((++idle_ & 15u) == 0) look_for_lost();
        if (lines_.failure()) return progress::failed;
        if (!moved) group_->under_way->help_all_but(*this, false);
        return state_ == state::none ? progress::done : moved ? progress::moved : progress::idle;
    }

    bool wait_for(time_limit limit) override {
        return go_on([&] { return state_ == state::none; }, limit, [&] { return " has no answer of rank " + std::to_string(group_->members[partner_]); });
    }

    bool finish_for(time_limit limit) override {
        expect_usable();
        if (is_over_) return true;
        if (!wait_for(limit)) return false;
        if (!std::exchange(is_closing_, true))
            for (rank_id p = 0; p < members_.size(); ++p)
                if (p != group_->me && !lines_.is_lost(p)) lines_.say(p, lines::end, notice_kind::finished);
        if (!go_on([&] { return is_all_over(); }, limit, [&] { return awaited(); })) return false;
        is_over_ = true;
        group_->under_way->remove(*this);
        return true;
    }

    double disagreement() override {
        expects(is_over_, [&] { return title() + ": its disagreement is asked for before it was finished"; });
        return disagreement_of(members_, std::span<Element const>{values_});
    }

    pair_counts const& counts() const noexcept override { return counts_; }

 private:
    using clock = std::chrono::steady_clock;
    using lines = pair_lines<Transport>;
    using ticket = typename Transport::ticket;

    enum class state : std::uint8_t { none, asked, coming, answered, refused };  // of the own question

    struct answer {
        byte_buffer memory;
        ticket pending{};
        rank_id to = nobody;  // nobody: free
    };

    bool sends_values() const noexcept { return options_.rule != pair_rule::pull; }
    bool gets_values() const noexcept { return options_.rule != pair_rule::push; }
    message_tag tag(std::uint64_t which) const noexcept { return {counter_random::mix(stream_ + which), static_cast<std::uint32_t>(stream_ >> 32)}; }
    message_tag there() const noexcept { return tag(1); }
    message_tag back() const noexcept { return tag(2); }

    // ---- all that can be done now ----

    /// Values are written where the caller asks for progress, not while something else is waited for. True if anything moved.
    bool step(bool is_own_call) noexcept {
        bool moved = false;
        CHORUS_TRY {
            if (is_over_ || lines_.failure()) return false;
            moved = poll_sends();
            for (rank_id p = 0; p < members_.size(); ++p) moved = hear(p) || moved;
            moved = serve() || moved;
            moved = take_answer() || moved;
            drop_lost();
            if (!is_own_call || lines_.failure()) return moved;
            settle();
            moved = conclude() || moved;
        }
        CHORUS_CATCH_ALL { fail_with_current_exception(); }
        return moved;
    }

    bool help(bool looks) noexcept override {
        if (looks) look_for_lost();
        return step(false);
    }

    bool poll_sends() {
        bool moved = lines_.poll_sends();
        if (is_value_out_ && lines_.look(value_out_, partner_) == progress::done) {
            is_value_out_ = false;
            moved = true;
        }
        for (answer& one : answers_)
            if (one.to != nobody && lines_.look(one.pending, one.to) == progress::done) {
                one.to = nobody;
                moved = true;
            }
        return moved;
    }

    bool hear(rank_id p) {
        auto const said = lines_.hear(p);
        if (!said) return false;
        switch (*said) {
            case notice_kind::ask: is_asking_[p] = true; return true;  // listened to again when it is answered
            case notice_kind::finished:
                has_finished_[p] = true;
                if (state_ == state::asked && p == partner_) lines_.listen(p);  // it still answers
                return true;
            case notice_kind::left: lines_.cut_off(p); return true;
            default: break;
        }
        if (state_ != state::asked || p != partner_) {
            lines_.fail(error{errc::corrupt, "rank " + std::to_string(group_->members[p]) + " answers what it was not asked", group_->members[p]});
            return true;
        }
        if (*said == notice_kind::busy) state_ = state::refused;
        else if (gets_values()) expect_values();
        else state_ = state::answered;
        if (!has_finished_[p]) lines_.listen(p);
        return true;
    }

    // ---- asking ----

    void post_question(rank_id p) {
        partner_ = p;
        state_ = state::asked;
        ++counts_.asked;
        lines_.say(p, lines::question, notice_kind::ask);
        lines_.listen(p);  // also one that has finished
        if (!sends_values()) return;
        sent_.grow(values_.size_bytes());
        if (!values_.empty()) std::memcpy(sent_.data(), values_.data(), values_.size_bytes());
        value_out_ = net_->post_send(group_->members[p], there(), {sent_.data(), values_.size_bytes()});
        is_value_out_ = true;
        counts_.bytes_sent += values_.size_bytes();
    }

    void expect_values() {
        came_.grow(values_.size_bytes());
        value_in_ = net_->post_recv(group_->members[partner_], back(), {came_.data(), values_.size_bytes()});
        state_ = state::coming;
    }

    bool take_answer() {
        if (state_ != state::coming || lines_.look(value_in_, partner_) != progress::done) return false;
        state_ = state::answered;
        return true;
    }

    /// The end of the own question, once all that was sent for it is out.
    bool conclude() {
        if (state_ != state::answered && state_ != state::refused) return false;
        if (is_value_out_ || !lines_.is_out(partner_, lines::question)) return false;
        if (state_ == state::answered) {
            Element const* const theirs = elements(came_);
            Element const* const mine = options_.rule == pair_rule::pull ? values_.data() : elements(sent_);
            if (gets_values())
                for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = narrow<Element>(wide(values_[i]) + 0.5 * (wide(theirs[i]) - wide(mine[i])));
            ++counts_.met;
        } else {
            ++counts_.refused;
        }
        state_ = state::none;
        return true;
    }

    // ---- answering ----

    bool serve() {
        for (bool moved = false;; moved = true) {
            if (serving_ == nobody && !begin_to_serve()) return moved;
            if (sends_values()) {
                progress const now = lines_.look(serve_in_, serving_);
                if (now != progress::done) return moved || now == progress::moved;
            }
            respond(serving_);
            lines_.listen(serving_);
            serving_ = nobody;
        }
    }

    /// In turn, lest anybody waits for ever.
    bool begin_to_serve() {
        for (rank_id k = 1; k <= members_.size(); ++k) {
            rank_id const p = (served_ + k) % members_.size();
            if (!is_asking_[p] || lines_.is_lost(p) || !lines_.is_out(p, lines::reply)) continue;
            is_asking_[p] = false;
            serving_ = served_ = p;
            if (!sends_values()) return true;
            asked_.grow(values_.size_bytes());
            serve_in_ = net_->post_recv(group_->members[p], there(), {asked_.data(), values_.size_bytes()});
            return true;
        }
        return false;
    }

    void respond(rank_id p) {
        if (options_.rule == pair_rule::both && state_ != state::none) {
            if (state_ == state::asked && partner_ == p) {  // each asked the other: both have both values
                std::swap(came_, asked_);
                state_ = state::answered;
                return;
            }
            return lines_.say(p, lines::reply, notice_kind::busy);
        }
        if (gets_values()) send_values(p);
        if (sends_values()) take_change(elements(asked_));
        lines_.say(p, lines::reply, notice_kind::answer);
        ++counts_.answered;
    }

    void send_values(rank_id p) {
        std::size_t free = 0;
        while (free < answers_.size() && answers_[free].to != nobody) ++free;
        if (free == answers_.size()) answers_.emplace_back();
        answer& out = answers_[free];
        out.memory.grow(values_.size_bytes());
        Element* const mine = reinterpret_cast<Element*>(out.memory.data());
        for (std::size_t i = 0; i < values_.size(); ++i) mine[i] = current(i);
        out.pending = net_->post_send(group_->members[p], back(), {out.memory.data(), values_.size_bytes()});
        out.to = p;
        counts_.bytes_sent += values_.size_bytes();
    }

    Element current(std::size_t i) const noexcept { return changes_ == 0 ? values_[i] : narrow<Element>(wide(values_[i]) + change_[i]); }

    /// `both`: half the way to the other. `push`: one more for the mean.
    void take_change(Element const* theirs) {
        change_.resize(values_.size());
        bool const is_first = changes_ == 0;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            double const before = is_first ? 0.0 : change_[i];
            double const more = options_.rule == pair_rule::push ? wide(theirs[i]) : 0.5 * (wide(theirs[i]) - wide(current(i)));
            change_[i] = before + more;
        }
        ++changes_;
    }

    /// Puts what answers have come to into the values.
    void settle() noexcept {
        if (changes_ == 0) return;
        double const share = options_.rule == pair_rule::push ? 1.0 / static_cast<double>(1 + changes_) : 1.0;
        for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = narrow<Element>(share * (wide(values_[i]) + change_[i]));
        changes_ = 0;
    }

    // ---- losing and ending ----

    void look_for_lost() noexcept {
        lines_.look_for_lost();
        drop_lost();
    }

    /// What was under way with ranks that are cut off.
    void drop_lost() noexcept {
        if (serving_ != nobody && lines_.is_lost(serving_)) {
            if (sends_values()) lines_.cancel(serve_in_);
            serving_ = nobody;
        }
        for (answer& one : answers_)
            if (one.to != nobody && lines_.is_lost(one.to)) {
                lines_.cancel(one.pending);
                one.to = nobody;
            }
        if (state_ == state::none || !lines_.is_lost(partner_)) return;
        if (std::exchange(is_value_out_, false)) lines_.cancel(value_out_);
        if (state_ == state::answered || state_ == state::refused) return;
        if (state_ == state::coming) lines_.cancel(value_in_);
        state_ = state::none;
        ++counts_.skipped;
    }

    bool is_all_over() const noexcept {
        for (rank_id p = 0; p < members_.size(); ++p)
            if (!has_finished_[p] && !lines_.is_lost(p)) return false;
        bool const has_answers = std::any_of(answers_.begin(), answers_.end(), [](answer const& one) { return one.to != nobody; });
        return serving_ == nobody && !has_answers && !lines_.has_sends() && changes_ == 0;
    }

    std::string awaited() const {
        std::string text = " awaits the end of";
        for (rank_id p = 0; p < members_.size(); ++p)
            if (!has_finished_[p] && !lines_.is_lost(p)) text += " rank " + std::to_string(group_->members[p]);
        return text;
    }

    /// Tells the others that nothing more comes from here, and forgets what is under way.
    void leave() noexcept {
        CHORUS_TRY {
            for (rank_id p = 0; p < members_.size(); ++p)
                if (!lines_.failure() && p != group_->me && !lines_.is_lost(p) && lines_.is_out(p, lines::end)) lines_.say(p, lines::end, notice_kind::left);
            lines_.poll_sends();
        }
        CHORUS_CATCH_ALL {}
        for (rank_id p = 0; p < members_.size(); ++p) lines_.cut_off(p);
        drop_lost();
    }

    // ---- waiting ----

    template <class Holds, class Why>
    bool go_on(Holds const& holds, time_limit limit, Why const& why) {
        auto const began = clock::now();
        for (std::uint32_t idle = 0;;) {
            bool const moved = step(true);
            if (lines_.failure()) chorus::detail::raise(lines_.failure()->code(), title() + ": " + std::string{lines_.failure()->message()}, lines_.failure()->peer());
            if (holds()) return true;
            bool const helped = !moved && group_->under_way->help_all_but(*this, idle > 64);
            idle = moved || helped ? 0 : idle + 1;
            if (!limit.is_for_ever() && clock::now() >= limit.after(began)) return false;
            if (!deadline_.is_for_ever() && clock::now() >= deadline_.after(began))
                chorus::detail::raise(errc::timed_out, title() + why() + " within " + to_string(deadline_), state_ == state::none ? nobody : group_->members[partner_]);
            if (idle > 32) look_for_lost();
            rest(idle);
        }
    }

    void rest(std::uint32_t idle) noexcept {
        if (idle == 0) return;
        if constexpr (resting_transport<Transport>) net_->rest(idle);
        else if (idle < 200) std::this_thread::yield();
        else std::this_thread::sleep_for(std::chrono::microseconds{50});
    }

    void expect_usable() const {
        group_->expect_usable(name);
        if (lines_.failure()) chorus::detail::raise(*lines_.failure());
    }

    void fail_with_current_exception() noexcept {
#if CHORUS_HAS_EXCEPTIONS
        try {
            throw;
        } catch (error const& thrown) {
            lines_.fail(thrown);
        } catch (std::exception const& thrown) {
            lines_.fail(error{errc::aborted, thrown.what()});
        } catch (...) {
            lines_.fail(error{errc::aborted, "an exception of unknown type"});
        }
#endif
    }

    static Element const* elements(byte_buffer const& memory) noexcept { return reinterpret_cast<Element const*>(memory.data()); }
    std::string title() const { return std::string{name} + " on rank " + std::to_string(group_->members[group_->me]); }

    group<Transport> members_;
    std::shared_ptr<chorus::detail::group_state> group_;
    Transport* net_;
    std::span<Element> values_;
    std::vector<rank_id> partners_;
    pairwise_options options_;
    time_limit deadline_;
    counter_random random_;
    std::uint64_t draws_ = 0;
    std::uint64_t stream_;
    lines lines_;
    pair_counts counts_;

    rank_id partner_ = nobody;
    state state_ = state::none;
    byte_buffer sent_, came_;
    ticket value_out_{}, value_in_{};
    bool is_value_out_ = false;

    std::vector<bool> is_asking_, has_finished_;
    rank_id serving_ = nobody, served_ = 0;
    byte_buffer asked_;
    ticket serve_in_{};
    std::deque<answer> answers_;
    std::vector<double> change_;
    std::uint64_t changes_ = 0;

    std::uint32_t idle_ = 0;
    bool is_closing_ = false, is_over_ = false;
};

/// Whom a rank may ask.
template <topo::graph Graph>
std::vector<rank_id> partners_in(Graph const& graph, askers who, rank_id rank, rank_id size) {
    std::vector<rank_id> partners = graph.at(0, rank, size).to;
    topo::detail::expect_list(partners, Graph::name, 0, rank, size);
    if (who == askers::even_ranks) std::erase_if(partners, [&](rank_id p) { return rank % 2 != 0 || p % 2 == 0; });
    return partners;
}

/// Throws `invalid_argument` unless meetings lead from every rank to every other.
template <topo::graph Graph>
void expect_meeting(Graph const& graph, askers who, rank_id size) {
    expects(graph.period(size) == 1, [&] { return "pairwise over " + std::string{Graph::name} + ": its neighbours change from step to step, and there are no steps"; });
    std::vector<rank_id> group_of(size);
    for (rank_id r = 0; r < size; ++r) group_of[r] = r;
    for (rank_id r = 0; r < size; ++r)
        for (rank_id const p : partners_in(graph, who, r, size)) std::replace(group_of.begin(), group_of.end(), rank_id{group_of[p]}, rank_id{group_of[r]});
    for (rank_id r = 1; r < size; ++r)
        expects(group_of[r] == group_of[0], [&] {
            return "pairwise over " + std::string{Graph::name} + " of " + std::to_string(size) + " ranks: no meetings lead from rank 0 to rank " + std::to_string(r) +
                   (who == askers::even_ranks ? ", where even ranks ask odd ones" : "");
        });
}

template <transport Transport, class Element, topo::graph Graph>
std::unique_ptr<pair_model> meetings_of(group<Transport> const& members, std::span<Element> values, Graph const& graph, pairwise_options const& options) {
    using meetings = pair_meetings<Transport, Element>;
    std::vector<rank_id> partners;
    std::exception_ptr flaw;
    digest all;
    CHORUS_TRY {
        expect_meeting(graph, options.who, members.size());
        partners = partners_in(graph, options.who, members.rank(), members.size());
        all.add(element_name<Element>());
        all.add(values.size());
        all.add(static_cast<std::uint64_t>(options.rule) << 8 | static_cast<std::uint64_t>(options.who));
        for (rank_id r = 0; r < members.size(); ++r) all.add(partners_in(graph, options.who, r, members.size()));
    }
    CHORUS_CATCH_ALL { flaw = std::current_exception(); }
    if (options.is_checked) expect_agreement<meetings>(members, all.value(), flaw);
    else if (flaw) std::rethrow_exception(flaw);
    return std::make_unique<meetings>(members, values, std::move(partners), options);
}

}  // namespace chorus::gossip::detail
