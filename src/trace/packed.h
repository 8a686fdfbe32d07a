// The envelope of our own binary files: a mark that says what the file is, the number of its
// format, a checksum, and the content, deflated by zlib.
//
//   8 bytes  the mark          4  the format        4  CRC-32 of all that follows
//   8  bytes of the content, once unpacked          the zlib stream
//
// Numbers are little-endian. The checksum is looked at before anything is unpacked, and unpacking
// never takes more room than the content's stated and plausible size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainscope::trace {

struct Envelope {
  std::string_view mark;     // 8 bytes
  std::uint32_t format = 1;  // of what is written; the newest that is read
  std::string what;          // for messages: "a saved run"
  std::uint32_t oldest = 1;  // the oldest format that is read
  std::string remedy = {};   // what to do about an older one: "run its lesson again and save that"
};

bool has_mark(const Envelope& envelope, std::string_view bytes);

// Same content, same bytes.
std::string pack(const Envelope& envelope, std::string_view content);

// Throws InputError, one sentence naming `name`: no such file at all, a newer format or one too
// old, cut short, damaged, or larger than this machine should be asked to hold.
std::string unpack(const Envelope& envelope, std::string_view bytes, const std::string& name);

}  // namespace trainscope::trace
