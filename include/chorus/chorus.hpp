// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

// Everything but the transports that need more than the standard library; needs the standard library alone.

#include "chorus/base/random.hpp"
#include "chorus/base/time_limit.hpp"
#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/gather.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/plan.hpp"
#include "chorus/collective/reduce.hpp"
#include "chorus/collective/reduce_scatter.hpp"
#include "chorus/collective/scan.hpp"
#include "chorus/collective/scatter.hpp"
#include "chorus/data/bfloat16.hpp"
#include "chorus/data/half.hpp"
#include "chorus/data/reduction.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/schedule/automatic.hpp"
#include "chorus/schedule/prove.hpp"
#include "chorus/schedule/timeline.hpp"
#include "chorus/topo/layout.hpp"
#include "chorus/transport/any_transport.hpp"
#include "chorus/transport/recording.hpp"
#include "chorus/transport/rendezvous.hpp"
#include "chorus/transport/self.hpp"
#include "chorus/transport/simulated.hpp"
#include "chorus/version.hpp"
