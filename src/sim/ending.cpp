#include "sim/ending.h"

#include <cmath>

namespace trainscope::sim {
namespace {

// "rank 3", "ranks 0, 1 and 2".
std::string ranks(const std::vector<int>& all, const Speech& speech) {
  std::string numbers;
  for (std::size_t i = 0; i < all.size(); ++i)
    numbers += (i == 0                ? ""
                : i + 1 == all.size() ? " " + speech.say("and") + " "
                                      : ", ") +
               std::to_string(all[i]);
  return told(speech, all.size() == 1 ? "rank {}" : "ranks {}", numbers);
}

std::string at(std::uint16_t line, const std::string& call, const Speech& speech) {
  return line == 0 ? "" : " " + told(speech, "at line {} ({})", line, call);
}

// Below the title "Deadlock".
std::string wait_words(const Deadlock& why, const Speech& speech) {
  const std::string missing =
      why.missing_line == 0
          ? speech.say("has come to the end of its program")
          : told(speech, "stands{}", at(why.missing_line, why.missing_call, speech));
  return told(speech,
              why.waiting.size() == 1
                  ? "{} waits{} in collective {} ({}) of the {} for {}, which {}"
                  : "{} wait{} in collective {} ({}) of the {} for {}, which {}",
              ranks(why.waiting, speech), at(why.line, why.call, speech), why.sequence,
              why.collective, speech.say(why.group), ranks(why.missing, speech), missing) +
         speech.say(
             "; what is shown ends there: give every rank as many batches, or wrap the loop in "
             "`with model.join():`");
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

std::string sentence(const Diverged& why, const Speech& speech) {
  std::string text =
      told(speech,
           std::isnan(why.loss) ? "training diverged at line {}: the loss of step {} is NaN"
                                : "training diverged at line {}: the loss of step {} is infinite",
           why.line, why.step) +
      speech.say("; what is shown ends there: try a lower optimizer.lr");
  if (why.half_weights)
    text += speech.say(
        ", or, because FP16 weights and what their optimizer keeps have nothing above 65504 and "
        "nothing below 6e-8, model.dtype = bf16, or fp32 with precision = fp16 and scaler.enabled "
        "= true");
  else if (why.half && !why.scaled)
    text += speech.say(
        ", or, because FP16 holds nothing above 65504, scaler.enabled = true or precision = bf16");
  return text;
}

std::string sentence(const Deadlock& why, const Speech& speech) {
  return "deadlock: " + wait_words(why, speech);
}

std::string sentence(const DeviceFailed& why, const Speech& speech) {
  return why.line == 0
             ? told(speech, "the run ended: {}; what was measured before is shown", why.what)
             : told(speech, "the run ended at line {}: {}; what was measured before is shown",
                    why.line, why.what);
}

std::string sentence(const EndedEarly& why, const Speech&) {
  return why.what;
}

std::string sentence(const Ending& why, const Speech& speech) {
  return std::visit([&](const auto& one) { return sentence(one, speech); }, why);
}

std::string sentence_below_title(const Ending& why, const Speech& speech) {
  if (const auto* deadlock = std::get_if<Deadlock>(&why)) return wait_words(*deadlock, speech);
  return sentence(why, speech);
}

}  // namespace trainscope::sim
