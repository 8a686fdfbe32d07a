// What several lessons say alike, in another language: the words that they explain and the claims
// that they put to the test, from glossary.LANG.toml and claims.LANG.toml beside the English files.
//
//   ["copy engine"]
//   original = "37065eb2"          # of the English word and text, as in ID.LANG.toml
//   name = "Kopiereinheit"
//   text = "…"
//   also = ["Kopiereinheiten"]     # other forms in which the cards say it
//
//   C1 = { original = "5f0c22a1", text = "…" }
//
// A text counts only where it was made of the English one that the lesson has: a word that a
// lesson's own glossary.toml explains in another way stays English until it is translated, too.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "scenario/check.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

// Translates a lesson's words and its claim, and returns how many of them stay English. Looks
// beside the lesson first, then among the shipped files. Throws InputError for a file that cannot
// be read.
std::size_t translate_shared(Lesson& lesson, std::string_view language);

// glossary.de.toml, claims.de.toml: told by their names.
bool is_shared_translation(const std::filesystem::path& file);

// What `trainscope check` demands of one: each word or claim of the English file is there, no
// others, and the English texts are those it was made from. Throws InputError for a file that
// cannot be read.
std::vector<Finding> check_shared_translation(const std::filesystem::path& file);

}  // namespace trainscope::scenario
