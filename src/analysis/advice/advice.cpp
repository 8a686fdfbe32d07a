#include "analysis/advice/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "analysis/advice/advice_words.h"
#include "analysis/metrics/number_types.h"
#include "base/units.h"
#include "train/model/published_models.h"

namespace trainscope::analysis {
namespace {

bool may_turn_channels(const Run& run) {
  return !run.program ||
         (may_turn(run, "memory_format") && run.config.word("memory_format") != "channels_last");
}

// Fused programs are built for one GPU and for ranks that have the whole model.
bool may_fuse(const Run& run) {
  if (!run.program) return true;
  const std::string& strategy = run.config.word("parallel.strategy");
  return may_turn(run, "compile.fuse") && !is_set_on(run, "compile.fuse") &&
         (strategy == "none" || strategy == "ddp" || strategy == "fsdp");
}

// What rows of the product's matrices are long: only that must be even. Those of a weight's
// gradient are its results' and its inputs', however many there are.
std::vector<std::int64_t> row_lengths(const program::Operation& product) {
  const auto* linear = std::get_if<program::Linear>(&product.function);
  const bool turned = linear && linear->part == program::Part::kWeightGradient;
  return {product.n, turned ? product.m : product.k};
}

// Lengths of a matrix product's rows that tensor cores read badly. A convolution's are its
// windows', which nobody chooses.
std::vector<std::int64_t> odd_rows(const program::Operation& one) {
  constexpr std::int64_t kWhole = 8;
  std::vector<std::int64_t> odd;
  if (one.kind != program::OperationKind::kGemm ||
      std::holds_alternative<program::Convolution>(one.function))
    return odd;
  for (const std::int64_t side : row_lengths(one))
    if (side >= kWhole && side % kWhole != 0) odd.push_back(side);
  return odd;
}

// Imported runs do not tell their products; torch.compile's are padded where that gains.
bool tells_odd_rows(const Run& run) {
  return run.program && !is_set_on(run, "compile.fuse");
}

// Of all products.
std::set<std::int64_t> all_odd_sides(const Run& run) {
  std::set<std::int64_t> odd;
  if (tells_odd_rows(run))
    for (const program::Operation& one : run.program->operations)
      for (const std::int64_t side : odd_rows(one)) odd.insert(side);
  return odd;
}

std::string few_of(const std::set<std::int64_t>& sides) {
  constexpr std::size_t kShown = 3;
  std::vector<std::int64_t> shown(sides.begin(), sides.end());
  if (shown.size() > kShown) shown.resize(kShown);
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::string odd_sides(const Run& run) {
  return few_of(all_odd_sides(run));
}

namespace {

// A knob pads the vocabulary, and is tried; no knob pads the others.
std::string untried_sizes(const Run& run) {
  std::set<std::int64_t> odd = all_odd_sides(run);
  odd.erase(train::vocabulary_of(run.config));
  return few_of(odd);
}

// "sizes that are multiples of 8, of 64 best (1793 is none)"; empty where all are.
std::string sizes_words(const std::string& odd, const Speech& speech) {
  return odd.empty() ? ""
                     : told(speech, "sizes that are multiples of 8, of 64 best ({} is none)", odd);
}

std::string sizes_advice(const Run& run, const Speech& speech) {
  return sizes_words(odd_sides(run), speech);
}

std::string counted_workers(int workers, const Speech& speech) {
  return workers == 1 ? speech.say("1 worker") : told(speech, "{} workers", workers);
}

}  // namespace

std::string full_cores_words(const FullCores& full, const Speech& speech) {
  return told(speech, "; {} on {} keep all of them at work, and slow the training threads",
              counted_workers(full.workers, speech),
              full.cores == 1 ? speech.say("1 core") : told(speech, "{} cores", full.cores));
}

std::string full_cores_advice(const FullCores& full, const Speech& speech) {
  const int enough = std::max(1, full.cores / full.processes);
  const std::string fewer =
      full.workers > enough * full.processes
          ? told(speech, "; {} a process are enough", counted_workers(enough, speech))
          : "";
  return told(speech,
              "More workers load no faster: try less work for a sample, decoding on the GPU, or "
              "more cores{}.",
              fewer);
}

namespace {

// Where PyTorch has a flash kernel for the run's type and GPU (FlashAttention-2: 8.0 and later).
bool may_attend_in_tiles(const Run& run) {
  return run.program && may_turn(run, "attention.kernel") && has_bf16(run) && is_narrow(run) &&
         run.config.word("attention.kernel") != "flash";
}

}  // namespace

std::string data_advice(const Run& run, const Speech& speech) {
  const Measured& measured = run.facts.measured;
  if (const auto full = cores_full_of_workers(measured)) return full_cores_advice(*full, speech);
  const auto needed = workers_needed(measured, run.facts.partition[Part::kIdleData]);
  const auto time = [&](double nanos) { return speech.number(format_nanos(nanos)); };
  if (run.program && run.config.whole("loader.num_workers") == 0)
    return needed ? told(speech,
                         "The training thread loads by itself: {} of loading beside {} of all else "
                         "are work for {} (num_workers={}).",
                         time(needed->loading), time(needed->rest),
                         counted_workers(needed->workers, speech), needed->workers)
                  : speech.say(
                        "The training thread loads by itself: try loader.num_workers "
                        "(num_workers=…).");
  if (needed && run.program && needed->workers > run.config.whole("loader.num_workers"))
    return told(
        speech,
        "Try more workers (num_workers={}), less work for a sample, or the data on the GPU.",
        needed->workers);
  return speech.say(
      "Try more workers (num_workers), less work for a sample, or the data on the GPU.");
}

Nanos time_of_odd_products(const Run& run) {
  Nanos time = 0;
  if (!is_narrow(run) || !tells_odd_rows(run)) return time;
  std::set<std::string_view> odd;  // kernels' names tell the shapes of products
  for (const program::Operation& one : run.program->operations)
    if (!odd_rows(one).empty()) odd.insert(one.kernel);
  for (const RooflineKernel& one : run.facts.roofline.kernels)
    if (odd.contains(one.name)) time += one.time;
  return time;
}

bool starves_tensor_cores(const Run& run) {
  constexpr double kLeast = 0.01;
  const Interval& window = run.facts.measured.window;
  return static_cast<double>(time_of_odd_products(run)) >
         kLeast * static_cast<double>(window.end - window.start);
}

std::string arithmetic_advice(const Run& run, const Speech& speech) {
  const std::string sizes =
      !is_narrow(run) || starves_tensor_cores(run) ? sizes_advice(run, speech) : "";
  if (is_narrow(run))
    return sizes.empty() ? speech.say("What is left is for a faster GPU.")
                         : told(speech, "Try {}; what is left is for a faster GPU.", sizes);
  if (!may_turn(run, "precision"))
    return speech.say("Try a narrower type; what is left is for a faster GPU.");
  const bool tf32 = has_tf32(run) && !multiplies_in_tf32(run);
  return told(speech, "Try tensor cores: {}{}{}.", autocast_advice(run, speech),
              tf32 ? ", TF32" : "", sizes.empty() ? "" : ", " + sizes);
}

std::string memory_advice(const Run& run, const Speech& speech) {
  std::vector<std::string> tries;
  if (may_turn(run, "precision") && !is_narrow(run))
    tries.push_back(told(speech, "narrower types ({})", autocast_advice(run, speech)));
  if (may_attend_in_tiles(run))
    tries.push_back(speech.say("the flash kernel of attention (attention.kernel = flash)"));
  if (may_fuse(run)) tries.push_back(speech.say("torch.compile, which fuses kernels"));
  if (may_turn_channels(run)) tries.push_back(speech.say("channels_last for convolutions"));
  if (tries.empty()) return speech.say("What is left is for a GPU with faster memory.");
  return told(speech, "Try {}.", fmt::join(tries, "; "));
}

std::string idle_units_advice(const Run& run, const Speech& speech) {
  const bool starved = starves_tensor_cores(run);
  if (is_alone(run))
    return starved ? told(speech, "Try {}, more blocks, or more work for each.",
                          sizes_advice(run, speech))
                   : speech.say("Try more blocks, or more work for each.");
  std::vector<std::string> tries{speech.say("a larger batch")};
  if (starved) tries.push_back(sizes_advice(run, speech));
  if (may_fuse(run))
    tries.push_back(speech.say("torch.compile, which makes fewer and larger kernels"));
  if (may_turn_channels(run)) tries.push_back(speech.say("channels_last for convolutions"));
  return told(speech, "Try {}.", fmt::join(tries, "; "));
}

std::string launch_advice(const Run& run, const Speech& speech) {
  if (const auto full = cores_full_of_workers(run.facts.measured))
    return full_cores_advice(*full, speech);
  if (is_alone(run)) return speech.say("Try fewer and larger calls, or a CUDA graph.");
  if (is_set_on(run, "compile.cuda_graph"))
    return speech.say("Try a larger batch: the launches that are left are outside of the graphs.");
  return told(speech, "Try a larger batch, {}CUDA graphs, a fused optimizer.",
              is_set_on(run, "compile.fuse") ? "" : "torch.compile, ");
}

namespace {

// Hybrid sharding was tried.
bool shards_in_nodes(const WhatIf& asked) {
  const auto shards = [](const Altered& one) {
    return std::ranges::any_of(one.settings, [](const std::string& setting) {
      return setting.starts_with("fsdp.shard_degree=");
    });
  };
  const auto any = [&](const std::vector<Altered>& all) {
    return std::ranges::any_of(all, shards);
  };
  return any(asked.changes) || any(asked.in_vain) || any(asked.unfit);
}

}  // namespace

std::string lasting_advice(const Run& run, Part part, const WhatIf& asked, const Speech& speech) {
  const bool loads = part == Part::kIdleData || part == Part::kIdleLaunch;
  if (const auto full = cores_full_of_workers(run.facts.measured); full && loads)
    return " " + full_cores_advice(*full, speech);
  if (part == Part::kCompute && starves_tensor_cores(run)) {
    const std::string odd = untried_sizes(run);
    return odd.empty() ? "" : told(speech, " Not tried: {}.", sizes_words(odd, speech));
  }
  if (part != Part::kExposedCommunication || !run.program) return "";
  const std::string& strategy = run.config.word("parallel.strategy");
  if (strategy == "tensor")
    return told(speech, " Not tried: {}.",
                sums_layers_over_network(run)
                    ? speech.say("a faster link")
                    : speech.say("fewer ranks to a model, or a faster link"));
  if (gathers_over_network(run) && asked.untried > 0 && !shards_in_nodes(asked))
    return told(speech, " Not tried: {}.", hybrid_words(run, speech));
  return "";
}

}  // namespace trainscope::analysis
