// What a run's time goes into, said in words: against runs whose cause is known.
#include "analysis/causes/diagnosis.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "analysis/advice/advice.h"
#include "analysis/advice/trials.h"
#include "analysis/findings.h"

using namespace trainscope;
using namespace trainscope::analysis;
using namespace trainscope::test;

namespace {

// Kernels that a host thread launches, one by one.
class Launches {
 public:
  void add_launch(Nanos at) {
    const std::uint32_t number = ++launched_;
    const auto call = add(host_, at, 2'000, trace::Category::kHostApi, "cudaLaunchKernel", number);
    const auto work = add(stream_, at + 5'000, 10'000, trace::Category::kKernel, "kernel", number);
    trace_->add_flow({call, work, trace::FlowKind::kLaunch});
  }
  void add_on_host(Nanos at, Nanos duration, trace::Category category, const char* name) {
    add(host_, at, duration, category, name, 0);
  }
  Run run() const {
    Run run;
    run.label = "A";
    run.trace = trace_;
    analyse(run);
    return run;
  }

 private:
  trace::SpanId add(trace::LaneId lane, Nanos start, Nanos duration, trace::Category category,
                    const char* name, std::uint32_t correlation) {
    trace::Span span;
    span.lane = lane;
    span.start = start;
    span.duration = duration;
    span.category = category;
    span.name = trace_->intern(name);
    span.correlation = correlation;
    return trace_->add_span(span);
  }

  std::shared_ptr<trace::Trace> trace_ = std::make_shared<trace::Trace>(trace::Origin{});
  trace::LaneId host_ =
      trace_->add_lane({"host main", trace::LaneKind::kHostThread, 0, -1, 1, 1, "host"});
  trace::LaneId stream_ =
      trace_->add_lane({"stream 7", trace::LaneKind::kStream, 0, 0, 0, 7, "GPU 0"});
  std::uint32_t launched_ = 0;
};

}  // namespace

TEST_CASE("findings are parts of the time, those first that could save most, each with its share") {
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{"workload=train", "steps=6"},
        {"workload=train", "steps=6", "loader.sample_ms=0.01"},
        {"workload=train", "steps=6", "model.hidden=8192", "batch_size=4096"},
        {"workload=copy"},
        {"workload=launch", "launch.count=50"}}) {
    const Run run = run_of(settings);
    const double per = run.facts.measured.per();
    double whole = 0;
    for (const Nanos time : run.facts.partition.time) whole += static_cast<double>(time) / per;
    double before = whole;
    REQUIRE(!diagnose(run).empty());
    for (const Finding& one : diagnose(run)) {
      INFO(headline(one));
      CHECK(one.nanos == static_cast<double>(run.facts.partition[one.part]) / per);
      CHECK(one.share == Approx(one.nanos / whole));
      CHECK(one.share >= 0.05);
      CHECK(one.gain <= before);
      before = one.gain;
      if (one.part == Part::kCompute)
        CHECK(one.most_gain == 0);
      else
        CHECK(one.most_gain == Approx(whole / (whole - one.nanos)));
      CHECK_FALSE(one.why.empty());
      CHECK_THAT(sentence(one), Catch::EndsWith("."));
    }
    CHECK(diagnose(run).size() <= 3);
  }
}

TEST_CASE("a loader that is too slow is found, and what to turn depends on its workers") {
  const Run alone = run_of({"workload=train", "steps=6", "loader.sample_ms=0.05"});
  const Finding finding = first_of(alone);
  CHECK(finding.part == Part::kIdleData);
  CHECK_THAT(finding.advice, Catch::Contains("The training thread loads by itself"));
  CHECK_THAT(headline(finding), Catch::StartsWith("Waiting for data: ") &&
                                    Catch::Contains("; with that alone gone ") &&
                                    Catch::EndsWith(" times as fast"));
  const Run helped = run_of({"workload=train", "steps=12", "loader.sample_ms=0.5",
                             "loader.num_workers=2", "loader.persistent_workers=true"});
  CHECK_THAT(first_of(helped).advice, Catch::Contains("more workers"));
}

TEST_CASE("a host that is behind with its launches is found, with their number") {
  const Run run = run_of({"workload=train", "data.source=tensor", "steps=6", "model.layers=8",
                          "optimizer.name=adamw", "optimizer.impl=for_loop"});
  const Finding finding = first_of(run);
  CHECK(finding.part == Part::kIdleLaunch);
  CHECK_THAT(finding.why, Catch::Contains(" launches a step"));
  CHECK_THAT(finding.why, Catch::Contains("; itself it is longest in "));
}

TEST_CASE("what the host does in the gaps is named where it is no launch") {
  Launches launches;
  launches.add_launch(0);
  launches.add_on_host(20'000, 70'000, trace::Category::kHostApi, "cudaMalloc");
  launches.add_launch(100'000);
  const Finding finding = first_of(launches.run());
  CHECK(finding.part == Part::kIdleLaunch);
  CHECK_THAT(finding.why, Catch::Contains("of it the host is in cudaMalloc"));
  CHECK_THAT(finding.advice, Catch::Contains("ask the driver for memory"));
}

TEST_CASE("a host that is in no recorded call is said to be there") {
  Launches launches;
  for (const int at : {0, 100'000, 200'000}) launches.add_launch(at);
  launches.add_on_host(300'000, 1'000, trace::Category::kHostWork, "aten::mm");
  const Finding finding = first_of(launches.run());
  CHECK(finding.part == Part::kIdleLaunch);
  CHECK_THAT(finding.why, Catch::Contains("the host is in no call that was recorded"));
  CHECK_THAT(finding.advice, Catch::Contains("record_function()"));
}

TEST_CASE("copies within a GPU are not advised to pin memory of the host") {
  const auto advice = [](const std::string& direction) -> std::string {
    for (const Finding& one : diagnose(run_of({"workload=copy", "copy.direction=" + direction})))
      if (one.part == Part::kExposedCopy) return one.advice;
    return "";
  };
  CHECK_THAT(advice("d2d"), Catch::Contains("they pass no memory of the host"));
  CHECK_THAT(advice("d2h"), Catch::Contains("Try pinned memory"));
}

TEST_CASE("exposed communication has advice for whoever communicates") {
  using Catch::Contains;
  const auto advice = [](std::vector<std::string> settings) -> std::string {
    for (const Finding& one : diagnose(run_of(settings)))
      if (one.part == Part::kExposedCommunication) return one.advice;
    return "";
  };
  const auto training = [&](std::vector<std::string> more) {
    std::vector<std::string> settings{"workload=train",  "machine=h100-sxm-8",   "nvlink=off",
                                      "model.name=gpt2", "data.name=tokens",     "steps=2",
                                      "batch_size=1",    "parallel.world_size=4"};
    settings.insert(settings.end(), more.begin(), more.end());
    return advice(settings);
  };
  CHECK_THAT(training({"parallel.strategy=ddp"}),
             Contains("bucket_cap_mb") && Contains("bf16_compress_hook"));
  for (const char* narrow : {"ddp.comm_hook=fp16_compress", "model.dtype=bf16"})
    CHECK_THAT(training({"parallel.strategy=ddp", narrow}),
               Contains("bucket_cap_mb") && !Contains("bf16_compress_hook"));
  const std::string sharded = training({"parallel.strategy=fsdp"});
  CHECK_THAT(sharded, Contains("BF16") && Contains("reshard_after_forward=False"));
  CHECK_THAT(sharded, !Contains("bucket_cap_mb"));
  const std::string turned = training(
      {"parallel.strategy=fsdp", "fsdp.param_dtype=bf16", "fsdp.reshard_after_forward=false"});
  CHECK_THAT(turned, !Contains("BF16") && !Contains("reshard") && Contains("larger batch"));
  CHECK_THAT(training({"parallel.strategy=tensor"}), Contains("fewer ranks") && Contains("BF16"));
  CHECK_THAT(training({"parallel.strategy=tensor", "precision=bf16"}), !Contains("BF16"));
  const std::string old = training({"parallel.strategy=fsdp", "machine=dgx1-v100-8", "nvlink=off"});
  CHECK_THAT(old, !Contains("BF16") && Contains("larger batch"));
  CHECK_THAT(advice({"workload=collective", "machine=h100-sxm-8"}), Contains("larger buffers"));
}

TEST_CASE("what stages wait for has advice by their schedule") {
  using Catch::Contains;
  const auto advice = [](const std::vector<std::string>& schedule) -> std::string {
    std::vector<std::string> settings{"workload=train",
                                      "machine=h100-sxm-8",
                                      "model.name=mlp",
                                      "model.layers=9",
                                      "model.hidden=4096",
                                      "batch_size=4096",
                                      "steps=3",
                                      "parallel.strategy=pipeline",
                                      "parallel.world_size=4",
                                      "loop.evaluate=false"};
    settings.insert(settings.end(), schedule.begin(), schedule.end());
    for (const Finding& one : diagnose(run_of(settings)))
      if (one.part == Part::kIdleCollective) return one.advice;
    return "";
  };
  CHECK_THAT(advice({}), Contains("bubble") && Contains("interleaved 1F1B"));
  const std::string interleaved = "pipeline.schedule=interleaved_1f1b";
  CHECK_THAT(advice({interleaved}), Contains("isend") && !Contains("more stages"));
  CHECK_THAT(advice({interleaved, "pipeline.batch_p2p_comm=false"}),
             Contains("more stages a GPU") && !Contains("isend"));
}

TEST_CASE("one rank that all others wait for stands before its own parts") {
  const std::vector<std::string> common{
      "workload=train", "machine=h100-sxm-8",    "model.name=resnet18",   "batch_size=16",
      "steps=4",        "parallel.strategy=ddp", "parallel.world_size=4", "loop.evaluate=false"};
  std::vector<std::string> slow = common;
  slow.insert(slow.end(), {"straggler.rank=3", "straggler.factor=1.5"});
  const Finding first = first_of(run_of(slow));
  CHECK_THAT(headline(first), Catch::StartsWith("The other ranks wait for rank 3: "));
  CHECK_THAT(sentence(first), Catch::Contains("Look at what rank 3 does longer"));
  CHECK(first.share > 0.1);
  for (const Finding& one : diagnose(run_of(common))) CHECK(one.title.empty());
}

// Backward computes beside the waits, the slower for the SMs that these hold.
TEST_CASE(
    "what a slow rank costs is what a step takes longer for it, not the waits beside kernels") {
  const auto with = [](const std::vector<std::string>& more) {
    std::vector<std::string> settings{
        "workload=train", "machine=a100-sxm-8",    "model.name=gpt2",       "model.seq_len=512",
        "batch_size=8",   "parallel.strategy=ddp", "parallel.world_size=4", "steps=4"};
    settings.insert(settings.end(), more.begin(), more.end());
    return run_of(settings);
  };
  const auto step = [](const Run& run) { return *value_of(run.metrics, "time.step"); };
  const Run slow = with({"straggler.rank=2", "straggler.factor=1.3"});
  const double lost = step(slow) - step(with({}));
  REQUIRE(slow.ranks.front().wait > 2 * lost);
  CHECK(slow.ranks.front().idle < lost);
  const Finding told = first_of(slow);
  CHECK_THAT(told.title, Catch::EndsWith("rank 2"));
  CHECK(told.nanos == Approx(lost).epsilon(0.1));
  CHECK(told.gain == told.nanos);
  CHECK_THAT(told.why, Catch::Contains(" of it with nothing at work beside it"));
  // A trial without it says exactly.
  const auto tried = trials(slow);
  REQUIRE(tried);
  const std::vector<Finding> findings = diagnose(slow, {}, &*tried);
  CHECK(findings.front().nanos == Approx(lost));
  CHECK_THAT(findings.front().advice, Catch::EndsWith(" a step (SIMULATED)."));
}

TEST_CASE("the rank of a pipeline that has more to do than the others stands first") {
  using Catch::Contains;
  const auto staged = [](const std::vector<std::string>& model) {
    std::vector<std::string> settings{"workload=train", "machine=h100-sxm-8", "steps=3",
                                      "parallel.strategy=pipeline", "parallel.world_size=4"};
    settings.insert(settings.end(), model.begin(), model.end());
    return run_of(settings);
  };
  const Run uneven = staged({"model.name=gpt2", "model.seq_len=512", "batch_size=32",
                             "precision=bf16", "attention.kernel=flash"});
  const Finding first = first_of(uneven);
  CHECK_THAT(headline(first), Catch::StartsWith("Rank 3 has more to do than the other stages: "));
  CHECK_THAT(first.advice, Contains("the model's head and none of its blocks") &&
                               Contains("50257") && Contains("fewer stages"));
  double sum = 0, most = 0;
  for (const RankTimes& one : uneven.ranks) sum += one.busy, most = std::max(most, one.busy);
  CHECK(first.nanos == Approx(most - sum / 4));
  for (const Finding& one : diagnose(staged({"model.name=mlp", "model.layers=8", "batch_size=4096",
                                             "model.hidden=4096", "model.inputs=4096"})))
    CHECK(one.title.empty());
}

TEST_CASE("a head that is a stage alone is told so, and stages that are alike by all their ranks") {
  using Catch::Contains;
  const auto first = [](const std::vector<std::string>& more) {
    std::vector<std::string> settings{"workload=train",           "machine=a100-sxm-8",
                                      "model.seq_len=256",        "attention.kernel=flash",
                                      "precision=bf16",           "parallel.strategy=pipeline",
                                      "parallel.world_size=8",    "steps=3",
                                      "pipeline.microbatches=16", "optimizer.name=sgd"};
    settings.insert(settings.end(), more.begin(), more.end());
    return first_of(run_of(settings));
  };
  const Finding head = first({"model.name=gpt2", "batch_size=64"});
  CHECK(head.title == "Rank 7 has more to do than the other stages");
  CHECK_THAT(head.advice, Contains("Rank 7 has the model's head and none of its blocks") &&
                              Contains("8 stages") && Contains("50257") && !Contains("beside"));
  const Finding blocks = first({"model.name=gpt2-2.9b", "batch_size=16"});
  CHECK(blocks.title == "Ranks 1 to 5 have more to do than the other stages");
  CHECK_THAT(blocks.why, Catch::StartsWith("their GPUs are at work for "));
  CHECK_THAT(blocks.advice, Catch::StartsWith("Blocks stay whole") && !Contains("head"));
  // A slow GPU is no matter of blocks.
  const Finding slow =
      first({"model.name=gpt2-2.9b", "batch_size=16", "straggler.rank=2", "straggler.factor=2"});
  CHECK(slow.title == "Rank 2 has more to do than the other stages");
  CHECK_THAT(slow.advice, Catch::StartsWith("Look at what rank 2 does longer") &&
                              !Contains("Blocks stay whole"));
}

TEST_CASE("where batches loaded ahead hide the loader, the loader is the finding") {
  const Run run = run_of({"workload=train", "model.name=resnet50", "batch_size=128", "steps=6",
                          "loader.sample_ms=8", "loader.num_workers=8"});
  const std::vector<Finding> findings = diagnose(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().part == Part::kIdleData);
  CHECK_THAT(headline(findings.front()), Catch::StartsWith("Waiting for data in the long run: ") &&
                                             Catch::Contains(" of 128 ms"));
  CHECK_THAT(sentence(findings.front()), Catch::Contains("more workers"));
}

TEST_CASE("a loader is no smaller a problem where more steps wait for it") {
  const auto lost = [](const char* steps) {
    const std::vector<Finding> findings =
        diagnose(run_of({"workload=train", "model.name=resnet50", "batch_size=128",
                         "loader.sample_ms=20", "loader.num_workers=32", "precision=fp16",
                         "memory_format=channels_last", "machine=rtx4090-1", steps}));
    REQUIRE_FALSE(findings.empty());
    CHECK(findings.front().part == Part::kIdleData);
    return findings.front();
  };
  const Finding hidden = lost("steps=10");
  REQUIRE(headline(hidden).starts_with("Waiting for data in the long run"));
  for (const char* steps : {"steps=100", "steps=400"}) {
    CAPTURE(steps);
    const Finding partly = lost(steps);
    CHECK(partly.nanos == Approx(hidden.nanos).epsilon(0.1));
    CHECK(partly.most_gain == Approx(hidden.most_gain).epsilon(0.1));
  }
}

TEST_CASE("a run out of memory is told what makes room, and nothing of its speed") {
  const std::vector<std::string> settings{
      "workload=train", "machine=a100-40-sxm-1", "model.name=gpt2", "model.seq_len=1024",
      "batch_size=80",  "precision=bf16",        "steps=2"};
  const std::vector<Finding> findings = diagnose(run_of(settings));
  REQUIRE(findings.size() == 1);
  CHECK(headline(findings.front()) == "Out of memory");
  CHECK_THAT(sentence(findings.front()),
             Catch::StartsWith("Try a smaller batch") && Catch::Contains("checkpoint.enabled") &&
                 Catch::Contains("attention.kernel = flash") && !Catch::Contains("torch.compile"));
}

TEST_CASE("what makes room enough is tried, in FP32 the memory-efficient attention as well") {
  const std::vector<std::string> settings{
      "workload=train", "machine=rtx3090-1", "model.name=gpt2",     "model.seq_len=1024",
      "batch_size=12",  "steps=2",           "optimizer.name=adamw"};
  const Run run = run_of(settings);
  REQUIRE(run.ending);
  const std::string advice = first_of(run).advice;
  CHECK_THAT(advice, Catch::Contains("the memory-efficient kernel of attention"));
  const std::size_t at = advice.find(" Each alone makes room enough (SIMULATED): ");
  REQUIRE(at != std::string::npos);
  for (const char* knob : {"checkpoint.enabled=true", "attention.kernel=flash"}) {
    CAPTURE(knob);
    CHECK(advice.find(knob, at) != std::string::npos);
    std::vector<std::string> with = settings;
    with.push_back(knob);
    CHECK_FALSE(run_of(with).ending);
  }
}

TEST_CASE("of a job that hangs it is told who waits for whom, and nothing of its speed") {
  const Run run = run_of({"workload=train", "machine=h100-sxm-8", "steps=3",
                          "parallel.strategy=ddp", "parallel.world_size=4", "uneven_batches=true"});
  const std::vector<Finding> findings = diagnose(run);
  REQUIRE(findings.size() == 1);
  CHECK(headline(findings.front()) == "Deadlock");
  CHECK(findings.front().why == "ranks 0, 1, 2 wait for rank 3 for ever");
  CHECK_THAT(findings.front().advice, Catch::StartsWith("Give every rank as many batches"));
  CHECK_FALSE(value_of(run.metrics, "time.epoch"));
}

TEST_CASE("workers that take all cores are told, whatever the GPU waits for, and fewer of them") {
  const Run run = run_of({"workload=train", "model.name=resnet18", "batch_size=32", "host.cores=2",
                          "loader.num_workers=16", "loader.sample_ms=5", "steps=4"});
  const Finding finding = first_of(run);
  CHECK_THAT(finding.why, Catch::Contains("; 16 workers on 2 cores keep all of them at work"));
  CHECK_THAT(finding.advice, Catch::StartsWith("More workers load no faster: ") &&
                                 Catch::EndsWith("; 2 workers a process are enough."));
}

TEST_CASE("without workers it is told how many of them bring batches as fast as the rest goes") {
  const Run run = run_of({"workload=train", "model.name=resnet18", "batch_size=64", "steps=4",
                          "loader.sample_ms=6", "machine=rtx4090-1"});
  const auto needed = workers_needed(run.facts.measured, run.facts.partition[Part::kIdleData]);
  REQUIRE(needed);
  // A little of it lies beside kernels, and is not waited for.
  CHECK(needed->loading == Approx(64 * 6e6).epsilon(0.02));
  CHECK(needed->workers == static_cast<int>(std::ceil(needed->loading / needed->rest)));
  CHECK_THAT(first_of(run).advice,
             Catch::Contains("(num_workers=" + std::to_string(needed->workers) + ")"));
  const auto tried = trials(run);
  REQUIRE(tried);
  const auto more = std::ranges::find(
      tried->changes, "loader.num_workers=" + std::to_string(needed->workers), text_of);
  REQUIRE(more != tried->changes.end());
  CHECK(static_cast<double>(more->time) < 1.1 * needed->rest);
}

TEST_CASE("a run without a GPU has no finding") {
  CHECK(diagnose(run_of({"workload=train", "device=cpu", "steps=3"})).empty());
}

TEST_CASE("only what the GPU has and the config has not yet turned is advised") {
  const auto advice = [](std::vector<std::string> more) {
    std::vector<std::string> settings{"workload=train",    "data.source=tensor", "steps=4",
                                      "model.hidden=8192", "model.layers=3",     "batch_size=4096"};
    settings.insert(settings.end(), more.begin(), more.end());
    const Finding finding = first_of(run_of(settings));
    REQUIRE(finding.part == Part::kCompute);
    REQUIRE_THAT(finding.why, Catch::Contains("arithmetic"));
    return finding.advice;
  };
  using Catch::Contains;
  CHECK_THAT(advice({"machine=h200-1"}), Contains("BF16") && Contains("TF32"));
  CHECK_THAT(advice({"machine=h200-1", "precision=tf32"}), Contains("BF16") && !Contains("TF32"));
  CHECK_THAT(advice({"machine=v100-sxm-1"}),
             Contains("FP16 with a GradScaler") && !Contains("BF16") && !Contains("TF32"));
}

TEST_CASE("sums hide behind a compiled backward that is cut at buckets, and behind no other") {
  const std::vector<std::string> gpt2{
      "workload=train",       "model.name=gpt2",        "model.seq_len=512", "batch_size=8",
      "data.source=tensor",   "attention.kernel=flash", "precision=bf16",    "optimizer.name=adamw",
      "machine=l40s-4",       "parallel.strategy=ddp",  "steps=4",           "loop.evaluate=false",
      "parallel.world_size=4"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), gpt2.begin(), gpt2.end());
    return run_of(more);
  };
  const Run eager = with({}), cut = with({"compile.fuse=true"}),
            whole = with({"compile.fuse=true", "compile.optimize_ddp=false"});
  const auto value = [](const Run& run, const char* metric) {
    return value_of(run.metrics, metric).value();
  };
  for (const Run* run : {&cut, &whole})
    CHECK(value(*run, "comm.bytes") == value(eager, "comm.bytes"));
  CHECK(value(cut, "overlap.comm_compute") > 0.8 * value(eager, "overlap.comm_compute"));
  // Beside the first buckets' sums gradients are still copied into the others.
  CHECK(value(whole, "overlap.comm_compute") < 0.25 * value(cut, "overlap.comm_compute"));
  CHECK(value(whole, "time.step") > 1.1 * value(cut, "time.step"));
  CHECK(value(cut, "time.step") < value(eager, "time.step"));

  const auto advice = [](const Run& run) {
    for (const Finding& one : diagnose(run))
      if (one.part == Part::kExposedCommunication) return one.advice;
    return std::string();
  };
  CHECK_THAT(advice(whole), Catch::StartsWith("Try torch._dynamo.config.optimize_ddp = True"));
  CHECK_THAT(advice(cut), Catch::Contains("bucket_cap_mb") && !Catch::Contains("optimize_ddp"));
}

TEST_CASE("a host that synchronises after each launch is told so, once") {
  const std::vector<Finding> found =
      diagnose(run_of({"workload=launch", "launch.count=200", "launch.sync_each=true", "steps=3"}));
  REQUIRE(found.size() == 2);
  CHECK(found[0].part == Part::kIdleLaunch);
  CHECK_THAT(found[0].why, Catch::Contains("waits in cudaDeviceSynchronize"));
  CHECK_THAT(found[0].advice, Catch::Contains("launch.sync_each=false"));
  CHECK(found[1].part == Part::kIdleSync);
  CHECK_THAT(sentence(found[1]), !Catch::Contains("cudaDeviceSynchronize"));
  CHECK(sentence(found[1]).back() == '.');
}
