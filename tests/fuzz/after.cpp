#include "fuzz/after.h"

#include <sstream>

#include "fuzz/targets.h"
#include "report/html.h"
#include "report/json.h"
#include "support/step_facts.h"
#include "trace/chrome_reader.h"
#include "trace/chrome_writer.h"
#include "trace/index.h"

namespace trainscope::fuzz {
namespace {

void use(const trace::Trace& trace) {
  trace::build_index(trace);
  std::ostringstream text;
  trace::write_chrome_trace(trace, text);
  const auto again = trace::read_chrome_trace("again.json", text.str());
  promise(again->spans().size() == trace.spans().size(), "a written trace has all its spans");
}

}  // namespace

void use(const analysis::SavedRuns& saved) {
  std::vector<const analysis::Run*> runs;
  for (const auto& run : saved.runs) {
    use(*run->trace);
    runs.push_back(run.get());
    for (const auto& step :
         test::gather_step_facts(*run->trace, run->program.get(), run->machine.get()))
      analysis::compute_metrics(step);
  }
  report::run_json(runs, saved.seed, saved.executor);
  if (runs.size() == 2) report::compare_json(*runs[0], *runs[1], saved.seed, saved.executor);
  report::ReportInput input;
  input.runs = runs;
  input.paragraphs = saved.subject.paragraphs;
  report::html_report(input);
  const std::string content = analysis::runs_content(saved);
  const std::string again = analysis::runs_content(analysis::read_runs_content(content, "again"));
  promise(again == content, "a saved run that was opened saves to the same bytes");
}

}  // namespace trainscope::fuzz
