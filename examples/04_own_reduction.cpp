// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Any associative function is a reduction, on any trivially copyable type.

#include <chorus/chorus.hpp>
#include <chorus/transport/thread.hpp>

#include <stdexcept>
#include <vector>

// [peak]
struct peak {
    float value;
    int where;
};

peak larger(peak a, peak b) { return a.value < b.value ? b : a; }

void find_peaks(chorus::transport auto& net, std::vector<peak>& v) {
    chorus::group world{net};
    auto in_rank_order = v;
    chorus::all_reduce(world, in_rank_order, [](peak a, peak b) { return larger(a, b); });

    // A promise that the order of ranks does not matter: more algorithms can be used.
    chorus::all_reduce(world, v, chorus::commutative{[](peak a, peak b) { return larger(a, b); }}, chorus::ring{});

    for (std::size_t i = 0; i < v.size(); ++i)
        if (v[i].where != in_rank_order[i].where) throw std::runtime_error{"the two differ"};
}
// […]

int main() {
    chorus::thread_fleet{5}.run([](chorus::thread_transport& net) {
        int const me = static_cast<int>(net.rank());
        std::vector<peak> v(10);
        for (int i = 0; i < 10; ++i) v[static_cast<std::size_t>(i)] = {static_cast<float>((me + i) % 5), me};

        find_peaks(net, v);
        for (int i = 0; i < 10; ++i) {
            peak const found = v[static_cast<std::size_t>(i)];
            if (found.value != 4 || (found.where + i) % 5 != 4) throw std::runtime_error{"not the peak"};
        }
    });
}
