// What is worth trying of a run, by what takes its time: only what its GPU has and its config has
// not turned yet. Each is a sentence or two in the language of `speech`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/advice/what_if.h"
#include "analysis/caveats/loader_caveat.h"
#include "analysis/runs/run.h"
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
// Of several pipelines, how long sums of several stages' gradients take on the critical path, of a
// step, ns. They follow one another: DDP's reducer waits for a stage's sums at the end of its last
// backward, and what that gives to the stage before is sent behind them. 0: one pipeline, sums of
// one stage alone, or less than a twentieth of the step.
double sums_in_turn(const Run& run);
// Ranks that wait for one another, and what they send; `in_turn`: what sums_in_turn gives.
std::string waiting_advice(const Run& run, double in_turn, const Speech& speech);
// The ranks of a pipeline that have more to do than the others, sorted; the last of one has the
// model's head.
std::string slow_stage_advice(const Run& run, const std::vector<std::int32_t>& ranks,
                              const Speech& speech);
std::string communication_advice(const Run& run, const Speech& speech);
// A host that is behind with its launches.
std::string launch_advice(const Run& run, const Speech& speech);
// Workers of a loader that keep all cores at work.
// "; 256 workers keep all 112 cores at work, of which the training threads need some, too"
std::string full_cores_words(const FullCores& full, const Speech& speech);
std::string full_cores_advice(const FullCores& full, const Speech& speech);
// What none of those trials of knobs tells, and is said beside those of a part; mostly empty. It
// begins with a space.
std::string lasting_advice(const Run& run, Part part, const WhatIf& asked, const Speech& speech);
// A device that has no room for it: what makes room, and which of that does alone, worked out for
// some steps of it.
std::string out_of_memory_advice(const Run& run, const Speech& speech);
// Ranks that wait for ever.
std::string deadlock_advice(const sim::Deadlock& why, const Speech& speech);

}  // namespace trainscope::analysis
