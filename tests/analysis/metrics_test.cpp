#include "analysis/metrics/metrics.h"

#include <catch2/catch.hpp>
#include <set>

#include "analysis/runs/run.h"
#include "sim/simulation.h"
#include "support/config.h"
#include "support/metric_value.h"
#include "support/random_program.h"
#include "support/skip.h"
#include "support/step_facts.h"
#include "support/traces.h"

using namespace trainscope;
using analysis::Interval;
using analysis::Run;
using test::value;

namespace {

Run run(std::initializer_list<const char*> settings) {
  return analysis::run_config("A", test::config_of(settings));
}

Nanos sum(const analysis::Partition& partition) {
  Nanos total = 0;
  for (const Nanos part : partition.time) total += part;
  return total;
}

}  // namespace

TEST_CASE("metric names are unique, and each has a unit, a label and a help line") {
  std::set<std::string> names;
  for (const auto& metric : analysis::metrics()) {
    CHECK(names.insert(metric.name).second);
    CHECK(!metric.unit.empty());
    CHECK(!metric.label.empty());
    CHECK(!metric.help.empty());
  }
  CHECK_THROWS_WITH(analysis::find_metric("time.stap"), Catch::Contains("did you mean time.step?"));
}

TEST_CASE("a copy's bandwidth is its bytes over the time from call to completion") {
  const Run pinned = run({"workload=copy", "copy.memory=pinned", "copy.bytes=64 MiB"});
  CHECK(value(pinned, "bandwidth.h2d") ==
        Approx(67108864.0 / value(pinned, "time.h2d") * 1e9).epsilon(1e-12));
  CHECK(!analysis::value_of(pinned.metrics, "time.d2h"));
  CHECK(!analysis::value_of(pinned.metrics, "throughput.samples"));
}

TEST_CASE("what a copy stood behind on its stream is not its time") {
  const auto fed = [](const char* memory, const char* waits) {
    return run({"workload=train", "model.name=resnet18", "batch_size=32", "machine=a100-sxm-1",
                memory, waits, "steps=6"});
  };
  const Run pinned = fed("loader.pin_memory=true", "transfer.non_blocking=true");
  const Run pageable = fed("loader.pin_memory=false", "transfer.non_blocking=false");
  REQUIRE(value(pinned, "launch.queue_depth") > 20);  // the copy is called long before its turn
  const double link = pinned.machine->pcie.h2d_bytes_per_s;
  CHECK(value(pinned, "bandwidth.h2d") > 0.7 * link);
  CHECK(value(pinned, "bandwidth.h2d") < link);
  CHECK(value(pinned, "bandwidth.h2d") > 1.5 * value(pageable, "bandwidth.h2d"));
}

TEST_CASE("a read of four bytes takes as long as its copy, not as the work before it") {
  const Run reads = run({"workload=train", "model.name=resnet18", "batch_size=32",
                         "machine=a100-sxm-1", "loop.item_every=1", "steps=4"});
  CHECK(value(reads, "time.d2h") < 0.01 * value(reads, "time.step"));
}

TEST_CASE("what a run waits for once its steps are through holds none of them") {
  const Run run_ahead =
      run({"workload=train", "model.name=resnet18", "batch_size=64", "machine=a100-sxm-1",
           "loader.pin_memory=true", "transfer.non_blocking=true", "loop.item_every=0", "steps=4"});
  CHECK(value(run_ahead, "host.blocked") < 0.05 * value(run_ahead, "time.step"));
}

TEST_CASE("arithmetic that is done twice for want of memory is not the model's") {
  const auto trained = [](const char* checkpoint) {
    return run({"workload=train", "model.name=resnet50", "precision=bf16", "machine=a100-sxm-1",
                checkpoint, "steps=3"});
  };
  const Run plain = trained("checkpoint.enabled=false"), twice = trained("checkpoint.enabled=true");
  CHECK(value(twice, "flops.step") > 1.2 * value(plain, "flops.step"));
  CHECK(value(twice, "model.flops") == value(plain, "model.flops"));
  CHECK(value(twice, "mfu") * value(twice, "time.step") ==
        Approx(value(plain, "mfu") * value(plain, "time.step")).epsilon(1e-9));
}

TEST_CASE("published copy bandwidths come out of the simulator") {
  struct Published {
    const char* machine;
    const char* memory;
    const char* direction;
    double gb_per_s;
    double tolerance;
  };
  // bandwidthTest at 32 MB (A100, T4) and nvbandwidth at 64 MiB (H100, H200): facts on copies.
  const Published rows[] = {
      {"a100-sxm-1", "pinned", "h2d", 25.7, 0.05},   {"a100-sxm-1", "pinned", "d2h", 25.8, 0.05},
      {"a100-sxm-1", "pageable", "h2d", 10.0, 0.05}, {"h100-sxm-1", "pinned", "h2d", 55.37, 0.05},
      {"h200-1", "pinned", "h2d", 55.43, 0.05},      {"h200-1", "pinned", "d2h", 55.06, 0.05},
      {"t4-1", "pinned", "h2d", 12.4, 0.05}};
  for (const Published& row : rows) {
    INFO(row.machine << " " << row.memory << " " << row.direction);
    const Run one =
        run({"workload=copy", "copy.bytes=32 MiB", (std::string("machine=") + row.machine).c_str(),
             (std::string("copy.memory=") + row.memory).c_str(),
             (std::string("copy.direction=") + row.direction).c_str()});
    const std::string metric = std::string("bandwidth.") + row.direction;
    CHECK(value(one, metric.c_str()) / 1e9 == Approx(row.gb_per_s).epsilon(row.tolerance));
  }
}

TEST_CASE(
    "a V100's published times a kernel come out: launched and waited for, launched, a graph") {
  // NVIDIA, Getting Started with CUDA Graphs: 20 kernels of 2.9 us, CUDA 10.1, within 10 %.
  const auto microseconds_a_kernel = [](std::initializer_list<const char*> how) {
    program::Config config;
    for (const char* setting : {"workload=launch", "machine=v100-sxm-1", "host.profile=native",
                                "launch.count=20", "launch.kernel_ns=2900", "steps=20"})
      config.set_text(setting);
    for (const char* setting : how) config.set_text(setting);
    return value(analysis::run_config("A", config), "time.step") / 20 / 1e3;
  };
  CHECK(microseconds_a_kernel({"launch.sync_each=true"}) == Approx(9.6).epsilon(0.1));
  CHECK(microseconds_a_kernel({}) == Approx(3.8).epsilon(0.1));
  CHECK(microseconds_a_kernel({"launch.graph=true"}) == Approx(3.4).epsilon(0.1));
}

namespace {

constexpr std::uint32_t kRandomPrograms = 10'000;

Nanos length(const Interval& interval) {
  return interval.end - interval.start;
}

// The changes from one partition to another, in whole numbers: a step of either side is a fraction,
// and over the product of both counts of steps nothing is rounded.
void check_changes(const analysis::Partition& a, int steps_a, const analysis::Partition& b,
                   int steps_b) {
  Nanos exact = 0;
  double shown = 0;
  for (const auto& change : analysis::compare(a, steps_a, b, steps_b)) {
    const Nanos part = b[change.part] * steps_a - a[change.part] * steps_b;
    REQUIRE(part != 0);
    REQUIRE(change.nanos ==
            Approx(static_cast<double>(part) / steps_a / steps_b).epsilon(1e-12).margin(1e-6));
    exact += part;
    shown += change.nanos;
  }
  REQUIRE(exact == sum(b) * steps_a - sum(a) * steps_b);
  const double difference =
      static_cast<double>(sum(b)) / steps_b - static_cast<double>(sum(a)) / steps_a;
  REQUIRE(shown == Approx(difference).epsilon(1e-9).margin(1e-3));
}

}  // namespace

TEST_CASE(
    "for random programs the parts of a run sum to its window, its gaps to its idle parts, and the "
    "changes between two runs to their difference, exactly") {
  const machine::Machine machine = machine::load_machine("h200-1");
  analysis::Partition before;
  for (std::uint32_t seed = 0; seed < kRandomPrograms; ++seed) {
    const auto program = test::random_program(seed);
    trace::Trace trace{trace::Origin{}};
    sim::Simulation(program, machine, "pytorch-eager", trace).finish();
    const auto facts = analysis::gather_facts(trace, &program, &machine);
    INFO("seed " << seed);
    REQUIRE(sum(facts.partition) == length(facts.measured.window));
    Nanos gaps = 0;
    for (const auto& gap : analysis::idle_gaps(facts.measured)) gaps += gap.end - gap.start;
    Nanos idle = 0;
    for (std::size_t i = static_cast<std::size_t>(analysis::Part::kIdleCopy);
         i < analysis::kPartCount; ++i)
      idle += facts.partition.time[i];
    REQUIRE(gaps == idle);
    check_changes(before, 1 + static_cast<int>(seed % 7), facts.partition,
                  1 + static_cast<int>(seed % 5));
    before = facts.partition;
  }
}

TEST_CASE("a run with steps can be measured as a whole, to be put beside one without") {
  const Run stepped = run({"workload=train", "steps=5"});
  const Run whole = analysis::measured_as_a_whole(stepped);
  CHECK(whole.facts.measured.steps == 0);
  CHECK(sum(whole.facts.partition) == length(stepped.facts.measured.whole));
  CHECK(value(whole, "time.total") == value(stepped, "time.total"));
  CHECK(!analysis::value_of(whole.metrics, "time.step"));
  CHECK(value(whole, "gpu.busy") > 3 * value(stepped, "gpu.busy"));
}

TEST_CASE("the changes from A to B sum to the difference of their times") {
  const Run a = run({"workload=copy", "copy.memory=pageable"});
  const Run b = run({"workload=copy", "copy.memory=pinned"});
  double sum_of_changes = 0;
  for (const auto& change : analysis::compare(a.facts.partition, 1, b.facts.partition, 1))
    sum_of_changes += change.nanos;
  CHECK(sum_of_changes == value(b, "time.step") - value(a, "time.step"));
}

TEST_CASE("no model reaches more than the peak of the type in which it computes") {
  for (const char* model :
       {"model.name=mlp", "model.name=cnn", "model.name=gpt-mini", "model.name=resnet18"})
    for (const char* precision :
         {"precision=fp32", "precision=tf32", "precision=fp16", "precision=bf16"}) {
      INFO(model << ", " << precision);
      const Run one = run({"workload=train", "steps=3", model, precision});
      CHECK(value(one, "mfu") > 0);
      CHECK(value(one, "mfu") < 0.9);
    }
}

TEST_CASE("busy and idle make up the step") {
  for (const char* workload : {"workload=copy", "workload=train"}) {
    const Run one = run({workload, "transfer.non_blocking=true"});
    CHECK(value(one, "gpu.busy") + value(one, "gpu.idle") == Approx(value(one, "time.step")));
  }
}

TEST_CASE("a training on the CPU has no times of a GPU: its step is the CPU's") {
  const Run on_cpu = run({"workload=train", "device=cpu", "steps=4"});
  for (const char* name : {"gpu.busy", "gpu.idle", "gpu.util", "idle.launch", "idle.sync", "mfu"})
    CHECK_FALSE(analysis::value_of(on_cpu.metrics, name));
  CHECK(on_cpu.gaps.empty());
  const auto& time = on_cpu.facts.partition;
  CHECK(time[analysis::Part::kOnCpu] == sum(time));
  CHECK(static_cast<double>(sum(time)) / 3 == Approx(value(on_cpu, "time.step")));
  const Run on_gpu = run({"workload=train", "steps=4"});
  CHECK(on_gpu.facts.partition[analysis::Part::kOnCpu] == 0);
}

TEST_CASE("copies on a second stream overlap kernels; on the same stream they cannot") {
  const auto overlap = [](const char* streams) {
    return value(run({"workload=train", "loader.pin_memory=true", "transfer.non_blocking=true",
                      "batch_size=16384", "loader.sample_ms=0", "model.hidden=8192", streams}),
                 "overlap.copy_compute");
  };
  CHECK(overlap("transfer.streams=1") == 0);
  CHECK(overlap("transfer.streams=2") > 0.5);
}

TEST_CASE("the classroom model has the parameters that PyTorch counts") {
  const Run one = run({"workload=train", "steps=2"});
  CHECK(value(one, "model.parameters") == 784 * 128 + 128 + 128 * 10 + 10);
}

TEST_CASE("the same config gives the same numbers, and the idle gaps name their cause") {
  const Run a = run({"workload=copy", "copy.count=3"});
  const Run b = run({"workload=copy", "copy.count=3"});
  REQUIRE(a.metrics.size() == b.metrics.size());
  for (std::size_t i = 0; i < a.metrics.size(); ++i)
    CHECK(a.metrics[i].value == b.metrics[i].value);
  REQUIRE(!a.gaps.empty());
  CHECK(a.gaps.front().cause == analysis::Part::kIdleCopy);
}

TEST_CASE("a step's time does not depend on how many steps are run, though the host runs ahead") {
  const auto step = [](const char* steps) {
    return value(run({"workload=train", "batch_size=1024", "model.hidden=4096",
                      "loader.sample_ms=0", "loader.pin_memory=true", "transfer.non_blocking=true",
                      "host.profile=native", "machine=t4-1", steps}),
                 "time.step");
  };
  CHECK(step("steps=5") == Approx(step("steps=50")).epsilon(0.01));
}

TEST_CASE("reading the loss in each step keeps the host from running ahead") {
  const auto idle = [](const char* every) {
    return value(run({"workload=train", "batch_size=1024", "model.hidden=4096",
                      "loader.sample_ms=0", "loader.pin_memory=true", "transfer.non_blocking=true",
                      "machine=t4-1", "loader.num_workers=4", every}),
                 "idle.launch");
  };
  CHECK(idle("loop.item_every=1") > 2 * idle("loop.item_every=0"));
}

TEST_CASE("the training thread waits for data when the loader is slow, and the metric says so") {
  const Run one = run({"workload=train", "loader.num_workers=1", "loader.sample_ms=1", "steps=6"});
  CHECK(value(one, "idle.data") > 0.9 * value(one, "time.step") - value(one, "gpu.busy"));
  CHECK(value(one, "time.step") == Approx(64e6).epsilon(0.05));
}

TEST_CASE(
    "a host timer reads what lies between its calls, step by step, and is absent without one") {
  const std::vector<const char*> loop{
      "data.source=tensor", "loader.pin_memory=true", "transfer.non_blocking=true",
      "model.hidden=4096",  "batch_size=2048",        "steps=4"};
  const auto with = [&](std::initializer_list<const char*> more) {
    program::Config config;
    for (const char* setting : loop) config.set_text(setting);
    for (const char* setting : more) config.set_text(setting);
    return analysis::run_config("A", config);
  };
  const Run timed = with({"loop.timer=true"});
  double sum = 0;
  int timers = 0;
  for (trace::SpanId id = 0; id < timed.trace->spans().size(); ++id) {
    const trace::Span& span = timed.trace->spans()[id];
    if (timed.trace->name(span) != "time.perf_counter()") continue;
    if (timers++ > 0) sum += static_cast<double>(span.duration);  // the first is warm-up
  }
  CHECK(timers == 4);
  CHECK(value(timed, "time.host_timer") == Approx(sum / 3));
  CHECK(!analysis::value_of(with({}).metrics, "time.host_timer"));
  CHECK(!analysis::value_of(with({}).metrics, "time.first_timer"));
  const Run cold = with({"loop.timer=true", "loop.cold_start=true", "loop.cublas_load_ms=50"});
  CHECK(value(cold, "time.first_timer") - value(timed, "time.first_timer") == Approx(50e6));
  CHECK(value(cold, "time.host_timer") == Approx(value(timed, "time.host_timer")));
  // Each step of a series has its own reading.
  const auto steps = test::gather_step_facts(*cold.trace, cold.program.get(), nullptr);
  REQUIRE(steps.size() == 4);
  CHECK(steps[0].host.timer == Approx(value(cold, "time.first_timer")));
  CHECK(steps[1].host.timer < 1e6);
}

TEST_CASE("the host is ahead by the work that it has launched and the GPU has not done") {
  const Run one =
      run({"data.source=tensor", "loader.pin_memory=true", "model.hidden=4096", "batch_size=2048",
           "steps=4", "transfer.non_blocking=true", "loop.sync_timing=true"});
  CHECK(value(one, "launch.calls") == 15);
  // All of a step that is no launching: the host waits for it.
  CHECK(value(one, "host.lead") == Approx(value(one, "host.blocked")).epsilon(0.02));
  CHECK(value(run({"workload=launch", "launch.count=20", "launch.graph=true", "steps=3"}),
              "launch.calls") == 1);
  CHECK(!analysis::value_of(run({"workload=copy"}).metrics, "launch.calls"));
}

TEST_CASE("an imported trace has metrics of its own") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const Run one = analysis::import_run("A", test::real_traces_folder() / "ddp-a100-2ranks.json.gz");
  CHECK(value(one, "time.step") > 0);
  CHECK(value(one, "gpu.busy") > 0);
  CHECK(value(one, "comm.exposed") > 0);
  CHECK(!analysis::value_of(one.metrics, "model.parameters"));
}

TEST_CASE(
    "tokens a second are the samples' times the length of a sequence, where a model reads one") {
  const Run text = run({"model.name=gpt-mini", "model.seq_len=32", "steps=4"});
  CHECK(value(text, "throughput.tokens") == Approx(32 * value(text, "throughput.samples")));
  const Run both = run({"model.name=gpt-mini", "model.seq_len=32", "steps=4", "machine=l40s-4",
                        "parallel.strategy=ddp", "parallel.world_size=2"});
  CHECK(value(both, "throughput.tokens") == Approx(32 * value(both, "throughput.samples")));
  const Run large = run({"model.name=bert-large", "model.seq_len=128", "batch_size=2", "steps=3"});
  CHECK(large.program->timing_only);
  CHECK(value(large, "throughput.tokens") ==
        Approx(2 * 128 * 1e9 / value(large, "time.step")).epsilon(1e-6));
  CHECK(!analysis::value_of(run({"model.name=mlp", "steps=3"}).metrics, "throughput.tokens"));
}
