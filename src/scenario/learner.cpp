#include "scenario/learner.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"

namespace trainscope::scenario {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLargest = std::size_t{1} << 20;  // of learner.json, in bytes
constexpr int kFormat = 1;

fs::path answers_file(const fs::path& folder, const std::string& lesson, bool unfinished) {
  return folder / "answers" / (lesson + (unfinished ? ".unfinished.json" : ".json"));
}

LessonRecord record_of(const Json& json) {
  LessonRecord record;
  record.finished = json.at("finished").get<bool>();
  record.points = json.at("points").get<int>();
  record.of = json.at("of").get<int>();
  record.missed = json.at("missed").get<bool>();
  return record;
}

}  // namespace

std::string write_records(const Records& records) {
  Json lessons = Json::object();
  for (const auto& [id, record] : records)
    lessons[id] = {{"finished", record.finished},
                   {"points", record.points},
                   {"of", record.of},
                   {"missed", record.missed}};
  const Json json = {{"format", kFormat}, {"lessons", std::move(lessons)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Records read_records(const std::string& text, const std::string& file) try {
  const Json json = Json::parse(text);
  if (json.at("format") != kFormat)
    throw InputError(file + ": was written by a newer program; progress is shown from now on");
  Records records;
  for (const auto& [id, record] : json.at("lessons").items()) records[id] = record_of(record);
  return records;
} catch (const Json::exception&) {
  throw InputError(file + ": is damaged, so earlier progress is not shown; answers/ still has it");
}

Learner::Learner(fs::path folder) : folder_(std::move(folder)) {
  read();
}

void Learner::read() {
  const fs::path file = folder_ / "learner.json";
  std::error_code ignored;
  if (folder_.empty() || !fs::exists(file, ignored)) return;
  try {
    records_ = read_records(read_file(file, kLargest), file.string());
  } catch (const InputError& error) {
    fault_ = error.what();
    // Kept for whoever can read it: the next lesson writes the file anew.
    fs::rename(file, folder_ / "learner.json.bad", ignored);
  }
}

void Learner::write() const {
  write_file(folder_ / "learner.json", write_records(records_));
}

void Learner::keep(const Answers& answers, const LessonRecord& record) {
  const auto before = records_.find(answers.lesson);
  const bool later = before != records_.end() && before->second.finished && !record.finished;
  if (!later) records_[answers.lesson] = record;
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder_ / "answers", ignored);
  write_file(answers_file(folder_, answers.lesson, later), write_answers(answers));
  if (later) return;
  fs::remove(answers_file(folder_, answers.lesson, true), ignored);
  write();
}

std::optional<Answers> Learner::under_way(const std::string& lesson) const {
  const auto record = records_.find(lesson);
  if (folder_.empty() || record == records_.end()) return std::nullopt;
  const fs::path file = answers_file(folder_, lesson, record->second.finished);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  try {
    return load_answers(file);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

fs::path Learner::file_of(const std::string& lesson) const {
  return folder_.empty() ? fs::path() : answers_file(folder_, lesson, false);
}

}  // namespace trainscope::scenario
