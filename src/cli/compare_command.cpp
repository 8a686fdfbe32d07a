// `trainscope compare`: two runs of any origin beside each other.

#include <iostream>

#include "analysis/runs/level.h"
#include "analysis/runs/run_file.h"
#include "cli/commands.h"
#include "cli/opened.h"
#include "cli/outputs.h"
#include "scenario/translation.h"

namespace trainscope::cli {

int compare_command(const std::string& a, const std::string& b, const Outputs& outputs,
                    const std::string& language) {
  check_outputs(outputs);
  scenario::check_language(language);
  Finished finished;
  const TakenRun taken_a = run_of(a), taken_b = run_of(b);
  for (const TakenRun* taken : {&taken_a, &taken_b})
    if (!taken->note.empty()) std::cerr << taken->note << "\n";
  finished.runs = {labelled(taken_a.run, "A"), labelled(taken_b.run, "B")};
  analysis::level(finished.runs);
  finished.executor = analysis::executor_of(finished.runs);
  finished.seed = finished.runs.front()->config.whole("seed");
  finished.compared = true;
  finished.subject.language = language;
  put_out(finished, outputs);
  return 0;
}

}  // namespace trainscope::cli
