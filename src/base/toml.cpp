#include "base/toml.h"

#include <algorithm>

#include "base/files.h"
#include "base/suggest.h"

namespace trainscope {
namespace {

constexpr std::size_t kLargest = 1 << 20;
constexpr int kMostDots = 16;
constexpr int kDeepest = 64;

// The parser recurses on dotted keys and nested values; lines that could exhaust the stack are
// refused here. Strings are not told apart: text of a lesson holds neither.
void refuse_deep_nesting(std::string_view text, const std::string& name) {
  int line = 1, dots = 0, depth = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      dots = 0;
    }
    if (c == '{' || c == ',') dots = 0;                // a key of an inline table may follow
    if (c == '=') dots = -static_cast<int>(kLargest);  // dots of a value do not nest
    if (c == '.') ++dots;
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (dots > kMostDots || depth > kDeepest)
      throw InputError(name + ":" + std::to_string(line) +
                       ": this is nested too deeply to be read");
  }
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& name) {
  if (text.size() > kLargest)
    throw InputError(name + ": has more than the 1 MiB that a TOML file may have");
  refuse_deep_nesting(text, name);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    SourcePlace place{name, static_cast<int>(error.source().begin.line),
                      static_cast<int>(error.source().begin.column)};
    throw InputError(describe(place) + std::string(error.description()));
  }
}

toml::table read_toml(const std::filesystem::path& path) {
  return parse_toml(read_file(path, kLargest), path.string());
}

SourcePlace place_of(const toml::node& node, const std::string& file) {
  return {file, static_cast<int>(node.source().begin.line),
          static_cast<int>(node.source().begin.column)};
}

namespace {

// " (did you mean X?)"; where none is near, the keys that there are.
std::string which_key(const std::string& name, const std::vector<std::string>& known) {
  const std::string near = did_you_mean(name, known);
  if (!near.empty() || known.empty()) return near;
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
  return "; its keys are " + list;
}

}  // namespace

void refuse_unknown_keys(const toml::table& table, const std::vector<std::string>& known,
                         const std::string& file, const std::string& what) {
  for (const auto& [key, node] : in_file_order(table)) {
    const std::string name(key->str());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    SourcePlace place{file, static_cast<int>(key->source().begin.line),
                      static_cast<int>(key->source().begin.column)};
    throw InputError(describe(place) + what + " has no key " + name + which_key(name, known));
  }
}

std::vector<std::pair<const toml::key*, const toml::node*>> in_file_order(
    const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  std::ranges::stable_sort(entries, {}, [](const auto& entry) {
    const auto& begin = entry.first->source().begin;
    return std::pair(begin.line, begin.column);
  });
  return entries;
}

void fail_at(const toml::node& node, const std::string& file, const std::string& sentence) {
  throw InputError(describe(place_of(node, file)) + sentence);
}

}  // namespace trainscope
