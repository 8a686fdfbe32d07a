#include "analysis/trials.h"

#include <algorithm>
#include <limits>
#include <set>

#include "analysis/loader_caveat.h"
#include "analysis/measured.h"
#include "analysis/proposals.h"
#include "base/error.h"
#include "program/idle_knobs.h"
#include "train/build.h"

namespace trainscope::analysis {
namespace {

using Stopped = std::function<bool()>;

// Thrown out of a trial that is no longer wanted.
struct NotWanted {};

constexpr std::int64_t kFewSteps = 4;  // the warm-up, one or two that still allocate, a steady one

// As many steps as the run has, where that is little to do.
program::Config brief(const Run& run) {
  constexpr std::uint32_t kFewSpans = 200'000;
  constexpr std::int64_t kMostSteps = 10;
  program::Config config = run.config;
  const bool is_large = run.trace->spans().size() > kFewSpans;
  const std::int64_t steps = config.whole("steps");
  config.set("steps", is_large ? kFewSteps : std::clamp(steps, kFewSteps, kMostSteps));
  if (program::idle_because(config, "loop.evaluate").empty())
    config.set_text("loop.evaluate=false");
  return config;
}

class Trier {
 public:
  Trier(const Run& run, const Stopped& stopped)
      : stopped_(stopped), config_(brief(run)), spans_left_(room_for(run)) {}

  // For as many samples as the first one that was carried out had. Nothing where it is refused, or
  // does not come to its end.
  std::optional<Nanos> time_with(std::string_view settings) {
    program::Config config = config_;
    set_all(config, settings);
    try {
      return carry_out(config);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  bool has_room() const { return spans_left_ > 0; }

 private:
  static std::int64_t room_for(const Run& run) {
    constexpr std::int64_t kLeast = 1'000'000, kTimes = 3;
    return std::max(kLeast, kTimes * static_cast<std::int64_t>(run.trace->spans().size()));
  }

  std::optional<Nanos> carry_out(const program::Config& config) {
    const machine::Machine machine = train::machine_of(config);
    const program::Program program = train::build_program(config, machine);
    trace::Trace trace(trace::Origin{});
    sim::Simulation simulation(program, machine, config.word("host.profile"), trace);
    constexpr std::uint64_t kEvents = 50'000;  // some milliseconds of them
    while (!simulation.advance(std::numeric_limits<Nanos>::max(), kEvents))
      if (stopped_ && stopped_()) throw NotWanted();
    spans_left_ -= trace.spans().size();
    const Measured measured = measure(trace, &program, &machine);
    if (simulation.ending() || measured.steps == 0 || program.samples_per_step <= 0)
      return std::nullopt;
    const double step =
        static_cast<double>(measured.window.end - measured.window.start) / measured.steps;
    const double time = std::max(step, loading_in_the_long_run(measured).value_or(0));
    if (samples_ == 0) samples_ = program.samples_per_step;
    return static_cast<Nanos>(time * samples_ / program.samples_per_step);
  }

  const Stopped& stopped_;
  program::Config config_;
  std::int64_t spans_left_;
  double samples_ = 0;  // of a step without any change
};

std::vector<std::string> words_of(std::string_view settings) {
  std::vector<std::string> words;
  for (std::size_t end = 0; !settings.empty(); settings.remove_prefix(end)) {
    end = std::min(settings.find(' '), settings.size());
    words.emplace_back(settings.substr(0, end));
    if (end < settings.size()) ++end;
  }
  return words;
}

// What gains with the same batch, in one: of proposals for one knob the one that gains most.
Altered together(const std::vector<std::pair<Altered, bool>>& gains) {
  Altered all{"All of these together, the batch as it is", {}, 0, {}};
  std::set<std::string> knobs;
  std::size_t joined = 0;
  for (const auto& [one, same_batch] : gains) {
    const auto knob_of = [](const std::string& setting) {
      return setting.substr(0, setting.find('='));
    };
    const bool taken = std::ranges::any_of(
        one.settings, [&](const std::string& setting) { return knobs.contains(knob_of(setting)); });
    if (!same_batch || taken) continue;
    ++joined;
    for (const Part part : one.of)
      if (std::ranges::find(all.of, part) == all.of.end()) all.of.push_back(part);
    for (const std::string& setting : one.settings) {
      knobs.insert(knob_of(setting));
      all.settings.push_back(setting);
    }
  }
  if (joined < 2) all.settings.clear();
  return all;
}

WhatIf try_all(const Run& run, const std::vector<Proposal>& proposed, Nanos unchanged,
               Trier& trier) {
  const Measured& measured = run.facts.measured;
  const Nanos recorded = (measured.window.end - measured.window.start) / measured.per();
  WhatIf found{recorded, unchanged, measured.steps, {}, {}, true};
  std::vector<std::pair<Altered, bool>> gains;
  for (const Proposal& one : proposed) {
    if (!trier.has_room()) {
      ++found.untried;
      continue;
    }
    const auto time = trier.time_with(one.settings);
    if (!time) continue;
    Altered tried{one.words, words_of(one.settings), *time, one.of};
    if (is_worth_telling(*time, unchanged))
      gains.emplace_back(std::move(tried), one.same_batch);
    else
      found.in_vain.push_back(std::move(tried));
  }
  std::ranges::stable_sort(gains, {}, [](const auto& gain) { return gain.first.time; });
  Altered all = together(gains);
  if (!all.settings.empty()) all.time = trier.time_with(text_of(all)).value_or(0);
  if (all.time > 0 && is_worth_telling(all.time, gains.front().first.time))
    found.changes.push_back(std::move(all));
  for (auto& [one, same_batch] : gains) found.changes.push_back(std::move(one));
  return found;
}

}  // namespace

bool can_try(const Run& run) {
  return !run.ending && run.trace->origin().ended_early.empty() && !proposals(run).empty();
}

std::optional<WhatIf> trials(const Run& run, const Stopped& stopped) {
  if (!can_try(run)) return std::nullopt;
  try {
    Trier trier(run, stopped);
    const auto unchanged = trier.time_with("");
    if (!unchanged || *unchanged <= 0) return std::nullopt;
    return try_all(run, proposals(run), *unchanged, trier);
  } catch (const InputError&) {
    return std::nullopt;
  } catch (const NotWanted&) {
    return std::nullopt;
  }
}

}  // namespace trainscope::analysis
