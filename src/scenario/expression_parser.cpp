#include "scenario/expression_parser.h"

#include <cctype>

#include "base/error.h"
#include "base/number_text.h"
#include "base/suggest.h"
#include "base/units.h"
#include "program/knobs.h"

namespace trainscope::scenario {
namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;

constexpr int kDeepest = 64;   // nested parentheses
constexpr int kLongest = 500;  // operators and functions: a chain of them is a tree as deep

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// The unit that a number's value is kept in: times in ns, sizes in B.
std::string base_unit(std::string_view unit) {
  if (unit.ends_with("FLOP/s")) return "FLOP/s";
  if (unit.ends_with("B/s")) return "B/s";
  if (unit.ends_with("B")) return "B";
  if (unit == "ns" || unit == "us" || unit == "ms" || unit == "s") return "ns";
  if (unit == "samples/s" || unit == "tokens/s") return std::string(unit);
  return "1";
}

// Recursive descent, one function a level of precedence.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NodePtr parse() {
    NodePtr node = any();
    skip_space();
    if (at_ < text_.size()) fail("\"" + std::string(text_.substr(at_)) + "\" is left over");
    return node;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError("expression \"" + std::string(text_) + "\": " + what);
  }

  NodePtr apply(std::string name, std::vector<NodePtr> arguments) {
    if (++applied_ > kLongest) fail("it is too long");
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::kApply;
    node->name = std::move(name);
    node->arguments = std::move(arguments);
    return node;
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view symbol) {
    skip_space();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    const std::size_t end = at_ + symbol.size();
    if (is_letter(symbol.front()) && end < text_.size() &&
        (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.'))
      return false;
    at_ = end;
    return true;
  }

  NodePtr any() {
    NodePtr left = all();
    while (take("or")) left = apply("or", {left, all()});
    return left;
  }
  NodePtr all() {
    NodePtr left = negation();
    while (take("and")) left = apply("and", {left, negation()});
    return left;
  }
  NodePtr negation() {
    const Deeper deeper(*this);
    return take("not") ? apply("not", {negation()}) : comparison();
  }
  NodePtr comparison() {
    NodePtr left = sum();
    for (const char* symbol : {"<=", ">=", "==", "!=", "<", ">"})
      if (take(symbol)) return apply(symbol, {left, sum()});
    return left;
  }
  NodePtr sum() {
    NodePtr left = product();
    while (true) {
      if (take("+")) {
        left = apply("+", {left, product()});
      } else if (take("-")) {
        left = apply("-", {left, product()});
      } else {
        return left;
      }
    }
  }
  NodePtr product() {
    NodePtr left = factor();
    while (true) {
      if (take("*")) {
        left = apply("*", {left, factor()});
      } else if (take("/")) {
        left = apply("/", {left, factor()});
      } else {
        return left;
      }
    }
  }
  NodePtr factor() {
    const Deeper deeper(*this);
    if (take("-")) return apply("neg", {factor()});
    if (take("(")) {
      NodePtr inside = any();
      if (!take(")")) fail("a parenthesis is not closed");
      return inside;
    }
    skip_space();
    if (at_ >= text_.size()) fail("it ends where a value is expected");
    if (is_digit(text_[at_])) return number();
    if (is_letter(text_[at_])) return named();
    fail("\"" + std::string(1, text_[at_]) + "\" is not expected here");
  }

  NodePtr number() {
    auto node = std::make_shared<Node>();
    const char* begin = text_.data() + at_;
    const auto [end, error] = read_number(begin, text_.data() + text_.size(), node->number.value);
    if (error != std::errc()) fail("a number cannot be read");
    at_ += static_cast<std::size_t>(end - begin);
    const std::size_t before = at_;
    skip_space();
    std::size_t stop = at_;
    while (stop < text_.size() &&
           (is_letter(text_[stop]) || text_[stop] == '/' || text_[stop] == '%'))
      ++stop;
    const std::string_view unit = text_.substr(at_, stop - at_);
    const auto factor = unit_factor(unit);
    if (unit.empty() || unit.front() == '/' || unit == "and" || unit == "or") {
      at_ = before;
      return node;
    }
    if (!factor) fail("there is no unit " + std::string(unit));
    at_ = stop;
    node->number.value *= *factor;
    node->number.unit = base_unit(unit);
    return node;
  }

  std::string word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  NodePtr named() {
    const std::string name = word();
    if (take("(")) return call(name);
    const auto dot = name.find('.');
    if (dot == std::string::npos) fail(name + " is not a name; write A." + name + " or B." + name);
    auto node = std::make_shared<Node>();
    node->side = name.substr(0, dot);
    node->name = name.substr(dot + 1);
    if (node->side.size() != 1 || node->side[0] < 'A' || node->side[0] > 'Z')
      fail(name + " names no side; write A." + name + " or B." + name);
    if (program::find_knob_or_null(node->name)) {
      node->kind = Node::Kind::kKnob;
      return node;
    }
    check_metric(node->name);
    node->kind = Node::Kind::kMetric;
    if (take("@")) node->name += "@" + word();
    node->asked = analysis::asked_metric(node->name);
    return node;
  }

  void check_metric(const std::string& name) const {
    std::vector<std::string> known = analysis::metric_names();
    for (const std::string& one : known)
      if (one == name) return;
    for (const std::string& knob : program::knob_names()) known.push_back(knob);
    fail("there is no metric or knob " + name + did_you_mean(name, known));
  }

  NodePtr call(const std::string& name) {
    std::vector<NodePtr> arguments{any()};
    while (take(",")) arguments.push_back(any());
    if (!take(")")) fail("the parenthesis of " + name + " is not closed");
    const bool two = name == "ratio";
    const bool one = name == "abs";
    const bool many = name == "min" || name == "max";
    if (!one && !two && !many)
      fail("there is no function " + name + did_you_mean(name, {"min", "max", "abs", "ratio"}));
    if ((one && arguments.size() != 1) || (two && arguments.size() != 2))
      fail(name + " takes " + (one ? "one value" : "two values"));
    return apply(name, std::move(arguments));
  }

  struct Deeper {
    explicit Deeper(Parser& owner) : parser(owner) {
      if (++parser.depth_ > kDeepest) parser.fail("it is nested too deeply");
    }
    ~Deeper() { --parser.depth_; }
    Parser& parser;
  };

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int applied_ = 0;
};

}  // namespace

bool is_comparison(std::string_view name) {
  return name == "<" || name == "<=" || name == ">" || name == ">=" || name == "==" || name == "!=";
}

std::shared_ptr<const Expression::Node> parse_expression(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace trainscope::scenario
