// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/topo/layout.hpp"
#include "chorus/transport/hierarchical.hpp"
#include "chorus/transport/thread.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace suites {

/// Ranks as threads of this process, made to sit on hosts by a layout: those of a host have one thread transport, all
/// have another one, or whatever else runs ranks as threads.
template <class Between = chorus::thread_fleet>
class hierarchical_fleet {
 public:
    explicit hierarchical_fleet(chorus::topo::layout places)
        : places_{std::move(places)}, between_{places_.size()} {}
    hierarchical_fleet(chorus::topo::layout places, Between between)
        : places_{std::move(places)}, between_{std::move(between)} {}

    chorus::rank_id size() const noexcept { return places_.size(); }

    /// Calls body(net) once per rank, net being a hierarchical_transport; ends as the fleet between hosts does.
    template <class Body>
    void run(Body const& body) const {
        std::vector<std::shared_ptr<chorus::detail::thread_world>> hosts;
        for (chorus::rank_id const ranks : places_.sizes())
            hosts.push_back(std::make_shared<chorus::detail::thread_world>(ranks));
        between_.run([&](auto& between) {
            chorus::rank_id const me = between.rank();
            chorus::thread_transport inside{hosts[places_.host_of(me)], places_.local_rank(me)};
            chorus::hierarchical_transport net{inside, between, places_};
            body(net);
        });
    }

 private:
    chorus::topo::layout places_;
    Between between_;
};
hierarchical_fleet(chorus::topo::layout) -> hierarchical_fleet<chorus::thread_fleet>;

/// 2+2, 2+3, 3+1, dealt out, one each, all on one.
inline std::vector<chorus::topo::layout> placements_on_hosts() {
    using chorus::topo::layout;
    return {layout::blocks(4, 2),         layout{0, 0, 1, 1, 1},     layout{0, 0, 0, 1},
            layout::round_robin(4, 2),    layout::round_robin(5, 3), layout::blocks(3, 1),
            layout::blocks(3, 3),         layout{0, 1, 2, 2, 2}};
}

}  // namespace suites
