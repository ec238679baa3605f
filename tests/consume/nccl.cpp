// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include <chorus/version.hpp>

#include <nccl.h>

int main() {
    int version = 0;
    return ncclGetVersion(&version) == ncclSuccess && version > 0 ? 0 : 1;  // needs no device
}
