// One thread writes a trace while others read it.
#include "trace/chunked.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "trace/index.h"
#include "trace/trace.h"

using namespace trainscope;
using namespace trainscope::trace;

namespace {

// Every span says in its fields which one it is.
void write_spans(Trace& trace, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i % 100 == 0)
      trace.add_lane({"lane " + std::to_string(i), LaneKind::kStream, 0, 0, 0, 0, ""});
    Span span;
    span.start = std::int64_t{10} * i;
    span.duration = 10;
    span.correlation = i;
    span.lane = i / 100;
    span.name = trace.intern("name " + std::to_string(i % 5000));
    CopyDetail copy;
    copy.bytes = i;
    span.detail = trace.add_detail(copy);
    span.cause_span = i == 0 ? kNone : i - 1;
    trace.add_span(span);
    if (i > 0) trace.add_flow({i - 1, i, FlowKind::kLaunch});
    trace.add_sample({span.start, static_cast<double>(i), span.lane});
  }
}

// Whether everything that can be seen now is whole.
bool is_whole(const Trace& trace, SpanId from) {
  const std::uint32_t flows = trace.flows().size(), samples = trace.samples().size();
  const std::uint32_t count = trace.spans().size();
  if (count < flows || count < samples) return false;  // flows were added behind their spans
  if (flows > 0 && trace.flows()[flows - 1].to != flows) return false;
  if (samples > 0 && trace.samples()[samples - 1].value != samples - 1) return false;
  if (trace.end() < 0) return false;
  for (SpanId id = from; id < count; ++id) {
    const Span& span = trace.spans()[id];
    if (span.correlation != id || span.start != std::int64_t{10} * id) return false;
    if (trace.lanes()[span.lane].name != "lane " + std::to_string(id / 100 * 100)) return false;
    if (trace.name(span) != "name " + std::to_string(id % 5000)) return false;
    if (std::get<CopyDetail>(*trace.detail(span)).bytes != id) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a walk through all visits each element once, in order, where it stands") {
  Chunked<int> numbers;
  for (const int size : {0, 1, 255, 256, 257, 768, 5000}) {
    while (static_cast<int>(numbers.size()) < size)
      numbers.push_back(static_cast<int>(numbers.size()));
    int next = 0;
    for_each(numbers, [&](const int& number, std::uint32_t index) {
      REQUIRE(number == next++);
      REQUIRE(&number == &numbers[index]);
    });
    CHECK(next == size);
  }
  CHECK(numbers.stretch(5000, 5000).empty());
}

TEST_CASE("elements keep their place and value while the array grows") {
  Chunked<std::string> words;
  std::vector<const std::string*> places;
  for (int i = 0; i < 10'000; ++i) {
    CHECK(words.push_back(std::to_string(i)) == static_cast<std::uint32_t>(i));
    places.push_back(&words[static_cast<std::uint32_t>(i)]);
  }
  CHECK(words.size() == 10'000);
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    REQUIRE(&words[i] == places[i]);
    REQUIRE(words[i] == std::to_string(i));
  }
}

TEST_CASE("readers see whole spans while one thread writes") {
  constexpr std::uint32_t kSpans = 60'000;
  Trace trace({});
  std::atomic<bool> done = false;
  std::atomic<int> broken = 0;
  std::vector<std::thread> readers;
  readers.reserve(3);
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done.load()) {
        const std::uint32_t seen = trace.spans().size();
        if (!is_whole(trace, seen > 500 ? seen - 500 : 0)) ++broken;
      }
      if (!is_whole(trace, 0)) ++broken;
    });
  }
  readers.emplace_back([&] {
    while (!done.load()) {
      const TraceIndex index = build_index(trace);
      if (index.span_count > trace.spans().size()) ++broken;
    }
  });
  write_spans(trace, kSpans);
  done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(broken == 0);
  CHECK(trace.spans().size() == kSpans);
  CHECK(trace.end() == std::int64_t{10} * kSpans);
}
