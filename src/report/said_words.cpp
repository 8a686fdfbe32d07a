#include "report/said_words.h"

#include "analysis/causes/partition.h"
#include "analysis/metrics/metrics.h"
#include "program/knobs.h"
#include "report/page.h"
#include "report/page_data.h"
#include "report/words.h"

namespace trainscope::report {
namespace {

// {{"Summary"}} in the page's template.
void add_page_words(std::set<std::string>& said) {
  constexpr std::string_view kOpen = "{{\"", kClose = "\"}}";
  const std::string_view page = page_template();
  for (std::size_t at = page.find(kOpen); at != page.npos; at = page.find(kOpen, at)) {
    at += kOpen.size();
    said.emplace(page.substr(at, page.find(kClose, at) - at));
  }
}

}  // namespace

std::set<std::string> said_words() {
  std::set<std::string> said = script_words(page_script());
  add_page_words(said);
  for (const analysis::Metric& metric : analysis::metrics()) {
    said.insert(metric.label);
    said.insert(metric.help);
  }
  for (const program::Knob& knob : program::knobs()) said.insert(knob.help);
  for (std::size_t i = 0; i < trace::kCategoryCount; ++i) {
    const auto category = static_cast<trace::Category>(i);
    said.emplace(trace::name_of(category));
    said.emplace(meaning_of(category));
  }
  for (std::size_t i = 0; i < analysis::kPartCount; ++i)
    said.emplace(analysis::name_of(static_cast<analysis::Part>(i)));
  return said;
}

}  // namespace trainscope::report
