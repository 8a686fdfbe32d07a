#include "report/template.h"

#include <cassert>

#include "report/escape.h"

namespace trainscope::report {

namespace {

std::string put_in(std::string_view name, const Parts& parts, const Speech& speech) {
  if (name.starts_with('"')) return html_text(speech.say(name.substr(1, name.size() - 2)));
  const auto part = parts.find(name);
  assert(part != parts.end());
  return part->second;
}

}  // namespace

std::string filled(std::string_view page, const Parts& parts, const Speech& speech) {
  std::string html;
  while (true) {
    const std::size_t open = page.find("{{");
    const std::size_t close = open == page.npos ? page.npos : page.find("}}", open);
    if (close == page.npos) return html.append(page);
    html.append(page.substr(0, open));
    html.append(put_in(page.substr(open + 2, close - open - 2), parts, speech));
    page.remove_prefix(close + 2);
  }
}

}  // namespace trainscope::report
