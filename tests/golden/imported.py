#!/usr/bin/env python3
"""Writes tests/golden/imported.json: metrics of recorded traces, counted from their files in another way.

    python3 tests/golden/imported.py FOLDER

FOLDER holds the traces. Nanoseconds a step. "comm.exposed": when a NCCL kernel runs and no other kernel does.
"time.backward": when a kernel runs that a thread of autograd has launched; its operators name the thread of
their forward; "time.forward" likewise, of those that the loop's thread launches from its first layer to its loss.
"kernels": how many there are of each phase. "calls": of some calls, nanoseconds of the whole file: "self" without the calls within them, "gpu" of
what they launch, themselves or by those. "kinds": what kernels of ResNet-50's layers take a step, by what they are
for.
"""

import collections
import gzip
import json
import pathlib
import sys

FILE = pathlib.Path(__file__).resolve().parent / "imported.json"


def events(folder, name):
    with gzip.open(folder / f"{name}.json.gz") as file:
        return [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]


def steps(all_events):
    return sum(1 for event in all_events
               if event["name"].startswith("ProfilerStep#") and event["cat"].lower() in ("user_annotation", "operator"))


def union(chosen):
    parts = []
    for start, end in sorted((float(event["ts"]), float(event["ts"]) + float(event["dur"])) for event in chosen):
        if parts and start <= parts[-1][1]:
            parts[-1][1] = max(parts[-1][1], end)
        else:
            parts.append([start, end])
    return parts


def length(parts):
    return sum(end - start for start, end in parts)


def exposed(all_events):
    kernels = [event for event in all_events if event["cat"].lower() == "kernel"]
    nccl = [event for event in kernels if "nccl" in event["name"]]
    other = [event for event in kernels if "nccl" not in event["name"]]
    return length(union(kernels)) - length(union(other)) if nccl else 0


def backward(all_events):
    autograd = {event["tid"] for event in all_events if event.get("args", {}).get("Fwd thread id", 0) > 0}
    launched = {event["args"]["correlation"] for event in all_events
                if event["tid"] in autograd and "correlation" in event.get("args", {})}
    return length(union(event for event in all_events if event["cat"].lower() == "kernel"
                        and event.get("args", {}).get("correlation") in launched))


CALLS = ("aten::cudnn_convolution", "aten::conv2d", "aten::cudnn_batch_norm", "aten::empty", "cudaLaunchKernel")


# Of the loop's own thread, all kernels that a step launches from its first layer to its loss are forward.
def phase_of(call, layers, losses, updates):
    first = min((layer for layer in layers if within(layer, call["step"])), default=None)
    last = max((loss for loss in losses if within(loss, call["step"])), default=None)
    if call["backward"]:
        return "backward"
    if any(within(call["ts"], update) for update in updates):
        return "optimizer"
    return "forward" if first is not None and first <= call["ts"] <= last else "none"


def within(time, extent):
    return extent[0] <= time < extent[1]


def phases(all_events):
    def extents(begins):
        return [(event["ts"], event["ts"] + event["dur"]) for event in all_events if event["name"].startswith(begins)]
    layers = [start for start, _ in extents("aten::conv2d")]
    losses = [end for _, end in extents("aten::cross_entropy_loss")]
    updates, all_steps = extents("Optimizer.step"), extents("ProfilerStep#")
    autograd = {event["tid"] for event in all_events if event.get("args", {}).get("Fwd thread id", 0) > 0}
    launches = {event["args"]["correlation"]: event for event in all_events if event["cat"] == "Runtime"}
    kernels = collections.defaultdict(list)
    for event in all_events:
        if event["cat"] == "Kernel":
            call = launches[event["args"]["correlation"]]
            step = next((one for one in all_steps if within(call["ts"], one)), (0, 0))
            call = {"ts": call["ts"], "step": step, "backward": call["tid"] in autograd}
            kernels[phase_of(call, layers, losses, updates)].append(event)
    return kernels


def calls(all_events):
    launched = collections.Counter()
    threads = collections.defaultdict(list)
    for event in all_events:
        if event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
            launched[event["args"]["correlation"]] += event["dur"]
        elif event["cat"] in ("cpu_op", "cuda_runtime"):
            threads[event["tid"]].append(event)
    counted = {name: collections.Counter() for name in CALLS}
    for thread in threads.values():
        outer = []
        for event in sorted(thread, key=lambda event: (event["ts"], -event["dur"])):
            while outer and outer[-1]["ts"] + outer[-1]["dur"] <= event["ts"] + 1e-6:
                outer.pop()
            if outer and outer[-1]["name"] in counted:
                counted[outer[-1]["name"]]["self"] -= event["dur"]
            outer.append(event)
            if event["name"] in counted:
                counted[event["name"]].update(count=1, self=event["dur"], total=event["dur"])
            if event["cat"] == "cuda_runtime":
                for call in outer:
                    if call["name"] in counted:
                        counted[call["name"]]["gpu"] += launched[event["args"].get("correlation")]
    return {name: {key: one[key] if key == "count" else round(one[key] * 1e3)
                   for key in ("count", "self", "total", "gpu")} for name, one in counted.items()}


def kind_of(operator, kernel):
    if operator.startswith("aten::cudnn_batch_norm"):
        return "batch norm, backward" if operator.endswith("backward") else "batch norm, forward"
    if operator not in ("aten::cudnn_convolution", "aten::convolution_backward"):
        return None
    if "nchwToNhwc" in kernel or "nhwcToNchw" in kernel:
        return "tensors turned round"
    if operator == "aten::cudnn_convolution":
        return "convolutions, forward"
    weight = ("wgrad", "gemmconvolution", "_tn_", "reduc")
    return "weight gradients" if any(word in kernel.lower() for word in weight) else "input gradients"


def kinds(all_events):
    operators = {event["args"]["External id"]: event["name"] for event in all_events if event["cat"] == "cpu_op"}
    times = collections.Counter()
    for event in all_events:
        if event["cat"] == "kernel":
            times[kind_of(operators.get(event["args"]["External id"], ""), event["name"])] += event["dur"]
    return {kind: round(time / steps(all_events) * 1e3) for kind, time in sorted(times.items(), key=str) if kind}


def main():
    folder = pathlib.Path(sys.argv[1])
    golden = {}
    for name, metric, count in (("ddp-a100-2ranks", "comm.exposed", exposed),
                                ("resnet50-v100-2021-schema", "time.backward", backward)):
        all_events = events(folder, name)
        golden[name] = {metric: round(count(all_events) / steps(all_events) * 1e3)}
        if name.startswith("resnet50"):
            found = phases(all_events)
            golden[name]["time.forward"] = round(length(union(found["forward"])) / steps(all_events) * 1e3)
            golden[name]["kernels"] = {phase: len(kernels) for phase, kernels in sorted(found.items())}
    resnet = events(folder, "ddp-a100-2ranks")
    golden["ddp-a100-2ranks"]["calls"] = calls(resnet)
    golden["ddp-a100-2ranks"]["kinds"] = kinds(resnet)
    FILE.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
