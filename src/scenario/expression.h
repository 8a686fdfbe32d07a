// The small language of lessons: metrics and knobs of both sides, numbers with units, arithmetic,
// comparisons, min, max, abs, ratio, and, or, not.
//
//   ratio(A.time.h2d, B.time.h2d) > 2 and A.host.blocked > 1 ms
//
// A.memory.peak_allocated@1 is the metric of rank 1 alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/runs/run.h"

namespace trainscope::scenario {

// A value with its unit: "ns", "B", "B/s", …, "1". Truths are 1 and 0 with the unit "truth".
struct Quantity {
  double value = 0;
  std::string unit = "1";
  bool truth() const { return value != 0; }
};

// The sides an expression may name, by label ("A", "B").
using Sides = std::vector<const analysis::Run*>;

class Expression {
 public:
  // Throws InputError saying what is wrong and where in the text. Names are checked: a metric or
  // knob that does not exist is refused here, with "did you mean".
  static Expression parse(std::string_view text);

  // Throws InputError when a side is missing or a metric does not apply to it.
  Quantity evaluate(const Sides& sides) const;

  // Its value as a person reads it. A knob that counts keeps its digits, "4096", not "4.1 k", and
  // so does a factor.
  std::string show(const Sides& sides) const;

  const std::string& text() const { return text_; }

  // What stands on both sides of each of its comparisons: "1.9 s < 130 ms and 8 == 8". Its value
  // where it compares nothing; a side that cannot be told is "?".
  std::string evaluated(const Sides& sides) const;

  struct Node;
  const Node& root() const { return *root_; }

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

// As a person reads it: "5.3 ms", "1.39".
std::string show(const Quantity& quantity);

// `text` with every {expression} replaced by its value, and its `decimal`. Throws InputError.
std::string fill_in(std::string_view text, const Sides& sides, char decimal = '.');

// A number that is not known yet, or is to be written in.
inline constexpr std::string_view kBlank = "____";

// The same, but a placeholder that cannot be known stands as a blank and hides no other; a brace
// that is not closed stays.
std::string fill_in_known(std::string_view text, const Sides& sides, char decimal = '.');

// Where a brace stands that is not closed before the next one opens; npos: there is none.
std::size_t unclosed_brace(std::string_view text);

// The expressions inside {…}. Throws InputError for a brace that is not closed.
std::vector<std::string> placeholders(std::string_view text);

}  // namespace trainscope::scenario
