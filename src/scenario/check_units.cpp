#include "scenario/check_units.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/knobs.h"
#include "scenario/expression_parser.h"

namespace trainscope::scenario {
namespace {

using Node = Expression::Node;

bool is_comparison(const std::string& name) {
  return name == "<" || name == "<=" || name == ">" || name == ">=" || name == "==" || name == "!=";
}

template <typename Predicate>
bool any_leaf(const Node& node, const Predicate& is) {
  if (node.kind != Node::Kind::kApply) return is(node);
  return std::ranges::any_of(node.arguments,
                             [&](const auto& argument) { return any_leaf(*argument, is); });
}

bool is_number(const Node& node) {
  return !any_leaf(node, [](const Node& leaf) { return leaf.kind != Node::Kind::kNumber; });
}

bool is_zero(const Node& node) {
  return is_number(node) && node.kind == Node::Kind::kNumber && node.number.value == 0;
}

// Set in the knob's own unit, which a lesson's [config] does not write either.
bool is_of_knobs(const Node& node) {
  return !any_leaf(node, [](const Node& leaf) { return leaf.kind == Node::Kind::kMetric; });
}

std::string unit_of_knob(const Node& node) {
  const program::Knob& knob = program::find_knob(node.name);
  return knob.unit.empty() ? "1" : knob.unit;
}

bool is_plain(const std::string& unit) {
  return unit == "1" || unit == "%" || unit == "truth";
}

// As evaluating has it, but before there are runs.
std::string unit_of(const Node& node) {
  if (node.kind == Node::Kind::kNumber) return node.number.unit;
  if (node.kind == Node::Kind::kKnob) return unit_of_knob(node);
  if (node.kind == Node::Kind::kMetric)
    return node.asked.metric->share ? "%" : node.asked.metric->unit;
  if (is_comparison(node.name) || node.name == "and" || node.name == "or" || node.name == "not")
    return "truth";
  const std::string first = unit_of(*node.arguments.front());
  if (node.arguments.size() == 1) return first;
  const std::string second = unit_of(*node.arguments[1]);
  if (node.name != "/" && node.name != "ratio") return is_plain(first) ? second : first;
  if (first == second) return "1";
  return is_plain(second) ? first : first + "/" + second;
}

// A value of that unit as it is written; empty: none can be.
std::string example_of(const std::string& unit) {
  if (unit == "ns") return "20 ms";
  if (unit == "B") return "20 MiB";
  if (unit == "B/s") return "20 GB/s";
  return unit == "FLOP/s" ? "20 TFLOP/s" : "";
}

// Of a comparison of `value` with `number`; empty: nothing is wrong with it.
std::string fault_of(const Node& value, const Node& number, const std::string& text) {
  const std::string unit = unit_of(value), given = unit_of(number);
  if (!is_number(number) || is_number(value) || is_zero(number) || unit == given) return "";
  if (!is_plain(given) && !is_plain(unit))
    return fmt::format("\"{}\" compares what is in {} with a number in {}", text, unit, given);
  const std::string example = example_of(unit);
  if (!is_plain(given) || example.empty() || is_of_knobs(value)) return "";
  return fmt::format(
      "\"{}\" compares what is in {} with a number that has no unit, and so is taken for {}; write "
      "one, as in {}",
      text, unit, unit, example);
}

void add_faults(const Node& node, const std::string& text, std::vector<std::string>& faults) {
  for (const auto& argument : node.arguments) add_faults(*argument, text, faults);
  if (node.kind != Node::Kind::kApply || !is_comparison(node.name)) return;
  const Node &left = *node.arguments[0], &right = *node.arguments[1];
  for (const std::string& fault : {fault_of(left, right, text), fault_of(right, left, text)})
    if (!fault.empty()) faults.push_back(fault);
}

}  // namespace

std::vector<std::string> unit_faults(const Expression& expression) {
  std::vector<std::string> faults;
  add_faults(expression.root(), expression.text(), faults);
  return faults;
}

}  // namespace trainscope::scenario
