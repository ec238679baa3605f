// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
//
// torch.distributed over chorus: init_process_group("chorus"). See __init__.py for what Python sees.
#include "backend.hpp"
#include "tensors.hpp"

#include <chorus/chorus.hpp>
#include <chorus/compress/compressors.hpp>
#include <chorus/sync/policies.hpp>
#include <chorus/sync/synchroniser.hpp>

#include <pybind11/chrono.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace torch_chorus {

using at::Tensor;
using tensors = std::vector<Tensor>;
using ranks = chorus::group<chorus::any_transport>;
using work = c10::intrusive_ptr<c10d::Work>;

class process_group final : public c10d::ProcessGroup {
 public:
    process_group(c10::intrusive_ptr<c10d::Store> store, int rank, int size, std::chrono::milliseconds limit)
        : ProcessGroup{rank, size}, store_{std::move(store)}, meet_{*store_, static_cast<chorus::rank_id>(rank), static_cast<chorus::rank_id>(size)},
          net_{open_network(meet_)}, world_{ranks{net_}.within(limit)} {}

    ~process_group() override {
        std::optional<pybind11::gil_scoped_release> others_run;  // callbacks of what is queued may need it
        if (PyGILState_Check() != 0) others_run.emplace();
        worker_.reset();
    }

    std::string const getBackendName() const override { return "chorus"; }
    void setSequenceNumberForGroup() override {}

    work allreduce(tensors& list, c10d::AllreduceOptions const& o) override {
        Tensor const t = only(list);
        c10d::ReduceOp::RedOpType const op = o.reduceOp;
        return add(c10d::OpType::ALLREDUCE, list, [=, this] { reduce_all(t, op); });
    }

    /// As `allreduce` by SUM, each message compressed as the text says. `slot` tells buckets of one size apart: each has its own residual.
    work allreduce_carried(Tensor const& t, std::string const& compressor, std::int64_t slot) {
        TORCH_CHECK(expect_dense(t).scalar_type() == at::kFloat, "chorus: compressors carry float, not ", t.toString());
        return add(c10d::OpType::ALLREDUCE, {t}, [=, this] {
            auto& plan = planned({compressor, t.numel(), slot}, [&] {
                chorus::plan_options options;
                options.carried_by = chorus::compression{chorus::compressor_named(compressor)};
                return chorus::plan_all_reduce(world_, values_of<float>(t), chorus::sum{}, chorus::automatic{}, options);
            });
            plan.rebind(t.data_ptr());
            plan.run();
        });
    }

    work broadcast(tensors& list, c10d::BroadcastOptions const& o) override {
        Tensor const t = only(list);
        auto const root = static_cast<chorus::rank_id>(o.rootRank);
        return add(c10d::OpType::BROADCAST, list, [=, this] { chorus::broadcast(world_, bytes_of(t), root); });
    }

    work reduce(tensors& list, c10d::ReduceOptions const& o) override {
        Tensor const t = only(list);
        auto const root = static_cast<chorus::rank_id>(o.rootRank);
        c10d::ReduceOp::RedOpType const op = o.reduceOp;
        return add(c10d::OpType::REDUCE, list, [=, this] {
            with_reduction(t.scalar_type(), op, [&]<class T>(T, auto by) { chorus::reduce(world_, values_of<T>(t), root, by); });
        });
    }

    work _allgather_base(Tensor& out, Tensor& in, c10d::AllgatherOptions const&) override {
        return add(c10d::OpType::_ALLGATHER_BASE, {out}, [to = expect_dense(out), from = expect_dense(in), this] { chorus::all_gather(world_, bytes_of(from), bytes_of(to)); });
    }

    work allgather(std::vector<tensors>& outs, tensors& ins, c10d::AllgatherOptions const&) override {
        TORCH_CHECK(outs.size() == 1 && outs[0].size() == world_.size(), "chorus: all-gather needs a list of ", world_.size(), " tensors");
        return add(c10d::OpType::ALLGATHER, outs[0], [to = outs[0], from = only(ins), this] {
            Tensor const all = at::empty({getSize(), from.numel()}, from.options());
            chorus::all_gather(world_, bytes_of(from), bytes_of(all));
            put_rows(all, to);
        });
    }

    work gather(std::vector<tensors>& outs, tensors& ins, c10d::GatherOptions const& o) override {
        auto const root = static_cast<chorus::rank_id>(o.rootRank);
        tensors const to = outs.empty() ? tensors{} : outs[0];
        return add(c10d::OpType::GATHER, to, [=, from = only(ins), this] {
            bool const is_root = world_.rank() == root;
            Tensor const all = at::empty({is_root ? getSize() : 0, from.numel()}, from.options());
            chorus::gather(world_, bytes_of(from), bytes_of(all), root);
            if (is_root) put_rows(all, to);
        });
    }

    work scatter(tensors& outs, std::vector<tensors>& ins, c10d::ScatterOptions const& o) override {
        auto const root = static_cast<chorus::rank_id>(o.rootRank);
        tensors const from = ins.empty() ? tensors{} : ins[0];
        return add(c10d::OpType::SCATTER, outs, [=, to = only(outs), this] {
            Tensor const all = world_.rank() == root ? at::stack(from).contiguous() : at::empty({0}, to.options());
            chorus::scatter(world_, bytes_of(all), bytes_of(to), root);
        });
    }

    work _reduce_scatter_base(Tensor& out, Tensor& in, c10d::ReduceScatterOptions const& o) override {
        return add_reduce_scatter({out}, expect_dense(out), expect_dense(in), o.reduceOp);
    }
    work reduce_scatter(tensors& outs, std::vector<tensors>& ins, c10d::ReduceScatterOptions const& o) override {
        TORCH_CHECK(ins.size() == 1 && ins[0].size() == world_.size(), "chorus: reduce-scatter needs a list of ", world_.size(), " tensors");
        return add_reduce_scatter(outs, only(outs), at::stack(ins[0]).contiguous(), o.reduceOp);
    }

    work alltoall_base(Tensor& out, Tensor& in, std::vector<std::int64_t>& to_counts, std::vector<std::int64_t>& from_counts, c10d::AllToAllOptions const&) override {
        auto const in_bytes = [this](Tensor const& t, std::vector<std::int64_t> rows) {
            if (rows.empty()) rows.assign(world_.size(), t.size(0) / getSize());
            std::uint64_t const row = t.size(0) == 0 ? 0 : t.nbytes() / static_cast<std::size_t>(t.size(0));
            std::vector<std::uint64_t> bytes;
            for (std::int64_t const each : rows) bytes.push_back(static_cast<std::uint64_t>(each) * row);
            return bytes;
        };
        return add(c10d::OpType::ALLTOALL_BASE, {out}, [to = expect_dense(out), from = expect_dense(in), sent = in_bytes(in, from_counts), got = in_bytes(out, to_counts), this] {
            chorus::all_to_all_v(world_, bytes_of(from), sent, bytes_of(to), got);
        });
    }

    work barrier(c10d::BarrierOptions const&) override {
        return add(c10d::OpType::BARRIER, {}, [this] { chorus::barrier(world_); });
    }

    /// Divide-and-shuffle and its relatives: averages what it was made for, by the policy, once for each `step`.
    std::function<work()> parameter_sync(tensors const& list, std::string const& policy) {
        std::vector<std::span<float>> spans;
        for (Tensor const& t : list) {
            TORCH_CHECK(expect_dense(t).scalar_type() == at::kFloat, "chorus: parameters of float are averaged, not ", t.toString());
            spans.push_back(values_of<float>(t));
        }
        auto const made = std::make_shared<chorus::synchroniser<chorus::any_transport, chorus::any_policy>>(world_.duplicate(++synchronisers_), spans, chorus::policy_named(policy));
        return [=, this] { return add(c10d::OpType::ALLREDUCE, list, [made] { made->step(); }); };
    }

 private:
    using plan_key = std::tuple<std::string, std::int64_t, std::int64_t>;

    work add(c10d::OpType type, tensors results, std::function<void()> body) { return worker_->add(type, std::move(results), std::move(body)); }

    /// Plans are kept: the gradients of every step have the same sizes. Keys are the same on all ranks, so they are made together.
    template <class Make>
    chorus::plan& planned(plan_key const& key, Make const& make) {
        auto found = plans_.find(key);
        if (found == plans_.end()) found = plans_.emplace(key, make()).first;
        return found->second;
    }

    void reduce_all(Tensor const& t, c10d::ReduceOp::RedOpType op) {
        with_reduction(t.scalar_type(), op, [&]<class T>(T, auto by) {
            auto& plan = planned({std::string{by.name} + c10::toString(t.scalar_type()), t.numel(), -1}, [&] { return chorus::plan_all_reduce(world_, values_of<T>(t), by); });
            plan.rebind(t.data_ptr());
            plan.run();
        });
    }

    work add_reduce_scatter(tensors const& results, Tensor const& to, Tensor const& from, c10d::ReduceOp::RedOpType op) {
        return add(c10d::OpType::REDUCE_SCATTER, results, [=, this] {
            with_reduction(to.scalar_type(), op, [&]<class T>(T, auto by) { chorus::reduce_scatter(world_, values_of<T>(from), values_of<T>(to), by); });
        });
    }

    static void put_rows(Tensor const& all, tensors const& to) {
        for (std::size_t r = 0; r < to.size(); ++r) to[r].copy_(all[static_cast<std::int64_t>(r)].view(to[r].sizes()));
    }

    c10::intrusive_ptr<c10d::Store> store_;
    store_rendezvous meet_;
    chorus::any_transport net_;
    ranks world_;
    std::map<plan_key, chorus::plan> plans_;
    std::uint64_t synchronisers_ = 0;
    std::unique_ptr<worker> worker_ = std::make_unique<worker>();  // touches all of the above
};

}  // namespace torch_chorus

PYBIND11_MODULE(_torch_chorus, module) {
    namespace py = pybind11;
    using torch_chorus::process_group;
    using released = py::call_guard<py::gil_scoped_release>;
    py::module_::import("torch.distributed");
    py::class_<process_group, c10d::ProcessGroup, c10::intrusive_ptr<process_group>>(module, "ProcessGroup")
        .def("allreduce_carried", &process_group::allreduce_carried, released{})
        .def("parameter_sync", &process_group::parameter_sync, py::keep_alive<0, 1>{});
    module.def("make", [](c10::intrusive_ptr<c10d::Store> const& store, int rank, int size, std::chrono::milliseconds limit) {
        return c10::make_intrusive<process_group>(store, rank, size, limit);
    }, released{});
    module.def("expect_compressor", [](std::string const& text) { chorus::compressor_named(text); });
}
