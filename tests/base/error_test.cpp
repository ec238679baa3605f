// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/base/error.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

using namespace chorus;

static_assert(std::is_base_of_v<std::runtime_error, error> && std::is_nothrow_copy_constructible_v<error>);

namespace {

constexpr errc all_codes[] = {errc::invalid_argument, errc::mismatch,       errc::timed_out, errc::peer_lost,
                              errc::aborted,          errc::poisoned,       errc::concurrent_use, errc::too_large,
                              errc::unsupported,      errc::system_failed,    errc::forked,     errc::corrupt};

void ignore(error const&) {}

}  // namespace

TEST_CASE("every code has its own text") {
    std::set<std::string_view> texts;
    for (errc code : all_codes) texts.insert(to_string(code));
    CHECK(texts.size() == std::size(all_codes));
    CHECK(texts.count("unknown") == 0);
    CHECK(to_string(static_cast<errc>(200)) == "unknown");
}

TEST_CASE("an error keeps its code, its peer and its message") {
    for (errc code : all_codes) {
        error const failure{code, "rank 3 left", 3};
        CHECK(failure.code() == code);
        CHECK(failure.peer() == 3);
        CHECK(failure.message() == "rank 3 left");
        CHECK(std::string{failure.what()} == std::string{to_string(code)} + ": rank 3 left");
    }
    CHECK(error{errc::aborted, ""}.peer() == nobody);
    CHECK(error{errc::aborted, ""}.message().empty());
}

TEST_CASE("raise throws what it is given") {
    try {
        detail::raise(errc::timed_out, "after 2 s", 7);
        FAIL("raise returned");
    } catch (error const& failure) {
        CHECK(failure.code() == errc::timed_out);
        CHECK(failure.peer() == 7);
        CHECK(failure.message() == "after 2 s");
    }
    CHECK_THROWS_AS(detail::raise(error{errc::mismatch, "x"}), error);
}

TEST_CASE("the failure handler is replaced and handed back") {
    failure_handler const before = set_failure_handler(&ignore);
    bool const was_other = before != &ignore;
    bool const was_mine = set_failure_handler(before) == &ignore;
    bool const was_restored = set_failure_handler(before) == before;
    CHECK(was_other);
    CHECK(was_mine);
    CHECK(was_restored);
}
