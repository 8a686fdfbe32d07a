// What it would bring to change something about a run. A recorded one is replayed with the change;
// of one whose program is known, the program is simulated once more with a knob turned. Either time
// is held against the simulated one without any change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/causes/partition.h"
#include "analysis/runs/run.h"
#include "base/speech.h"
#include "base/stopped.h"

namespace trainscope::analysis {

struct Altered {
  std::string words;                  // "The next batch is always there (num_workers)"
  std::vector<std::string> settings;  // of the replay, or the run: "replay.batches_ready=true"
  // With them, simulated; of knobs, for as many samples as the run's step has, and with a loader's
  // workers no less than they take in the long run.
  Nanos time = 0;
  std::vector<Part> of{};     // of knobs: the parts of the time that they are to make shorter
  bool other_batch = false;   // of knobs: a step has another number of samples with them
  std::int64_t reserved = 0;  // of knobs: the most bytes of a GPU that the allocator holds
};

struct WhatIf {
  Nanos recorded = 0;  // a step of the trace where it has some, else the whole
  Nanos replayed = 0;  // the same, simulated without any change: what is off here is off below
  int steps = 0;       // that the times are the mean of; 0: they are of the whole
  std::vector<Altered> changes;    // that save at least a hundredth, those that save most first
  std::string refusal;             // else why there is no replay, a sentence
  bool of_knobs = false;           // the run's own were turned, and nothing replayed
  std::vector<Altered> in_vain{};  // knobs that save less, in the order in which they were tried
  int untried = 0;                 // knobs for which there was no time
  std::vector<std::string> untried_settings{};  // those knobs
  std::vector<Altered> only_together{};  // knobs that save it only on top of others, in `changes`
  std::vector<Altered> unfit{};          // knobs with which the run is out of memory; no times
  std::int64_t room = 0;                 // bytes of a GPU that its allocator can have; 0: not known
};

// Of an imported trace; of several ranks also of the one that the others wait for, alone. Nothing
// where it has no work of a GPU with the host's calls beside it. A refusal where a replay cannot
// be, or where it would take long: of more than half a million spans. Of a run with a program, what
// analysis/advice/trials.h gives. `stopped` is asked now and then: once it says so, nothing comes
// of it.
std::optional<WhatIf> what_if(const Run& run, const Stopped& stopped = {});

// "SIMULATED: the trace replayed, which takes 222 ms a step unchanged, recorded 222 ms: +0.0 %".
std::string heading(const WhatIf& what_if, const Speech& speech = {});

// It saves at least a hundredth.
bool is_worth_telling(Nanos time, Nanos without);

// "replay.rank=3 replay.kernel_speed=1.25": the settings as one text, which set_all() takes apart.
std::string text_of(const Altered& altered);
// "precision=bf16; precision=tf32", of any of the lists.
std::string settings_of(const std::vector<Altered>& all);
// What is said below the changes, a sentence each: "Tried in vain: precision=tf32.".
std::vector<std::string> words_below(const WhatIf& what_if, const Speech& speech = {});
// "61.2 GiB": what the allocator holds at most with a change; of next to all that there is "78.6 of
// 78.8 GiB, only just fits". Empty where that is not known.
std::string memory_words(const WhatIf& what_if, const Altered& altered, const Speech& speech = {});
void set_all(program::Config& config, std::string_view settings);

// Whether there is anything to replay; the deeper look is what_if's.
bool can_replay(const Run& run);

// Whether something may come of asking: there is a replay, or a knob to be turned.
bool can_ask_what_if(const Run& run);

// A config with the change in it: of the replay of the run's trace, which is in that file, or of
// the run itself.
program::Config config_with(const Run& run, const std::string& file, std::string_view settings);

// The knobs of the replay of a trace in that file, each of them set: as recorded.
program::Config replay_of(const std::string& file);

}  // namespace trainscope::analysis
