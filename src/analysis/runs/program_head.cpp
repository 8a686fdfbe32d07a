#include "analysis/runs/program_head.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "analysis/runs/head_numbers.h"
#include "analysis/views/gradient_flow.h"

namespace trainscope::analysis {
namespace {

using head::positive;
using head::real;
using head::whole;
using head::word;
using Json = nlohmann::json;

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

// What product a kernel is, as far as advice goes by it (row lengths, windows).
constexpr const char* kConvolution = "convolution";
constexpr const char* kWeightGradient = "weight gradient";

const char* product_of(const program::Operation& operation) {
  if (std::holds_alternative<program::Convolution>(operation.function)) return kConvolution;
  const auto* linear = std::get_if<program::Linear>(&operation.function);
  return linear && linear->part == program::Part::kWeightGradient ? kWeightGradient : nullptr;
}

void set_product(const std::string& product, program::Operation& operation) {
  if (product == kConvolution) operation.function = program::Convolution();
  if (product != kWeightGradient) return;
  program::Linear linear;
  linear.part = program::Part::kWeightGradient;
  operation.function = linear;
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
  if (const char* product = product_of(operation)) json["product"] = product;
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
  operation.type = word(json.at("type"), program::ElementType::kBool);
  operation.m = whole(json.at("shape").at(0));
  operation.n = whole(json.at("shape").at(1));
  operation.k = whole(json.at("shape").at(2));
  operation.flops = real(json.at("flops"));
  operation.bytes = real(json.at("bytes"));
  operation.blocks = whole(json.at("blocks"));
  operation.threads = static_cast<int>(whole(json.at("threads"), 0, 1 << 20));
  operation.opaque_duration = whole(json.at("opaque"));
  if (json.contains("product")) set_product(json.at("product"), operation);
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

// Which files of older versions do not tell.
void read_batches(const Json& json, program::Program& program) {
  if (!json.contains("batches")) return;
  program.data.batch_size = whole(json.at("batches").at("size"));
  program.data.drop_last = json.at("batches").at("drop_last").get<bool>();
  program.data.tokens = whole_or_0(json.at("batches"), "tokens");
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

// What each of a loader's workers does in all: its rank, ns of a core, bytes of the disk.
Json loaders_of(const program::Program& program) {
  Json loaders = Json::array();
  for (const program::Thread& thread : program.threads) {
    if (thread.role != program::ThreadRole::kLoaderWorker) continue;
    std::int64_t work = 0, bytes = 0;
    for (const program::Command& command : thread.commands) {
      if (const auto* read = std::get_if<program::DiskRead>(&command.action)) bytes += read->bytes;
      const auto* one = std::get_if<program::HostWork>(&command.action);
      if (one && one->needs_core) work += one->duration;
    }
    loaders.push_back({thread.rank, work, bytes});
  }
  return loaders;
}

// Threads that do as much, in one go.
void read_loaders(const Json& json, program::Program& program) {
  if (!json.contains("loaders")) return;
  for (const Json& one : json.at("loaders")) {
    program::Thread thread;
    thread.role = program::ThreadRole::kLoaderWorker;
    thread.rank = static_cast<int>(whole(one.at(0), 0, std::numeric_limits<int>::max()));
    thread.commands.push_back({program::HostWork{whole(one.at(1)), true}});
    if (const std::int64_t bytes = whole(one.at(2)); bytes > 0)
      thread.commands.push_back({program::DiskRead{bytes}});
    program.threads.push_back(std::move(thread));
  }
}

}  // namespace

nlohmann::json head_of(const program::Program& program) {
  return {{"steps", program.steps},
          {"warmup_steps", program.warmup_steps},
          {"samples_per_step", program.samples_per_step},
          {"batches",
           {{"size", program.data.batch_size},
            {"drop_last", program.data.drop_last},
            {"tokens", program.data.tokens}}},
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
          {"loaders", loaders_of(program)},
          {"target", {program.target.loss, program.target.steps}},
          {"reading", json_of(program.reading)},
          {"listing", program.listing.lines},
          {"buffers", list_of(program.buffers)},
          {"operations", list_of(program.operations)}};
}

program::Program program_of(const Json& json) {
  constexpr int kMost = std::numeric_limits<int>::max();
  program::Program program;
  program.steps = static_cast<int>(whole(json.at("steps"), 0, kMost));
  program.warmup_steps = static_cast<int>(whole(json.at("warmup_steps"), 0, kMost));
  program.samples_per_step = positive(json.at("samples_per_step"));
  read_batches(json, program);
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
  if (json.contains("target"))
    program.target = {positive(json.at("target").at(0)),
                      whole(json.at("target").at(1), 1, std::numeric_limits<std::int64_t>::max())};
  program.reading = reading_of(json);
  program.listing.lines = json.at("listing").get<std::vector<std::string>>();
  for (const Json& one : json.at("buffers")) program.buffers.push_back(buffer_of(one));
  for (const Json& one : json.at("operations")) program.operations.push_back(operation_of(one));
  read_buckets(json, program);
  read_loaders(json, program);
  return program;
}

}  // namespace trainscope::analysis
