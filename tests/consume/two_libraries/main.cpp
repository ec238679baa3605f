// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// One program, two shared libraries that include chorus: ranks of one fleet meet though half of them run the other library's code.
#include <atomic>
#include <cstdio>

extern "C" {
int sum_by_one(void* net, int mine);
int sum_by_two(void* net, int mine);
void throw_by_one();
void throw_by_two();
bool catches_one(void (*thrower)());
bool catches_two(void (*thrower)());
void run_by_one(unsigned ranks, void (*body)(void*, unsigned));
void run_by_two(unsigned ranks, void (*body)(void*, unsigned));
}

static std::atomic<int> right{0};

static int expect(bool fact, char const* text) {
    if (!fact) std::puts(text);
    return fact ? 0 : 1;
}

int main() {
    auto const body = [](void* net, unsigned rank) {
        int const mine = static_cast<int>(rank) + 1;
        if ((rank % 2 ? sum_by_one : sum_by_two)(net, mine) == 1 + 2 + 3 + 4) ++right;
    };
    run_by_one(4, body);
    run_by_two(4, body);
    return expect(right == 8, "the sum is wrong") + expect(catches_one(throw_by_two), "one does not catch what two throws") +
           expect(catches_two(throw_by_one), "two does not catch what one throws");
}
