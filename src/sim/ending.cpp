#include "sim/ending.h"

#include <cmath>

namespace trainscope::sim {
namespace {

// "rank 3", "ranks 0, 1 and 2".
std::string ranks(const std::vector<int>& all) {
  std::string text = all.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? "" : i + 1 == all.size() ? " and " : ", ") + std::to_string(all[i]);
  return text;
}

std::string at(std::uint16_t line, const std::string& call) {
  return line == 0 ? "" : " at line " + std::to_string(line) + " (" + call + ")";
}

}  // namespace

bool ran_out_of_memory(const Ending& why) {
  const auto* failed = std::get_if<DeviceFailed>(&why);
  return std::holds_alternative<OutOfMemory>(why) || (failed && failed->out_of_memory);
}

std::string_view name_of(const Ending& why) {
  constexpr std::string_view kNames[] = {"out_of_memory", "diverged", "deadlock", "device_failed",
                                         "ended_early"};
  return kNames[why.index()];
}

std::string_view title_of(const Ending& why) {
  if (ran_out_of_memory(why)) return "Out of memory";
  constexpr std::string_view kTitles[] = {"Out of memory", "Training diverged", "Deadlock",
                                          "The GPU failed", "The run ended early"};
  return kTitles[why.index()];
}

std::string sentence(const Diverged& why) {
  std::string text = "training diverged at line " + std::to_string(why.line) +
                     ": the loss of step " + std::to_string(why.step) +
                     (std::isnan(why.loss) ? " is NaN" : " is infinite") +
                     "; what is shown ends there: try a lower optimizer.lr";
  if (why.half_weights)
    text +=
        ", or, because FP16 weights and what their optimizer keeps have nothing above 65504 and "
        "nothing below 6e-8, model.dtype = bf16, or fp32 with precision = fp16 and scaler.enabled "
        "= true";
  else if (why.half && !why.scaled)
    text +=
        ", or, because FP16 holds nothing above 65504, scaler.enabled = true or precision = bf16";
  return text;
}

std::string sentence(const Deadlock& why) {
  std::string text = "deadlock: " + ranks(why.waiting) +
                     (why.waiting.size() == 1 ? " waits" : " wait") + at(why.line, why.call) +
                     " in collective " + std::to_string(why.sequence) + " (" + why.collective +
                     ") of the " + why.group + " for " + ranks(why.missing) + ", which ";
  text += why.missing_line == 0 ? "has come to the end of its program"
                                : "stands" + at(why.missing_line, why.missing_call);
  return text +
         "; what is shown ends there: give every rank as many batches, or wrap the loop in "
         "`with model.join():`";
}

std::string sentence(const DeviceFailed& why) {
  const std::string where = why.line == 0 ? "" : " at line " + std::to_string(why.line);
  return "the run ended" + where + ": " + why.what + "; what was measured before is shown";
}

std::string sentence(const EndedEarly& why) {
  return why.what;
}

std::string sentence(const Ending& why) {
  return std::visit([](const auto& one) { return sentence(one); }, why);
}

std::string sentence_below_title(const Ending& why) {
  constexpr std::string_view kTitled = "deadlock: ";
  const std::string whole = sentence(why);
  return whole.starts_with(kTitled) ? whole.substr(kTitled.size()) : whole;
}

}  // namespace trainscope::sim
