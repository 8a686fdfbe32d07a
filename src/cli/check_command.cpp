// `trainscope check`: lessons, machines, GPUs and configs.

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/toml.h"
#include "cli/commands.h"
#include "machine/machine.h"
#include "report/json.h"
#include "scenario/check.h"
#include "scenario/published.h"

namespace trainscope::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    if (!fs::exists(path)) throw InputError(path + ": there is no such file or folder");
    if (!fs::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    std::vector<fs::path> inside;
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.path().extension() == ".toml") inside.push_back(entry.path());
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
    if (inside.empty()) throw InputError(path + ": this folder holds no .toml file to check");
  }
  return files;
}

// What a file is, told by its keys.
enum class FileKind { kLesson, kMachine, kGpu, kClaims, kPublished, kConfig };

FileKind kind_of(const fs::path& file) {
  if (file.filename() == "claims.toml") return FileKind::kClaims;
  if (file.filename() == "published.toml") return FileKind::kPublished;
  const toml::table table = read_toml(file);
  if (table.contains("format") || table.contains("step")) return FileKind::kLesson;
  if (table.contains("host") || table.contains("base") || table.contains("gpu"))
    return FileKind::kMachine;
  if (table.contains("sm_count") || table.contains("compute_capability")) return FileKind::kGpu;
  return FileKind::kConfig;
}

std::vector<std::string> findings_of(const fs::path& file) {
  std::vector<std::string> sentences;
  try {
    switch (kind_of(file)) {
      case FileKind::kLesson:
        for (const scenario::Finding& one : scenario::check_lesson(scenario::load_lesson(file)))
          sentences.push_back(describe(one.place) + one.sentence);
        break;
      case FileKind::kMachine:
        machine::check_machine_file(file);
        break;
      case FileKind::kGpu:
        machine::check_gpu_file(file);
        break;
      case FileKind::kClaims:
        scenario::check_claims_file(file);
        break;
      case FileKind::kPublished:
        scenario::load_published(file);
        break;
      case FileKind::kConfig:
        scenario::load_config(file);
        break;
    }
  } catch (const InputError& error) {
    sentences.emplace_back(error.what());
  }
  return sentences;
}

}  // namespace

int check_command(const std::vector<std::string>& paths, bool json) {
  const std::vector<fs::path> files = files_of(paths);
  std::vector<std::string> all;
  for (const fs::path& file : files) {
    const std::vector<std::string> sentences = findings_of(file);
    all.insert(all.end(), sentences.begin(), sentences.end());
    if (!json && sentences.empty()) std::cout << file.string() << ": ok\n";
    if (!json)
      for (const std::string& sentence : sentences) std::cout << sentence << "\n";
  }
  if (json) {
    std::cout << report::check_json(files.size(), all) << "\n";
  } else {
    std::cout << files.size() << " checked, " << all.size() << " findings\n";
  }
  return all.empty() ? 0 : 1;
}

}  // namespace trainscope::cli
