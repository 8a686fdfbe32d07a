#include "cuda/thread_run.h"

#include <cstring>

#include "cuda/contents.h"

namespace trainscope::cuda {

using program::Index;

// A stream that is left capturing would have every later wait for the device fail.
ThreadRun::~ThreadRun() {
  for (void* memory : page_locked_) device_.release_host(memory, program::MemoryKind::kPinned);
  for (Execution::GraphState& graph : run_.graphs_) {
    if (graph.thread != thread_) continue;
    graph.thread = SIZE_MAX;
    try {
      graph.handle = device_.end_capture(graph.own);
    } catch (const Error&) {  // it was broken, or the device is lost
    }
  }
}

void ThreadRun::carry_out() {
  const std::vector<Command>& commands = run_.program_.threads[thread_].commands;
  while (next_ < commands.size()) {
    if (run_.cancelled_ || run_.waits_.stopped()) throw Abandoned{};
    const Command& command = commands[next_];
    line_ = command.line;
    ++next_;
    run(command);
    ++run_.commands_done_;
  }
}

// ---- the host -----------------------------------------------------------------------------------

void ThreadRun::operator_on_host(const Command& command, Nanos duration, bool on_core) {
  const bool loads = std::get<program::HostWork>(command.action).loads_data;
  const auto span =
      timed(command, loads ? "load" : "work", [&] { device_.pass_time(duration, on_core); });
  HostSpan& left = log_.spans[static_cast<std::size_t>(span)];
  left.name = command.name;
  left.category = loads ? trace::Category::kLoader : trace::Category::kHostWork;
}

// Between two halves of the thread's own scratch memory, which a program does not say more of.
void ThreadRun::host_copy(const Command& command) {
  const auto bytes = static_cast<std::size_t>(std::get<program::HostCopy>(command.action).bytes);
  if (scratch_.size() < 2 * bytes) scratch_.resize(2 * bytes);
  const auto span = timed(command, "pin", [&] {
    std::memcpy(scratch_.data() + bytes, scratch_.data(), bytes);
    device_.pass_time(0, true);
  });
  HostSpan& left = log_.spans[static_cast<std::size_t>(span)];
  left.name = command.name;
  left.category = trace::Category::kPin;
}

void ThreadRun::host_alloc(const Command& command, std::int64_t bytes) {
  timed(command, "cudaHostAlloc", [&] {
    page_locked_.push_back(device_.allocate_host(bytes, program::MemoryKind::kPinned));
  });
}

void ThreadRun::load(const program::LoadBatch& load) {
  if (run_.batches_.empty()) return;
  host::BatchSource& batches =
      *run_.batches_[static_cast<std::size_t>(run_.program_.threads[thread_].rank)];
  const program::Buffer& x = run_.program_.buffers[load.x];
  const program::Buffer& y = run_.program_.buffers[load.y];
  const bool on_device = x.kind == program::MemoryKind::kDevice;
  std::vector<char> staged_x, staged_y;
  std::vector<float> wide_x;  // of a narrow type
  const auto memory = [&](Index buffer, std::vector<char>& staged) -> void* {
    if (!on_device) {
      run_.buffers_->renew(buffer);
      return run_.buffers_->at(buffer);
    }
    staged.resize(static_cast<std::size_t>(run_.program_.buffers[buffer].bytes));
    return staged.data();
  };
  if (!on_device && run_.buffers_->holds(load)) return;
  void* to_x = memory(load.x, staged_x);
  void* to_y = memory(load.y, staged_y);
  host::BatchSource::Batch batch;
  const auto count = static_cast<std::size_t>(x.elements());
  if (x.type == program::ElementType::kInt64) {
    batch.tokens = {static_cast<std::int64_t*>(to_x), count};
  } else if (program::size_of(x.type) < static_cast<std::int64_t>(sizeof(float))) {
    wide_x.resize(count);
    batch.values = wide_x;
  } else {
    batch.values = {static_cast<float*>(to_x), count};
  }
  batch.targets = {static_cast<std::int64_t*>(to_y), static_cast<std::size_t>(y.elements())};
  {
    const std::lock_guard held(run_.batches_mutex_);
    batches.read(load.batch, load.test, batch);
  }
  if (!wide_x.empty()) {
    staged_x = stored_as(x.type, wide_x);
    to_x = staged_x.data();
  }
  if (!on_device) return run_.buffers_->note_loaded(load);
  // A view of a data set that lies on the device: the set's copy there is made batch by batch.
  const Index stream = run_.buffers_->first_of(load.x);
  const auto upload = [&](Index buffer, const void* from) {
    during_call(device_, hidden_call(stream, line_), handle(stream), [&] {
      device_.copy({from, run_.buffers_->at(buffer), run_.program_.buffers[buffer].bytes,
                    program::MemoryKind::kPageable, program::MemoryKind::kDevice},
                   handle(stream));
    });
  };
  upload(load.x, to_x);
  upload(load.y, to_y);
  // Pageable memory is read when the calls return; what another stream launches comes later.
  if (run_.program_.streams.size() > 1) device_.synchronise_stream(handle(stream));
}

void ThreadRun::branch(const program::Branch& branch) {
  const auto* value = static_cast<const float*>(run_.buffers_->at(branch.value));
  if (!value || *value == 0) return;
  next_ += branch.skipped;
  run_.commands_done_ += branch.skipped;
}

// ---- the device ---------------------------------------------------------------------------------

Execution::GraphState* ThreadRun::captured(Index stream) {
  for (Execution::GraphState& graph : run_.graphs_)
    if (graph.thread == thread_ && graph.stream == stream) return &graph;
  return nullptr;
}

CallId ThreadRun::hidden_call(Index stream, std::uint16_t line) {
  Call call;
  call.id = ++run_.next_call_;
  call.line = line;
  call.stream = stream;
  call.is_hidden = true;
  log_.calls.push_back(call);
  return call.id;
}

Call ThreadRun::call_on(const Command& command, Index stream) {
  Call call;
  call.id = ++run_.next_call_;
  call.line = command.line;
  call.phase = command.phase;
  call.stream = stream;
  return call;
}

// Of the last span.
void ThreadRun::keep(const Call& call) {
  log_.spans.back().call = call.id;
  log_.calls.push_back(call);
}

void ThreadRun::launch(const Command& command) {
  const auto& action = std::get<program::Launch>(command.action);
  const program::Operation& operation = run_.program_.operations[action.operation];
  if (is_empty_launch(run_.program_, operation)) return;
  KernelCall kernel = run_.kernel_call(action.operation, action.stream);
  if (action.predicate != program::kNoIndex)
    kernel.predicate = static_cast<float*>(run_.buffers_->at(action.predicate));
  Execution::GraphState* graph = captured(action.stream);
  run_.draws_.place(kernel,
                    graph ? static_cast<Index>(graph - run_.graphs_.data()) : program::kNoIndex);
  const bool changes_scale = run_.steps_->changes_scale(operation);
  if (changes_scale && !graph)
    run_.steps_->note_used_scale(handle(action.stream), hidden_call(action.stream, command.line));
  Call call = call_on(command, action.stream);
  call.operation = &operation;
  if (!graph) kernel.records = run_.blocks_.room_for(kernel, call.id, handle(action.stream));
  call.span = timed(command, "cudaLaunchKernel", [&] {
    const StreamHandle stream = graph ? graph->own : handle(action.stream);
    during_call(device_, call.id, stream, [&] { device_.launch(kernel, stream); });
  });
  if (graph) {
    graph->computes_loss |= run_.steps_->loss_of(operation) != program::kNoIndex;
    graph->changes_scale |= changes_scale;
    return;
  }
  keep(call);
  if (const Index loss = run_.steps_->loss_of(operation); loss != program::kNoIndex)
    run_.steps_->note_loss(loss, handle(action.stream), hidden_call(action.stream, command.line));
}

void ThreadRun::capture(const program::BeginCapture& begin) {
  Execution::GraphState& graph = run_.graphs_[begin.graph];
  graph.stream = begin.stream;
  graph.thread = thread_;
  graph.own = device_.make_stream(program::StreamKind::kNonBlocking, 0,
                                  run_.program_.streams[begin.stream].device);
  constexpr std::int64_t kAligned = 16;
  run_.draws_.set_base(
      begin.graph, static_cast<std::uint64_t*>(device_.allocate(kAligned, handle(begin.stream))));
  device_.begin_capture(graph.own);
}

void ThreadRun::end_capture(const program::EndCapture& end) {
  Execution::GraphState& graph = run_.graphs_[end.graph];
  graph.handle = device_.end_capture(graph.own);
  graph.thread = SIZE_MAX;
}

void ThreadRun::launch_graph(const Command& command) {
  const auto& action = std::get<program::GraphLaunch>(command.action);
  const Execution::GraphState& graph = run_.graphs_[action.graph];
  if (graph.changes_scale)
    run_.steps_->note_used_scale(handle(action.stream), hidden_call(action.stream, command.line));
  if (const auto drawn = run_.draws_.launch(action.graph)) {
    during_call(device_, hidden_call(action.stream, command.line), handle(action.stream), [&] {
      device_.copy({&*drawn, run_.draws_.bases()[action.graph], sizeof(*drawn),
                    program::MemoryKind::kPageable, program::MemoryKind::kDevice},
                   handle(action.stream));
    });
  }
  Call call = call_on(command, action.stream);
  call.span = timed(command, "cudaGraphLaunch", [&] {
    during_call(device_, call.id, handle(action.stream),
                [&] { device_.launch_graph(graph.handle, handle(action.stream)); });
  });
  keep(call);
  if (graph.computes_loss)
    run_.steps_->note_loss(run_.program_.gauges.loss, handle(action.stream),
                           hidden_call(action.stream, command.line));
}

void ThreadRun::copy(const Command& command, const program::Copy& copy) {
  const auto kind = [&](Index buffer) { return run_.program_.buffers[buffer].kind; };
  Call call = call_on(command, copy.stream);
  call.copy = &copy;
  call.span = timed(command, "cudaMemcpyAsync", [&] {
    during_call(device_, call.id, handle(copy.stream), [&] {
      device_.copy({static_cast<char*>(run_.buffers_->at(copy.from)) + copy.from_begin,
                    static_cast<char*>(run_.buffers_->at(copy.to)) + copy.to_begin, copy.bytes,
                    kind(copy.from), kind(copy.to)},
                   handle(copy.stream));
    });
  });
  keep(call);
  run_.buffers_->was_read(copy.from, copy.stream);
}

void ThreadRun::allocate(const Command& command, const program::Alloc& alloc) {
  const bool fills = run_.buffers_->fills(alloc);
  timed(command, "cudaMallocAsync", [&] {
    if (!fills) return run_.buffers_->allocate(alloc);
    during_call(device_, hidden_call(alloc.stream, command.line), handle(alloc.stream),
                [&] { run_.buffers_->allocate(alloc); });
  });
}

// Memory that a stream's work still uses would stay: PyTorch frees with cudaFree, which waits, too.
void ThreadRun::empty_cache(const Command& command) {
  timed(command, "cudaMemPoolTrimTo", [&] {
    synchronise_gpu();
    device_.empty_cache(run_.program_.threads[thread_].device);
  });
}

void ThreadRun::synchronise(const Command& command) {
  const auto& action = command.action;
  const auto* event = std::get_if<program::EventSync>(&action);
  const auto* device = std::get_if<program::DeviceSync>(&action);
  const auto* scalar = std::get_if<program::ReadScalar>(&action);
  const Index stream = scalar            ? scalar->copy.stream
                       : event || device ? program::kNoIndex
                                         : std::get<program::StreamSync>(action).stream;
  const char* word = event    ? "cudaEventSynchronize"
                     : device ? "cudaDeviceSynchronize"
                              : "cudaStreamSynchronize";
  timed(command, word, [&] {
    if (event) {
      device_.synchronise_event(run_.events_[event->event]);
    } else if (device) {
      synchronise_gpu();
    } else {
      device_.synchronise_stream(handle(stream));
    }
  });
  log_.spans.back().waits = true;
  log_.spans.back().drains =
      stream != program::kNoIndex || (device && sim::gpus_to_the_last(run_.program_) == 1);
  log_.spans.back().stream = stream;
}

// Of several GPUs the thread's own, streams of the others go on.
void ThreadRun::synchronise_gpu() {
  const std::vector<program::Stream>& streams = run_.program_.streams;
  if (sim::gpus_to_the_last(run_.program_) == 1) return device_.synchronise();
  for (Index i = 0; i < streams.size(); ++i)
    if (streams[i].device == run_.program_.threads[thread_].device)
      device_.synchronise_stream(handle(i));
}

// ---- other threads ------------------------------------------------------------------------------

// Workers, the pin thread and autograd's rest while they wait; the training thread is held, or in a
// call that has a name of its own.
void ThreadRun::take(const Command& command, Index queue, std::optional<std::int64_t> item) {
  const Nanos start = device_.now();
  item_ = run_.waits_.take(queue, item);
  if (run_.program_.threads[thread_].role != program::ThreadRole::kMain) return;
  HostSpan span;
  span.start = start;
  span.end = device_.now();
  span.word = "waits for data";
  span.name = command.name;
  span.category =
      command.name == program::kNoIndex ? trace::Category::kHeld : trace::Category::kHostWork;
  span.line = command.line;
  log_.spans.push_back(span);
}

void ThreadRun::acquire(const Command&, Index lock) {
  run_.waits_.acquire(lock);
}

void ThreadRun::begin_mark(const Command& command) {
  marks_.push_back({command.name, device_.now(), command.line});
}

void ThreadRun::end_mark() {
  const Mark mark = marks_.back();
  marks_.pop_back();
  HostSpan span;
  span.start = mark.start;
  span.end = device_.now();
  span.word = "mark";
  span.name = mark.name;
  span.category = trace::Category::kAnnotation;
  span.line = mark.line;
  log_.marks.push_back(span);
}

}  // namespace trainscope::cuda
