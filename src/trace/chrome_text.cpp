#include "trace/chrome_text.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/number_text.h"

namespace trainscope::trace::chrome {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// The four hexadecimal digits at `at`, if they are there.
std::optional<std::uint32_t> hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t code = 0;
  const char* end = text.data() + at + 4;
  const auto [stop, error] = std::from_chars(text.data() + at, end, code, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return code;
}

// Undoes `\u....` whose digits start at `at`; returns where the text goes on.
std::size_t unescape_unicode(std::string& out, std::string_view text, std::size_t at) {
  const auto code = hex4(text, at);
  if (!code) {
    out += kReplacement;
    return at;
  }
  at += 4;
  if (*code < 0xD800 || *code > 0xDFFF) {
    append_utf8(out, *code);
    return at;
  }
  const bool paired = *code < 0xDC00 && text.substr(at).starts_with("\\u");
  const auto low = paired ? hex4(text, at + 2) : std::nullopt;
  if (!low || *low < 0xDC00 || *low > 0xDFFF) {
    out += kReplacement;
    return at;
  }
  append_utf8(out, 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00));
  return at + 6;
}

std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c != '\\' || at == text.size()) {
      out.push_back(c);
      continue;
    }
    const char escaped = text[at++];
    constexpr std::string_view kLetters = "bfnrt";
    constexpr std::string_view kMeanings = "\b\f\n\r\t";
    if (escaped == 'u') {
      at = unescape_unicode(out, text, at);
    } else if (const auto letter = kLetters.find(escaped); letter != kLetters.npos) {
      out.push_back(kMeanings[letter]);
    } else {
      out.push_back(escaped);
    }
  }
  return out;
}

// A decimal number: mantissa * 10^exponent.
struct Decimal {
  bool negative = false;
  std::uint64_t mantissa = 0;
  std::int64_t exponent = 0;
};

bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}

// Reads the exponent after `e`. False if it is not one.
bool read_exponent(const char* at, const char* end, Decimal& decimal) {
  if (at != end && *at == '+') ++at;
  int exponent = 0;
  const auto [stop, error] = std::from_chars(at, end, exponent);
  if (stop != end || (error != std::errc() && error != std::errc::result_out_of_range))
    return false;
  // Out of range: far enough from zero to overflow or to vanish.
  if (error == std::errc::result_out_of_range) exponent = *at == '-' ? -100'000 : 100'000;
  decimal.exponent += exponent;
  return true;
}

bool read_decimal(std::string_view text, Decimal& decimal) {
  // Digits beyond what the mantissa holds are worth less than a part in 10^18.
  constexpr std::uint64_t kFull = std::numeric_limits<std::uint64_t>::max() / 10 - 1;
  const char *at = text.data(), *end = at + text.size();
  if (at != end && *at == '-') {
    decimal.negative = true;
    ++at;
  }
  const char* first = at;
  for (; at != end && is_digit(*at); ++at) {
    if (decimal.mantissa < kFull)
      decimal.mantissa = decimal.mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
    else
      ++decimal.exponent;
  }
  if (at == first) return false;
  if (at != end && *at == '.') {
    for (++at; at != end && is_digit(*at); ++at) {
      if (decimal.mantissa >= kFull) continue;
      decimal.mantissa = decimal.mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
      --decimal.exponent;
    }
  }
  if (at == end) return true;
  return (*at == 'e' || *at == 'E') && read_exponent(at + 1, end, decimal);
}

// mantissa * 10^exponent, rounded to a whole number; false if that is 2^62 or more.
bool round_decimal(const Decimal& decimal, std::uint64_t& value) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 62;
  value = decimal.mantissa;
  for (std::int64_t i = 0; i < decimal.exponent && value != 0; ++i) {
    if (value >= kLimit / 10) return false;
    value *= 10;
  }
  if (decimal.exponent < -19) {
    value = 0;
  } else if (decimal.exponent < 0) {
    std::uint64_t divisor = 1;
    for (std::int64_t i = 0; i < -decimal.exponent; ++i) divisor *= 10;
    const std::uint64_t rest = value % divisor;
    value = value / divisor + (rest >= divisor - rest ? 1 : 0);
  }
  return value < kLimit;
}

}  // namespace

bool is_string(std::string_view token) {
  return token.size() >= 2 && token.front() == '"' && token.back() == '"';
}

std::string_view inner(std::string_view token) {
  return is_string(token) ? token.substr(1, token.size() - 2) : token;
}

std::string text_of(std::string_view token) {
  if (token == "null") return "";
  if (!is_string(token)) return std::string(token);
  const std::string_view text = inner(token);
  return text.find('\\') == text.npos ? std::string(text) : unescape(text);
}

std::optional<std::int64_t> integer_of(std::string_view token) {
  const std::string_view text = inner(token);
  std::int64_t value = 0;
  const char *first = text.data(), *end = first + text.size();
  const auto [stop, error] = std::from_chars(first, end, value);
  if (error == std::errc() && stop == end) return value;
  const double whole = std::trunc(double_or(text, std::numeric_limits<double>::quiet_NaN()));
  if (!(std::abs(whole) < 9e18)) return std::nullopt;  // nor if it is no number at all
  return static_cast<std::int64_t>(whole);
}

std::int64_t integer_or(std::string_view token, std::int64_t otherwise) {
  return integer_of(token).value_or(otherwise);
}

double double_or(std::string_view token, double otherwise) {
  const std::string_view text = inner(token);
  double value = 0;
  const char *first = text.data(), *end = first + text.size();
  const auto [stop, error] = read_number(first, end, value);
  return error == std::errc() && stop == end ? value : otherwise;
}

TimeText read_microseconds(std::string_view token, Nanos& time) {
  const std::string_view text = inner(token);
  if (text.empty() || token == "null") return TimeText::kMissing;
  Decimal decimal;
  if (!read_decimal(text, decimal)) return TimeText::kNotANumber;
  decimal.exponent += 3;
  std::uint64_t value = 0;
  // Half of the range that int64 has: the difference of any two times then fits as well.
  if (!round_decimal(decimal, value) || value >= std::uint64_t{1} << 61) return TimeText::kTooLarge;
  time = static_cast<Nanos>(value);
  if (decimal.negative) time = -time;
  return TimeText::kGood;
}

void append_microseconds(std::string& out, Nanos time) {
  auto value = static_cast<std::uint64_t>(time);
  if (time < 0) {
    out.push_back('-');
    value = 0 - value;
  }
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value / 1000);
  out.append(digits, end);
  const auto rest = static_cast<int>(value % 1000);
  const char decimals[] = {'.', static_cast<char>('0' + rest / 100),
                           static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
  out.append(decimals, sizeof decimals);
}

bool is_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

namespace {

// The length of the UTF-8 character at the start of `text`, or 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return length <= text.size() && is_utf8(text.substr(0, length)) ? length : 0;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kMeanings = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  constexpr std::string_view kHex = "0123456789abcdef";
  out.push_back('\\');
  if (const auto which = kMeanings.find(c); which != kMeanings.npos) {
    out.push_back(kLetters[which]);
    return;
  }
  out += "u00";
  out.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
  out.push_back(kHex[static_cast<unsigned char>(c) & 15]);
}

bool needs_escape(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out.push_back('"');
  const bool sound = is_utf8(text);
  while (!text.empty()) {
    if (needs_escape(text.front())) {
      append_escaped(out, text.front());
      text.remove_prefix(1);
    } else if (const std::size_t length = sound ? 1 : character_length(text); length > 0) {
      out += text.substr(0, length);
      text.remove_prefix(length);
    } else {
      out += kReplacement;
      text.remove_prefix(1);
    }
  }
  out.push_back('"');
}

std::size_t json_begins(std::string_view text) {
  const std::size_t mark = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  const std::size_t first = text.find_first_not_of(" \t\r\n", mark);
  const bool begins = first != text.npos && (text[first] == '{' || text[first] == '[');
  return begins ? first : text.npos;
}

std::size_t json_ends(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0) {
      --depth;
      if (depth == 0) return at + 1;
    }
  }
  return std::string_view::npos;
}

std::size_t first_bad_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = character_length(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::string bytes_as_text(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) append_utf8(out, static_cast<unsigned char>(c));
  return out;
}

std::string bytes_from_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) {
      out.push_back(text[at]);
      continue;
    }
    if ((lead != 0xC2 && lead != 0xC3) || at + 1 == text.size()) return std::string(text);
    const auto next = static_cast<unsigned char>(text[++at]);
    out.push_back(static_cast<char>((lead & 3) << 6 | (next & 0x3F)));
  }
  return out;
}

void append_double(std::string& out, double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

}  // namespace trainscope::trace::chrome
