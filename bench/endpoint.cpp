// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "endpoint.hpp"

#include <chorus/base/error.hpp>

#include <fstream>
#include <functional>

namespace bench {

std::unique_ptr<measured_call> endpoint::native(call_shape const& shape) {
    throw chorus::error{chorus::errc::unsupported, "no " + std::string{chorus::to_string(shape.what)} +
                                                       " of its own to compare with: " + describe()};
}

void endpoint::find_out_about_clocks() {
    std::ifstream file{"/proc/sys/kernel/random/boot_id"};
    std::string boot;
    std::getline(file, boot);
    auto const mine = static_cast<std::int64_t>(std::hash<std::string>{}(boot) >> 2);
    std::int64_t bounds[] = {mine, -mine};
    agree(*this, bounds, operation::maximum);
    shares_clock_ = !boot.empty() && bounds[0] == -bounds[1];
}

void agree(endpoint& net, std::span<std::int64_t> values, operation op) {
    call_shape const shape{.ranks = net.size(), .op = op, .element = &element_named("int64"), .count = values.size(),
                           .in_place = true};
    auto const memory = std::as_writable_bytes(values);
    net.make_plan(shape, memory, memory, "automatic").run();
}

std::string algorithm_of(chorus::plan const& made) {
    std::string const text = made.describe();
    auto const by = text.find(" by ");
    auto const end = text.find(" on rank ", by);
    return by == std::string::npos || end == std::string::npos ? text : text.substr(by + 4, end - by - 4);
}

}  // namespace bench
