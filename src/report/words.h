// What single spans are called on a timeline, and what is known about them in words.
#pragma once

#include <string>
#include <string_view>

#include "analysis/partition.h"
#include "trace/trace.h"

namespace trainscope::report {

// "gemm" of "void ns::gemm<float>(int)"; the name itself where nothing can be left out.
std::string short_name(std::string_view name);

// What stands in a span's bar: a copy's bytes, what holds a host thread, else the span's name.
std::string bar_label(const trace::Trace& trace, const trace::Span& span);

// "idle 4.9 ms: waiting for staging".
std::string gap_label(const analysis::IdleGap& gap);

// "grid 512, block 256", "Pageable to Device"; bytes and operations apart from it.
struct DetailWords {
  std::string text;
  double bytes = 0;  // 0: unknown
  double flops = 0;
  bool operator<(const DetailWords& other) const;
};
DetailWords detail_words(const trace::Detail& detail);

// A category's class name in the style sheet: "copy-h2d".
std::string slug(std::string_view words);

}  // namespace trainscope::report
