// What single spans are called on a timeline, and what is known about them in words.
#pragma once

#include <string>
#include <string_view>

#include "analysis/causes/partition.h"
#include "base/speech.h"
#include "trace/labels.h"
#include "trace/short_name.h"
#include "trace/trace.h"

namespace trainscope::report {

using trace::bar_label;
using trace::short_name;

// "idle 4.9 ms: waiting for staging".
std::string gap_label(const analysis::IdleGap& gap, const Speech& speech = {});

// What stands in a span's bar: a wait's words in the page's language, else the name that is
// recorded.
std::string label_of(const trace::Trace& trace, const trace::Span& span, const Speech& speech);

// "grid 512, block 256", "Pageable to Device"; bytes and operations apart from it.
struct DetailWords {
  std::string text;
  double bytes = 0;  // 0: unknown
  double flops = 0;
  bool operator<(const DetailWords& other) const;
};
DetailWords detail_words(const trace::Detail& detail, const Speech& speech = {});

// "a host thread that a call holds until it is done": what a category's colour stands for.
std::string_view meaning_of(trace::Category category);

// A category's class name in the style sheet: "copy-h2d".
std::string slug(std::string_view words);

}  // namespace trainscope::report
