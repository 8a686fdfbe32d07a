// `trainscope compare`: two runs of any origin beside each other.

#include "analysis/level.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/opened.h"
#include "cli/outputs.h"

namespace trainscope::cli {

int compare_command(const std::string& a, const std::string& b, const Outputs& outputs) {
  check_outputs(outputs);
  Finished finished;
  finished.runs = {labelled(run_of(a), "A"), labelled(run_of(b), "B")};
  analysis::level(finished.runs);
  finished.executor = "sim";
  finished.seed = finished.runs.front()->config.whole("seed");
  finished.compared = true;
  put_out(finished, outputs);
  return 0;
}

}  // namespace trainscope::cli
