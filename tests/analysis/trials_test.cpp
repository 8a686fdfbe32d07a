// Knobs that were tried, against runs in which they are turned.
#include "analysis/advice/trials.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "analysis/advice/batch_fit.h"
#include "analysis/advice/proposals.h"
#include "analysis/causes/diagnosis.h"
#include "base/units.h"
#include "support/config.h"

using namespace trainscope;
using namespace trainscope::analysis;

namespace {

Run run_of(std::vector<std::string> settings, const std::vector<std::string>& more = {}) {
  settings.insert(settings.end(), more.begin(), more.end());
  return run_config("A", test::config_of(settings));
}

double step_of(const Run& run) {
  return *value_of(run.metrics, "time.step");
}

const Altered* one_of(const std::vector<Altered>& all, const std::string& settings) {
  const auto found = std::ranges::find(all, settings, text_of);
  return found == all.end() ? nullptr : &*found;
}

// Its optimizer takes much of the time, in small kernels that wait for nothing.
const std::vector<std::string> kManyUpdates{"workload=train",       "machine=a100-sxm-1",
                                            "model.name=gpt2",      "batch_size=3",
                                            "optimizer.name=adamw", "optimizer.impl=for_loop"};

}  // namespace

TEST_CASE("a knob that was tried takes what a run with it takes") {
  const Run run = run_of(kManyUpdates);
  const auto tried = trials(run);
  REQUIRE(tried);
  CHECK(tried->of_knobs);
  CHECK(static_cast<double>(tried->replayed) == Approx(step_of(run)));
  for (const char* knob : {"optimizer.impl=fused", "optimizer.impl=foreach", "precision=tf32"}) {
    CAPTURE(knob);
    const Altered* one = one_of(tried->changes, knob);
    REQUIRE(one);
    CHECK(static_cast<double>(one->time) == Approx(step_of(run_of(kManyUpdates, {knob}))));
  }
  // Of a batch twice as large, half a step.
  const Altered* larger = one_of(tried->changes, "batch_size=6");
  REQUIRE(larger);
  CHECK(static_cast<double>(larger->time) ==
        Approx(step_of(run_of(kManyUpdates, {"batch_size=6"})) / 2));
}

TEST_CASE("what was tried in vain is not advised, and what gains is, with its time") {
  const Run run = run_of(kManyUpdates);
  const auto tried = trials(run);
  REQUIRE(tried);
  REQUIRE(one_of(tried->in_vain, "compile.cuda_graph=true"));
  CHECK_FALSE(one_of(tried->changes, "compile.cuda_graph=true"));
  const std::vector<Finding> findings = diagnose(run, {}, &*tried);
  REQUIRE(findings.size() > 1);
  const Finding& first = findings.front();
  CHECK_THAT(first.why, Catch::Contains("the optimizer's take 6"));
  CHECK_THAT(first.advice, Catch::StartsWith("Tried (SIMULATED), instead of 25.7") &&
                               Catch::Contains("; optimizer.impl=fused 20.6 ms"));
  CHECK_THAT(findings[1].advice, Catch::StartsWith("Tried (SIMULATED), instead of 25.7") &&
                                     Catch::EndsWith("In vain: compile.cuda_graph=true."));
  // In parts it says the same.
  REQUIRE(!first.trials.empty());
  CHECK(first.untried == static_cast<double>(tried->replayed));
  for (const Trial& trial : first.trials) {
    CHECK_THAT(first.advice, Catch::Contains(trial.settings + " " + format_nanos(trial.nanos)));
    CHECK(trial.nanos < first.untried);
  }
  CHECK_THAT(findings[1].beside, Catch::EndsWith("In vain: compile.cuda_graph=true."));
  CHECK(diagnose(run).front().trials.empty());
  // Without trials it is what may be worth trying.
  CHECK_THAT(diagnose(run).front().advice, Catch::StartsWith("Try "));
}

TEST_CASE("where kernels take the time, a host that is hardly ahead of them is told") {
  const auto why = [](const Run& run) { return diagnose(run).front().why; };
  const Run run = run_of({"workload=train", "machine=a100-sxm-1", "model.name=bert-large",
                          "batch_size=2", "optimizer.name=adamw", "optimizer.impl=for_loop"});
  CHECK_THAT(why(run),
             Catch::Contains("the optimizer's take 16") && Catch::Contains("the host is only "));
  CHECK_THAT(why(run_of(kManyUpdates)), !Catch::Contains("the host is only"));
}

TEST_CASE("together knobs bring more than the best alone, and each knob is turned once") {
  const auto tried = trials(run_of(kManyUpdates));
  REQUIRE(tried);
  REQUIRE(tried->changes.size() > 2);
  const Altered& all = tried->changes.front();
  CHECK(all.settings.size() > 1);
  CHECK(all.time < tried->changes[1].time);
  std::vector<std::string> knobs;
  for (const std::string& one : all.settings) knobs.push_back(one.substr(0, one.find('=')));
  std::ranges::sort(knobs);
  CHECK(std::ranges::adjacent_find(knobs) == knobs.end());
  CHECK(std::ranges::find(knobs, "batch_size") == knobs.end());
  CHECK(static_cast<double>(all.time) == Approx(step_of(run_of(kManyUpdates, all.settings))));
}

TEST_CASE("trials know what a loader's workers take in the long run") {
  const auto tried = trials(run_of({"workload=train", "model.name=resnet50", "batch_size=128",
                                    "steps=6", "loader.sample_ms=8", "loader.num_workers=8"}));
  REQUIRE(tried);
  CHECK(static_cast<double>(tried->replayed) == Approx(128e6));
  const Altered* more = one_of(tried->changes, "loader.num_workers=16");
  REQUIRE(more);
  CHECK(static_cast<double>(more->time) == Approx(64e6).epsilon(0.05));
  CHECK(one_of(tried->in_vain, "batch_size=256"));
}

TEST_CASE("nothing is tried of what does not train on a GPU, has ended early, or is not wanted") {
  CHECK_FALSE(trials(run_of({"workload=copy"})));
  CHECK_FALSE(trials(run_of({"workload=train", "device=cpu", "steps=3"})));
  CHECK_FALSE(trials(run_of(
      {"workload=train", "model.name=gpt2-large", "batch_size=512", "machine=t4-1", "steps=2"})));
  const Run run = run_of(kManyUpdates);
  CHECK_FALSE(trials(run, [] { return true; }));
}

TEST_CASE("two looks at the same run say the same") {
  const Run run = run_of({"workload=train", "steps=4"});
  const auto once = trials(run), again = trials(run);
  REQUIRE(once);
  REQUIRE(again);
  REQUIRE(once->changes.size() == again->changes.size());
  for (std::size_t i = 0; i < once->changes.size(); ++i) {
    CHECK(text_of(once->changes[i]) == text_of(again->changes[i]));
    CHECK(once->changes[i].time == again->changes[i].time);
  }
}

TEST_CASE("of a compiled backward in one piece the cut at buckets is tried, and of no other") {
  const std::vector<std::string> ranks{
      "workload=train", "machine=l40s-4",        "model.name=gpt2",       "batch_size=8",
      "precision=bf16", "parallel.strategy=ddp", "parallel.world_size=4", "compile.fuse=true",
      "steps=4",        "loop.evaluate=false",   "attention.kernel=flash"};
  const auto whole = trials(run_of(ranks, {"compile.optimize_ddp=false"})),
             cut = trials(run_of(ranks));
  REQUIRE(whole);
  REQUIRE(cut);
  const Altered* one = one_of(whole->changes, "compile.optimize_ddp=true");
  REQUIRE(one);
  CHECK(static_cast<double>(one->time) == Approx(step_of(run_of(ranks))));
  CHECK_FALSE(one_of(cut->changes, "compile.optimize_ddp=true"));
  CHECK_FALSE(one_of(cut->in_vain, "compile.optimize_ddp=true"));
}

TEST_CASE("what gains only on top of others is among them, and not in vain") {
  const std::vector<std::string> convolutions{
      "workload=train", "machine=t4-1", "model.name=resnet18",
      "batch_size=64",  "steps=4",      "data.source=tensor"};
  const Run run = run_of(convolutions);
  const auto tried = trials(run);
  REQUIRE(tried);
  const std::string channels = "memory_format=channels_last";
  const Altered& all = tried->changes.front();
  CHECK(std::ranges::find(all.settings, channels) != all.settings.end());
  CHECK_FALSE(one_of(tried->in_vain, channels));
  CHECK_FALSE(one_of(tried->changes, channels));
  // For as many samples, where the batch is another.
  const Run combined = run_of(convolutions, all.settings);
  const double as_many = 64 / static_cast<double>(combined.config.whole("batch_size"));
  CHECK(static_cast<double>(all.time) == Approx(as_many * step_of(combined)));
  std::vector<std::string> without = all.settings;
  std::erase(without, channels);
  CHECK(static_cast<double>(all.time) < 0.95 * as_many * step_of(run_of(convolutions, without)));
}

TEST_CASE("a few steps that do not take what the run's do are no trial") {
  Run run = run_of(kManyUpdates);
  run.config.set_text("batch_size=6");
  const auto tried = trials(run);
  REQUIRE(tried);
  CHECK(tried->changes.empty());
  CHECK_THAT(tried->refusal, Catch::StartsWith("No knob is tried: "));
  CHECK_THAT(diagnose(run, {}, &*tried).front().advice, Catch::StartsWith("Try "));
}

TEST_CASE("of tensor parallelism data parallelism is tried, for as many samples") {
  const std::vector<std::string> shared{
      "workload=train",        "machine=l40s-4", "model.name=gpt2",
      "batch_size=8",          "precision=bf16", "parallel.strategy=tensor",
      "parallel.world_size=4", "steps=4",        "loop.evaluate=false"};
  const Run run = run_of(shared);
  const auto tried = trials(run);
  REQUIRE(tried);
  const Altered* data = one_of(tried->changes, "parallel.strategy=ddp");
  REQUIRE(data);
  CHECK(data->other_batch);
  std::vector<std::string> ddp = shared;
  ddp[5] = "parallel.strategy=ddp";
  CHECK(static_cast<double>(data->time) == Approx(step_of(run_of(ddp)) / 4));
  const auto findings = diagnose(run, {}, &*tried);
  const auto found = std::ranges::find(findings, Part::kExposedCommunication, &Finding::part);
  REQUIRE(found != findings.end());
  CHECK_THAT(found->advice,
             Catch::Contains("parallel.strategy=ddp") &&
                 Catch::EndsWith(" Not tried: fewer ranks to a model, or a faster link."));
}

TEST_CASE("a vocabulary that rows of tensor cores do not fit is padded") {
  const std::vector<std::string> text{
      "workload=train", "machine=a100-sxm-1", "model.name=gpt2",    "data.name=tokens",
      "batch_size=8",   "precision=bf16",     "model.seq_len=1024", "steps=4"};
  const Run run = run_of(text);
  const auto tried = trials(run);
  REQUIRE(tried);
  const Altered* padded = one_of(tried->changes, "model.vocab_size=50304");
  REQUIRE(padded);
  CHECK(static_cast<double>(padded->time) ==
        Approx(step_of(run_of(text, {"model.vocab_size=50304"}))));
  CHECK(static_cast<double>(padded->time) < 0.97 * step_of(run));
  CHECK_THAT(diagnose(run, {}, &*tried).front().advice, !Catch::Contains("50257"));

  const auto again = trials(run_of(text, {"model.vocab_size=50304"}));
  REQUIRE(again);
  for (const auto* list : {&again->changes, &again->in_vain})
    CHECK(std::ranges::none_of(
        *list, [](const Altered& one) { return text_of(one).find("vocab") != std::string::npos; }));
}

TEST_CASE("what has no room is told, as is what each change takes of the memory") {
  const std::vector<std::string> small{"workload=train", "machine=t4-1", "model.name=gpt2",
                                       "model.seq_len=256", "optimizer.name=adamw"};
  const Run least = run_of(small, {"batch_size=1"});
  const auto fit = batch_fit(least.config, *least.machine, [] { return false; });
  REQUIRE(fit);
  const Run run = run_of(small, {"batch_size=" + std::to_string(fit->largest)});
  REQUIRE_FALSE(run.ending);
  const auto tried = trials(run);
  REQUIRE(tried);
  const std::string twice = "batch_size=" + std::to_string(2 * fit->largest);
  CHECK(one_of(tried->unfit, twice));
  CHECK_FALSE(one_of(tried->in_vain, twice));
  CHECK(tried->room == machine::room_of_allocator(*run.machine));
  for (const Altered& one : tried->changes) {
    CAPTURE(text_of(one));
    CHECK(static_cast<double>(one.reserved) ==
          *value_of(run_of(small,
                           test::with({"batch_size=" + std::to_string(fit->largest)}, one.settings))
                        .metrics,
                    "memory.peak_reserved"));
  }
  bool is_named = false;
  for (const std::string& words : words_below(*tried))
    is_named = is_named || words.find("Does not fit into the GPU's memory: ") == 0;
  CHECK(is_named);
}

TEST_CASE("of next to all memory it is said that a change only just fits") {
  WhatIf found;
  found.room = 100'000'000'000;
  Altered one;
  CHECK(memory_words(found, one).empty());
  one.reserved = 50'000'000'000;
  CHECK(memory_words(found, one) == "46.6 GiB");
  one.reserved = 99'000'000'000;
  CHECK(memory_words(found, one) == "92.2 GiB of 93.1 GiB, only just fits");
}

TEST_CASE("of a pipeline more micro-batches are tried, with the batch that has so many, and FSDP") {
  const auto settings_of = [](const char* batch) {
    std::vector<std::string> all;
    for (const Proposal& one : proposals(
             run_of({"workload=train", "machine=h100-sxm-8", "steps=3", "model.name=gpt2",
                     "model.seq_len=512", "parallel.strategy=pipeline", "parallel.world_size=4",
                     "precision=bf16", "attention.kernel=flash", batch})))
      all.push_back(one.settings);
    return all;
  };
  const auto has = [](const std::vector<std::string>& all, const char* one) {
    return std::ranges::find(all, one) != all.end();
  };
  const std::vector<std::string> of_32 = settings_of("batch_size=32");
  CHECK(of_32.front() == "pipeline.microbatches=16");
  CHECK(has(of_32, "parallel.strategy=fsdp batch_size=8"));
  CHECK(has(settings_of("batch_size=8"), "pipeline.microbatches=16 batch_size=16"));
}
