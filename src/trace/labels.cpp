#include "trace/labels.h"

#include "base/units.h"
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

bool is_api_name(std::string_view name) {
  return name.starts_with("cuda") || name.starts_with("cu") || name.starts_with("hip");
}

}  // namespace

std::string bar_label(const Trace& trace, const Span& span) {
  const std::string& name = trace.name(span);
  if (span.category == Category::kHeld && is_api_name(name)) return held_label(span);
  if (is_copy(span.category))
    if (const auto* detail = trace.detail(span))
      if (const auto* copy = std::get_if<CopyDetail>(detail); copy && copy->bytes > 0)
        return format_bytes(static_cast<double>(copy->bytes));
  return name;
}

std::string brief_label(const Trace& trace, const Span& span) {
  const std::string name = bar_label(trace, span);
  if (span.category == Category::kHeld) return name.substr(0, name.find_first_of(" :"));
  constexpr std::string_view kCuda = "cuda";
  if (is_api_name(name) && name.starts_with(kCuda)) return name.substr(kCuda.size());
  return functor_name(name);
}

bool has_no_end(const Trace& trace, const Span& span) {
  return span.category == Category::kSync && trace.name(span) == kEndlessWait;
}

}  // namespace trainscope::trace
