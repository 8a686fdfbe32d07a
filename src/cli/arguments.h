// The command line as values: which command, with what. Parsing has no effect on the world.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"

namespace trainscope::cli {

// Everything the arguments say.
struct Arguments {
  std::string command;  // empty: the window
  std::vector<std::string> files;
  Look look;            // of the window
  std::string student;  // at the window; empty: nobody by name
  // Of the lessons in the window; empty: as chosen last. Of import's and compare's reports.
  std::string language;
  LessonsOptions lessons;
  RunOptions run;
  SweepOptions sweep;
  std::vector<std::string> traces;
  Outputs import_outputs;
  std::string compared_a, compared_b;
  Outputs compare_outputs;
  std::vector<std::string> checked;
  MachinesOptions machines;
  SamplerOptions sampler;
  GradeOptions grade;
  HandoutOptions handout;
  ValidateOptions validate;
  CalibrateOptions calibrate;
  bool json = false;
  std::string help;  // asked for: print this and do nothing else
};

// `words` without the program's own name. Throws InputError for what the usage does not allow.
Arguments parse_arguments(const std::vector<std::string>& words);

}  // namespace trainscope::cli
