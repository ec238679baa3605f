// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "measure.hpp"
#include "message_bytes.hpp"

namespace bench {

shift_call::shift_call(endpoint& net, call_shape const& shape)
    : net_{net}, shape_{shape}, out_(shape.bytes()), in_(shape.bytes()) {}
shift_call::~shift_call() = default;

void shift_call::run() {
    net_.shift(out_, in_);
}
void shift_call::fill(std::uint64_t call) {
    fill_message(out_, net_.rank(), call);
    clear(in_);
}
std::uint64_t shift_call::count_wrong(std::uint64_t call) {
    std::uint64_t const wrong = count_unlike(in_, (net_.rank() + net_.size() - 1) % net_.size(), call);
    return (wrong + shape_.element->bytes - 1) / shape_.element->bytes;
}
void shift_call::spoil() {
    if (!in_.empty()) in_.front() = ~in_.front();
}

}  // namespace bench
