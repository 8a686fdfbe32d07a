// What DataParallel adds to a program: replicas, their buffers, threads and kernels.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "train/autograd/lifetimes.h"
#include "train/kernels/kernels.h"
#include "train/model/model_flops.h"
#include "train/parallel/data_parallel.h"
#include "train/parallel/parallel.h"
#include "train/settings/train_settings.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::kNoIndex;
using program::MemoryKind;
using program::Phase;
using program::Role;

constexpr std::int64_t kGroup = 10 << 20;  // buffer_size of comm.broadcast_coalesced

std::string on_gpu(const std::string& name, int gpu) {
  return fmt::format("{} on GPU {}", name, gpu);
}

// "layer1.0.conv1" of "layer1.0.conv1.weight".
std::string module_of(const std::string& parameter) {
  return parameter.substr(0, parameter.rfind('.'));
}

}  // namespace

std::vector<std::int64_t> parts_of_batch(std::int64_t batch, int gpus) {
  const std::int64_t size = (batch + gpus - 1) / gpus;
  std::vector<std::int64_t> parts;
  for (std::int64_t left = batch; left > 0; left -= size) parts.push_back(std::min(left, size));
  return parts;
}

Assignment take_tensors(const std::vector<std::int64_t>& bytes, std::int64_t most) {
  Assignment groups;
  std::int64_t size = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (groups.empty() || (size + bytes[i] > most && size > 0)) {
      groups.emplace_back();
      size = 0;
    }
    groups.back().push_back(i);
    size += bytes[i];
  }
  return groups;
}

DataParallel::DataParallel(program::Program& program, const program::Config& config,
                           const TrainingData& data, const ModelBuffers& model,
                           const std::vector<std::int64_t>& parts, const TapeOptions& options,
                           Convolutions& convolutions, const Lines& lines)
    : program_(program),
      convolutions_(convolutions),
      lines_(lines),
      communicator_(static_cast<Index>(program.communicators.size())),
      adds_(config.whole("accumulate_steps") > 1 || gradients_stay(config)),
      loss_inside_(config.flag("dp.loss_in_forward")),
      model_(model) {
  const int gpus = static_cast<int>(parts.size());
  program::Communicator& communicator = add_communicator(program, config, gpus);
  communicator.name = "GPUs of DataParallel";
  communicator.simulated = gpus;
  if (program.locks.empty()) program.locks.push_back({"the interpreter's lock"});
  program.threads.front().interpreter = 0;
  replicas_.reserve(parts.size());
  for (const std::int64_t samples : parts) add_replica(config, data, model, samples, options);
  std::int64_t elements = 0;
  for (const Replica& replica : replicas_)
    elements += program.buffers[replica.plan.output].elements();
  const auto type_of = [&](Index buffer) { return program.buffers[buffer].type; };
  output_ = add_numbers(program, "output, gathered", elements, type_of(replicas_[0].plan.output),
                        MemoryKind::kDevice, Role::kActivation);
  if (loss_inside_)
    losses_ = add_numbers(program, "losses, gathered", gpus, type_of(replicas_[0].plan.loss_value),
                          MemoryKind::kDevice, Role::kActivation);
  add_groups(model);
}

void DataParallel::add_replica(const program::Config& config, const TrainingData& data,
                               const ModelBuffers& model, std::int64_t samples,
                               const TapeOptions& options) {
  Replica& replica = replicas_.emplace_back();
  replica.gpu = static_cast<int>(replicas_.size() - 1);
  replica.samples = samples;
  if (replica.gpu > 0) {
    const Replica& last = replicas_[replicas_.size() - 2];
    replica.before = last.before + last.samples;
  }
  if (replica.gpu > 0) {
    program::Stream stream = compute_stream(config);
    stream.device = replica.gpu;
    replica.stream = static_cast<Index>(program_.streams.size());
    program_.streams.push_back(std::move(stream));
  }
  const Graph graph = build_model(config, data, samples);
  add_model(replica, graph, model);
  const auto type = graph.reads_tokens ? program::ElementType::kInt64 : options.precision.model;
  replica.batch.x = add_part("x", graph.values[0], type, replica.gpu);
  replica.batch.y = loss_inside_
                        ? add_part("y", graph.rows, program::ElementType::kInt64, replica.gpu)
                        : replica.batch.x;
  TapeOptions here = options;
  here.loss_divisor = 1;  // GPU 0 divides and scales
  here.scale = kNoIndex;
  PlanBuffers buffers(MemoryKind::kDevice, replica.gpu);
  replica.plan =
      plan_replica(program_, graph, replica.model, buffers, replica.batch, here, loss_inside_);
  convolutions_.expand(replica.plan);
  std::set<Index> gradients(replica.model.gradients.begin(), replica.model.gradients.end());
  allocate_where_written(program_, std::move(gradients), replica.plan.backward);
  program_.buffers[replica.plan.output_gradient].is_view = replica.gpu == 0;
  replica.event = program_.events;
  program_.events += 2;
  add_threads(replica);
  for (const auto* list : {&replica.plan.forward, &replica.plan.loss, &replica.plan.backward})
    for (const PlannedLaunch& one : *list)
      flops_ += counted_flops(program_.operations[one.operation]);
  if (replica.gpu > 0) return;
  std::set<std::string> modules;
  for (const Parameter& parameter : graph.parameters) modules.insert(module_of(parameter.name));
  modules_ = modules.size();
}

// Of a batch. GPU 0's is a view of the whole.
Index DataParallel::add_part(const char* name, std::int64_t elements, program::ElementType type,
                             int gpu) {
  const Index part =
      add_numbers(program_, on_gpu(name, gpu), elements, type, MemoryKind::kDevice, Role::kBatch);
  program_.buffers[part].device = gpu;
  program_.buffers[part].is_view = gpu == 0;
  return part;
}

// GPU 0's replica has the model's own parameters. No replica has their .grad: to autograd its
// parameters are results of the broadcast.
void DataParallel::add_model(Replica& replica, const Graph& graph, const ModelBuffers& model) {
  replica.model = model;
  const auto copy = [&](Index original, Role role) {
    const program::Buffer like = program_.buffers[original];
    const Index buffer = add_numbers(program_, on_gpu(like.name, replica.gpu), like.elements(),
                                     like.type, MemoryKind::kDevice, role);
    program_.buffers[buffer].device = replica.gpu;
    return buffer;
  };
  for (ParameterId id = 0; id < graph.parameters.size(); ++id) {
    if (replica.gpu > 0)
      replica.model.parameters[id] = copy(model.parameters[id], Role::kParameter);
    if (model.gradients[id] != kNoIndex)
      replica.model.gradients[id] = copy(model.gradients[id], Role::kGradient);
  }
}

void DataParallel::add_threads(Replica& replica) {
  const auto add = [&](const char* name, program::ThreadRole role, Index interpreter) {
    program::Thread thread{fmt::format(fmt::runtime(name), replica.gpu), role, 0, {}, interpreter};
    thread.device = replica.gpu;
    program_.threads.push_back(std::move(thread));
    return ThreadWriter(program_, static_cast<Index>(program_.threads.size() - 1));
  };
  replica.go = add_queue("forward to do", replica.gpu);
  replica.done = add_queue("forward done", replica.gpu);
  replica.thread.emplace(add("replica {}", program::ThreadRole::kReplica, 0));
  replica.thread->at(lines_.forward).in(Phase::kForward);
  if (replica.gpu == 0) return;
  replica.go_back = add_queue("backward to do", replica.gpu);
  replica.done_back = add_queue("backward done", replica.gpu);
  replica.autograd.emplace(add("autograd thread {}", program::ThreadRole::kAutograd, kNoIndex));
  replica.autograd->at(lines_.backward).in(Phase::kBackward);
}

Index DataParallel::add_queue(const char* what, int gpu) {
  program_.queues.push_back({fmt::format("{} on GPU {}", what, gpu), 1});
  return static_cast<Index>(program_.queues.size() - 1);
}

Index DataParallel::add_cat(std::vector<Index> from, Index to) {
  const program::Buffer& whole = program_.buffers[to];
  program::Operation cat =
      pointwise("CatArrayBatchedCopy", "aten::cat", program::OperationKind::kElementwise,
                whole.elements(), 0, 2.0 * static_cast<double>(whole.bytes));
  cat.type = whole.type;
  cat.function = program::Concatenate{};
  cat.reads = std::move(from);
  cat.writes = {to};
  program_.operations.push_back(std::move(cat));
  return static_cast<Index>(program_.operations.size() - 1);
}

Index DataParallel::add_payload(std::vector<Index> buffers) {
  program_.payloads.push_back(std::move(buffers));
  return static_cast<Index>(program_.payloads.size() - 1);
}

std::vector<Index> DataParallel::those_of(const std::vector<Index>& all,
                                          const std::vector<std::size_t>& ids) const {
  std::vector<Index> some;
  for (const std::size_t id : ids) some.push_back(all[id]);
  return some;
}

DataParallel::Group DataParallel::make_group(const std::vector<std::size_t>& parameters,
                                             bool gradients) {
  Group group;
  group.parameters = parameters;
  std::int64_t elements = 0;
  for (const std::size_t id : parameters) {
    elements += program_.buffers[model_.parameters[id]].elements();
    group.bytes += program_.buffers[model_.parameters[id]].bytes;
  }
  const program::ElementType type = program_.buffers[model_.parameters.front()].type;
  if (!gradients || adds_)
    group.flat = add_numbers(program_, gradients ? "gradients, summed" : "parameters, flat",
                             elements, type, MemoryKind::kDevice, Role::kWorkspace);
  if (!gradients) {
    group.cat = add_cat(those_of(model_.parameters, parameters), group.flat);
    share(group, gradients);
    return group;
  }
  for (Replica& replica : replicas_) {
    const Index flat = add_numbers(program_, on_gpu("gradients, flat", replica.gpu), elements, type,
                                   MemoryKind::kDevice, Role::kWorkspace);
    program_.buffers[flat].device = replica.gpu;
    replica.flat.push_back(flat);
    replica.cat.push_back(add_cat(those_of(replica.model.gradients, parameters), flat));
  }
  std::int64_t begin = 0;
  for (const std::size_t id : parameters) {
    if (adds_) group.add.push_back(add_sum(group.flat, begin, model_.gradients[id]));
    begin += program_.buffers[model_.gradients[id]].elements();
  }
  share(group, gradients);
  return group;
}

// Parameters go from one flat tensor to the replicas'; gradients from the replicas' flat ones.
void DataParallel::share(Group& group, bool gradients) {
  if (group.flat != kNoIndex) group.of_flat = add_payload({group.flat});
  if (gradients) group.of_gradients = add_payload(those_of(model_.gradients, group.parameters));
  for (const Replica& replica : replicas_)
    group.of_replicas.push_back(
        add_payload(gradients ? std::vector{replica.flat.back()}
                              : those_of(replica.model.parameters, group.parameters)));
}

// grad += its part of the sums.
Index DataParallel::add_sum(Index flat, std::int64_t begin, Index gradient) {
  const program::Buffer& sum = program_.buffers[gradient];
  program::Operation add = pointwise("vectorized_elementwise_kernel: add", "aten::add_",
                                     program::OperationKind::kElementwise, sum.elements(), 1,
                                     3.0 * static_cast<double>(sum.bytes));
  add.type = sum.type;
  add.function = program::Accumulate{sum.elements(), begin};
  add.reads = {flat};
  add.writes = {gradient};
  program_.operations.push_back(std::move(add));
  return static_cast<Index>(program_.operations.size() - 1);
}

void DataParallel::add_groups(const ModelBuffers& model) {
  std::vector<std::size_t> trained, buffers;
  std::vector<std::int64_t> trained_bytes, buffer_bytes;
  for (std::size_t id = 0; id < model.parameters.size(); ++id) {
    const program::Buffer& one = program_.buffers[model.parameters[id]];
    const bool has_gradient = model.gradients[id] != kNoIndex;
    (has_gradient ? trained : buffers).push_back(id);
    (has_gradient ? trained_bytes : buffer_bytes).push_back(one.bytes);
  }
  const auto add = [&](std::vector<Group>& groups, const Assignment& places,
                       const std::vector<std::size_t>& ids, bool gradients) {
    for (const auto& group : places) {
      std::vector<std::size_t> parameters;
      for (const std::size_t place : group) parameters.push_back(ids[place]);
      groups.push_back(make_group(parameters, gradients));
    }
  };
  add(sent_, assign_buckets(trained_bytes, {kGroup, kGroup}), trained, false);
  add(sent_, assign_buckets(buffer_bytes, {kGroup, kGroup}), buffers, false);
  add(summed_, take_tensors(trained_bytes, kGroup), trained, true);
}

}  // namespace trainscope::train
