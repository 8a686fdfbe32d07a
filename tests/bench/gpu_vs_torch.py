#!/usr/bin/env python3
"""Compares training steps on a GPU with PyTorch's on the same one: how long they take, and how far their numbers are
from the same training in FP64.

    python3 tests/bench/gpu_vs_torch.py FOLDER [--only times|numbers]

FOLDER has trainscope, trainscope_bench, tests_training and the plug-in, as tools/on-gpu packs them. Needs PyTorch for
CUDA. Steps are those of step_cases.h, from a batch in pinned memory; ours eager, fused, and fused in a CUDA graph,
beside PyTorch's eager and torch.compile(mode="reduce-overhead"). Numbers: the losses of 100 steps from our initial
weights with our batches, root mean square of what they are away from FP64's. A ReLU or a pooling whose inputs are within
a rounding of one another makes a choice, and one other choice puts any two trainings 1e-4 apart: so the median of
trainings with several seeds. Ends with 1 where ours is slower, or more than three times as far away. With --device cpu,
for trying it out, ours is the CPU's and only the numbers are compared.
"""

import argparse
import contextlib
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "golden")]
import trajectories  # noqa: E402
from vs_torch import CASES  # noqa: E402

WARM_UP = 20
STEPS = 100
ROUNDS = 5
TIMES_AWAY = 3
SEEDS = (1, 2, 3, 4, 5)


@contextlib.contextmanager
def our_libraries():
    """For programs of ours that are started meanwhile: their libraries may be others than PyTorch's."""
    libraries, theirs = (os.environ.get(name) for name in ("TRAINSCOPE_LIBRARY_PATH", "LD_LIBRARY_PATH"))
    if libraries:
        os.environ["LD_LIBRARY_PATH"] = libraries
    yield
    os.environ.pop("LD_LIBRARY_PATH", None)
    if theirs:
        os.environ["LD_LIBRARY_PATH"] = theirs


def run(folder, *arguments):
    """What a program of ours prints."""
    command = [str(folder / arguments[0]), *arguments[1:]]
    with our_libraries():
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


# ---- Times --------------------------------------------------------------------------------------


def torch_times(make, make_batch, rows, compiled):
    """A step's milliseconds, best and median of the rounds."""
    model = make().cuda()
    x = make_batch().pin_memory()
    y = (torch.arange(rows) % 10).pin_memory()
    forward = torch.compile(model, mode="reduce-overhead") if compiled else model
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
        loss.backward()
        optimizer.step()

    def steps(count):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e3 / count

    steps(WARM_UP)
    took = [steps(STEPS) for _ in range(ROUNDS)]
    return min(took), statistics.median(took)


def torch_times_or_none(way, case):
    """Not numbers where PyTorch cannot: ours are told all the same."""
    try:
        return torch_times(*case, compiled=way == "compiled")
    except Exception as error:  # whatever it is
        words = str(error).strip() or repr(error)
        print(f"  PyTorch {way} failed: {words.splitlines()[0]}", flush=True)
        return math.nan, math.nan


def our_times(folder):
    line = re.compile(r"^ +(\S+) +(\S+) +best +([0-9.]+), median +([0-9.]+)", re.MULTILINE)
    os.environ["TRAINSCOPE_TRACER"] = "events"  # not CUPTI, which costs something even when it is off
    printed = run(folder, "trainscope_bench", "device-steps")
    del os.environ["TRAINSCOPE_TRACER"]
    return {(name, way): (float(best), float(median)) for name, way, best, median in line.findall(printed)}


def compare_times(folder):
    ours, slower = our_times(folder), 0
    print(f"ms a step, best and median of {ROUNDS} rounds; PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    for name, case in CASES.items():
        theirs = {way: torch_times_or_none(way, case) for way in ("eager", "compiled")}
        for way, beside in (("eager", "eager"), ("fused", "compiled"), ("fused-graph", "compiled")):
            if (name, way) not in ours:
                sys.exit(f"trainscope_bench device-steps says nothing of {name}, {way}")
            mine, other = ours[name, way], theirs[beside]
            beside_words = f"PyTorch {beside:8} {other[0]:8.3f} {other[1]:8.3f}   ratio {mine[1] / other[1]:5.2f}"
            if math.isnan(other[1]):  # PyTorch cannot, which says nothing of ours
                beside_words = f"not compared: PyTorch {beside} failed"
            else:
                slower += way != "fused" and mine[1] > other[1]
            print(f"  {name:22} {way:12} {mine[0]:8.3f} {mine[1]:8.3f}   {beside_words}", flush=True)
    return slower


# ---- Numbers ------------------------------------------------------------------------------------


def number_cases():
    for model, settings in trajectories.MODELS.items():
        for optimizer in ("sgd", "adamw"):
            gentle = trajectories.GENTLE.get(optimizer, []) if model == "cnn" else []
            yield (f"{model}, {optimizer}",
                   settings + trajectories.OPTIMIZERS[optimizer] + gentle + ["loop.evaluate=false", f"steps={STEPS}"])


def without_seed(settings):
    return [setting for setting in settings if not setting.startswith("seed=")]


def our_losses(folder, settings, executor):
    last = dict(setting.split("=", 1) for setting in ["workload=train", *settings])
    sets = [part for knob, value in last.items() for part in ("--set", f"{knob}={value}")]
    printed = run(folder, "trainscope", "run", *sets, "--executor", executor, "--series", "loss")
    return np.array([float(line.split()[1]) for line in printed.splitlines()])


def distances(folder, settings, device):
    """Ours and PyTorch's from FP64."""
    with our_libraries():
        start = trajectories.Start(str(folder / "tests_training"), settings)
    exact = trajectories.train(start, torch.float64)[0]
    ours = our_losses(folder, settings, "cuda" if device == "cuda" else "sim")
    theirs = trajectories.train(start, torch.float32, device)[0]
    return trajectories.distance(ours, exact), trajectories.distance(theirs, exact)


def compare_numbers(folder, device):
    farther = 0
    print(f"losses of {STEPS} steps, away from FP64's, median of {len(SEEDS)} seeds; "
          f"PyTorch {torch.__version__} in FP32 on {device}")
    for name, settings in number_cases():
        both = [distances(folder, without_seed(settings) + [f"seed={seed}"], device) for seed in SEEDS]
        ours, theirs = (statistics.median(values) for values in zip(*both))
        farther += ours > TIMES_AWAY * theirs
        print(f"  {name:24} ours {ours:9.3g}   PyTorch {theirs:9.3g}   ratio {ours / theirs:6.2f}", flush=True)
    return farther


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", choices=("times", "numbers"))
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    options = parser.parse_args()
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU here")
    missed = 0
    if options.only != "times":
        missed += compare_numbers(options.folder, options.device)
    if options.only != "numbers" and options.device == "cuda":
        missed += compare_times(options.folder)
    print(f"{missed} not as asked for")
    return int(missed > 0)


if __name__ == "__main__":
    torch.manual_seed(0)
    sys.exit(main())
