#include "trace/labels.h"

#include "base/units.h"

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

// Templates whose argument is the kernel: cutlass::Kernel<gemm_tn_256x128>.
bool is_wrapper(std::string_view text) {
  return text == "Kernel" || text == "Kernel2" || text == "kernel";
}

bool is_number_type(std::string_view text) {
  for (const std::string_view type : {"float", "double", "int", "half", "__half", "__nv_bfloat16"})
    if (text == type) return true;
  return false;
}

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
}

}  // namespace

std::string short_name(std::string_view name) {
  std::string text(name);
  if (text.starts_with("void ")) text.erase(0, 5);
  erase_all(text, "(anonymous namespace)::");
  std::string argument;
  if (const auto cut = text.find_first_of("<("); cut != std::string::npos && cut > 0) {
    if (text[cut] == '<')
      argument = text.substr(cut + 1, text.find_first_of("<>,", cut + 1) - cut - 1);
    text.erase(cut);
  }
  if (const auto scope = text.rfind("::"); scope != std::string::npos && scope + 2 < text.size())
    text.erase(0, scope + 2);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (is_wrapper(text) && !argument.empty() && !is_number_type(argument))
    return short_name(argument);
  return text.empty() ? std::string(name) : text;
}

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
  return is_api_name(name) && name.starts_with(kCuda) ? name.substr(kCuda.size()) : std::string();
}

}  // namespace trainscope::trace
