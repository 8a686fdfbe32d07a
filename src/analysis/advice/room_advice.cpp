// Of a device that has no room for its run.

#include "analysis/advice/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "analysis/advice/advice_words.h"
#include "analysis/advice/batch_fit.h"
#include "analysis/metrics/number_types.h"
#include "train/parallel/parallel.h"

namespace trainscope::analysis {
namespace {

struct Remedy {
  std::string words;
  std::string settings;  // empty: none that could be tried
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
  if (!is_sharded(run))
    all.push_back({speech.say("sharding over several GPUs (fully_shard)"),
                   run.program && train::is_grid(run.config) ? "parallel.strategy=fsdp" : ""});
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

// " Each alone makes room enough (SIMULATED): checkpoint.enabled=true; batch_size=8."
std::string fitting_words(const Run& run, const std::vector<Remedy>& all, const Speech& speech) {
  if (!run.program || !run.machine) return "";
  std::vector<std::string> settings, fitting;
  for (const Remedy& one : all)
    if (!one.settings.empty()) settings.push_back(one.settings);
  const std::int64_t batch = run.config.whole("batch_size");
  for (const std::string& one : settings)
    if (fits_with(run.config, *run.machine, one)) fitting.push_back(one);
  for (std::int64_t smaller = batch / 2; smaller > 0; smaller /= 2) {
    const std::string one = fmt::format("batch_size={}", smaller);
    if (!fits_with(run.config, *run.machine, one)) continue;
    fitting.push_back(one);
    break;
  }
  return fitting.empty() ? ""
                         : told(speech, " Each alone makes room enough (SIMULATED): {}.",
                                fmt::join(fitting, "; "));
}

}  // namespace

std::string out_of_memory_advice(const Run& run, const Speech& speech) {
  const std::vector<Remedy> all = remedies(run, speech);
  std::vector<std::string> tries;
  for (const Remedy& one : all) tries.push_back(one.words);
  return told(speech, "Try {}.", fmt::join(tries, "; ")) + fitting_words(run, all, speech);
}

}  // namespace trainscope::analysis
