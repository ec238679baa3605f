// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include <chorus/transport/ucx.hpp>

int main() { return ucp_get_version_string() && sizeof(chorus::ucx_transport) > 0 ? 0 : 1; }
