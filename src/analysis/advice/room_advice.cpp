// Of a device that has no room for its run.

#include "analysis/advice/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/advice/advice_words.h"
#include "analysis/advice/batch_fit.h"
#include "analysis/metrics/number_types.h"
#include "base/text.h"
#include "base/units.h"
#include "machine/machine.h"
#include "program/idle_knobs.h"
#include "train/parallel/parallel.h"

namespace trainscope::analysis {
namespace {

struct Remedy {
  std::string words;
  std::string settings;   // empty: none that could be tried
  bool of_state = false;  // makes parameters smaller, and what is kept of each
};

// What a validation keeps that nobody needs.
std::vector<Remedy> remedies_of_validation(const Run& run, const Speech& speech) {
  std::vector<Remedy> all;
  if (!run.program || run.config.whole("validation.batches") == 0) return all;
  if (!run.config.flag("validation.no_grad"))
    all.push_back({speech.say("torch.no_grad() around the validation, which keeps the graph of "
                              "each batch without it (validation.no_grad)"),
                   "validation.no_grad=true"});
  if (run.config.word("validation.keep") != "item")
    all.push_back({speech.say("loss.item() in the validation's list, which keeps tensors on the "
                              "GPU (validation.keep)"),
                   "validation.keep=item"});
  return all;
}

// Weights in BF16 are what products take as they are.
std::string without_autocast(const program::Config& config) {
  std::string settings;
  if (config.word("autocast.dtype") != "none") settings += " autocast.dtype=none";
  if (config.flag("scaler.enabled")) settings += " scaler.enabled=false";
  return settings;
}

// Numbers of half the size, kernels that keep less beside them, and a head that ranks share out.
void add_types_of_state(const Run& run, const Speech& speech, std::vector<Remedy>& all) {
  if (!run.program) return;
  const auto is = [&](const char* knob, const char* value) {
    return may_turn(run, knob) && run.config.word(knob) == value;
  };
  if (is("fsdp.param_dtype", "none") && has_bf16(run) && run.config.word("model.dtype") == "fp32")
    all.push_back(
        {speech.say("gathering in BF16 (fsdp.param_dtype = bf16)"), "fsdp.param_dtype=bf16"});
  if (is("optimizer.impl", "foreach"))
    all.push_back({speech.say("the optimizer's fused kernels, which keep no numbers between them "
                              "(optimizer.impl = fused)"),
                   "optimizer.impl=fused"});
  if (may_turn(run, "tensor.loss_parallel") && !is_set_on(run, "tensor.loss_parallel"))
    all.push_back({speech.say("embedding, head and loss shared out, too (tensor.loss_parallel)"),
                   "tensor.loss_parallel=true"});
  if (is("model.dtype", "fp32") && has_bf16(run))
    all.push_back({speech.say("weights in BF16, and all that is kept of them, which rounds small "
                              "updates away (model.dtype = bf16)"),
                   "model.dtype=bf16" + without_autocast(run.config), true});
}

// GPUs that the run leaves idle, or each of which has the whole model.
void add_ranks(const Run& run, const Speech& speech, std::vector<Remedy>& all) {
  if (!run.program || !run.machine) {
    if (!is_sharded(run))
      all.push_back({speech.say("sharding over several GPUs (fully_shard)"), "", true});
    return;
  }
  const std::int64_t ranks = run.config.whole("parallel.world_size");
  const std::int64_t gpus = machine::all_gpus(*run.machine), most = std::max(ranks, gpus);
  const std::string& strategy = run.config.word("parallel.strategy");
  const bool is_one_of_many = strategy == "none" || strategy == "dp";
  if (is_sharded(run)) {
    if (ranks < gpus)
      all.push_back(
          {told(speech, "all {} GPUs of the machine (parallel.world_size = {})", gpus, gpus),
           fmt::format("parallel.world_size={}", gpus), true});
  } else if (most > 1) {
    all.push_back({told(speech, "sharding over {} GPUs (parallel.strategy = fsdp)", most),
                   is_one_of_many || ranks < gpus
                       ? fmt::format("parallel.strategy=fsdp parallel.world_size={}", most)
                       : std::string("parallel.strategy=fsdp"),
                   true});
  }
}

// What makes room in the GPU that the run lacks.
std::vector<Remedy> remedies(const Run& run, const Speech& speech) {
  std::vector<Remedy> all = remedies_of_validation(run, speech);
  if (!run.program || run.config.whole("batch_size") > 1)
    all.push_back(
        {speech.say("a smaller batch, with more micro-batches to an update where that matters"),
         ""});
  if (may_turn(run, "checkpoint.enabled") && !is_set_on(run, "checkpoint.enabled"))
    all.push_back(
        {speech.say("activation checkpointing (checkpoint.enabled)"), "checkpoint.enabled=true"});
  if (may_turn(run, "checkpoint.every") && run.config.whole("checkpoint.every") > 1)
    all.push_back({speech.say("activation checkpointing of each block (checkpoint.every = 1)"),
                   "checkpoint.every=1"});
  // Whichever kernel it is, none keeps the probabilities.
  if (run.program && may_turn(run, "attention.kernel") &&
      run.config.word("attention.kernel") != "flash")
    all.push_back({speech.say(has_bf16(run) && is_narrow(run)
                                  ? "the flash kernel of attention (attention.kernel = flash)"
                                  : "the memory-efficient kernel of attention (attention.kernel = "
                                    "flash)"),
                   "attention.kernel=flash"});
  if (may_turn(run, "precision") && !is_narrow(run))
    all.push_back({told(speech, "narrower types ({})", autocast_advice(run, speech)),
                   has_bf16(run) ? "precision=bf16" : "precision=fp16 scaler.enabled=true"});
  add_types_of_state(run, speech, all);
  add_ranks(run, speech, all);
  if (may_share_layers(run)) {
    const int node = run.machine->gpu_count;
    all.push_back({told(speech,
                        "layers shared within each node, whose GPUs then have one batch in all "
                        "(tensor.degree = {})",
                        node),
                   fmt::format("tensor.degree={} tensor.sequence_parallel=true "
                               "tensor.loss_parallel=true",
                               node)});
  }
  return all;
}

// A parameter for which there is no room: nothing that steps keep is there yet.
bool lacks_room_for_model(const Run& run) {
  const auto* why = run.ending ? std::get_if<sim::OutOfMemory>(&*run.ending) : nullptr;
  return why && why->role == program::Role::kParameter;
}

// Whether a remedy can be tried, without time, of this run.
bool can_be_tried(const Run& run) {
  return run.program && run.machine && run.config.word("workload") == "train" &&
         !train::trains_in_stages(run.config);
}

// Those with which a step needs less, the ones that save most first; of a stage nobody knows.
void keep_what_saves(const Run& run, std::vector<Remedy>& all) {
  const auto now = can_be_tried(run) ? peak_with(run.config, *run.machine, "") : std::nullopt;
  if (!now) return;
  std::vector<std::pair<std::int64_t, Remedy>> saving;
  for (Remedy& one : all) {
    const auto peak = one.settings.empty() ? 0 : peak_with(run.config, *run.machine, one.settings);
    if (peak && *peak < *now) saving.emplace_back(*peak, std::move(one));
  }
  std::ranges::stable_sort(saving, {}, &std::pair<std::int64_t, Remedy>::first);
  all.clear();
  for (auto& [peak, one] : saving) all.push_back(std::move(one));
}

std::string joined_settings(const std::vector<Remedy>& all) {
  std::vector<std::string> settings;
  for (const Remedy& one : all)
    if (!one.settings.empty()) settings.push_back(one.settings);
  return fmt::format("{}", fmt::join(settings, " "));
}

// "batch_size=6", the largest that fits; and one that goes into the run's a whole number of times.
std::vector<std::string> smaller_batches(const Run& run) {
  const std::int64_t batch = run.config.whole("batch_size");
  const std::int64_t largest = largest_batch_with(run.config, *run.machine, "");
  if (largest <= 0 || largest >= batch) return {};
  std::vector<std::string> fitting{fmt::format("batch_size={}", largest)};
  if (!program::idle_because(run.config, "accumulate_steps").empty()) return fitting;
  for (std::int64_t times = 2; times <= batch; ++times) {
    if (batch % times != 0 || batch / times > largest) continue;
    const std::string parts = fmt::format("batch_size={} accumulate_steps={}", batch / times,
                                          times * run.config.whole("accumulate_steps"));
    if (!fits_with(run.config, *run.machine, parts)) continue;
    fitting.push_back(parts);
    break;
  }
  return fitting;
}

// What saves something on top of what saves more, beside these settings; what rounds the model's
// numbers last.
std::vector<Remedy> saving_together(const Run& run, std::vector<Remedy> all,
                                    const std::string& beside) {
  std::ranges::stable_partition(
      all, [](const Remedy& one) { return !one.settings.starts_with("model.dtype="); });
  std::vector<Remedy> kept;
  auto least = peak_with(run.config, *run.machine, beside);
  for (Remedy& one : all) {
    const auto peak =
        peak_with(run.config, *run.machine, joined_settings(kept) + " " + one.settings + beside);
    if (!peak || (least && *peak >= *least)) continue;
    least = peak;
    kept.push_back(std::move(one));
  }
  return kept;
}

// As few of them as make room together.
std::vector<Remedy> fewest_that_fit(const Run& run, std::vector<Remedy> all,
                                    const std::string& beside) {
  for (std::size_t i = all.size(); i-- > 0;) {
    std::vector<Remedy> fewer = all;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (fits_with(run.config, *run.machine, joined_settings(fewer) + beside)) all = fewer;
  }
  return all;
}

// None makes room alone: what does together, or how much is missing.
std::string together_words(const Run& run, std::vector<Remedy> all, const Speech& speech) {
  std::erase_if(all, [](const Remedy& one) { return one.settings.empty(); });
  constexpr const char* kTogether =
      " None alone makes room enough, together they do (SIMULATED): {}.";
  const std::string one_sample = " batch_size=1";
  std::vector<Remedy> saving = saving_together(run, all, "");
  if (fits_with(run.config, *run.machine, joined_settings(saving)))
    return told(speech, kTogether, joined_settings(fewest_that_fit(run, saving, "")));
  saving = saving_together(run, all, one_sample);
  const std::string settings = joined_settings(saving);
  if (fits_with(run.config, *run.machine, settings + one_sample)) {
    const std::string fewest = joined_settings(fewest_that_fit(run, saving, one_sample));
    const std::int64_t largest = largest_batch_with(run.config, *run.machine, fewest);
    return told(speech, kTogether,
                fmt::format("{}{}batch_size={}", fewest, fewest.empty() ? "" : " ",
                            std::max<std::int64_t>(1, largest)));
  }
  const auto need = peak_with(run.config, *run.machine, settings + one_sample);
  if (!need) return "";
  const auto bytes = [&](std::int64_t count) {
    return speech.number(format_bytes(static_cast<double>(count)));
  };
  return told(speech,
              " Nothing that could be tried is enough (SIMULATED): at the least, with {}, tensors "
              "take {} of {}. Choose GPUs with more memory, or more of them to share the model.",
              trimmed(settings + one_sample), bytes(*need),
              bytes(machine::room_of_allocator(*run.machine)));
}

// " Each alone makes room enough (SIMULATED): checkpoint.enabled=true; batch_size=6."
std::string fitting_words(const Run& run, const std::vector<Remedy>& all, const Speech& speech) {
  if (!can_be_tried(run)) return "";
  std::vector<std::string> fitting;
  for (const Remedy& one : all)
    if (!one.settings.empty() && fits_with(run.config, *run.machine, one.settings))
      fitting.push_back(one.settings);
  for (std::string& one : smaller_batches(run)) fitting.push_back(std::move(one));
  if (fitting.empty()) return together_words(run, all, speech);
  return told(speech, " Each alone makes room enough (SIMULATED): {}.", fmt::join(fitting, "; "));
}

}  // namespace

std::string out_of_memory_advice(const Run& run, const Speech& speech) {
  std::vector<Remedy> all = remedies(run, speech);
  keep_what_saves(run, all);
  const bool of_state = lacks_room_for_model(run);
  std::vector<std::string> tries;
  for (const Remedy& one : all)
    if (!of_state || one.of_state) tries.push_back(one.words);
  const std::string advice = tries.empty() ? "" : told(speech, "Try {}.", fmt::join(tries, "; "));
  return std::string(trimmed(advice + fitting_words(run, all, speech)));
}

}  // namespace trainscope::analysis
