#include "analysis/runs/run_head.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/runs/config_json.h"
#include "analysis/runs/head_numbers.h"
#include "analysis/runs/program_head.h"
#include "base/error.h"
#include "machine/machine_json.h"
#include "trace/trace_bytes.h"

namespace trainscope::analysis {
namespace {

using head::whole;
using head::word;
using Json = nlohmann::json;

// ---- Config ------------------------------------------------------------------------------------

program::Value value_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return whole(json, std::numeric_limits<std::int64_t>::min());
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

program::Config config_of(const Json& json) {
  program::Config config;
  for (const auto& [name, value] : json.items()) config.set(name, value_of(value));
  return config;
}

// ---- How it ended ------------------------------------------------------------------------------

Json json_of(const sim::OutOfMemory::Holder& holder) {
  return {{"name", holder.name}, {"role", static_cast<int>(holder.role)}, {"bytes", holder.bytes}};
}

Json json_of(const sim::OutOfMemory& why) {
  Json holders = Json::array();
  for (const auto& holder : why.holders) holders.push_back(json_of(holder));
  return {{"gpu", why.gpu},
          {"buffer", why.buffer},
          {"role", static_cast<int>(why.role)},
          {"time", why.time},
          {"line", why.line},
          {"requested", why.requested},
          {"segment", why.segment},
          {"allocated", why.allocated},
          {"reserved", why.reserved},
          {"capacity", why.capacity},
          {"context", why.context},
          {"holders", std::move(holders)}};
}

sim::OutOfMemory out_of_memory_of(const Json& json) {
  sim::OutOfMemory why;
  why.gpu = json.at("gpu");
  why.buffer = json.at("buffer");
  why.role = word(json.at("role"), program::Role::kWorkspace);
  why.time = whole(json.at("time"));
  why.line = static_cast<std::uint16_t>(whole(json.at("line"), 0, UINT16_MAX));
  why.requested = whole(json.at("requested"));
  why.segment = whole(json.at("segment"));
  why.allocated = whole(json.at("allocated"));
  why.reserved = whole(json.at("reserved"));
  why.capacity = whole(json.at("capacity"));
  if (json.contains("context")) why.context = whole(json.at("context"));
  for (const Json& one : json.at("holders"))
    why.holders.push_back(
        {one.at("name"), word(one.at("role"), program::Role::kWorkspace), whole(one.at("bytes"))});
  return why;
}

Json json_of(const sim::Diverged& why) {
  const int sign = std::isnan(why.loss) ? 0 : why.loss > 0 ? 1 : -1;  // JSON has no infinities
  return {{"time", why.time},
          {"line", why.line},
          {"step", why.step},
          {"loss", sign},
          {"half", why.half},
          {"scaled", why.scaled},
          {"half_weights", why.half_weights}};
}

sim::Diverged diverged_of(const Json& json) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  sim::Diverged why;
  why.time = whole(json.at("time"));
  why.line = static_cast<std::uint16_t>(whole(json.at("line"), 0, UINT16_MAX));
  why.step = whole(json.at("step"));
  const std::int64_t sign = whole(json.at("loss"), -1, 1);
  why.loss = sign == 0 ? trace::kNoNumber : static_cast<double>(sign) * kInfinity;
  why.half = json.at("half").get<bool>();
  why.half_weights = json.value("half_weights", false);
  why.scaled = json.at("scaled").get<bool>();
  return why;
}

Json json_of(const sim::Deadlock& why) {
  return {{"time", why.time},
          {"line", why.line},
          {"call", why.call},
          {"collective", why.collective},
          {"group", why.group},
          {"sequence", why.sequence},
          {"waiting", why.waiting},
          {"missing", why.missing},
          {"missing_line", why.missing_line},
          {"missing_call", why.missing_call}};
}

sim::Deadlock deadlock_of(const Json& json) {
  sim::Deadlock why;
  why.time = whole(json.at("time"));
  why.line = static_cast<std::uint16_t>(whole(json.at("line"), 0, UINT16_MAX));
  why.call = json.at("call");
  why.collective = json.at("collective");
  why.group = json.at("group");
  why.sequence = whole(json.at("sequence"));
  for (const Json& rank : json.at("waiting"))
    why.waiting.push_back(static_cast<int>(whole(rank, 0, INT32_MAX)));
  for (const Json& rank : json.at("missing"))
    why.missing.push_back(static_cast<int>(whole(rank, 0, INT32_MAX)));
  why.missing_line = static_cast<std::uint16_t>(whole(json.at("missing_line"), 0, UINT16_MAX));
  why.missing_call = json.at("missing_call");
  return why;
}

Json json_of(const sim::DeviceFailed& why) {
  Json json = {{"time", why.time}, {"line", why.line}, {"what", why.what}};
  if (why.out_of_memory) json["out_of_memory"] = true;
  return json;
}

sim::DeviceFailed device_failed_of(const Json& json) {
  sim::DeviceFailed why;
  why.time = whole(json.at("time"));
  why.line = static_cast<std::uint16_t>(whole(json.at("line"), 0, UINT16_MAX));
  why.what = json.at("what");
  why.out_of_memory = json.value("out_of_memory", false);
  return why;
}

Json json_of(const sim::EndedEarly& why) {
  return {{"what", why.what}};
}

// By the name of what ended it.
void put_ending(Json& json, const sim::Ending& why) {
  json[std::string(sim::name_of(why))] =
      std::visit([](const auto& one) { return json_of(one); }, why);
}

std::optional<sim::Ending> ending_of(const Json& json) {
  if (json.contains("out_of_memory")) return out_of_memory_of(json["out_of_memory"]);
  if (json.contains("diverged")) return diverged_of(json["diverged"]);
  if (json.contains("deadlock")) return deadlock_of(json["deadlock"]);
  if (json.contains("device_failed")) return device_failed_of(json["device_failed"]);
  if (json.contains("ended_early")) return sim::EndedEarly{json["ended_early"].at("what")};
  return std::nullopt;
}

// ---- Runs --------------------------------------------------------------------------------------

Json json_of(const RunNote& note) {
  return {{"lane", note.lane}, {"start", note.start}, {"end", note.end}, {"text", note.text}};
}

RunNote note_of(const Json& json) try {
  RunNote note;
  note.lane = static_cast<trace::LaneId>(whole(json.at("lane"), 0, trace::kNone));
  note.start = whole(json.at("start"), trace::kEarliest);
  note.end = whole(json.at("end"), trace::kEarliest);
  note.text = json.at("text");
  check_note(note);
  return note;
} catch (const Json::exception&) {
  throw InputError("one of its notes is damaged");
}

std::vector<RunNote> notes_of(const Json& json) {
  std::vector<RunNote> notes;
  if (!json.contains("notes")) return notes;
  if (!json["notes"].is_array()) throw InputError("its notes are damaged");
  for (const Json& one : json["notes"]) notes.push_back(note_of(one));
  sort_notes(notes);
  return notes;
}

Json json_of(const Run& run) {
  Json json = {{"label", run.label}, {"config", config_json<Json>(run.config)}};
  if (run.machine) json["machine"] = machine::to_json(*run.machine);
  if (run.program) json["program"] = head_of(*run.program);
  const int warmup = run.program ? 0 : run.trace->origin().warmup_steps;
  if (warmup > 0) json["warmup_steps"] = warmup;
  if (run.ending) put_ending(json, *run.ending);
  for (const RunNote& note : run.notes) json["notes"].push_back(json_of(note));
  return json;
}

Run run_of(const Json& json) {
  Run run;
  run.label = json.at("label");
  run.config = config_of(json.at("config"));
  if (json.contains("machine"))
    run.machine = std::make_shared<machine::Machine>(machine::machine_from_json(json["machine"]));
  if (json.contains("program"))
    run.program = std::make_shared<program::Program>(program_of(json["program"]));
  run.ending = ending_of(json);
  run.notes = notes_of(json);
  return run;
}

bool is_plain(char c) {
  return static_cast<unsigned char>(c) > 0x20 && c != '/' && c != '\\' && c != 0x7f;
}

void check_labels(const std::vector<Run>& runs) {
  std::set<std::string> labels;
  for (const Run& run : runs)
    if (run.label.empty() || !labels.insert(run.label).second)
      throw InputError("its runs are not told apart");
  // A label becomes part of the names of files.
  for (const std::string& label : labels)
    if (!std::ranges::all_of(label, is_plain))
      throw InputError("the name of one of its runs is no word");
  if (runs.empty()) throw InputError("it holds no run");
}

}  // namespace

std::string write_head(const SavedRuns& saved) {
  Json json = {{"version", saved.version},
               {"executor", saved.executor},
               {"seed", saved.seed},
               {"compared", saved.compared},
               {"lesson", saved.subject.lesson},
               {"title", saved.subject.title},
               {"caveat", saved.subject.caveat},
               {"paragraphs", saved.subject.paragraphs},
               {"limits", saved.subject.limits},
               {"language", saved.subject.language},
               {"runs", Json::array()}};
  for (const auto& run : saved.runs) json["runs"].push_back(json_of(*run));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Head read_head(std::string_view text) {
  const Json json = Json::parse(text);
  Head head;
  head.saved.version = json.at("version");
  head.saved.executor = json.at("executor");
  head.saved.seed = whole(json.at("seed"), std::numeric_limits<std::int64_t>::min());
  head.saved.compared = json.at("compared").get<bool>();
  head.saved.subject.lesson = json.at("lesson");
  head.saved.subject.title = json.at("title");
  // Not in files of before there were these.
  head.saved.subject.caveat = json.value("caveat", "");
  head.saved.subject.language = json.value("language", "");
  head.saved.subject.paragraphs = json.at("paragraphs").get<std::vector<std::string>>();
  head.saved.subject.limits = json.at("limits").get<std::vector<std::string>>();
  for (const Json& one : json.at("runs")) {
    head.runs.push_back(run_of(one));
    head.warmup_steps.push_back(one.contains("warmup_steps")
                                    ? static_cast<int>(whole(one["warmup_steps"], 0, INT32_MAX))
                                    : 0);
  }
  check_labels(head.runs);
  return head;
}

}  // namespace trainscope::analysis
