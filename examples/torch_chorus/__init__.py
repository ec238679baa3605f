# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""chorus as a backend of torch.distributed.

    import torch_chorus
    torch.distributed.init_process_group("chorus")
    model = DistributedDataParallel(model)

    torch_chorus.compress(model, "error_feedback(top_k(ratio=0.01))")        # gradients travel compressed, or
    sync = torch_chorus.Averaging(model, "divide_and_shuffle(groups=2)")     # parameters are averaged instead of gradients:
    optimizer.step(); sync.step()                                            # after each step of the optimiser
"""
import torch
import torch.distributed as dist

from . import _torch_chorus

dist.Backend.register_backend("chorus", lambda store, rank, size, timeout: _torch_chorus.make(store, rank, size, timeout))


def _group(group):
    """The process group of chorus behind a handle; None: the default one."""
    found = group or dist.distributed_c10d._get_default_group()
    if not isinstance(found, _torch_chorus.ProcessGroup):
        raise ValueError(f'torch_chorus: the group\'s backend is "{dist.get_backend(group)}", not "chorus"')
    return found


def compress(model, compressor, group=None):
    """Gradients of a DistributedDataParallel model travel as `compressor` (a text of chorus::compressor_named) makes them."""
    _torch_chorus.expect_compressor(compressor)
    pg = _group(group)
    size = dist.get_world_size(group)

    def hook(_, bucket):
        future = pg.allreduce_carried(bucket.buffer(), compressor, bucket.index()).get_future()
        return future.then(lambda done: done.value()[0].div_(size))

    model.register_comm_hook(None, hook)


class Averaging:
    """Each rank takes its own gradients' step; then `step` averages the parameters by `policy` (a text of chorus::policy_named)."""

    def __init__(self, model, policy, group=None):
        model.register_comm_hook(None, self._leave)
        self._parameters = [p.detach() for p in model.parameters()]  # the same memory
        self._start = _group(group).parameter_sync(self._parameters, policy)

    @staticmethod
    def _leave(_, bucket):
        done = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    def step(self):
        self._start().wait()
