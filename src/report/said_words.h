// The English words that reports say for themselves: what a file of words has to translate.
#pragma once

#include <set>
#include <string>

namespace trainscope::report {

// Of the page and its script, metrics and knobs with their helps, what the colours mean and what
// time goes to. Words that sentences are made of are not among them.
std::set<std::string> said_words();

}  // namespace trainscope::report
