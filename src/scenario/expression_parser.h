// The parser behind Expression: text to a tree.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/expression.h"

namespace trainscope::scenario {

// A node of the tree. `name` is the operator ("+", "<=", "and", "not", "neg"), the function ("min",
// "ratio"), or, for a leaf, the metric or knob.
struct Expression::Node {
  enum class Kind { kNumber, kMetric, kKnob, kApply };
  Kind kind = Kind::kNumber;
  Quantity number;
  std::string side;  // "A"
  std::string name;
  analysis::AskedMetric asked;  // of a metric
  std::vector<std::shared_ptr<const Node>> arguments;
};

// "<", "==" and the like.
bool is_comparison(std::string_view name);

std::shared_ptr<const Expression::Node> parse_expression(std::string_view text);

// Of a part of a tree; throws as Expression::evaluate().
Quantity evaluate(const Expression::Node& node, const Sides& sides);

}  // namespace trainscope::scenario
