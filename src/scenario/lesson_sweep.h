// A lesson's sweep: what a curve over one knob's values says beyond its two sides. [sweep] of the
// lesson's file, shown by a step that points at the panel "sweep":
//
//   [sweep]
//   knob = "batch_size"           what is varied
//   values = [8, 64, 512]         or from, to and times (each value so many times the one before)
//                                 or plus; without either of these two it doubles
//   metric = "throughput.samples" what is drawn
//
//   [[sweep.expect]]              what the curve must say, as [[expect]] of the lesson
//   a = 8                         the knob's value in the expression's A and B; a side that is not
//   b = 512                       given stands as the lesson sets it
//   expression = "ratio(B.throughput.samples, A.throughput.samples)"
//   sim = { min = 4 }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/toml.h"
#include "scenario/expression.h"
#include "scenario/sweep.h"

namespace trainscope::scenario {

struct SweepExpectation {
  Expression expression;
  std::optional<program::Value> a, b;  // the knob's
  std::optional<double> sim_min, sim_max, real_min, real_max;
  SourcePlace place;
};

struct LessonSweep {
  SweepAxis axis;
  const analysis::Metric* metric = nullptr;
  std::vector<SweepExpectation> expectations;
  SourcePlace place;
};

// At most so many values: one sees no more on a curve, and someone waits for them.
inline constexpr std::size_t kMostLessonValues = 24;

// Throws InputError naming file, line, column, what is wrong and what to write.
LessonSweep read_sweep(const toml::table& table, const std::string& file);

}  // namespace trainscope::scenario
