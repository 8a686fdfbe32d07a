// What it would bring to change something about a recorded run: the trace is replayed with the
// change, and its time held against that of the replay without any.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run.h"
#include "base/speech.h"

namespace trainscope::analysis {

struct Altered {
  std::string words;                  // "The next batch is always there (num_workers)"
  std::vector<std::string> settings;  // of the replay: "replay.batches_ready=true"
  Nanos time = 0;                     // with them, simulated
};

struct WhatIf {
  Nanos recorded = 0;  // a step of the trace where it has some, else the whole
  Nanos replayed = 0;  // the same, replayed without any change: what is off here is off below
  int steps = 0;       // that the times are the mean of; 0: they are of the whole
  std::vector<Altered> changes;  // that save at least a hundredth, those that save most first
  std::string refusal;           // else why there is no replay, a sentence
};

// Of an imported trace; of several ranks also of the one that the others wait for, alone. Nothing
// where it has no work of a GPU with the host's calls beside it. A refusal where a replay cannot
// be, or where it would take long: of more than half a million spans. `stopped` is asked now and
// then: once it says so, nothing comes of it.
std::optional<WhatIf> what_if(const Run& run, const std::function<bool()>& stopped = {});

// "SIMULATED: the trace replayed, which takes 222 ms a step unchanged, recorded 222 ms: +0.0 %".
std::string heading(const WhatIf& what_if, const Speech& speech = {});

// "replay.rank=3 replay.kernel_speed=1.25": the settings as one text, which set_all() takes apart.
std::string text_of(const Altered& altered);
void set_all(program::Config& config, std::string_view settings);

// Whether there is anything to replay; the deeper look is what_if's.
bool can_ask_what_if(const Run& run);

// The knobs of the replay of a trace in that file, each of them set: as recorded.
program::Config replay_of(const std::string& file);

}  // namespace trainscope::analysis
