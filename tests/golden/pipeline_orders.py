#!/usr/bin/env python3
"""Writes tests/golden/pipeline_orders.json: what PyTorch's ScheduleInterleaved1F1B has each rank do, and in which order.

    python3 -m venv /somewhere && /somewhere/bin/pip install torch==2.11.0 numpy
    /somewhere/bin/python tests/golden/pipeline_orders.py

Nothing is sent: the schedule is built of stages that know their places alone. Of each rank its actions as the schedule
writes them ("4F1" is stage 4's forward of micro-batch 1), forwards, backwards, sends and receives and the sums of
gradients; without UNSHARD and RESHARD, which do nothing where no stage is sharded. A schedule that PyTorch refuses has
its sentence instead.
"""

import json
import pathlib

from torch.distributed.pipelining.schedules import ScheduleInterleaved1F1B

FILE = pathlib.Path(__file__).resolve().parent / "pipeline_orders.json"
SHAPES = [(p, v, m) for p in (2, 3, 4) for v in (1, 2, 3, 5) for m in (2, 5, 8)] + [(4, 2, 10), (8, 2, 16)]
IDLE = ("UNSHARD", "RESHARD")


class Stage:
    """What a schedule asks of a stage while it is built."""

    has_backward = True

    def __init__(self, index, ranks, stages):
        self.stage_index = index
        self.group_rank = index % ranks
        self.group_size = ranks
        self.num_stages = stages
        self.submod = None


def actions(ranks, stages_per_rank, micro_batches):
    own = [Stage(i * ranks, ranks, ranks * stages_per_rank) for i in range(stages_per_rank)]
    try:
        schedule = ScheduleInterleaved1F1B(own, micro_batches, loss_fn=lambda out, y: out)
    except ValueError as refused:
        return {"refused": str(refused)}
    order = schedule.pipeline_order_with_comms
    return {"ranks": [" ".join(str(one) for one in order[rank] if not str(one).endswith(IDLE))
                      for rank in range(ranks)]}


def main():
    all_shapes = [{"shape": list(shape), **actions(*shape)} for shape in SHAPES]
    FILE.write_text("[\n" + ",\n".join(json.dumps(one) for one in all_shapes) + "\n]\n")


if __name__ == "__main__":
    main()
