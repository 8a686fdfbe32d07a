#include "train/parallel/ddp.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "base/error.h"
#include "train/kernels/kernels.h"
#include "train/parallel/compute_stream.h"
#include "train/parallel/parallel.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::kNoIndex;

constexpr std::int64_t kInt = 4;  // bytes: an index, or whether a parameter was used

// A rank with several modules has the buckets of each.
void append(const std::vector<program::Bucket>& buckets, std::vector<program::Bucket>& all) {
  all.insert(all.end(), buckets.begin(), buckets.end());
}

}  // namespace

DdpGroup::DdpGroup(program::Program& program, const program::Config& config,
                   const TrainSettings& settings)
    : ranks(settings.ranks),
      communicator(static_cast<Index>(program.communicators.size())),
      stream(static_cast<Index>(program.streams.size())) {
  if (settings.tensor_parallel || settings.pipeline) {
    add_counterparts(program, config, settings.processes(), settings.gpus_of_batch()).name =
        "data-parallel group";
  } else {
    add_communicator(program, config, ranks);
  }
  program.streams.push_back(nccl_stream(0, nccl_streams(program)));
}

Ddp::Ddp(program::Program& program, const program::Config& config, const Graph& graph,
         const ModelBuffers& model, const std::vector<ParameterId>& hooks, DdpGroup& group)
    : program_(program),
      group_(group),
      type_(program.buffers[model.parameters.front()].type),
      caps_(bucket_caps(config)),
      compiled_(!hooks.empty()),
      find_unused_(config.flag("ddp.find_unused_parameters") && !config.flag("ddp.static_graph")),
      views_(config.flag("ddp.gradient_as_bucket_view")),
      broadcast_buffers_(config.flag("ddp.broadcast_buffers")),
      first_event_(program.events) {
  if (CompressHook::is_wanted(config)) hook_.emplace(program, config, group_.ranks);
  find_parameters(graph, model, hooks);
  program_.events += static_cast<Index>(parameters_.size());  // one a bucket, at most
  std::vector<std::int64_t> bytes;
  for (const Parameter& parameter : parameters_) bytes.push_back(parameter.bytes);
  const Assignment first = first_assignment(bytes, find_unused_, caps_);
  use(first, make_buckets(first, "bucket of the first backward"));
  append(buckets_, program_.first_buckets);
  if (find_unused_) append(buckets_, program_.buckets);
}

void Ddp::find_parameters(const Graph& graph, const ModelBuffers& model,
                          const std::vector<ParameterId>& hooks) {
  std::vector<Index> moments;
  for (ParameterId id = 0; id < graph.parameters.size(); ++id) {
    const train::Parameter& one = graph.parameters[id];
    const std::int64_t bytes = program_.buffers[model.parameters[id]].bytes;
    if (!one.trained) {
      const Index buffer = model.parameters[id];
      moments.push_back(buffer);
      copies_of_buffers_.push_back(add_kernel("vectorized_elementwise_kernel: copy", "aten::copy_",
                                              buffer, buffer, std::monostate{}, one.elements));
      buffer_bytes_ += bytes;
      continue;
    }
    parameter_bytes_ += bytes;
    if (!one.reached && !find_unused_)
      throw InputError(
          "DistributedDataParallel waits for the gradient of every parameter, and backward never "
          "reaches " +
          one.name + "; set ddp.find_unused_parameters = true, or take out what detaches it");
    const auto hook = std::ranges::find(hooks, id) - hooks.begin();
    parameters_.push_back({model.parameters[id], model.gradients[id], one.elements, bytes,
                           static_cast<std::size_t>(hook), kNoIndex, kNoIndex});
  }
  everything_ = add_payload(model.parameters);
  buffers_ = add_payload(std::move(moments));
}

Index Ddp::add_payload(std::vector<Index> buffers) {
  std::erase(buffers, kNoIndex);
  program_.payloads.push_back(std::move(buffers));
  return static_cast<Index>(program_.payloads.size() - 1);
}

Index Ddp::add_kernel(const char* kernel, const char* framework, Index from, Index to,
                      const program::Function& function, std::int64_t elements) {
  const program::ElementType type = program_.buffers[from].type;
  const std::int64_t bytes = elements * program::size_of(type);
  program::Operation operation = pointwise(kernel, framework, program::OperationKind::kElementwise,
                                           elements, 1, 2.0 * static_cast<double>(bytes));
  operation.type = type;
  operation.reads = {from};
  operation.writes = {to};
  operation.function = function;
  operation.is_gradient = true;
  program_.operations.push_back(std::move(operation));
  return static_cast<Index>(program_.operations.size() - 1);
}

// Of the parameters of a bucket, in which each has its place. Views are divided where they are; for
// a hook nothing is done with them (torch/csrc/distributed/c10d/reducer.cpp,
// mark_variable_ready_dense).
void Ddp::add_kernels(std::size_t bucket) {
  const double share = hook_ ? 1 : 1.0 / group_.ranks;
  const char* kernel =
      hook_ ? "vectorized_elementwise_kernel: copy" : "vectorized_elementwise_kernel: mul";
  const char* framework =
      hook_ ? "torch::distributed::reducer::copy_" : "torch::distributed::reducer::mul_out";
  std::int64_t place = 0;
  for (const std::size_t id : assignment_[bucket]) {
    Parameter& parameter = parameters_[id];
    const Index gradient = parameter.gradient;
    const Index to = views_ ? gradient : buckets_[bucket].buffer;
    const std::int64_t elements = parameter.elements;
    const std::int64_t begin = views_ ? 0 : place;
    place += elements;
    if (gradient == kNoIndex) continue;
    if (!views_ || !hook_)
      parameter.into_bucket = add_kernel(kernel, framework, gradient, to,
                                         program::CopyPart{elements, 0, begin, share}, elements);
    parameter.out_of_bucket = add_kernel(
        "vectorized_elementwise_kernel: copy", "torch.distributed.ddp.reducer::copy_bucket_to_grad",
        to, gradient, program::CopyPart{elements, begin, 0, 1}, elements);
  }
}

std::vector<program::Bucket> Ddp::make_buckets(const Assignment& assignment, const char* name) {
  std::vector<program::Bucket> buckets;
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    program::Bucket& bucket = buckets.emplace_back();
    std::int64_t elements = 0;
    for (const std::size_t parameter : assignment[i]) {
      elements += parameters_[parameter].elements;
      bucket.bytes += parameters_[parameter].bytes;
      bucket.gradients.push_back(parameters_[parameter].gradient);
    }
    if (hook_) bucket.bytes = CompressHook::sent_bytes(bucket.bytes);
    if (!views_)
      bucket.buffer = add_numbers(program_, fmt::format("{} {}", name, i), elements, type_,
                                  program::MemoryKind::kDevice, program::Role::kGradient);
  }
  return buckets;
}

void Ddp::use(const Assignment& assignment, std::vector<program::Bucket> buckets) {
  assignment_ = assignment;
  buckets_ = std::move(buckets);
  bucket_of_.assign(parameters_.size(), 0);
  payloads_.clear();
  if (hook_) hook_->forget_buckets();
  for (std::size_t i = 0; i < assignment_.size(); ++i) {
    for (const std::size_t parameter : assignment_[i]) bucket_of_[parameter] = i;
    add_kernels(i);
    std::vector<Index> buffers = views_ ? buckets_[i].gradients : std::vector{buckets_[i].buffer};
    std::erase(buffers, kNoIndex);
    if (hook_) hook_->add_bucket(fmt::format("bucket {}", i), buffers);
    payloads_.push_back(hook_ ? hook_->payload(i) : add_payload(std::move(buffers)));
  }
}

void Ddp::allocate(ThreadWriter& thread) {
  for (const program::Bucket& bucket : buckets_)
    if (bucket.buffer != kNoIndex) thread.add(program::Alloc{bucket.buffer, kComputeStream});
  there_ = true;
}

void Ddp::free(ThreadWriter& thread) {
  for (const program::Bucket& bucket : buckets_)
    if (bucket.buffer != kNoIndex) thread.add(program::Free{bucket.buffer});
  there_ = false;
}

void Ddp::sum(ThreadWriter& thread, program::CollectiveKind kind, std::int64_t bytes, Index payload,
              const char* name) {
  program::Collective collective;
  collective.communicator = group_.communicator;
  collective.kind = kind;
  collective.bytes = bytes;
  collective.stream = group_.stream;
  collective.after = kComputeStream;
  collective.sequence = group_.sequence++;
  collective.send = collective.receive = payload;
  thread.add(collective, name);
}

// ---- Construction and forward ------------------------------------------------------------------

void Ddp::construct(ThreadWriter& main) {
  sum(main, program::CollectiveKind::kBroadcast, parameter_bytes_ + buffer_bytes_, everything_,
      "c10d::_broadcast_coalesced");
  main.add(program::RecordEvent{first_event_, group_.stream});
  main.add(program::StreamWait{kComputeStream, first_event_});
  allocate(main);
}

void Ddp::before_forward(ThreadWriter& main) {
  rebuild_buckets(main);
  broadcast_buffers(main);
}

void Ddp::rebuild_buckets(ThreadWriter& main) {
  if (!ready_.empty() && !rebuilt_ && !find_unused_) rebuild(main);
}

void Ddp::broadcast_buffers(ThreadWriter& main) {
  if (!broadcast_buffers_ || copies_of_buffers_.empty()) return;
  sum(main, program::CollectiveKind::kBroadcast, buffer_bytes_, buffers_,
      "c10d::_broadcast_coalesced");
  main.add(program::RecordEvent{first_event_, group_.stream});
  main.add(program::StreamWait{kComputeStream, first_event_});
  for (const Index copy : copies_of_buffers_) main.add(program::Launch{copy, kComputeStream});
}

// Rank 0 tells the others its order, that all have the same buckets.
void Ddp::rebuild(ThreadWriter& main) {
  rebuilt_ = true;
  sum(main, program::CollectiveKind::kBroadcast,
      static_cast<std::int64_t>(parameters_.size()) * kInt, kNoIndex, "c10d::broadcast_");
  std::vector<std::int64_t> bytes;
  for (const Parameter& parameter : parameters_) bytes.push_back(parameter.bytes);
  const Assignment assignment = rebuilt_assignment(bytes, ready_, caps_);
  if (there_) free(main);
  use(assignment, make_buckets(assignment, "bucket"));
  append(buckets_, program_.buckets);
  allocate(main);
}

void Ddp::search_unused(ThreadWriter& main) {
  if (find_unused_) main.add(program::FrameworkCall{}, "search_unused_parameters");
}

// ---- Backward ----------------------------------------------------------------------------------

// A linear layer's backward is one node of autograd's graph: its kernels are all launched before
// the hooks of its parameters run, the bias's first.
std::string Ddp::node_of(const program::Operation& operation, std::size_t parameter) const {
  const std::string& name = program_.buffers[parameters_[parameter].value].name;
  const bool linear = std::holds_alternative<program::Linear>(operation.function);
  return linear ? name.substr(0, name.rfind('.')) : name;
}

// Of what two compiled pieces return.
bool Ddp::adds_outside(const PlannedLaunch& launch) const {
  return compiled_ && !launch.is_compiled() &&
         std::holds_alternative<program::Add>(program_.operations[launch.operation].function);
}

// A compiled piece's hooks run once its backward is done, and what it returns is added to others'.
std::size_t Ddp::last_before_hooks(const std::vector<PlannedLaunch>& launches,
                                   std::size_t launch) const {
  std::size_t end = launches[launch].is_compiled() ? end_of_piece(launches, launch) : launch + 1;
  while (end < launches.size() && adds_outside(launches[end])) ++end;
  return end - 1;
}

// Where the gradient of each parameter is written last, in the order in which the hooks run.
std::vector<Ddp::Arrival> Ddp::arrivals(const std::vector<PlannedLaunch>& launches) const {
  std::map<Index, std::size_t> parameter_of;  // by gradient
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i].gradient != kNoIndex) parameter_of[parameters_[i].gradient] = i;
  std::map<std::size_t, Arrival> last;  // by parameter
  std::map<std::string, std::size_t> nodes;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const program::Operation& operation = program_.operations[launches[i].operation];
    for (std::size_t place = 0; place < operation.writes.size(); ++place) {
      const auto found = parameter_of.find(operation.writes[place]);
      if (found == parameter_of.end()) continue;
      const std::string node = node_of(operation, found->second);
      nodes[node] = i;
      const bool is_bias =
          program_.buffers[parameters_[found->second].value].name.ends_with("bias");
      const bool linear = std::holds_alternative<program::Linear>(operation.function);
      last[found->second] = {i, linear && !is_bias ? 1 : place, found->second, node};
      if (!launches[i].is_compiled() && !adds_outside(launches[i])) continue;
      last[found->second].place = parameters_[found->second].hook;
      nodes[node] = last_before_hooks(launches, i);
    }
  }
  std::vector<Arrival> order;
  for (auto& [parameter, arrival] : last) {
    arrival.launch = nodes[arrival.node];
    order.push_back(arrival);
  }
  std::sort(order.begin(), order.end(), [](const Arrival& a, const Arrival& b) {
    return std::tie(a.launch, a.place, a.parameter) < std::tie(b.launch, b.place, b.parameter);
  });
  return order;
}

void Ddp::begin_backward(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches) {
  ready_after_.assign(launches.size(), {});
  std::vector<bool> comes(parameters_.size(), false);
  for (const Arrival& arrival : arrivals(launches)) {
    ready_after_[arrival.launch].push_back(arrival.parameter);
    comes[arrival.parameter] = true;
  }
  next_bucket_ = 0;
  missing_.clear();
  for (const std::vector<std::size_t>& bucket : assignment_) missing_.push_back(bucket.size());
  if (!find_unused_) return;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (!comes[i]) --missing_[bucket_of_[i]];
  launch_ready_buckets(autograd);
}

void Ddp::after_launch(ThreadWriter& autograd, std::size_t launch) {
  for (const std::size_t parameter : ready_after_[launch]) mark_ready(autograd, parameter);
}

void Ddp::mark_ready(ThreadWriter& autograd, std::size_t parameter) {
  if (!rebuilt_ && !find_unused_) ready_.push_back(parameter);
  const Index into_bucket = parameters_[parameter].into_bucket;
  if (into_bucket != kNoIndex) autograd.add(program::Launch{into_bucket, kComputeStream});
  --missing_[bucket_of_[parameter]];
  launch_ready_buckets(autograd);
}

void Ddp::launch_ready_buckets(ThreadWriter& autograd) {
  for (; next_bucket_ < buckets_.size() && missing_[next_bucket_] == 0; ++next_bucket_) {
    const Index summed = first_event_ + static_cast<Index>(next_bucket_);
    if (hook_) hook_->compress(autograd, next_bucket_);
    sum(autograd, program::CollectiveKind::kAllReduce, buckets_[next_bucket_].bytes,
        payloads_[next_bucket_], "c10d::allreduce_");
    autograd.add(program::RecordEvent{summed, group_.stream});
    if (hook_) hook_->decompress(autograd, next_bucket_, summed, group_.stream);
  }
}

void Ddp::end_backward(ThreadWriter& autograd) {
  if (find_unused_)  // which of them no rank has used
    sum(autograd, program::CollectiveKind::kAllReduce,
        static_cast<std::int64_t>(parameters_.size()) * kInt, kNoIndex, "c10d::allreduce_");
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (hook_) {
      hook_->wait(autograd, i);
    } else {
      autograd.add(program::StreamWait{kComputeStream, first_event_ + static_cast<Index>(i)});
    }
    if (views_) continue;
    for (const std::size_t parameter : assignment_[i])
      if (parameters_[parameter].gradient != kNoIndex)
        autograd.add(program::Launch{parameters_[parameter].out_of_bucket, kComputeStream});
  }
}

}  // namespace trainscope::train
