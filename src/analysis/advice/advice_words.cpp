#include "analysis/advice/advice_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "analysis/advice/advice.h"
#include "analysis/causes/unit_times.h"
#include "analysis/metrics/number_types.h"
#include "base/whole.h"
#include "program/idle_knobs.h"
#include "program/knobs.h"

namespace trainscope::analysis {

bool is_set_on(const Run& run, std::string_view knob) {
  return run.program && run.config.flag(knob);
}

bool may_turn(const Run& run, std::string_view knob) {
  return !run.program || program::idle_because(run.config, knob).empty();
}

bool is_alone(const Run& run) {
  return run.program && run.config.word("workload") != "train";
}

bool is_sharded(const Run& run) {
  return run.program ? run.config.word("parallel.strategy") == "fsdp" : has_unit_marks(*run.trace);
}

bool may_share_layers(const Run& run) {
  return gathers_over_network(run) && run.program->data.tokens > 0;
}

std::string more_microbatches(const program::Config& config) {
  const auto most = static_cast<std::int64_t>(program::find_knob("pipeline.microbatches").most);
  const std::int64_t parts = std::min(2 * config.whole("pipeline.microbatches"), most);
  const std::int64_t batch = config.whole("batch_size");
  const std::string settings = fmt::format("pipeline.microbatches={}", parts);
  if (batch % parts == 0) return settings;
  return fmt::format("{} batch_size={}", settings, round_up(batch, parts));
}

std::string autocast_advice(const Run& run, const Speech& speech) {
  return speech.say(has_bf16(run) ? "autocast to BF16 or FP16"
                                  : "autocast to FP16 with a GradScaler");
}

std::string hybrid_words(const Run& run, const Speech& speech) {
  return told(
      speech,
      "hybrid sharding, whose all-gathers stay within a node (fsdp.shard_degree = {}), where "
      "there is memory for it",
      run.machine->gpu_count);
}

}  // namespace trainscope::analysis
