// The report of one or several runs as one HTML file that opens anywhere, without a network: the
// timelines on a shared axis, the metrics, where the time went, the listing and the config.
//
// Without JavaScript, and in print, a drawn picture stands for the timelines. Equal input gives
// equal bytes. A page holds at most PageLimits of a trace (run_view.h); beyond that neighbours are
// folded, and the page says so.
#pragma once

#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "base/speech.h"
#include "report/run_view.h"

namespace trainscope::report {

struct ReportInput {
  std::string title;                       // "Pinned vs pageable memory"
  std::vector<const analysis::Run*> runs;  // A, B, …
  std::string version;                     // of Trainscope; empty: not shown
  std::string caveat;                      // why these words need not hold; empty: they do
  std::vector<std::string> paragraphs;     // what it is about; `code`, **strong** and *emphasis*
  std::vector<std::string> limits;         // what the model leaves out; the same
  std::vector<std::string> first_metrics;  // names of metrics that stand before the others
  std::string rest_told_by;                // the command that tells those; empty: the page does
  PageLimits page;
  Speech speech;         // of titles, tables and views
  std::string language;  // of all of these words: "de"; empty: English
};

std::string html_report(const ReportInput& input);

}  // namespace trainscope::report
