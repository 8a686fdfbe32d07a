// Why a run ended before its program did. It is a result like any other: what is in the trace up to
// there holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "sim/out_of_memory.h"

namespace trainscope::sim {

// The loss of a step is infinite or no number, and no loss scale was there to skip the update: from
// here on every number would be NaN.
struct Diverged {
  Nanos time = 0;          // when the host had issued the step
  std::uint16_t line = 0;  // of the listing, from 1
  std::int64_t step = 0;   // from 0
  double loss = 0;
  bool half = false;          // something was computed in FP16
  bool half_weights = false;  // the weights are FP16
  bool scaled = false;        // under a loss scale
};

// Some ranks have begun a collective that others never come to: they wait for ever (PyTorch's
// watchdog ends them after ten minutes).
struct Deadlock {
  Nanos time = 0;             // when the last of them began to wait
  std::uint16_t line = 0;     // of the listing, from 1: of the collective; 0: of none
  std::string call;           // what stands there
  std::string collective;     // "all_reduce"
  std::string group;          // the communicator's name
  std::int64_t sequence = 0;  // of all the group's collectives, from 0
  std::vector<int> waiting;   // ranks
  std::vector<int> missing;
  std::uint16_t missing_line = 0;  // where the first of those stands; 0: its program is over
  std::string missing_call;
};

// A device that a measured run was carried out on could not go on.
struct DeviceFailed {
  Nanos time = 0;
  std::uint16_t line = 0;  // of the listing, from 1; 0: before the first command
  std::string what;        // one sentence
  bool out_of_memory = false;
};

// What the file of an imported trace says of its run.
struct EndedEarly {
  std::string what;  // one sentence
};

using Ending = std::variant<OutOfMemory, Diverged, Deadlock, DeviceFailed, EndedEarly>;

// Simulated or on a device.
bool ran_out_of_memory(const Ending& why);

std::string_view name_of(const Ending& why);   // in JSON: "out_of_memory", "diverged", ...
std::string_view title_of(const Ending& why);  // "Out of memory", "Training diverged", ...

// One sentence: what happened, and what to try.
std::string sentence(const Diverged& why, const Speech& speech = {});
std::string sentence(const Deadlock& why, const Speech& speech = {});
std::string sentence(const DeviceFailed& why, const Speech& speech = {});
std::string sentence(const EndedEarly& why, const Speech& speech = {});
std::string sentence(const Ending& why, const Speech& speech = {});
// The same where title_of() stands above it.
std::string sentence_below_title(const Ending& why, const Speech& speech = {});

}  // namespace trainscope::sim
