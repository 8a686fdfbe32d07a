#!/usr/bin/env python3
"""Compares Trainscope's training steps on the CPU with PyTorch's: milliseconds a step, and their ratio.

    ./run bench steps                                       # builds it
    /somewhere/bin/pip install torch==2.11.0
    /somewhere/bin/python tests/bench/vs_torch.py build/trainscope_bench [--threads 2] [--rounds 3]

Both take turns, so that what else the machine does falls on both; of all rounds the least median counts. Ends
with 1 if a step is slower than PyTorch's. The steps are those of tests/bench/step_bench.cpp, matched by name.
"""

import argparse
import re
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

WARM_UP = 5
STEPS = 60


def mlp(inputs, hidden):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                         nn.Linear(hidden, 10))


def cnn():
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(32 * 7 * 7, 10))


CASES = {
    "mlp-64-256-256-10": (lambda: mlp(64, 256), (64, 64)),
    "mlp-784-1024-1024-10": (lambda: mlp(784, 1024), (128, 784)),
    "cnn-28x28-16-32": (cnn, (64, 1, 28, 28)),
}


def torch_step(make, shape):
    """The median of a step's milliseconds: forward, backward, AdamW."""
    model, x = make(), torch.rand(shape) * 2 - 1
    targets = torch.arange(shape[0]) % 10
    optimizer = torch.optim.AdamW(model.parameters())
    took = []
    for _ in range(WARM_UP + STEPS):
        start = time.perf_counter()
        optimizer.zero_grad()
        F.cross_entropy(model(x), targets).backward()
        optimizer.step()
        took.append((time.perf_counter() - start) * 1e3)
    return statistics.median(took[WARM_UP:])


def our_steps(binary, threads):
    """The same by name, as the benchmark prints them."""
    printed = subprocess.run([binary, "steps"], check=True, capture_output=True, text=True).stdout
    line = re.compile(rf"^ +(\S+) +{threads} threads: .*median +([0-9.]+)", re.MULTILINE)
    return {name: float(milliseconds) for name, milliseconds in line.findall(printed)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--threads", type=int, default=2, choices=(1, 2))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    ours, theirs = {}, {}
    for _ in range(options.rounds):
        for name, milliseconds in our_steps(options.binary, options.threads).items():
            ours[name] = min(milliseconds, ours.get(name, float("inf")))
        for name, case in CASES.items():
            theirs[name] = min(torch_step(*case), theirs.get(name, float("inf")))
    slower = 0
    print(f"{options.threads} threads, ms a step: ours, PyTorch {torch.__version__}, ratio")
    for name in CASES:
        ratio = ours[name] / theirs[name]
        slower += ratio > 1
        print(f"  {name:22} {ours[name]:8.3f} {theirs[name]:8.3f} {ratio:6.2f}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
