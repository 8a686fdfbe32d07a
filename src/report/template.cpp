#include "report/template.h"

#include <cassert>

namespace trainscope::report {

std::string filled(std::string_view page, const Parts& parts) {
  std::string html;
  while (true) {
    const std::size_t open = page.find("{{");
    const std::size_t close = open == page.npos ? page.npos : page.find("}}", open);
    if (close == page.npos) return html.append(page);
    html.append(page.substr(0, open));
    const auto part = parts.find(page.substr(open + 2, close - open - 2));
    assert(part != parts.end());
    html.append(part->second);
    page.remove_prefix(close + 2);
  }
}

}  // namespace trainscope::report
