#!/usr/bin/env python3
"""Writes tests/golden/samplers.json: the orders that PyTorch's samplers give.

    python3 -m venv /somewhere && /somewhere/bin/pip install torch==2.11.0 numpy
    /somewhere/bin/python tests/golden/samplers.py [--long]

Lists of at most FULL indices stand there in full. Of longer ones there is the "count" and the "hash": FNV-1a,
64 bits, over the indices as little-endian 64-bit words taken whole. --long also permutes more numbers than PyTorch's
first algorithm serves (1.7 GB each, a minute); without it those entries are kept as they are.
"""

import argparse
import datetime
import itertools
import json
import pathlib
import random

import numpy as np
import torch
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, SequentialSampler

FILE = pathlib.Path(__file__).resolve().parent / "samplers.json"
FULL = 24
LONG = 0xFFFFFFFF // 20  # the first length of the other algorithm


def fnv(indices):
    value = 0xCBF29CE484222325
    for index in indices:
        value = ((value ^ index) * 0x100000001B3) % 2**64
    return value


def digest(indices):
    if len(indices) <= FULL:
        return indices
    return {"count": len(indices), "hash": f"{fnv(indices):016x}"}


def permutation(length, seed):
    return torch.randperm(length, generator=torch.Generator().manual_seed(seed))


def randperms():
    seeds = [0, 1, 42, 2**31, 2**32 - 1, 2**32, 2**32 + 7, 2**63 - 1]
    lengths = [0, 1, 2, 3, 10, 24, 623, 624, 625, 1000, 60000]
    for length, seed in itertools.product(lengths, seeds):
        yield {"length": length, "seed": seed, "order": digest(permutation(length, seed).tolist())}


def ends(length, seed):
    """Of a very long permutation: a few hundred numbers from all over it."""
    order = permutation(length, seed).numpy()
    return {"length": length, "seed": seed, "every": length // 500, "order": digest(order[:: length // 500].tolist())}


def distributed():
    lengths = [1, 2, 3, 5, 7, 8, 9, 10, 15, 16, 17, 31, 64, 100, 101, 1000, 10007]
    replicas = [1, 2, 3, 4, 7, 8, 16, 64]
    picks = random.Random(20260)
    for length, count, drop_last, shuffle in itertools.product(lengths, replicas, [False, True], [True, False]):
        seed, epoch = picks.choice([0, 1, 7, 1234, -1, 2**31, 2**40]), picks.choice([0, 1, 2, 99])
        sampler = [
            DistributedSampler(range(length), count, rank, shuffle=shuffle, seed=seed, drop_last=drop_last)
            for rank in range(count)
        ]
        for one in sampler:
            one.set_epoch(epoch)
        orders = [list(one) for one in sampler]
        yield {
            "length": length,
            "num_replicas": count,
            "shuffle": shuffle,
            "seed": seed,
            "drop_last": drop_last,
            "epoch": epoch,
            "size": len(sampler[0]),
            "ranks": digest(list(itertools.chain(*orders))),  # one rank behind the other
        }


class Numbers(torch.utils.data.Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index


def loaders():
    for length, seed, workers in itertools.product([1, 5, 20, 1000], [0, 3, 2**35], ["none", "new", "persistent"]):
        torch.manual_seed(seed)
        loader = DataLoader(
            Numbers(length),
            batch_size=7,
            shuffle=True,
            num_workers=0 if workers == "none" else 1,
            persistent_workers=workers == "persistent",
        )
        epochs = [digest([index for batch in loader for index in batch.tolist()]) for _ in range(3)]
        yield {"length": length, "seed": seed, "persistent_workers": workers == "persistent", "epochs": epochs}


def batches():
    for length, size, drop_last in itertools.product([0, 1, 6, 7, 20], [1, 3, 7, 50], [False, True]):
        sampler = BatchSampler(SequentialSampler(range(length)), size, drop_last)
        assert len(list(sampler)) == len(sampler)
        yield {"length": length, "batch_size": size, "drop_last": drop_last, "batches": list(sampler)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true")
    arguments = parser.parse_args()
    if arguments.long:
        long = [ends(LONG - 1, 5), ends(LONG, 5)]
    else:
        long = json.loads(FILE.read_text())["long"]
    about = {
        "script": "tests/golden/samplers.py",
        "torch": torch.__version__,
        "numpy": np.__version__,
        "date": datetime.date.today().isoformat(),
    }
    parts = {
        "randperm": list(randperms()),
        "long": long,
        "distributed": list(distributed()),
        "loader": list(loaders()),
        "batch": list(batches()),
    }
    rows = {name: ",\n".join(f"  {json.dumps(row)}" for row in part) for name, part in parts.items()}
    text = ",\n".join(f' "{name}": [\n{row}\n ]' for name, row in rows.items())
    FILE.write_text(f'{{"about": {json.dumps(about)},\n{text}\n}}\n')


if __name__ == "__main__":
    main()
