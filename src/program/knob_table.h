// The table behind knobs(): what each knob is. Names are fixed by the command line's contract.
#pragma once

#include <vector>

#include "program/knobs.h"

namespace trainscope::program {

// One function a family of knobs, each appending its rows.
void add_run_knobs(std::vector<Knob>& table);         // workload, machine, steps, seed
void add_microbench_knobs(std::vector<Knob>& table);  // copy, gemm, kernel, launch, collective
void add_replay_knobs(std::vector<Knob>& table);      // a trace, carried out once more
void add_model_knobs(std::vector<Knob>& table);       // model, attention, data
void add_training_knobs(std::vector<Knob>& table);    // these, precision, optimizer, loop
void add_input_knobs(std::vector<Knob>& table);       // loader, transfer, sampler
void add_parallel_knobs(std::vector<Knob>& table);    // parallel, ddp, straggler

// Builds one row at a time.
class Row {
 public:
  Row(std::string name, KnobType type, Value initial);
  Row& range(double least, double most);
  Row& usual_most(double most);
  Row& unit(std::string unit);
  Row& choices(std::vector<std::string> all, std::vector<std::string> built);
  Row& choices(const std::vector<std::string>& all) { return choices(all, all); }
  Row& path();
  Row& pytorch(std::string spelling);
  Row& help(std::string line);
  void into(std::vector<Knob>& table) { table.push_back(std::move(knob_)); }

 private:
  Knob knob_;
};

}  // namespace trainscope::program
