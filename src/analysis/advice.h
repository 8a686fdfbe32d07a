// What is worth trying of a run, by what takes its time: only what its GPU has and its config has
// not turned yet. Each is a sentence or two in the language of `speech`.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/loader_caveat.h"
#include "analysis/run.h"
#include "base/speech.h"

namespace trainscope::analysis {

bool is_pipeline(const Run& run);

// Whether tensor groups span several nodes that the ranks fill.
bool sums_layers_over_network(const Run& run);

// Whether all ranks share FSDP's parameters, and fill several nodes.
bool gathers_over_network(const Run& run);

// Whether a pipeline spans several nodes that the ranks fill.
bool sends_stages_over_network(const Run& run);

// How long kernels of products take, of 16-bit types, whose rows have a length that is no multiple
// of 8: in the measured window. And whether that is a hundredth of it.
Nanos time_of_odd_products(const Run& run);
bool starves_tensor_cores(const Run& run);
// "50257, 1793": those lengths, three at most; empty where there are none.
std::string odd_sides(const Run& run);

// A batch that is not there.
std::string data_advice(const Run& run, const Speech& speech);
// Kernels that arithmetic limits, that memory limits, and that neither does.
std::string arithmetic_advice(const Run& run, const Speech& speech);
std::string memory_advice(const Run& run, const Speech& speech);
std::string idle_units_advice(const Run& run, const Speech& speech);
// Ranks that wait for one another, and what they send.
std::string waiting_advice(const Run& run, const Speech& speech);
// The rank of a pipeline that has more to do than the others; the last one has the model's head.
std::string slow_stage_advice(const Run& run, std::int32_t rank, bool is_last,
                              const Speech& speech);
std::string communication_advice(const Run& run, const Speech& speech);
// A host that is behind with its launches.
std::string launch_advice(const Run& run, const Speech& speech);
// Workers of a loader that keep all cores at work.
// "; 256 workers keep all 112 cores at work, of which the training threads need some, too"
std::string full_cores_words(const FullCores& full, const Speech& speech);
std::string full_cores_advice(const FullCores& full, const Speech& speech);
// What no trial of a knob tells, and is said beside those of a part; mostly empty. It begins with a
// space.
std::string lasting_advice(const Run& run, Part part, const Speech& speech);
// A device that has no room for it: what makes room, and which of that does alone, worked out for
// some steps of it.
std::string out_of_memory_advice(const Run& run, const Speech& speech);
// Ranks that wait for ever.
std::string deadlock_advice(const sim::Deadlock& why, const Speech& speech);

}  // namespace trainscope::analysis
