// A lesson's texts in another language, from the file beside it: scenarios/ID.LANG.toml.
//
//   title = "Gepinnter und auslagerbarer Speicher"
//   original = "5f0c22a1"  # of the English texts it was made from; `trainscope check` says it
//   [step.predict]
//   text = "…"
//   options = [{ text = "…", why = "…" }, …]
//   [terms."copy engine"]
//   name = "Kopiereinheit"
//
// A text has an id, which is where it stands: "title", "step.predict.options.2.why". What has no
// translation stays English, and is counted. Placeholders are those of the original.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/speech.h"
#include "scenario/check.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

inline constexpr std::string_view kEnglish = "en";

// "de" of ID.de.toml; empty: the name is none of a translation.
std::string language_of(const std::filesystem::path& file);

// ID.toml of ID.de.toml.
std::filesystem::path original_of(const std::filesystem::path& file);

// ID.de.toml of ID.toml, whether it is there or not.
std::filesystem::path sidecar_of(const std::filesystem::path& lesson, std::string_view language);

// The languages that any shipped lesson is there in, English first.
std::vector<std::string> languages();
// Throws InputError for a language that no lesson is there in. Empty is English.
void check_language(std::string_view language);
// What a page says for its own words. English where the language is empty, or none of those.
Speech speech_in(std::string_view language);
// "Deutsch"; the tag itself for one that is not known by name.
std::string name_of_language(std::string_view language);

// Takes over what the file beside the lesson has; a fault of that file leaves the lesson English
// and is told in `Lesson::translation_fault`. Nothing for English.
void translate(Lesson& lesson, std::string_view language);

// What `trainscope check` demands of a translation: each text of the lesson is there, none that the
// lesson lacks, placeholders agree, and the English texts are those it was made from.
std::vector<Finding> check_translation(const std::filesystem::path& file);

}  // namespace trainscope::scenario
