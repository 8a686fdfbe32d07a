#include "stand_in/machine.h"

#include <string>
#include <utility>

#include "stand_in/calls.h"
#include "stand_in/options.h"
#include "stand_in/tracer.h"

namespace trainscope::stand_in {

Machine& machine() {
  static Machine& one = *new Machine;
  return one;
}

Machine::Machine() : queue_(&tell_tracer) {
  for (int gpu = 0; gpu < options().gpus; ++gpu)
    legacy_[gpu] = {.gpu = gpu, .is_legacy = true, .waits_for_legacy = true};
}

// ---- handles ------------------------------------------------------------------------------------

cudaStream_t Machine::make_stream(unsigned flags) {
  const std::lock_guard held(mutex_);
  auto* stream = new CUstream_st{.gpu = thread_state().gpu,
                                 .waits_for_legacy = (flags & cudaStreamNonBlocking) == 0};
  streams_.insert(stream);
  return stream;
}

cudaEvent_t Machine::make_event(unsigned flags) {
  const std::lock_guard held(mutex_);
  auto* event =
      new CUevent_st{.gpu = thread_state().gpu, .is_timed = (flags & cudaEventDisableTiming) == 0};
  events_.insert(event);
  return event;
}

CUgraphExec_st* Machine::instantiate(cudaGraph_t graph) {
  const std::lock_guard held(mutex_);
  if (!graphs_.contains(graph)) return nullptr;
  auto* exec = new CUgraphExec_st{++graph_numbers_, graph->nodes};
  execs_.insert(exec);
  return exec;
}

namespace {

template <typename Handle>
cudaError_t taken_out(std::set<Handle>& all, Handle handle) {
  if (all.erase(handle) == 0)
    return breaks(cudaErrorInvalidResourceHandle, "a handle is destroyed that there is not");
  delete handle;
  return cudaSuccess;
}

}  // namespace

cudaError_t Machine::destroy(cudaStream_t stream) {
  const std::lock_guard held(mutex_);
  return taken_out(streams_, stream);
}
cudaError_t Machine::destroy(cudaEvent_t event) {
  const std::lock_guard held(mutex_);
  return taken_out(events_, event);
}
cudaError_t Machine::destroy(cudaGraph_t graph) {
  const std::lock_guard held(mutex_);
  return taken_out(graphs_, graph);
}
cudaError_t Machine::destroy(cudaGraphExec_t exec) {
  const std::lock_guard held(mutex_);
  return taken_out(execs_, exec);
}

std::string Machine::left() {
  const std::lock_guard held(mutex_);
  std::string words;
  const auto say = [&](std::size_t count, const char* what) {
    if (count > 0) words += (words.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  say(streams_.size(), "streams");
  say(events_.size(), "events");
  say(graphs_.size(), "graphs");
  say(execs_.size(), "executable graphs");
  const auto say_memory = [&](const std::string& sizes, const char* what) {
    if (!sizes.empty()) words += (words.empty() ? "" : ", ") + sizes + what;
  };
  say_memory(memory_.sizes(Where::kDevice), " of device memory");
  say_memory(memory_.sizes(Where::kPinned), " of pinned memory");
  return words;
}

// ---- streams ------------------------------------------------------------------------------------

CUstream_st* Machine::find(cudaStream_t stream) {
  if (!stream || stream == cudaStreamLegacy) return &legacy_.at(thread_state().gpu);
  return streams_.contains(stream) ? stream : nullptr;
}

int Machine::gpu_of(cudaStream_t stream) {
  const std::lock_guard held(mutex_);
  const CUstream_st* found = find(stream);
  return found ? found->gpu : -1;
}

bool Machine::is_captured(cudaStream_t stream) {
  const std::lock_guard held(mutex_);
  const CUstream_st* found = find(stream);
  return found && found->graph;
}

// Programming Guide, "Prohibited and Unhandled Operations": what would wait for a captured stream
// through the legacy default stream.
cudaError_t Machine::refusal(const CUstream_st& stream, bool needs_own_gpu) {
  if (needs_own_gpu && stream.gpu != thread_state().gpu)
    return breaks(cudaErrorInvalidResourceHandle,
                  "work is put on a stream of GPU " + std::to_string(stream.gpu) +
                      " by a thread on GPU " + std::to_string(thread_state().gpu));
  if (!stream.is_legacy) return cudaSuccess;
  for (cudaStream_t other : streams_)
    if (other->graph && other->gpu == stream.gpu && other->waits_for_legacy) {
      other->capture_failed = cudaErrorStreamCaptureImplicit;
      return breaks(cudaErrorStreamCaptureImplicit,
                    "the legacy default stream would wait for a stream that is captured");
    }
  return cudaSuccess;
}

std::vector<OpRef> Machine::before(const CUstream_st& stream) const {
  std::vector<OpRef> all{stream.tail};
  if (stream.is_legacy) {
    for (const cudaStream_t other : streams_)
      if (other->gpu == stream.gpu && other->waits_for_legacy) all.push_back(other->tail);
  } else if (stream.waits_for_legacy) {
    all.push_back(legacy_.at(stream.gpu).tail);
  }
  return all;
}

OpRef Machine::add(CUstream_st& stream, Work work, std::vector<OpRef> behind) {
  for (OpRef& one : before(stream)) behind.push_back(std::move(one));
  return stream.tail = queue_.add(std::move(work), stream.gpu, thread_state().correlation, behind);
}

cudaError_t Machine::put(cudaStream_t handle, Work work, const Put& how) {
  const std::lock_guard held(mutex_);
  CUstream_st* stream = find(handle);
  if (!stream) return breaks(cudaErrorInvalidResourceHandle, "there is no such stream");
  if (const cudaError_t status = refusal(*stream, how.needs_own_gpu); status != cudaSuccess)
    return status;
  OpRef op;
  if (stream->graph) {
    stream->graph->nodes.push_back(std::move(work));
  } else {
    op = add(*stream, std::move(work), how.behind);
  }
  if (how.op) *how.op = op;
  return cudaSuccess;
}

cudaError_t Machine::launch(cudaGraphExec_t exec, cudaStream_t handle) {
  const std::lock_guard held(mutex_);
  CUstream_st* stream = find(handle);
  if (!stream || !execs_.contains(exec))
    return breaks(cudaErrorInvalidResourceHandle, "there is no such stream, or no such graph");
  if (stream->graph) return breaks(cudaErrorNotSupported, "a graph is launched into a graph");
  if (const cudaError_t status = refusal(*stream, true); status != cudaSuccess) return status;
  std::uint64_t number = 0;
  for (Work node : exec->nodes) {
    node.graph = exec->number;
    node.node = ++number;
    add(*stream, std::move(node), {});
  }
  return cudaSuccess;
}

// ---- events -------------------------------------------------------------------------------------

// Programming Guide, "Stream and Event Behavior": recording fails where event and stream are of
// different GPUs, waiting does not.
cudaError_t Machine::record(cudaEvent_t event, cudaStream_t handle) {
  const std::lock_guard held(mutex_);
  CUstream_st* stream = find(handle);
  if (!stream || !events_.contains(event))
    return breaks(cudaErrorInvalidResourceHandle, "there is no such stream, or no such event");
  if (event->gpu != stream->gpu)
    return breaks(cudaErrorInvalidResourceHandle, "an event is recorded on another GPU's stream");
  if (const cudaError_t status = refusal(*stream, false); status != cudaSuccess) return status;
  event->is_captured = stream->graph != nullptr;
  if (!stream->graph) event->op = add(*stream, {}, {});
  return cudaSuccess;
}

cudaError_t Machine::wait(cudaStream_t handle, cudaEvent_t event) {
  const std::lock_guard held(mutex_);
  CUstream_st* stream = find(handle);
  if (!stream || !events_.contains(event))
    return breaks(cudaErrorInvalidResourceHandle, "there is no such stream, or no such event");
  if (event->is_captured != (stream->graph != nullptr)) {
    if (stream->graph) stream->capture_failed = cudaErrorStreamCaptureIsolation;
    return breaks(cudaErrorStreamCaptureIsolation,
                  "a stream waits for an event from outside of its capture, or from inside of one");
  }
  if (const cudaError_t status = refusal(*stream, false); status != cudaSuccess) return status;
  if (!stream->graph && event->op) add(*stream, {}, {event->op});
  return cudaSuccess;
}

cudaError_t Machine::elapsed(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  OpRef ops[2];
  {
    const std::lock_guard held(mutex_);
    if (!events_.contains(from) || !events_.contains(to) || !from->is_timed || !to->is_timed ||
        from->gpu != to->gpu || !from->op || !to->op)
      return breaks(cudaErrorInvalidResourceHandle,
                    "time between events that were not recorded, keep no time, or are of two GPUs");
    ops[0] = from->op;
    ops[1] = to->op;
  }
  for (const OpRef& op : ops)
    if (!queue_.is_done(op)) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(static_cast<double>(ops[1]->ended - ops[0]->ended) / 1e6);
  return cudaSuccess;
}

// ---- waiting ------------------------------------------------------------------------------------

cudaError_t Machine::look_at(cudaStream_t handle, bool waits) {
  std::vector<OpRef> ops;
  {
    const std::lock_guard held(mutex_);
    CUstream_st* stream = find(handle);
    if (!stream) return breaks(cudaErrorInvalidResourceHandle, "there is no such stream");
    if (stream->graph) {
      stream->capture_failed = cudaErrorStreamCaptureUnsupported;
      return breaks(cudaErrorStreamCaptureUnsupported, "somebody waits for a captured stream");
    }
    if (const cudaError_t status = refusal(*stream, false); status != cudaSuccess) return status;
    ops = stream->is_legacy ? before(*stream) : std::vector<OpRef>{stream->tail};
  }
  for (const OpRef& op : ops) {
    if (waits) {
      queue_.wait(op);
    } else if (!queue_.is_done(op)) {
      return cudaErrorNotReady;
    }
  }
  return cudaSuccess;
}

cudaError_t Machine::look_at(cudaEvent_t event, bool waits) {
  OpRef op;
  {
    const std::lock_guard held(mutex_);
    if (!events_.contains(event))
      return breaks(cudaErrorInvalidResourceHandle, "there is no such event");
    if (event->is_captured)
      return breaks(cudaErrorCapturedEvent, "somebody waits for an event that was captured");
    op = event->op;
  }
  if (!waits) return queue_.is_done(op) ? cudaSuccess : cudaErrorNotReady;
  queue_.wait(op);
  return cudaSuccess;
}

cudaError_t Machine::synchronise(int gpu) {
  {
    const std::lock_guard held(mutex_);
    for (cudaStream_t stream : streams_)
      if (stream->graph && stream->gpu == gpu) {
        stream->capture_failed = cudaErrorStreamCaptureUnsupported;
        return breaks(cudaErrorStreamCaptureUnsupported,
                      "somebody waits for a GPU of which a stream is captured");
      }
  }
  queue_.wait_for_all();
  return cudaSuccess;
}

// ---- capture ------------------------------------------------------------------------------------

cudaError_t Machine::begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const std::lock_guard held(mutex_);
  CUstream_st* stream = find(handle);
  if (!stream) return breaks(cudaErrorInvalidResourceHandle, "there is no such stream");
  if (stream->is_legacy)
    return breaks(cudaErrorStreamCaptureUnsupported, "the legacy default stream is captured");
  if (stream->graph) return breaks(cudaErrorIllegalState, "a stream is captured twice at once");
  stream->graph = new CUgraph_st{++graph_numbers_};
  stream->mode = mode;
  stream->capture_failed = cudaSuccess;
  return cudaSuccess;
}

cudaError_t Machine::end_capture(cudaStream_t handle, cudaGraph_t* graph) {
  const std::lock_guard held(mutex_);
  CUstream_st* stream = find(handle);
  if (!stream || !stream->graph)
    return breaks(cudaErrorIllegalState, "the capture of a stream ends that is not captured");
  *graph = std::exchange(stream->graph, nullptr);
  if (stream->capture_failed != cudaSuccess) {
    delete std::exchange(*graph, nullptr);
    return breaks(cudaErrorStreamCaptureInvalidated, "something has spoiled the capture");
  }
  graphs_.insert(*graph);
  return cudaSuccess;
}

cudaError_t Machine::unsafe_while_captured(const char* what) {
  const std::lock_guard held(mutex_);
  for (cudaStream_t stream : streams_)
    if (stream->graph && stream->mode != cudaStreamCaptureModeRelaxed) {
      stream->capture_failed = cudaErrorStreamCaptureUnsupported;
      return breaks(cudaErrorStreamCaptureUnsupported,
                    std::string(what) + " while a stream is captured, and not in relaxed mode");
    }
  return cudaSuccess;
}

}  // namespace trainscope::stand_in
