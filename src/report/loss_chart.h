// The loss of training runs over their steps, as a drawing.
#pragma once

#include <string>
#include <vector>

#include "base/speech.h"
#include "report/run_view.h"

namespace trainscope::report {

// A section with the losses of all runs that computed one, how accurate their models were, and
// which updates were skipped; with `told` false the curves alone, to work on. Empty where no run
// computed a loss.
std::string loss_html(const std::vector<RunView>& views, const Speech& speech = {},
                      bool told = true);

}  // namespace trainscope::report
