#!/usr/bin/env python3
"""Runs the PyTorch listings that Trainscope prints, as printed, with gloo on the CPU; writes nothing.

    python3 -m venv /somewhere && /somewhere/bin/pip install torch==2.11.0 transformers==5.24.0 torchvision numpy
    /somewhere/bin/python tests/golden/listings.py build/trainscope [WORD...]

A line for each case (of those whose name has all of the words): "ok", or the error of the rank that failed first. Not
run by CI: two to four processes a case, some seconds each.

What is changed of a listing: CUDA's names for the CPU's, NCCL for gloo, and the width of the models of the literature.
Tokens and pixels are drawn here. Where every rank begins with the same model, the losses of all steps are those of the
same model on one process, which reads what all ranks read; of sharded models, whose ranks draw their own numbers, they
are finite.
"""

import functools
import html
import json
import math
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

STEPS, BATCH, TOKENS, VOCABULARY = 3, 8, 32, 256
TOLERANCE = 2e-3  # of a loss: sums in another order
SECONDS = 240

COMMON = {"workload": "train", "machine": "h100-sxm-8", "steps": STEPS, "batch_size": BATCH, "optimizer.lr": 0.1,
          "loop.evaluate": "false"}
TEXT = {"model.seq_len": TOKENS, "model.vocab_size": VOCABULARY}
MODELS = {
    "gpt2": {"model.name": "gpt2", **TEXT},
    "opt": {"model.name": "opt-1.3b", **TEXT},
    "bert": {"model.name": "bert-large", **TEXT},
    "llama": {"model.name": "llama-3.2-1b", **TEXT},
    "tinyllama": {"model.name": "tinyllama-1.1b", "model.rms_norm": "written_out", **TEXT},
    "gpt-mini": {"model.name": "gpt-mini", "data.name": "text", "model.seq_len": TOKENS},
    "mlp": {"model.name": "mlp", "model.layers": 4},
    "cnn": {"model.name": "cnn", "model.batch_norm": "false"},
    "rnn": {"model.name": "rnn", "model.seq_len": 28},
    "resnet18": {"model.name": "resnet18"},
}


def of(strategy, ranks, **more):
    return {"parallel.strategy": strategy, "parallel.world_size": ranks,
            **{key.replace("__", "."): value for key, value in more.items()}}


IN_PARTS = {"tensor__sequence_parallel": "true"}
SHARED = {"tensor__loss_parallel": "true"}
STRATEGIES = {
    "single": {},
    "single eager": {"attention.kernel": "eager"},
    "single transformers": {"attention.kernel": "transformers"},
    "single checkpoint": {"checkpoint.enabled": "true"},
    "single checkpoint second": {"checkpoint.enabled": "true", "checkpoint.every": 2},
    "single accumulate": {"accumulate_steps": 2},
    "ddp": of("ddp", 2),
    "ddp accumulate": of("ddp", 2, accumulate_steps=2, ddp__no_sync="true", clip_grad_norm=1),
    "fsdp": of("fsdp", 2, clip_grad_norm=1),
    "fsdp checkpoint": of("fsdp", 2, checkpoint__enabled="true"),
    "fsdp checkpoint second": of("fsdp", 2, checkpoint__enabled="true", checkpoint__every=2),
    "fsdp bf16": of("fsdp", 2, fsdp__param_dtype="bf16", fsdp__reduce_dtype="fp32"),
    "fsdp hybrid": of("fsdp", 4, fsdp__shard_degree=2),
    "pipeline": of("pipeline", 2, pipeline__microbatches=4),
    "pipeline gpipe 3": of("pipeline", 3, pipeline__microbatches=4, pipeline__schedule="gpipe"),
    "pipeline interleaved": of("pipeline", 2, pipeline__microbatches=4, pipeline__schedule="interleaved_1f1b"),
    "pipeline checkpoint": of("pipeline", 2, pipeline__microbatches=4, checkpoint__enabled="true"),
    "pipeline checkpoint second": of("pipeline", 2, pipeline__microbatches=4, checkpoint__enabled="true",
                                     checkpoint__every=2),
    "pipeline transformers": {**of("pipeline", 2, pipeline__microbatches=4), "attention.kernel": "transformers"},
    "pipeline ddp": of("pipeline", 4, pipeline__microbatches=4, pipeline__degree=2),
    "pipeline ddp interleaved": of("pipeline", 4, pipeline__microbatches=4, pipeline__degree=2,
                                   pipeline__schedule="interleaved_1f1b"),
    "tensor": of("tensor", 2),
    "tensor parts": of("tensor", 2, **IN_PARTS),
    "tensor shared": of("tensor", 2, **SHARED),
    "tensor parts shared": of("tensor", 2, **IN_PARTS, **SHARED),
    "tensor ddp": of("tensor", 4, tensor__degree=2),
    "tensor ddp parts": of("tensor", 4, tensor__degree=2, **IN_PARTS),
    "tensor ddp shared": of("tensor", 4, tensor__degree=2, **SHARED),
    "tensor ddp parts shared": of("tensor", 4, tensor__degree=2, **IN_PARTS, **SHARED),
    "tensor fsdp": of("fsdp", 4, tensor__degree=2, clip_grad_norm=1),
    "tensor fsdp parts": of("fsdp", 4, tensor__degree=2, **IN_PARTS),
    "tensor fsdp parts shared": of("fsdp", 4, tensor__degree=2, **IN_PARTS, **SHARED, clip_grad_norm=1),
}

# What a script imports; then data, and a loss that is noted.
IMPORTS = '''
import itertools, logging, math, os, time, warnings
from contextlib import nullcontext
warnings.simplefilter("ignore"); logging.disable(50)
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import (PipelineStage, Schedule1F1B, ScheduleGPipe, ScheduleInterleaved1F1B,
                                          schedules)
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.experimental import implicit_replication
from torch.distributed.tensor.parallel import *
from torch.nn.attention import SDPBackend
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
import transformers
try: import torchvision
except ImportError: pass
from transformers import (BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM,
                          OPTConfig, OPTForCausalLM)
from transformers.integrations.sdpa_attention import sdpa_attention_forward
sdpa_kernel = lambda *backends: nullcontext()  # the CPU has not all of them
device = torch.device("cpu")
'''
HEAD = '''
torch.set_num_threads(1)
drawn = torch.Generator().manual_seed(1)
tokens = text = list(zip(*[torch.randint(0, 49, (samples, length), generator=drawn)] * 2))
if images:
    targets = torch.randint(0, 10, (samples,), generator=drawn)
    mnist = list(zip(torch.randn(samples, 784, generator=drawn), targets))
    digits = list(zip(torch.randn(samples, 1, 28, 28, generator=drawn), targets))
    imagenet = list(zip(torch.randn(samples, 3, 64, 64, generator=drawn), targets))
def noting(loss_of):
    def cross_entropy(*args):
        loss = loss_of(*args)
        noted.append(float(loss.detach().full_tensor() if isinstance(loss, DTensor) else loss.detach()))
        return loss
    return cross_entropy
F.cross_entropy = noting(F.cross_entropy)
torch.manual_seed(0)
'''
OF_CPU = (('"nccl"', '"gloo"'), ('init_device_mesh("cuda"', 'init_device_mesh("cpu"'), ('autocast("cuda"', 'autocast("cpu"'),
          ("torch.cuda.synchronize()", "pass"))
NARROW = (("n_embd", 64), ("n_head", 4), ("hidden_size", 64), ("num_attention_heads", 4), ("ffn_dim", 128),
          ("num_key_value_heads", 2), ("intermediate_size", 128))


def listing_of(trainscope, knobs, folder):
    page = folder / "page.html"
    settings = [word for name, value in {**COMMON, **knobs}.items() for word in ("--set", f"{name}={value}")]
    run = subprocess.run([trainscope, "run", *settings, "--html", page], capture_output=True, text=True)
    if run.returncode: return None, run.stderr.strip().splitlines()[-1]
    text = page.read_text()
    text = text[text.index('class="listing"'):]
    lines = re.findall(r'<li data-line="\d+"[^>]*><code>(.*?)</code></li>', text[:text.index("</ol>")], re.S)
    return "\n".join(html.unescape(re.sub(r"<[^>]+>", "", line)) for line in lines) + "\n", None


def for_cpu(listing):
    for cuda, cpu in OF_CPU: listing = listing.replace(cuda, cpu)
    listing = re.sub(r"torch\.cuda\.set_device\(.*?\)", "pass", listing)
    listing = re.sub(r", device_ids=\[.*?\]", "", listing)
    for name, value in NARROW: listing = re.sub(rf"\b{name}=\d+", f"{name}={value}", listing)
    return listing


def run_rank(script, space, ranks, rank, port, out):
    """In a process of its own."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
                   "MASTER_PORT": str(port)}
    said, code = None, 0
    try:
        exec(compile(script, "listing", "exec"), space)
    except BaseException as error:  # whatever it is, it is said
        at = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "listing"]
        line = script.splitlines()[at[-1] - 1].strip() if at else ""
        said, code = f"{type(error).__name__}: {str(error)[:200]} at: {line}", 1
    out.write_text(json.dumps({"losses": space["noted"], "error": said}))
    os._exit(code)


def losses_of(listing, ranks, knobs, batch, folder):
    """Of each rank what it noted, or the error. `batch`: what all ranks together read in a step."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    space = {**IMPORTED, "samples": STEPS * batch, "length": TOKENS, "noted": [],
             "images": knobs["model.name"] in ("mlp", "cnn", "rnn", "resnet18")}
    outs = [folder / f"rank.{rank}" for rank in range(ranks)]
    children = []
    for rank in range(ranks):
        child = os.fork()
        if child == 0: run_rank(HEAD + for_cpu(listing), space, ranks, rank, port, outs[rank])
        children.append(child)
    deadline, running, failed = time.time() + SECONDS, set(children), False
    while running and time.time() < deadline and not failed:
        for child in list(running):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                running.remove(child)
                failed = failed or status != 0
        time.sleep(0.05)
    for child in running:  # of a rank that failed, those that wait for it
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    said = [json.loads(out.read_text()) for out in outs if out.exists()]
    for out in outs: out.unlink(missing_ok=True)
    errors = [one["error"] for one in said if one["error"]]
    if errors or failed: return None, errors[0] if errors else "a rank died"
    return ([one["losses"] for one in said], None) if len(said) == ranks else (None, "waits for ever")


def by_step(ranks):
    """The mean of all losses of a step, over the ranks that have any."""
    ranks = [losses for losses in ranks if losses]
    each = len(ranks[0]) // STEPS
    return [sum(sum(losses[step * each:(step + 1) * each]) / each for losses in ranks) / len(ranks)
            for step in range(STEPS)]


def compares(knobs):
    return knobs.get("parallel.strategy") != "fsdp"


@functools.cache
def alone(trainscope, model, batch, clips, folder):
    """The losses of one process that reads all."""
    knobs = {**MODELS[model], "batch_size": batch, **({"clip_grad_norm": clips} if clips else {})}
    listing, error = listing_of(trainscope, knobs, folder)
    losses, error = (None, error) if error else losses_of(listing, 1, knobs, batch, folder)
    return (None, error) if error else (by_step(losses), None)


def run_case(trainscope, model, strategy, folder):
    knobs = {**MODELS[model], **STRATEGIES[strategy]}
    ranks = int(knobs.get("parallel.world_size", 1))
    listing, error = listing_of(trainscope, knobs, folder)
    if error: return "not built: " + error
    readers = int(ranks / int(knobs.get("pipeline.degree", knobs.get("tensor.degree", 0)) or
                              (1 if knobs.get("parallel.strategy") in ("ddp", "fsdp") else ranks)))
    batch = BATCH * readers * int(knobs.get("accumulate_steps", 1))
    got, error = losses_of(listing, ranks, knobs, batch, folder)
    if error: return "FAILS: " + error
    losses = by_step(got)
    if not all(math.isfinite(loss) for loss in losses): return f"FAILS: {losses}"
    if not compares(knobs): return "ok, " + " ".join(f"{loss:.4f}" for loss in losses)
    expected, error = alone(trainscope, model, batch, knobs.get("clip_grad_norm"), folder)
    if error: return "FAILS on one process: " + error
    if max(abs(a - b) for a, b in zip(losses, expected)) > TOLERANCE: return f"FAILS: {losses} for {expected}"
    return "ok, as on one process"


IMPORTED = {}


def main(trainscope, words):
    failed = 0
    exec(IMPORTS, IMPORTED)  # once, and each rank is forked
    with tempfile.TemporaryDirectory() as folder:
        for name in (f"{model} {strategy}" for model in MODELS for strategy in STRATEGIES):
            if not all(word in name.split() for word in words): continue
            said = run_case(trainscope, *name.split(" ", 1), pathlib.Path(folder))
            failed += said.startswith("FAILS")
            print(f"{name}: {said}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
