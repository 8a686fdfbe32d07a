#include "analysis/run_head.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/gradient_flow.h"
#include "base/error.h"
#include "machine/machine_json.h"
#include "trace/trace_bytes.h"

namespace trainscope::analysis {
namespace {

using Json = nlohmann::json;

std::int64_t whole(const Json& json, std::int64_t least = 0,
                   std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  if (!json.is_number_integer() || json > most || json < least)
    throw InputError("a whole number in it is out of range");
  return json.get<std::int64_t>();
}

double real(const Json& json) {
  const double value = json.get<double>();
  if (!std::isfinite(value)) throw InputError("a number in it is not finite");
  return value;
}

double positive(const Json& json) {
  const double value = real(json);
  if (value < 0) throw InputError("a number in it is out of range");
  return value;
}

template <typename Enum>
Enum word(const Json& json, Enum last) {
  return static_cast<Enum>(whole(json, 0, static_cast<std::int64_t>(last)));
}

// ---- Config ------------------------------------------------------------------------------------

Json json_of(const program::Config& config) {
  Json json = Json::object();
  for (const auto& [name, value] : config.values())
    json[name] = std::visit([](const auto& one) { return Json(one); }, value);
  return json;
}

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

// ---- Program -----------------------------------------------------------------------------------

Json json_of(const program::Buffer& buffer) {
  return {{"name", buffer.name},
          {"bytes", buffer.bytes},
          {"kind", static_cast<int>(buffer.kind)},
          {"role", static_cast<int>(buffer.role)}};
}

program::Buffer buffer_of(const Json& json) {
  program::Buffer buffer;
  buffer.name = json.at("name");
  buffer.bytes = whole(json.at("bytes"));
  buffer.kind = word(json.at("kind"), program::MemoryKind::kPageable);
  buffer.role = word(json.at("role"), program::Role::kWorkspace);
  return buffer;
}

Json json_of(const program::BlockWork& work) {
  return {{"flops", work.flops},
          {"bytes", work.bytes},
          {"math", static_cast<int>(work.math)},
          {"efficiency", work.efficiency},
          {"ilp", work.ilp},
          {"registers", work.registers},
          {"shared", work.shared_bytes},
          {"footprint", work.footprint}};
}

program::BlockWork block_work_of(const Json& json) {
  program::BlockWork work;
  work.flops = real(json.at("flops"));
  work.bytes = real(json.at("bytes"));
  work.math = word(json.at("math"), machine::Math::kTensorTf32);
  work.efficiency = real(json.at("efficiency"));
  work.ilp = static_cast<int>(whole(json.at("ilp"), 0, 1 << 20));
  work.registers = static_cast<int>(whole(json.at("registers"), 0, 1 << 20));
  work.shared_bytes = whole(json.at("shared"));
  if (json.contains("footprint")) work.footprint = real(json.at("footprint"));
  return work;
}

Json json_of(const program::Operation& operation) {
  Json json = {{"kernel", operation.kernel},
               {"framework", operation.framework},
               {"kind", static_cast<int>(operation.kind)},
               {"type", static_cast<int>(operation.type)},
               {"shape", {operation.m, operation.n, operation.k}},
               {"flops", operation.flops},
               {"bytes", operation.bytes},
               {"blocks", operation.blocks},
               {"threads", operation.threads},
               {"opaque", operation.opaque_duration}};
  if (operation.efficiency > 0) json["efficiency"] = operation.efficiency;
  if (operation.block_work) json["block_work"] = json_of(*operation.block_work);
  if (const auto& call = operation.as_one_call) json["call"] = {call->flops, call->bytes};
  return json;
}

program::Operation operation_of(const Json& json) {
  program::Operation operation;
  operation.kernel = json.at("kernel");
  operation.framework = json.at("framework");
  operation.kind = word(json.at("kind"), program::OperationKind::kOpaque);
  operation.type = word(json.at("type"), program::ElementType::kBf16);
  operation.m = whole(json.at("shape").at(0));
  operation.n = whole(json.at("shape").at(1));
  operation.k = whole(json.at("shape").at(2));
  operation.flops = real(json.at("flops"));
  operation.bytes = real(json.at("bytes"));
  operation.blocks = whole(json.at("blocks"));
  operation.threads = static_cast<int>(whole(json.at("threads"), 0, 1 << 20));
  operation.opaque_duration = whole(json.at("opaque"));
  if (json.contains("efficiency")) operation.efficiency = real(json.at("efficiency"));
  if (json.contains("block_work")) operation.block_work = block_work_of(json.at("block_work"));
  if (json.contains("call"))
    operation.as_one_call =
        program::CallWork{real(json.at("call").at(0)), real(json.at("call").at(1))};
  return operation;
}

template <typename List>
Json list_of(const List& things) {
  Json json = Json::array();
  for (const auto& thing : things) json.push_back(json_of(thing));
  return json;
}

std::vector<std::int64_t> bucket_bytes(const program::Program& program) {
  std::vector<std::int64_t> bytes;
  for (const program::Bucket& bucket : program.buckets) bytes.push_back(bucket.bytes);
  return bytes;
}

// The buckets in full: files of older versions tell of those that are kept how large they are.
Json json_of(const std::vector<program::Bucket>& buckets) {
  Json list = Json::array();
  for (const program::Bucket& bucket : buckets)
    list.push_back({{"bytes", bucket.bytes}, {"gradients", bucket.gradients}});
  return list;
}

std::vector<program::Index> gradients_of(const Json& list, std::size_t buffers) {
  std::vector<program::Index> gradients;
  for (const Json& one : list)
    gradients.push_back(
        static_cast<program::Index>(whole(one, 0, static_cast<std::int64_t>(buffers) - 1)));
  return gradients;
}

std::vector<program::Bucket> buckets_of(const Json& list, std::size_t buffers) {
  std::vector<program::Bucket> buckets;
  for (const Json& one : list)
    buckets.push_back(
        {program::kNoIndex, whole(one.at("bytes")), gradients_of(one.at("gradients"), buffers)});
  return buckets;
}

void read_buckets(const Json& json, program::Program& program) {
  if (json.contains("buckets"))
    for (const Json& bytes : json.at("buckets"))
      program.buckets.push_back({program::kNoIndex, whole(bytes), {}});
  if (!json.contains("kept_buckets")) return;
  const std::size_t buffers = program.buffers.size();
  program.buckets = buckets_of(json.at("kept_buckets"), buffers);
  program.first_buckets = buckets_of(json.at("first_buckets"), buffers);
  program.bucket_writes = gradients_of(json.at("bucket_writes"), buffers);
}

// Files of older versions lack it.
std::int64_t whole_or_0(const Json& json, const char* key) {
  return json.contains(key) ? whole(json.at(key)) : 0;
}

Json json_of(const std::optional<data::Reading>& reading) {
  if (!reading) return nullptr;
  Json json{{"distinct", reading->distinct}};
  if (reading->repeated) json["repeated"] = *reading->repeated;
  return json;
}

std::optional<data::Reading> reading_of(const Json& json) {
  if (!json.contains("reading") || json.at("reading").is_null()) return std::nullopt;
  const Json& from = json.at("reading");
  data::Reading reading{real(from.at("distinct")), std::nullopt};
  if (from.contains("repeated")) reading.repeated = real(from.at("repeated"));
  return reading;
}

Json json_of(const program::Program& program) {
  return {{"steps", program.steps},
          {"warmup_steps", program.warmup_steps},
          {"samples_per_step", program.samples_per_step},
          {"steps_per_epoch", program.steps_per_epoch},
          {"step_alone", program.step_alone},
          {"buckets", bucket_bytes(program)},
          {"kept_buckets", json_of(program.buckets)},
          {"first_buckets", json_of(program.first_buckets)},
          {"bucket_writes", bucket_writes(program, 0)},
          {"parameters", program.parameters},
          {"stages", program.stages},
          {"gpus_of_batch", program.gpus_of_batch},
          {"gpus", program.gpus},
          {"step_flops", program.step_flops},
          {"model_flops", program.model_flops},
          {"timing_only", program.timing_only},
          {"reading", json_of(program.reading)},
          {"listing", program.listing.lines},
          {"buffers", list_of(program.buffers)},
          {"operations", list_of(program.operations)}};
}

// Files of older versions tell of the GPUs that share a batch, and the model's arithmetic as all
// that is not computed a second time.
void read_flops(const Json& json, program::Program& program) {
  program.step_flops = real(json.at("step_flops"));
  if (json.contains("model_flops")) {
    program.gpus = static_cast<int>(whole(json.at("gpus"), 1, std::numeric_limits<int>::max()));
    program.model_flops = real(json.at("model_flops"));
    return;
  }
  program.gpus = program.gpus_of_batch;
  program.model_flops = program.step_flops;
  if (json.contains("recomputed_flops")) program.model_flops -= real(json.at("recomputed_flops"));
}

program::Program program_of(const Json& json) {
  constexpr int kMost = std::numeric_limits<int>::max();
  program::Program program;
  program.steps = static_cast<int>(whole(json.at("steps"), 0, kMost));
  program.warmup_steps = static_cast<int>(whole(json.at("warmup_steps"), 0, kMost));
  program.samples_per_step = positive(json.at("samples_per_step"));
  if (json.contains("steps_per_epoch"))
    program.steps_per_epoch = positive(json.at("steps_per_epoch"));
  program.step_alone = whole_or_0(json, "step_alone");
  program.parameters = whole(json.at("parameters"));
  if (json.contains("stages"))
    program.stages = static_cast<int>(whole(json.at("stages"), 1, kMost));
  program.gpus_of_batch = program.stages;
  if (json.contains("gpus_of_batch"))
    program.gpus_of_batch = static_cast<int>(whole(json.at("gpus_of_batch"), 1, kMost));
  read_flops(json, program);
  program.timing_only = json.at("timing_only").get<bool>();
  program.reading = reading_of(json);
  program.listing.lines = json.at("listing").get<std::vector<std::string>>();
  for (const Json& one : json.at("buffers")) program.buffers.push_back(buffer_of(one));
  for (const Json& one : json.at("operations")) program.operations.push_back(operation_of(one));
  read_buckets(json, program);
  return program;
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
  Json json = {{"label", run.label}, {"config", json_of(run.config)}};
  if (run.machine) json["machine"] = machine::to_json(*run.machine);
  if (run.program) json["program"] = json_of(*run.program);
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
  // Not in files of before there was one.
  head.saved.subject.caveat = json.value("caveat", "");
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
