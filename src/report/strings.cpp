#include "report/strings.h"

#include <fmt/format.h>

#include "report/escape.h"
#include "report/words.h"

namespace trainscope::report {
namespace {

std::string cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("{}... ({} bytes in all)", text.substr(0, end), text.size());
}

}  // namespace

StringTable::StringTable() {
  add("");
}

std::int64_t StringTable::add(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end())
    return static_cast<std::int64_t>(found->second);
  const std::size_t id = texts_.size();
  texts_.push_back(cut(text, bytes_ < kRoom ? kLongName : kShortName));
  bytes_ += texts_.back().size();
  ids_.emplace(text, id);
  return static_cast<std::int64_t>(id);
}

std::string StringTable::json() const {
  std::string out = "[";
  for (const std::string& text : texts_) {
    if (out.size() > 1) out += ",\n";
    out += json_text(text);
  }
  return out + "]";
}

std::string StringTable::shorts_json() const {
  std::string out = "{";
  for (std::size_t i = 1; i < texts_.size(); ++i) {
    const std::string form = short_name(texts_[i]);
    if (form == texts_[i]) continue;
    if (out.size() > 1) out += ",\n";
    out += fmt::format("\"{}\":{}", i, json_text(form));
  }
  return out + "}";
}

}  // namespace trainscope::report
