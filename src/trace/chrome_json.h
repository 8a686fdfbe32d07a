// The few steps on simdjson's on-demand values that the parsing of Chrome traces shares. They are
// inline: on-demand parsing is fast only where the compiler sees all of it.
#pragma once

#include <simdjson.h>

#include <cstring>
#include <string_view>

#include "trace/chrome_text.h"

namespace trainscope::trace::chrome {

namespace json = simdjson::ondemand;

// Whether the key that starts at `key` (behind its opening quote) is `word`. The padding behind the
// text makes it harmless to look beyond a short key.
template <std::size_t kSize>
inline bool is(const char* key, const char (&word)[kSize]) {
  static_assert(kSize <= 64);
  return std::memcmp(key, word, kSize - 1) == 0 && key[kSize - 1] == '"';
}

// The text of a value without the white space behind it. Of an object or a list: its bracket.
inline std::string_view token_of(json::value value) {
  std::string_view token = value.raw_json_token();
  if (token.starts_with('"')) return token.substr(0, token.rfind('"') + 1);
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return token;
}

inline bool is_object(json::value value) {
  return value.type() == json::json_type::object;
}
inline bool is_array(json::value value) {
  return value.type() == json::json_type::array;
}

// The key as a string token.
inline std::string_view key_token(const char* key) {
  const char* end = key;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  return {key - 1, static_cast<std::size_t>(end - key) + 2};
}

// Calls `visit(key, value)` for each field of an object.
template <typename Visit>
inline void each_field(json::value object, Visit visit) {
  for (auto field : object.get_object()) {
    const char* key = field.key().value().raw();
    visit(key, field.value().value());
  }
}

}  // namespace trainscope::trace::chrome
