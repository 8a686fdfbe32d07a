// Every metric once: its name, unit, label and help, and how it is computed. Those of memory, of
// arithmetic and of a loss to be reached have files of their own.

#include <algorithm>

#include "analysis/causes/bubble.h"
#include "analysis/metrics/device_bandwidth.h"
#include "analysis/metrics/metric_rows.h"
#include "analysis/steps/launches.h"
#include "analysis/views/copy_steps.h"

namespace trainscope::analysis {
namespace {

Answer unless_empty(const Facts& facts, const IntervalSet& set) {
  if (set.empty()) return std::nullopt;
  return a_step(facts, set.length());
}

Answer a_step_of_copies(const Facts& facts, const CopyTimes& times, trace::Category direction) {
  if (times.intervals.empty()) return std::nullopt;
  return static_cast<double>(times.intervals.length()) / steps_of_copies(facts.measured, direction);
}

Compute part(Part which) {
  return [which](const Facts& facts) {
    if (!facts.measured.on_gpu) return Answer();
    return Answer(a_step(facts, facts.partition[which]));
  };
}

// The share of the shorter side's union in which both sides are at work.
Answer overlap(const IntervalSet& a, const IntervalSet& b) {
  if (a.empty() || b.empty()) return std::nullopt;
  return static_cast<double>(a.intersected(b).length()) /
         static_cast<double>(std::min(a.length(), b.length()));
}

double bytes_a_step(const Facts& facts, const CopyTimes& times, trace::Category direction) {
  return times.count == 0
             ? 0
             : static_cast<double>(times.bytes) / steps_of_copies(facts.measured, direction);
}

bool waits_are_told(const Facts& facts) {
  return facts.collectives.count > 0 && facts.collectives.tells_waits;
}

// Of the workloads only training does; a file shows it.
bool takes_batches(const Measured& measured) {
  return measured.takes_batches || (measured.program && measured.program->samples_per_step > 0);
}

// A training has more in a step than what these engines do, so that it is no bound of one.
Answer longest_engine(const Facts& facts) {
  const Measured& measured = facts.measured;
  if (!measured.machine || takes_batches(measured) || measured.kernels.empty()) return std::nullopt;
  const double up = bytes_a_step(facts, facts.h2d, trace::Category::kCopyH2D);
  const double down = bytes_a_step(facts, facts.d2h, trace::Category::kCopyD2H);
  if (up == 0 || down == 0) return std::nullopt;
  const machine::Pcie& pcie = measured.machine->pcie;
  return std::max({a_step(facts, measured.kernels.length()), up / pcie.h2d_bytes_per_s * 1e9,
                   down / pcie.d2h_bytes_per_s * 1e9, (up + down) / pcie.both_bytes_per_s * 1e9});
}

Answer bandwidth(const CopyTimes& times) {
  if (times.intervals.empty()) return std::nullopt;
  return static_cast<double>(times.bytes) / static_cast<double>(times.intervals.length()) * 1e9;
}

Answer bandwidth(const Facts& facts, double bytes) {
  const IntervalSet& intervals = facts.collectives.intervals;
  if (intervals.empty() || bytes <= 0) return std::nullopt;
  return bytes / static_cast<double>(intervals.length()) * 1e9;
}

Answer link_utilization(const Facts& facts) {
  const CollectiveTimes& times = facts.collectives;
  if (times.on_links <= 0 || times.work_of_all == 0) return std::nullopt;
  return times.on_links / static_cast<double>(times.work_of_all);
}

Answer parameters(const Facts& facts) {
  const program::Program* program = facts.measured.program;
  if (!program || program->parameters == 0) return std::nullopt;
  return static_cast<double>(program->parameters);
}

// Some kernel is on the GPU: also one that only looks whether another rank is there.
IntervalSet kernels_there(const Measured& measured) {
  std::vector<Interval> waits;
  trace::for_each(measured.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    if (!is_peer_wait(span) || !measured.counts(measured.trace->lanes()[span.lane])) return;
    const Interval one{std::max(span.start, measured.window.start),
                       std::min(span.end(), measured.window.end)};
    if (one.start < one.end) waits.push_back(one);
  });
  return measured.kernels.united(measured.collectives).united(IntervalSet(std::move(waits)));
}

void add_times(Table& t) {
  t.add("time.total", "ns", "whole run", "from the first event of the run to its last",
        [](const Facts& f) {
          if (f.measured.trace->spans().empty()) return Answer();
          return Answer(static_cast<double>(length(f.measured.whole)));
        });
  t.add("time.step", "ns", "step time",
        "a step, all its work included; the first of several is warm-up and left out, as are those "
        "right after it that still call cudaMalloc, but of a profiler's trace all steps count",
        [](const Facts& f) {
          if (f.measured.steps == 0) return Answer();
          return Answer(a_step(f, length(f.measured.window)));
        });
  t.add(
      "time.epoch", "ns", "epoch time",
      "one pass over the data set, without what drop_last leaves out: the mean of the run's whole "
      "epochs after the warm-up, else as many steps as it takes, none shorter than a loader's "
      "workers take for a batch in the long run; with the validations that the run has in as many "
      "steps",
      [](const Facts& f) { return f.epoch; });
  t.add("time.validation", "ns", "validation",
        "a validation between two training steps, of which it is no part, by the host's clock",
        [](const Facts& f) {
          return f.validating && f.validating->time > 0 ? Answer(f.validating->time) : Answer();
        });
  t.add("time.forward", "ns", "forward",
        "forward kernels at work, a step; absent where most kernels' phase is not known",
        [](const Facts& f) {
          if (f.measured.unphased.length() > f.measured.forward.length()) return Answer();
          return unless_empty(f, f.measured.forward);
        });
  t.add("time.backward", "ns", "backward", "backward kernels at work, a step",
        [](const Facts& f) { return unless_empty(f, f.measured.backward); });
  t.add("time.optimizer", "ns", "optimizer", "optimizer kernels at work, a step",
        [](const Facts& f) { return unless_empty(f, f.measured.optimizer); });
  t.add(
      "time.h2d", "ns", "copy to GPU",
      "copies host to device, from the call, or from when its stream was free and what that waits "
      "for was done, to the completion, a step, of those that the measured steps call for; the "
      "last "
      "steps of a loop that fetches ahead call for none, and do not count",
      [](const Facts& f) { return a_step_of_copies(f, f.h2d, trace::Category::kCopyH2D); });
  t.add(
      "time.d2h", "ns", "copy to host",
      "copies device to host, from the call, or from when its stream was free and what that waits "
      "for was done, to the completion, a step, of those that the measured steps call for",
      [](const Facts& f) { return a_step_of_copies(f, f.d2h, trace::Category::kCopyD2H); });
  t.add("time.host_timer", "ns", "host timer",
        "what the host's clock reads between two calls of time.perf_counter(), a step",
        [](const Facts& f) { return f.host.timer; });
  t.add("time.first_timer", "ns", "first host timer",
        "the same of the first step, which other times leave out as warm-up",
        [](const Facts& f) { return f.host.first_timer; });
}

Answer samples_a_second(const Facts& f) {
  const auto* program = f.measured.program;
  if (!program || program->samples_per_step == 0 || f.measured.steps == 0) return Answer();
  return program->samples_per_step / a_step(f, length(f.measured.window)) * 1e9;
}

void add_rates(Table& t) {
  t.more_is_better("throughput.samples", "samples/s", "throughput", "samples trained a second",
                   samples_a_second);
  t.more_is_better(
      "throughput.tokens", "tokens/s", "tokens a second",
      "tokens trained a second, of all GPUs: the samples are sequences of model.seq_len tokens; "
      "absent where a model reads none",
      [](const Facts& f) {
        const Answer samples = samples_a_second(f);
        if (!samples || f.measured.program->data.tokens == 0) return Answer();
        return Answer(*samples * static_cast<double>(f.measured.program->data.tokens));
      });
  t.more_is_better("bandwidth.h2d", "B/s", "copy bandwidth to GPU",
                   "bytes copied host to device over time.h2d",
                   [](const Facts& f) { return bandwidth(f.h2d); });
  t.more_is_better("bandwidth.d2h", "B/s", "copy bandwidth to host",
                   "bytes copied device to host over time.d2h",
                   [](const Facts& f) { return bandwidth(f.d2h); });
  t.more_is_better("bandwidth.dram", "B/s", "device-memory bandwidth",
                   "bytes that kernels, and copies within the device, read from device memory and "
                   "write to it, over the time in which they run; what L2 serves is not among them",
                   device_bandwidth);
  t.more_is_better(
      "bandwidth.algorithm", "B/s", "algorithm bandwidth",
      "bytes of a collective over its time, from its call to its completion; where the GPU was at "
      "work after the call, over that of its kernel alone",
      [](const Facts& f) { return bandwidth(f, f.collectives.bytes); });
  t.more_is_better("bandwidth.bus", "B/s", "bus bandwidth",
                   "algorithm bandwidth times the traffic factor of the collective",
                   [](const Facts& f) { return bandwidth(f, f.collectives.bus_bytes); });
}

void add_gpu(Table& t) {
  t.add("gpu.busy", "ns", "GPU busy", "kernels, copies, collectives or memsets at work, a step",
        [](const Facts& f) {
          if (!f.measured.on_gpu) return Answer();
          return Answer(a_step(f, gpu_busy(f.measured).length()));
        });
  t.add("gpu.idle", "ns", "GPU idle", "none of them at work, a step", [](const Facts& f) {
    if (!f.measured.on_gpu) return Answer();
    return Answer(a_step(f, length(f.measured.window) - gpu_busy(f.measured).length()));
  });
  t.share("gpu.util", "GPU-Util", "share of time with at least one kernel, as nvidia-smi shows it",
          [](const Facts& f) {
            if (length(f.measured.window) == 0 || !f.measured.on_gpu) return Answer();
            return Answer(static_cast<double>(kernels_there(f.measured).length()) /
                          static_cast<double>(length(f.measured.window)));
          });
  t.add("idle.data", "ns", name_of(Part::kIdleData), "GPU idle while no batch is there, a step",
        [](const Facts& f) {
          return takes_batches(f.measured) ? part(Part::kIdleData)(f) : Answer();
        });
  t.add("idle.launch", "ns", name_of(Part::kIdleLaunch),
        "GPU idle while the host has yet to launch, or the launch is on its way, a step",
        part(Part::kIdleLaunch));
  t.add("idle.gap", "ns", name_of(Part::kIdleGap),
        "GPU idle from a kernel to the next one of its stream, launched in time, a step",
        part(Part::kIdleGap));
  t.add("idle.copy", "ns", name_of(Part::kIdleCopy),
        "GPU idle while the host stages pageable memory, a step", part(Part::kIdleCopy));
  t.add("idle.stream", "ns", name_of(Part::kIdleStream),
        "GPU idle until an event of another stream, a step", part(Part::kIdleStream));
  t.add("idle.collective", "ns", name_of(Part::kIdleCollective),
        "GPU idle until another rank arrives, a step", [](const Facts& f) {
          const bool has_any = waits_are_told(f) || f.partition[Part::kIdleCollective] > 0;
          return has_any ? part(Part::kIdleCollective)(f) : Answer();
        });
  t.add("idle.sync", "ns", name_of(Part::kIdleSync), "GPU idle while the host synchronises, a step",
        part(Part::kIdleSync));
  t.add("host.blocked", "ns", "host held",
        "the training thread held by a CUDA call or by missing data, a step", [](const Facts& f) {
          const bool may_be = f.measured.on_gpu || takes_batches(f.measured);
          return may_be ? Answer(a_step(f, f.measured.held.length())) : Answer();
        });
  t.add("host.lead", "ns", "host ahead",
        "from the end of a step's last launch call until the GPU is done with the step's work",
        [](const Facts& f) { return f.measured.on_gpu ? f.host.lead : Answer(); });
  t.add("launch.calls", "1", "launch calls",
        "calls of one process that launch kernels or graphs, a step",
        [](const Facts& f) { return f.host.launches; });
  t.more_is_better(
      "launch.queue_depth", "1", "queue depth",
      "launched operations that have not started, on average: how far the host is ahead",
      [](const Facts& f) { return mean_queue_depth(f.measured); });
}

void add_overlaps(Table& t) {
  t.share("overlap.copy_compute", "copy/compute overlap",
          "time both copies and kernels are at work, as a share of the shorter",
          [](const Facts& f) { return overlap(f.measured.copies, f.measured.kernels); });
  t.add("time.longest_engine", "ns", "longest engine",
        "of a step that trains nothing and copies both ways: its kernels, its bytes to the GPU, "
        "those back, and both together at the link's rates, whichever takes longest; no order of "
        "the same "
        "work ends sooner",
        longest_engine);
  t.share("overlap.comm_compute", "comm/compute overlap",
          "time both collectives and kernels are at work, as a share of the shorter",
          [](const Facts& f) { return overlap(f.measured.collectives, f.measured.kernels); });
  t.add("comm.exposed", "ns", "exposed communication",
        "collectives at work while no kernel is, a step", [](const Facts& f) {
          if (f.measured.collectives.empty()) return Answer();
          return Answer(a_step(f, f.partition[Part::kExposedCommunication]));
        });
  t.add("comm.wait", "ns", "communication wait",
        "collectives placed and waiting for the last rank, a step, of the GPU that waits most",
        [](const Facts& f) {
          if (!waits_are_told(f)) return Answer();
          return Answer(a_step(f, f.collectives.longest_wait));
        });
  t.add("comm.bytes", "B", "bytes sent",
        "bytes that a GPU sends to others in collectives, a step: the GPU that sends most",
        [](const Facts& f) {
          if (f.collectives.wire_bytes <= 0) return Answer();
          return Answer(f.collectives.wire_bytes / f.measured.per());
        });
  t.add("comm.network_bytes", "B", "bytes to other nodes",
        "bytes that a node sends to others in collectives, a step", [](const Facts& f) {
          if (f.collectives.network_bytes <= 0) return Answer();
          return Answer(f.collectives.network_bytes / f.measured.per());
        });
  t.add("comm.stuck", "1", "GPUs stuck", "GPUs that wait for a rank that never comes",
        [](const Facts& f) {
          if (!waits_are_told(f)) return Answer();
          return Answer(static_cast<double>(f.collectives.stuck));
        });
  t.share("link.utilization", "link utilisation",
          "bytes that a GPU sends over what its links, or between nodes the network, could carry "
          "while collectives work",
          link_utilization);
  t.share(
      "scaling.efficiency", "scaling efficiency",
      "the step of one GPU alone over the step here, each GPU with the same batch; of a pipeline "
      "or of tensor parallelism, each with its share of it; with fsdp.param_dtype = bf16 the one "
      "alone has its weights in BF16",
      [](const Facts& f) {
        if (!f.measured.program || f.measured.steps == 0) return Answer();
        const Nanos alone = f.measured.program->step_alone;
        if (alone == 0) return Answer();
        const double here = a_step(f, length(f.measured.window));
        return Answer(static_cast<double>(alone) / here / f.measured.program->gpus_of_batch);
      });
  t.share("pipeline.bubble", "pipeline bubble",
          "of a pipeline's stages: time in which they compute nothing over the time in which they "
          "compute, mean of the GPUs",
          [](const Facts& f) { return pipeline_bubble(f.measured); });
  t.rows.back().less_is_better = true;
  t.add("ddp.buckets", "1", "buckets", "gradient buckets, once they are rebuilt",
        [](const Facts& f) {
          const program::Program* program = f.measured.program;
          if (!program || program->buckets.empty()) return Answer();
          return Answer(static_cast<double>(program->buckets.size()));
        });
}

Compute of_sms(std::optional<double> SmFacts::* number) {
  return [number](const Facts& facts) { return facts.sms.*number; };
}

void add_sms(Table& t) {
  t.share(
      "occupancy.theoretical", "theoretical occupancy",
      "warps that may be on an SM at once, of those that it could hold: of the kernel that takes "
      "longest",
      of_sms(&SmFacts::theoretical));
  t.share(
      "occupancy.achieved", "achieved occupancy",
      "warps that were on SMs with a block, of those that they could hold, while the kernel that "
      "takes longest ran: its own, and those of kernels beside it",
      of_sms(&SmFacts::achieved));
  t.add("sm.waves", "1", "waves",
        "rounds of blocks that the kernel that takes longest needs, alone on the GPU",
        of_sms(&SmFacts::waves));
  t.share("sm.tail_idle", "tail idle",
          "SM time without a block in a kernel's last wave, of the kernel's SM time",
          of_sms(&SmFacts::tail_idle));
  t.rows.back().less_is_better = true;
  t.share("sm.utilization", "SM utilisation", "SM time with a block, while kernels ran",
          of_sms(&SmFacts::utilization));
}

Compute learned(std::optional<double> Learning::* number) {
  return [number](const Facts& facts) { return facts.learning.*number; };
}

void add_model(Table& t) {
  t.add("loss", "1", "loss",
        "the training loss, of the last step that is looked at; of several ranks that of rank 0's "
        "own batch, as print(loss.item()) shows it there",
        learned(&Learning::last_loss));
  t.add("loss.first", "1", "first loss", "the loss of the first step",
        learned(&Learning::first_loss));
  t.add("loss.final", "1", "final loss", "the loss of the last step",
        learned(&Learning::last_loss));
  t.share("accuracy.final", "final accuracy",
          "share of the test set, of its whole batches, that the trained model tells right",
          learned(&Learning::accuracy));
  t.share("data.distinct", "distinct samples",
          "of what all ranks read in the first epoch, the share that no rank had read before",
          [](const Facts& f) {
            const program::Program* program = f.measured.program;
            return program && program->reading ? Answer(program->reading->distinct) : Answer();
          });
  t.share("data.repeated", "repeated batches",
          "of a rank's batches in the second epoch, the share that the first had in the same place",
          [](const Facts& f) {
            const program::Program* program = f.measured.program;
            return program && program->reading ? Answer(program->reading->repeated) : Answer();
          });
  t.rows.back().less_is_better = true;
  t.add("grad.norm", "1", "gradient norm", "norm of all gradients before clipping",
        learned(&Learning::gradient_norm));
  t.add("model.parameters", "1", "parameters", "the model's weights and biases", parameters);
  t.add("scaler.scale", "1", "loss scale", "the loss scale after the step",
        learned(&Learning::loss_scale));
  t.rows.back().factor = true;
  t.add("scaler.skipped_steps", "1", "skipped steps", "steps whose update was skipped",
        learned(&Learning::skipped_steps));
  t.share("grad.underflow", "gradient underflow",
          "of the numbers that backward rounds to FP16 or BF16, those that become zero",
          learned(&Learning::underflow));
  t.share("grad.overflow", "gradient overflow", "of the same numbers, those that become infinite",
          learned(&Learning::overflow));
  t.share("grad.zeros", "zero gradients",
          "share of the weights' gradients that are zero, over all steps; in a narrow type or with "
          "a scaler",
          learned(&Learning::zero_gradients));
  t.share("update.lost", "lost updates",
          "of the weights whose gradient is not zero, those that the update leaves as they were, "
          "over all steps: it is less than half the way to the next number of their type; in a "
          "narrow type or with a scaler",
          learned(&Learning::lost_updates));
  for (std::size_t lost = t.rows.size() - 4; lost < t.rows.size(); ++lost)
    t.rows[lost].less_is_better = true;
}

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> table = [] {
    Table t;
    add_times(t);
    add_rates(t);
    add_gpu(t);
    add_overlaps(t);
    add_memory(t);
    add_sms(t);
    add_roofline(t);
    add_flops(t);
    add_model(t);
    add_target(t);
    return std::move(t.rows);
  }();
  return table;
}

}  // namespace trainscope::analysis
