// What the page's script draws, as compact JSON: each row of bars as columns of whole numbers. The
// format is private to the page; page/data.js reads it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/speech.h"
#include "report/run_view.h"

namespace trainscope::report {

std::string page_data(const std::vector<RunView>& views, const Speech& speech = {});

// What a script says, in English: say("…").
std::set<std::string> script_words(std::string_view script);

}  // namespace trainscope::report
