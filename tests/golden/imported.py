#!/usr/bin/env python3
"""Writes tests/golden/imported.json: metrics of recorded traces, counted from their files in another way.

    python3 tests/golden/imported.py FOLDER

FOLDER holds the traces. Nanoseconds a step. "comm.exposed": when a NCCL kernel runs and no other kernel does.
"time.backward": when a kernel runs that a thread of autograd has launched; its operators name the thread of
their forward.
"""

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


def main():
    folder = pathlib.Path(sys.argv[1])
    golden = {}
    for name, metric, count in (("ddp-a100-2ranks", "comm.exposed", exposed),
                                ("resnet50-v100-2021-schema", "time.backward", backward)):
        all_events = events(folder, name)
        golden[name] = {metric: round(count(all_events) / steps(all_events) * 1e3)}
    FILE.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
