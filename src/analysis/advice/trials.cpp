#include "analysis/advice/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/advice/proposals.h"
#include "analysis/caveats/loader_caveat.h"
#include "analysis/steps/measured.h"
#include "analysis/views/memory_counters.h"
#include "base/error.h"
#include "base/stopped.h"
#include "base/time_ends.h"
#include "base/units.h"
#include "program/idle_knobs.h"
#include "trace/api_name.h"
#include "train/build.h"

namespace trainscope::analysis {
namespace {

constexpr std::int64_t kFewSteps = 4;  // the warm-up, one or two that still allocate, a steady one

constexpr std::int64_t kMostSteps = 10;

// As many steps as the run has, where that is little to do.
program::Config brief(const Run& run) {
  constexpr std::uint32_t kFewSpans = 200'000;
  program::Config config = run.config;
  const bool is_large = run.trace->spans().size() > kFewSpans;
  const std::int64_t steps = config.whole("steps");
  config.set("steps", is_large ? kFewSteps : std::clamp(steps, kFewSteps, kMostSteps));
  if (program::idle_because(config, "loop.evaluate").empty())
    config.set_text("loop.evaluate=false");
  if (config.whole("validation.batches") > 0) config.set_text("validation.batches=0");
  return config;
}

struct Attempt {
  Nanos time = 0;
  bool other_batch = false;   // a step has another number of samples
  bool is_unfit = false;      // it is out of memory, and has no time
  std::int64_t reserved = 0;  // the most bytes of a GPU that the allocator holds
};

class Trier {
 public:
  Trier(const Run& run, const Stopped& stopped)
      : stopped_(stopped), config_(brief(run)), spans_left_(room_for(run)) {}

  // For as many samples as the first one that was carried out had. Nothing where it is refused, or
  // does not come to its end but for want of memory.
  std::optional<Attempt> time_with(std::string_view settings) {
    program::Config config = config_;
    try {
      set_all(config, settings);
      return carry_out(config);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  bool has_room() const { return spans_left_ > 0; }

 private:
  static std::int64_t room_for(const Run& run) {
    constexpr std::int64_t kLeast = 2'000'000, kTimes = 4;
    return std::max(kLeast, kTimes * static_cast<std::int64_t>(run.trace->spans().size()));
  }

  std::optional<Attempt> carry_out(const program::Config& config) {
    const machine::Machine machine = train::machine_of(config);
    const program::Program program = train::build_program(config, machine);
    trace::Trace trace(trace::Origin{});
    sim::Simulation simulation(program, machine, config.word("host.profile"), trace);
    constexpr std::uint64_t kEvents = 50'000;  // some milliseconds of them
    while (!simulation.advance(kEndless, kEvents))
      if (stopped_ && stopped_()) throw Abandoned();
    spans_left_ -= trace.spans().size();
    const Measured measured = measure(trace, &program, &machine);
    const std::optional<sim::Ending> ending = simulation.ending();
    if (ending && sim::ran_out_of_memory(*ending)) return Attempt{.is_unfit = true};
    if (ending || measured.steps == 0 || program.samples_per_step <= 0) return std::nullopt;
    const double step =
        static_cast<double>(measured.window.end - measured.window.start) / measured.steps;
    const double time = std::max(step, loading_in_the_long_run(measured).value_or(0));
    if (samples_ == 0) samples_ = program.samples_per_step;
    return Attempt{static_cast<Nanos>(time * samples_ / program.samples_per_step),
                   program.samples_per_step != samples_, false,
                   static_cast<std::int64_t>(memory_peaks(trace).reserved.value_or(0))};
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

std::string_view knob_of(std::string_view setting) {
  return setting.substr(0, setting.find('='));
}

bool share_a_knob(const Altered& one, const Altered& other) {
  return std::ranges::any_of(one.settings, [&](const std::string& setting) {
    return std::ranges::any_of(other.settings, [&](const std::string& of_other) {
      return knob_of(setting) == knob_of(of_other);
    });
  });
}

void join(Altered& all, const Altered& one) {
  all.settings.insert(all.settings.end(), one.settings.begin(), one.settings.end());
  for (const Part part : one.of)
    if (std::ranges::find(all.of, part) == all.of.end()) all.of.push_back(part);
}

enum class Outcome {
  kGains,     // alone
  kInVain,    // neither alone nor on top of those that gain
  kTogether,  // only on top of them
  kUntold,    // not alone, and nobody tried it on top of them
  kUnfit,     // out of memory
};

// A proposal that was tried.
struct Tested {
  Altered altered;
  bool alone = false;
  Outcome outcome = Outcome::kInVain;
};

// Each proposal alone, and then one after the other on top of those that have gained: some, as
// channels_last, bring nothing but together with others.
class Rounds {
 public:
  Rounds(Trier& trier, Nanos unchanged) : trier_(trier), unchanged_(unchanged) {}

  void each_alone(const std::vector<Proposal>& proposed) {
    for (const Proposal& one : proposed) {
      if (!trier_.has_room()) {
        untried_.push_back(one.settings);
        continue;
      }
      const auto trial = trier_.time_with(one.settings);
      if (!trial) continue;
      const bool gains = is_worth_telling(trial->time, unchanged_);
      tested_.push_back({{one.words, words_of(one.settings), trial->time, one.of,
                          trial->other_batch, trial->reserved},
                         one.alone,
                         trial->is_unfit ? Outcome::kUnfit
                         : gains         ? Outcome::kGains
                                         : Outcome::kInVain});
    }
  }

  // Those that gain most come first, those that gain nothing alone come last.
  void on_top_of_one_another() {
    std::vector<Tested*> order;
    for (Tested& one : tested_)
      if (!one.alone && one.outcome != Outcome::kUnfit) order.push_back(&one);
    std::ranges::stable_sort(order, {}, [](const Tested* one) {
      return one->outcome == Outcome::kGains ? one->altered.time : kEndless;
    });
    if (order.empty() || order.front()->outcome != Outcome::kGains) return;
    join(all_, order.front()->altered);
    all_.time = order.front()->altered.time;
    all_.reserved = order.front()->altered.reserved;
    for (std::size_t i = 1; i < order.size(); ++i) try_on_top(*order[i]);
    for (Tested& one : tested_)
      if (one.alone && one.outcome == Outcome::kInVain) try_on_top(one);
  }

  void put_into(WhatIf& found) {
    found.untried = static_cast<int>(untried_.size());
    found.untried_settings = std::move(untried_);
    if (joined_ > 1) found.changes.push_back(std::move(all_));
    for (Tested& one : tested_)
      if (std::vector<Altered>* list = list_of(found, one.outcome))
        list->push_back(std::move(one.altered));
    std::ranges::stable_sort(found.changes, {}, &Altered::time);
  }

 private:
  static std::vector<Altered>* list_of(WhatIf& found, Outcome outcome) {
    switch (outcome) {
      case Outcome::kGains:
        return &found.changes;
      case Outcome::kInVain:
        return &found.in_vain;
      case Outcome::kTogether:
        return &found.only_together;
      case Outcome::kUnfit:
        return &found.unfit;
      case Outcome::kUntold:
        break;
    }
    return nullptr;
  }

  void try_on_top(Tested& one) {
    const bool gains_alone = one.outcome == Outcome::kGains;
    if (share_a_knob(one.altered, all_)) return;
    if (!trier_.has_room()) {
      if (gains_alone) return;
      one.outcome = Outcome::kUntold;
      untried_.push_back(text_of(one.altered));
      return;
    }
    Altered both = all_;
    join(both, one.altered);
    const auto trial = trier_.time_with(text_of(both));
    if (!trial || trial->is_unfit || !is_worth_telling(trial->time, all_.time)) return;
    both.time = trial->time;
    both.reserved = trial->reserved;
    both.other_batch = trial->other_batch;
    if (one.alone) {
      both.words = one.altered.words;
      one = {std::move(both), true, Outcome::kGains};
      return;
    }
    if (!gains_alone) one.outcome = Outcome::kTogether;
    all_ = std::move(both);
    ++joined_;
  }

  Trier& trier_;
  Nanos unchanged_;
  std::vector<Tested> tested_;
  Altered all_{"All of these together, the batch as it is", {}, 0, {}};
  int joined_ = 1;
  std::vector<std::string> untried_;  // settings
};

Nanos recorded_step(const Run& run) {
  const Measured& measured = run.facts.measured;
  return (measured.window.end - measured.window.start) / measured.per();
}

// Few steps that take another time than the run's tell nothing of its knobs.
bool misses(const Run& run, Nanos unchanged) {
  constexpr double kMost = 0.05;
  const auto recorded = std::max(static_cast<double>(recorded_step(run)),
                                 loading_in_the_long_run(run.facts.measured).value_or(0));
  return std::abs(static_cast<double>(unchanged) - recorded) > kMost * recorded;
}

// All its measured steps call for memory, as the first steps of a run do and later ones do not:
// what a knob brings would be told by that. With more steps those are left out.
bool has_yet_to_settle(const Run& run) {
  const Measured& measured = run.facts.measured;
  if (measured.marks.empty() || run.config.whole("steps") >= kMostSteps ||
      run.config.flag("loop.empty_cache"))
    return false;
  const Interval first = measured.own_marks().front();
  bool calls = false;
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    calls = calls || (span.category == trace::Category::kHostApi && span.start >= first.start &&
                      span.start < first.end && measured.is_own(run.trace->lanes()[span.lane]) &&
                      trace::asks_for_memory(run.trace->name(span)));
  });
  return calls;
}

WhatIf unsettled(const Run& run) {
  WhatIf found{recorded_step(run), 0, run.facts.measured.steps, {}, {}, true};
  found.refusal = fmt::format(
      "No knob is tried: the steps that are measured still ask the driver for memory, which later "
      "ones do not. Raise steps to {}.",
      kMostSteps);
  return found;
}

WhatIf refused(const Run& run, Nanos unchanged) {
  WhatIf found{recorded_step(run), unchanged, run.facts.measured.steps, {}, {}, true};
  found.refusal = fmt::format(
      "No knob is tried: a few steps of it, all that there is time for, take {} each, those of the "
      "run {}.",
      format_nanos(static_cast<double>(unchanged)),
      format_nanos(static_cast<double>(found.recorded)));
  return found;
}

WhatIf try_all(const Run& run, const std::vector<Proposal>& proposed, Nanos unchanged,
               Trier& trier) {
  WhatIf found{recorded_step(run), unchanged, run.facts.measured.steps, {}, {}, true};
  found.room = run.machine ? machine::room_of_allocator(*run.machine) : 0;
  Rounds rounds(trier, unchanged);
  rounds.each_alone(proposed);
  rounds.on_top_of_one_another();
  rounds.put_into(found);
  return found;
}

}  // namespace

bool can_try(const Run& run) {
  return !run.ending && run.trace->origin().ended_early.empty() && !proposals(run).empty();
}

std::optional<WhatIf> trials(const Run& run, const Stopped& stopped) {
  if (!can_try(run)) return std::nullopt;
  try {
    if (has_yet_to_settle(run)) return unsettled(run);
    Trier trier(run, stopped);
    const auto unchanged = trier.time_with("");
    if (!unchanged || unchanged->is_unfit || unchanged->time <= 0) return std::nullopt;
    if (misses(run, unchanged->time)) return refused(run, unchanged->time);
    return try_all(run, proposals(run), unchanged->time, trier);
  } catch (const InputError&) {
    return std::nullopt;
  } catch (const Abandoned&) {
    return std::nullopt;
  }
}

}  // namespace trainscope::analysis
