#include "analysis/views/copy_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::Span;

std::int64_t at_least_none(std::int64_t bytes) {
  return std::max<std::int64_t>(bytes, 0);
}

std::string bytes_of_bytes(std::int64_t part, std::int64_t whole) {
  return format_bytes(static_cast<double>(part)) + " of " +
         format_bytes(static_cast<double>(whole));
}

}  // namespace

std::string_view name_of(Rest rest) {
  switch (rest) {
    case Rest::kBusy:
      return "carries";
    case Rest::kUnused:
      return "no copy this way";
    case Rest::kDone:
      return "all copies are done";
    case Rest::kStaging:
      return "the next chunk is not staged yet";
    case Rest::kStream:
      return "waits for earlier work of its stream";
    case Rest::kEngine:
      return "the copy engine serves another copy";
    case Rest::kData:
      return "the host waits for a batch";
    case Rest::kHost:
      return "the host waits for the GPU";
    case Rest::kPinning:
      return "the host copies into pinned memory";
    case Rest::kCall:
      return "no copy is called for yet";
  }
  return "";
}

PathState CopyPath::at(Nanos time) const {
  PathState state;
  state.staging_shown = staging_shown_;
  state.loads = !loaded_.empty();
  for (const std::uint32_t id : loads_.present(time)) {
    const Span& span = trace_->spans()[id];
    const auto length = static_cast<double>(std::max<Nanos>(span.duration, 1));
    state.loading.push_back({trace_->name(span), static_cast<double>(time - span.start) / length});
  }
  state.pageable = pageable_at(time);
  state.staging = staging_at(time);
  state.pinned = pinned_at(time);
  state.device = device_at(time);
  state.chunks = chunks_at(time);
  for (const Way way : {Way::kToDevice, Way::kToHost})
    state.links[static_cast<std::size_t>(way)] = link_at(way, time);
  state.threads = threads_at(time);
  return state;
}

// ---- Places ------------------------------------------------------------------------------------

std::int64_t CopyPath::pageable_bytes(Nanos time) const {
  const Flows& out = flows(Way::kToDevice);
  // Where the trace has no staging, bytes move as the link takes them.
  const ByteSeries& left = out.staged.empty() ? out.carried_staged : out.staged;
  std::int64_t bytes = out.called_pageable.moved_by(time) - left.moved_by(time);
  if (!out.carried_staged.empty() || !pinned_.empty())
    bytes += loaded_.moved_by(time) - pinned_.moved_by(time);
  return at_least_none(bytes);
}

std::int64_t CopyPath::pinned_bytes(Nanos time) const {
  const Flows& out = flows(Way::kToDevice);
  std::int64_t arrived = out.called_pinned.moved_by(time);
  if (!pinned_.empty())
    arrived += pinned_.moved_by(time);
  else if (!out.carried_pinned.empty() && out.called_pinned.empty())
    arrived += loaded_.moved_by(time);
  return at_least_none(arrived - out.carried_pinned.moved_by(time));
}

// Bytes only grow where pieces arrive, so the most of them is there at the end of one.
void CopyPath::find_most() {
  const Flows& out = flows(Way::kToDevice);
  const std::array<const ByteSeries*, 4> arrivals{&out.called_pageable, &out.called_pinned,
                                                  &loaded_, &pinned_};
  for (const ByteSeries* series : arrivals)
    for (const ByteSeries::Piece& piece : series->pieces()) {
      most_pageable_ = std::max(most_pageable_, pageable_bytes(piece.end));
      most_pinned_ = std::max(most_pinned_, pinned_bytes(piece.end));
    }
}

PathPlace CopyPath::pageable_at(Nanos time) const {
  const Flows& out = flows(Way::kToDevice);
  const Flows& back = flows(Way::kToHost);
  PathPlace place;
  place.used = !out.carried_staged.empty() || !back.carried_staged.empty() ||
               (!loaded_.empty() && !pinned_.empty());
  if (!place.used) return place;
  place.bytes = pageable_bytes(time);
  place.most = most_pageable_;
  place.holds = words_for(in_pageable_.present(time));
  const ByteSeries& returned = back.staged.empty() ? back.carried_staged : back.staged;
  place.arrived = returned.moved_by(time);
  place.due = back.carried_staged.total();
  return place;
}

PathPlace CopyPath::staging_at(Nanos time) const {
  const Flows& out = flows(Way::kToDevice);
  const Flows& back = flows(Way::kToHost);
  PathPlace place;
  place.used = !out.carried_staged.empty() || !back.carried_staged.empty();
  if (!place.used || !staging_shown_) return place;
  place.room = staging_room_;
  place.bytes = out.staged.moved_by(time) - out.carried_staged.moved_by(time) +
                back.carried_staged.moved_by(time) - back.staged.moved_by(time);
  std::vector<std::uint32_t> copies;
  for (const std::uint32_t chunk : in_staging_.present(time))
    copies.push_back(chunk_in_[chunk].owner);
  place.holds = words_for(copies);
  return place;
}

PathPlace CopyPath::pinned_at(Nanos time) const {
  const Flows& out = flows(Way::kToDevice);
  const Flows& back = flows(Way::kToHost);
  PathPlace place;
  place.used = !out.carried_pinned.empty() || !back.carried_pinned.empty() || !pinned_.empty();
  if (!place.used) return place;
  place.bytes = pinned_bytes(time);
  place.most = most_pinned_;
  place.holds = words_for(in_pinned_.present(time));
  place.arrived = back.carried_pinned.moved_by(time);
  place.due = back.carried_pinned.total();
  return place;
}

PathPlace CopyPath::device_at(Nanos time) const {
  const Flows& out = flows(Way::kToDevice);
  const Flows& back = flows(Way::kToHost);
  PathPlace place;
  place.used = !copies_.empty();
  place.bytes = at_least_none(back.called_pageable.moved_by(time) +
                              back.called_pinned.moved_by(time) - back.carried.moved_by(time));
  place.arrived = out.carried.moved_by(time);
  place.due = out.carried.total();
  return place;
}

std::vector<PathChunk> CopyPath::chunks_at(Nanos time) const {
  std::vector<PathChunk> chunks;
  for (const std::uint32_t index : in_staging_.present(time)) {
    const ByteSeries::Piece& in = chunk_in_[index];
    chunks.push_back({in.number, in.bytes, moved_of(in, time), moved_of(chunk_out_[index], time)});
  }
  return chunks;
}

// ---- Links -------------------------------------------------------------------------------------

PathLink CopyPath::link_at(Way way, Nanos time) const {
  const auto index = static_cast<std::size_t>(way);
  const ByteSeries& carried = flows(way).carried;
  PathLink link;
  link.used = !carried.empty();
  if (!link.used) return link;
  link.total = carried.total();
  link.carried = carried.moved_by(time);
  link.peak = peaks_[index];
  link.count = counts_[index];
  const std::vector<Nanos>& done = completions_[index];
  link.done = static_cast<int>(std::upper_bound(done.begin(), done.end(), time) - done.begin());
  std::vector<std::uint32_t> owners;
  for (const ByteSeries::Piece& piece : carried.under_way(time)) {
    owners.push_back(piece.owner);
    link.moved += moved_of(piece, time);
    link.bytes += piece.bytes;
    link.rate += static_cast<double>(piece.bytes) /
                 static_cast<double>(std::max<Nanos>(piece.end - piece.start, 1)) *
                 static_cast<double>(kSecond);
  }
  link.moves = words_for(owners);
  link.rest = owners.empty() ? rest_at(way, time) : Rest::kBusy;
  return link;
}

Rest CopyPath::rest_at(Way way, Nanos time) const {
  const auto next = flows(way).carried.next_after(time);
  if (!next) return Rest::kDone;
  const PathCopy& copy = copies_[next->owner];
  if (copy.called <= time) {
    if (const auto staging = staged_copy_at(time); staging && *staging == next->owner)
      return Rest::kStaging;
    const bool other_way = !flows(way == Way::kToDevice ? Way::kToHost : Way::kToDevice)
                                .carried.under_way(time)
                                .empty();
    return copy.thread != trace::kNone && other_way && shared_engine_ ? Rest::kEngine
                                                                      : Rest::kStream;
  }
  for (const std::uint32_t id : busy_.present(time)) {
    const Span& span = trace_->spans()[id];
    if (trace_->lanes()[span.lane].kind != LaneKind::kHostThread) continue;
    if (span.category == Category::kPin) return Rest::kPinning;
    if (span.category == Category::kLoader || span.cause == trace::Cause::kData) return Rest::kData;
    if (span.category == Category::kHeld) return Rest::kHost;
  }
  return Rest::kCall;
}

// The copy whose chunks are in, or between, the driver's buffers.
std::optional<std::uint32_t> CopyPath::staged_copy_at(Nanos time) const {
  for (const Way way : {Way::kToDevice, Way::kToHost}) {
    const ByteSeries& staged = flows(way).staged;
    const auto now = staged.under_way(time);
    if (!now.empty()) return now.front().owner;
    const auto next = staged.next_after(time);
    // Between two chunks of one copy.
    if (next && next->number > 0) return next->owner;
  }
  return std::nullopt;
}

// ---- Threads and words -------------------------------------------------------------------------

std::vector<PathThread> CopyPath::threads_at(Nanos time) const {
  std::vector<PathThread> threads;
  const std::vector<std::uint32_t> busy = busy_.present(time);
  for (const trace::LaneId lane : threads_) threads.push_back(thread_at(lane, busy, time));
  return threads;
}

PathThread CopyPath::thread_at(trace::LaneId lane, const std::vector<std::uint32_t>& busy,
                               Nanos time) const {
  PathThread thread;
  thread.name = trace_->lanes()[lane].name;
  for (const std::uint32_t id : busy) {
    const Span& span = trace_->spans()[id];
    if (span.lane != lane) continue;
    thread.held = span.category == Category::kHeld;
    thread.doing = trace_->name(span);
    thread.because = because(span, time);
    thread.since = span.start;
    thread.until = span.end();
  }
  if (!thread.doing.empty()) return thread;
  // A copy from pageable memory whose call has not returned, where the trace shows no more of it.
  for (const std::uint32_t index : in_call_.present(time)) {
    const PathCopy& copy = copies_[index];
    if (copy.thread != lane) continue;
    thread.doing = "in the call of " + words_for({index});
    thread.held = copy.pageable && !staging_shown_;
    thread.since = copy.called;
    thread.until = copy.returned;
  }
  return thread;
}

std::string CopyPath::because(const Span& span, Nanos time) const {
  if (span.category == Category::kHeld && span.cause_span != trace::kNone &&
      (span.cause == trace::Cause::kDevice || span.cause == trace::Cause::kData))
    return "until " + trace_->name(trace_->spans()[span.cause_span]) + " is done";
  const auto copy = staged_copy_at(time);
  if (span.category != Category::kHeld || !copy) return "";
  const bool outward = copies_[*copy].way == Way::kToDevice;
  std::int64_t moved = 0;
  for (std::uint32_t i = chunks_of_[*copy].first; i < chunks_of_[*copy].second; ++i)
    moved += moved_of(outward ? chunk_in_[i] : chunk_out_[i], time);
  return bytes_of_bytes(moved, copies_[*copy].bytes) + (outward ? " staged" : " copied out");
}

std::string CopyPath::words_for(const std::vector<std::uint32_t>& copies) const {
  if (copies.empty()) return "";
  const auto [first, last] = std::minmax_element(copies.begin(), copies.end());
  const PathCopy &from = copies_[*first], &to = copies_[*last];
  const bool batches = from.way == Way::kToDevice && from.batch >= 0 && to.batch >= 0;
  if (batches && from.batch == to.batch) return fmt::format("batch {}", from.batch);
  if (batches) return fmt::format("batches {} to {}", from.batch, to.batch);
  const int count = counts_[static_cast<std::size_t>(from.way)];
  if (from.number == to.number || from.way != to.way)
    return fmt::format("copy {} of {}", from.number, count);
  return fmt::format("copies {} to {} of {}", from.number, to.number, count);
}

}  // namespace trainscope::analysis
