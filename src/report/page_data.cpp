#include "report/page_data.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>

#include "report/comparison.h"
#include "report/escape.h"
#include "report/page.h"
#include "report/strings.h"
#include "report/words.h"
#include "trace/cause_words.h"

namespace trainscope::report {
namespace {

using trace::Span;
using trace::SpanId;

// A list of whole numbers; left out where all are 0.
class Column {
 public:
  explicit Column(const char* key) : key_(key) {}
  void add(std::int64_t value) {
    any_ |= value != 0;
    if (!text_.empty()) text_ += ',';
    fmt::format_to(std::back_inserter(text_), "{}", value);
  }
  void write(std::string& out) const {
    if (any_) out += fmt::format(",\"{}\":[{}]", key_, text_);
  }

 private:
  const char* key_;
  std::string text_;
  bool any_ = false;
};

// Details that read alike are written once.
class DetailTable {
 public:
  explicit DetailTable(const Speech& speech) : speech_(speech) {}
  // From 1; 0: nothing is known.
  std::int64_t add(const trace::Detail& detail) {
    DetailWords words = detail_words(detail, speech_);
    if (words.text.empty() && words.bytes == 0 && words.flops == 0) return 0;
    const auto [entry, added] = ids_.try_emplace(std::move(words), ids_.size() + 1);
    if (added) order_.push_back(&entry->first);
    return static_cast<std::int64_t>(entry->second);
  }
  std::string json() const {
    std::string out = "[";
    for (const DetailWords* words : order_) {
      if (out.size() > 1) out += ",\n";
      out += fmt::format("[{},{},{}]", json_text(words->text), words->bytes, words->flops);
    }
    return out + "]";
  }

 private:
  const Speech& speech_;
  std::map<DetailWords, std::size_t> ids_;
  std::vector<const DetailWords*> order_;
};

struct Tables {
  explicit Tables(const Speech& words) : speech(words), details(words) {}
  const Speech& speech;
  StringTable strings;
  DetailTable details;
};

// Into the page's causes: behind those of the enumeration, what else is told of some spans.
constexpr std::int64_t kQueueRoomNumber = static_cast<std::int64_t>(trace::Cause::kPeer) + 1;

std::int64_t cause_number(const Span& span) {
  return trace::cause_of(span) == trace::kQueueRoom ? kQueueRoomNumber
                                                    : static_cast<std::int64_t>(span.cause);
}

// The span that let each span begin: its cause, else the call that launched it.
std::vector<SpanId> waited_for(const trace::Trace& trace, std::uint32_t count) {
  std::vector<SpanId> from(count, trace::kNone);
  for (std::uint32_t i = 0, n = trace.flows().size(); i < n; ++i) {
    const trace::Flow& flow = trace.flows()[i];
    if (flow.kind == trace::FlowKind::kLaunch && flow.to < count && flow.from < count)
      from[flow.to] = flow.from;
  }
  for (SpanId id = 0; id < count; ++id)
    if (const SpanId cause = trace::named_cause(trace, trace.spans()[id]); cause < count)
      from[id] = cause;
  return from;
}

// The number of the bar that each span is in; bars are numbered in the order of the page. The bars
// of merged rows hold spans of several rows, so those are found by time.
std::vector<std::uint32_t> bars_of_spans(const RunView& view) {
  std::vector<std::uint32_t> bar_of(view.index.span_count, trace::kNone);
  const trace::Trace& trace = *view.run->trace;
  std::uint32_t number = 0;
  for (const LaneBars& lane : view.bars.lanes) {
    const auto& rows = view.index.lanes[lane.lane].rows;
    const std::size_t plain = rows.size() - lane.rows_merged;
    for (std::size_t row = 0; row < lane.rows.size(); ++row) {
      const BarRow& bars = lane.rows[row];
      const std::size_t last = row < plain ? row + 1 : rows.size();
      for (std::size_t from = row; from < last; ++from) {
        std::size_t at = 0;
        for (const SpanId id : rows[from].spans) {
          const Span& span = trace.spans()[id];
          while (at + 1 < bars.size() && bars[at + 1].start <= span.start) ++at;
          bar_of[id] = number + static_cast<std::uint32_t>(at);
        }
      }
      number += static_cast<std::uint32_t>(bars.size());
    }
  }
  return bar_of;
}

class RunWriter {
 public:
  RunWriter(const RunView& view, Tables& tables)
      : view_(view),
        trace_(*view.run->trace),
        tables_(tables),
        waited_for_(waited_for(trace_, view.index.span_count)),
        bar_of_(bars_of_spans(view)) {}

  std::string json() {
    const trace::Trace& trace = trace_;
    std::string out = fmt::format(
        "{{\"label\":{},\"start\":{},\"end\":{},\"first_step\":{},\"lanes\":[",
        json_text(view_.run->label), view_.index.start, view_.index.end,
        view_.run->facts.measured.steps > 0 ? view_.run->facts.measured.first_window().start : 0);
    for (const LaneBars& lane : view_.bars.lanes) {
      if (out.back() == '}') out += ',';
      add_lane(out, lane, trace.lanes()[lane.lane]);
    }
    out += "],\n\"gaps\":[";
    add_gaps(out);
    return out + "]}";
  }

 private:
  void add_lane(std::string& out, const LaneBars& bars, const trace::Lane& lane) {
    out += fmt::format("\n{{\"name\":{},\"group\":{},\"steps\":{},\"merged\":{},\"rows\":[",
                       json_text(tables_.speech.say_name(lane.name)),
                       json_text(tables_.speech.say_name(lane.group)), lane.name == "steps",
                       bars.rows_merged);
    for (std::size_t row = 0; row < bars.rows.size(); ++row) {
      if (row > 0) out += ',';
      add_row(out, bars.rows[row]);
    }
    out += "]";
    add_samples(out, bars.lane);
    out += "}";
  }

  void add_row(std::string& out, const BarRow& row) {
    Column gap("s"), length("d"), name("n"), label("b"), category("c"), cause("k"), line("l"),
        detail("x"), from("w"), count("m"), busy("y"), endless("e");
    Nanos end = 0;
    for (const Bar& bar : row) {
      const Span& span = trace_.spans()[bar.first];
      const bool folded = bar.count > 1;
      gap.add(bar.start - end);
      length.add(bar.end - bar.start);
      end = bar.end;
      category.add(static_cast<std::int64_t>(bar.category));
      name.add(folded ? 0 : tables_.strings.add(trace_.name(span)));
      label.add(folded ? 0 : label_of(span));
      cause.add(folded ? 0 : cause_number(span));
      line.add(folded ? 0 : span.line);
      detail.add(folded ? 0 : detail_of(span));
      from.add(folded ? 0 : distance_to_cause(bar.first));
      count.add(folded ? bar.count : 0);
      busy.add(folded ? bar.busy : 0);
      endless.add(is_endless(trace_, bar) ? 1 : 0);
      ++number_;
    }
    out += fmt::format("\n{{\"size\":{}", row.size());
    for (const Column* column : {&gap, &length, &name, &label, &category, &cause, &line, &detail,
                                 &from, &count, &busy, &endless})
      column->write(out);
    out += "}";
  }

  // 0: the label is the name.
  std::int64_t label_of(const Span& span) {
    const std::string text = report::label_of(trace_, span, tables_.speech);
    return text == trace_.name(span) ? 0 : tables_.strings.add(text);
  }

  std::int64_t detail_of(const Span& span) {
    const trace::Detail* detail = trace_.detail(span);
    return detail ? tables_.details.add(*detail) : 0;
  }

  // In bars, backwards; 0: no cause, or within the same bar.
  std::int64_t distance_to_cause(SpanId id) const {
    const SpanId cause = waited_for_[id];
    if (cause == trace::kNone || bar_of_[cause] == trace::kNone) return 0;
    return static_cast<std::int64_t>(number_) - bar_of_[cause];
  }

  void add_gaps(std::string& out) {
    std::map<trace::LaneId, std::size_t> place;
    for (std::size_t i = 0; i < view_.bars.lanes.size(); ++i) place[view_.bars.lanes[i].lane] = i;
    bool first = true;
    for (const analysis::IdleGap& gap : view_.gaps) {
      const auto lane = place.find(gap.lane);
      if (lane == place.end()) continue;
      if (!first) out += ',';
      first = false;
      out += fmt::format("[{},{},{},{}]", lane->second, gap.start, gap.end - gap.start,
                         tables_.strings.add(gap_label(gap, tables_.speech)));
    }
  }

  void add_samples(std::string& out, trace::LaneId lane) const;

  const RunView& view_;
  const trace::Trace& trace_;
  Tables& tables_;
  std::vector<SpanId> waited_for_;
  std::vector<std::uint32_t> bar_of_;
  std::uint32_t number_ = 0;
};

void RunWriter::add_samples(std::string& out, trace::LaneId lane) const {
  const std::vector<trace::Sample>& samples = view_.counters[lane];
  if (samples.empty()) return;
  std::string times, values;
  for (const trace::Sample& sample : samples) {
    fmt::format_to(std::back_inserter(times), "{}{}", times.empty() ? "" : ",", sample.time);
    fmt::format_to(std::back_inserter(values), "{}{}", values.empty() ? "" : ",", sample.value);
  }
  out += fmt::format(",\"times\":[{}],\"values\":[{}]", times, values);
}

std::string categories_json(const Speech& speech) {
  std::string out = "[";
  for (std::size_t i = 0; i < trace::kCategoryCount; ++i) {
    const std::string_view name = trace::name_of(static_cast<trace::Category>(i));
    out += fmt::format("{}[{},{}]", i > 0 ? "," : "", json_text(speech.say(name)),
                       json_text(slug(name)));
  }
  return out + "]";
}

// Why a span began when it did.
std::string sentence_of(trace::Cause cause, const Speech& speech) {
  if (cause == trace::Cause::kNothing) return "";
  if (cause == trace::Cause::kProgram) return speech.say("after the command before it");
  if (cause == trace::Cause::kCore)
    return told(speech, "slowed by {}", speech.say(trace::kSharedCore));
  return told(speech, "waited for {}", speech.say(trace::name_of(cause)));
}

std::string causes_json(const Speech& speech) {
  std::string out = "[";
  for (int i = 0; i <= static_cast<int>(trace::Cause::kPeer); ++i)
    out += fmt::format("{}{}", i > 0 ? "," : "",
                       json_text(sentence_of(static_cast<trace::Cause>(i), speech)));
  const std::string queue = told(speech, "waited for {}", speech.say(trace::kQueueRoom));
  return out + "," + json_text(queue) + "]";
}

// The words that the page's scripts say, where its language has them: {"english": "words"}.
std::string script_words_json(const Speech& speech) {
  std::string out = "{";
  for (const std::string& english : script_words(page_script())) {
    const std::string words = speech.say(english);
    if (words == english) continue;
    if (out.size() > 1) out += ",\n";
    out += json_text(english) + ":" + json_text(words);
  }
  return out + "}";
}

}  // namespace

std::set<std::string> script_words(std::string_view script) {
  constexpr std::string_view kCall = "say(\"";
  std::set<std::string> words;
  for (std::size_t at = script.find(kCall); at != script.npos; at = script.find(kCall, at)) {
    at += kCall.size();
    words.emplace(script.substr(at, script.find('"', at) - at));
  }
  return words;
}

std::string page_data(const std::vector<RunView>& views, const Speech& speech) {
  Tables tables(speech);
  std::string runs;
  for (const RunView& view : views) {
    if (!runs.empty()) runs += ",\n";
    runs += RunWriter(view, tables).json();
  }
  return fmt::format(
      "{{\"words\":{},\n\"categories\":{},\n\"causes\":{},\n\"strings\":{},\n\"shorts\":{},\n"
      "\"details\":{},\n\"runs\":[{}]}}",
      script_words_json(speech), categories_json(speech), causes_json(speech),
      tables.strings.json(), tables.strings.shorts_json(), tables.details.json(), runs);
}

}  // namespace trainscope::report
