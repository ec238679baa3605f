// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstddef>
#include <memory>

namespace cuda_on_cpu {

/// A function on a stack of its own, of one operating-system thread: runs from resume() to its next suspend().
class fiber {
 public:
    fiber();
    fiber(fiber const&) = delete;
    fiber& operator=(fiber const&) = delete;
    ~fiber();

    /// Begins anew with `entry`, which must never return; what was suspended before is forgotten.
    void start(void (*entry)());
    void resume();
    void suspend();

 private:
    struct parts;
    static void begin_inside();

    std::unique_ptr<parts> parts_;
};

}  // namespace cuda_on_cpu
