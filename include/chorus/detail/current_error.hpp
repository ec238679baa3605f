// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"

#include <exception>
#include <string>

namespace chorus::detail {

/// The exception that is being handled, as an error: `aborted`, beginning with `title`, unless it is one. To be called from CHORUS_CATCH_ALL alone.
inline error current_error([[maybe_unused]] std::string const& title) {
#if CHORUS_HAS_EXCEPTIONS
    try {
        throw;
    } catch (error const& thrown) {
        return thrown;
    } catch (std::exception const& thrown) {
        return {errc::aborted, title + ": " + thrown.what()};
    } catch (...) {
        return {errc::aborted, title + ": an exception of unknown type"};
    }
#else
    return {errc::aborted, title};
#endif
}

}  // namespace chorus::detail
