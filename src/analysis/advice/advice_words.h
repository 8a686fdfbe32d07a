// What several advices ask of a run, and say. Of an imported run, which has no config, each knob
// may be one that is not yet turned.
#pragma once

#include <string>
#include <string_view>

#include "analysis/runs/run.h"
#include "base/speech.h"

namespace trainscope::analysis {

// Whether its config says so; an imported run has none.
bool is_set_on(const Run& run, std::string_view knob);

// Whether a knob does anything in the run.
bool may_turn(const Run& run, std::string_view knob);

// A workload that is no training: one kernel, copy or collective, again and again.
bool is_alone(const Run& run);

// Whether FSDP shares its parameters out; a trace of PyTorch's profiler is known by FSDP's marks.
bool is_sharded(const Run& run);

// Whether FSDP gathers over the network what a transformer's layers could share within each node.
bool may_share_layers(const Run& run);

// "pipeline.microbatches=16", twice as many as there are; where the batch is too small for so many,
// " batch_size=16" behind it.
std::string more_microbatches(const program::Config& config);

// "autocast to BF16 or FP16"
std::string autocast_advice(const Run& run, const Speech& speech);

// Hybrid sharding, with the GPUs of a node to a group: of a run that gathers over the network.
std::string hybrid_words(const Run& run, const Speech& speech);

}  // namespace trainscope::analysis
