#include "cuda/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <set>
#include <thread>

#include "base/error.h"
#include "cuda/thread_run.h"
#include "cuda/trace_writer.h"
#include "host/channel_order.h"
#include "sim/recorder.h"

namespace trainscope::cuda {
namespace {

bool has_model(const program::Program& program) {
  return program.parameters > 0;
}

template <typename Action>
bool has_command(const program::Program& program) {
  return std::any_of(program.threads.begin(), program.threads.end(), [](const auto& thread) {
    return std::any_of(thread.commands.begin(), thread.commands.end(), [](const auto& command) {
      return std::holds_alternative<Action>(command.action);
    });
  });
}

// The GPU that each event is recorded on.
std::vector<int> gpus_of_events(const program::Program& program) {
  std::vector<int> gpus(program.events);
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* record = std::get_if<program::RecordEvent>(&command.action))
        gpus[record->event] = program.streams[record->stream].device;
  return gpus;
}

bool keeps_state(const program::Operation& operation) {
  return std::holds_alternative<program::SgdUpdate>(operation.function) ||
         std::holds_alternative<program::AdamUpdate>(operation.function) ||
         std::holds_alternative<program::UpdateScale>(operation.function);
}

// Of host threads.
int ranks_of(const program::Program& program) {
  int ranks = 1;
  for (const program::Thread& thread : program.threads) ranks = std::max(ranks, thread.rank + 1);
  return ranks;
}

}  // namespace

int gpus_with_streams(const program::Program& program) {
  std::set<int> gpus;
  for (const program::Stream& stream : program.streams) gpus.insert(stream.device);
  return std::max(1, static_cast<int>(gpus.size()));
}

namespace {

// Ranks that differ share operations, on the buffers of one of them: enough to simulate times.
bool ranks_share_operations(const program::Program& program) {
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands) {
      const auto* launch = std::get_if<program::Launch>(&command.action);
      if (!launch) continue;
      const program::Operation& operation = program.operations[launch->operation];
      if (!operation.writes.empty() && program.buffers[operation.writes.front()].device !=
                                           program.streams[launch->stream].device)
        return true;
    }
  return false;
}

}  // namespace

bool is_empty_launch(const program::Program& program, const program::Operation& operation) {
  return has_model(program) && operation.parts.empty() &&
         std::holds_alternative<std::monostate>(operation.function);
}

std::string refusal_of(const program::Program& program, const DeviceCalls& device) {
  if (program.recording.trace)
    return "a replay carries out what a trace says took so long, and nothing is computed; simulate "
           "it with --executor sim";
  for (const program::Communicator& one : program.communicators)
    if (one.simulated + device.ranks_elsewhere() < one.ranks)
      throw Error(Fault::kInternal,
                  "one rank of the " + one.name + " stands for all, and a device carries out each");
  const bool shares = gpus_with_streams(program) > device.gpus();
  if (shares && std::any_of(program.streams.begin(), program.streams.end(), [](const auto& one) {
        return one.kind == program::StreamKind::kBlocking;
      }))
    return "GPUs that share a real one have no streams that wait for the default stream, and this "
           "run has some; simulate it with --executor sim";
  if (has_command<program::Compute>(program))
    return "this run computes on the CPU and has nothing for a GPU; simulate it with "
           "--executor sim";
  if (ranks_share_operations(program))
    return "ranks that differ (straggler.rank, uneven_batches) are only simulated; write "
           "--executor sim";
  for (const program::Operation& operation : program.operations) {
    if (is_empty_launch(program, operation)) continue;
    const std::string why = device.refusal(operation);
    if (!why.empty()) return why;
  }
  return "";
}

Execution::Execution(const program::Program& program, const machine::Machine& machine,
                     DeviceCalls& device, trace::Trace& trace, Nanos time_out)
    : program_(program),
      machine_(machine),
      device_(device),
      trace_(trace),
      waits_(program),
      meetings_(program, device, waits_, time_out),
      graphs_(program.graphs.size()),
      draws_(program),
      blocks_(device),
      logs_(program.threads.size()) {
  program::validate(program);
  if (const std::string why = refusal_of(program, device); !why.empty()) throw MissingError(why);
  if (program.data.name.empty() || program.timing_only) return;
  const host::DataSets sets = host::as_convolutions_read(program, host::DataSets(program.data));
  for (int rank = 0; rank < ranks_of(program); ++rank)
    batches_.push_back(
        std::make_unique<host::BatchSource>(program.data, sets, rank / program.gpus_of_batch));
}

Execution::~Execution() {
  release_all();
}

void Execution::set_up() {
  for (const program::Stream& stream : program_.streams)
    streams_.push_back(
        device_.make_stream(shares_gpus() ? program::StreamKind::kNonBlocking : stream.kind,
                            stream.priority, stream.device));
  const std::vector<int> gpus = gpus_of_events(program_);
  for (program::Index i = 0; i < program_.events; ++i)
    events_.push_back(device_.make_event(gpus[i]));
  buffers_ = std::make_unique<Buffers>(program_, device_, streams_);
  steps_ = std::make_unique<StepLog>(program_, device_, *buffers_, streams_.front());
  make_states();
  make_rooms();
  if (!program_.communicators.empty()) {
    collective_memory_ = std::make_unique<CollectiveMemory>(program_, device_, *buffers_, streams_);
    collectives_ = std::make_unique<Collectives>(program_, device_, *collective_memory_, streams_);
  }
  device_.synchronise();
  device_.collect();  // what filled the memory is no part of the run
  begin_ = device_.now();
}

// On the GPU that the operation is launched on.
void Execution::make_states() {
  states_.resize(program_.operations.size());
  for (const program::Thread& thread : program_.threads)
    for (const program::Command& command : thread.commands) {
      const auto* launch = std::get_if<program::Launch>(&command.action);
      if (!launch || states_[launch->operation].memory ||
          !keeps_state(program_.operations[launch->operation]))
        continue;
      const StreamHandle stream = streams_[launch->stream];
      State& state = states_[launch->operation];
      state = {static_cast<char*>(device_.allocate(kStateBytes, stream)), launch->stream};
      device_.fill_zero(state.memory, kStateBytes, stream);
    }
}

// As much as any operation needs that is launched on the stream, whose kernels are made ready.
void Execution::make_rooms() {
  std::vector<std::int64_t> floats(program_.streams.size());
  std::set<program::Index> ready;
  for (const program::Thread& thread : program_.threads)
    for (const program::Command& command : thread.commands) {
      const auto* launch = std::get_if<program::Launch>(&command.action);
      if (!launch || is_empty_launch(program_, program_.operations[launch->operation])) continue;
      const KernelCall call = operands_of(program_.operations[launch->operation]);
      floats[launch->stream] = std::max(floats[launch->stream], device_.room_for(call));
      if (ready.insert(launch->operation).second) device_.prepare(call);
    }
  for (program::Index i = 0; i < floats.size(); ++i) {
    const auto bytes = floats[i] * static_cast<std::int64_t>(sizeof(float));
    rooms_.push_back(bytes == 0 ? nullptr
                                : static_cast<float*>(device_.allocate(bytes, streams_[i])));
  }
}

KernelCall Execution::operands_of(const program::Operation& operation) const {
  KernelCall call;
  call.operation = &operation;
  for (const program::Index i : operation.reads) call.reads.push_back(buffers_->operand(i));
  for (const program::Index i : operation.writes) call.writes.push_back(buffers_->operand(i));
  for (const program::Operation& part : operation.parts) call.parts.push_back(operands_of(part));
  return call;
}

KernelCall Execution::kernel_call(program::Index index, program::Index stream) const {
  const program::Operation& operation = program_.operations[index];
  const auto lend = [this](const program::Operation& one) {
    for (const auto* list : {&one.reads, &one.writes})
      for (const program::Index buffer : *list) buffers_->lend(buffer);
  };
  lend(operation);
  for (const program::Operation& part : operation.parts) lend(part);
  KernelCall call = operands_of(operation);
  const auto complete = [&](KernelCall& one) {
    one.room = rooms_[stream];
    one.state = states_[index].memory;
    one.seed = static_cast<std::uint64_t>(program_.seed);
    one.floor = machine_.gpu.kernel_floor_ns;
  };
  complete(call);
  for (KernelCall& part : call.parts) complete(part);
  return call;
}

void Execution::carry_out(const std::vector<RankCall>& calls, ThreadLog& log) {
  const std::lock_guard held(collectives_mutex_);
  collectives_->carry_out(calls, [this] { return ++next_call_; }, log);
}

void Execution::fail(std::uint16_t line, const std::exception& why) {
  const std::lock_guard held(failure_mutex_);
  const bool no_room = dynamic_cast<const OutOfDeviceMemory*>(&why) != nullptr;
  if (!failure_) failure_ = Failure{device_.now() - begin_, line, why.what(), no_room};
}

void Execution::run_thread(std::size_t thread) {
  ThreadRun one(*this, thread);
  try {
    device_.enter_thread();
    one.carry_out();
    device_.leave_thread();
  } catch (const Abandoned&) {
    waits_.stop();
  } catch (const std::exception& error) {
    fail(one.line(), error);
    waits_.stop();
  }
  waits_.thread_ended();
}

void Execution::run_threads() {
  std::vector<std::jthread> others;
  try {
    for (std::size_t i = 1; i < program_.threads.size(); ++i)
      others.emplace_back([this, i] { run_thread(i); });
    if (!program_.threads.empty()) run_thread(0);
  } catch (const std::exception&) {  // of a thread that could not be started: none throws itself
    fail(0, InputError(fmt::format("this system starts no more than {} of the {} host threads of "
                                   "the run; fewer ranks or loader.num_workers need fewer",
                                   others.size() + 1, program_.threads.size())));
    waits_.stop();
  }
}

std::optional<Failure> Execution::run() {
  begin_ = device_.now();
  handles_ = device_.handles();
  try {
    set_up();
  } catch (const Error& error) {
    fail(0, error);
    return failure_;
  }
  run_threads();
  try {
    device_.synchronise();
  } catch (const Error& error) {
    fail(0, error);
  }
  duration_ = device_.now() - begin_;
  write_trace();
  return failure_;
}

void Execution::cancel() {
  cancelled_ = true;
  waits_.stop();
}

void Execution::write_trace() {
  TraceWriter writer(program_, machine_, trace_, begin_);
  const Activities activities = device_.collect();
  std::vector<BlockTrace> blocks;
  try {
    blocks = blocks_.take();
    device_.collect();  // what copied them is no part of the run
  } catch (const Error& error) {
    fail(0, error);
  }
  writer.write(logs_, activities, buffers_->changes(), blocks, failure_.has_value());
  if (const std::int64_t count = blocks_.dropped(); count > 0)
    trace_.add_dropped({"launches whose blocks there was no room for", count, false});
  try {
    steps_->write(trace_, [&](CallId call) { return writer.done(call); });
  } catch (const Error& error) {
    fail(0, error);
  }
}

// What a lost device had is gone with it.
void Execution::release_all() {
  try {
    device_.synchronise();
    for (program::Index i = 0; i < rooms_.size(); ++i)
      if (rooms_[i]) device_.release(rooms_[i], streams_[i]);
    for (const State& state : states_)
      if (state.memory) device_.release(state.memory, streams_[state.stream]);
    for (std::uint64_t* base : draws_.bases())
      if (base) device_.release(base, streams_.front());
  } catch (const Error&) {
  }
  collectives_.reset();
  collective_memory_.reset();
  steps_.reset();
  buffers_.reset();
  try {
    device_.synchronise();
  } catch (const Error&) {
  }
  if (handles_) device_.release_after(*handles_);
}

}  // namespace trainscope::cuda
