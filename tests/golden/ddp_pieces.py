#!/usr/bin/env python3
"""Writes tests/golden/ddp_pieces.json: where PyTorch's DDPOptimizer cuts models, and the buckets that follow from it.

    python3 -m venv /somewhere && /somewhere/bin/pip install torch==2.11.0 numpy
    /somewhere/bin/python tests/golden/ddp_pieces.py

Each model is compiled and wrapped in DistributedDataParallel over gloo, one rank on the CPU, with backend="aot_eager":
where a model is cut depends neither on the number of ranks nor on what compiles the pieces. "pieces" are the bytes of
the parameters that DDPOptimizer counts for each, in the order of forward; none where it makes one piece, or is off
("whole"). "rebuilt" are the bytes of DistributedDataParallel's buckets, from the third step on.
"""

import os
import pathlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch._dynamo.backends.distributed import DDPOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

import ddp_buckets

FILE = pathlib.Path(__file__).resolve().parent / "ddp_pieces.json"
MODELS = ("mlp 784-1024-4096-1024-10", "mlp 784-2048-2048-2048-10", "resnet18", "resnet50", "gpt2")
CASES = {
    "default": (True, {}),
    "cap 5": (True, {"bucket_cap_mb": 5}),
    "unused": (True, {"find_unused_parameters": True}),
    "whole": (False, {}),
}


class Watched(DDPOptimizer):
    """Keeps what it has cut."""

    found = []

    def compile_fn(self, graph, inputs):
        compiled = super().compile_fn(graph, inputs)
        Watched.found.append([bucket.size for bucket in self.buckets])
        return compiled


def train(model, batch, optimize, options):
    torch._dynamo.reset()
    torch._dynamo.config.optimize_ddp = optimize
    Watched.found.clear()
    ddp = DDP(torch.compile(model, backend="aot_eager"), **options)
    for _ in range(4):
        x, y = batch()
        F.cross_entropy(ddp(x), y).backward()
    log = ddp._get_ddp_logging_data()
    assert len(Watched.found) == optimize, "the model is not one graph"
    sizes = ddp_buckets.sizes
    return {
        "pieces": Watched.found[0] if optimize else [],
        "rebuilt": sizes(log.get("rebuilt_bucket_sizes", "")) or sizes(log["bucket_sizes"]),
    }


def main():
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29556")
    dist.init_process_group("gloo", rank=0, world_size=1)
    torch._dynamo.backends.distributed.DDPOptimizer = Watched
    torch.manual_seed(0)
    found = {}
    for name in MODELS:
        make, batch = ddp_buckets.MODELS[name]
        found[name] = {}
        for case, (optimize, options) in CASES.items():
            found[name][case] = train(make(), batch, optimize, options)
            print(name, case, found[name][case], flush=True)
    ddp_buckets.save(FILE, found)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
