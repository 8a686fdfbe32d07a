// The parts of the page that are plain HTML: they need no script and print as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/html.h"
#include "report/run_view.h"

namespace trainscope::report {

// Where a page's numbers come from: one badge, or one a run where they differ.
std::string badges_html(const std::vector<RunView>& views, const Speech& speech = {});

// One of them, of the run of that label where it is not empty.
std::string badge_html(trace::OriginKind kind, const Speech& speech, const std::string& label = {});

// Why the words of a lesson need not hold for its runs; empty where they do.
std::string caveat_html(const std::string& caveat);

// The headline, each run's time, where it ran, and the text.
std::string summary_html(const ReportInput& input, const std::vector<RunView>& views);

// Which steps the runs' times are of, and what their critical paths are made of.
std::string paths_html(const std::vector<RunView>& views, const Speech& speech = {});

// A category that occurs, or idle time; `kind` is its class.
struct Colour {
  std::string_view name;
  std::string_view meaning;
  std::string kind;
};
std::vector<Colour> colours_of(const std::vector<RunView>& views);

// What the colours are called.
std::string legend_html(const std::vector<RunView>& views, const Speech& speech = {});

// " (differs)", for whoever cannot see the mark.
std::string differs_html(const Speech& speech);

// The programs' lines, numbered; lines that the other side does not have are marked. Empty where
// no run has a listing.
std::string listing_html(const std::vector<RunView>& views, const Speech& speech = {});

// The metrics, and where the time went.
std::string compare_html(const ReportInput& input, const std::vector<RunView>& views);

// What one or two runs spend their time on, operation by operation.
std::string operations_html(const std::vector<RunView>& views, const Speech& speech = {});

// Who waits for whom among a run's ranks; empty where none waits.
std::string ranks_html(const std::vector<RunView>& views, const Speech& speech = {});

// The knobs that are set, those that differ first. Empty where no run knows its config.
std::string config_html(const std::vector<RunView>& views, const Speech& speech = {});

// What people wrote on the runs, what the model leaves out, what was dropped, what this page folds,
// what metrics mean.
std::string notes_html(const ReportInput& input, const std::vector<RunView>& views);

std::string footer_html(const ReportInput& input, const std::vector<RunView>& views);

// "A", "B": the round mark of a side; solid for the first run, outlined for others.
std::string side_mark(const std::vector<RunView>& views, std::size_t run);

}  // namespace trainscope::report
