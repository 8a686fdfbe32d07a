#include "scenario/answers.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/runs/config_json.h"
#include "base/files.h"
#include "base/suggest.h"

namespace trainscope::scenario {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLargest = std::size_t{1} << 20;  // of a file, in bytes
constexpr int kFormat = 1;
constexpr int kMostOptions = 100;

// ---- Out ---------------------------------------------------------------------------------------

Json json_of(const TurnedKnobs& knobs) {
  return {{"A", analysis::config_json<Json>(knobs.a)}, {"B", analysis::config_json<Json>(knobs.b)}};
}

Json json_of(const StepAnswer& step) {
  Json json = {{"id", step.step}};
  if (step.answer.skipped) json["skipped"] = true;
  if (!step.answer.skipped && step.answer.option >= 0) json["option"] = step.answer.option + 1;
  if (!step.answer.skipped && step.answer.number) {
    json["number"] = *step.answer.number;
    json["unit"] = step.unit;
  }
  if (!step.answer.skipped && !step.answer.text.empty()) json["text"] = step.answer.text;
  if (step.span)
    json["span"] = {{"run", step.span->run},
                    {"lane", step.span->lane},
                    {"name", step.span->name},
                    {"start", step.span->start}};
  if (step.knobs) json["knobs"] = json_of(*step.knobs);
  if (step.reached) json["reached"] = true;
  if (step.hinted) json["hinted"] = true;
  return json;
}

// ---- In ----------------------------------------------------------------------------------------

[[noreturn]] void refuse(const std::string& file, const std::string& sentence) {
  throw InputError(file + ": " + sentence);
}

// Line and column of a byte, from 1.
SourcePlace place_in(std::string_view text, std::size_t byte, const std::string& file) {
  const std::string_view before = text.substr(0, byte);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n');
  const std::size_t column = start == std::string_view::npos ? byte + 1 : byte - start;
  return {file, static_cast<int>(line), static_cast<int>(column)};
}

Json parsed(std::string_view text, const std::string& file) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t byte = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    throw InputError(describe(place_in(text, byte, file)) +
                     "this is not JSON; hand in the file as the window wrote it");
  }
}

// Reads one object, and knows which keys were not asked for.
class Fields {
 public:
  Fields(const Json& json, const std::string& file, std::string where)
      : json_(json), file_(file), where_(std::move(where)) {
    if (!json.is_object()) refuse(file_, where_ + " is no object");
  }

  void allow(const std::vector<std::string>& known) const {
    for (const auto& [key, value] : json_.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        refuse(file_, where_ + " has an unknown key " + key + did_you_mean(key, known));
  }
  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }
  std::string text(const char* key, bool needed = false) const {
    const Json* json = find(key);
    if (!json && needed) refuse(file_, where_ + " has no " + key);
    if (!json) return "";
    if (!json->is_string()) refuse(file_, key + (" of " + where_) + " is no text");
    return json->get<std::string>();
  }
  bool flag(const char* key) const {
    const Json* json = find(key);
    if (!json) return false;
    if (!json->is_boolean()) refuse(file_, key + (" of " + where_) + " is neither true nor false");
    return json->get<bool>();
  }
  std::optional<std::int64_t> whole(const char* key, std::int64_t least, std::int64_t most) const {
    const Json* json = find(key);
    if (!json) return std::nullopt;
    // As JSON compares them, so that a number beyond 64 bits is no small one.
    if (!json->is_number_integer() || *json < least || *json > most)
      refuse(file_, key + (" of " + where_) + " is no whole number from " + std::to_string(least) +
                        " to " + std::to_string(most));
    return json->get<std::int64_t>();
  }

 private:
  const Json& json_;
  const std::string& file_;
  std::string where_;
};

program::Value value_of(const Json& json, const std::string& knob) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  throw InputError("the value of " + knob + " is neither number, word nor truth");
}

program::Config config_of(const Json& json, const std::string& file, const std::string& where) {
  program::Config config;
  if (!json.is_object()) refuse(file, where + " is no object");
  try {
    for (const auto& [name, value] : json.items()) config.set(name, value_of(value, name));
  } catch (const InputError& error) {
    refuse(file, where + ": " + error.what());
  }
  return config;
}

TurnedKnobs knobs_of(const Json& json, const std::string& file, const std::string& where) {
  const Fields fields(json, file, where);
  fields.allow({"A", "B"});
  TurnedKnobs knobs;
  if (const Json* a = fields.find("A")) knobs.a = config_of(*a, file, where + ".A");
  if (const Json* b = fields.find("B")) knobs.b = config_of(*b, file, where + ".B");
  return knobs;
}

ChosenSpan span_of(const Json& json, const std::string& file, const std::string& where) {
  const Fields fields(json, file, where);
  fields.allow({"run", "lane", "name", "start"});
  ChosenSpan span{fields.text("run", true), fields.text("lane", true), fields.text("name", true),
                  0};
  const auto start = fields.whole("start", 0, std::numeric_limits<Nanos>::max());
  if (!start) refuse(file, where + " has no start");
  span.start = *start;
  return span;
}

StepAnswer step_of(const Json& json, const std::string& file, std::size_t number) {
  std::string where = "step " + std::to_string(number + 1);
  if (json.is_object() && json.contains("id") && json["id"].is_string())
    where = "step " + json["id"].get<std::string>();
  const Fields fields(json, file, where);
  fields.allow(
      {"id", "skipped", "option", "number", "unit", "text", "span", "knobs", "reached", "hinted"});
  StepAnswer step;
  step.step = fields.text("id", true);
  step.answer.skipped = fields.flag("skipped");
  if (const auto option = fields.whole("option", 1, kMostOptions))
    step.answer.option = static_cast<int>(*option) - 1;
  if (const Json* number_json = fields.find("number")) {
    if (!number_json->is_number()) refuse(file, "number of " + where + " is no number");
    step.answer.number = number_json->get<double>();
  }
  step.unit = fields.text("unit");
  step.answer.text = fields.text("text");
  if (const Json* span = fields.find("span")) step.span = span_of(*span, file, "span of " + where);
  if (const Json* knobs = fields.find("knobs"))
    step.knobs = knobs_of(*knobs, file, "knobs of " + where);
  step.reached = fields.flag("reached");
  step.hinted = fields.flag("hinted");
  step.answer.committed = step.answer.skipped || step.answer.option >= 0 || step.answer.number ||
                          !step.answer.text.empty() || step.span.has_value();
  return step;
}

void read_steps(const Json& json, const std::string& file, Answers& answers) {
  if (!json.is_array()) refuse(file, "steps is no list");
  for (std::size_t i = 0; i < json.size(); ++i) {
    StepAnswer step = step_of(json[i], file, i);
    if (answers.find(step.step)) refuse(file, "step " + step.step + " stands in it twice");
    answers.steps.push_back(std::move(step));
  }
}

}  // namespace

const StepAnswer* Answers::find(std::string_view step) const {
  for (const StepAnswer& one : steps)
    if (one.step == step) return &one;
  return nullptr;
}

StepAnswer& Answers::at(std::string_view step) {
  for (StepAnswer& one : steps)
    if (one.step == step) return one;
  steps.push_back({});
  steps.back().step = step;
  return steps.back();
}

std::string write_answers(const Answers& answers) {
  Json json = {{"format", kFormat}, {"lesson", answers.lesson}};
  if (!answers.student.empty()) json["student"] = answers.student;
  json["knobs"] = json_of(answers.knobs);
  json["steps"] = Json::array();
  for (const StepAnswer& step : answers.steps) json["steps"].push_back(json_of(step));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Answers parse_answers(std::string_view text, const std::string& file) {
  const Json json = parsed(text, file);
  const Fields fields(json, file, "the file");
  fields.allow({"format", "lesson", "student", "knobs", "steps"});
  const auto format = fields.whole("format", 1, std::numeric_limits<int>::max());
  if (!format) refuse(file, "it has no format, so it is no answers file");
  if (*format != kFormat)
    refuse(file, "its format is " + std::to_string(*format) + ", and this program reads " +
                     std::to_string(kFormat) + "; take a newer one");
  Answers answers;
  answers.file = file;
  answers.lesson = fields.text("lesson", true);
  answers.student = fields.text("student");
  if (const Json* knobs = fields.find("knobs")) answers.knobs = knobs_of(*knobs, file, "knobs");
  const Json* steps = fields.find("steps");
  if (!steps) refuse(file, "it has no steps");
  read_steps(*steps, file, answers);
  return answers;
}

Answers load_answers(const std::filesystem::path& file) {
  Answers answers = parse_answers(read_file(file, kLargest), file.string());
  std::error_code ignored;
  answers.written = std::filesystem::last_write_time(file, ignored);
  return answers;
}

std::string plain_name(std::string_view name) {
  const std::size_t first = name.find_first_not_of(" \t"), last = name.find_last_not_of(" \t");
  if (first == std::string_view::npos) return "";
  std::string plain(name.substr(first, last - first + 1));
  for (char& letter : plain)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return plain;
}

std::int64_t seed_of_student(std::string_view name, const std::vector<std::int64_t>& among) {
  constexpr std::int64_t kSeeds = 100'000;
  // FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv: 64 bits, the same on every machine.
  std::uint64_t hash = 0xcbf29ce484222325;
  const std::string plain = plain_name(name);
  if (plain.empty()) return among.empty() ? 0 : among.front();
  for (const char letter : plain) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3;
  }
  return among.empty() ? static_cast<std::int64_t>(hash % kSeeds) : among[hash % among.size()];
}

}  // namespace trainscope::scenario
