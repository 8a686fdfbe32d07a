// What a lesson's file names and other files say: the words that it explains and the claim that it
// puts to the test. A glossary.toml and a claims.toml beside the lesson are looked in first, before
// the shipped ones in assets.
#pragma once

#include <string>
#include <vector>

#include "scenario/glossary.h"
#include "scenario/toml_fields.h"

namespace trainscope::scenario {

// Throws InputError, with "did you mean", at `terms` of the lesson for one that neither explains,
// and for a file that cannot be read.
std::vector<Term> terms_of(const Fields& lesson, const std::vector<std::string>& names);

// The sentence of a claim; empty for none. Throws likewise, at `claim`.
std::string heard_of(const Fields& lesson, const std::string& claim);

}  // namespace trainscope::scenario
