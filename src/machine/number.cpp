#include "machine/number.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/suggest.h"
#include "base/toml.h"
#include "base/units.h"

namespace trainscope::machine {
namespace {

struct DimensionWords {
  std::string_view what;
  std::string_view base_unit;      // as format_value knows it
  std::vector<std::string> units;  // "" stands for none
  std::string_view example;
};

const DimensionWords& words_of(Dimension dimension) {
  static const DimensionWords count{"a plain number", "1", {"", "1"}, "16"};
  static const DimensionWords share{"a share", "1", {"", "1", "%"}, "0.9"};
  static const DimensionWords bytes{"in bytes",
                                    "B",
                                    {"B", "KB", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"},
                                    R"({ value = 50, unit = "MiB" })"};
  static const DimensionWords rate{"in bytes a second",
                                   "B/s",
                                   {"B/s", "KB/s", "MB/s", "GB/s", "TB/s", "GiB/s"},
                                   R"({ value = 25.7, unit = "GB/s" })"};
  static const DimensionWords time{
      "a time", "ns", {"ns", "us", "ms", "s"}, R"({ value = 2.5, unit = "us" })"};
  static const DimensionWords hertz{
      "a frequency", "Hz", {"Hz", "MHz", "GHz"}, R"({ value = 1980, unit = "MHz" })"};
  static const DimensionWords watts{"a power", "W", {"W"}, R"({ value = 700, unit = "W" })"};
  static const DimensionWords flops{"in operations a second",
                                    "FLOP/s",
                                    {"FLOP/s", "GFLOP/s", "TFLOP/s"},
                                    R"({ value = 67, unit = "TFLOP/s" })"};
  static const DimensionWords flag{"true or false", "1", {""}, "true"};
  switch (dimension) {
    case Dimension::kCount:
      return count;
    case Dimension::kShare:
      return share;
    case Dimension::kBytes:
      return bytes;
    case Dimension::kBytesPerSecond:
      return rate;
    case Dimension::kTime:
      return time;
    case Dimension::kHertz:
      return hertz;
    case Dimension::kWatts:
      return watts;
    case Dimension::kFlopsPerSecond:
      return flops;
    case Dimension::kFlag:
      return flag;
  }
  return count;
}

bool may_lack_unit(Dimension dimension) {
  return dimension == Dimension::kCount || dimension == Dimension::kShare ||
         dimension == Dimension::kFlag;
}

std::string list_of(const std::vector<std::string>& units) {
  std::string text;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i > 0) text += i + 1 == units.size() ? " or " : ", ";
    text += units[i].empty() ? "no unit" : units[i];
  }
  return text;
}

double factor_of(const toml::node& place, const std::string& unit, const std::string& name,
                 Dimension dimension, const SourceFile& file) {
  const DimensionWords& words = words_of(dimension);
  for (const std::string& known : words.units)
    if (known == unit) return unit_factor(unit).value();
  if (unit.empty())
    fail_at(place, file.name,
            fmt::format("{} is {} and needs a unit; write for example {}", name, words.what,
                        words.example));
  fail_at(place, file.name,
          fmt::format("{} is {}, and {} is no unit of that{}; write {}", name, words.what, unit,
                      did_you_mean(unit, words.units), list_of(words.units)));
}

double flag_at(const toml::node& node, const std::string& name, const SourceFile& file) {
  if (const auto* flag = node.as_boolean()) return flag->get() ? 1 : 0;
  fail_at(node, file.name, name + " is neither true nor false");
}

double number_at(const toml::node& node, const std::string& name, Dimension dimension,
                 const SourceFile& file) {
  if (dimension == Dimension::kFlag) return flag_at(node, name, file);
  if (const auto* whole = node.as_integer()) return static_cast<double>(whole->get());
  if (const auto* real = node.as_floating_point()) return real->get();
  fail_at(node, file.name, name + " is not a number");
}

// A number that a file leaves open to doubt says where it comes from.
void check_note(const toml::node& node, const Figure& figure, const SourceFile& file) {
  if (figure.provenance == Provenance::kDatasheet || !figure.note.empty()) return;
  fail_at(node, file.name,
          fmt::format("{} is {} and has no note; say with note = \"...\" where it comes from",
                      figure.name, name_of(figure.provenance)));
}

double checked(const toml::node& node, const Figure& figure, double value, Dimension dimension,
               Bounds bounds, Rounding rounding, const SourceFile& file) {
  const std::string written =
      fmt::format("{} is {}{}{}", figure.name, figure.value,
                  figure.unit.empty() || figure.unit == "%" ? "" : " ", figure.unit);
  const auto refuse = [&](const std::string& rule) {
    fail_at(node, file.name, written + "; it must " + rule);
  };
  if (!std::isfinite(value)) refuse("be a finite number");
  if (bounds.least > 0 && value <= 0) refuse("be more than 0");
  if (value < 0) refuse("not be negative");
  if (value < bounds.least || value > bounds.most) {
    const std::string_view unit = words_of(dimension).base_unit;
    refuse(fmt::format("lie between {} and {}", format_value(bounds.least, unit),
                       format_value(bounds.most, unit)));
  }
  if (rounding == Rounding::kNone) return value;
  const double whole = std::round(value);
  // Scaling by a unit may miss the whole number by a rounding error; times are simply rounded.
  if (dimension != Dimension::kTime && std::abs(value - whole) > 1e-9 * value)
    refuse(dimension == Dimension::kBytes ? "be a whole number of bytes" : "be a whole number");
  return whole;
}

}  // namespace

std::string name_of(Provenance provenance) {
  switch (provenance) {
    case Provenance::kDatasheet:
      return "datasheet";
    case Provenance::kMeasured:
      return "measured";
    case Provenance::kFitted:
      return "fitted";
  }
  return "";
}

std::optional<std::string> read_text(const toml::table& table, std::string_view key,
                                     const std::string& file) {
  const toml::node* node = table.get(key);
  if (!node) return std::nullopt;
  const auto text = node->value<std::string>();
  if (!text) fail_at(*node, file, fmt::format("{} must be text in quotes", key));
  if (text->empty())
    fail_at(*node, file, fmt::format("{} is empty; write it or leave it out", key));
  return text;
}

std::optional<Provenance> read_provenance(const toml::table& table, const std::string& file) {
  const auto text = read_text(table, "source", file);
  if (!text) return std::nullopt;
  std::vector<std::string> names;
  for (const Provenance provenance :
       {Provenance::kDatasheet, Provenance::kMeasured, Provenance::kFitted}) {
    if (*text == name_of(provenance)) return provenance;
    names.push_back(name_of(provenance));
  }
  fail_at(
      *table.get("source"), file,
      fmt::format("a source is {}, not {}{}", list_of(names), *text, did_you_mean(*text, names)));
}

std::string example_of(Dimension dimension) {
  return std::string(words_of(dimension).example);
}

Number read_number(const toml::node& node, const std::string& name, Dimension dimension,
                   Bounds bounds, Rounding rounding, const SourceFile& file) {
  Number number;
  Figure& figure = number.figure;
  figure.name = name;
  const toml::node* value = &node;
  const toml::node* unit = &node;
  std::optional<Provenance> provenance;
  if (const toml::table* table = node.as_table()) {
    refuse_unknown_keys(*table, {"value", "unit", "source", "note"}, file.name, name);
    value = table->get("value");
    if (!value) fail_at(node, file.name, name + " has no value; write " + example_of(dimension));
    if (const toml::node* written = table->get("unit"); written) {
      unit = written;
      const auto text = written->value<std::string>();
      if (!text) fail_at(*written, file.name, "unit must be text in quotes");
      figure.unit = *text;
    }
    provenance = read_provenance(*table, file.name);
    figure.note = read_text(*table, "note", file.name).value_or("");
  } else if (node.is_number() && !may_lack_unit(dimension)) {
    fail_at(node, file.name,
            fmt::format("{} is {} and needs a unit; write for example {}", name,
                        words_of(dimension).what, example_of(dimension)));
  }
  if (!provenance) {  // the file's note explains the file's source, not another
    if (!file.provenance)
      fail_at(node, file.name,
              name +
                  " has no source; write source = \"datasheet\", \"measured\" or \"fitted\" in it "
                  "or at the top of the file");
    provenance = file.provenance;
    if (figure.note.empty()) figure.note = file.note;
  }
  figure.provenance = *provenance;
  figure.value = number_at(*value, name, dimension, file);
  const double factor = factor_of(*unit, figure.unit, name, dimension, file);
  number.value = checked(*value, figure, figure.value * factor, dimension, bounds, rounding, file);
  check_note(node, figure, file);
  return number;
}

}  // namespace trainscope::machine
