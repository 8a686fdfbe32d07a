#include "analysis/causes/diagnosis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <utility>

#include "analysis/advice/advice.h"
#include "analysis/causes/explain.h"
#include "analysis/causes/gains.h"
#include "analysis/caveats/loader_caveat.h"
#include "analysis/caveats/rank_caveat.h"
#include "base/units.h"
#include "train/parallel/parallel.h"

namespace trainscope::analysis {
namespace {

constexpr double kLeastShare = 0.05;
constexpr double kAllOfIt = 0.95;
constexpr double kMostOfIt = 0.5;
constexpr std::size_t kMost = 3;

// What a step loses to waits for a rank, no more than `longest` of them, ns. What GPUs wait with
// nothing beside it is lost for certain. Of the rest a part is, as a collective that waits holds
// SMs which kernels beside it lack: where each rank has the whole batch of a GPU alone, what it
// takes longer than that one, but for what it communicates with no kernel beside it.
double lost_to_waits(const Run& run, double idle, double longest, double whole) {
  const auto efficiency = value_of(run.metrics, "scaling.efficiency");
  const std::string strategy = run.program ? run.config.word("parallel.strategy") : "";
  const bool has_whole_batch =
      (strategy == "ddp" || strategy == "fsdp") && !train::is_grid(run.config);
  if (!efficiency || !has_whole_batch) return idle;
  const double exposed = value_of(run.metrics, "comm.exposed").value_or(0);
  return std::max(idle, std::min(longest, whole * (1 - *efficiency) - exposed));
}

struct Waited {
  double least = 0, idle = 0;  // of the other ranks: of the one that waits least
  double longest = 0;
};

Waited waited_by_others(const Run& run, const RankTimes& last) {
  Waited waited;
  waited.least = waited.idle = std::numeric_limits<double>::max();
  for (const RankTimes& one : run.ranks) {
    if (one.rank == last.rank) continue;
    waited.least = std::min(waited.least, one.wait);
    waited.idle = std::min(waited.idle, one.idle);
    waited.longest = std::max(waited.longest, one.wait);
  }
  return waited;
}

// The one rank that all others wait for, and what that costs: as it was tried or replayed, where it
// was. In a pipeline ranks take turns.
std::optional<Finding> awaited_rank(const Run& run, double whole, const WhatIf* asked,
                                    const Speech& speech) {
  if (run.ranks.size() < 2 || is_pipeline(run)) return std::nullopt;
  const RankTimes& last = *std::ranges::min_element(run.ranks, {}, &RankTimes::wait);
  const Waited waited = waited_by_others(run, last);
  if (waited.least - last.wait < kLeastShare * whole) return std::nullopt;
  const auto time = [&](double nanos) { return speech.number(format_nanos(nanos)); };
  const std::optional<double> kept_up = asked ? if_ranks_kept_up(*asked) : std::nullopt;
  Finding finding;
  finding.part = Part::kIdleCollective;
  finding.nanos = finding.gain =
      kept_up.value_or(lost_to_waits(run, waited.idle, waited.longest, whole));
  if (finding.nanos < kLeastShare * whole) return std::nullopt;
  finding.share = finding.nanos / whole;
  if (finding.nanos < whole) finding.most_gain = whole / (whole - finding.nanos);
  const bool lacks_ranks = !run.program && analysis::lacks_ranks(*run.trace);
  finding.title = told(speech,
                       lacks_ranks ? "Of the ranks that are here the others wait for rank {}"
                                   : "The other ranks wait for rank {}",
                       last.rank);
  finding.why = told(speech, "each of the others waits at least {}", time(waited.least));
  if (waited.idle < kAllOfIt * waited.least)
    finding.why += told(speech, ", {} of it with nothing at work beside it", time(waited.idle));
  finding.advice = told(speech,
                        "Look at what rank {} does longer than they: its kernels, its host, its "
                        "batches.",
                        last.rank);
  if (kept_up && asked->of_knobs)
    finding.advice += told(speech, " Were it as fast as they: {} a step (SIMULATED).",
                           time(static_cast<double>(asked->replayed) - finding.nanos));
  return finding;
}

// "1 to 5", "3, 7": ranks that follow one another are told by the first and the last.
std::string ranks_words(const std::vector<std::int32_t>& ranks, const Speech& speech) {
  constexpr std::size_t kMostRuns = 4;
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last < i + 2) last = i;
    runs.push_back(last > i ? told(speech, "{} to {}", ranks[i], ranks[last])
                            : std::to_string(ranks[i]));
    i = last + 1;
  }
  if (runs.size() > kMostRuns) {
    runs.resize(kMostRuns);
    runs.emplace_back("\u2026");
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

// Those that have as much to do as the one that has most, but for a fiftieth; sorted.
std::vector<std::int32_t> as_busy_as(const Run& run, const RankTimes& most) {
  constexpr double kAlike = 0.98;
  std::vector<std::int32_t> ranks;
  for (const RankTimes& one : run.ranks)
    if (one.busy >= kAlike * most.busy) ranks.push_back(one.rank);
  std::ranges::sort(ranks);
  return ranks;
}

// What twice as many micro-batches bring, where that was tried. They make the bubble shorter, and
// the slow stage no faster.
std::string words_of_microbatches(const WhatIf* asked, const Speech& speech) {
  if (!asked || !asked->of_knobs) return "";
  const auto is_one = [](const Altered& one) {
    return !one.settings.empty() && one.settings.front().starts_with("pipeline.microbatches=") &&
           std::ranges::all_of(one.settings, [](const std::string& setting) {
             return setting.starts_with("pipeline.microbatches=") ||
                    setting.starts_with("batch_size=");
           });
  };
  const auto found = std::ranges::find_if(asked->changes, is_one);
  if (found != asked->changes.end())
    return told(speech, " Tried (SIMULATED): {} takes {} instead of {}.", text_of(*found),
                speech.number(format_nanos(static_cast<double>(found->time))),
                speech.number(format_nanos(static_cast<double>(asked->replayed))));
  return std::ranges::any_of(asked->in_vain, is_one)
             ? speech.say(" Tried (SIMULATED), more micro-batches help no further.")
             : "";
}

void tell_slow_ranks(Finding& finding, const Run& run, const RankTimes& slow,
                     const Speech& speech) {
  const std::vector<std::int32_t> ranks = as_busy_as(run, slow);
  double busy = 0;
  for (const RankTimes& one : run.ranks)
    if (!std::ranges::binary_search(ranks, one.rank)) busy += one.busy;
  const std::string most = speech.number(format_nanos(slow.busy)),
                    others = speech.number(
                        format_nanos(busy / static_cast<double>(run.ranks.size() - ranks.size())));
  finding.advice = slow_stage_advice(run, ranks, speech);
  if (ranks.size() == 1) {
    finding.title = told(speech, "Rank {} has more to do than the other stages", ranks.front());
    finding.why =
        told(speech,
             "its GPU is at work for {} a step, the others for {} on average: they wait for "
             "it, whatever the schedule",
             most, others);
    return;
  }
  finding.title =
      told(speech, "Ranks {} have more to do than the other stages", ranks_words(ranks, speech));
  finding.why =
      told(speech,
           "their GPUs are at work for {} a step each, the others for {} on average: they wait for "
           "them, whatever the schedule",
           most, others);
}

// The ranks of a pipeline that have more to do than the others, whom they keep waiting whatever
// their schedule.
std::optional<Finding> slow_stage(const Run& run, double whole, const WhatIf* asked,
                                  const Speech& speech) {
  constexpr double kMore = 1.15;
  if (run.ranks.size() < 2 || !is_pipeline(run)) return std::nullopt;
  const RankTimes& slow = *std::ranges::max_element(run.ranks, {}, &RankTimes::busy);
  // Those of other pipelines that have the same stages have as much to do.
  const int stages = run.program->gpus_of_batch;
  double sum = 0, of_others = 0, count_of_others = 0;
  for (const RankTimes& one : run.ranks) {
    sum += one.busy;
    if (one.rank % stages == slow.rank % stages) continue;
    of_others += one.busy;
    ++count_of_others;
  }
  const auto count = static_cast<double>(run.ranks.size());
  const double others = of_others / count_of_others;
  if (!(others > 0) || slow.busy < kMore * others) return std::nullopt;
  Finding finding;
  finding.part = Part::kCompute;
  finding.nanos = finding.gain = slow.busy - sum / count;
  finding.share = finding.nanos / whole;
  finding.most_gain = whole / (whole - finding.nanos);
  tell_slow_ranks(finding, run, slow, speech);
  finding.advice += words_of_microbatches(asked, speech);
  return finding;
}

// Batches that workers load more slowly than training uses them up, where the measured steps lived
// on some that were loaded ahead.
std::optional<Finding> data_in_the_long_run(const Run& run, double whole, const Speech& speech) {
  const std::optional<double> loading = longer_in_the_long_run(run.facts.measured);
  // Steps that waited for some of the batches are as long as the workers take already.
  const auto waited = static_cast<double>(run.facts.partition[Part::kIdleData]);
  const double rest = whole - waited / run.facts.measured.steps;
  if (!loading || *loading <= rest || rest <= 0) return std::nullopt;
  Finding finding;
  finding.part = Part::kIdleData;
  finding.nanos = finding.gain = *loading - rest;
  finding.share = finding.nanos / *loading;
  finding.most_gain = *loading / rest;
  finding.title = speech.say("Waiting for data in the long run");
  finding.why = told(speech,
                     "these steps of {} ran on batches that were loaded ahead; once those are used "
                     "up, the workers take {} for a step's",
                     speech.number(format_nanos(whole)), speech.number(format_nanos(*loading)));
  if (const auto full = cores_full_of_workers(run.facts.measured))
    finding.why += full_cores_words(*full, speech);
  finding.advice = data_advice(run, speech);
  return finding;
}

// What steps there were before it say nothing of a job that hangs.
Finding no_end(const sim::Deadlock& why, const Speech& speech) {
  Finding finding;
  finding.title = speech.say("Deadlock");
  finding.why = told(speech,
                     why.missing.size() == 1 ? "ranks {} wait for rank {} for ever"
                                             : "ranks {} wait for ranks {} for ever",
                     fmt::join(why.waiting, ", "), fmt::join(why.missing, ", "));
  finding.advice = deadlock_advice(why, speech);
  return finding;
}

Finding no_room(const Run& run, const Speech& speech) {
  Finding finding;
  finding.title = speech.say("Out of memory");
  finding.advice = out_of_memory_advice(run, speech);
  return finding;
}

}  // namespace

namespace {

// The parts that take a twentieth and more, those first that could save most.
std::vector<Finding> largest_parts(const Run& run, double whole, double per, const Gains& gains) {
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < kPartCount; ++i) {
    Finding finding;
    finding.part = static_cast<Part>(i);
    finding.nanos = static_cast<double>(run.facts.partition[finding.part]) / per;
    finding.share = finding.nanos / whole;
    if (finding.share < kLeastShare) continue;
    finding.gain = gains.of(finding.part, finding.nanos);
    const double rest = whole - finding.nanos;
    if (finding.part != Part::kCompute && rest > 0 && gains.tell_most(finding.part))
      finding.most_gain = whole / rest;
    findings.push_back(finding);
  }
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    return std::pair(a.gain, a.nanos) > std::pair(b.gain, b.nanos);
  });
  // What no replay makes shorter is hidden; but copies with nothing beside them are not.
  if (!findings.empty() && findings.front().gain > 0)
    std::erase_if(findings, [&](const Finding& one) {
      return one.gain <= 0 && gains.are_replayed(one.part) && one.share < kMostOfIt &&
             one.part != Part::kExposedCopy;
    });
  const auto kernels = std::ranges::find(findings, Part::kCompute, &Finding::part);
  if (kernels != findings.end() && kernels != findings.begin()) findings.erase(kernels);
  if (findings.size() > kMost) findings.resize(kMost);
  return findings;
}

// Of a part that is too small to be told: none.
HostCause cause_of_idle_launches(const Run& run, double whole, double per) {
  const double idle = static_cast<double>(run.facts.partition[Part::kIdleLaunch]) / per;
  return idle < kLeastShare * whole ? HostCause() : host_cause(run, idle, per);
}

void put_first(std::vector<Finding>& findings, Finding first) {
  findings.insert(findings.begin(), std::move(first));
  if (findings.size() > kMost) findings.pop_back();
}

}  // namespace

std::vector<Finding> diagnose(const Run& run, const Speech& speech, const WhatIf* asked) {
  if (run.ending && sim::ran_out_of_memory(*run.ending)) return {no_room(run, speech)};
  if (run.ending)
    if (const auto* deadlock = std::get_if<sim::Deadlock>(&*run.ending))
      return {no_end(*deadlock, speech)};
  const Partition& partition = run.facts.partition;
  const double per = run.facts.measured.per();
  double whole = 0;
  for (const Nanos time : partition.time) whole += static_cast<double>(time) / per;
  if (whole <= 0 || partition[Part::kOnCpu] > 0) return {};
  const HostCause host = cause_of_idle_launches(run, whole, per);
  const Gains gains(run, asked, host);
  Tried tried(asked);
  if (auto waits = data_in_the_long_run(run, whole, speech)) {
    tell_what_was_tried(run, *waits, tried, speech);
    return {*waits};
  }
  std::vector<Finding> findings = largest_parts(run, whole, per, gains);
  for (Finding& finding : findings) {
    explain(run, finding, host, speech);
    tell_what_was_tried(run, finding, tried, speech);
    finding.advice += gains.words(finding.part, speech);
  }
  if (auto awaited = awaited_rank(run, whole, asked, speech)) {
    std::erase_if(findings, [](const Finding& one) { return one.part == Part::kIdleCollective; });
    put_first(findings, std::move(*awaited));
  }
  if (auto slow = slow_stage(run, whole, asked, speech)) put_first(findings, std::move(*slow));
  return findings;
}

namespace {

std::string capitalised(std::string words) {
  if (!words.empty())
    words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words;
}

}  // namespace

std::string headline(const Finding& finding, const Speech& speech) {
  if (finding.nanos <= 0) return finding.title;
  const auto time = [&](double nanos) { return speech.number(format_nanos(nanos)); };
  std::string words =
      told(speech, "{}: {} of {}",
           finding.title.empty() ? speech.say(name_of(finding.part)) : finding.title,
           time(finding.nanos), time(finding.nanos / finding.share));
  if (finding.most_gain > 0)
    words = told(
        speech, "{}; with that alone gone {} times as fast", words,
        speech.number(fmt::format("{:.{}f}", finding.most_gain, finding.most_gain < 10 ? 1 : 0)));
  return capitalised(words);
}

std::string sentence(const Finding& finding) {
  const std::string why = capitalised(finding.why);
  const bool is_apart = why.empty() || finding.advice.empty() || finding.advice.starts_with(' ');
  return why + (why.empty() ? "" : ".") + (is_apart ? "" : " ") + finding.advice;
}

}  // namespace trainscope::analysis
