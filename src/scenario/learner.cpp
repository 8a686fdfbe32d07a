#include "scenario/learner.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/file_word.h"
#include "base/files.h"

namespace trainscope::scenario {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLargest = std::size_t{1} << 20;  // of learner.json, in bytes
constexpr int kFormat = 1;

constexpr std::string_view kUnfinished = ".unfinished.json";

fs::path answers_file(const fs::path& folder, std::string lesson, bool unfinished) {
  return folder / "answers" / lesson.append(unfinished ? kUnfinished : ".json");
}

LessonRecord record_of(const Json& json) {
  LessonRecord record;
  record.finished = json.at("finished").get<bool>();
  record.points = json.at("points").get<int>();
  record.of = json.at("of").get<int>();
  record.missed = json.at("missed").get<bool>();
  return record;
}

Json json_of(const Choice& choice) {
  Answers answers;
  answers.lesson = choice.lesson;
  answers.knobs = choice.knobs;
  answers.at(choice.step).answer.option = choice.option;
  return Json::parse(write_answers(answers));
}

// Kept for whoever can read it: what is written next is written anew.
fs::path put_aside(const fs::path& file) {
  fs::path bad = file;
  bad += ".bad";
  std::error_code ignored;
  fs::rename(file, bad, ignored);
  return bad;
}

// Nothing where it says no choice, or one with knobs that there are no more.
std::optional<Choice> choice_of(const Json& json, const std::string& file) try {
  const Answers answers = parse_answers(json.dump(), file);
  if (answers.steps.size() != 1 || answers.steps[0].answer.option < 0) return std::nullopt;
  return Choice{answers.lesson, answers.steps[0].step, answers.steps[0].answer.option,
                answers.knobs};
} catch (const InputError&) {
  return std::nullopt;
}

}  // namespace

bool is_unfinished(const fs::path& answers_file) {
  return answers_file.filename().string().ends_with(kUnfinished);
}

std::string write_learner(const LearnerFile& learner) {
  Json lessons = Json::object(), missed = Json::array();
  for (const auto& [id, record] : learner.records)
    lessons[id] = {{"finished", record.finished},
                   {"points", record.points},
                   {"of", record.of},
                   {"missed", record.missed}};
  for (const Choice& choice : learner.missed) missed.push_back(json_of(choice));
  Json json = {{"format", kFormat}, {"lessons", std::move(lessons)}};
  json["missed"] = std::move(missed);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

LearnerFile read_learner(const std::string& text, const std::string& file) try {
  const Json json = Json::parse(text);
  if (json.at("format") != kFormat)
    throw InputError(file + ": was written by a newer program; progress is shown from now on");
  LearnerFile learner;
  for (const auto& [id, record] : json.at("lessons").items())
    learner.records[id] = record_of(record);
  for (const Json& one : json.value("missed", Json::array())) {
    if (const auto choice = choice_of(one, file))
      learner.missed.push_back(*choice);
    else
      ++learner.left_out;
  }
  return learner;
} catch (const Json::exception&) {
  throw InputError(file + ": is damaged, so earlier progress is not shown; answers/ still has it");
}

fs::path folder_of_student(const fs::path& folder, const std::string& student) {
  const std::string plain = plain_name(student);
  if (plain.empty()) return folder;
  // Different names may become one word; their seeds tell them apart.
  return folder / "students" / fmt::format("{}-{}", file_word(plain), seed_of_student(student));
}

Learner::Learner(fs::path folder) : folder_(std::move(folder)) {
  read();
}

void Learner::read() {
  const fs::path file = folder_ / "learner.json";
  std::error_code ignored;
  if (folder_.empty() || !fs::exists(file, ignored)) return;
  try {
    kept_ = read_learner(read_file(file, kLargest), file.string());
  } catch (const InputError& error) {
    fault_ = error.what();
    put_aside(file);
    return;
  }
  if (kept_.left_out == 0 || std::exchange(left_out_, true)) return;
  // The rest is good, and stays.
  fs::path bad = file;
  bad += ".bad";
  fs::copy_file(file, bad, fs::copy_options::overwrite_existing, ignored);
  fault_ = fmt::format(
      "{}: {} of the questions to be asked again cannot be read and will not be asked; {} still "
      "has them",
      file.string(), kept_.left_out, bad.filename().string());
}

// Another window of the same learner may have written since: what it knows of other lessons stays.
void Learner::take_over_file() {
  LearnerFile mine = kept_;
  read();
  for (auto& [id, record] : mine.records)
    if (const auto there = kept_.records.find(id);
        there == kept_.records.end() || (record.finished && !there->second.finished))
      kept_.records[id] = record;
}

void Learner::write() const {
  write_file(folder_ / "learner.json", write_learner(kept_));
}

void Learner::keep(const Answers& answers, const LessonRecord& record,
                   const std::vector<JudgedChoice>& decided) {
  take_over_file();
  for (const JudgedChoice& one : decided) take(kept_.missed, one);
  const bool later = is_later(answers.lesson, record);
  const bool is_new = !kept_.records.contains(answers.lesson);
  if (!later || is_new) kept_.records[answers.lesson] = record;
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder_ / "answers", ignored);
  write_file(answers_file(folder_, answers.lesson, later), write_answers(answers));
  if (!later) fs::remove(answers_file(folder_, answers.lesson, true), ignored);
  if (!later || is_new || !decided.empty()) write();
}

// One that another attempt must not be written over by. What is on disk decides: the record may be
// lost, and the answers still there.
bool Learner::is_later(const std::string& lesson, const LessonRecord& record) const {
  if (record.finished) return false;
  const auto before = kept_.records.find(lesson);
  const bool is_known = before != kept_.records.end();
  if (is_known && before->second.finished) return true;
  std::error_code ignored;
  return !folder_.empty() &&
         (fs::exists(answers_file(folder_, lesson, true), ignored) ||
          (!is_known && fs::exists(answers_file(folder_, lesson, false), ignored)));
}

void Learner::keep(const JudgedChoice& asked_again) {
  take_over_file();
  take(kept_.missed, asked_again);
  if (!folder_.empty()) write();
}

std::optional<Answers> Learner::attempt(const std::string& lesson, bool unfinished) {
  const fs::path file = answers_file(folder_, lesson, unfinished);
  std::error_code ignored;
  if (folder_.empty() || !fs::exists(file, ignored)) return std::nullopt;
  try {
    return load_answers(file);
  } catch (const InputError& error) {
    fault_ =
        fmt::format("Your answers to {} cannot be read, so they are not shown; {} has them: {}",
                    lesson, put_aside(file).string(), error.what());
    return std::nullopt;
  }
}

std::optional<Answers> Learner::under_way(const std::string& lesson) {
  if (auto later = attempt(lesson, true)) return later;
  const auto record = kept_.records.find(lesson);
  if (record == kept_.records.end() || record->second.finished) return std::nullopt;
  return attempt(lesson, false);
}

std::optional<Answers> Learner::finished(const std::string& lesson) {
  const auto record = kept_.records.find(lesson);
  if (record == kept_.records.end() || !record->second.finished) return std::nullopt;
  return attempt(lesson, false);
}

fs::path Learner::file_of(const std::string& lesson) const {
  return folder_.empty() ? fs::path() : answers_file(folder_, lesson, false);
}

}  // namespace trainscope::scenario
