// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/detail/cell_layout.hpp"
#include "chorus/schedule/detail/message_pairs.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace chorus::detail {

/// Rounds that are under way at once must leave one another's blocks alone, since their messages complete in any
/// order; and in one round no message may overwrite what another one brings. Local steps run in round order and so
/// may read what an earlier round received. Where this finds nothing, in_flight changes who waits for whom, but no
/// value.
class hazards {
 public:
    hazards(schedule const& plan, rank_id me, cell_layout const& layout)
        : plan_{plan}, me_{me}, layout_{layout}, uses_(layout.count()) {}

    /// The empty string, or the first hazard.
    std::string find() {
        for (std::uint32_t r = 0; r < plan_.rounds(); ++r) {
            now_ = r + 1;
            for (auto visit :
                 {&hazards::check_send, &hazards::check_receive, &hazards::check_local, &hazards::note_send})
                for (std::uint32_t i = plan_.round_begin(r); i < plan_.round_begin(r + 1); ++i)
                    if (char const* const what = (this->*visit)(plan_.steps()[i]))
                        return place_of(plan_, me_, i) + ": hazard: " + what;
        }
        return {};
    }

 private:
    /// When a cell was last used, as round + 1; 0: never.
    struct last_use {
        std::uint32_t sent = 0;
        std::uint32_t received = 0;
        std::uint32_t reduced = 0;
        std::uint32_t read = 0;     // by a local step
        std::uint32_t written = 0;  // by a local step
    };

    bool is_under_way(std::uint32_t round) const noexcept {
        return round != 0 && round != now_ && now_ - round < plan_.in_flight();
    }
    bool is_being_written(last_use const& use) const noexcept {
        return is_under_way(use.received) || is_under_way(use.reduced) || is_under_way(use.written);
    }

    char const* check_send(step const& s) {
        if (s.kind != step_kind::send) return nullptr;
        cell_range const cells = layout_.of(s.local);
        for (std::size_t c = cells.begin; c < cells.end; ++c)
            if (is_being_written(uses_[c])) return "sends a block that a round still under way writes";
        return nullptr;
    }

    char const* note_send(step const& s) {
        if (s.kind != step_kind::send) return nullptr;
        cell_range const cells = layout_.of(s.local);
        for (std::size_t c = cells.begin; c < cells.end; ++c) uses_[c].sent = now_;
        return nullptr;
    }

    char const* check_receive(step const& s) {
        if (s.kind != step_kind::recv && s.kind != step_kind::recv_reduce) return nullptr;
        bool const reduces = s.kind == step_kind::recv_reduce;
        cell_range const cells = layout_.of(s.local);
        for (std::size_t c = cells.begin; c < cells.end; ++c) {
            last_use& use = uses_[c];
            if (is_under_way(use.sent)) return sent_by_another;
            if (is_being_written(use) || is_under_way(use.read))
                return "writes a block that a round still under way uses";
            if (use.received == now_ || (!reduces && use.reduced == now_))
                return "two messages of one round for a block, of which one overwrites";
            (reduces ? use.reduced : use.received) = now_;
        }
        return nullptr;
    }

    char const* check_local(step const& s) {
        if (!is_local(s.kind)) return nullptr;
        cell_range const read = layout_.of(s.other);
        for (std::size_t c = read.begin; c < read.end; ++c) uses_[c].read = now_;
        cell_range const written = layout_.of(s.local);
        for (std::size_t c = written.begin; c < written.end; ++c) {
            if (is_under_way(uses_[c].sent)) return sent_by_another;
            uses_[c].written = now_;
        }
        return nullptr;
    }

    static constexpr char const* sent_by_another = "writes a block that a send of a round still under way reads";

    schedule const& plan_;
    rank_id me_;
    cell_layout const& layout_;
    std::vector<last_use> uses_;
    std::uint32_t now_ = 0;
};

}  // namespace chorus::detail
