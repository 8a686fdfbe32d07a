#include "cuda/activity_decoder.h"

#include <algorithm>

#include "base/demangled.h"
#include "base/text.h"

namespace trainscope::cuda {
namespace {

// CUpti_ActivityMemoryKind: 1 pageable, 2 pinned; device, array, managed and others lie on devices.
program::MemoryKind memory_of(std::uint8_t kind) {
  return kind == 1   ? program::MemoryKind::kPageable
         : kind == 2 ? program::MemoryKind::kPinned
                     : program::MemoryKind::kDevice;
}

// Where the parameters begin: the last parenthesis that closes the text, with its partner.
std::size_t parameters_at(const std::string& text) {
  if (text.empty() || text.back() != ')') return text.size();
  int open = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++open;
    if (text[i] == '(' && --open == 0) return i;
  }
  return text.size();
}

template <typename Record>
Activity timed(const Record& record) {
  Activity activity;
  activity.start = static_cast<Nanos>(record.start);
  activity.end = static_cast<Nanos>(record.end);
  return activity;
}

}  // namespace

std::string short_kernel_name(const char* mangled) {
  if (!mangled) return "kernel";
  std::string name = demangled(mangled);
  erase_all(name, "(anonymous namespace)::");
  erase_all(name, "trainscope::kernels::");
  name.resize(parameters_at(name));
  if (name.starts_with("void ")) name.erase(0, 5);
  return name;
}

const std::string& ActivityDecoder::name_of(const char* mangled) {
  const auto [entry, added] = names_.try_emplace(mangled);
  if (added) entry->second = short_kernel_name(mangled);
  return entry->second;
}

Activities ActivityDecoder::take(Nanos earliest, Nanos latest) {
  constexpr Nanos kSecond = 1'000'000'000;
  const auto is_of_this_clock = [&](const Activity& one) {
    return one.start >= earliest - kSecond && one.end - kSecond <= latest;
  };
  std::unordered_map<std::uint32_t, CallId> calls;
  for (const TracedRecord& record : records_)
    if (const auto* call = std::get_if<TracedCall>(&record))
      calls[call->correlation] = static_cast<CallId>(call->ours);
  Activities all;
  const auto keep = [&](Activity activity, std::uint32_t correlation) {
    if (activity.start <= 0 || activity.end < activity.start || !is_of_this_clock(activity)) {
      ++dropped_;
      return;
    }
    const auto call = calls.find(correlation);
    if (call == calls.end()) {
      ++all.foreign;
      return;
    }
    activity.call = call->second;
    all.records.push_back(std::move(activity));
  };
  for (const TracedRecord& record : records_) {
    if (const auto* kernel = std::get_if<TracedKernel>(&record)) {
      Activity activity = timed(*kernel);
      activity.name = name_of(kernel->name);
      activity.gpu = static_cast<int>(kernel->gpu);
      std::copy_n(kernel->grid, 3, activity.grid);
      std::copy_n(kernel->block, 3, activity.block);
      activity.registers = kernel->registers;
      activity.shared_bytes = kernel->shared_bytes;
      keep(std::move(activity), kernel->correlation);
    } else if (const auto* copy = std::get_if<TracedCopy>(&record)) {
      Activity activity = timed(*copy);
      activity.kind = ActivityKind::kCopy;
      activity.bytes = static_cast<std::int64_t>(copy->bytes);
      activity.from = memory_of(copy->from);
      activity.to = memory_of(copy->to);
      keep(std::move(activity), copy->correlation);
    } else if (const auto* fill = std::get_if<TracedFill>(&record)) {
      Activity activity = timed(*fill);
      activity.kind = ActivityKind::kMemset;
      activity.bytes = static_cast<std::int64_t>(fill->bytes);
      keep(std::move(activity), fill->correlation);
    }
  }
  all.dropped = dropped_;
  records_.clear();
  dropped_ = 0;
  return all;
}

}  // namespace trainscope::cuda
