#include "analysis/causes/gains.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "analysis/advice/advice.h"
#include "analysis/advice/proposals.h"
#include "base/units.h"

namespace trainscope::analysis {
namespace {

constexpr std::string_view kNoWaits = "replay.synchronise=false";

// The replays that may make a part shorter; empty: none is about it.
std::vector<std::string_view> replays_for(Part part) {
  switch (part) {
    case Part::kCompute:
      return {"replay.kernel_speed=2"};
    case Part::kIdleData:
      return {"replay.batches_ready=true"};
    case Part::kIdleLaunch:  // behind a wait for the GPU, too, the host has yet to launch
      return {"replay.host_speed=2", kNoWaits};
    case Part::kExposedCommunication:
      return {"replay.communication_speed=2"};
    case Part::kExposedCopy:
    case Part::kIdleCopy:
      return {"replay.non_blocking=true", "replay.copy_speed=2"};
    case Part::kIdleSync:
      return {kNoWaits};
    default:
      return {};
  }
}

// What of the path a part may be; nothing: the path does not tell it.
std::vector<PathPart> on_path(Part part) {
  switch (part) {
    case Part::kCompute:
      return {PathPart::kKernels};
    case Part::kExposedCommunication:
      return {PathPart::kCommunication, PathPart::kAbsent};
    case Part::kExposedCopy:
      return {PathPart::kCopies, PathPart::kStaging};
    case Part::kIdleCopy:
      return {PathPart::kStaging};
    case Part::kIdleData:
      return {PathPart::kLoading};
    case Part::kIdleLaunch:
      return {PathPart::kHost, PathPart::kLatency};
    case Part::kIdleGap:
      return {PathPart::kGaps};
    default:
      return {};
  }
}

std::string time_words(Nanos time, const Speech& speech) {
  return speech.number(format_nanos(static_cast<double>(time)));
}

}  // namespace

Gains::Gains(const Run& run, const WhatIf* asked, const HostCause& host)
    : host_is_elsewhere_(!run.program && host.is_elsewhere()),
      has_steps_(run.facts.measured.steps > 0) {
  if (asked && !asked->of_knobs && asked->refusal.empty()) replays_ = asked;
  constexpr double kMostUntold = 0.1;
  path_ = critical_path(run.facts.measured);
  Nanos whole = 0;
  for (const Nanos time : path_.time) whole += time;
  path_tells_ =
      static_cast<double>(path_[PathPart::kUntold]) < kMostUntold * static_cast<double>(whole);
}

// The one of them that saves most, of those that save a hundredth; null where none does.
const Altered* Gains::change_for(Part part) const {
  const Altered* best = nullptr;
  for (const std::string_view setting : replays_for(part)) {
    if (part == Part::kIdleLaunch && host_is_elsewhere_ && setting != kNoWaits) continue;
    const auto found = std::ranges::find(replays_->changes, setting, text_of);
    if (found != replays_->changes.end() && (!best || found->time < best->time)) best = &*found;
  }
  return best;
}

bool Gains::are_replayed(Part part) const {
  const bool is_about = replays_ && !replays_for(part).empty();
  return is_about && (part != Part::kIdleLaunch || !host_is_elsewhere_ || change_for(part));
}

bool Gains::tell_most(Part part) const {
  const bool is_elsewhere = part == Part::kIdleLaunch && host_is_elsewhere_;
  return !are_replayed(part) && (!is_elsewhere || has_steps_);
}

double Gains::of(Part part, double nanos) const {
  const bool is_elsewhere = part == Part::kIdleLaunch && host_is_elsewhere_;
  if (are_replayed(part) && !is_elsewhere) {
    const Altered* change = change_for(part);
    return change ? static_cast<double>(replays_->replayed - change->time) : 0;
  }
  const std::vector<PathPart> parts = on_path(part);
  if (parts.empty() || !path_tells_) return nanos;
  double sum = 0;
  for (const PathPart one : parts) sum += static_cast<double>(path_[one]) / path_.steps;
  return sum;
}

std::string Gains::words(Part part, const Speech& speech) const {
  if (!are_replayed(part)) return "";
  const Altered* change = change_for(part);
  if (!change && part == Part::kExposedCopy) return "";  // they may be within the GPU
  if (!change)
    return speech.say(part == Part::kIdleLaunch
                          ? " Replayed (SIMULATED), operators and launches twice as fast save "
                            "less than a hundredth of the time."
                          : " But replayed (SIMULATED), twice as fast it saves less than a "
                            "hundredth of the time.");
  return told(speech,
              replays_->steps > 0 ? " Replayed (SIMULATED): {}: {} a step instead of {}."
                                  : " Replayed (SIMULATED): {}: {} instead of {}.",
              speech.say_name(change->words), time_words(change->time, speech),
              time_words(replays_->replayed, speech));
}

std::optional<double> if_ranks_kept_up(const WhatIf& asked) {
  const auto is_about = [](const Altered& one) {
    return std::ranges::any_of(one.settings, [](const std::string& setting) {
      return setting == kKeepsUp || setting.starts_with("replay.rank=");
    });
  };
  std::optional<double> most;
  for (const std::vector<Altered>* all : {&asked.changes, &asked.in_vain})
    for (const Altered& one : *all)
      if (is_about(one))
        most = std::max(most.value_or(0), static_cast<double>(asked.replayed - one.time));
  return most;
}

// A trial's time; of another batch, what as many samples take with it.
std::string tried_time(const Altered& one, const Speech& speech) {
  const std::string time = time_words(one.time, speech);
  return one.other_batch ? told(speech, "{} for as many samples", time) : time;
}

void tell_what_was_tried(const Run& run, Finding& finding, Tried& tried, const Speech& speech) {
  if (!tried.asked) return;
  constexpr std::size_t kMost = 4;
  bool stands_above = false;  // something about it was told of a finding before
  const auto is_about = [&](const Altered& one) {
    if (std::ranges::find(one.of, finding.part) == one.of.end()) return false;
    const bool is_told = tried.told.contains(&one);
    stands_above = stands_above || is_told;
    return !is_told;
  };
  std::vector<std::string> gains, in_vain, unfit;
  for (const Altered& one : tried.asked->changes)
    if (is_about(one) && gains.size() < kMost) {
      tried.told.insert(&one);
      gains.push_back(text_of(one) + " " + tried_time(one, speech));
      finding.trials.push_back({text_of(one), static_cast<double>(one.time), one.other_batch});
    }
  for (const Altered& one : tried.asked->in_vain)
    if (is_about(one)) {
      tried.told.insert(&one);
      in_vain.push_back(text_of(one));
    }
  for (const Altered& one : tried.asked->unfit)
    if (is_about(one)) {
      tried.told.insert(&one);
      unfit.push_back(text_of(one));
    }
  if (gains.empty() && in_vain.empty() && unfit.empty()) {
    if (stands_above) finding.advice = speech.say("What was tried for it stands above.");
    return;
  }
  finding.advice.clear();
  finding.untried = static_cast<double>(tried.asked->replayed);
  if (!gains.empty())
    finding.advice = told(speech, "Tried (SIMULATED), instead of {} a step: {}.",
                          time_words(tried.asked->replayed, speech), fmt::join(gains, "; "));
  if (!in_vain.empty())
    finding.beside =
        told(speech, gains.empty() ? "Tried in vain (SIMULATED): {}." : " In vain: {}.",
             fmt::join(in_vain, "; "));
  if (!unfit.empty())
    finding.beside += told(speech,
                           gains.empty() && in_vain.empty() ? "Tried (SIMULATED), does not fit: {}."
                                                            : " Does not fit: {}.",
                           fmt::join(unfit, "; "));
  finding.beside += lasting_advice(run, finding.part, *tried.asked, speech);
  finding.advice += finding.beside;
}

}  // namespace trainscope::analysis
