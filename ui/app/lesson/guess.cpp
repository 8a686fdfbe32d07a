#include "ui/app/lesson/guess.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "scenario/expression_parser.h"

namespace trainscope::ui {
namespace {

using scenario::Answer;
using scenario::Question;
using scenario::QuestionKind;
using scenario::Sides;
using Node = scenario::Expression::Node;

// Times that begin where the measured window or the run does, and so end at a place.
constexpr std::array<std::pair<std::string_view, GuessedEnd>, 4> kTimes{
    {{"time.step", GuessedEnd::kSteps},
     {"time.total", GuessedEnd::kRun},
     {"time.h2d", GuessedEnd::kCopies},
     {"time.d2h", GuessedEnd::kCopies}}};

bool is_time(const Node& node, std::string_view side, std::string_view time) {
  return node.kind == Node::Kind::kMetric && node.side == side && node.name == time &&
         !node.asked.rank;
}

bool names(const Node& node, std::string_view side, std::string_view time) {
  return is_time(node, side, time) || std::ranges::any_of(node.arguments, [&](const auto& one) {
           return names(*one, side, time);
         });
}

bool is_call(const Node& node, std::string_view name, std::size_t arguments) {
  return node.kind == Node::Kind::kApply && node.name == name && node.arguments.size() == arguments;
}

bool is_quotient(const Node& node) {
  return is_call(node, "ratio", 2) || is_call(node, "/", 2);
}

// ---- What is said of B's time ------------------------------------------------------------------

// A quantity as it depends on B's time: at_zero + slope * time.
struct Line {
  double at_zero = 0;
  double slope = 0;
};

Line plus(const Line& a, double factor, const Line& b) {
  return {a.at_zero + factor * b.at_zero, a.slope + factor * b.slope};
}

std::optional<Line> times(const Line& a, const Line& b) {
  if (a.slope != 0 && b.slope != 0) return std::nullopt;
  return Line{a.at_zero * b.at_zero, a.slope * b.at_zero + b.slope * a.at_zero};
}

std::optional<Line> over(const Line& a, const Line& b) {
  if (b.slope != 0 || b.at_zero == 0) return std::nullopt;
  return Line{a.at_zero / b.at_zero, a.slope / b.at_zero};
}

// Which time of B is unknown, and the runs that all else is read from.
struct Unknown {
  std::string_view time;
  const Sides& sides;
};

std::optional<Line> line_of(const Node& node, const Unknown& unknown);

std::optional<Line> metric_line(const Node& node, const Unknown& unknown) {
  if (is_time(node, "B", unknown.time)) return Line{0, 1};
  for (const analysis::Run* run : unknown.sides) {
    if (!run || run->label != node.side) continue;
    const auto value = analysis::value_of(*run, node.asked);
    return value ? std::optional(Line{*value, 0}) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Line> applied_line(const Node& node, const Unknown& unknown) {
  const auto a = line_of(*node.arguments[0], unknown);
  if (!a) return std::nullopt;
  if (is_call(node, "neg", 1)) return plus({}, -1, *a);
  if (node.arguments.size() != 2) return std::nullopt;
  const auto b = line_of(*node.arguments[1], unknown);
  if (!b) return std::nullopt;
  if (node.name == "+") return plus(*a, 1, *b);
  if (node.name == "-") return plus(*a, -1, *b);
  if (node.name == "*") return times(*a, *b);
  return is_quotient(node) ? over(*a, *b) : std::nullopt;
}

// Nothing where it is no line, or the runs do not tell.
std::optional<Line> line_of(const Node& node, const Unknown& unknown) {
  switch (node.kind) {
    case Node::Kind::kNumber:
      return Line{node.number.value, 0};
    case Node::Kind::kMetric:
      return metric_line(node, unknown);
    case Node::Kind::kApply:
      return applied_line(node, unknown);
    case Node::Kind::kKnob:
      break;
  }
  return std::nullopt;
}

// ---- The times that a condition leaves ---------------------------------------------------------

struct Bounds {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool any = false;

  // Where the line is zero or more.
  void keep(const Line& line) {
    if (line.slope == 0) return;
    any = true;
    const double root = -line.at_zero / line.slope;
    if (line.slope > 0)
      least = std::max(least, root);
    else
      most = std::min(most, root);
  }
};

// Two sides of a comparison whose difference is a line, although one is a quotient by the unknown:
// p / q < n is p < n * q, for a time is no less than 0.
std::optional<Line> difference(const Node& left, const Node& right, const Unknown& unknown) {
  const auto a = line_of(left, unknown), b = line_of(right, unknown);
  if (a && b) return plus(*a, -1, *b);
  if (!a && b && is_quotient(left)) {
    const auto above = line_of(*left.arguments[0], unknown);
    const auto below = line_of(*left.arguments[1], unknown);
    const auto product = below ? times(*b, *below) : std::nullopt;
    if (above && product) return plus(*above, -1, *product);
  }
  return std::nullopt;
}

bool asks_for_less(const Node& node) {
  return node.name == "<" || node.name == "<=";
}
bool asks_for_more(const Node& node) {
  return node.name == ">" || node.name == ">=";
}

// abs(A.x - B.x) <= c: both ways.
void keep_near(Bounds& bounds, const Node& node, const Unknown& unknown) {
  const auto apart = line_of(*node.arguments[0]->arguments[0], unknown);
  const auto most = line_of(*node.arguments[1], unknown);
  if (!apart || !most) return;
  bounds.keep(plus(*most, -1, *apart));
  bounds.keep(plus(*most, 1, *apart));
}

void keep_compared(Bounds& bounds, const Node& node, const Unknown& unknown) {
  if (!names(node, "A", unknown.time) || !names(node, "B", unknown.time)) return;
  const Node &left = *node.arguments[0], &right = *node.arguments[1];
  if (is_call(left, "abs", 1) && asks_for_less(node)) return keep_near(bounds, node, unknown);
  auto more = difference(left, right, unknown);
  if (!more)
    if (const auto less = difference(right, left, unknown)) more = plus({}, -1, *less);
  if (!more) return;
  if (asks_for_more(node) || node.name == "==") bounds.keep(*more);
  if (asks_for_less(node) || node.name == "==") bounds.keep(plus({}, -1, *more));
}

// Of all that must hold, what compares B's time with A's; the rest is of other things.
void keep_all(Bounds& bounds, const Node& node, const Unknown& unknown) {
  if (is_call(node, "and", 2)) {
    for (const auto& one : node.arguments) keep_all(bounds, *one, unknown);
    return;
  }
  const bool compares = asks_for_less(node) || asks_for_more(node) || node.name == "==";
  if (compares && node.arguments.size() == 2) keep_compared(bounds, node, unknown);
}

// Without an end the stretch goes a fifth beyond what is known: room enough to draw.
std::optional<GuessRange> range_of(const Bounds& bounds, double a, GuessedEnd of) {
  if (!bounds.any || bounds.most <= 0 || bounds.least > bounds.most) return std::nullopt;
  const double beyond = 1.2 * std::max(a, bounds.least);
  return GuessRange{bounds.least, std::isfinite(bounds.most) ? bounds.most : beyond, of};
}

std::optional<double> time_of_a(const Sides& sides, std::string_view time) {
  for (const analysis::Run* run : sides)
    if (run && run->label == "A") return analysis::value_of(run->metrics, time);
  return std::nullopt;
}

std::optional<GuessRange> range_of_choice(const std::string& condition, const Sides& sides) {
  const auto root = scenario::parse_expression(condition);
  for (const auto& [time, of] : kTimes) {
    const auto a = time_of_a(sides, time);
    if (!a) continue;
    Bounds bounds;
    keep_all(bounds, *root, {time, sides});
    if (bounds.any) return range_of(bounds, *a, of);
  }
  return std::nullopt;
}

// ---- A number that was guessed -----------------------------------------------------------------

// B.x, as long as that; or a ratio of A.x and B.x, either way, which says where B ends.
std::optional<GuessRange> range_of_number(const std::string& asked, double number,
                                          const Sides& sides) {
  const auto root = scenario::parse_expression(asked);
  for (const auto& [time, of] : kTimes) {
    if (is_time(*root, "B", time)) return GuessRange{0, number, of};
    const auto a = time_of_a(sides, time);
    if (!a || !is_quotient(*root) || number <= 0) continue;
    const Node &above = *root->arguments[0], &below = *root->arguments[1];
    if (is_time(above, "A", time) && is_time(below, "B", time))
      return GuessRange{*a / number, *a / number, of};
    if (is_time(above, "B", time) && is_time(below, "A", time))
      return GuessRange{*a * number, *a * number, of};
  }
  return std::nullopt;
}

std::optional<GuessRange> range_of_answer(const Question& question, const Answer& answer,
                                          const Sides& sides) {
  if (question.kind == QuestionKind::kNumber) {
    if (!answer.number || !question.answer) return std::nullopt;
    return range_of_number(question.answer->text(), *answer.number, sides);
  }
  if (question.kind != QuestionKind::kChoice || answer.option < 0) return std::nullopt;
  const auto& option = question.options[static_cast<std::size_t>(answer.option)];
  if (!option.correct_when) return std::nullopt;
  return range_of_choice(option.correct_when->text(), sides);
}

}  // namespace

std::optional<GuessRange> guess_in_b(const Question& question, const Answer& answer,
                                     const Sides& sides) {
  if (!answer.committed || answer.skipped || sides.size() != 2) return std::nullopt;
  try {
    return range_of_answer(question, answer, sides);
  } catch (const Error&) {  // a rank that the runs do not have
    return std::nullopt;
  }
}

}  // namespace trainscope::ui
