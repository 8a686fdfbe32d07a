#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/runs/published_errors.h"
#include "base/ratio.h"
#include "report/beyond_steps.h"

namespace trainscope::report {
bool are_alike(double a, double b) {
  return std::max(a, b) < 1.005 * std::min(a, b);
}

namespace {

// Of the longer time: what more or fewer kernels at once must save or cost to be told apart.
constexpr double kLeastByOrder = 0.005;

const analysis::MetricValue* find(const analysis::Run& run, std::string_view name) {
  for (const analysis::MetricValue& one : run.metrics)
    if (one.metric->name == name) return &one;
  return nullptr;
}

Steps steps_of(const analysis::Run& a, const analysis::Run& b) {
  const bool in_a = a.facts.measured.steps > 0, in_b = b.facts.measured.steps > 0;
  if (in_a != in_b) return Steps::kOne;
  return in_a ? Steps::kBoth : Steps::kNone;
}

// Whether the samples of both are sequences of tokens: one of these may be longer than another.
bool are_of_tokens(const analysis::Run& a, const analysis::Run& b) {
  const auto reads = [](const analysis::Run& run) {
    return run.program && run.program->data.tokens > 0;
  };
  return reads(a) && reads(b);
}

// Tokens where both read them, else samples.
double trained_per_step(const analysis::Run& run, bool tokens) {
  if (!run.program) return 0;
  const double each = tokens ? static_cast<double>(run.program->data.tokens) : 1;
  return run.program->samples_per_step * each;
}

std::string_view throughput_of(const analysis::Run& a, const analysis::Run& b) {
  return are_of_tokens(a, b) ? "throughput.tokens" : "throughput.samples";
}

// "1.39x", "24.2x", "154x".
std::string times(double ratio) {
  return format_ratio(ratio) + "x";
}

// Of one run, or of both.
const char* sentence_of(const sim::Ending& why, bool both) {
  if (sim::ran_out_of_memory(why))
    return both ? "{} and {} ran out of memory" : "{} ran out of memory";
  if (std::holds_alternative<sim::Diverged>(why))
    return both ? "{} and {} diverged" : "{} diverged";
  if (std::holds_alternative<sim::Deadlock>(why))
    return both ? "{} and {} never end: deadlock" : "{} never ends: deadlock";
  if (std::holds_alternative<sim::EndedEarly>(why))
    return both ? "{} and {} ended early" : "{} ended early";
  return both ? "{} and {} ended as their GPUs failed" : "{} ended as its GPU failed";
}

// "B never ends: deadlock"; at least one of them ended early.
std::string endings(const analysis::Run& a, const analysis::Run& b, const Speech& speech) {
  if (a.ending && b.ending && a.ending->index() == b.ending->index())
    return told(speech, sentence_of(*a.ending, true), a.label, b.label);
  std::string text;
  for (const analysis::Run* run : {&a, &b})
    if (run->ending)
      text +=
          (text.empty() ? "" : "; ") + told(speech, sentence_of(*run->ending, false), run->label);
  return text;
}

struct Pair {
  const analysis::Run *first, *second;
  double of_first, of_second;  // of one metric
};

// Of two runs and their values the one with the larger first; none where a value is missing.
std::optional<Pair> larger_first(const analysis::Run& a, const analysis::Run& b,
                                 std::string_view metric) {
  const analysis::MetricValue *of_a = find(a, metric), *of_b = find(b, metric);
  if (!of_a || !of_b || of_a->value <= 0 || of_b->value <= 0) return std::nullopt;
  if (of_b->value > of_a->value) return Pair{&b, &a, of_b->value, of_a->value};
  return Pair{&a, &b, of_a->value, of_b->value};
}

// "its step takes 154x as long", "A's step takes 2.00x as long": its is `subject`'s.
std::string step_words(const Pair& steps, const analysis::Run* subject, const Speech& speech) {
  if (are_alike(steps.of_first, steps.of_second))
    return speech.say("their steps take equally long");
  const std::string ratio = speech.number(times(steps.of_first / steps.of_second));
  if (steps.first == subject) return told(speech, "its step takes {} as long", ratio);
  return told(speech, "{}'s step takes {} as long", steps.first->label, ratio);
}

// Steps of other sizes say nothing by their times alone.
std::string throughput_headline(const analysis::Run& a, const analysis::Run& b,
                                const Speech& speech) {
  const bool tokens = are_of_tokens(a, b);
  const auto rates = larger_first(a, b, throughput_of(a, b));
  const auto steps = larger_first(a, b, "time.step");
  if (!rates || !steps) return "";
  if (are_alike(rates->of_first, rates->of_second))
    return told(speech,
                tokens ? "{} and {} train equally many tokens a second; {}"
                       : "{} and {} train equally many samples a second; {}",
                a.label, b.label, step_words(*steps, nullptr, speech));
  return told(speech,
              tokens ? "{} trains {} as many tokens a second; {}"
                     : "{} trains {} as many samples a second; {}",
              rates->first->label, speech.number(times(rates->of_first / rates->of_second)),
              step_words(*steps, rates->first, speech));
}

}  // namespace

double window_time(const analysis::Run& run) {
  Nanos total = 0;
  for (const Nanos time : run.facts.partition.time) total += time;
  return static_cast<double>(total) / run.facts.measured.per();
}

Comparison compare_times(const analysis::Run& a, const analysis::Run& b) {
  Comparison comparison;
  comparison.steps = steps_of(a, b);
  comparison.time_a = window_time(a);
  comparison.time_b = window_time(b);
  comparison.whole = has_whole_times(a, b);
  if (comparison.whole && comparison.steps != Steps::kOne)
    comparison.changes = analysis::compare_by_order(
        a.facts.partition, a.facts.measured.per(), b.facts.partition, b.facts.measured.per(),
        kLeastByOrder * std::max(comparison.time_a, comparison.time_b));
  return comparison;
}

bool is_worth_explaining(const Comparison& comparison) {
  const double a = comparison.time_a, b = comparison.time_b;
  return !are_alike(a, b) ||
         std::ranges::any_of(comparison.changes, [&](const analysis::Change& change) {
           return !are_alike(std::max(a, b), std::max(a, b) + std::abs(change.nanos));
         });
}

const analysis::MetricValue* main_time(const analysis::Run& run) {
  const analysis::MetricValue* step = find(run, "time.step");
  return step ? step : find(run, "time.total");
}

bool same_work(const analysis::Run& a, const analysis::Run& b) {
  if (!a.program || !b.program) return true;
  return a.config.word("workload") == b.config.word("workload");
}

bool has_whole_times(const analysis::Run& a, const analysis::Run& b) {
  return !a.ending && !b.ending;
}

std::string shown(const analysis::Run& run, const analysis::Metric& metric, double value) {
  const std::string words = analysis::show(metric, value);
  return run.ending && std::isfinite(value) ? "(" + words + ")" : words;
}

bool less_is_faster(const analysis::Run& a, const analysis::Run& b) {
  if (!has_whole_times(a, b) || !same_work(a, b)) return false;
  const bool tokens = are_of_tokens(a, b);
  return trained_per_step(a, tokens) == trained_per_step(b, tokens);
}

std::string headline(const analysis::Run& a, const analysis::Run& b, const Speech& speech) {
  if (!has_whole_times(a, b)) return endings(a, b, speech);
  if (!same_work(a, b)) return told(speech, "{} and {} do different work", a.label, b.label);
  if (!less_is_faster(a, b)) return throughput_headline(a, b, speech);
  const auto slower =
      larger_first(a, b, steps_of(a, b) == Steps::kBoth ? "time.step" : "time.total");
  if (!slower) return "";
  if (const auto beyond = beyond_steps(a, b)) return headline(*beyond, a, b, speech);
  if (are_alike(slower->of_first, slower->of_second))
    return told(speech, "{} and {} take equally long", a.label, b.label);
  return told(speech, "{} is {} faster", slower->second->label,
              speech.number(times(slower->of_first / slower->of_second)));
}

std::string closeness(const analysis::Run& a, const analysis::Run& b, const Speech& speech) {
  if (!has_whole_times(a, b) || !same_work(a, b)) return "";
  const bool by_time = less_is_faster(a, b);
  const auto larger = larger_first(a, b, by_time ? "time.step" : throughput_of(a, b));
  if (!larger) return "";
  return analysis::closer_than_errors(a, b, larger->of_first / larger->of_second,
                                      analysis::load_published_errors(), speech);
}

}  // namespace trainscope::report
