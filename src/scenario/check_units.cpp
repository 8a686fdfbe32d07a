#include "scenario/check_units.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/knobs.h"
#include "scenario/expression_parser.h"

namespace trainscope::scenario {
namespace {

using Node = Expression::Node;

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

// Of a product or a quotient of two that have one: nothing is said of it.
constexpr const char* kUnknown = "?";

bool divides(const Node& node) {
  return node.name == "/" || node.name == "ratio";
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
  if (first == kUnknown || second == kUnknown) return kUnknown;
  if (divides(node)) return first == second ? "1" : is_plain(second) ? first : kUnknown;
  if (node.name == "*" && !is_plain(first) && !is_plain(second)) return kUnknown;
  return is_plain(first) ? second : first;
}

// A value of that unit as it is written; empty: none can be.
std::string example_of(const std::string& unit) {
  if (unit == "ns") return "20 ms";
  if (unit == "B") return "20 MiB";
  if (unit == "B/s") return "20 GB/s";
  return unit == "FLOP/s" ? "20 TFLOP/s" : "";
}

// What an expression does with two of its parts, where they have to be of one unit.
struct Pair {
  const Node& left;
  const Node& right;
  const char* does;  // "compares", "adds up"
  const char* with;  // "with", "and"
};

std::string words_of(const std::string& unit) {
  return is_plain(unit) ? "what has no unit" : "what is in " + unit;
}

// Of a value and a number; empty: nothing is wrong with it.
std::string fault_of(const Pair& pair, const Node& value, const Node& number,
                     const std::string& text) {
  const std::string unit = unit_of(value), given = unit_of(number);
  if (is_zero(number) || unit == given || unit == kUnknown) return "";
  if (!is_plain(given))
    return fmt::format("\"{}\" {} {} {} a number in {}", text, pair.does, words_of(unit), pair.with,
                       given);
  const std::string example = example_of(unit);
  if (example.empty() || is_of_knobs(value)) return "";
  return fmt::format(
      "\"{}\" {} what is in {} {} a number that has no unit, and so is taken for {}; write one, as "
      "in {}",
      text, pair.does, unit, pair.with, unit, example);
}

std::string fault_of(const Pair& pair, const std::string& text) {
  const bool left = is_number(pair.left), right = is_number(pair.right);
  if (left && right) return "";
  if (left || right)
    return fault_of(pair, left ? pair.right : pair.left, left ? pair.left : pair.right, text);
  const std::string a = unit_of(pair.left), b = unit_of(pair.right);
  if (a == b || a == kUnknown || b == kUnknown || (is_plain(a) && is_plain(b))) return "";
  return fmt::format("\"{}\" {} {} {} {}", text, pair.does, words_of(a), pair.with, words_of(b));
}

void add_faults(const Node& node, const std::string& text, std::vector<std::string>& faults) {
  for (const auto& argument : node.arguments) add_faults(*argument, text, faults);
  if (node.kind != Node::Kind::kApply) return;
  const bool sum = node.name == "+" || node.name == "-";
  const bool one_of = node.name == "min" || node.name == "max";
  if (!sum && !one_of && !is_comparison(node.name)) return;
  for (std::size_t i = 1; i < node.arguments.size(); ++i) {
    const Pair pair{*node.arguments[0], *node.arguments[i], sum ? "adds up" : "compares",
                    sum ? "and" : "with"};
    if (std::string fault = fault_of(pair, text); !fault.empty())
      faults.push_back(std::move(fault));
  }
}

}  // namespace

std::vector<std::string> unit_faults(const Expression& expression) {
  std::vector<std::string> faults;
  add_faults(expression.root(), expression.text(), faults);
  return faults;
}

}  // namespace trainscope::scenario
