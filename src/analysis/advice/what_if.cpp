#include "analysis/advice/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/advice/trials.h"
#include "analysis/caveats/lost_kernels.h"
#include "analysis/caveats/rank_caveat.h"
#include "analysis/caveats/recorded_operators.h"
#include "analysis/steps/measured.h"
#include "base/error.h"
#include "base/stopped.h"
#include "base/time_ends.h"
#include "base/units.h"
#include "train/build.h"
#include "train/replay/rank_loads.h"
#include "train/replay/replay_program.h"
#include "train/replay/waits_of_ranks.h"

namespace trainscope::analysis {
namespace {

constexpr std::string_view kNoCommunication = "replay.communication_speed=1000";

struct Question {
  const char* words;
  std::string_view setting;
  const char* without_operators = nullptr;  // what is said where the trace has none
  const char* without_ranks = nullptr;      // where some of the job's are not in the trace
};

// What is worth asking of a run, one thing at a time.
constexpr std::array kQuestions{
    Question{"The next batch is always there (num_workers, a lighter transform)",
             "replay.batches_ready=true"},
    Question{"The host costs nothing, as a CUDA graph has it", "replay.host_speed=1000"},
    Question{"The host is twice as fast (torch.compile, fewer and larger operators)",
             "replay.host_speed=2", "The host is twice as fast"},
    Question{"Kernels are twice as fast", "replay.kernel_speed=2"},
    Question{"Matrix products, convolutions and attention are twice as fast (BF16, channels_last)",
             "replay.product_speed=2"},
    Question{"Communication is hidden, or gone", kNoCommunication, nullptr,
             "Communication is hidden, or gone, at best, as ranks are missing"},
    Question{"Communication is twice as fast (a faster link, half the bytes)",
             "replay.communication_speed=2", nullptr,
             "Communication is twice as fast (a faster link, half the bytes), at best, as "
             "ranks are missing"},
    Question{"Copies come from pinned memory, non_blocking", "replay.non_blocking=true"},
    Question{"Copies are twice as fast", "replay.copy_speed=2"},
    Question{"The host never waits for the GPU (no .item(), no synchronize())",
             "replay.synchronise=false"},
};

struct Time {
  Nanos length = 0;
  int steps = 0;
  bool on_gpu = false;
  std::int32_t rank = -1;  // that the others wait for; below 0: there are no others
};

Time time_of(const trace::Trace& trace, const program::Program* program,
             const machine::Machine* machine) {
  const Measured measured = measure(trace, program, machine);
  return {(measured.window.end - measured.window.start) / measured.per(), measured.steps,
          measured.on_gpu, measured.rank};
}

Time replay(const Run& run, const program::Config& config, const Stopped& stopped) {
  const machine::Machine machine = train::machine_of(config);
  const program::Program program = train::replay_program(config, run.trace);
  trace::Trace trace(trace::Origin{});
  sim::Simulation simulation(program, machine, config.word("host.profile"), trace);
  constexpr std::uint64_t kEvents = 50'000;  // some milliseconds of them
  while (!simulation.advance(kEndless, kEvents))
    if (stopped && stopped()) throw Abandoned();
  return time_of(trace, &program, &machine);
}

class Asker {
 public:
  Asker(const Run& run, const Time& recorded, const Stopped& stopped)
      : run_(run),
        stopped_(stopped),
        config_(replay_of(run.trace->origin().subject)),
        result_{recorded.length, replay(run, config_, stopped).length, recorded.steps, {}, {}} {}

  void ask(std::string words, std::vector<std::string> settings) {
    program::Config changed = config_;
    for (const std::string& setting : settings) changed.set_text(setting);
    const Nanos time = replay(run_, changed, stopped_).length;
    if (is_worth_telling(time, result_.replayed))
      result_.changes.push_back({std::move(words), std::move(settings), time});
  }

  // Of the measured steps, the part that their slowest rank waits for ranks whose traces are not
  // here, at least: replays keep it.
  double kept_waits() const {
    const Measured& measured = run_.facts.measured;
    const program::Program program = train::replay_program(config_, run_.trace);
    const std::vector<Nanos> waits = train::waits_of_ranks(program.recording);
    std::map<std::int32_t, Nanos> by_rank;
    for (const program::Stream& stream : program.streams) by_rank[stream.rank];
    for (std::size_t i = 0; i < waits.size(); ++i) {
      const program::RecordedWork& work = program.recording.works[i];
      const Nanos end = run_.trace->spans()[work.span].end();
      if (end > measured.window.start && end <= measured.window.end)
        by_rank[program.streams[work.stream].rank] += waits[i];
    }
    const auto least =
        std::ranges::min_element(by_rank, {}, [](const auto& one) { return one.second; });
    const auto whole = static_cast<double>(measured.window.end - measured.window.start);
    return least == by_rank.end() || whole <= 0 ? 0 : static_cast<double>(least->second) / whole;
  }

  // What the rank that the others wait for does in more time than they do.
  void ask_of_late(std::int32_t rank) {
    const std::string whose = fmt::format("Rank {}, which the others wait for: ", rank);
    const std::string alone = fmt::format("replay.rank={}", rank);
    std::vector<std::string> all{alone, "replay.batches_ready=true"};
    ask(whose + "its next batch is always there", all);
    const std::vector<train::RankLoad> loads = train::rank_loads(config_, run_.trace);
    const auto keep_up = [&](const char* what, const char* knob, Nanos train::RankLoad::* load) {
      const double behind = train::times_as_much(loads, rank, load);
      constexpr double kLeast = 1.01;
      if (behind < kLeast) return;
      const std::string setting = fmt::format("{}={:.3f}", knob, behind);
      ask(fmt::format("{}{} as fast as theirs ({:.2f} x)", whose, what, behind), {alone, setting});
      all.push_back(setting);
    };
    keep_up("kernels", "replay.kernel_speed", &train::RankLoad::kernels);
    keep_up("a host", "replay.host_speed", &train::RankLoad::host);
    keep_up("copies", "replay.copy_speed", &train::RankLoad::copies);
    if (all.size() > 3) ask(whose + "all of this, and its batches there", all);
  }

  WhatIf result() {
    std::ranges::stable_sort(result_.changes, {}, &Altered::time);
    return std::move(result_);
  }

 private:
  const Run& run_;
  const Stopped& stopped_;
  program::Config config_;
  WhatIf result_;
};

// A rank that is not here may be waited for longer in each collective, the shortest among them,
// than a trace without it tells.
std::string communication_words(const Question& question, bool lacks_ranks, double kept) {
  constexpr double kLeast = 0.01;
  if (kept >= kLeast)
    return fmt::format(
        "Communication is hidden, or gone, at best; waits for ranks that are not here stay, at "
        "least {} % of the time",
        std::lround(100 * kept));
  return lacks_ranks ? question.without_ranks : question.words;
}

WhatIf ask(const Run& run, const Time& recorded, const Stopped& stopped) {
  Asker asker(run, recorded, stopped);
  const bool has_operators = analysis::has_operators(*run.trace);
  const bool lacks_ranks = analysis::lacks_ranks(*run.trace);
  for (const Question& question : kQuestions) {
    const bool other_words = question.without_operators && !has_operators;
    std::string words = other_words ? question.without_operators : question.words;
    if (question.without_ranks) {
      const bool is_gone = question.setting == kNoCommunication;
      words = communication_words(question, lacks_ranks, is_gone ? asker.kept_waits() : 0);
    }
    asker.ask(std::move(words), {std::string(question.setting)});
  }
  if (recorded.rank >= 0) asker.ask_of_late(recorded.rank);
  return asker.result();
}

}  // namespace

bool can_replay(const Run& run) {
  return !run.program && train::can_replay(*run.trace);
}

bool can_ask_what_if(const Run& run) {
  return can_replay(run) || can_try(run);
}

program::Config config_with(const Run& run, const std::string& file, std::string_view settings) {
  program::Config config = run.program ? run.config : replay_of(file);
  set_all(config, settings);
  return config;
}

program::Config replay_of(const std::string& file) {
  program::Config config;
  config.set_text("workload=replay");
  for (const program::Knob& knob : program::knobs())
    if (knob.name.starts_with("replay.")) config.set(knob.name, knob.initial);
  config.set("replay.trace", file);
  return config;
}

bool is_worth_telling(Nanos time, Nanos without) {
  constexpr double kLeast = 0.01;
  return time < without &&
         static_cast<double>(without - time) >= kLeast * static_cast<double>(without);
}

std::string text_of(const Altered& altered) {
  return fmt::format("{}", fmt::join(altered.settings, " "));
}

std::string settings_of(const std::vector<Altered>& all) {
  std::vector<std::string> words;
  for (const Altered& one : all) words.push_back(text_of(one));
  return fmt::format("{}", fmt::join(words, "; "));
}

std::vector<std::string> words_below(const WhatIf& what_if, const Speech& speech) {
  std::vector<std::string> words;
  const auto add = [&](const char* sentence, const std::string& settings) {
    if (!settings.empty()) words.push_back(told(speech, sentence, settings));
  };
  add("Gains only on top of others: {}.", settings_of(what_if.only_together));
  add("Tried in vain: {}.", settings_of(what_if.in_vain));
  add("Does not fit into the GPU's memory: {}.", settings_of(what_if.unfit));
  add("Not tried, as it would take long: {}.",
      fmt::format("{}", fmt::join(what_if.untried_settings, "; ")));
  return words;
}

std::string memory_words(const WhatIf& what_if, const Altered& altered, const Speech& speech) {
  // Where a batch a little larger, or a block of another size, may find no room any more.
  constexpr double kNearlyAll = 0.95;
  if (altered.reserved <= 0) return "";
  const auto bytes = static_cast<double>(altered.reserved);
  const auto room = static_cast<double>(what_if.room);
  const std::string held = speech.number(format_bytes(bytes));
  if (room <= 0 || bytes < kNearlyAll * room) return held;
  return told(speech, "{} of {}, only just fits", held, speech.number(format_bytes(room)));
}

void set_all(program::Config& config, std::string_view settings) {
  while (!settings.empty()) {
    const std::size_t end = std::min(settings.find(' '), settings.size());
    if (end > 0) config.set_text(std::string(settings.substr(0, end)));
    settings.remove_prefix(std::min(end + 1, settings.size()));
  }
}

std::string heading(const WhatIf& what_if, const Speech& speech) {
  const auto recorded = static_cast<double>(what_if.recorded);
  const auto replayed = static_cast<double>(what_if.replayed);
  const double error = what_if.recorded > 0 ? replayed / recorded - 1 : 0;
  if (what_if.of_knobs)
    return told(speech,
                "SIMULATED: the same training with a knob turned; with none it takes {} a step, in "
                "the run {}",
                speech.number(format_nanos(replayed)), speech.number(format_nanos(recorded)));
  return told(
      speech,
      what_if.steps > 0
          ? "SIMULATED: the trace replayed, which takes {} a step unchanged, recorded {}: {} %"
          : "SIMULATED: the trace replayed, which takes {} unchanged, recorded {}: {} %",
      speech.number(format_nanos(replayed)), speech.number(format_nanos(recorded)),
      speech.number(fmt::format("{:+.1f}", error * 100)));
}

std::optional<WhatIf> what_if(const Run& run, const Stopped& stopped) {
  constexpr std::uint32_t kMostSpans = 500'000;
  if (run.program) return trials(run, stopped);
  if (!can_replay(run)) return std::nullopt;
  const Time recorded = time_of(*run.trace, nullptr, nullptr);
  if (!recorded.on_gpu) return std::nullopt;
  WhatIf refused{recorded.length, 0, recorded.steps, {}, {}};
  if (const std::uint32_t spans = run.trace->spans().size(); spans > kMostSpans) {
    refused.refusal = fmt::format(
        "The trace has {} spans; of more than {} no replay is asked here. Profile fewer steps, or "
        "ask for one change with workload=replay.",
        format_count(static_cast<double>(spans)), format_count(static_cast<double>(kMostSpans)));
    return refused;
  }
  if (const LostKernels found = lost_kernels(*run.trace); found.are_too_many()) {
    refused.refusal = fmt::format(
        "The kernels of {} of {} launches are not in the trace: what a replay without them takes "
        "says nothing of the run. Record fewer steps, or with less beside them.",
        found.lost, found.launches);
    return refused;
  }
  try {
    return ask(run, recorded, stopped);
  } catch (const InputError& error) {
    refused.refusal = fmt::format("No replay of it can be: {}.", error.what());
    return refused;
  } catch (const Abandoned&) {
    return std::nullopt;
  }
}

}  // namespace trainscope::analysis
