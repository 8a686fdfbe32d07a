// `trainscope handout`: a lesson as one page to print.

#include <iostream>

#include "base/error.h"
#include "base/files.h"
#include "cli/commands.h"
#include "cli/opened.h"
#include "cli/progress.h"
#include "cli/sides.h"
#include "report/handout.h"
#include "scenario/sheet.h"

namespace trainscope::cli {
namespace {

scenario::Lesson lesson_of(const Request& request, const std::string& what) {
  if (!request.lesson)
    throw InputError(what + ": is no lesson, and a handout is of one; `trainscope lessons` lists " +
                     "them");
  return *request.lesson;
}

}  // namespace

int handout_command(const HandoutOptions& options) {
  RunOptions asked;
  asked.what = options.lesson;
  asked.machine = options.machine;
  asked.seed = options.seed;
  asked.language = options.language;
  const Request request = read_request(asked);
  const scenario::Lesson lesson = lesson_of(request, options.lesson);
  std::vector<RunPointer> runs;
  for (const auto& [label, config] : request.sides)
    runs.push_back(std::make_shared<const analysis::Run>(run_with_progress(label, config)));
  report::HandoutInput input;
  for (const RunPointer& run : runs) input.runs.push_back(run.get());
  input.sheet = scenario::sheet_of(lesson, input.runs);
  input.version = TRAINSCOPE_VERSION;
  input.answers = options.answers;
  const std::string out = options.out.empty() ? lesson.id + ".html" : options.out;
  write_file(out, report::handout_html(input));
  std::cerr << "wrote " << out << "\n";
  return 0;
}

}  // namespace trainscope::cli
