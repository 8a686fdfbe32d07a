// What the compare panel says, from the runs' metrics and partitions. Pure.
#pragma once

#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "scenario/lesson.h"

namespace trainscope::ui {

struct CompareRow {
  const analysis::Metric* metric = nullptr;
  std::string a, b, ratio;  // "?" before the result may be seen; no ratio where a run ended early
  float share_a = 0;        // of the longer bar, 0..1
  float share_b = 0;
};

// One bar of the waterfall: from `from` to `to`, in nanoseconds a step.
struct WaterfallBar {
  enum class Kind : std::uint8_t { kTotal, kChange } kind = Kind::kTotal;
  analysis::Part part = analysis::Part::kCompute;  // of a change
  std::string name, value;
  double from = 0, to = 0;
};

struct Comparison {
  std::string headline;  // "B is 2.23x faster"; empty before
  std::vector<CompareRow> rows;
  std::string waterfall_title;  // "Where the 16.9 ms went"
  std::string waterfall_note;
  std::vector<WaterfallBar> waterfall;  // empty where a run ended early
};

// Metrics that the lesson's expressions and texts name come first. Without a lesson (null), and
// behind those: the time that decides, what explains the difference, what differs, what is alike.
Comparison compare_runs(const analysis::Run& a, const analysis::Run& b,
                        const scenario::Lesson* lesson);

// The same table before the result: the lesson's metrics with question marks.
Comparison unknown_comparison(const scenario::Lesson& lesson);

// What figures in brackets are: of runs that ended before their programs did. Empty where none did.
std::string brackets_words(const std::vector<const analysis::Run*>& runs);

// The metrics of one run, as shown.
struct SummaryRow {
  const analysis::Metric* metric = nullptr;
  std::string value;
};
std::vector<SummaryRow> summarise(const analysis::Run& run);

}  // namespace trainscope::ui
