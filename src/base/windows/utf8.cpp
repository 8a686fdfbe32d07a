// A std::filesystem::path is made of a text by the C library's mbrtowc, which in Windows' own C
// library knows no UTF-8; the other way round the C++ library writes UTF-8. So the linker is told
// (CMakeLists.txt) to take this in place of mbrtowc.
#include <cwchar>

namespace {

constexpr std::size_t kWrong = static_cast<std::size_t>(-1),
                      kCutShort = static_cast<std::size_t>(-2);

// How many bytes a letter has that begins with this one; 0: none does.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF5 ? 4 : 0;
}

unsigned byte(const char* text) {
  return static_cast<unsigned char>(*text);
}

}  // namespace

// UTF-16 has two units for a letter of four bytes: the first comes of three of them, and the state
// keeps the second, which comes of the last.
extern "C" std::size_t __wrap_mbrtowc(wchar_t* to, const char* text, std::size_t size,
                                      std::mbstate_t* state) {
  wchar_t ignored = 0;
  wchar_t& unit = to ? *to : ignored;
  if (!text) return 0;
  if (size == 0) return kCutShort;
  if (*state != 0) {
    unit = static_cast<wchar_t>(*state);
    *state = 0;
    return 1;
  }
  const std::size_t length = length_of(static_cast<unsigned char>(*text));
  if (length == 0) return kWrong;
  if (size < length) return kCutShort;
  unsigned letter = length == 1 ? byte(text) : byte(text) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(text + i) & 0xC0U) != 0x80U) return kWrong;
    letter = letter << 6 | (byte(text + i) & 0x3FU);
  }
  if (length < 4) {
    unit = static_cast<wchar_t>(letter);
    return letter == 0 ? 0 : length;
  }
  unit = static_cast<wchar_t>(0xD800U + ((letter - 0x10000U) >> 10));
  *state = static_cast<std::mbstate_t>(0xDC00U + (letter & 0x3FFU));
  return length - 1;
}
