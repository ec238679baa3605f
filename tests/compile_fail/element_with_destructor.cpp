// expect: elements must be trivially copyable
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
// Elements travel as bytes: what owns memory is no element.
#include <chorus/collective/broadcast.hpp>
#include <chorus/transport/self.hpp>

#include <string>
#include <vector>

#ifdef CONTROL
using element = long;
#else
using element = std::string;
#endif

void share(chorus::group<chorus::self_transport>& world, std::vector<element>& v) { chorus::broadcast(world, v, 0); }
