#include "train/parallel/fsdp.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "program/shards.h"
#include "train/autograd/lifetimes.h"
#include "train/parallel/compute_stream.h"
#include "train/parallel/parallel.h"

namespace trainscope::train {
namespace {

using program::ElementType;
using program::Index;
using program::kNoIndex;
using program::Role;

}  // namespace

Fsdp::Fsdp(program::Program& program, const program::Config& config, const Graph& graph,
           const ModelBuffers& model, const TrainSettings& settings, TensorParallel* tensor)
    : program_(program),
      tensor_(tensor),
      ranks_(settings.ranks),
      shards_of_each_(settings.shard_degree),
      neighbours_(settings.tensor_ranks),
      reshards_(config.flag("fsdp.reshard_after_forward")),
      part_type_(settings.parameter_type),
      whole_type_(settings.precision.model),
      reduce_type_(config.word("fsdp.reduce_dtype") == "fp32" ? ElementType::kFp32 : whole_type_),
      communicator_(static_cast<Index>(program.communicators.size())),
      stream_(static_cast<Index>(program.streams.size())),
      reduce_stream_(stream_),
      updated_event_(program.events++),
      collectives_(program, communicator_, stream_) {
  add_groups(config, settings);
  find_units(graph, config.word("fsdp.wrap") == "block");
  add_shards(graph, model);
  for (Unit& unit : units_) {
    add_gather(unit);
    add_scatter(unit);
    unit.events = program.events;
    program.events += kEvents;
  }
}

// ---- What there is -----------------------------------------------------------------------------

// Named as the dimensions of PyTorch's mesh are.
void Fsdp::add_groups(const program::Config& config, const TrainSettings& settings) {
  program_.streams.push_back(nccl_stream(0, nccl_streams(program_)));
  if (tensor_) {
    add_counterparts(program_, config, settings.processes(), neighbours_).name =
        "data-parallel group";
    return;
  }
  if (!has_replicas()) {
    add_communicator(program_, config, ranks_);
    return;
  }
  add_neighbours(program_, config, ranks_, shards_of_each_).name = "shard group";
  add_counterparts(program_, config, ranks_, shards_of_each_).name = "replicate group";
  reduce_stream_ = static_cast<Index>(program_.streams.size());
  program_.streams.push_back(nccl_stream(0, 1));
}

// A parameter that layers of several blocks use is the root's.
void Fsdp::find_units(const Graph& graph, bool by_block) {
  std::map<ParameterId, int> block_of;
  for (const Layer& layer : graph.layers)
    for (const ParameterId id : layer.parameters) {
      const int block = by_block ? layer.block : 0;
      const auto [known, added] = block_of.try_emplace(id, block);
      if (!added && known->second != block) known->second = 0;
    }
  int blocks = 0;
  for (const auto& [id, block] : block_of) blocks = std::max(blocks, block);
  units_.resize(static_cast<std::size_t>(blocks) + 1);
  for (int block = 0; block <= blocks; ++block)
    units_[static_cast<std::size_t>(block)].name =
        block == 0 ? "root" : fmt::format("block {}", block);
  for (const auto& [id, block] : block_of)
    if (graph.parameters[id].trained)
      units_[static_cast<std::size_t>(block)].parameters.push_back(id);
}

std::int64_t Fsdp::part_of(Index whole) const {
  return static_cast<std::int64_t>(
      program::shard_size(static_cast<std::size_t>(program_.buffers[whole].elements()),
                          static_cast<std::size_t>(shards_of_each_)));
}

// A part begins as the whole would have: its first numbers are the part's now. What is called whole
// may be a part of a layer itself.
void Fsdp::add_shards(const Graph& graph, const ModelBuffers& model) {
  shards_ = model;
  shards_.sums.clear();
  if (tensor_)
    for (const Parameter& parameter : graph.parameters)
      shards_.cut.push_back(parameter.initial.by_rank);
  for (ParameterId id = 0; id < graph.parameters.size(); ++id) {
    const Index whole = model.parameters[id];
    if (!graph.parameters[id].trained) continue;  // a batch norm's moments stay whole everywhere
    const std::string name = program_.buffers[whole].name;
    const Index part = add_numbers_on_gpu(name + ", this rank's part", part_of(whole), part_type_,
                                          Role::kParameter);
    std::swap(program_.buffers[part].initial, program_.buffers[whole].initial);
    share(program_.buffers[part].initial, program_.buffers[whole].elements());
    shards_.parameters[id] = part;
    if (model.gradients[id] == kNoIndex) continue;
    shards_.gradients[id] = add_numbers_on_gpu(name + ", gradient of this rank's part",
                                               part_of(whole), part_type_, Role::kGradient);
    program_.buffers[shards_.gradients[id]].is_view = true;
  }
  for (Unit& unit : units_)
    for (const ParameterId id : unit.parameters) {
      unit.whole.push_back(model.parameters[id]);
      unit.parts.push_back(shards_.parameters[id]);
      if (model.gradients[id] == kNoIndex) continue;
      unit.whole_gradients.push_back(model.gradients[id]);
      unit.to_put_together.push_back(model.sums[id] == kNoIndex ? model.gradients[id]
                                                                : model.sums[id]);
      unit.gradients.push_back(shards_.gradients[id]);
    }
}

void Fsdp::share(program::Initial& initial, std::int64_t elements) const {
  if (tensor_) {
    initial.shards = shards_of_each_;
    initial.shared = elements;
    initial.neighbours = neighbours_;
  } else {
    initial.by_rank = true;
    initial.ranks = shards_of_each_;
  }
}

Index Fsdp::add_numbers_on_gpu(const std::string& name, std::int64_t elements, ElementType type,
                               Role role) {
  return add_numbers(program_, name, elements, type, program::MemoryKind::kDevice, role);
}

Index Fsdp::add_payload(std::vector<Index> buffers) {
  program_.payloads.push_back(std::move(buffers));
  return static_cast<Index>(program_.payloads.size() - 1);
}

Index Fsdp::add_operation(const program::Function& function, ElementType type, Operands operands) {
  program_.operations.push_back(make_operation(program_, function, type, std::move(operands)));
  return static_cast<Index>(program_.operations.size() - 1);
}

std::int64_t Fsdp::elements_of(const std::vector<Index>& buffers) const {
  std::int64_t elements = 0;
  for (const Index buffer : buffers) elements += program_.buffers[buffer].elements();
  return elements;
}

// The copy into the all-gather's memory casts, where the model computes in another type; it fills
// a rank's place there, and the numbers come with the collective.
void Fsdp::add_gather(Unit& unit) {
  if (unit.parts.empty()) return;
  const std::int64_t elements = elements_of(unit.parts);
  unit.gathered = add_numbers_on_gpu("all-gather of " + unit.name, shards_of_each_ * elements,
                                     whole_type_, Role::kParameter);
  const std::int64_t bytes =
      elements * (program::size_of(part_type_) + program::size_of(whole_type_));
  program::Operation copy_in =
      pointwise("foreach_copy", "fsdp::all_gather_copy_in", program::OperationKind::kElementwise,
                elements, 0, static_cast<double>(bytes));
  copy_in.type = part_type_;
  copy_in.reads = unit.parts;
  copy_in.writes = {unit.gathered};
  program_.operations.push_back(std::move(copy_in));
  unit.copy_in = static_cast<Index>(program_.operations.size() - 1);
  unit.copy_out = add_operation(program::ShardsApart{shards_of_each_}, whole_type_,
                                {{unit.gathered}, unit.whole});
  unit.parts_payload = add_payload(unit.parts);
  unit.gathered_payload = add_payload({unit.gathered});
}

// NCCL's average multiplies each rank's numbers by its share before it adds them: that of all ranks
// is taken here, whoever adds what.
void Fsdp::add_scatter(Unit& unit) {
  if (unit.gradients.empty()) return;
  unit.to_scatter = add_numbers_on_gpu("gradients to scatter of " + unit.name,
                                       shards_of_each_ * elements_of(unit.gradients), reduce_type_,
                                       Role::kGradient);
  unit.together = add_operation(program::ShardsTogether{shards_of_each_, 1.0 / ranks_}, whole_type_,
                                {unit.to_put_together, {unit.to_scatter}});
  program_.operations[unit.together].is_gradient = true;
  unit.to_scatter_payload = add_payload({unit.to_scatter});
  unit.first = add_output(unit, "gradients of " + unit.name);
}

// Only what is used has memory: a program without a second reduce-scatter before the gradients are
// dropped adds nothing up.
void Fsdp::add_accumulation(Unit& unit) {
  unit.more = add_output(unit, "more gradients of " + unit.name);
  std::int64_t place = 0;
  for (const Index gradient : unit.gradients) {
    const program::Buffer like = program_.buffers[gradient];
    unit.accumulate.push_back(add_operation(program::Accumulate{like.elements(), place}, part_type_,
                                            {{unit.more.gradients}, {gradient}}));
    // Of what was scattered, a part.
    program_.operations.back().bytes = 3.0 * static_cast<double>(like.bytes);
    place += like.elements();
  }
}

Fsdp::Output Fsdp::add_output(const Unit& unit, const std::string& name) {
  const std::int64_t elements = program_.buffers[unit.to_scatter].elements() / shards_of_each_;
  Output output;
  output.sums = output.gradients =
      add_numbers_on_gpu(name, elements, reduce_type_, Role::kGradient);
  output.payload = add_payload({output.sums});
  if (reduce_type_ == part_type_) return output;
  output.gradients = add_numbers_on_gpu(name + ", in the type of the parts", elements, part_type_,
                                        Role::kGradient);
  output.cast =
      add_operation(program::Cast{elements}, reduce_type_, {{output.sums}, {output.gradients}});
  return output;
}

std::vector<Index> Fsdp::gradients() const {
  std::vector<Index> all;
  for (const Index gradient : shards_.gradients)
    if (gradient != kNoIndex) all.push_back(gradient);
  return all;
}

// ---- Gathering ---------------------------------------------------------------------------------

std::vector<Fsdp::Range> Fsdp::ranges_of(const std::vector<PlannedLaunch>& launches) const {
  std::vector<Range> ranges(units_.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].block == PlannedLaunch::kNotTheModel) continue;
    const auto block = static_cast<std::size_t>(launches[i].block);
    // Whatever the model does is in the root's time.
    for (const std::size_t unit : {kRoot, block}) {
      if (unit >= units_.size()) continue;
      if (!ranges[unit].any) ranges[unit].first = i;
      ranges[unit].any = true;
      ranges[unit].last = i;
    }
  }
  return ranges;
}

void Fsdp::begin_mark(ThreadWriter& thread, const char* what, const Unit& unit) {
  thread.add(program::BeginMark{}, fmt::format("FSDP::{} ({})", what, unit.name));
}

// `whole`: the larger of a rank's buffers.
void Fsdp::collect(ThreadWriter& thread, program::CollectiveKind kind, Index whole, Index send,
                   Index receive) {
  const bool scatters = kind == program::CollectiveKind::kReduceScatter;
  program::Collective collective;
  collective.communicator = communicator_;
  collective.kind = kind;
  collective.bytes = program_.buffers[whole].bytes;
  collective.stream = stream_;
  if (scatters) collective.after = kComputeStream;
  collective.sequence = sequence_++;
  collective.send = send;
  collective.receive = receive;
  thread.add(collective, scatters ? "c10d::_reduce_scatter_base_" : "c10d::_allgather_base_");
}

void Fsdp::gather(ThreadWriter& thread, Unit& unit) {
  if (unit.state != State::kSharded || unit.parts.empty()) return;
  begin_mark(thread, "all_gather", unit);
  thread.add(program::Alloc{unit.gathered, stream_});
  thread.add(program::Launch{unit.copy_in, stream_});
  collect(thread, program::CollectiveKind::kAllGather, unit.gathered, unit.parts_payload,
          unit.gathered_payload);
  thread.add(program::RecordEvent{event(unit, kGathered), stream_});
  thread.add(program::EndMark{});
  unit.state = State::kGathering;
}

// In forward, what was gathered is freed once the next unit's copy is launched, so that the next
// all-gather need not wait for this one; in backward a reduce-scatter lies between them.
void Fsdp::make_whole(ThreadWriter& thread, Unit& unit, bool in_forward) {
  if (unit.state != State::kGathering) return;
  if (in_forward) free_gathered_before(thread);
  begin_mark(thread, "all_gather_copy_out", unit);
  thread.add(program::StreamWait{kComputeStream, event(unit, kGathered)});
  for (const Index whole : unit.whole) thread.add(program::Alloc{whole, kComputeStream});
  thread.add(program::Launch{unit.copy_out, kComputeStream});
  thread.add(program::EndMark{});
  thread.add(program::RecordEvent{event(unit, kCopiedOut), kComputeStream});
  gathered_before_ = &unit;
  if (!in_forward) free_gathered_before(thread);
  unit.state = State::kWhole;
}

void Fsdp::free_gathered_before(ThreadWriter& thread) {
  if (!gathered_before_) return;
  thread.add(program::StreamWait{stream_, event(*gathered_before_, kCopiedOut)});
  thread.add(program::Free{gathered_before_->gathered});
  gathered_before_ = nullptr;
}

void Fsdp::reshard(ThreadWriter& thread, Unit& unit) {
  if (unit.state != State::kWhole) return;
  for (const Index whole : unit.whole) thread.add(program::Free{whole});
  unit.state = State::kSharded;
}

// What was updated is gathered, and what it was updated with is given back, behind the update: of
// narrow sums that is their stream's.
void Fsdp::wait_for_update(ThreadWriter& main) {
  main.add(program::RecordEvent{updated_event_, kComputeStream});
  main.add(program::StreamWait{stream_, updated_event_});
  if (has_replicas() && reduce_type_ != part_type_)
    main.add(program::StreamWait{reduce_stream_, updated_event_});
  behind_update_ = true;
}

void Fsdp::forward(ThreadWriter& main, const std::vector<PlannedLaunch>& launches,
                   const WriteLaunch& launch) {
  const std::vector<Range> ranges = ranges_of(launches);
  order_.clear();
  wait_for_update(main);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    for (std::size_t unit = 0; unit < units_.size(); ++unit)
      if (ranges[unit].any && ranges[unit].first == i) {
        gather(main, units_[unit]);
        make_whole(main, units_[unit], true);
      }
    launch(main, launches[i]);
    for (std::size_t unit = units_.size(); unit-- > 0;)
      if (ranges[unit].any && ranges[unit].last == i) {
        begin_mark(main, "post_forward", units_[unit]);
        if (unit != kRoot && reshards_) reshard(main, units_[unit]);
        main.add(program::EndMark{});
        order_.push_back(unit);
      }
  }
  free_gathered_before(main);
}

// ---- Backward ----------------------------------------------------------------------------------

void Fsdp::before_backward(ThreadWriter& autograd, std::size_t unit) {
  begin_mark(autograd, "pre_backward", units_[unit]);
  gather(autograd, units_[unit]);
  make_whole(autograd, units_[unit], false);
  const auto place = std::ranges::find(order_, unit);
  if (place != order_.begin() && place != order_.end()) gather(autograd, units_[*std::prev(place)]);
  autograd.add(program::EndMark{});
}

void Fsdp::free_scattered_before(ThreadWriter& autograd) {
  if (!scattered_before_) return;
  autograd.add(program::StreamWait{kComputeStream, event(*scattered_before_, kScattered)});
  autograd.add(program::Free{scattered_before_->to_scatter});
  scattered_before_ = nullptr;
}

void Fsdp::after_backward(ThreadWriter& autograd, Unit& unit, bool sums) {
  if (sums) sum_parts(autograd, unit);
  reshard(autograd, unit);
  if (unit.gradients.empty() || !sums) return;
  begin_mark(autograd, "post_backward_reduce", unit);
  free_scattered_before(autograd);
  autograd.add(program::Alloc{unit.to_scatter, kComputeStream});
  autograd.add(program::Launch{unit.together, kComputeStream});
  for (const Index gradient : unit.to_put_together) autograd.add(program::Free{gradient});
  if (gradients_there_ && unit.accumulate.empty()) add_accumulation(unit);
  const Output& output = gradients_there_ ? unit.more : unit.first;
  autograd.add(program::Alloc{output.sums, stream_});
  collect(autograd, program::CollectiveKind::kReduceScatter, unit.to_scatter,
          unit.to_scatter_payload, output.payload);
  if (has_replicas()) {
    autograd.add(program::RecordEvent{event(unit, kScattered), stream_});
    sum_replicas(autograd, output);
  }
  keep_sums(autograd, unit);
  autograd.add(program::RecordEvent{gradients_event(unit), reduce_stream_});
  autograd.add(program::EndMark{});
  scattered_before_ = &unit;
}

// FSDPParam's _get_grad_inner_tensor: a gradient that is Partial in the tensor group becomes as its
// parameter is, Replicate, one after another.
void Fsdp::sum_parts(ThreadWriter& autograd, const Unit& unit) {
  for (std::size_t i = 0; i < unit.whole_gradients.size(); ++i) {
    const Index own = unit.whole_gradients[i], sum = unit.to_put_together[i];
    if (own == sum) continue;
    autograd.add(program::Alloc{sum, kComputeStream});
    tensor_->sum(autograd, {own, sum});
    autograd.add(program::Free{own});
  }
}

void Fsdp::sum_replicas(ThreadWriter& autograd, const Output& output) {
  program::Collective all_reduce;
  all_reduce.communicator = communicator_ + 1;
  all_reduce.kind = program::CollectiveKind::kAllReduce;
  all_reduce.bytes = program_.buffers[output.sums].bytes;
  all_reduce.stream = reduce_stream_;
  all_reduce.after = stream_;
  all_reduce.sequence = replicas_sequence_++;
  all_reduce.send = all_reduce.receive = output.payload;
  autograd.add(all_reduce, "c10d::allreduce_");
}

// What another stream than the one that it was allocated for has used is kept until backward is
// done.
void Fsdp::give_back(ThreadWriter& autograd, Index sums) {
  if (has_replicas()) {
    in_all_reduce_.push_back(sums);
  } else {
    autograd.add(program::Free{sums});
  }
}

// The first sums are the gradients from here on; later ones are added to them.
void Fsdp::keep_sums(ThreadWriter& autograd, Unit& unit) {
  const Output& output = gradients_there_ ? unit.more : unit.first;
  if (output.cast != kNoIndex) {
    autograd.add(program::Alloc{output.gradients, reduce_stream_});
    autograd.add(program::Launch{output.cast, reduce_stream_});
    give_back(autograd, output.sums);
  }
  if (gradients_there_) {
    for (const Index sum : unit.accumulate) autograd.add(program::Launch{sum, reduce_stream_});
    give_back(autograd, output.gradients);
    return;
  }
  std::int64_t begin = 0;
  for (const Index gradient : unit.gradients) {
    autograd.add(program::View{output.gradients, gradient, begin});
    begin += program_.buffers[gradient].bytes;
  }
}

void Fsdp::end_backward(ThreadWriter& autograd) {
  // Replicas sum one unit behind another: behind the last, sums are free on their own stream.
  if (!in_all_reduce_.empty())
    autograd.add(program::StreamWait{stream_, gradients_event(*scattered_before_)});
  free_scattered_before(autograd);
  for (const Unit& unit : units_)
    if (!unit.gradients.empty())
      autograd.add(program::StreamWait{kComputeStream, gradients_event(unit)});
  for (const Index sums : std::exchange(in_all_reduce_, {})) autograd.add(program::Free{sums});
  gradients_there_ = true;
  behind_update_ = false;
}

void Fsdp::backward(ThreadWriter& autograd, std::vector<PlannedLaunch> launches,
                    const WriteLaunch& launch, bool sums) {
  if (!whole_there_) {
    std::set<Index> missing;
    for (const Unit& unit : units_)
      missing.insert(unit.whole_gradients.begin(), unit.whole_gradients.end());
    allocate_where_written(program_, std::move(missing), launches);
  }
  const std::vector<Range> ranges = ranges_of(launches);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    for (std::size_t unit = 0; unit < units_.size(); ++unit)
      if (ranges[unit].any && ranges[unit].first == i) before_backward(autograd, unit);
    launch(autograd, launches[i]);
    for (std::size_t unit = units_.size(); unit-- > 1;)
      if (ranges[unit].any && ranges[unit].last == i) after_backward(autograd, units_[unit], sums);
  }
  after_backward(autograd, units_[kRoot], sums);
  whole_there_ = !sums;
  if (sums) end_backward(autograd);
}

// found_inf_reduce_handler (torch/distributed/tensor/_dispatch.py) takes the largest of the ranks'
// found_inf, and copies it back: a sum of them answers the same question.
void Fsdp::sum(ThreadWriter& main, const RankSum& numbers) {
  collectives_.sum(main, numbers.own, numbers.sum, sequence_++);
  if (!numbers.takes_place) return;
  const std::int64_t bytes = program_.buffers[numbers.own].bytes;
  main.add(program::Copy{numbers.sum, numbers.own, bytes, kComputeStream}, "aten::copy_");
}

void Fsdp::drop_gradients(ThreadWriter& main) {
  if (!gradients_there_) return;
  if (!behind_update_) wait_for_update(main);
  for (const Unit& unit : units_)
    if (!unit.gradients.empty()) main.add(program::Free{unit.first.gradients});
  gradients_there_ = false;
}

}  // namespace trainscope::train
