#!/usr/bin/env python3
"""Writes tests/golden/kept_graphs.json: what a PyTorch loop without backward keeps, batch after batch.

    python3 -m venv /somewhere && /somewhere/bin/pip install torch==2.11.0 numpy
    /somewhere/bin/python tests/golden/kept_graphs.py

The model is nn.Sequential(Linear(784, 256), ReLU(), Dropout(0.1), Linear(256, 10)) in FP32 on the CPU, a batch has 64
samples. "kept": bytes of the distinct storages that live saved tensors have (torch.autograd.graph.saved_tensors_hooks;
packed tensors are detached, as the hooks' documentation asks for), but for parameters:

  [behind the forward, behind the loss, once something has been appended to the list] of each of four batches

"no_grad": model.eval() under torch.no_grad(); "item", "loss", "output": model.eval() alone, with what is appended.
"trained": model.train() with loss.backward(), and losses.append(loss) behind it: [before backward, at the end].
"freed": the same as "output", once the list is empty and the names are gone.
"checkpointed": [every so many-th block is recomputed (0: none), bytes of all tensors that live behind the forward, but
for parameters and the batch] of two blocks nn.Sequential(Conv2d(3 x 3), ReLU(), MaxPool2d(2)) of 16 and 32 channels and
a linear layer behind them, 64 images of MNIST's size, by torch.utils.checkpoint without reentrance.
"""

import datetime
import json
import pathlib
import weakref

import torch
import torch.nn.functional as F
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

FILE = pathlib.Path(__file__).resolve().parent / "kept_graphs.json"
BATCH, BATCHES = 64, 4


class Packed:
    def __init__(self, tensor):
        self.tensor = tensor.detach()


class Saved:
    """The saved tensors that live."""

    def __init__(self, model):
        self.own = {p.untyped_storage().data_ptr() for p in model.parameters()}
        self.live = weakref.WeakSet()

    def pack(self, tensor):
        packed = Packed(tensor)
        self.live.add(packed)
        return packed

    def bytes(self):
        storages = {}
        for packed in self.live:
            storage = packed.tensor.untyped_storage()
            if storage.data_ptr() not in self.own:
                storages[storage.data_ptr()] = storage.nbytes()
        return sum(storages.values())


def batch():
    return torch.randn(BATCH, 784), torch.randint(0, 10, (BATCH,))


def validated(model, saved, records, appended, kept):
    model.eval()
    rows = []
    for _ in range(BATCHES):
        x, y = batch()
        with torch.set_grad_enabled(records):
            out = model(x)
            forward = saved.bytes()
            loss = F.cross_entropy(out, y)
            both = saved.bytes()
        kept.append({"item": loss.item(), "loss": loss, "output": out}[appended])
        rows.append([forward, both, saved.bytes()])
    return rows


def trained(model, saved):
    model.train()
    losses, rows = [], []
    for _ in range(BATCHES):
        x, y = batch()
        loss = F.cross_entropy(model(x), y)
        before = saved.bytes()
        loss.backward()
        losses.append(loss)
        rows.append([before, saved.bytes()])
    return rows


class Results(TorchDispatchMode):
    """All that operators give, as long as it lives."""

    def __init__(self, parameters):
        super().__init__()
        self.own = {p.untyped_storage()._cdata for p in parameters}
        self.made = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        given = function(*args, **(kwargs or {}))
        for tensor in given if isinstance(given, (tuple, list)) else (given,):
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage()._cdata not in self.own:
                storage = tensor.untyped_storage()
                self.made[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())
        return given

    def bytes(self):
        return sum(size for reference, size in self.made.values() if not reference.expired())


def checkpointed(every):
    blocks = [nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)) for i, o in ((1, 16), (16, 32))]
    head = nn.Sequential(nn.Flatten(), nn.Linear(32 * 7 * 7, 10))
    x = torch.randn(BATCH, 1, 28, 28)
    with Results([p for part in (*blocks, head) for p in part.parameters()]) as results:
        for number, block in enumerate(blocks, 1):
            again = every > 0 and number % every == 0
            x = checkpoint(block, x, use_reentrant=False) if again else block(x)
        out = head(x)
        del x
        assert out.requires_grad
        return [every, results.bytes()]


def main():
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, 10))
    saved = Saved(model)
    kept = {}
    with torch.autograd.graph.saved_tensors_hooks(saved.pack, lambda packed: packed.tensor):
        for name, records, appended in (
            ("no_grad", False, "output"),
            ("item", True, "item"),
            ("loss", True, "loss"),
            ("output", True, "output"),
        ):
            appended_to = []
            kept[name] = validated(model, saved, records, appended, appended_to)
            appended_to.clear()
            kept["freed"] = saved.bytes()
        kept["trained"] = trained(model, saved)
    kept["checkpointed"] = [checkpointed(every) for every in range(4)]
    about = {"script": "tests/golden/kept_graphs.py", "torch": torch.__version__}
    about["date"] = datetime.date.today().isoformat()
    rows = ",\n".join(f'  "{name}": {json.dumps(value)}' for name, value in kept.items())
    FILE.write_text(f'{{"about": {json.dumps(about)},\n "kept": {{\n{rows}\n }}}}\n')
    print(FILE.read_text())


if __name__ == "__main__":
    main()
