// `trainscope run` and `trainscope import`.

#include "base/error.h"
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/sides.h"

namespace trainscope::cli {
namespace {

void check_executor(const std::string& executor) {
  const std::vector<std::string> known{"sim", "cuda", "auto"};
  if (executor == "sim" || executor == "auto") return;
  if (executor == "cuda")
    throw MissingError("the executor cuda is not built yet; --executor sim simulates the same run");
  throw InputError("there is no executor " + executor + did_you_mean(executor, known) +
                   "; give sim, cuda or auto");
}

}  // namespace

int run_command(const RunOptions& options) {
  check_executor(options.executor);
  check_outputs(options.outputs);
  Request request = read_request(options);
  Finished finished;
  finished.executor = "sim";
  finished.seed = request.sides.front().second.whole("seed");
  for (const auto& [label, config] : request.sides)
    finished.runs.push_back(
        std::make_shared<const analysis::Run>(run_with_progress(label, config)));
  finished.lesson = std::move(request.lesson);
  put_out(finished, options.outputs);
  return 0;
}

int import_command(const std::vector<std::string>& traces, const Outputs& outputs) {
  check_outputs(outputs);
  constexpr std::size_t kMostTraces = 26;  // A to Z
  if (traces.size() > kMostTraces)
    throw InputError(std::to_string(traces.size()) +
                     " traces are more than the 26 that can be named");
  Finished finished;
  char label = 'A';
  for (const std::string& trace : traces)
    finished.runs.push_back(std::make_shared<const analysis::Run>(
        analysis::import_run(std::string(1, label++), trace)));
  finished.executor = "imported";
  put_out(finished, outputs);
  return 0;
}

}  // namespace trainscope::cli
