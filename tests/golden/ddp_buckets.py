#!/usr/bin/env python3
"""Writes tests/golden/ddp_buckets.json: the gradient buckets of PyTorch's DistributedDataParallel.

    python3 -m venv /somewhere && /somewhere/bin/pip install torch==2.11.0 numpy
    /somewhere/bin/python tests/golden/ddp_buckets.py

Each model is wrapped in DistributedDataParallel over gloo, one rank on the CPU: buckets do not depend on the number of
ranks. Four steps are taken, because the rebuilt buckets show from the third on. "first" and "rebuilt" are the bytes of
the buckets in the order of their all-reduces, as _get_ddp_logging_data() has them; "ready" the names of the parameters
in the order in which their gradients came in the first backward. The models are those of models.py and the listings'.
"""

import datetime
import json
import os
import pathlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

import models

FILE = pathlib.Path(__file__).resolve().parent / "ddp_buckets.json"
CASES = {
    "default": {},
    "cap 5": {"bucket_cap_mb": 5},
    "cap 1": {"bucket_cap_mb": 1},
    "unused": {"find_unused_parameters": True},
    "static": {"static_graph": True},
}


def mlp(*widths):
    layers = []
    for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        layers += ([nn.ReLU()] if i else []) + [nn.Linear(inputs, outputs)]
    return nn.Sequential(*layers)


class Texts(nn.Module):
    """A transformer with its attention chosen, so that its forward takes a batch alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x, "math", 0).flatten(0, 1)


def images():
    return torch.randn(2, 3, 64, 64), torch.randint(0, 1000, (2,))


def tokens():
    return torch.randint(0, 1000, (1, 8)), torch.randint(0, 1000, (8,))


def numbers(inputs, classes):
    return lambda: (torch.randn(2, inputs), torch.randint(0, classes, (2,)))


MODELS = {
    "mlp 784-1024-4096-1024-10": (lambda: mlp(784, 1024, 4096, 1024, 10), numbers(784, 10)),
    "mlp 784-2048-2048-2048-10": (lambda: mlp(784, 2048, 2048, 2048, 10), numbers(784, 10)),
    "resnet18": (lambda: models.ResNet(models.BasicBlock, (2, 2, 2, 2)), images),
    "resnet50": (lambda: models.ResNet(models.Bottleneck, (3, 4, 6, 3)), images),
    "resnext50": (lambda: models.ResNet(models.Bottleneck, (3, 4, 6, 3), 32, 4), images),
    "gpt2": (lambda: Texts(models.Gpt2(12, 768, 12)), tokens),
    "bert-large": (lambda: Texts(models.Bert(24, 1024, 16)), tokens),
}


def sizes(text):
    return [int(size) for size in text.split(",")] if text else []


def train(model, batch, options):
    ddp = DDP(model, **options)
    ready = []
    hooks = [
        parameter.register_post_accumulate_grad_hook(lambda _, name=name: ready.append(name))
        for name, parameter in model.named_parameters()
    ]
    for step in range(4):
        x, y = batch()
        F.cross_entropy(ddp(x), y).backward()
        if step == 0:
            for hook in hooks:
                hook.remove()
    log = ddp._get_ddp_logging_data()
    names = [name.removeprefix("model.") if isinstance(model, Texts) else name for name in ready]
    return {
        "first": sizes(log["bucket_sizes"]),
        "rebuilt": sizes(log.get("rebuilt_bucket_sizes", "")),
    }, names


def save(file, found):
    about = {
        "script": f"tests/golden/{file.stem}.py",
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
    }
    file.write_text(json.dumps({"about": about, "models": found}) + "\n")


def main():
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29555")
    dist.init_process_group("gloo", rank=0, world_size=1)
    torch.manual_seed(0)
    found = {}
    for name, (make, batch) in MODELS.items():
        model = make()
        cases, ready = {}, []
        for case, options in CASES.items():
            model.zero_grad(set_to_none=True)
            cases[case], came = train(model, batch, options)
            ready = ready or came
        found[name] = {"cases": cases, "ready": ready}
        print(name, cases)
    save(FILE, found)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
