// What the lessons about many GPUs claim, and the published order of DataParallel and
// DistributedDataParallel.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "scenario/lesson.h"
#include "support/lesson_runs.h"

using namespace trainscope;
using analysis::Run;
using scenario::Lesson;
using test::on_every_machine;
using test::Pair;
using test::run_on;
using test::run_side;
using test::value;

namespace {

double ratio(const Run& b, const Run& a, const char* metric) {
  return value(b, metric) / value(a, metric);
}

Run run_with(const std::vector<std::string>& settings) {
  program::Config config;
  for (const std::string& setting : settings) config.set_text(setting);
  return analysis::run_config("A", config);
}

std::size_t spans_named(const Run& run, const std::string& name) {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < run.trace->spans().size(); ++i)
    count += run.trace->name(run.trace->spans()[i]).starts_with(name);
  return count;
}

}  // namespace

TEST_CASE("dp-vs-ddp: the same samples, a longer step, and a first GPU that holds more") {
  on_every_machine("dp-vs-ddp", [](const Run& ddp, const Run& dp) {
    CHECK(value(ddp, "throughput.samples") * value(ddp, "time.step") ==
          Approx(value(dp, "throughput.samples") * value(dp, "time.step")));
    CHECK(ratio(dp, ddp, "time.step") > 1.15);
    CHECK(value(dp, "memory.peak_allocated") > 1.02 * value(dp, "memory.least_peak"));
    CHECK(value(dp, "overlap.comm_compute") < 0.05);
    CHECK(value(ddp, "overlap.comm_compute") > 0.15);
    CHECK(spans_named(dp, "waits for the interpreter's lock") > 100);
    // Waiting for one Python costs more than what is sent.
    CHECK(value(dp, "time.step") - value(ddp, "time.step") > 2 * value(dp, "comm.exposed"));
  });
}

TEST_CASE(
    "distributed-sampler: the first epoch again, or another; and everybody the same without") {
  on_every_machine("distributed-sampler", [](const Run& told, const Run& not_told) {
    CHECK(value(told, "data.repeated") == 0);
    CHECK(value(not_told, "data.repeated") == 1);
    CHECK(value(told, "data.distinct") == 1);
    CHECK(value(not_told, "data.distinct") == 1);
    const auto &a = told.trace->steps(), &b = not_told.trace->steps();
    REQUIRE(a.size() == 100);
    // The weights are the same until the second epoch's first batch, which is not.
    for (std::uint32_t i = 0; i < 50; ++i) CHECK(a[i].loss == b[i].loss);
    CHECK(a[50].loss != b[50].loss);
    CHECK(a[99].loss < 0.7 * a[0].loss);
    CHECK(b[99].loss < 0.7 * b[0].loss);
  });
  const Lesson lesson = scenario::find_lesson("distributed-sampler");
  const Run all = run_side(lesson, "A", lesson.machines.front(), {"sampler.distributed=false"});
  CHECK(value(all, "data.distinct") == 0.25);
}

TEST_CASE("nvlink-or-pcie: DataParallel over NVLink beats DDP without it, DDP with it beats both") {
  on_every_machine("nvlink-or-pcie", [](const Run& dp, const Run& slow) {
    CHECK(ratio(slow, dp, "time.step") > 1.05);
    CHECK(value(slow, "comm.exposed") > 0.2 * value(slow, "time.step"));
  });
  const Lesson lesson = scenario::find_lesson("nvlink-or-pcie");
  for (const std::string& machine : lesson.machines) {
    CAPTURE(machine);
    const Run dp = run_side(lesson, "A", machine);
    const Run ddp = run_side(lesson, "B", machine, {"nvlink=on"});
    CHECK(value(ddp, "time.step") < value(dp, "time.step"));
    // Longer sequences: more to hide the same gradients behind.
    const Run slow = run_side(lesson, "B", machine);
    const Run longer = run_side(lesson, "B", machine, {"model.seq_len=512"});
    CHECK(value(longer, "comm.exposed") / value(longer, "time.step") <
          value(slow, "comm.exposed") / value(slow, "time.step"));
  }
}

// With sequences of 1024, as published, PCIe has to have as few lanes as fit the published time.
TEST_CASE("DDP with NVLink, DataParallel with it, DDP without: in the published order") {
  const auto time = [](const std::vector<std::string>& settings) {
    std::vector<std::string> all{"machine=titan-rtx-2", "model.name=gpt2", "steps=4",
                                 "optimizer.name=adamw", "parallel.world_size=2"};
    all.insert(all.end(), settings.begin(), settings.end());
    return value(run_with(all), "time.step");
  };
  for (const auto& [length, lanes] : {std::pair{"model.seq_len=128", "pcie.lanes=16"},
                                      std::pair{"model.seq_len=1024", "pcie.lanes=4"}}) {
    CAPTURE(length);
    const double ddp = time({length, "parallel.strategy=ddp", "batch_size=4"});
    const double dp =
        time({length, "parallel.strategy=dp", "batch_size=8", "dp.loss_in_forward=true"});
    const double slow =
        time({length, lanes, "parallel.strategy=ddp", "batch_size=4", "nvlink=off"});
    CHECK(ddp < dp);
    CHECK(dp < slow);
  }
}

TEST_CASE("buckets: one bucket overlaps with nothing, many hide most") {
  on_every_machine("buckets-and-overlap", [](const Run& many, const Run& one) {
    CHECK(value(one, "ddp.buckets") == 1);
    CHECK(value(one, "overlap.comm_compute") < 0.01);
    CHECK(value(many, "overlap.comm_compute") > 0.5);
    CHECK(value(many, "comm.exposed") < 0.3 * value(one, "comm.exposed"));
    CHECK(value(many, "time.step") < value(one, "time.step"));
  });
  const Lesson lesson = scenario::find_lesson("buckets-and-overlap");
  for (const std::string& machine : lesson.machines) {
    const Run few = run_side(lesson, "B", machine, {"ddp.bucket_cap_mb=100"});
    CHECK(value(few, "overlap.comm_compute") > 0.5);
  }
}

TEST_CASE("bucket size: the smallest buckets expose more, and cost launches") {
  on_every_machine("bucket-size", [](const Run& usual, const Run& tiny) {
    CHECK(value(tiny, "ddp.buckets") > 40);
    CHECK(value(tiny, "comm.exposed") > 1.3 * value(usual, "comm.exposed"));
    CHECK(value(tiny, "link.utilization") < value(usual, "link.utilization"));
    CHECK(value(tiny, "launch.calls") > value(usual, "launch.calls"));
    CHECK(value(tiny, "time.step") > value(usual, "time.step"));
  });
}

TEST_CASE("no_sync: a quarter of the sums, and the kernels beside them are quicker") {
  on_every_machine("accumulate-with-no-sync", [](const Run& all, const Run& last) {
    CHECK(value(all, "comm.exposed") > 2.5 * value(last, "comm.exposed"));
    CHECK(value(all, "time.backward") > value(last, "time.backward"));
    CHECK(ratio(all, last, "time.step") > 1.02);
    CHECK(ratio(all, last, "launch.calls") > 1.02);
    // The first backward has one bucket.
    const double sums = static_cast<double>(spans_named(all, "ncclDevKernel_AllReduce"));
    CHECK(sums > 3.5 * static_cast<double>(spans_named(last, "ncclDevKernel_AllReduce")));
  });
}

TEST_CASE("a hook that compresses: half the bytes, less than half exposed, and kernels beside it") {
  on_every_machine("compress-gradients", [](const Run& plain, const Run& hooked) {
    CHECK(value(hooked, "comm.bytes") == Approx(0.5 * value(plain, "comm.bytes")).epsilon(0.001));
    CHECK(value(hooked, "comm.exposed") < 0.45 * value(plain, "comm.exposed"));
    CHECK(value(hooked, "launch.calls") > value(plain, "launch.calls"));
    CHECK(ratio(plain, hooked, "time.step") > 0.98);
  });
  const Lesson lesson = scenario::find_lesson("compress-gradients");
  const auto gain = [&](const std::vector<std::string>& more) {
    return ratio(run_side(lesson, "A", "l40s-4", more), run_side(lesson, "B", "l40s-4", more),
                 "time.step");
  };
  CHECK(gain({}) > 1.3);
  double before = 1;
  for (const char* batch : {"batch_size=4", "batch_size=8", "batch_size=16", "batch_size=24",
                            "batch_size=32", "batch_size=48", "batch_size=64", "batch_size=96"}) {
    INFO(batch);
    CHECK(gain({batch}) < (before < 0.1 ? 1.06 : 2));
    const Run plain = run_side(lesson, "A", "l40s-4", {batch});
    const double exposed = value(plain, "comm.exposed") / value(plain, "time.step");
    CHECK(exposed < before);
    before = exposed;
  }
  CHECK(before < 0.1);
}

TEST_CASE(
    "scaling: FP16 computes faster, sends as much, and so scales worse until it has more to do") {
  on_every_machine("scaling-efficiency", [](const Run& fp32, const Run& fp16) {
    CHECK(value(fp16, "scaling.efficiency") < value(fp32, "scaling.efficiency") - 0.05);
    CHECK(value(fp16, "time.step") < 0.6 * value(fp32, "time.step"));
    CHECK(spans_named(fp16, "ncclDevKernel_AllReduce") ==
          spans_named(fp32, "ncclDevKernel_AllReduce"));
    CHECK(value(fp16, "comm.exposed") / value(fp16, "time.step") >
          value(fp32, "comm.exposed") / value(fp32, "time.step"));
  });
  const Lesson lesson = scenario::find_lesson("scaling-efficiency");
  for (const std::string& machine : lesson.machines) {
    CAPTURE(machine);
    const Run a = run_side(lesson, "A", machine);
    const Run more = run_side(lesson, "B", machine, {"batch_size=32"});
    const Run less = run_side(lesson, "B", machine);
    CHECK(value(more, "scaling.efficiency") > value(less, "scaling.efficiency") + 0.05);
    CHECK(value(run_side(lesson, "B", machine, {"batch_size=64"}), "scaling.efficiency") >
          value(a, "scaling.efficiency"));
  }
}

TEST_CASE("two nodes: the network is what the ring waits for, until each rank has more to do") {
  on_every_machine("two-nodes", [](const Run& one, const Run& two) {
    CHECK(value(two, "comm.exposed") > 1.5 * value(one, "comm.exposed"));
    CHECK(ratio(two, one, "throughput.samples") < 1.98);
    CHECK(value(two, "scaling.efficiency") < value(one, "scaling.efficiency"));
  });
  const Lesson lesson = scenario::find_lesson("two-nodes");
  for (const std::string& machine : lesson.machines) {
    CAPTURE(machine);
    CHECK(value(run_side(lesson, "B", machine, {"batch_size=16"}), "scaling.efficiency") >
          value(run_side(lesson, "A", machine), "scaling.efficiency"));
  }
}

TEST_CASE("straggler: the slow rank sets the pace, and the others wait in the sum") {
  const Lesson lesson = scenario::find_lesson("straggler");
  on_every_machine("straggler", [&](const Run& even, const Run& odd) {
    CHECK(ratio(odd, even, "time.step") > 1.2);
    CHECK(ratio(odd, even, "time.step") < 1.42);
    CHECK(value(odd, "comm.wait") > 0.3 * value(odd, "time.step"));
    CHECK(value(even, "comm.wait") == 0);
  });
  for (const std::string& machine : lesson.machines) {
    CAPTURE(machine);
    const Run odd = run_side(lesson, "B", machine);
    const Run three =
        run_side(lesson, "B", machine, {"parallel.world_size=3", "straggler.rank=-1"});
    CHECK(ratio(three, odd, "throughput.samples") == Approx(1).epsilon(0.1));
  }
}

TEST_CASE("deadlock: all but the rank with a batch less wait for it, and are told so") {
  on_every_machine("ddp-deadlock", [](const Run& even, const Run& uneven) {
    CHECK_FALSE(even.ending);
    CHECK(value(even, "comm.stuck") == 0);
    REQUIRE(uneven.ending);
    CHECK(sim::name_of(*uneven.ending) == "deadlock");
    CHECK(value(uneven, "comm.stuck") == 2);
    // The step that is never done is none.
    CHECK(value(uneven, "time.step") == Approx(value(even, "time.step")).epsilon(0.05));
    CHECK(value(uneven, "scaling.efficiency") <= 1);
  });
  const Lesson lesson = scenario::find_lesson("ddp-deadlock");
  const Run six = run_side(lesson, "B", "h100-sxm-8", {"parallel.world_size=6"});
  CHECK(value(six, "comm.stuck") == 5);
}

TEST_CASE("tensor-parallel: less memory, sums that nothing hides, and that grow with the tokens") {
  on_every_machine("tensor-parallel", [](const Run& ddp, const Run& tensor) {
    CHECK(value(ddp, "throughput.samples") * value(ddp, "time.step") ==
          Approx(value(tensor, "throughput.samples") * value(tensor, "time.step")));
    CHECK(ratio(tensor, ddp, "memory.peak_allocated") < 0.4);
    CHECK(ratio(tensor, ddp, "memory.parameters") == Approx(1.0 / 8).epsilon(0.05));
    CHECK(ratio(tensor, ddp, "time.step") > 1.1);
    CHECK(ratio(tensor, ddp, "comm.exposed") > 2);
    // Every kernel behind a sum waits for it.
    CHECK(value(tensor, "overlap.comm_compute") == 0);
    CHECK(value(ddp, "overlap.comm_compute") > 0.5);
    CHECK(value(tensor, "scaling.efficiency") < value(ddp, "scaling.efficiency"));
  });
  const Lesson lesson = scenario::find_lesson("tensor-parallel");
  const std::vector<std::string> longer{"model.seq_len=2048"};
  for (const std::string& machine : lesson.machines) {
    CAPTURE(machine);
    CHECK(value(run_side(lesson, "A", machine, longer), "comm.bytes") ==
          value(run_side(lesson, "A", machine), "comm.bytes"));
    CHECK(value(run_side(lesson, "B", machine, longer), "comm.bytes") ==
          Approx(2 * value(run_side(lesson, "B", machine), "comm.bytes")).epsilon(0.01));
  }
}

TEST_CASE("sequence-parallel: as many bytes, fewer activations, and twice as many collectives") {
  on_every_machine("sequence-parallel", [](const Run& whole, const Run& parts) {
    CHECK(ratio(parts, whole, "memory.activations") < 0.6);
    CHECK(ratio(parts, whole, "memory.peak_allocated") < 0.75);
    CHECK(ratio(parts, whole, "comm.bytes") == Approx(1).epsilon(0.02));
    CHECK(ratio(parts, whole, "time.step") < 0.95);
    CHECK(value(parts, "memory.parameters") == value(whole, "memory.parameters"));
    // Of each pair, the embedding and the head; of the positions a gather alone.
    CHECK(spans_named(parts, "ncclDevKernel_ReduceScatter") == 4 * (2 * 48 + 2));
    CHECK(spans_named(parts, "ncclDevKernel_AllGather") == 4 * (2 * 48 + 3));
    CHECK(value(parts, "overlap.comm_compute") == 0);
  });
  const Lesson lesson = scenario::find_lesson("sequence-parallel");
  for (const std::string& machine : lesson.machines) {
    CAPTURE(machine);
    const Run whole = run_side(lesson, "A", machine, {"batch_size=1"});
    const Run parts = run_side(lesson, "B", machine, {"batch_size=1"});
    CHECK(ratio(parts, whole, "comm.exposed") > 1.2);
    CHECK(ratio(parts, whole, "time.step") > 0.98);
    // What is computed again gathers before every layer that it repeats.
    const std::vector<std::string> again{"checkpoint.enabled=true"};
    CHECK(ratio(run_side(lesson, "B", machine, again), run_side(lesson, "A", machine, again),
                "comm.bytes") > 1.1);
  }
}

TEST_CASE("hybrid-shard: parameters stay within a node, and a larger batch hides them anyway") {
  on_every_machine("hybrid-shard", [](const Run& full, const Run& mixed) {
    CHECK(ratio(mixed, full, "time.step") < 0.75);
    CHECK(ratio(mixed, full, "comm.network_bytes") < 0.4);
    CHECK(ratio(mixed, full, "memory.optimizer") == Approx(2).epsilon(0.05));
    CHECK(value(mixed, "memory.peak_allocated") > value(full, "memory.peak_allocated"));
    CHECK(value(full, "comm.exposed") > 5 * value(mixed, "comm.exposed"));
  });
  const Lesson lesson = scenario::find_lesson("hybrid-shard");
  for (const std::string& machine : lesson.machines) {
    CAPTURE(machine);
    const Run mixed = run_side(lesson, "B", machine);
    const Run smaller = run_side(lesson, "B", machine, {"fsdp.shard_degree=4"});
    CHECK(ratio(smaller, mixed, "comm.network_bytes") == Approx(1.5).epsilon(0.01));
    CHECK(value(smaller, "memory.peak_allocated") > value(mixed, "memory.peak_allocated"));
    const Run full = run_side(lesson, "A", machine, {"batch_size=4"});
    CHECK(ratio(full, run_side(lesson, "B", machine, {"batch_size=4"}), "time.step") < 1.1);
  }
}

TEST_CASE("tensor-inside-the-node: fewer bytes over the network, and who waits for them") {
  on_every_machine("tensor-inside-the-node", [](const Run& wide, const Run& mesh) {
    CHECK(ratio(mesh, wide, "time.step") < 0.9);
    CHECK(ratio(mesh, wide, "comm.exposed") < 0.8);
    CHECK(ratio(mesh, wide, "comm.network_bytes") == Approx(0.437).epsilon(0.02));
    CHECK(wide.program->samples_per_step == mesh.program->samples_per_step);
    CHECK(value(wide, "overlap.comm_compute") == 0);
    CHECK(value(mesh, "overlap.comm_compute") > 0.2);
  });
  const Lesson lesson = scenario::find_lesson("tensor-inside-the-node");
  for (const std::string& machine : lesson.machines) {
    CAPTURE(machine);
    const Run wide = run_side(lesson, "A", machine, {"batch_size=2"});
    const Run mesh = run_side(lesson, "B", machine, {"batch_size=1"});
    CHECK(ratio(mesh, wide, "comm.network_bytes") > 1.3);
    CHECK(ratio(mesh, wide, "time.step") < 1);
  }
}

TEST_CASE("pipeline-bubble: the formula nearly holds, until the last stage is the longest") {
  const Lesson lesson = scenario::find_lesson("pipeline-bubble");
  const auto of_formula = [](const Run& run) {
    const auto ranks = static_cast<double>(run.config.whole("parallel.world_size"));
    const auto parts = static_cast<double>(run.config.whole("pipeline.microbatches"));
    return value(run, "pipeline.bubble") * parts / (ranks - 1);
  };
  on_every_machine("pipeline-bubble", [&](const Run& gpipe, const Run& one_each) {
    CHECK(of_formula(gpipe) > 1);
    CHECK(of_formula(gpipe) < 1.2);
    CHECK(of_formula(one_each) < 1.2);
    CHECK(ratio(one_each, gpipe, "time.step") == Approx(1).epsilon(0.03));
    CHECK(ratio(one_each, gpipe, "memory.peak_allocated") < 0.6);
  });
  for (const std::string& machine : lesson.machines) {
    CAPTURE(machine);
    const std::vector<std::string> narrow{"precision=bf16"}, finer{"pipeline.microbatches=32"};
    const Run gpipe = run_side(lesson, "A", machine, narrow);
    const Run one_each = run_side(lesson, "B", machine, narrow);
    CHECK(test::reached(test::step_of(lesson, "uneven"), gpipe, one_each));
    CHECK(of_formula(one_each) > 1.3);
    CHECK(value(run_side(lesson, "B", machine, finer), "pipeline.bubble") <
          0.5 * value(run_side(lesson, "B", machine), "pipeline.bubble"));
  }
}

TEST_CASE("interleaved-pipeline: a shorter bubble, unless all is on one stream or stages differ") {
  const Lesson lesson = scenario::find_lesson("interleaved-pipeline");
  on_every_machine("interleaved-pipeline", [&](const Run& plain, const Run& interleaved) {
    CHECK(ratio(interleaved, plain, "pipeline.bubble") < 0.65);
    CHECK(ratio(interleaved, plain, "time.step") < 0.95);
    // The GPUs that send most are those between: an activation and a gradient of each micro-batch
    // and stage, 40 MiB.
    CHECK(value(plain, "comm.bytes") == Approx(8 * 2 * 40.0 * (1 << 20)).epsilon(0.01));
    CHECK(ratio(interleaved, plain, "comm.bytes") == Approx(2).epsilon(0.01));
    CHECK(ratio(interleaved, plain, "memory.activations") > 1.3);
  });
  for (const std::string& machine : lesson.machines) {
    CAPTURE(machine);
    const Run plain = run_side(lesson, "A", machine), two = run_side(lesson, "B", machine);
    const Run one_stream = run_side(lesson, "B", machine, {"pipeline.batch_p2p_comm=true"});
    CHECK(ratio(one_stream, plain, "pipeline.bubble") > 1);
    CHECK(test::reached(test::step_of(lesson, "one-stream"), plain, one_stream));
    CHECK(ratio(one_stream, plain, "time.step") > 1.02);
    const Run four = run_side(lesson, "B", machine, {"pipeline.stages_per_rank=4"});
    CHECK(ratio(four, two, "pipeline.bubble") > 1.2);
  }
}

TEST_CASE("how-long-will-it-take: the side that does more arithmetic a second is done later") {
  const Lesson lesson = scenario::find_lesson("how-long-will-it-take");
  for (const std::string& machine : lesson.machines) {
    INFO(machine);
    const Pair pair = run_on(lesson, machine);
    CHECK(value(pair.b, "flops.achieved") > value(pair.a, "flops.achieved"));
    CHECK(value(pair.b, "hfu") > value(pair.a, "hfu"));
    CHECK(value(pair.b, "mfu") < value(pair.a, "mfu"));
    // The days are the share of the peak that trains, turned over.
    CHECK(ratio(pair.b, pair.a, "time.step") == Approx(1 / ratio(pair.b, pair.a, "mfu")));
    const scenario::Step& vary = test::step_of(lesson, "vary");
    CHECK_FALSE(test::reached(vary, pair.a, pair.b));
    CHECK(test::reached(vary, run_side(lesson, "A", machine, {"batch_size=8"}), pair.b));
    // More sequences a second are no more tokens.
    const Run shorter = run_side(lesson, "A", machine, {"model.seq_len=1024"});
    CHECK(ratio(shorter, pair.b, "throughput.samples") > 1.25);
    CHECK_FALSE(test::reached(vary, shorter, pair.b));
  }
}
