// The workload `replay`: a recorded trace carried out once more, with something about it changed.
#pragma once

#include <memory>
#include <string>

#include "program/config.h"
#include "program/program.h"

namespace trainscope::train {

// The program of a config's knobs `replay.*`, of a trace that has been read. Throws InputError
// where there is no work of a GPU in it, or `replay.rank` is none of its ranks.
program::Program replay_program(const program::Config& config,
                                std::shared_ptr<const trace::Trace> trace);

// Whether it has streams of a GPU, and threads of the host beside them.
bool can_replay(const trace::Trace& trace);

// Reads the trace that `replay.trace` names, or the folder of a job's ranks. Throws InputError.
std::shared_ptr<const trace::Trace> read_recording(const program::Config& config);

// What a replay changes, in words: "kernels 2 x as fast"; empty: nothing.
std::string changes_of(const program::Config& config);

}  // namespace trainscope::train
