#include "trace/chrome_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include "base/files.h"
#include "trace/cause_words.h"
#include "trace/chrome_details.h"
#include "trace/chrome_event.h"
#include "trace/chrome_header.h"
#include "trace/chrome_layout.h"
#include "trace/chrome_shown.h"
#include "trace/chrome_text.h"
#include "trace/gzip_stream.h"
#include "trace/ranks.h"

namespace trainscope::trace {
namespace {

using namespace chrome;

// One end of a flow at a span.
struct FlowMark {
  SpanId span;
  std::uint32_t flow;
  bool starts;
};

class Writer {
 public:
  Writer(const Trace& trace, std::ostream& out, const WriteOptions& options)
      : trace_(trace),
        stream_(out),
        options_(options),
        layout_(lay_out(trace, options.rank, options.sync_records)),
        correlation_offset_(choose_correlation_offset()) {}

  void write() {
    find_flows();
    write_header();
    write_metadata();
    for (const SpanId id : layout_.order) {
      write_span(id);
      write_flow_marks(id);
      flush_if_full();
    }
    write_samples();
    write_training();
    out_ += "\n]}\n";
    flush();
  }

 private:
  std::int64_t choose_correlation_offset() const;
  void write_header();
  void write_devices();
  void write_own_header();
  void write_metadata();
  ArgList begin_metadata(std::string_view what, std::int64_t pid, std::int64_t tid);
  void write_span(SpanId id);
  void write_args(SpanId id, const std::string& name, const ShownSpan& shown);
  void write_own_args(ArgList& args, SpanId id, const std::string& name, const ShownSpan& shown);
  ShownSpan show(const Span& span, EventKind kind, const std::string& name);
  void find_flows();
  void write_flow_marks(SpanId id);
  void write_samples();
  void write_training();
  void write_counter(const std::string& name, const LanePlace& place, Nanos time, double value);
  void append_place(const LanePlace& place, std::uint32_t row, Nanos time);
  void begin_event() {
    out_ += first_event_ ? "\n" : ",\n";
    first_event_ = false;
  }
  void flush_if_full() {
    constexpr std::size_t kFull = 1 << 18;
    if (out_.size() > kFull) flush();
  }
  void flush() {
    stream_.write(out_.data(), static_cast<std::streamsize>(out_.size()));
    out_.clear();
  }

  const Trace& trace_;
  std::ostream& stream_;
  const WriteOptions& options_;
  Layout layout_;
  std::int64_t correlation_offset_;
  std::string out_;
  Nanos ahead_ = 0;  // of the file's time 0, so that its base is in whole microseconds
  bool first_event_ = true;
  std::vector<FlowMark> marks_;         // by span
  std::vector<std::int64_t> flow_ids_;  // by flow
};

// HTA keeps the numbers of events in an array as narrow as the correlations allow, which fails
// (with pandas 3) where these stay small and events are many. Real traces' correlations do not.
std::int64_t Writer::choose_correlation_offset() const {
  constexpr std::uint32_t kSmall = 1 << 16;
  for (const SpanId id : layout_.order)
    if (trace_.spans()[id].correlation >= kSmall) return 0;
  return 100'000;
}

void Writer::find_flows() {
  std::vector<bool> written(layout_.rows.size());
  for (const SpanId id : layout_.order) written[id] = true;
  const auto is_written = [&](SpanId id) { return id < written.size() && written[id]; };
  const bool several_ranks = !options_.rank && ranks_of(trace_).size() > 1;
  std::set<std::int64_t> used;
  const std::uint32_t count = trace_.flows().size();
  flow_ids_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Flow& flow = trace_.flows()[i];
    if (!is_written(flow.from) || !is_written(flow.to)) continue;
    marks_.push_back({flow.from, i, true});
    marks_.push_back({flow.to, i, false});
    // PyTorch's launch arrows are numbered by correlation, which is unique within a rank only.
    constexpr std::int64_t kUnrelated = std::int64_t{1} << 48;
    const Span& from = trace_.spans()[flow.from];
    const std::int64_t rank = several_ranks ? trace_.lanes()[from.lane].rank & 0x7FFF : 0;
    const std::int64_t related = rank << 32 | (from.correlation + correlation_offset_);
    const bool launch = flow.kind == FlowKind::kLaunch && from.correlation != 0 &&
                        from.correlation == trace_.spans()[flow.to].correlation;
    flow_ids_[i] = launch && used.insert(related).second ? related : kUnrelated + i;
  }
  std::ranges::stable_sort(marks_, {}, &FlowMark::span);
}

void Writer::write_header() {
  const std::vector<int> ranks = ranks_of(trace_);
  const int rank = options_.rank.value_or(ranks.empty() ? 0 : ranks.front());
  const int world = options_.world_size.value_or(static_cast<int>(ranks.size()));
  const Nanos clock = trace_.origin().clock_start;
  ahead_ = clock > 0 ? clock % 1000 : 0;
  out_ += "{\"schemaVersion\": 1,\n\"deviceProperties\": [";
  write_devices();
  // HTA finds the rank by this very spelling, space included.
  fmt::format_to(std::back_inserter(out_), "],\n\"distributedInfo\": {{\"rank\": {}", rank);
  if (world > 1)
    fmt::format_to(std::back_inserter(out_), ", \"backend\": \"nccl\", \"world_size\": {}", world);
  out_ += "},\n\"trainscope\": ";
  write_own_header();
  fmt::format_to(std::back_inserter(out_),
                 ",\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": {},\n"
                 "\"traceEvents\": [",
                 clock - ahead_);
}

void Writer::write_devices() {
  std::string_view separator = "\n";
  for (const DeviceProperties& device : options_.devices) {
    out_ += separator;
    out_ += "  {";
    ArgList list(out_);
    const auto number = [&](std::string_view key, std::int64_t value) {
      if (value != 0) list.number(key, value);
    };
    list.number("id", std::int64_t{device.id});
    list.text("name", device.name);
    number("totalGlobalMem", device.total_memory);
    number("computeMajor", device.compute_major);
    if (device.compute_major != 0) list.number("computeMinor", std::int64_t{device.compute_minor});
    number("maxThreadsPerBlock", device.max_threads_per_block);
    number("maxThreadsPerMultiprocessor", device.max_threads_per_multiprocessor);
    number("regsPerBlock", device.registers_per_block);
    number("regsPerMultiprocessor", device.registers_per_multiprocessor);
    number("warpSize", device.warp_size);
    number("sharedMemPerBlock", device.shared_per_block);
    number("sharedMemPerMultiprocessor", device.shared_per_multiprocessor);
    number("numSms", device.multiprocessors);
    number("sharedMemPerBlockOptin", device.shared_per_block_optin);
    out_ += "}";
    separator = ",\n";
  }
}

void Writer::write_own_header() {
  OwnHeader header;
  header.origin = trace_.origin();
  header.origin.warmup_steps = options_.warmup_steps;
  header.origin.ended_early = options_.ended_early;
  header.correlation_offset = correlation_offset_;
  header.span_count = static_cast<std::int64_t>(layout_.order.size());
  for (LaneId id = 0; id < layout_.lanes.size(); ++id) {
    const LanePlace& place = layout_.lanes[id];
    if (place.written) header.lanes.push_back({trace_.lanes()[id], place.pid, place.tids});
  }
  for (std::uint32_t i = 0, count = trace_.dropped().size(); i < count; ++i)
    header.dropped.push_back(trace_.dropped()[i]);
  append_own_header(out_, header);
}

// Leaves the event open in its args.
ArgList Writer::begin_metadata(std::string_view what, std::int64_t pid, std::int64_t tid) {
  begin_event();
  fmt::format_to(std::back_inserter(out_),
                 R"({{"name": "{}", "ph": "M", "ts": 0, "pid": {}, "tid": {}, "args": {{)", what,
                 pid, tid);
  return ArgList(out_);
}

void Writer::write_metadata() {
  const auto text = [&](auto what, auto pid, auto tid, auto key, const std::string& value) {
    begin_metadata(what, pid, tid).text(key, value);
    out_ += "}}";
  };
  const auto order = [&](auto what, auto pid, auto tid, std::int64_t value) {
    begin_metadata(what, pid, tid).number("sort_index", value);
    out_ += "}}";
  };
  for (const ProcessPlace& process : layout_.processes) {
    text("process_name", process.pid, 0, "name", process.name);
    text("process_labels", process.pid, 0, "labels", process.label);
    order("process_sort_index", process.pid, 0, process.order);
  }
  for (LaneId id = 0; id < layout_.lanes.size(); ++id) {
    const LanePlace& place = layout_.lanes[id];
    const Lane& lane = trace_.lanes()[id];
    if (!place.written || lane.kind == LaneKind::kCounter) continue;
    // PyTorch's stream rows have a space behind their name.
    const std::string name = lane.name + (lane.kind == LaneKind::kStream ? " " : "");
    for (const std::int64_t tid : place.tids) {
      text("thread_name", place.pid, tid, "name", name);
      order("thread_sort_index", place.pid, tid, id);
    }
  }
}

void Writer::append_place(const LanePlace& place, std::uint32_t row, Nanos time) {
  fmt::format_to(std::back_inserter(out_), R"("pid": {}, "tid": {}, "ts": )", place.pid,
                 place.tids[row]);
  append_microseconds(out_, time + ahead_);
}

ShownSpan Writer::show(const Span& span, EventKind kind, const std::string& name) {
  const LanePlace& place = layout_.lanes[span.lane];
  ShownSpan shown;
  shown.kind = kind;
  shown.facts = name_facts(name);
  shown.device = place.device;
  shown.stream = place.stream;
  shown.duration = span.duration;
  const Detail* detail = trace_.detail(span);
  const auto* sync = detail ? std::get_if<SyncDetail>(detail) : nullptr;
  // Beside the streams stand only synchronisations of a whole device: HTA takes -1 for that.
  shown.on_stream = kind != EventKind::kGpuAnnotation && is_on_device(kind) &&
                    (place.stream > 0 || (sync && sync->stream == -1));
  for (const DeviceProperties& device : options_.devices)
    if (device.id == place.device) shown.multiprocessors = device.multiprocessors;
  return shown;
}

void Writer::write_span(SpanId id) {
  const Span& span = trace_.spans()[id];
  const Lane& lane = trace_.lanes()[span.lane];
  const std::string& own_name = trace_.name(span);
  const EventKind kind = shown_kind(lane, span.category, own_name);
  const std::string name = shown_name(kind, span.category, own_name, trace_.detail(span));
  begin_event();
  fmt::format_to(std::back_inserter(out_), R"({{"ph": "X", "cat": "{}", "name": )", cat_of(kind));
  append_quoted(out_, name);
  out_ += ", ";
  append_place(layout_.lanes[span.lane], layout_.rows[id], span.start);
  out_ += R"(, "dur": )";
  append_microseconds(out_, span.duration);
  out_ += R"(, "args": {)";
  write_args(id, name, show(span, kind, name));
  out_ += "}}";
}

void Writer::write_args(SpanId id, const std::string& name, const ShownSpan& shown) {
  const Span& span = trace_.spans()[id];
  ArgList args(out_);
  if (shown.on_stream) {
    args.number("device", std::int64_t{shown.device});
    args.number("context", std::int64_t{1});
    args.number("stream", std::int64_t{shown.stream});
  }
  const bool has_correlation = shown.on_stream || shown.kind == EventKind::kRuntime;
  if (span.correlation != 0 && has_correlation)
    args.number("correlation", span.correlation + correlation_offset_);
  else if (span.correlation != 0)
    args.number("Trainscope correlation", std::int64_t{span.correlation});
  append_detail(args, trace_.detail(span), shown);
  write_own_args(args, id, name, shown);
}

void Writer::write_own_args(ArgList& args, SpanId id, const std::string& name,
                            const ShownSpan& shown) {
  const Span& span = trace_.spans()[id];
  if (span.line != 0) args.number("Trainscope line", std::int64_t{span.line});
  if (span.category != plain_category(shown.kind, shown.facts))
    args.text("Trainscope category", name_of(span.category));
  if (span.cause != Cause::kNothing) args.text("Trainscope cause", cause_of(span));
  if (span.cause_span != kNone) args.number("Trainscope cause span", std::int64_t{span.cause_span});
  const std::string& own_name = trace_.name(span);
  if (!is_utf8(own_name))
    args.text("Trainscope name bytes", bytes_as_text(own_name));
  else if (own_name != name)
    args.text("Trainscope name", own_name);
  args.number("Trainscope span", std::int64_t{id});
}

void Writer::write_flow_marks(SpanId id) {
  const auto first = std::ranges::lower_bound(marks_, id, {}, &FlowMark::span);
  for (auto mark = first; mark != marks_.end() && mark->span == id; ++mark) {
    const Span& span = trace_.spans()[id];
    const std::string_view cat = flow_cat(trace_.flows()[mark->flow].kind);
    begin_event();
    fmt::format_to(std::back_inserter(out_), R"({{"ph": "{}", "id": {}, )",
                   mark->starts ? "s" : "f", flow_ids_[mark->flow]);
    append_place(layout_.lanes[span.lane], layout_.rows[id], span.start);
    fmt::format_to(std::back_inserter(out_), R"(, "cat": "{0}", "name": "{0}", )", cat);
    if (mark->starts)
      fmt::format_to(std::back_inserter(out_), R"("args": {{"Trainscope flow": {}}}}})",
                     mark->flow);
    else
      out_ += R"("bp": "e"})";
  }
}

void Writer::write_samples() {
  for (std::uint32_t i = 0, count = trace_.samples().size(); i < count; ++i) {
    const Sample& sample = trace_.samples()[i];
    if (sample.lane >= layout_.lanes.size() || !layout_.lanes[sample.lane].written) continue;
    // A counter is known by its process and its name: those of several GPUs must not meet.
    const Lane& lane = trace_.lanes()[sample.lane];
    const std::string name =
        lane.device > 0 ? fmt::format("{}, GPU {}", lane.name, lane.device) : lane.name;
    write_counter(name, layout_.lanes[sample.lane], sample.time, sample.value);
  }
}

// How training goes, as counters of the process that trains.
void Writer::write_training() {
  const LanePlace* place = nullptr;
  for (LaneId id = 0; id < layout_.lanes.size() && !place; ++id)
    if (layout_.lanes[id].written && trace_.lanes()[id].kind == LaneKind::kHostThread)
      place = &layout_.lanes[id];
  if (!place) return;
  for (std::uint32_t i = 0, count = trace_.steps().size(); i < count; ++i) {
    const TrainingStep& step = trace_.steps()[i];
    if (step.has_loss) write_counter("loss", *place, step.time, step.loss);
    if (!std::isnan(step.loss_scale))
      write_counter("loss scale", *place, step.time, step.loss_scale);
  }
}

void Writer::write_counter(const std::string& name, const LanePlace& place, Nanos time,
                           double value) {
  begin_event();
  out_ += R"({"ph": "C", "name": )";
  append_quoted(out_, name);
  out_ += ", ";
  append_place(place, 0, time);
  out_ += R"(, "args": {)";
  ArgList args(out_);
  const bool finite = std::isfinite(value);
  args.number("", finite ? value : 0.0);
  if (!finite) args.text("Trainscope value", fmt::format("{}", value));
  out_ += "}}";
  flush_if_full();
}

}  // namespace

void write_chrome_trace(const Trace& trace, std::ostream& out, const WriteOptions& options) {
  Writer(trace, out, options).write();
}

void write_chrome_trace(const Trace& trace, const std::filesystem::path& path,
                        const WriteOptions& options) {
  write_file(path, [&](std::ostream& out) {
    if (path.extension() != ".gz") return write_chrome_trace(trace, out, options);
    GzipStream packed(out);
    write_chrome_trace(trace, packed, options);
    packed.finish();
  });
}

void write_chrome_folder(const Trace& trace, const std::filesystem::path& folder,
                         const WriteOptions& options, const std::string& ending) {
  std::vector<int> ranks = ranks_of(trace);
  const int world = options.world_size.value_or(static_cast<int>(ranks.size()));
  if (ranks.size() == 1) {
    ranks.resize(static_cast<std::size_t>(std::max(world, 1)));
    std::iota(ranks.begin(), ranks.end(), 0);
  }
  for (const int rank : ranks) {
    WriteOptions one = options;
    one.rank = rank;
    one.world_size = world;
    write_chrome_trace(*part_of_rank(trace, rank), folder / fmt::format("rank_{}{}", rank, ending),
                       one);
  }
}

}  // namespace trainscope::trace
