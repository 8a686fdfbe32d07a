// One number of a machine or GPU file: `{ value, unit, source, note }`, or `x = 132` for one that
// has no unit. Every function throws InputError naming the file, the line and the column.
#pragma once

#include <toml++/toml.h>
#include <optional>
#include <string>
#include <string_view>

#include "machine/machine.h"

namespace trainscope::machine {

// What a number measures; it decides which units may be written.
enum class Dimension {
  kCount,
  kShare,
  kBytes,
  kBytesPerSecond,
  kTime,
  kHertz,
  kWatts,
  kFlopsPerSecond,
  kFlag,  // written true or false, read as 1 or 0
};

// In base units: bytes, bytes a second, nanoseconds, hertz, watts, operations a second, 1.
struct Bounds {
  double least = 0;
  double most = 0;
};

enum class Rounding { kNone, kWhole };  // whole: a count, a number of bytes, nanoseconds

// A file, and what it says of the numbers that do not say it themselves.
struct SourceFile {
  std::string name;
  std::optional<Provenance> provenance;
  std::string note;
};

struct Number {
  double value = 0;  // in the base unit
  Figure figure;     // as written
};

// `name` is the figure's: "host.launch_call".
Number read_number(const toml::node& node, const std::string& name, Dimension dimension,
                   Bounds bounds, Rounding rounding, const SourceFile& file);

// The text at `key`; nothing when there is none.
std::optional<std::string> read_text(const toml::table& table, std::string_view key,
                                     const std::string& file);

// The provenance at the key `source`; nothing when there is none.
std::optional<Provenance> read_provenance(const toml::table& table, const std::string& file);

// How a person would write a number of this dimension, for "write ...".
std::string example_of(Dimension dimension);

}  // namespace trainscope::machine
