#include "cuda/calibration/machine_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/units.h"
#include "machine/architecture.h"
#include "machine/fields.h"

namespace trainscope::cuda {
namespace {

using machine::Dimension;
using machine::Figure;
using machine::Provenance;

struct Unit {
  const char* word;
  double factor;  // base units in one
};

Unit unit_of(Dimension dimension, double value) {
  switch (dimension) {
    case Dimension::kBytes:
      return {"B", 1};
    case Dimension::kBytesPerSecond:
      return {"GB/s", 1e9};
    case Dimension::kTime:
      return value < 1000 ? Unit{"ns", 1} : Unit{"us", 1000};
    case Dimension::kHertz:
      return {"MHz", 1e6};
    case Dimension::kWatts:
      return {"W", 1};
    case Dimension::kFlopsPerSecond:
      return {"TFLOP/s", 1e12};
    case Dimension::kCount:
    case Dimension::kShare:
    case Dimension::kFlag:
      break;
  }
  return {"", 1};
}

// As exact as a measurement can be, and as a file is read by a person.
std::string digits(double value, bool whole) {
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

std::string quoted(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    if (static_cast<unsigned char>(c) >= ' ') safe += c;
  }
  return '"' + safe + '"';
}

std::string line(const std::string& key, const Figure& figure, const std::string& number) {
  std::string text = key + " = { value = " + number;
  if (!figure.unit.empty()) text += ", unit = " + quoted(figure.unit);
  text += ", source = " + quoted(name_of(figure.provenance));
  if (!figure.note.empty()) text += ", note = " + quoted(figure.note);
  return text + " }\n";
}

class Writer {
 public:
  Writer(const Calibration& calibration, const CalibrationStamp& stamp)
      : calibration_(calibration),
        origin_(calibration.facts.name + ", " + calibration.facts.driver + ", " + stamp.date +
                ", `" + stamp.command + "`" + (stamp.clocks.empty() ? "" : ", " + stamp.clocks)) {}

  const std::string& origin() const { return origin_; }

  // The line of a figure that was measured; empty: it was not.
  std::string measured(const std::string& name, const std::string& key, Dimension dimension,
                       bool whole) const {
    const MeasuredFigure* figure = calibration_.find(name);
    if (!figure) return "";
    const Unit unit = unit_of(dimension, figure->value);
    std::string note = figure->how;
    if (figure->spread > 0)
      note += fmt::format(", half of them within {:.3g} {}", figure->spread / unit.factor,
                          *unit.word ? unit.word : "of it");
    const Figure written{name, 0, unit.word, Provenance::kMeasured, note + "; " + origin_};
    return line(key, written, digits(figure->value / unit.factor, whole && unit.factor == 1));
  }

 private:
  const Calibration& calibration_;
  std::string origin_;
};

template <class Part>
bool is_whole(const machine::Field<Part>& field) {
  return !std::holds_alternative<double Part::*>(field.member);
}

std::string known_line(const machine::Machine& known, const std::string& key) {
  for (const Figure& figure : known.figures)
    if (figure.name == "gpu." + key) return line(key, figure, fmt::format("{}", figure.value));
  return "";
}

// What no measurement tells of a GPU that no file describes.
std::string derived_line(const Calibration& calibration, const std::string& key) {
  const DeviceFacts& facts = calibration.facts;
  const auto fitted = [&](double value, const char* unit, const std::string& note) {
    return line(key, {key, 0, unit, Provenance::kFitted, note}, fmt::format("{:.6g}", value));
  };
  const auto fastest = [&](auto is_type) {
    double best = 0;
    for (const ProductPoint& product : calibration.products)
      if (is_type(product.type)) best = std::max(best, product.flops_per_s());
    return best / 1e12;
  };
  using program::ElementType;
  const std::string no_sheet = "no data sheet is known: the fastest product that was measured";
  if (key == "fp16")
    return fitted(fastest([](ElementType type) { return program::size_of(type) == 2; }), "TFLOP/s",
                  no_sheet);
  if (key == "tf32")
    return fitted(fastest([](ElementType type) { return type == ElementType::kTf32; }), "TFLOP/s",
                  no_sheet + "; 0 where there is no such unit");
  if (key != "fp32") return "";
  machine::Gpu gpu;
  gpu.compute_capability = facts.capability / 10.0;
  const double lanes = machine::architecture_of(gpu).fp32_lanes;
  return fitted(2 * lanes * facts.sm_count * static_cast<double>(facts.clock_hz) / 1e12, "TFLOP/s",
                "SMs, times the results a cycle of their capability, times the clock");
}

std::string gpu_file(const Calibration& calibration, const Writer& writer, const std::string& id,
                     const std::optional<machine::Machine>& known) {
  std::string text = "# Written by `trainscope calibrate`.\n\nid = " + quoted(id) +
                     "\nname = " + quoted(calibration.facts.name) +
                     "\nsource = \"measured\"\nnote = " + quoted(writer.origin()) + "\n\n";
  const auto add = [&](const auto& field, bool required) {
    const std::string key(field.key);
    std::string one = writer.measured("gpu." + key, key, field.dimension, is_whole(field));
    if (one.empty() && known) one = known_line(*known, key);
    if (one.empty()) one = derived_line(calibration, key);
    if (one.empty() && required)
      throw MissingError("the device did not tell gpu." + key +
                         ", and no machine file describes it; write it into a file of your own");
    text += one;
  };
  for (const auto& field : machine::kGpuFields) add(field, true);
  for (const auto& field : machine::kRareGpuFields) add(field, false);
  return text;
}

template <class Fields>
std::string section(const Writer& writer, const std::string& name, const Fields& fields) {
  std::string text;
  for (const auto& field : fields)
    text += writer.measured(name + "." + std::string(field.key), std::string(field.key),
                            field.dimension, is_whole(field));
  return text.empty() ? "" : "\n[" + name + "]\n" + text;
}

std::string machine_file(const Calibration& calibration, const Writer& writer,
                         const std::string& id, const std::string& base,
                         const std::string& gpu_reference) {
  return "# Written by `trainscope calibrate`. What it does not measure is of the machine that it "
         "starts from.\n\nid = " +
         quoted(id + "-1") + "\nbase = " + quoted(base) +
         "\nname = " + quoted("1 x " + calibration.facts.name + ", measured") +
         "\ngpu = " + quoted(gpu_reference) +
         "\ngpu_count = 1\nsource = \"measured\"\nnote = " + quoted(writer.origin()) + "\n" +
         section(writer, "pcie", machine::kPcieFields) +
         section(writer, "host", machine::kHostFields);
}

}  // namespace

CalibrationFiles machine_files(const Calibration& calibration, const CalibrationStamp& stamp,
                               const std::string& id, const std::optional<machine::Machine>& known,
                               const std::string& gpu_reference) {
  const Writer writer(calibration, stamp);
  // Of a GPU that no file describes, the host is that of the usual machine until someone says more.
  const std::string base = known ? known->id : "h200-1";
  return {gpu_file(calibration, writer, id, known),
          machine_file(calibration, writer, id, base, gpu_reference)};
}

namespace {

template <class Fields>
std::optional<Dimension> find_dimension(const std::string& name, const std::string& part,
                                        const Fields& fields) {
  for (const auto& field : fields)
    if (name == part + std::string(field.key)) return field.dimension;
  return std::nullopt;
}

Dimension dimension_of(const std::string& name) {
  for (const auto& found : {find_dimension(name, "gpu.", machine::kGpuFields),
                            find_dimension(name, "gpu.", machine::kRareGpuFields),
                            find_dimension(name, "pcie.", machine::kPcieFields),
                            find_dimension(name, "host.", machine::kHostFields)})
    if (found) return *found;
  return Dimension::kCount;
}

}  // namespace

std::string figure_text(const std::string& name, double value) {
  switch (dimension_of(name)) {
    case Dimension::kBytes:
      return format_bytes(value);
    case Dimension::kBytesPerSecond:
      return format_rate(value);
    case Dimension::kTime:
      return format_nanos(value);
    case Dimension::kHertz:
      return fmt::format("{:.0f} MHz", value / 1e6);
    case Dimension::kWatts:
      return fmt::format("{:.0f} W", value);
    case Dimension::kFlopsPerSecond:
      return fmt::format("{:.1f} TFLOP/s", value / 1e12);
    case Dimension::kShare:
      return fmt::format("{:.1f} %", 100 * value);
    case Dimension::kCount:
    case Dimension::kFlag:
      break;
  }
  return fmt::format("{:.5g}", value);
}

std::string figure_unit(const std::string& name) {
  switch (dimension_of(name)) {
    case Dimension::kBytes:
      return "B";
    case Dimension::kBytesPerSecond:
      return "B/s";
    case Dimension::kTime:
      return "ns";
    case Dimension::kHertz:
      return "Hz";
    case Dimension::kWatts:
      return "W";
    case Dimension::kFlopsPerSecond:
      return "FLOP/s";
    case Dimension::kShare:
    case Dimension::kCount:
    case Dimension::kFlag:
      break;
  }
  return "";
}

std::string id_of_device(const std::string& name) {
  std::string id;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter)) {
      id += static_cast<char>(std::tolower(letter));
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id.empty() ? "gpu" : id;
}

}  // namespace trainscope::cuda
