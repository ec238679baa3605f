// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/state_image.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

/// One compressor for each tensor of a model, under the name that the caller gives it, never under an address: a residual follows
/// its tensor wherever the elements lie, across checkpoints too. A tensor without a name has a number: std::to_string of it will do.
///
/// Each begins as a copy of the prototype when its name first appears, which allocates; references stay valid until `erase`, `clear` or
/// `restore`. Ranks that give names in another order still have equal states.
template <compressor Compressor>
    requires std::copyable<Compressor>
class compressor_set {
 public:
    explicit compressor_set(Compressor prototype) : prototype_{std::move(prototype)} {}

    Compressor& operator[](std::string_view tensor) {
        auto const found = members_.find(tensor);
        return found != members_.end() ? found->second : members_.emplace(tensor, prototype_).first->second;
    }
    bool contains(std::string_view tensor) const { return members_.find(tensor) != members_.end(); }
    std::size_t size() const noexcept { return members_.size(); }
    void erase(std::string_view tensor) {
        if (auto const found = members_.find(tensor); found != members_.end()) members_.erase(found);
    }
    void clear() noexcept { members_.clear(); }

    /// Names and states of all, in the order of the names.
    std::vector<std::byte> save() const {
        std::size_t bytes = detail::state_seal_bytes + 8;
        for (auto const& [tensor, member] : members_) bytes += 16 + tensor.size() + detail::inner_state_bytes(member);
        std::vector<std::byte> saved(bytes);
        detail::state_writer writer{saved, bytes, seal()};
        writer.number(members_.size());
        for (auto const& [tensor, member] : members_) {
            std::size_t const state = detail::inner_state_bytes(member);
            writer.number(tensor.size());
            writer.number(state);
            writer.bytes(std::as_bytes(std::span{tensor}));
            std::span<std::byte> const room = writer.room(state);
            if constexpr (stateful_compressor<Compressor>) member.save_state(room);
        }
        writer.finish();
        return saved;
    }

    /// Afterwards there are exactly the tensors that were saved. Raises `corrupt` for what `save` did not write around compressors with
    /// these parameters; all is then as before.
    void restore(std::span<std::byte const> saved) {
        std::string const name = seal();
        detail::state_reader reader{saved, name};
        std::map<std::string, Compressor, std::less<>> restored;
        for (auto left = reader.number(); left > 0; --left) {
            auto const characters = reader.number(), state = reader.number();
            auto const text = reader.bytes(characters);
            std::string tensor(text.size(), '\0');
            detail::load_words(tensor.data(), text.data(), text.size());
            auto const made = restored.emplace(std::move(tensor), prototype_);
            reader.expect(made.second, [&] { return "it has two of the name " + made.first->first; });
            auto const own = reader.bytes(state);
            if constexpr (stateful_compressor<Compressor>) made.first->second.restore_state(own);
            else reader.expect(own.empty(), [&] { return "it has a state for " + made.first->first; });
        }
        reader.finish();
        members_.swap(restored);
    }

 private:
    static std::string seal() { return "compressor_set<" + std::string{Compressor::name} + ">"; }

    Compressor prototype_;
    std::map<std::string, Compressor, std::less<>> members_;
};

}  // namespace chorus
