#!/usr/bin/env python3
"""Writes tests/golden/loss_scale.json: what torch.amp.GradScaler does over 10,000 steps with infinities in some.

    python3 -m venv /somewhere && /somewhere/bin/pip install torch==2.11.0 numpy
    /somewhere/bin/python tests/golden/loss_scale.py

Each case has the scaler's options, the steps whose gradients are made infinite, the steps that it skipped, and the
loss scale: where it changed, as pairs of a step and the FP32 number after it.
"""

import json
import pathlib
import random

import torch

FILE = pathlib.Path(__file__).resolve().parent / "loss_scale.json"
STEPS = 10_000


def some(seed, count, end=STEPS):
    return sorted(random.Random(seed).sample(range(end), count))


# name: options other than GradScaler's own, and the steps with infinities
CASES = {
    "defaults": ({}, some(1, 12)),
    "every 7 steps": ({"growth_interval": 7}, some(2, 300)),
    "grows in each step up to what FP32 holds": ({"growth_interval": 1}, [500, 501, 502, 9999]),
    "shrinks without end": ({"growth_interval": 2000}, list(range(0, 400))),
    "shrinks slowly": ({"backoff_factor": 0.9, "growth_factor": 1.1, "growth_interval": 50}, some(3, 250)),
    "shrinks fast, from little": ({"init_scale": 1e-30, "backoff_factor": 1e-3, "growth_factor": 1000.0,
                                   "growth_interval": 11}, some(4, 400)),
    "by what is no power of two": ({"init_scale": 1000.0, "growth_factor": 3.0, "backoff_factor": 0.3,
                                    "growth_interval": 20}, some(5, 350)),
    "never infinite": ({"growth_interval": 100}, []),
    "infinite at once and at the end": ({"init_scale": 16777216.0}, [0, 1, 2, STEPS - 1]),
}


def run(options, infinite):
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=0.0)
    scaler = torch.amp.GradScaler("cpu", **options)
    steps, infinities = [], set(infinite)
    optimizer.register_step_pre_hook(lambda *_: steps.append(step))
    changes, before = [], float(torch.tensor(scaler.get_scale()))
    for step in range(STEPS):
        scaler.scale(torch.zeros(1))  # makes the scaler's tensors
        parameter.grad = torch.full((1,), float("inf") if step in infinities else 0.0)
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() != before:
            before = scaler.get_scale()
            changes.append([step, before])
    return changes, sorted(set(range(STEPS)) - set(steps))


def main():
    cases = {}
    for name, (options, infinite) in CASES.items():
        changes, skipped = run(options, infinite)
        cases[name] = {"options": options, "infinite": infinite, "skipped": skipped, "changes": changes}
        print(f"{name:42} {len(skipped)} skipped, scale ends at {changes[-1][1] if changes else 'its start'}")
    about = {"script": "tests/golden/loss_scale.py", "torch": torch.__version__, "steps": STEPS}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(case)}" for name, case in cases.items())
    FILE.write_text(f'{{"about": {json.dumps(about)},\n"cases": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    main()
