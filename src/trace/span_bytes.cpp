#include "trace/span_bytes.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "trace/byte_words.h"

namespace trainscope::trace {

// Each member of all spans, one after the other. Times are differences within a lane, ids stand
// near the ids before them.
void put_spans(ByteWriter& out, const Trace& trace) {
  const auto& spans = trace.spans();
  const std::uint32_t count = spans.size();
  const auto column = [&](const auto& put_one) {
    for (std::uint32_t i = 0; i < count; ++i) put_one(spans[i], i);
  };
  out.whole(count);
  column([&](const Span& span, std::uint32_t) { out.whole(span.lane); });
  std::vector<Nanos> before(trace.lanes().size(), 0);
  column([&](const Span& span, std::uint32_t) {
    out.integer(difference(span.start, before[span.lane]));
    before[span.lane] = span.start;
  });
  column([&](const Span& span, std::uint32_t) { out.integer(span.duration); });
  column([&](const Span& span, std::uint32_t) { out.whole(span.name); });
  column([&](const Span& span, std::uint32_t i) { put_id(out, span.cause_span, i); });
  std::int64_t expected = 0;
  column([&](const Span& span, std::uint32_t) {
    put_id(out, span.detail, expected);
    if (span.detail != kNone) expected = std::int64_t{span.detail} + 1;
  });
  std::int64_t correlation = 0;
  column([&](const Span& span, std::uint32_t) {
    out.integer(span.correlation - correlation);
    correlation = span.correlation;
  });
  column([&](const Span& span, std::uint32_t) { put_word(out, span.category); });
  column([&](const Span& span, std::uint32_t) { put_word(out, span.cause); });
  column([&](const Span& span, std::uint32_t) { out.whole(span.line); });
}

namespace {

// The columns of spans, read beside each other: a block of spans goes through all of them while it
// is in the cache.
class SpanColumns {
 public:
  static constexpr std::size_t kColumns = 10;

  SpanColumns(ByteReader& in, std::uint32_t count, const Trace& trace)
      : count_(count),
        lanes_(trace.lanes().size()),
        names_(trace.name_count()),
        details_(trace.details().size()),
        lane_(in.column(count)),
        start_(in.column(count)),
        duration_(in.column(count)),
        name_(in.column(count)),
        cause_span_(in.column(count)),
        detail_(in.column(count)),
        correlation_(in.column(count)),
        category_(in.column(count)),
        cause_(in.column(count)),
        line_(in.column(count)),
        before_(lanes_, 0) {}

  // The next ones; `first` is the number of the first of them.
  void take(std::span<Span> spans, SpanId first) {
    for (Span& span : spans) span.lane = lane_.below(lanes_, "the lane of a span");
    take_times(spans);
    for (Span& span : spans) span.name = name_.below(names_, "the name of a span");
    take_references(spans, first);
    for (Span& span : spans)
      span.category = take_word(category_, Category::kOther, "the category of a span");
    for (Span& span : spans) span.cause = take_word(cause_, Cause::kPeer, "the cause of a span");
    for (Span& span : spans)
      span.line = static_cast<std::uint16_t>(line_.below(UINT16_MAX + 1, "the line of a span"));
  }

 private:
  void take_times(std::span<Span> spans) {
    for (Span& span : spans) {
      span.start = before_[span.lane] = sum(start_.integer(), before_[span.lane]);
      check_start(start_, span.start, "the start of a span");
    }
    for (Span& span : spans) {
      span.duration = duration_.integer();
      if (span.duration < 0 || span.duration >= kLongest)
        duration_.damaged("the duration of a span is out of range");
    }
  }

  void take_references(std::span<Span> spans, SpanId first) {
    for (Span& span : spans)
      span.cause_span = take_id(cause_span_, first++, count_, "the cause of a span");
    for (Span& span : spans) {
      span.detail = take_id(detail_, next_detail_, details_, "the detail of a span");
      if (span.detail != kNone) next_detail_ = std::int64_t{span.detail} + 1;
    }
    for (Span& span : spans) {
      last_correlation_ = sum(last_correlation_, correlation_.integer());
      if (last_correlation_ < 0 || last_correlation_ > std::int64_t{UINT32_MAX})
        correlation_.damaged("the correlation of a span is out of range");
      span.correlation = static_cast<std::uint32_t>(last_correlation_);
    }
  }

  std::uint32_t count_, lanes_, names_, details_;
  // In the order of the file.
  ByteReader lane_, start_, duration_, name_, cause_span_, detail_, correlation_, category_, cause_,
      line_;
  std::vector<Nanos> before_;  // the last start, by lane
  std::int64_t next_detail_ = 0;
  std::int64_t last_correlation_ = 0;
};

}  // namespace

void take_spans(ByteReader& in, Trace& trace) {
  constexpr std::uint32_t kBlock = 256;
  const std::uint32_t count = in.count(SpanColumns::kColumns, "spans");
  SpanColumns columns(in, count, trace);
  std::array<Span, kBlock> block;
  for (SpanId first = 0; first < count; first += kBlock) {
    const std::span<Span> spans(block.data(), std::min(kBlock, count - first));
    columns.take(spans, first);
    for (const Span& span : spans) trace.add_span(span);
  }
}

}  // namespace trainscope::trace
