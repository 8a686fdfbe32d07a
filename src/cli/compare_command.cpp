// `trainscope compare`: two runs of any origin beside each other.

#include <filesystem>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/sides.h"

namespace trainscope::cli {
namespace {

using RunPointer = std::shared_ptr<const analysis::Run>;

// The side of a lesson that ID:A or ID:B means; of an ID alone, B: the one it recommends.
RunPointer lesson_side(const std::string& what, const std::string& label) {
  std::string id = what, side = "B";
  if (what.ends_with(":A") || what.ends_with(":B")) {
    side = what.substr(what.size() - 1);
    id = what.substr(0, what.size() - 2);
  }
  const scenario::Lesson lesson = scenario::find_lesson(id);
  return std::make_shared<const analysis::Run>(analysis::run_config(label, lesson.side(side)));
}

RunPointer run_of(const std::string& what, const std::string& label) {
  const bool toml = what.ends_with(".toml");
  if (!toml && std::filesystem::exists(what))
    return std::make_shared<const analysis::Run>(analysis::import_run(label, what));
  if (!toml || what.find(':') != std::string::npos) return lesson_side(what, label);
  RunOptions options;
  options.what = what;
  const Request request = read_request(options);
  return std::make_shared<const analysis::Run>(
      analysis::run_config(label, request.sides.back().second));
}

}  // namespace

int compare_command(const std::string& a, const std::string& b, const Outputs& outputs) {
  check_outputs(outputs);
  Finished finished;
  finished.runs = {run_of(a, "A"), run_of(b, "B")};
  finished.executor = "sim";
  finished.seed = finished.runs.front()->config.whole("seed");
  finished.compares = true;
  put_out(finished, outputs);
  return 0;
}

}  // namespace trainscope::cli
