#!/usr/bin/env python3
"""Compares Trainscope's training steps on the CPU with PyTorch's: milliseconds a step, and their ratio.

    ./run bench steps                                       # builds it
    /somewhere/bin/pip install torch==2.11.0
    /somewhere/bin/python tests/bench/vs_torch.py build/trainscope_bench [--threads 2] [--rounds 3]

Both take turns, so that what else the machine does falls on both. Of all rounds the least median is printed, and
the best step, which other work disturbs least: ends with 1 if ours is slower than PyTorch's. The steps are those of tests/bench/step_bench.cpp, matched by name.
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
VOCABULARY = 49  # characters of the data set `text`


def mlp(inputs, hidden):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                         nn.Linear(hidden, 10))


def cnn():
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(32 * 7 * 7, 10))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.norm_1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(*qkv, is_causal=True)
        x = x + self.projection(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, vocabulary, length, width, heads, blocks):
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.token(tokens) + self.position))).flatten(0, 1)


# What makes the model, a batch and its targets.
CASES = {
    "mlp-784-256-256-10": (lambda: mlp(784, 256), lambda: torch.rand(64, 784), 64),
    "mlp-784-1024-1024-10": (lambda: mlp(784, 1024), lambda: torch.rand(128, 784), 128),
    "cnn-28x28-16-32": (cnn, lambda: torch.rand(64, 1, 28, 28), 64),
    "gpt-mini-2x128": (lambda: Gpt(VOCABULARY, 64, 128, 4, 2), lambda: torch.randint(VOCABULARY, (16, 64)), 16 * 64),
}


def torch_step(make, make_batch, rows):
    """A step's milliseconds, best and median: forward, backward, AdamW."""
    model, x = make(), make_batch()
    targets = torch.arange(rows) % 10
    optimizer = torch.optim.AdamW(model.parameters())
    took = []
    for _ in range(WARM_UP + STEPS):
        start = time.perf_counter()
        optimizer.zero_grad()
        F.cross_entropy(model(x), targets).backward()
        optimizer.step()
        took.append((time.perf_counter() - start) * 1e3)
    return min(took[WARM_UP:]), statistics.median(took[WARM_UP:])


def our_steps(binary, threads):
    """The same by name, as the benchmark prints them."""
    printed = subprocess.run([binary, "steps"], check=True, capture_output=True, text=True).stdout
    line = re.compile(rf"^ +(\S+) +{threads} threads: best +([0-9.]+), median +([0-9.]+)", re.MULTILINE)
    return {name: (float(best), float(median)) for name, best, median in line.findall(printed)}


def least(took, name, times):
    took[name] = tuple(map(min, times, took.get(name, times)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--threads", type=int, default=2, choices=(1, 2))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    ours, theirs = {}, {}
    for _ in range(options.rounds):
        for name, times in our_steps(options.binary, options.threads).items():
            least(ours, name, times)
        for name, case in CASES.items():
            least(theirs, name, torch_step(*case))
    print(f"{options.threads} threads, ms a step: ours, PyTorch {torch.__version__}, ratio")
    for name in CASES:
        for kind, mine, other in zip(("best", "median"), ours[name], theirs[name]):
            print(f"  {name:22} {kind:6} {mine:8.3f} {other:8.3f} {mine / other:6.2f}")
    return int(any(ours[name][0] > theirs[name][0] for name in CASES))


if __name__ == "__main__":
    sys.exit(main())
