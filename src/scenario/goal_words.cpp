#include "scenario/goal_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <regex>

#include "base/error.h"
#include "base/ratio.h"
#include "base/speech.h"
#include "base/units.h"
#include "scenario/expression_parser.h"
#include "scenario/translation.h"

namespace trainscope::scenario {
namespace {

using Node = Expression::Node;
using Kind = Node::Kind;

bool is_leaf(const Node& node) {
  return node.kind == Kind::kMetric || node.kind == Kind::kKnob;
}

bool is_applied(const Node& node, std::string_view name, std::size_t arguments) {
  return node.kind == Kind::kApply && node.name == name && node.arguments.size() == arguments;
}

// The comparisons that `and` joins.
void collect(const Node& node, std::vector<const Node*>& parts) {
  if (!is_applied(node, "and", 2)) return parts.push_back(&node);
  for (const auto& argument : node.arguments) collect(*argument, parts);
}

bool is_of_knobs(const Node& node) {
  return node.kind != Kind::kMetric &&
         std::ranges::all_of(node.arguments, [](const auto& one) { return is_of_knobs(*one); });
}

// A product of what one side has, times a number: 1.25 * B.throughput.samples * B.model.seq_len.
struct Term {
  double factor = 1;
  std::vector<const Node*> leaves;

  std::string_view side() const { return leaves.front()->side; }
  bool is_like(const Term& other) const {
    return std::ranges::equal(leaves, other.leaves, {}, &Node::name, &Node::name);
  }
};

bool take_factors(const Node& node, Term& term) {
  if (is_leaf(node)) {
    term.leaves.push_back(&node);
    return term.leaves.front()->side == node.side;
  }
  if (node.kind == Kind::kNumber) {
    term.factor *= node.number.value;
    return node.number.unit == "1";
  }
  return is_applied(node, "*", 2) && take_factors(*node.arguments[0], term) &&
         take_factors(*node.arguments[1], term);
}

std::optional<Term> term_of(const Node& node) {
  Term term;
  if (!take_factors(node, term) || term.leaves.empty()) return std::nullopt;
  return term;
}

Quantity value_of(const Term& term, const Sides& sides) {
  Quantity product = evaluate(*term.leaves.front(), sides);
  for (std::size_t i = 1; i < term.leaves.size(); ++i)
    product.value *= evaluate(*term.leaves[i], sides).value;
  return product;
}

// "96 %" of "96.0 %".
std::string without_zeros(const std::string& shown) {
  static const std::regex zeros(R"([.,]0+(?!\d))");
  return std::regex_replace(shown, zeros, "");
}

// One comparison in words.
class Teller {
 public:
  Teller(const Lesson& lesson, const Sides& sides) : sides_(sides) {
    if (lesson.language != kEnglish) speech_.words = lesson.words;
  }

  // Throws as evaluate() does. Nothing: it is of another shape.
  std::optional<std::string> tell(const Node& part) const {
    if (is_leaf(part)) return of_switch(part, true);
    if (is_applied(part, "not", 1) && is_leaf(*part.arguments[0]))
      return of_switch(*part.arguments[0], false);
    if (part.kind != Kind::kApply || std::ranges::count(kComparisons, part.name) == 0)
      return std::nullopt;
    const Node &left = *part.arguments[0], &right = *part.arguments[1];
    if ((part.name == "==" || part.name == "!=") && are_alike(left, right))
      return of_both(part.name == "==", left, right);
    for (const auto tell : {&Teller::of_ratio, &Teller::of_difference, &Teller::of_value})
      if (auto words = (this->*tell)(part.name, left, right)) return words;
    return std::nullopt;
  }

 private:
  using Words = std::optional<std::string>;
  static constexpr std::array<std::string_view, 6> kComparisons{"<", "<=", ">", ">=", "==", "!="};

  // The same knob of two sides.
  static bool are_alike(const Node& left, const Node& right) {
    return left.kind == Kind::kKnob && right.kind == Kind::kKnob && left.name == right.name;
  }

  std::string name_of(const Node& leaf) const {
    if (leaf.kind == Kind::kKnob) return "`" + leaf.name + "`";
    const std::size_t rank = leaf.name.find('@');
    const std::string shown = leaf.asked.metric->label;
    std::string label = speech_.say(shown);
    // The window's own words are English whatever the lesson's language.
    if (label != shown) label = told(speech_, "{} (in the window *{}*)", label, shown);
    return rank == leaf.name.npos ? label : label + leaf.name.substr(rank);
  }
  std::string name_of(const Term& term) const {
    std::string name;
    for (const Node* leaf : term.leaves) name += (name.empty() ? "" : " x ") + name_of(*leaf);
    return name;
  }

  // As the card's text writes it: a knob that counts and a factor keep their digits.
  std::string shown(const Term& as, Quantity quantity) const {
    const Node& leaf = *as.leaves.front();
    const bool digits = quantity.unit == "1" && as.leaves.size() == 1 &&
                        (leaf.kind == Kind::kKnob || leaf.asked.metric->factor);
    return speech_.number(digits ? format_factor(quantity.value) : show(quantity));
  }

  // As the lesson writes it: 0.975 is no 0.97.
  static std::string digits(double value) {
    return std::abs(value) < 1 ? fmt::format("{:.6g}", value) : format_factor(value);
  }

  // "at least 96 %"; "just under 96 %" of a value that only looks as if it were there.
  std::string asked(std::string_view symbol, const std::string& value) const {
    const char* words = symbol == ">="   ? "at least {}"
                        : symbol == "<=" ? "at most {}"
                        : symbol == ">"  ? "more than {}"
                        : symbol == "<"  ? "less than {}"
                        : symbol == "!=" ? "not {}"
                                         : "{}";
    return told(speech_, words, value);
  }
  // `written`: the target with all of its digits.
  std::string reached(double value, double target, const std::string& shown,
                      const std::string& shown_target, const std::string& written) const {
    if (without_zeros(shown) != without_zeros(shown_target) || value == target) return shown;
    return told(speech_, value < target ? "just under {}" : "just over {}", written);
  }

  std::string line(const std::string& name, std::string_view side, const std::string& has,
                   const std::string& wanted) const {
    return told(speech_, "{} of {}: {}, asked for: {}", name, side, has, wanted);
  }

  Words of_switch(const Node& leaf, bool on) const {
    const Quantity value = evaluate(leaf, sides_);
    return line(name_of(leaf), leaf.side, show(value), show(Quantity{on ? 1.0 : 0.0, value.unit}));
  }

  Words of_both(bool alike, const Node& left, const Node& right) const {
    return told(speech_,
                alike ? "{}: {} in {}, {} in {}, asked for: the same on both sides"
                      : "{}: {} in {}, {} in {}, asked for: not the same on both sides",
                name_of(left), setting(left), left.side, setting(right), right.side);
  }
  // Of a knob, which may be a word.
  std::string setting(const Node& leaf) const {
    for (const analysis::Run* run : sides_)
      if (run && run->label == leaf.side)
        if (const auto* word = std::get_if<std::string>(&run->config.value(leaf.name)))
          return *word;
    return speech_.number(Expression::parse(leaf.side + "." + leaf.name).show(sides_));
  }

  // What the one is of the other: "1.24 times that of B", "43 % of peak allocated".
  Words of_ratio(const std::string& symbol, const Node& left, const Node& right) const {
    const bool divides = is_applied(left, "ratio", 2) || is_applied(left, "/", 2);
    auto over = term_of(divides ? *left.arguments[0] : left);
    auto under = term_of(divides ? *left.arguments[1] : right);
    if (!over || !under || over->factor != 1) return std::nullopt;
    double wanted = under->factor;
    if (divides) {
      if (right.kind != Kind::kNumber || under->factor != 1) return std::nullopt;
      wanted = right.number.value;
    } else if (wanted == 1) {
      return std::nullopt;  // two values say more
    }
    const Quantity a = value_of(*over, sides_), b = value_of(*under, sides_);
    const double ratio = a.value / b.value;
    if (a.unit != b.unit || !(b.value > 0) || !std::isfinite(ratio)) return std::nullopt;
    return line(name_of(*over), over->side(), times(*over, *under, ratio, wanted),
                asked(symbol, is_share(*over, *under, wanted) ? share(wanted) : factor(wanted)));
  }

  // A part of the same side.
  static bool is_share(const Term& over, const Term& under, double wanted) {
    return over.side() == under.side() && wanted <= 1;
  }
  std::string share(double value) const { return speech_.number(format_value(value, "%")); }
  std::string factor(double value) const { return speech_.number(digits(value)); }

  std::string times(const Term& over, const Term& under, double ratio, double wanted) const {
    const bool of_side = is_share(over, under, wanted);
    const std::string shown = of_side ? share(ratio) : speech_.number(format_ratio(ratio));
    const std::string target = of_side ? share(wanted) : speech_.number(format_ratio(wanted));
    const std::string words =
        reached(ratio, wanted, shown, target, of_side || wanted >= 1 ? target : factor(wanted));
    if (of_side) return told(speech_, "{} of {}", words, name_of(under));
    if (over.is_like(under)) return told(speech_, "{} times that of {}", words, under.side());
    return told(speech_, "{} times {} of {}", words, name_of(under), under.side());
  }

  // Of the same thing on two sides.
  Words of_difference(const std::string& symbol, const Node& left, const Node& right) const {
    if (!is_applied(left, "-", 2) || right.kind != Kind::kNumber) return std::nullopt;
    const auto a = term_of(*left.arguments[0]), b = term_of(*left.arguments[1]);
    if (!a || !b || a->factor != 1 || b->factor != 1 || !a->is_like(*b)) return std::nullopt;
    const Quantity value = evaluate(left, sides_);
    const std::string wanted = shown(*a, {right.number.value, value.unit});
    const std::string has =
        reached(value.value, right.number.value, shown(*a, value), wanted, wanted);
    return told(speech_, "{}, {} minus {}: {}, asked for: {}", name_of(*a), a->side(), b->side(),
                has, asked(symbol, wanted));
  }

  // What the other side has now, which turning it may change.
  std::string of_other_side(const Term& term, const Node& right, const std::string& value) const {
    const auto other = term_of(right);
    const bool alike = other && other->factor == 1 && other->is_like(term);
    return alike && other->side() != term.side()
               ? told(speech_, "{} (that of {})", value, other->side())
               : value;
  }

  Words of_value(const std::string& symbol, const Node& left, const Node& right) const {
    const auto term = term_of(left);
    if (!term || term->factor != 1) return std::nullopt;
    const Quantity value = value_of(*term, sides_);
    const double target = evaluate(right, sides_).value;
    const std::string wanted = shown(*term, {target, value.unit});
    return line(name_of(*term), term->side(),
                reached(value.value, target, shown(*term, value), wanted, wanted),
                asked(symbol, of_other_side(*term, right, wanted)));
  }

  const Sides& sides_;
  Speech speech_;
};

bool holds(const Node& part, const Sides& sides) {
  try {
    return evaluate(part, sides).truth();
  } catch (const Error&) {
    return false;
  }
}

// What is asked for now: settings that are still to be made, or, once there are none, the rest.
std::vector<const Node*> parts_to_tell(const Node& wanted, const Sides& before, const Sides& now) {
  std::vector<const Node*> parts, tasks, settings;
  collect(wanted, parts);
  for (const Node* part : parts) {
    const bool open = !holds(*part, now);
    if (open && is_of_knobs(*part)) settings.push_back(part);
    if (open || (!before.empty() && !holds(*part, before))) tasks.push_back(part);
  }
  return settings.empty() ? tasks : settings;
}

}  // namespace

std::vector<std::string> goal_words(const Lesson& lesson, const Expression& wanted,
                                    const Sides& before, const Sides& now) {
  if (now.empty()) return {};
  const Teller teller(lesson, now);
  std::vector<std::string> lines;
  for (const Node* part : parts_to_tell(wanted.root(), before, now)) {
    try {
      if (auto words = teller.tell(*part))
        lines.push_back(std::move(*words));
      else if (!holds(*part, now))
        return {};
    } catch (const Error&) {
      return {};
    }
  }
  return lines;
}

}  // namespace trainscope::scenario
