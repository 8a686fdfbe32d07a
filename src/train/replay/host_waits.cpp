#include "train/replay/host_waits.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/median.h"
#include "base/text.h"
#include "trace/chrome_words.h"

namespace trainscope::train {
namespace {

using trace::Span;
using Wait = program::RecordedCall::Wait;

// Clocks of host and device are matched to about a microsecond (CUPTI), or they are apart by what
// clock_behind() finds.
constexpr Nanos kClockError = kMicrosecond;

Nanos middle_call(const trace::Trace& trace, const DeviceWork& work) {
  std::vector<Nanos> lengths;
  for (const auto& [call, works] : work.of_call) lengths.push_back(trace.spans()[call].duration);
  return median(std::move(lengths));
}

}  // namespace

HostWaits::HostWaits(const trace::Trace& trace, const DeviceWork& work,
                     const std::vector<HostTrack>& tracks)
    : trace_(trace),
      work_(work),
      usual_call_(middle_call(trace, work)),
      stream_done_(work.streams.size()) {
  const auto& works = work.recording.works;
  for (std::uint32_t id = 0; id < works.size(); ++id) {
    const Nanos end = trace.spans()[works[id].span].end();
    const auto later = [&](const std::vector<Nanos>& done) {
      return done.empty() ? end : std::max(done.back(), end);
    };
    std::vector<Nanos>& stream = stream_done_[works[id].stream];
    stream.push_back(later(stream));
  }
  behind_ = clock_behind(tracks);
}

// By how much work seems to end later than calls that waited for it, at most: 0 unless it seems so
// of three of four calls. Of those that must have waited, where there are enough of them; else of
// all that seem to.
Nanos HostWaits::clock_behind(const std::vector<HostTrack>& tracks) const {
  constexpr Nanos kMost = 50 * kMicrosecond;
  constexpr std::size_t kEnough = 4;
  std::vector<Nanos> sure, all;  // not of a device: another thread may launch as its wait begins
  for (const HostTrack& track : tracks) {
    Caller caller;
    for (const HostEvent& event : track.events) {
      if (event.kind != HostEvent::Kind::kCall) continue;
      program::RecordedCall call;
      give_works(call, event.span);
      const std::optional<Target> found = target(event, call, caller);
      if (call.count > 0) caller.given = call.first + call.count - 1;
      if (!found || found->wait == Wait::kTurn || found->wait == Wait::kDevice) continue;
      const Nanos late = found->end - event.end;
      if (late > kMost || late < -kMost) continue;
      all.push_back(late);
      if (found->is_sure) sure.push_back(late);
    }
  }
  const std::vector<Nanos>& used = sure.size() >= kEnough ? sure : all;
  const auto late = std::ranges::count_if(used, [](Nanos one) { return one > kClockError; });
  const bool is_most = 4 * static_cast<std::size_t>(late) >= 3 * used.size();
  return used.size() >= kEnough && is_most ? std::ranges::max(used) : 0;
}

void HostWaits::give_works(program::RecordedCall& call, trace::SpanId span) const {
  const auto own = work_.of_call.find(span);
  if (own == work_.of_call.end()) return;
  call.first = own->second.first;
  call.count = own->second.count;
}

program::RecordedCall HostWaits::call(const HostEvent& event, const Caller& caller) const {
  program::RecordedCall call;
  call.span = event.span;
  call.before = event.end - event.start;
  give_works(call, event.span);
  call.staged = call.count > 0 &&
                (event.is_held || trace_.spans()[event.span].cause == trace::Cause::kStaging);
  std::optional<Target> found = target(event, call, caller);
  if (!found || found->end > event.end + kClockError + behind_) return call;
  found->end = std::min(found->end, event.end);
  if (found->of_staging && caller.left_out.staging) {
    call.before = std::min(call.before, usual_call_);
    call.staged = false;
    return call;
  }
  if (!found->of_staging && caller.left_out.synchronising) {
    call.before -= std::max<Nanos>(found->end - event.start, 0);
    return call;
  }
  call.wait = found->wait;
  call.waits_for = found->waits_for;
  // What is staged is staged after the wait, however short that was.
  if (found->end <= event.start && found->wait != Wait::kTurn) return call;
  call.before = 0;
  call.after = std::max<Nanos>(event.end - std::max(found->end, event.start), 0);
  return call;
}

std::optional<HostWaits::Target> HostWaits::target(const HostEvent& event,
                                                   const program::RecordedCall& call,
                                                   const Caller& caller) const {
  const std::optional<std::uint32_t>& given = caller.given;
  const std::string& name = trace_.name(trace_.spans()[event.span]);
  if (call.count > 0) return own_copy(name, call);
  if (contains(name, "StreamSynchronize"))
    return given ? stream_so_far(event, *given) : std::nullopt;
  if (contains(name, "DeviceSynchronize") || contains(name, "CtxSynchronize") ||
      name == "cudaFree" || name == "hipFree")
    return device_so_far(
        event, given ? work_.streams[work_.recording.works[*given].stream].device : caller.device);
  if (contains(name, "EventSynchronize"))
    return done_within(event, trace_.lanes()[trace_.spans()[event.span].lane].rank);
  return std::nullopt;
}

bool HostWaits::is_from_pageable(std::uint32_t work) const {
  return train::is_from_pageable(trace_, trace_.spans()[work_.recording.works[work].span]);
}

// Host to device, from pageable memory: the call returns once it is staged, which begins when its
// turn comes. Back into pageable memory, and by a call that is not asynchronous: once it is there.
std::optional<HostWaits::Target> HostWaits::own_copy(std::string_view name,
                                                     const program::RecordedCall& call) const {
  const std::uint32_t last = call.first + call.count - 1;
  const Span& work = trace_.spans()[work_.recording.works[last].span];
  if (is_from_pageable(last)) return Target{Wait::kTurn, last, turn_of(last), true, false};
  const trace::Detail* detail = trace_.detail(work);
  const auto* copy = detail ? std::get_if<trace::CopyDetail>(detail) : nullptr;
  const bool holds =
      work.category != trace::Category::kCopyD2D && trace::chrome::is_holding_call(name);
  if (!copy || (copy->to != trace::Memory::kPageable && !holds)) return std::nullopt;
  return Target{Wait::kWork, last, work.end(), false, true};
}

// When all that a work waits for was done.
Nanos HostWaits::turn_of(std::uint32_t work) const {
  const program::RecordedWork& one = work_.recording.works[work];
  const std::vector<std::uint32_t>& there = work_.on_stream[one.stream];
  const auto place = std::ranges::lower_bound(there, work);
  Nanos turn = 0;
  const auto wait_for = [&](std::uint32_t before) {
    turn = std::max(turn, trace_.spans()[work_.recording.works[before].span].end());
  };
  if (place != there.begin()) wait_for(*std::prev(place));
  for (const std::uint32_t before : one.after) wait_for(before);
  return turn;
}

std::optional<HostWaits::Target> HostWaits::stream_so_far(const HostEvent& event,
                                                          std::uint32_t given) const {
  const std::uint32_t stream = work_.recording.works[given].stream;
  const std::vector<std::uint32_t>& there = work_.on_stream[stream];
  const auto next = std::ranges::lower_bound(there, event.start, {},
                                             [&](std::uint32_t id) { return work_.called[id]; });
  if (next == there.begin()) return std::nullopt;
  const auto last = static_cast<std::size_t>(next - there.begin()) - 1;
  // A blocking .to() waits so for its copy.
  return Target{Wait::kStream, stream, stream_done_[stream][last], is_from_pageable(given), false};
}

std::optional<HostWaits::Target> HostWaits::device_so_far(const HostEvent& event,
                                                          int device) const {
  Target target{Wait::kDevice, static_cast<std::uint32_t>(device), 0, false, false};
  bool any = false;
  for (std::uint32_t stream = 0; stream < work_.on_stream.size(); ++stream) {
    if (work_.streams[stream].device != device) continue;
    const std::vector<std::uint32_t>& there = work_.on_stream[stream];
    const auto next = std::ranges::lower_bound(there, event.start, {},
                                               [&](std::uint32_t id) { return work_.called[id]; });
    if (next == there.begin()) continue;
    const auto last = static_cast<std::size_t>(next - there.begin()) - 1;
    target.end = std::max(target.end, stream_done_[stream][last]);
    any = true;
  }
  return any ? std::optional(target) : std::nullopt;
}

// Nothing tells which event: what was done last while the call was under way, of what its rank
// launched before.
std::optional<HostWaits::Target> HostWaits::done_within(const HostEvent& event, int rank) const {
  const auto end_of = [&](std::uint32_t id) {
    return trace_.spans()[work_.recording.works[id].span].end();
  };
  auto next = std::ranges::upper_bound(work_.by_end, event.end, {}, end_of);
  while (next != work_.by_end.begin() && end_of(*std::prev(next)) > event.start) {
    const std::uint32_t last = *--next;
    if (work_.called[last] < event.start &&
        work_.streams[work_.recording.works[last].stream].rank == rank)
      return Target{Wait::kWork, last, end_of(last), false, false};
  }
  return std::nullopt;
}

}  // namespace trainscope::train
