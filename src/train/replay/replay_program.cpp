#include "train/replay/replay_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/rank_words.h"
#include "base/text.h"
#include "trace/api_name.h"
#include "trace/chrome_reader.h"
#include "trace/rank_folder.h"
#include "trace/step_mark.h"
#include "train/build.h"
#include "train/replay/device_work.h"
#include "train/replay/host_silence.h"
#include "train/replay/host_tracks.h"
#include "train/replay/host_waits.h"
#include "train/replay/pinned_copies.h"
#include "train/replay/product_names.h"
#include "train/replay/waits_of_ranks.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::Index;
using trace::Category;

struct Speeds {
  double host = 1, kernels = 1, products = 1, copies = 1, communication = 1;
  bool batches_are_there = false;
};

Speeds speeds_of(const program::Config& config) {
  return {config.number("replay.host_speed"),          config.number("replay.kernel_speed"),
          config.number("replay.product_speed"),       config.number("replay.copy_speed"),
          config.number("replay.communication_speed"), config.flag("replay.batches_ready")};
}

Nanos faster(Nanos duration, double speed) {
  return std::llround(static_cast<double>(duration) / speed);
}

double speed_of(const trace::Trace& trace, const trace::Span& work, const Speeds& speeds) {
  const Category category = work.category;
  if (trace::is_kernel(category))
    return speeds.products != 1 && is_product(trace.name(work)) ? speeds.kernels * speeds.products
                                                                : speeds.kernels;
  if (category == Category::kCollective) return speeds.communication;
  if (category == Category::kCopyH2D || category == Category::kCopyD2H) return speeds.copies;
  return 1;
}

// Ranks that have a GPU.
std::set<std::int32_t> ranks_of(const trace::Trace& trace) {
  std::set<std::int32_t> ranks;
  for (std::uint32_t id = 0; id < trace.lanes().size(); ++id)
    if (trace.lanes()[id].kind == trace::LaneKind::kStream) ranks.insert(trace.lanes()[id].rank);
  return ranks;
}

class ReplayWriter {
 public:
  ReplayWriter(const program::Config& config, std::shared_ptr<const trace::Trace> trace)
      : trace_(*trace),
        changed_(speeds_of(config)),
        left_out_{config.flag("replay.non_blocking"), !config.flag("replay.synchronise")},
        rank_(static_cast<int>(config.whole("replay.rank"))),
        pinned_(config, *trace),
        silence_(*trace),
        tracks_(host_tracks(*trace)),
        work_(device_work(std::move(trace), tracks_)),
        waits_(trace_, work_, tracks_) {}

  program::Program write() {
    refuse_what_cannot_be();
    find_hands();
    for (std::size_t track = 0; track < tracks_.size(); ++track) write_thread(track);
    count_steps();
    program_.streams = std::move(work_.streams);
    program_.recording = std::move(work_.recording);
    hasten_works();
    return std::move(program_);
  }

 private:
  // What a thread does for another: before an event of its own, or after it.
  struct Hand {
    std::size_t event = 0;
    std::optional<Index> push;
    std::optional<Index> pop;
    Nanos since = 0;  // after a pop: the time up to which that took it
  };

  bool changes(int rank) const { return rank_ < 0 || rank == rank_; }
  int device_of(int rank) const;
  void refuse_what_cannot_be() const;
  void find_hands();
  void hasten_works();
  void let_start(const std::vector<bool>& launches);
  void order_meetings(const std::vector<bool>& launches);
  void write_thread(std::size_t track);
  void write_event(ThreadWriter& writer, const HostEvent& event);
  Nanos hastened(Nanos from, Nanos to) const;
  bool is_of_driver(const program::RecordedCall& call, const HostEvent& event) const;
  void hasten(program::RecordedCall& call, const HostEvent& event);
  void take_hands(ThreadWriter& writer, const std::vector<Hand>& hands, std::size_t event);
  void pass(ThreadWriter& writer, Nanos until, bool in_loader);
  void count_steps();
  Index add_queue();

  const trace::Trace& trace_;
  Speeds changed_;
  LeftOut left_out_;
  int rank_ = -1;  // that the change is of; below 0: every one
  PinnedCopies pinned_;
  HostSilence silence_;
  std::vector<HostTrack> tracks_;
  DeviceWork work_;
  HostWaits waits_;
  program::Program program_;
  std::vector<std::vector<Hand>> before_, after_;  // by track, in order of events
  Nanos now_ = 0;                                  // of the thread under way, in the recording
  int rank_of_thread_ = 0;
  Speeds speeds_;  // of that thread
  Caller caller_;  // the same
};

void ReplayWriter::refuse_what_cannot_be() const {
  if (work_.recording.works.empty() || tracks_.empty())
    throw InputError(trace_.origin().subject +
                     ": holds no work of a GPU with the host's calls beside it, so there is "
                     "nothing to replay");
  constexpr double kLongest = 1e17;  // ns: three years, far below what a time can be
  const double slowest =
      std::min({1.0, changed_.host, changed_.kernels, changed_.kernels * changed_.products,
                changed_.copies, changed_.communication});
  if (static_cast<double>(trace_.end()) / slowest > kLongest)
    throw InputError(trace_.origin().subject + ": would last longer than three years, replayed so");
  if (const std::set<std::int32_t> ranks = ranks_of(trace_); rank_ >= 0 && !ranks.contains(rank_))
    throw InputError(fmt::format("replay.rank = {}: the trace has {}", rank_,
                                 range_words({ranks.begin(), ranks.end()})));
}

Index ReplayWriter::add_queue() {
  program::Queue queue;
  queue.name = "handshake";
  queue.capacity = 1;
  program_.queues.push_back(std::move(queue));
  return static_cast<Index>(program_.queues.size() - 1);
}

void ReplayWriter::find_hands() {
  before_.resize(tracks_.size());
  after_.resize(tracks_.size());
  std::vector<bool> launches(trace_.spans().size());
  for (const auto& [call, works] : work_.of_call) launches[call] = true;
  for (const Handshake& one : find_handshakes(tracks_, launches)) {
    const std::vector<HostEvent>& waiting = tracks_[one.waiting].events;
    const std::vector<HostEvent>& working = tracks_[one.working].events;
    const Index go = add_queue(), done = add_queue();
    before_[one.waiting].push_back({one.before, go, done, working[one.last].end});
    before_[one.working].push_back(
        {.event = one.first, .push = {}, .pop = go, .since = waiting[one.before - 1].end});
    after_[one.working].push_back({.event = one.last, .push = done, .pop = {}, .since = 0});
  }
  let_start(launches);
  order_meetings(launches);
  for (auto* hands : {&before_, &after_})
    for (std::vector<Hand>& of_track : *hands) std::ranges::stable_sort(of_track, {}, &Hand::event);
}

// What a thread rests until another lets it begin is no time of the host's own, which a faster host
// would shorten.
void ReplayWriter::let_start(const std::vector<bool>& launches) {
  std::set<std::pair<std::size_t, std::size_t>> let;  // tracks' events, by handshakes
  for (std::size_t track = 0; track < before_.size(); ++track)
    for (const Hand& hand : before_[track])
      if (hand.pop) let.emplace(track, hand.event);
  for (const Start& one : find_starts(tracks_, launches)) {
    if (let.contains({one.working, one.first})) continue;
    const Index go = add_queue();
    after_[one.main].push_back({.event = one.after, .push = go, .pop = {}, .since = 0});
    before_[one.working].push_back({.event = one.first,
                                    .push = {},
                                    .pop = go,
                                    .since = tracks_[one.main].events[one.after].end});
  }
}

// What ranks do together each of them launches in the same order, whichever threads do: they see to
// that in ways that a trace does not tell.
void ReplayWriter::order_meetings(const std::vector<bool>& launches) {
  struct Launch {
    Nanos start = 0;
    std::size_t track = 0;
    std::size_t event = 0;
    auto operator<=>(const Launch&) const = default;
  };
  const std::vector<program::RecordedWork>& works = work_.recording.works;
  std::map<int, std::vector<Launch>> by_rank;
  for (std::size_t track = 0; track < tracks_.size(); ++track)
    for (std::size_t i = 0; i < tracks_[track].events.size(); ++i) {
      const HostEvent& event = tracks_[track].events[i];
      if (event.kind != HostEvent::Kind::kCall || !launches[event.span]) continue;
      if (works[work_.of_call.at(event.span).first].meeting != program::RecordedWork::kAlone)
        by_rank[tracks_[track].rank].push_back({event.start, track, i});
    }
  for (auto& [rank, all] : by_rank) {
    std::ranges::sort(all);
    for (std::size_t i = 1; i < all.size(); ++i) {
      const Launch &earlier = all[i - 1], &later = all[i];
      if (earlier.track == later.track) continue;
      const Index queue = add_queue();
      after_[earlier.track].push_back(
          {.event = earlier.event, .push = queue, .pop = {}, .since = 0});
      before_[later.track].push_back({.event = later.event, .push = {}, .pop = queue, .since = 0});
    }
  }
}

// Of the thread under way. While no thread of its rank does anything that is recorded, all of them
// keep their pace, so that each is as far as the others still.
Nanos ReplayWriter::hastened(Nanos from, Nanos to) const {
  if (to <= from) return 0;
  const Nanos silent = silence_.within(rank_of_thread_, from, to);
  return silent + faster(to - from - silent, speeds_.host);
}

// Time of the host's own passes, unless it is spent on waiting for a batch that is there.
void ReplayWriter::pass(ThreadWriter& writer, Nanos until, bool in_loader) {
  const Nanos length = std::max<Nanos>(until - now_, 0);
  const Nanos left = in_loader ? (speeds_.batches_are_there ? 0 : length) : hastened(now_, until);
  now_ = std::max(now_, until);
  if (left > 0) writer.add(program::Elapse{left});
}

// Those of one event: several threads may work while one waits.
void ReplayWriter::take_hands(ThreadWriter& writer, const std::vector<Hand>& hands,
                              std::size_t event) {
  const auto [first, last] = std::ranges::equal_range(hands, event, {}, &Hand::event);
  for (auto hand = first; hand != last; ++hand)
    if (hand->push) writer.add(program::Push{*hand->push, 0});
  for (auto hand = first; hand != last; ++hand) {
    if (!hand->pop) continue;
    writer.add(program::Pop{*hand->pop});
    now_ = std::max(now_, hand->since);
  }
}

// The first that the rank has a stream on.
int ReplayWriter::device_of(int rank) const {
  const auto first = std::ranges::find(work_.streams, rank, &program::Stream::rank);
  return first == work_.streams.end() ? work_.streams[0].device : first->device;
}

// A long call that gives no work is the driver's: it makes a context, or maps memory; and so is
// each of a recorded trace that asks for memory. A simulated host that is faster asks faster, too.
bool ReplayWriter::is_of_driver(const program::RecordedCall& call, const HostEvent& event) const {
  const trace::Span& span = trace_.spans()[event.span];
  if (call.count > 0 || event.is_held || span.category != Category::kHostApi) return false;
  return call.before > kLongestOfOperator ||
         (trace_.origin().kind == trace::OriginKind::kImported &&
          trace::asks_for_memory(trace_.name(span)));
}

// The host's part of a call; what begins after the call is told from its beginning, too, and what
// begins within a long call begins when the call has come so far.
void ReplayWriter::hasten(program::RecordedCall& call, const HostEvent& event) {
  if (is_of_driver(call, event)) return;
  const Nanos recorded = std::exchange(call.before, faster(call.before, speeds_.host));
  const Nanos usual = work_.usual_latency;
  for (std::uint32_t i = 0; i < call.count; ++i) {
    Nanos& latency = work_.recording.works[call.first + i].latency;
    if (latency >= recorded)
      latency += call.before - recorded;
    else if (latency > usual)
      latency = usual + faster(latency - usual, speeds_.host);
  }
}

void ReplayWriter::write_event(ThreadWriter& writer, const HostEvent& event) {
  pass(writer, event.start, event.in_loader);
  if (event.kind == HostEvent::Kind::kBegin) return writer.add(program::BeginRecorded{event.span});
  if (event.kind == HostEvent::Kind::kEnd) return writer.add(program::EndMark{});
  program::RecordedCall call = waits_.call(event, caller_);
  hasten(call, event);
  if (call.count > 0) {
    program::Thread& thread = program_.threads.back();
    if (!caller_.given)
      thread.device = work_.streams[work_.recording.works[call.first].stream].device;
    caller_.given = call.first + call.count - 1;
  }
  writer.add(call);
  now_ = event.end;
}

void ReplayWriter::write_thread(std::size_t track) {
  const std::vector<HostEvent>& events = tracks_[track].events;
  const int rank = tracks_[track].rank;
  const bool is_main = track == 0 || tracks_[track - 1].rank != rank;
  program::Thread thread;
  thread.name = trace_.lanes()[tracks_[track].lane].name;
  thread.role = is_main ? program::ThreadRole::kMain : program::ThreadRole::kAutograd;
  thread.rank = rank;
  thread.device = device_of(rank);
  program_.threads.push_back(std::move(thread));
  ThreadWriter writer(program_, static_cast<Index>(track));
  now_ = 0;
  rank_of_thread_ = rank;
  speeds_ = changes(rank) ? changed_ : Speeds();
  caller_ = {std::nullopt, device_of(rank), changes(rank) ? left_out_ : LeftOut()};
  if (track == 0 && work_.without_call > 0) {
    program::RecordedCall first;
    first.count = work_.without_call;
    writer.add(first);
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    take_hands(writer, before_[track], i);
    write_event(writer, events[i]);
    take_hands(writer, after_[track], i);
  }
  take_hands(writer, before_[track], events.size());
}

// Not the waits for ranks.
void ReplayWriter::hasten_works() {
  std::vector<program::RecordedWork>& works = program_.recording.works;
  const std::vector<Nanos> waits = waits_of_ranks(program_.recording);
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (!changes(program_.streams[works[i].stream].rank)) continue;
    const trace::Span& span = trace_.spans()[works[i].span];
    if (left_out_.staging && is_from_pageable(trace_, span))
      works[i].duration = pinned_.time_of(span);
    const double speed = speed_of(trace_, span, changed_);
    works[i].duration = waits[i] + faster(works[i].duration - waits[i], speed);
  }
}

void ReplayWriter::count_steps() {
  for (const HostEvent& event : tracks_[0].events)
    if (event.kind == HostEvent::Kind::kBegin &&
        std::string_view(trace_.name(trace_.spans()[event.span])).starts_with(trace::kStepMark))
      ++program_.steps;
  program_.warmup_steps = trace_.origin().warmup_steps;
}

}  // namespace

bool can_replay(const trace::Trace& trace) {
  bool has_thread = false;
  for (std::uint32_t id = 0; id < trace.lanes().size(); ++id)
    has_thread |= trace.lanes()[id].kind == trace::LaneKind::kHostThread;
  return has_thread && !ranks_of(trace).empty();
}

std::string changes_of(const program::Config& config) {
  std::string text;
  const auto add = [&](std::string_view words) { add_to_list(text, words); };
  const auto speed = [&](const char* knob, const char* what) {
    const double times = config.number(knob);
    if (times != 1) add(fmt::format("{} {:g} x as fast", what, times));
  };
  speed("replay.host_speed", "the host");
  speed("replay.kernel_speed", "kernels");
  speed("replay.product_speed", "products");
  speed("replay.copy_speed", "copies");
  speed("replay.communication_speed", "communication");
  if (config.flag("replay.batches_ready")) add("batches ready");
  if (config.flag("replay.non_blocking")) add("copies from pinned memory, non_blocking");
  if (!config.flag("replay.synchronise")) add("no synchronising");
  const std::int64_t rank = config.whole("replay.rank");
  return text.empty() || rank < 0 ? text : fmt::format("rank {}: {}", rank, text);
}

std::shared_ptr<const trace::Trace> read_recording(const program::Config& config) {
  const std::string& path = config.word("replay.trace");
  if (path.empty())
    throw InputError(
        "workload = replay carries out a recorded trace once more; set replay.trace to the file of "
        "one, as torch.profiler exports it, or to the folder of the files of a job's ranks");
  if (trace::is_rank_folder(path)) return trace::read_rank_folder(path);
  return trace::read_chrome_trace(path);
}

program::Program build_replay(const program::Config& config) {
  return replay_program(config, read_recording(config));
}

program::Program replay_program(const program::Config& config,
                                std::shared_ptr<const trace::Trace> trace) {
  program::Listing listing;
  listing.add("# " + trace->origin().subject + ", carried out once more");
  if (const std::string changes = changes_of(config); !changes.empty()) listing.add("# " + changes);
  program::Program program = ReplayWriter(config, std::move(trace)).write();
  program.listing = std::move(listing);
  return program;
}

}  // namespace trainscope::train
