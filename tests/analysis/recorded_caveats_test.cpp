// What a profiler's trace does not tell, said of traces that are made by hand.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "analysis/advice/what_if.h"
#include "analysis/caveats/collective_caveat.h"
#include "analysis/caveats/process_caveat.h"
#include "support/made_trace.h"

using namespace trainscope;
using test::MadeTrace;
using trace::Category;
using trace::LaneKind;

namespace {

analysis::Measured measured(const MadeTrace& made) {
  return analysis::measure(made.trace, nullptr, nullptr);
}

void add_collective(MadeTrace& made, trace::LaneId stream, const char* operation, Nanos start,
                    Nanos end, std::uint32_t correlation = 0) {
  trace::CollectiveDetail detail;
  detail.operation = operation;
  detail.type = "Float";
  detail.elements_in = detail.elements_out = 1000;
  detail.group_size = 4;
  trace::Span span;
  span.lane = stream;
  span.name = made.trace.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  span.start = start;
  span.duration = end - start;
  span.category = Category::kCollective;
  span.correlation = correlation;
  span.detail = made.trace.add_detail(detail);
  made.trace.add_span(span);
}

}  // namespace

TEST_CASE("a process that drives several GPUs is said to, with the one that does least") {
  MadeTrace made(trace::OriginKind::kImported);
  made.add(made.lane(LaneKind::kStream, 0), "gemm", 0, 1000, Category::kKernel);
  CHECK(analysis::process_caveat(measured(made)).empty());
  made.add(made.lane(LaneKind::kStream, 1), "gemm", 0, 500, Category::kKernel);
  CHECK(analysis::process_caveat(measured(made)) ==
        "Times are those of all 2 GPUs together; the one that does least, GPU 1, is at work for "
        "50 % of them");
}

TEST_CASE("collectives of which nothing is known are counted") {
  MadeTrace made(trace::OriginKind::kImported);
  const trace::LaneId stream = made.lane(LaneKind::kStream, 0);
  add_collective(made, stream, "allreduce", 0, 100);
  add_collective(made, stream, "barrier", 200, 300);
  CHECK(analysis::collective_caveat(measured(made)).empty());
  for (const Nanos start : {400, 600, 800})
    add_collective(made, stream, "coalesced", start, start + 100);
  CHECK(analysis::collective_caveat(measured(made)).starts_with("Of 3 of the measured"));
}

namespace {

trace::LaneId lane(MadeTrace& made, LaneKind kind, std::int32_t rank) {
  trace::Lane one;
  one.kind = kind;
  one.rank = rank;
  one.device = kind == LaneKind::kStream ? rank : -1;
  return made.trace.add_lane(one);
}

// Of ranks of a job of four, each with a row of collectives alike that end together.
std::string words_without_communication(const std::vector<std::vector<Nanos>>& lengths) {
  const auto made = std::make_shared<MadeTrace>(trace::OriginKind::kImported);
  std::uint32_t number = 0;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    const auto thread = lane(*made, LaneKind::kHostThread, static_cast<std::int32_t>(rank)),
               stream = lane(*made, LaneKind::kStream, static_cast<std::int32_t>(rank));
    Nanos end = 0;
    for (const Nanos length : lengths[rank]) {
      end += 1'000'000;
      ++number;
      made->add(thread, "cudaLaunchKernelExC", end - length - 20'000, end - length - 10'000,
                Category::kHostApi, number);
      add_collective(*made, stream, "allreduce", end - length, end, number);
    }
  }
  analysis::Run run;
  run.trace = std::shared_ptr<const trace::Trace>(made, &made->trace);
  analysis::analyse(run);
  const auto asked = analysis::what_if(run);
  REQUIRE(asked);
  for (const analysis::Altered& one : asked->changes)
    if (analysis::text_of(one) == "replay.communication_speed=1000") return one.words;
  return "";
}

}  // namespace

// What a collective takes beyond the shortest that is like it is wait for ranks.
TEST_CASE("without communication a rank alone still waits for the others, and that is said") {
  CHECK(words_without_communication({{300'000, 660'000}}) ==
        "Communication is hidden, or gone, at best; waits for ranks that are not here stay, at "
        "least 27 % of the time");
  CHECK(words_without_communication({{300'000, 300'000}}) ==
        "Communication is hidden, or gone, at best, as ranks are missing");
}

TEST_CASE("of several ranks it is the slowest's waits that stay") {
  CHECK(words_without_communication({{300'000, 660'000}, {300'000, 300'000}}) ==
        "Communication is hidden, or gone, at best, as ranks are missing");
  const std::vector<Nanos> all(2, 300'000);
  CHECK(words_without_communication({all, all, all, all}) == "Communication is hidden, or gone");
}
