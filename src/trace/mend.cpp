#include "trace/mend.h"

#include <simdjson.h>

#include "trace/chrome_text.h"

namespace trainscope::trace {
namespace {

std::int64_t replace_bad_bytes(PaddedBytes& text) {
  if (simdjson::validate_utf8(text.text())) return 0;
  std::int64_t count = 0;
  std::size_t at = chrome::first_bad_utf8(text.text());
  for (; at < text.size(); at += chrome::first_bad_utf8(text.text().substr(at))) {
    text.bytes()[at] = '?';
    ++count;
  }
  return count;
}

void close_list(PaddedBytes& text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::string_view events = text.text();
  if (events[chrome::json_begins(events)] != '[') return;
  const auto without = [&](std::string_view end) {
    const std::size_t last = events.find_last_not_of(end);
    events = events.substr(0, last + 1);
  };
  without(kSpace);
  const std::size_t written = events.size();
  if (events.ends_with(',')) events.remove_suffix(1);
  without(kSpace);
  if (!events.ends_with('}')) return;
  if (events.size() < written) {  // a comma stands where the list may end
    text.bytes()[written - 1] = ']';
    return;
  }
  *text.grow(1) = ']';
  text.commit(1);
  text.finish();
}

}  // namespace

std::int64_t mend(PaddedBytes& text) {
  if (chrome::json_begins(text.text()) == std::string_view::npos) return 0;
  close_list(text);
  return replace_bad_bytes(text);
}

}  // namespace trainscope::trace
