#include "scenario/expression.h"

#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/ratio.h"
#include "base/speech.h"
#include "base/units.h"
#include "scenario/expression_parser.h"

namespace trainscope::scenario {
namespace {

using Node = Expression::Node;

constexpr const char* kTruth = "truth";

const analysis::Run& side_of(const Node& node, const Sides& sides) {
  for (const analysis::Run* run : sides)
    if (run && run->label == node.side) return *run;
  throw InputError("there is no run " + node.side);
}

Quantity metric_value(const Node& node, const Sides& sides) {
  const analysis::Run& run = side_of(node, sides);
  const auto value = analysis::value_of(run, node.asked);
  if (!value)
    throw InputError("run " + node.side + " has no " + node.name +
                     (run.ending ? ", because " + sim::sentence(*run.ending)
                      : run.trace && trace::is_measured(*run.trace)
                          ? ", which a real GPU does not tell"
                          : ""));
  const analysis::Metric& metric = *node.asked.metric;
  return {*value, metric.share ? "%" : metric.unit};
}

Quantity knob_value(const Node& node, const Sides& sides) {
  const program::Value& value = side_of(node, sides).config.value(node.name);
  const program::Knob& knob = program::find_knob(node.name);
  if (const auto* flag = std::get_if<bool>(&value)) return {*flag ? 1.0 : 0.0, kTruth};
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    return {static_cast<double>(*whole), knob.unit.empty() ? "1" : knob.unit};
  if (const auto* number = std::get_if<double>(&value))
    return {*number, knob.unit.empty() ? "1" : knob.unit};
  throw InputError("knob " + node.name + " is a word; an expression needs a number");
}

const std::string* word_of(const Node& node, const Sides& sides) {
  if (node.kind != Node::Kind::kKnob) return nullptr;
  return std::get_if<std::string>(&side_of(node, sides).config.value(node.name));
}

// Of two knobs that are words: A.precision == B.precision.
std::optional<bool> compares_words(const Node& node, const Sides& sides) {
  if (node.name != "==" && node.name != "!=") return std::nullopt;
  const std::string* left = word_of(*node.arguments[0], sides);
  const std::string* right = word_of(*node.arguments[1], sides);
  if (!left || !right) return std::nullopt;
  return (*left == *right) == (node.name == "==");
}

std::string common_unit(const Quantity& a, const Quantity& b) {
  if (a.unit == b.unit) return a.unit;
  if (a.unit == "1" || a.unit == "%") return b.unit == "%" ? a.unit : b.unit;
  return a.unit;
}

Quantity divide(const Quantity& a, const Quantity& b) {
  if (b.value == 0) throw InputError("an expression divides by zero");
  return {a.value / b.value, a.unit == b.unit ? "1"
                             : b.unit == "1"  ? a.unit
                                              : a.unit + "/" + b.unit};
}

Quantity multiply(const Quantity& a, const Quantity& b) {
  const bool plain = a.unit == "1" || a.unit == "%";
  return {a.value * b.value, plain ? b.unit : a.unit};
}

bool compares(const std::string& symbol, double a, double b) {
  if (symbol == "<") return a < b;
  if (symbol == "<=") return a <= b;
  if (symbol == ">") return a > b;
  if (symbol == ">=") return a >= b;
  return symbol == "==" ? a == b : a != b;
}

Quantity truth(bool value) {
  return {value ? 1.0 : 0.0, kTruth};
}

Quantity least_or_most(const Node& node, const Sides& sides) {
  Quantity best = evaluate(*node.arguments[0], sides);
  for (std::size_t i = 1; i < node.arguments.size(); ++i) {
    const Quantity next = evaluate(*node.arguments[i], sides);
    if (node.name == "min" ? next.value < best.value : next.value > best.value) best = next;
  }
  return best;
}

Quantity evaluate_two(const Node& node, const Sides& sides) {
  if (const auto same = compares_words(node, sides)) return truth(*same);
  const Quantity a = evaluate(*node.arguments[0], sides);
  // `and` and `or` stop at the side that decides.
  if (node.name == "and" && !a.truth()) return truth(false);
  if (node.name == "or" && a.truth()) return truth(true);
  const Quantity b = evaluate(*node.arguments[1], sides);
  if (node.name == "and" || node.name == "or") return truth(b.truth());
  if (node.name == "+") return {a.value + b.value, common_unit(a, b)};
  if (node.name == "-") return {a.value - b.value, common_unit(a, b)};
  if (node.name == "*") return multiply(a, b);
  if (node.name == "/" || node.name == "ratio") return divide(a, b);
  return truth(compares(node.name, a.value, b.value));
}

}  // namespace

Quantity evaluate(const Node& node, const Sides& sides) {
  switch (node.kind) {
    case Node::Kind::kNumber:
      return node.number;
    case Node::Kind::kMetric:
      return metric_value(node, sides);
    case Node::Kind::kKnob:
      return knob_value(node, sides);
    case Node::Kind::kApply:
      break;
  }
  if (node.name == "min" || node.name == "max") return least_or_most(node, sides);
  if (node.arguments.size() == 2) return evaluate_two(node, sides);
  const Quantity a = evaluate(*node.arguments[0], sides);
  if (node.name == "not") return truth(!a.truth());
  if (node.name == "abs") return {std::abs(a.value), a.unit};
  return {-a.value, a.unit};
}

Expression Expression::parse(std::string_view text) {
  Expression expression;
  expression.text_ = std::string(text);
  expression.root_ = parse_expression(expression.text_);
  return expression;
}

Quantity Expression::evaluate(const Sides& sides) const {
  return scenario::evaluate(*root_, sides);
}

namespace {

// Of a text: "8 times" where it is exactly that, as a table's "8.00" would look rounded.
std::string ratio_words(double ratio) {
  constexpr double kAllDigits = 9'999.5;  // below, format_count writes them all
  const bool whole = ratio == std::round(ratio) && std::abs(ratio) < kAllDigits;
  return whole ? format_count(ratio) : format_ratio(ratio);
}

}  // namespace

namespace {

std::string show_node(const Node& node, const Sides& sides) {
  if (node.kind == Node::Kind::kKnob) {
    const program::Value& value = side_of(node, sides).config.value(node.name);
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* number = std::get_if<double>(&value);
    const std::string& unit = program::find_knob(node.name).unit;
    if (whole && unit == "1") return std::to_string(*whole);
    if (number && (unit.empty() || unit == "1")) return format_factor(*number);
  }
  const Quantity quantity = evaluate(node, sides);
  if (node.kind == Node::Kind::kMetric && node.asked.metric->factor)
    return format_factor(quantity.value);
  if (node.kind == Node::Kind::kApply && node.name == "ratio" && quantity.unit == "1")
    return ratio_words(quantity.value);
  return scenario::show(quantity);
}

// A word too, of which there is no value; "?" where a run does not tell.
std::string side_words(const Node& node, const Sides& sides) try {
  const std::string* word = word_of(node, sides);
  return word ? *word : show_node(node, sides);
} catch (const InputError&) {
  return "?";
}

std::string evaluated_words(const Node& node, const Sides& sides) {
  if (node.kind != Node::Kind::kApply) return side_words(node, sides);
  const auto& of = node.arguments;
  if (node.name == "not") return "not (" + evaluated_words(*of[0], sides) + ")";
  if (node.name == "and" || node.name == "or") {
    const auto part = [&](const Node& side) {
      const bool other = side.kind == Node::Kind::kApply && node.name == "and" && side.name == "or";
      const std::string words = evaluated_words(side, sides);
      return other ? "(" + words + ")" : words;
    };
    return part(*of[0]) + " " + node.name + " " + part(*of[1]);
  }
  if (!is_comparison(node.name)) return side_words(node, sides);
  return side_words(*of[0], sides) + " " + node.name + " " + side_words(*of[1], sides);
}

}  // namespace

std::string Expression::show(const Sides& sides) const {
  return show_node(*root_, sides);
}

std::string Expression::evaluated(const Sides& sides) const {
  return evaluated_words(*root_, sides);
}

std::string show(const Quantity& quantity) {
  if (quantity.unit == kTruth) return quantity.truth() ? "True" : "False";
  return format_value(quantity.value, quantity.unit);
}

std::size_t unclosed_brace(std::string_view text) {
  std::size_t at = text.find('{');
  while (at != text.npos) {
    const std::size_t end = text.find('}', at), next = text.find('{', at + 1);
    if (end == text.npos || next < end) return at;
    at = next;
  }
  return at;
}

std::vector<std::string> placeholders(std::string_view text) {
  if (const std::size_t at = unclosed_brace(text); at != text.npos)
    throw InputError("a brace is not closed: \"" + std::string(text.substr(at, 40)) + "\"");
  std::vector<std::string> found;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at)) {
    const std::size_t end = text.find('}', at);
    found.emplace_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return found;
}

std::string fill_in(std::string_view text, const Sides& sides, char decimal) {
  std::string result;
  std::size_t from = 0;
  for (const std::string& inside : placeholders(text)) {
    const std::size_t at = text.find('{', from);
    result += text.substr(from, at - from);
    result += with_decimal(Expression::parse(inside).show(sides), decimal);
    from = at + inside.size() + 2;
  }
  result += text.substr(from);
  return result;
}

std::string fill_in_known(std::string_view text, const Sides& sides, char decimal) {
  std::string filled;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == text.npos ? text.npos : text.find('}', open);
    if (close == text.npos) break;
    filled += text.substr(at, open - at);
    try {
      filled += fill_in(text.substr(open, close + 1 - open), sides, decimal);
    } catch (const Error&) {
      filled += kBlank;
    }
    at = close + 1;
  }
  return filled.append(text.substr(at));
}

}  // namespace trainscope::scenario
