# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""Trains the digits with DistributedDataParallel over two backends that take turns, step by step, in one run.

Prints both loss curves, the times of a step, and what compressed gradients and averaged parameters come to. Ends with 1 if the curves differ by more than
rounding or an accuracy is below its floor; times are printed and not judged. Started once per rank, with torchrun's variables:

    torchrun --nproc_per_node 2 train_digits.py --data ../data/digits.csv
"""
import argparse
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import torch_chorus


def read(path):
    """Pictures of 64 numbers from 0 to 16 with their digit: a quarter of them to test with."""
    rows = torch.tensor([[float(each) for each in line.split(",")] for line in open(path)])
    rows = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(7))]
    pixels, labels = rows[:, :64] / 16, rows[:, 64].long()
    cut = len(rows) // 4
    return (pixels[cut:], labels[cut:]), (pixels[:cut], labels[:cut])


def new_model(hidden):
    torch.manual_seed(1)  # the same weights on all ranks, for all backends
    return torch.nn.Sequential(torch.nn.Linear(64, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 10))


class Trainer:
    def __init__(self, model, averaging=None):
        self.model, self.averaging = model, averaging
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        self.seconds = []

    def step(self, pixels, labels):
        began = time.perf_counter()
        loss = torch.nn.functional.cross_entropy(self.model(pixels), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if self.averaging:
            self.averaging.step()
        self.seconds.append(time.perf_counter() - began)
        return loss.item()

    def accuracy(self, test):
        with torch.no_grad():
            return 100 * (self.model(test[0]).argmax(1) == test[1]).float().mean().item()


def my_batches(train, epochs, batch, rank, size):
    for epoch in range(epochs):
        order = torch.randperm(len(train[0]), generator=torch.Generator().manual_seed(epoch))
        for first in range(0, len(order) - batch + 1, batch):
            mine = order[first:first + batch][rank::size]
            yield epoch, train[0][mine], train[1][mine]


def curves_of(trainers, train, options):
    """The mean loss of every epoch, over all ranks, for each trainer; they take turns."""
    sums = torch.zeros(len(trainers), options.epochs)
    for epoch, pixels, labels in my_batches(train, options.epochs, options.batch, dist.get_rank(), dist.get_world_size()):
        for i, each in enumerate(trainers):
            sums[i, epoch] += each.step(pixels, labels)
    dist.all_reduce(sums)
    return sums / (len(train[0]) // options.batch) / dist.get_world_size()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="digits.csv")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=64, help="pictures of all ranks together")
    parser.add_argument("--hidden", type=int, default=128, help="neurons of a layer")
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("chorus")
    gloo = dist.new_group(backend="gloo")
    train, test = read(options.data)
    failures = []

    both = [Trainer(DistributedDataParallel(new_model(options.hidden), process_group=group)) for group in (None, gloo)]
    chorus_curve, gloo_curve = curves_of(both, train, options)
    compressed = Trainer(DistributedDataParallel(new_model(options.hidden)))
    torch_chorus.compress(compressed.model, "error_feedback(top_k(ratio=0.05))")
    replicas = DistributedDataParallel(new_model(options.hidden))
    averaged = Trainer(replicas, torch_chorus.Averaging(replicas, "divide_and_shuffle(groups=2)" if dist.get_world_size() > 2 else "local_steps(period=4)"))
    curves_of([compressed, averaged], train, options)

    if dist.get_rank() == 0:
        print("epoch   chorus     gloo")
        for epoch, (ours, theirs) in enumerate(zip(chorus_curve, gloo_curve)):
            print(f"{epoch:5}  {ours:.5f}  {theirs:.5f}")
        medians = [statistics.median(each.seconds) * 1e6 for each in both]
        print(f"median step: chorus {medians[0]:.0f} us, gloo {medians[1]:.0f} us, ratio {medians[0] / medians[1]:.2f}")
    if not torch.allclose(chorus_curve, gloo_curve, rtol=1e-3, atol=1e-4):
        failures.append("the loss curves differ by more than rounding")
    for name, each, floor in (("chorus", both[0], 95), ("compressed", compressed, 93), ("averaged parameters", averaged, 93)):
        accuracy = each.accuracy(test)
        if dist.get_rank() == 0:
            print(f"{name}: accuracy {accuracy:.1f} %")
        if accuracy < floor:
            failures.append(f"rank {dist.get_rank()}: {name} reaches {accuracy:.1f} %, less than {floor} %")
    print(*failures, sep="\n", end="\n" if failures else "", file=sys.stderr)
    dist.barrier()
    dist.destroy_process_group()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
