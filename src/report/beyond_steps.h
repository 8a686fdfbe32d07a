// How two runs differ whose steps do not: by what lies between the steps, or before them.
#pragma once

#include <optional>
#include <string>

#include "analysis/runs/run.h"
#include "base/speech.h"

namespace trainscope::report {

struct BeyondSteps {
  double nanos = 0;       // of B's run beyond A's
  double validating = 0;  // of these, in validations between steps
  double before = 0;      // of these, before the measured steps
};

// Nothing where steps differ, too, where the runs have other numbers of them, or where the whole
// runs hardly differ.
std::optional<BeyondSteps> beyond_steps(const analysis::Run& a, const analysis::Run& b);

// "Equal steps; A's run takes 630 ms longer".
std::string headline(const BeyondSteps& beyond, const analysis::Run& a, const analysis::Run& b,
                     const Speech& speech);

// "Steps take equally long; the runs differ by 630 ms of validations between steps."
std::string sentence(const BeyondSteps& beyond, const Speech& speech);

// What stands in the place of an explanation of the steps' difference where there is none.
std::string nothing_to_explain(const analysis::Run& a, const analysis::Run& b,
                               const Speech& speech = {});

// The heading over it, of times that are alike.
std::string alike_heading(const analysis::Run& a, const analysis::Run& b,
                          const Speech& speech = {});

}  // namespace trainscope::report
