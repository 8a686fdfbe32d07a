#include "scenario/file_kind.h"

#include "base/files.h"
#include "base/toml.h"
#include "scenario/translation.h"
#include "scenario/words_file.h"

namespace trainscope::scenario {

std::string_view name_of(FileKind kind) {
  switch (kind) {
    case FileKind::kLesson:
      return "lesson";
    case FileKind::kTranslation:
      return "translation";
    case FileKind::kMachine:
      return "machine";
    case FileKind::kGpu:
      return "GPU";
    case FileKind::kClaims:
      return "claims";
    case FileKind::kGlossary:
      return "glossary";
    case FileKind::kWords:
      return "words";
    case FileKind::kPublished:
      return "published";
    case FileKind::kErrors:
      return "errors";
    case FileKind::kConfig:
      return "config";
    case FileKind::kRun:
      return "run";
    case FileKind::kTrace:
      return "trace";
    case FileKind::kOther:
      break;
  }
  return "";
}

FileKind kind_by_name(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  if (name.ends_with(".toml")) return FileKind::kConfig;
  if (name.ends_with(".tsrun")) return FileKind::kRun;
  const bool trace = name.ends_with(".json") || name.ends_with(".json.gz");
  return trace ? FileKind::kTrace : FileKind::kOther;
}

FileKind kind_of(const std::filesystem::path& file) {
  if (is_folder(file)) return FileKind::kTrace;
  const FileKind kind = kind_by_name(file);
  if (kind != FileKind::kConfig) return kind;
  if (file.filename() == "claims.toml") return FileKind::kClaims;
  if (file.filename() == "glossary.toml") return FileKind::kGlossary;
  if (file.filename() == "published.toml") return FileKind::kPublished;
  if (file.filename() == "published_errors.toml") return FileKind::kErrors;
  if (is_words_file(file)) return FileKind::kWords;
  std::error_code ignored;
  if (!language_of(file).empty() && std::filesystem::exists(original_of(file), ignored))
    return FileKind::kTranslation;
  const toml::table table = read_toml(file);
  if (!language_of(file).empty() && table.contains("original")) return FileKind::kTranslation;
  if (table.contains("format") || table.contains("step")) return FileKind::kLesson;
  if (table.contains("host") || table.contains("base") || table.contains("gpu"))
    return FileKind::kMachine;
  if (table.contains("sm_count") || table.contains("compute_capability")) return FileKind::kGpu;
  return FileKind::kConfig;
}

}  // namespace trainscope::scenario
