// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/observe/observer_list.hpp"

#include "chorus/chorus.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

class note_taker final : public chorus::observer {
 public:
    note_taker(std::string& notes, char name) : notes_{&notes}, name_{name} {}
    void started(chorus::operation_record const& record, chorus::rank_id me, chorus::rank_id size) noexcept override {
        *notes_ += name_ + ("+" + std::to_string(record.run)) + '/' + std::to_string(me) + '/' + std::to_string(size) + ' ';
    }
    void ended(chorus::operation_record const& record, chorus::operation_state, std::uint64_t) noexcept override {
        *notes_ += name_ + ("-" + std::to_string(record.run)) + ' ';
    }

 private:
    std::string* notes_;
    char name_;
};

}  // namespace

TEST_CASE("all are told everything, in their order") {
    std::string notes;
    note_taker first{notes, 'a'};
    note_taker second{notes, 'b'};
    chorus::observer_list both{&first, &second};
    chorus::observer_list nobody{};
    chorus::observer_list outer{&both, &nobody};
    chorus::self_transport net;
    chorus::group const world = chorus::group{net}.observed_by(outer);
    chorus::plan nothing = chorus::plan_barrier(world);
    nothing.run();
    nothing.run();
    CHECK(notes == "a+1/0/1 b+1/0/1 a-1 b-1 a+2/0/1 b+2/0/1 a-2 b-2 ");
}
