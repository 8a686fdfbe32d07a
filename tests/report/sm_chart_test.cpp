#include "report/sm_chart.h"

#include <catch2/catch.hpp>
#include <regex>

#include "analysis/views/placed_kernels.h"
#include "report/markup.h"
#include "report/runs.h"

using namespace trainscope;
using test::has;

namespace {

std::string sms_of(const std::vector<const analysis::Run*>& runs) {
  return report::sm_html(report::view_runs(runs, {}));
}

analysis::Run kernel(std::string label, int blocks) {
  return test::simulated(std::move(label), {"workload=kernel", "machine=a100-sxm-1",
                                            "kernel.grid=" + std::to_string(blocks),
                                            "kernel.block=1024", "kernel.registers=64"});
}

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

std::vector<Box> boxes(const std::string& html, const std::string& kind) {
  std::vector<Box> boxes;
  const std::regex box(
      "<rect x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\" "
      "height=\"([0-9.]+)\" class=\"" +
      kind + "\"");
  for (std::sregex_iterator at(html.begin(), html.end(), box), end; at != end; ++at)
    boxes.push_back(
        {std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), std::stod((*at)[4])});
  return boxes;
}

}  // namespace

TEST_CASE("a report draws the waves of a kernel, and the tail of its last one") {
  const analysis::Run run = kernel("A", 109);
  const std::string html = sms_of({&run});
  CHECK(test::unbalanced(html) == "");
  CHECK(has(html, ">wave 1</text>"));
  CHECK(has(html, "tail: 107 of 108 SMs idle"));
  REQUIRE(boxes(html, "b-host-work").size() == 1);
  const Box wave = boxes(html, "b-host-work").front();
  REQUIRE(boxes(html, "tail").size() == 1);
  const Box tail = boxes(html, "tail").front();
  CHECK(tail.x == Approx(wave.x + wave.width + 1).margin(0.2));
  CHECK(tail.height == Approx(wave.height * 107 / 108).margin(0.2));
  CHECK(tail.y + tail.height == Approx(wave.y + wave.height).margin(0.2));
}

TEST_CASE("a report names what limits the occupancy, and says which kernel it draws") {
  const analysis::Run run = kernel("A", 216);
  const std::string html = sms_of({&run});
  const std::string table = test::between(html, ">Occupancy<", "</table>");
  CHECK(has(table, "limited by"));
  CHECK(has(table, ">registers</td>"));
  CHECK(has(table, ">50.0 %</td>"));
  CHECK(has(table, ">108 of 108</td>"));
  CHECK(has(html, "the one that takes the most GPU time"));
  CHECK(has(html, "SIMULATED"));
}

TEST_CASE("waves too short to be told apart are one body with their number") {
  const analysis::Run run = kernel("A", 108 * 1000);
  const std::string html = sms_of({&run});
  CHECK(has(html, ">999 full waves</text>"));
  CHECK(test::count(html, "<rect") < 20);
}

TEST_CASE("two kernels are drawn on one axis, and nothing beyond its ends") {
  const analysis::Run a = kernel("A", 108), b = kernel("B", 324);
  const std::string html = sms_of({&a, &b});
  CHECK(test::unbalanced(html) == "");
  for (const char* kind : {"b-host-work", "b-other", "tail"})
    for (const Box& box : boxes(html, kind)) {
      CHECK(box.x >= 83.9);
      CHECK(box.x + box.width <= 920.1);
    }
  // A takes a third of the time, and as much of the axis.
  const std::vector<Box> waves = boxes(html, "b-host-work");
  REQUIRE(waves.size() == 3);  // one of A, the first and the third of B
  CHECK(waves[0].width == Approx(waves[2].width).margin(1.2));
}

TEST_CASE("a kernel shorter than the shortest is drawn to its end, not to its last block's") {
  const analysis::Run run = test::simulated(
      "A", {"workload=kernel", "kernel.block=64", "kernel.grid=108", "kernel.flops_per_thread=1",
            "kernel.bytes_per_thread=0", "steps=2", "machine=a100-sxm-1"});
  const std::string html = sms_of({&run});
  const std::vector<Box> rest = boxes(html, "no-block");
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].x > 84);
  CHECK(rest[0].x + rest[0].width == Approx(920).margin(0.2));
}

TEST_CASE("a run without kernels that are placed block by block has no SMs in its report") {
  const analysis::Run copies = test::copies("A", "pinned");
  const analysis::Run imported = test::run_of("B", test::kernels(10));
  CHECK(sms_of({&copies}) == "");
  CHECK(sms_of({&imported}) == "");
}

TEST_CASE("the kernel drawn is the one whose launches take longest together") {
  const analysis::Run run = test::simulated("A", {"workload=train", "model.name=mlp", "steps=3",
                                                  "machine=h200-1", "loop.evaluate=false"});
  const auto longest = analysis::longest_placed(run);
  REQUIRE(longest);
  CHECK(longest->launches > 0);
  CHECK(longest->time <= longest->of_all);
  std::map<program::Index, Nanos> times;
  Nanos all = 0;
  for (const analysis::PlacedKernel& one : analysis::placed_kernels(run)) {
    const trace::Span& span = run.trace->spans()[one.span];
    CHECK(span.start == one.time);
    const analysis::Interval& window = run.facts.measured.window;
    const Nanos time = std::min(span.end(), window.end) - std::max(span.start, window.start);
    if (time > 0) times[one.operation] += time, all += time;
  }
  for (const auto& [operation, time] : times) CHECK(time <= longest->time);
  CHECK(longest->of_all == all);
  CHECK(has(sms_of({&run}), "(" + std::to_string(longest->launches) + " launches)"));
}
