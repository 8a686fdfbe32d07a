#include "trace/chrome_words.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "base/text.h"
#include "trace/step_mark.h"

namespace trainscope::trace::chrome {
namespace {

using namespace std::string_view_literals;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

constexpr std::pair<std::string_view, EventKind> kCats[] = {
    {"cpu_op", EventKind::kOperator},
    {"operator", EventKind::kOperator},
    {"user_annotation", EventKind::kAnnotation},
    {"python_function", EventKind::kPython},
    {"python", EventKind::kPython},
    {"runtime", EventKind::kRuntime},
    {"kernel", EventKind::kKernel},
    {"mtia_ccp_events", EventKind::kKernel},  // as Kineto called those of Meta's accelerators
    {"gpu_memcpy", EventKind::kMemcpy},
    {"memcpy", EventKind::kMemcpy},
    {"gpu_memset", EventKind::kMemset},
    {"memset", EventKind::kMemset},
    {"cuda_sync", EventKind::kSync},
    {"cuda_event", EventKind::kSync},
    {"gpu_user_annotation", EventKind::kGpuAnnotation},
    {"ac2g", EventKind::kLaunchFlow},
    {"async_cpu_to_gpu", EventKind::kLaunchFlow},
    {"async", EventKind::kLaunchFlow},
    {"fwdbwd", EventKind::kForwardBackwardFlow},
    {"forward_backward", EventKind::kForwardBackwardFlow},
    {"trainscope_event", EventKind::kEventFlow},
    {"trainscope_data", EventKind::kDataFlow},
    {"trainscope_gradient", EventKind::kGradientFlow},
    {"trainscope", EventKind::kOwn},
    {"trace", EventKind::kRecord},
};

// Calls that return once the device is done, beside copies.
constexpr std::string_view kHoldingCalls[] = {
    "StreamSynchronize", "DeviceSynchronize", "EventSynchronize",
    "CtxSynchronize",    "ThreadSynchronize",
};

}  // namespace

// Copies do unless they are called asynchronous: hipMemcpyWithStream waits for its stream (HIP:
// "Memory Management", hipMemcpyWithStream).
bool is_holding_call(std::string_view name) {
  // "cudaMemcpy_v3020", "cuMemcpyHtoD_v2", "cudaStreamSynchronize_ptsz": the version is not the
  // call.
  name = name.substr(0, name.find('_'));
  for (const std::string_view maker : {"cuda"sv, "cu"sv, "hip"sv, "musa"sv}) {
    if (!name.starts_with(maker)) continue;
    const std::string_view call = name.substr(maker.size());
    if (call.starts_with("Memcpy") && !contains(call, "Async")) return true;
    if (std::ranges::find(kHoldingCalls, call) != std::end(kHoldingCalls)) return true;
  }
  return false;
}

namespace {

Phase phase_of(std::string_view name) {
  if (name.starts_with("Optimizer.step")) return Phase::kOptimizer;
  if (name.starts_with("autograd::engine::evaluate_function")) return Phase::kBackward;
  const std::string small = lower(name);
  const bool backward = contains(small, "backward");
  const bool forward = contains(small, "forward") || name.starts_with("nn.Module:");
  if (backward == forward) return Phase::kNone;  // neither, or a mark around both
  return backward ? Phase::kBackward : Phase::kForward;
}

// torch.utils.data names the span: "enumerate(DataLoader)#" + the iterator's class + ".__next__".
// torchdata's StatefulDataLoader has classes of its own: "_StatefulMultiProcessingDataLoaderIter".
NextBatch next_batch_of(std::string_view name) {
  constexpr std::string_view kPrefix = "enumerate(DataLoader)#";
  if (!name.starts_with(kPrefix)) return NextBatch::kNone;
  name.remove_prefix(kPrefix.size());
  const std::string_view iterator = name.substr(0, name.find('.'));
  if (contains(iterator, "SingleProcess")) return NextBatch::kLoads;
  if (contains(iterator, "MultiProcessing")) return NextBatch::kWaits;
  return NextBatch::kNone;
}

// An operator, or a mark that the program sets on its host.
bool is_host_mark(EventKind kind) {
  return kind == EventKind::kOperator || kind == EventKind::kPython ||
         kind == EventKind::kAnnotation;
}

constexpr Memory kMemories[] = {Memory::kPageable, Memory::kPinned, Memory::kDevice,
                                Memory::kManaged, Memory::kArray};

Memory memory_named(std::string_view text) {
  for (const Memory memory : kMemories)
    if (text == name_of(memory)) return memory;
  return Memory::kUnknown;
}

// From "Memcpy HtoD (Pinned -> Device)", from Intel's "Memcpy M2D (MEMORY(Unknown) -> DEVICE)", or
// what older profilers of AMD GPUs call a copy.
void read_copy_name(std::string_view name, NameFacts& facts) {
  if (name == "CopyHostToDevice") facts.copy = Category::kCopyH2D;
  if (name == "CopyDeviceToHost") facts.copy = Category::kCopyD2H;
  constexpr std::string_view kPrefix = "Memcpy ";
  if (!name.starts_with(kPrefix)) return;
  name.remove_prefix(kPrefix.size());
  const std::string_view direction = name.substr(0, name.find(' '));
  if (is_one_of(direction, {"HtoD", "HtoA", "H2D", "M2D"})) facts.copy = Category::kCopyH2D;
  if (is_one_of(direction, {"DtoH", "AtoH", "D2H", "D2M"})) facts.copy = Category::kCopyD2H;
  const auto open = name.find('('), arrow = name.find(" -> "), close = name.rfind(')');
  if (open == name.npos || arrow == name.npos || close == name.npos) return;
  if (open > arrow || arrow + 4 > close) return;
  facts.from = memory_named(name.substr(open + 1, arrow - open - 1));
  facts.to = memory_named(name.substr(arrow + 4, close - arrow - 4));
}

}  // namespace

EventKind event_kind(std::string_view cat) {
  const std::string word = lower(cat);
  for (const auto& [text, kind] : kCats)
    if (word == text) return kind;
  if (word.ends_with("_runtime") || word.ends_with("_driver")) return EventKind::kRuntime;
  return EventKind::kUnknown;
}

bool is_flow(EventKind kind) {
  return kind >= EventKind::kLaunchFlow && kind <= EventKind::kGradientFlow;
}

bool is_on_device(EventKind kind) {
  return kind >= EventKind::kKernel && kind <= EventKind::kGpuAnnotation;
}

FlowKind flow_kind(EventKind kind) {
  switch (kind) {
    case EventKind::kForwardBackwardFlow:
      return FlowKind::kForwardBackward;
    case EventKind::kEventFlow:
      return FlowKind::kEvent;
    case EventKind::kDataFlow:
      return FlowKind::kData;
    case EventKind::kGradientFlow:
      return FlowKind::kGradient;
    default:
      return FlowKind::kLaunch;
  }
}

std::string_view flow_cat(FlowKind kind) {
  switch (kind) {
    case FlowKind::kLaunch:
      return "ac2g";
    case FlowKind::kEvent:
      return "trainscope_event";
    case FlowKind::kForwardBackward:
      return "fwdbwd";
    case FlowKind::kData:
      return "trainscope_data";
    case FlowKind::kGradient:
      return "trainscope_gradient";
  }
  return "";
}

NameFacts name_facts(std::string_view name) {
  NameFacts facts;
  // RCCL carries some out by kernels of MSCCL's: "mscclKernel_Sum_half_Simple_false".
  facts.collective = name.starts_with("nccl") || name.starts_with("msccl") ||
                     contains(name, "ncclKernel") || contains(name, "ncclDevKernel");
  facts.holds = is_holding_call(name);
  facts.step = name.starts_with(kStepMark);
  facts.by_gloo = name.starts_with("gloo:");
  facts.phase = phase_of(name);
  facts.next_batch = next_batch_of(name);
  read_copy_name(name, facts);
  return facts;
}

Category plain_category(EventKind kind, const NameFacts& facts) {
  if (is_host_mark(kind) && facts.next_batch == NextBatch::kLoads) return Category::kLoader;
  if (is_host_mark(kind) && facts.next_batch == NextBatch::kWaits) return Category::kHeld;
  switch (kind) {
    case EventKind::kOperator:
    case EventKind::kPython:
      return facts.step ? Category::kAnnotation : Category::kHostWork;
    case EventKind::kAnnotation:
      return facts.by_gloo ? Category::kHostWork : Category::kAnnotation;
    case EventKind::kGpuAnnotation:
    case EventKind::kRecord:
      return Category::kAnnotation;
    case EventKind::kRuntime:
      return facts.holds ? Category::kHeld : Category::kHostApi;
    case EventKind::kKernel:
      return facts.collective ? Category::kCollective : Category::kKernel;
    case EventKind::kMemcpy:
      return facts.copy;
    case EventKind::kMemset:
      return Category::kMemset;
    case EventKind::kSync:
      return Category::kSync;
    default:
      return Category::kOther;
  }
}

Cause plain_cause(EventKind kind, const NameFacts& facts) {
  const bool waits = is_host_mark(kind) && facts.next_batch == NextBatch::kWaits;
  return waits ? Cause::kData : Cause::kNothing;
}

std::string copy_name(Category category, Memory from, Memory to) {
  std::string_view direction = "DtoD";
  if (category == Category::kCopyH2D) direction = "HtoD";
  if (category == Category::kCopyD2H) direction = "DtoH";
  return "Memcpy " + std::string(direction) + " (" + std::string(name_of(from)) + " -> " +
         std::string(name_of(to)) + ")";
}

}  // namespace trainscope::trace::chrome
