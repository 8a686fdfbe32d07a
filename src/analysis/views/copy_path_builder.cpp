// CopyPath's reading of a trace: which spans belong to which copy, and what passes where.

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/steps/by_correlation.h"
#include "analysis/steps/intervals.h"
#include "analysis/steps/step_mark.h"
#include "analysis/views/copy_batches.h"
#include "analysis/views/copy_path.h"
#include "program/marks.h"

namespace trainscope::analysis {

using trace::Category;
using trace::LaneKind;
using trace::Span;
using trace::SpanId;

namespace {

using Piece = ByteSeries::Piece;

bool is_host_copy(Category category) {
  return category == Category::kCopyH2D || category == Category::kCopyD2H;
}

Way way_of(Category category) {
  return category == Category::kCopyH2D ? Way::kToDevice : Way::kToHost;
}

const trace::CopyDetail* copy_detail(const trace::Trace& trace, const Span& span) {
  const trace::Detail* detail = trace.detail(span);
  return detail ? std::get_if<trace::CopyDetail>(detail) : nullptr;
}

bool is_pageable(const trace::CopyDetail& detail) {
  return detail.from == trace::Memory::kPageable || detail.to == trace::Memory::kPageable;
}

// The number at the end of "load batch 3" and "ProfilerStep#3".
std::optional<int> number_in(std::string_view name) {
  std::size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  int number = 0;
  const auto [end, error] = std::from_chars(name.data() + at, name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace

class CopyPathBuilder {
 public:
  CopyPathBuilder(CopyPath& path, const trace::Trace& trace, const program::Program* program)
      : path_(path), trace_(trace), program_(program) {}

  void build() {
    find_rank();
    for (SpanId i = 0, n = trace_.spans().size(); i < n; ++i) sort_in(i);
    make_copies();
    number_batches();
    order_pieces();
    add_transfers();
    add_batches();
    add_stays();
    seal();
  }

 private:
  struct Parts {
    std::vector<Piece> transfers;  // of a copy engine
    std::vector<SpanId> staging;
  };
  struct Mark {
    Nanos start = 0, end = 0;
    int step = 0;
  };

  // Where a program has several ranks, each a process with staging buffers of its own, the path is
  // that of the first.
  void find_rank() {
    if (!program_) return;
    for (trace::LaneId i = 0; i < trace_.lanes().size(); ++i)
      if (trace_.lanes()[i].kind == LaneKind::kStream)
        rank_ = std::min(rank_.value_or(trace_.lanes()[i].rank), trace_.lanes()[i].rank);
  }
  bool is_of_another(const trace::Lane& lane) const {
    const bool has_rank = lane.kind == LaneKind::kStream || lane.kind == LaneKind::kCopyEngine ||
                          lane.kind == LaneKind::kHostThread || lane.kind == LaneKind::kPinThread ||
                          lane.kind == LaneKind::kSteps;
    return rank_ && has_rank && lane.rank != *rank_;
  }

  void sort_in(SpanId id) {
    const Span& span = trace_.spans()[id];
    if (is_of_another(trace_.lanes()[span.lane])) return;
    const LaneKind lane = trace_.lanes()[span.lane].kind;
    if (is_joined_call(span)) add_as_call(id, span);
    if (lane == LaneKind::kStream && is_host_copy(span.category) && copy_detail(trace_, span))
      streams_.push_back(id);
    if (lane == LaneKind::kCopyEngine && is_host_copy(span.category)) add_engine_span(id, span);
    if (lane == LaneKind::kStaging) parts_[span.correlation].staging.push_back(id);
    if (span.category == Category::kLoader) loads_.push_back(id);
    if (span.category == Category::kPin) pins_.push_back(id);
    const bool thread = lane == LaneKind::kHostThread || lane == LaneKind::kPinThread;
    if (thread && (span.category == Category::kHeld || span.category == Category::kPin ||
                   span.category == Category::kLoader))
      path_.busy_.add({span.start, span.end(), id});
    if (is_host_mark(trace_, span) &&
        std::string_view(trace_.name(span)) == program::kValidationMark)
      validations_.push_back({span.start, span.end()});
    if (is_step_mark(trace_, span))
      marks_.push_back({span.start, span.end(), number_in(trace_.name(span)).value_or(0)});
  }

  // What holds a thread within a call is not the call.
  void add_as_call(SpanId id, const Span& span) {
    const auto [known, added] = calls_.try_emplace(span.correlation, id);
    const bool held = trace_.spans()[known->second].category == Category::kHeld;
    if (!added && held && span.category == Category::kHostApi) known->second = id;
  }

  void add_engine_span(SpanId id, const Span& span) {
    const trace::CopyDetail* detail = copy_detail(trace_, span);
    if (!detail) return;
    engine_spans_.try_emplace(span.correlation, id);
    parts_[span.correlation].transfers.push_back({span.start, span.end(), detail->bytes, 0, 0});
  }

  void make_copies() {
    std::sort(marks_.begin(), marks_.end(),
              [](const Mark& a, const Mark& b) { return a.start < b.start; });
    for (const SpanId id : streams_) make_copy(trace_.spans()[id], true);
    // The trace ends before these do.
    for (const auto& [correlation, id] : engine_spans_)
      if (correlation != 0 && !copies_of_.contains(correlation))
        make_copy(trace_.spans()[id], false);
    number_copies();
  }

  void make_copy(const Span& span, bool whole) {
    const trace::CopyDetail& detail = *copy_detail(trace_, span);
    PathCopy copy;
    copy.way = way_of(span.category);
    copy.pageable = is_pageable(detail);
    copy.whole = whole;
    copy.called = copy.returned = span.start;
    copy.complete = span.end();
    const Parts* parts = parts_of(span.correlation);
    if (parts && !parts->transfers.empty()) {
      for (const Piece& piece : parts->transfers) copy.bytes += piece.bytes;
    }
    if (whole) copy.bytes = detail.bytes;
    if (!whole) copy.complete = INT64_MAX;
    add_call(copy, span.correlation);
    sources_.push_back({span.correlation, span.start, span.end()});
    path_.copies_.push_back(copy);
    if (span.correlation != 0)
      copies_of_.emplace(span.correlation, static_cast<std::uint32_t>(path_.copies_.size() - 1));
  }

  void add_call(PathCopy& copy, std::uint32_t correlation) const {
    const auto call = correlation == 0 ? calls_.end() : calls_.find(correlation);
    if (call == calls_.end()) return;
    const Span& span = trace_.spans()[call->second];
    copy.called = std::min(copy.called, span.start);
    copy.returned = span.end();
    copy.thread = span.lane;
    // Into pageable memory the last bytes are in place when the call returns.
    if (copy.way == Way::kToHost && copy.pageable && copy.whole)
      copy.complete = std::max(copy.complete, span.end());
  }

  // By call, with numbers and steps.
  void number_copies() {
    std::vector<std::uint32_t> order(path_.copies_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::pair(path_.copies_[a].called, a) < std::pair(path_.copies_[b].called, b);
    });
    std::vector<PathCopy> copies;
    std::vector<Source> sources;
    copies_of_.clear();
    for (const std::uint32_t i : order) {
      PathCopy copy = path_.copies_[i];
      copy.number = ++path_.counts_[static_cast<std::size_t>(copy.way)];
      copy.step = step_at(copy.called);
      if (sources_[i].correlation != 0)
        copies_of_.emplace(sources_[i].correlation, static_cast<std::uint32_t>(copies.size()));
      copies.push_back(copy);
      sources.push_back(sources_[i]);
    }
    path_.copies_ = std::move(copies);
    sources_ = std::move(sources);
  }

  void number_batches() {
    std::set<int> loaded;  // a batch may be read and then loaded
    for (const SpanId id : loads_)
      if (const auto number = number_in(trace_.name(trace_.spans()[id]))) loaded.insert(*number);
    const bool has_steps = marks_.size() > 1;
    analysis::number_batches(
        path_.copies_, loaded.size(),
        has_steps ? CopySteps{marks_.size(), marks_.front().step, marks_.front().start}
                  : CopySteps{});
  }

  int step_at(Nanos time) const {
    if (marks_.size() < 2) return -1;
    const auto after = std::upper_bound(marks_.begin(), marks_.end(), time,
                                        [](Nanos at, const Mark& mark) { return at < mark.start; });
    if (after == marks_.begin() || std::prev(after)->end < time) return -1;
    return std::prev(after)->step;
  }

  const Parts* parts_of(std::uint32_t correlation) const {
    const auto found = correlation == 0 ? parts_.end() : parts_.find(correlation);
    return found == parts_.end() ? nullptr : &found->second;
  }

  void order_pieces() {
    for (auto& [correlation, parts] : parts_) {
      std::sort(parts.transfers.begin(), parts.transfers.end(),
                [](const Piece& a, const Piece& b) { return a.start < b.start; });
      std::sort(parts.staging.begin(), parts.staging.end(), [this](SpanId a, SpanId b) {
        return trace_.spans()[a].start < trace_.spans()[b].start;
      });
    }
  }

  CopyPath::Flows& flows(const PathCopy& copy) {
    return path_.flows_[static_cast<std::size_t>(copy.way)];
  }

  void add_transfers() {
    path_.chunks_of_.resize(path_.copies_.size());
    for (std::uint32_t i = 0; i < path_.copies_.size(); ++i) {
      const PathCopy& copy = path_.copies_[i];
      const Parts* parts = parts_of(sources_[i].correlation);
      std::vector<Piece> transfers;
      if (parts) transfers = parts->transfers;
      if (transfers.empty()) transfers = {{sources_[i].start, sources_[i].end, copy.bytes, 0, 0}};
      for (std::uint32_t n = 0; n < transfers.size(); ++n) {
        transfers[n].owner = i;
        transfers[n].number = n;
        flows(copy).carried.add(transfers[n]);
        (copy.pageable ? flows(copy).carried_staged : flows(copy).carried_pinned).add(transfers[n]);
      }
      if (!copy.pageable) continue;
      if (!parts || parts->staging.empty())
        path_.staging_shown_ = false;
      else
        add_staging(i, copy, transfers, parts->staging);
    }
  }

  // The nth chunk that is staged is the nth that is transferred.
  void add_staging(std::uint32_t owner, const PathCopy& copy, const std::vector<Piece>& transfers,
                   const std::vector<SpanId>& staging) {
    path_.chunks_of_[owner].first = static_cast<std::uint32_t>(path_.chunk_in_.size());
    for (std::uint32_t n = 0; n < staging.size(); ++n) {
      const Span& span = trace_.spans()[staging[n]];
      // Not transferred before the trace ends: as long as the first chunk, as all but the last are.
      const bool known = n < transfers.size();
      const std::int64_t bytes = known ? transfers[n].bytes : transfers.front().bytes;
      const Piece staged{span.start, span.end(), bytes, owner, n};
      const Piece carried = known ? transfers[n] : Piece{INT64_MAX, INT64_MAX, bytes, owner, n};
      flows(copy).staged.add(staged);
      add_chunk(copy.way == Way::kToDevice ? staged : carried,
                copy.way == Way::kToDevice ? carried : staged);
    }
    // Out of the device, chunks that the host has not begun to copy out.
    if (copy.way == Way::kToHost)
      for (std::size_t n = staging.size(); n < transfers.size(); ++n)
        add_chunk(transfers[n], {INT64_MAX, INT64_MAX, transfers[n].bytes, owner, 0});
    path_.chunks_of_[owner].second = static_cast<std::uint32_t>(path_.chunk_in_.size());
  }

  void add_chunk(const Piece& in, const Piece& out) {
    const auto index = static_cast<std::uint32_t>(path_.chunk_in_.size());
    path_.chunk_in_.push_back(in);
    path_.chunk_out_.push_back(out);
    path_.in_staging_.add({in.start, out.end, index});
  }

  // ---- Loader and pin copies -------------------------------------------------------------------

  // The bytes of each batch that is copied to the device.
  std::map<int, std::int64_t> batch_bytes() const {
    std::map<int, std::int64_t> bytes;
    for (const PathCopy& copy : path_.copies_)
      if (copy.way == Way::kToDevice) bytes[copy.batch] += copy.bytes;
    return bytes;
  }

  void sort_by_end(std::vector<SpanId>& spans) const {
    std::sort(spans.begin(), spans.end(), [this](SpanId a, SpanId b) {
      return trace_.spans()[a].end() < trace_.spans()[b].end();
    });
  }

  // By its name, as the simulator's; else that of its step, as PyTorch's profiler has it.
  int batch_of_load(const Span& span, int position) const {
    if (const auto number = number_in(trace_.name(span))) return *number;
    const int step = step_at(span.start);
    return step >= 0 ? step : position;
  }

  // Its batch is of no step, and is there once its copy is called for.
  bool is_of_validation(const Span& span) const {
    return std::ranges::any_of(validations_, [&](const Interval& one) {
      return one.start <= span.start && span.start < one.end;
    });
  }

  void add_batches() {
    const std::map<int, std::int64_t> bytes = batch_bytes();
    const bool with_steps = !bytes.empty() && bytes.rbegin()->first >= 0;
    std::int64_t usual = 0;  // of a batch that is not copied before the trace ends
    for (const auto& [step, amount] : bytes)
      if (step >= 0 || !with_steps) usual = std::max(usual, amount);
    sort_by_end(loads_);
    // A batch that is read and then loaded arrives once, with the last of its spans.
    std::map<int, Nanos> arrivals;
    for (const SpanId id : loads_) {
      const Span& span = trace_.spans()[id];
      path_.loads_.add({span.start, span.end(), id});
      if (with_steps && is_of_validation(span)) continue;
      arrivals[batch_of_load(span, static_cast<int>(arrivals.size()))] = span.end();
    }
    std::vector<std::pair<Nanos, int>> in_order;
    for (const auto& [number, end] : arrivals) in_order.emplace_back(end, number);
    std::sort(in_order.begin(), in_order.end());
    for (const auto& [end, number] : in_order) {
      const int batch = with_steps ? number : -1;
      const auto found = bytes.find(batch);
      const std::int64_t amount = found == bytes.end() ? usual : found->second;
      path_.loaded_.add({end, end, amount, static_cast<std::uint32_t>(batch), 0});
      loaded_at_[batch] = end;
      loaded_order_.push_back(batch);
    }
    add_pins(bytes, usual);
  }

  // Batches are pinned in the order in which they were loaded. A pin copy's bytes are those of its
  // command; without the program, those of its batch. What a program pins that loads nothing is no
  // batch, and there as its copies are called.
  void add_pins(const std::map<int, std::int64_t>& bytes, std::int64_t usual) {
    if (program_ && loaded_order_.empty()) return;
    const std::map<std::string, std::vector<std::int64_t>> commands = pin_commands();
    std::map<trace::LaneId, std::size_t> nth;
    sort_by_end(pins_);
    std::size_t position = 0;
    for (const SpanId id : pins_) {
      const Span& span = trace_.spans()[id];
      const int batch =
          position < loaded_order_.size() ? loaded_order_[position] : static_cast<int>(position);
      ++position;
      const auto lane = commands.find(trace_.lanes()[span.lane].name);
      const std::size_t n = nth[span.lane]++;
      const auto found = bytes.find(batch);
      std::int64_t amount = found == bytes.end() ? usual : found->second;
      if (lane != commands.end() && n < lane->second.size()) amount = lane->second[n];
      path_.pinned_.add({span.start, span.end(), amount, static_cast<std::uint32_t>(batch), 0});
      pinned_at_[batch] = {span.start, span.end()};
    }
  }

  std::map<std::string, std::vector<std::int64_t>> pin_commands() const {
    std::map<std::string, std::vector<std::int64_t>> commands;
    if (!program_) return commands;
    for (const program::Thread& thread : program_->threads)
      for (const program::Command& command : thread.commands)
        if (const auto* copy = std::get_if<program::HostCopy>(&command.action))
          commands[thread.name].push_back(copy->bytes);
    return commands;
  }

  // ---- Who is where ----------------------------------------------------------------------------

  void add_stays() {
    for (std::uint32_t i = 0; i < path_.copies_.size(); ++i) {
      const PathCopy& copy = path_.copies_[i];
      if (copy.way == Way::kToDevice) add_outward_stay(i, copy);
      path_.in_call_.add({copy.called, copy.returned, i});
      if (is_loaded(copy)) continue;
      (copy.pageable ? flows(copy).called_pageable : flows(copy).called_pinned)
          .add({copy.called, copy.called, copy.bytes, i, 0});
    }
  }

  bool is_loaded(const PathCopy& copy) const {
    return copy.way == Way::kToDevice && !loads_.empty() && loaded_at_.contains(copy.batch);
  }

  Nanos staging_ends(std::uint32_t copy) const {
    const Parts* parts = parts_of(sources_[copy].correlation);
    if (!parts || parts->staging.empty()) return sources_[copy].end;
    return trace_.spans()[parts->staging.back()].end();
  }

  void add_outward_stay(std::uint32_t i, const PathCopy& copy) {
    const bool loaded = is_loaded(copy);
    const Nanos arrives = loaded ? loaded_at_.at(copy.batch) : copy.called;
    if (copy.pageable) {
      path_.in_pageable_.add({arrives, staging_ends(i), i});
      return;
    }
    const auto pin = pinned_at_.find(copy.batch);
    if (loaded && pin != pinned_at_.end()) {
      path_.in_pageable_.add({arrives, pin->second.second, i});
      path_.in_pinned_.add({pin->second.first, copy.complete, i});
    } else {
      path_.in_pinned_.add({arrives, copy.complete, i});
    }
  }

  void seal() {
    for (CopyPath::Flows& flows : path_.flows_)
      for (ByteSeries* series : {&flows.called_pageable, &flows.called_pinned, &flows.staged,
                                 &flows.carried_staged, &flows.carried_pinned, &flows.carried})
        series->seal();
    path_.loaded_.seal();
    path_.pinned_.seal();
    for (Stays* stays : {&path_.loads_, &path_.busy_, &path_.in_pageable_, &path_.in_pinned_,
                         &path_.in_call_, &path_.in_staging_})
      stays->seal();
    for (const PathCopy& copy : path_.copies_)
      path_.completions_[static_cast<std::size_t>(copy.way)].push_back(copy.complete);
    for (std::vector<Nanos>& completions : path_.completions_)
      std::sort(completions.begin(), completions.end());
    for (const LaneKind kind : {LaneKind::kHostThread, LaneKind::kPinThread})
      for (trace::LaneId lane = 0; lane < trace_.lanes().size(); ++lane)
        if (trace_.lanes()[lane].kind == kind) path_.threads_.push_back(lane);
  }

  struct Source {
    std::uint32_t correlation = 0;
    Nanos start = 0, end = 0;  // of the copy on its stream
  };

  CopyPath& path_;
  const trace::Trace& trace_;
  std::optional<std::int32_t> rank_;
  const program::Program* program_;
  std::unordered_map<std::uint32_t, SpanId> calls_;
  std::map<std::uint32_t, SpanId> engine_spans_;  // the first of each correlation
  std::unordered_map<std::uint32_t, Parts> parts_;
  std::unordered_map<std::uint32_t, std::uint32_t> copies_of_;
  std::vector<SpanId> streams_, loads_, pins_;
  std::vector<Mark> marks_;
  std::vector<Interval> validations_;  // marks
  std::vector<Source> sources_;        // of each copy
  std::map<int, Nanos> loaded_at_;
  std::vector<int> loaded_order_;  // batches
  std::map<int, std::pair<Nanos, Nanos>> pinned_at_;
};

CopyPath::CopyPath(const trace::Trace& trace, const program::Program* program,
                   const machine::Machine* machine)
    : trace_(&trace) {
  CopyPathBuilder(*this, trace, program).build();
  find_most();
  if (!machine) return;
  shared_engine_ = machine->gpu.copy_engines < 2;
  staging_room_ = machine->host.staging_buffers * machine->host.staging_chunk_bytes;
  peaks_ = {machine->pcie.h2d_bytes_per_s, machine->pcie.d2h_bytes_per_s};
}

}  // namespace trainscope::analysis
