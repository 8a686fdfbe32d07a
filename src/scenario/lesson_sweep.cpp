#include "scenario/lesson_sweep.h"

#include <fmt/format.h>

#include "base/error.h"
#include "scenario/toml_fields.h"

namespace trainscope::scenario {
namespace {

// A value as parse_axis reads it: "64", "1 MiB", "true".
std::string spelled(const toml::node& node, const std::string& file) {
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto whole = node.value_exact<std::int64_t>()) return std::to_string(*whole);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  if (const auto text = node.value_exact<std::string>()) return *text;
  fail_at(node, file, "a value of a sweep is neither a word, a number, nor true or false");
}

std::string spelled(const Fields& fields, std::string_view key) {
  const toml::node* node = fields.find(key);
  if (!node) fields.fail("a sweep has values = [...], or from and to");
  return spelled(*node, fields.file());
}

// What stands behind "knob=".
std::string values_text(const Fields& fields) {
  if (fields.find("values")) {
    for (const char* other : {"from", "to", "times", "plus"})
      if (fields.find(other)) fields.fail(other, "a sweep has values, or from and to, not both");
    const toml::array* list = fields.find("values")->as_array();
    if (!list || list->empty()) fields.fail("values", "values is not a list; write [1, 2, 4]");
    std::string text;
    for (const toml::node& one : *list)
      text += (text.empty() ? "" : ",") + spelled(one, fields.file());
    return text;
  }
  const std::string range = spelled(fields, "from") + ".." + spelled(fields, "to");
  if (fields.find("times") && fields.find("plus"))
    fields.fail("plus", "a sweep multiplies with times, or adds with plus, not both");
  if (fields.find("times")) return range + ":x" + spelled(fields, "times");
  if (fields.find("plus")) return range + ":+" + spelled(fields, "plus");
  return range;
}

SweepAxis read_axis(const Fields& fields) {
  const std::string knob = fields.text("knob"), values = values_text(fields);
  const std::string_view key = fields.find("values") ? "values" : "from";
  if (!program::find_knob_or_null(knob)) {
    try {
      program::find_knob(knob);
    } catch (const InputError& error) {
      fields.fail("knob", error.what());
    }
  }
  try {
    return parse_axis(knob + "=" + values);
  } catch (const InputError& error) {
    fields.fail(key, error.what());
  }
}

std::optional<program::Value> read_value(const Fields& fields, std::string_view key,
                                         const program::Knob& knob) {
  const toml::node* node = fields.find(key);
  if (!node) return std::nullopt;
  try {
    return program::parse_value(knob, spelled(*node, fields.file()));
  } catch (const InputError& error) {
    fields.fail(key, error.what());
  }
}

SweepExpectation read_expectation(const toml::table& table, const std::string& file,
                                  const program::Knob& knob) {
  const Fields fields(table, file, "an expectation of a sweep");
  fields.only({"expression", "a", "b", "sim", "real"});
  const auto expression = fields.expression("expression");
  if (!expression) fields.fail("an expectation needs expression = \"…\"");
  const auto [sim_min, sim_max] = fields.bounds("sim");
  const auto [real_min, real_max] = fields.bounds("real");
  return {*expression,
          read_value(fields, "a", knob),
          read_value(fields, "b", knob),
          sim_min,
          sim_max,
          real_min,
          real_max,
          fields.place()};
}

}  // namespace

LessonSweep read_sweep(const toml::table& table, const std::string& file) {
  const Fields fields(table, file, "a sweep");
  fields.only({"knob", "values", "from", "to", "times", "plus", "metric", "expect"});
  LessonSweep sweep;
  sweep.place = fields.place();
  sweep.axis = read_axis(fields);
  if (sweep.axis.values.size() < 2)
    fields.fail(fields.find("values") ? "values" : "from", "a curve needs two values at least");
  if (sweep.axis.values.size() > kMostLessonValues)
    fields.fail(fields.find("values") ? "values" : "from",
                fmt::format("a lesson's sweep has at most {} values, and these are {}; take a "
                            "larger step",
                            kMostLessonValues, sweep.axis.values.size()));
  try {
    sweep.metric = &analysis::find_metric(fields.text("metric"));
  } catch (const InputError& error) {
    if (!fields.find("metric")) throw;
    fields.fail("metric", error.what());
  }
  for (const toml::table* one : fields.tables("expect"))
    sweep.expectations.push_back(read_expectation(*one, file, *sweep.axis.knob));
  return sweep;
}

}  // namespace trainscope::scenario
