// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Little to compile: shows that headers are found and that the language level is right.
#include <chorus/schedule/ring.hpp>
#include <chorus/transport/self.hpp>

int main() { return chorus::self_transport{}.size() == 1 && chorus::ring{} == chorus::ring{} ? 0 : 1; }
