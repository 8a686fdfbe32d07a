// A file of texts in another language as it stands: ID.LANG.toml beside a lesson,
// glossary.LANG.toml and claims.LANG.toml beside what they translate.
//
// A text has an id, which is where it stands: "title", "step.predict.options.2.why". A group of
// texts says of which English ones it was made: `original`, their fingerprint.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "scenario/check.h"

namespace trainscope::scenario {

struct Translated {
  std::string text;
  SourcePlace place;
};

struct Sidecar {
  std::map<std::string, Translated> texts;               // by id
  std::map<std::string, Translated> originals;           // by group; "": what stands at the top
  std::map<std::string, std::vector<std::string>> also;  // other forms of a term, by its group
  std::map<std::string, SourcePlace> places;             // of groups

  // Whether this group was made of English texts with this fingerprint.
  bool made_of(const std::string& group, const std::string& print) const;
};

// Throws InputError for a value that is no text, with its place.
Sidecar read_sidecar(const std::filesystem::path& file);

// Nothing where `what`, this group, was made of English texts with this fingerprint; otherwise what
// is to be written, told at the group's place.
std::optional<Finding> fault_of_original(const Sidecar& sidecar, const std::string& group,
                                         const std::string& what, const std::string& print,
                                         const SourcePlace& place);

// 32 bits of FNV-1a: enough to see that a text has changed. Line breaks do not count.
std::string fingerprint(const std::vector<const std::string*>& texts);

}  // namespace trainscope::scenario
