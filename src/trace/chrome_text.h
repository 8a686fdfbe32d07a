// JSON text to values and back, as far as Chrome traces need it. A token is the text of one JSON
// value as it stands in the file: `12.5`, `"stream 7 "`, `null`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace trainscope::trace::chrome {

bool is_string(std::string_view token);

// What stands between the quotes, escapes and all; the token itself if it is no string.
std::string_view inner(std::string_view token);

// The text of a string token with its escapes undone (lone surrogates become U+FFFD); of another
// token its own text; "" of null.
std::string text_of(std::string_view token);

// A whole number, bare or in quotes; a fraction is cut off.
std::optional<std::int64_t> integer_of(std::string_view token);
std::int64_t integer_or(std::string_view token, std::int64_t otherwise);
double double_or(std::string_view token, double otherwise);

enum class TimeText { kGood, kMissing, kNotANumber, kTooLarge };

// Microseconds in decimal to nanoseconds, exactly; more than three decimals are rounded. Times
// beyond 73 years either way are too large.
TimeText read_microseconds(std::string_view token, Nanos& time);

// "12.345"; nine digits or more before the point are fine.
void append_microseconds(std::string& out, Nanos time);

// Appends `text` in quotes as strictly valid JSON; bytes that are not UTF-8 become U+FFFD.
void append_quoted(std::string& out, std::string_view text);

bool is_utf8(std::string_view text);

// Where JSON begins, with { or [ behind white space and a byte order mark; npos where it does not.
std::size_t json_begins(std::string_view text);

// Behind the bracket that closes its first object or list; npos: none does.
std::size_t json_ends(std::string_view text);

// Where the first byte stands that belongs to no UTF-8 character; the size if there is none.
std::size_t first_bad_utf8(std::string_view text);

// Any bytes as UTF-8, each byte as the character of its number, and back. Text that no such bytes
// give comes back unchanged.
std::string bytes_as_text(std::string_view bytes);
std::string bytes_from_text(std::string_view text);

// The shortest decimal that reads back as the same number. Finite numbers only.
void append_double(std::string& out, double value);

}  // namespace trainscope::trace::chrome
