#include "trace/labels.h"

#include <utility>

#include "base/units.h"
#include "trace/api_name.h"
#include "trace/collective_kind.h"
#include "trace/same_collectives.h"
#include "trace/short_name.h"

namespace trainscope::trace {
namespace {

// What a held host thread waits for.
std::string held_label(const Span& span) {
  switch (span.cause) {
    case Cause::kStaging:
      return "held: staging";
    case Cause::kLock:
      return "held: lock";
    case Cause::kData:
      return "waits: data";
    case Cause::kPeer:
      return "waits: peers";
    case Cause::kDevice:
    case Cause::kStream:
    case Cause::kEvent:
    case Cause::kEngine:
    case Cause::kRoom:
      return "waits";
    default:
      return "held";
  }
}

// "all-reduce" of what PyTorch calls "allreduce" or "_allreduce_base".
std::string_view operation_word(std::string_view operation) {
  switch (kind_of(operation).value_or(CollectiveKind::kReduce)) {
    case CollectiveKind::kAllReduce:
      return "all-reduce";
    case CollectiveKind::kAllGather:
      return "all-gather";
    case CollectiveKind::kReduceScatter:
      return "reduce-scatter";
    default:
      return operation;
  }
}

// "all-reduce, ring, LL128": the kernel's name tells neither. Empty where they are not known.
std::string collective_label(const CollectiveDetail& one) {
  if (one.algorithm.empty() || one.operation.empty()) return "";
  std::string label(operation_word(one.operation));
  for (const std::string* word : {&one.algorithm, &one.protocol})
    if (!word->empty()) label += ", " + *word;
  return label;
}

// "conv 3x3" of "conv fprop 3x3, 64 to 64: tensorop_16 nhwc 256x64"; empty for other names.
std::string convolution_label(std::string_view name) {
  constexpr std::string_view kConv = "conv ";
  const auto way = name.find(' ', kConv.size()), end = name.find(',');
  if (!name.starts_with(kConv) || way == name.npos || end == name.npos || end < way) return "";
  return "conv" + std::string(name.substr(way, end - way));
}

}  // namespace

std::string bar_label(const Trace& trace, const Span& span) {
  const std::string& name = trace.name(span);
  if (span.category == Category::kHeld && is_api_name(name)) return held_label(span);
  if (is_copy(span.category))
    if (const auto* detail = trace.detail(span))
      if (const auto* copy = std::get_if<CopyDetail>(detail); copy && copy->bytes > 0)
        return format_bytes(static_cast<double>(copy->bytes));
  if (span.category == Category::kCollective)
    if (const auto* collective = collective_of(trace, span))
      if (std::string label = collective_label(*collective); !label.empty()) return label;
  return name;
}

std::string brief_label(const Trace& trace, const Span& span) {
  const std::string name = bar_label(trace, span);
  if (span.category == Category::kHeld) return name.substr(0, name.find_first_of(" :"));
  if (span.category == Category::kCollective && name != trace.name(span))
    return name.substr(0, name.find(','));
  if (std::string label = convolution_label(name); !label.empty()) return label;
  constexpr std::string_view kCuda = "cuda";
  if (is_api_name(name) && name.starts_with(kCuda)) return name.substr(kCuda.size());
  return functor_name(name);
}

bool has_no_end(const Trace& trace, const Span& span) {
  return span.category == Category::kSync && trace.name(span) == kEndlessWait;
}

}  // namespace trainscope::trace
