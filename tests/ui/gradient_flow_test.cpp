// Gradient flow: where GPUs stand and what travels between them, and the panel through the window.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <numeric>

#include "base/units.h"
#include "machine/ring.h"
#include "ui/app/views/gpu_map.h"
#include "ui/app/views/gradient_cells.h"
#include "ui/app/window/layout.h"
#include "ui/cut_text.h"
#include "ui/driver.h"
#include "ui/is_there.h"
#include "ui/panels/gpus/flow_facts.h"
#include "ui/panels/gpus/step_strip.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

RunPointer ddp(const char* label, std::initializer_list<const char*> settings) {
  program::Config config;
  for (const char* setting :
       {"workload=train", "parallel.strategy=ddp", "parallel.world_size=8", "machine=dgx1-v100-8",
        "model.name=resnet18", "batch_size=8", "steps=4"})
    config.set_text(setting);
  for (const char* setting : settings) config.set_text(setting);
  return std::make_shared<analysis::Run>(analysis::run_config(label, config));
}

analysis::GradientFlow flow_of(const analysis::Run& run) {
  return analysis::gradient_flow(*run.trace, run.program.get());
}

bool overlap(const Box& a, const Box& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

// On a card's edge, or within a pixel of it.
bool touches(const Box& box, ImVec2 at) {
  return at.x >= box.min.x - 1 && at.x <= box.max.x + 1 && at.y >= box.min.y - 1 &&
         at.y <= box.max.y + 1;
}

constexpr Box kArea{{100, 50}, {700, 400}};

GpuMap map_of(const char* machine, int ranks, Traffic traffic = Traffic::kRing) {
  const machine::Topology topology = machine::topology_of(machine::load_machine(machine));
  return lay_out_gpus(&topology, machine::ring_order(topology, ranks), kArea, 1, traffic);
}

}  // namespace

TEST_CASE("GPUs stand apart within their area, each has a way to its neighbour in the ring") {
  const std::pair<const char*, int> groups[] = {
      {"dgx1-v100-8", 2}, {"dgx1-v100-8", 4},    {"dgx1-v100-8", 5}, {"dgx1-v100-8", 8},
      {"h100-sxm-8", 2},  {"h100-sxm-8", 4},     {"h100-sxm-8", 8},  {"l40s-2", 2},
      {"l40s-4", 4},      {"titan-rtx-2", 2},    {"h200-8x2", 16},   {"dgx1-v100-8x2", 16},
      {"h200-8x2", 8},    {"dgx1-v100-8x2", 12}, {"a100-sxm-8", 3}};
  for (const auto& [machine, ranks] : groups) {
    INFO(machine << ", " << ranks);
    const GpuMap map = map_of(machine, ranks);
    REQUIRE(map.gpus.size() == static_cast<std::size_t>(ranks));
    CHECK(map.shows_links);
    std::vector<Box> boxes;
    for (const GpuMap::Gpu& gpu : map.gpus) boxes.push_back(gpu.box);
    for (const GpuMap::Hub& hub : map.hubs) boxes.push_back(hub.box);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      CHECK(boxes[i].width() > 4);
      CHECK(boxes[i].height() > 4);
      CHECK(boxes[i].min.x >= kArea.min.x - 1);
      CHECK(boxes[i].max.x <= kArea.max.x + 1);
      CHECK(boxes[i].min.y >= kArea.min.y - 1);
      CHECK(boxes[i].max.y <= kArea.max.y + 1);
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(boxes[i], boxes[j]));
    }
    for (std::size_t i = 0; i < map.ring.size(); ++i) {
      const int from = map.ring[i], to = map.ring[(i + 1) % map.ring.size()];
      const std::vector<ImVec2> way = map.route(from, to);
      INFO(from << " to " << to);
      REQUIRE(way.size() >= 2);
      CHECK(touches(map.gpus[static_cast<std::size_t>(from)].box, way.front()));
      CHECK(touches(map.gpus[static_cast<std::size_t>(to)].box, way.back()));
    }
  }
}

TEST_CASE("GPU 0 has a way to every other GPU of a star, and back") {
  for (const auto& [machine, ranks] : {std::pair{"dgx1-v100-8", 8}, std::pair{"dgx1-v100-8", 5},
                                       std::pair{"h100-sxm-8", 8}, std::pair{"l40s-4", 4}}) {
    const GpuMap map = map_of(machine, ranks, Traffic::kStar);
    for (int gpu = 1; gpu < ranks; ++gpu) {
      INFO(machine << ", GPU " << gpu);
      REQUIRE(map.route(0, gpu).size() >= 2);
      CHECK(touches(map.gpus[0].box, map.route(0, gpu).front()));
      CHECK(touches(map.gpus[static_cast<std::size_t>(gpu)].box, map.route(0, gpu).back()));
      CHECK(touches(map.gpus[0].box, map.route(gpu, 0).back()));
    }
  }
}

TEST_CASE("without a known wiring, or with very many GPUs, they stand alone") {
  std::vector<int> ring(64);
  std::iota(ring.begin(), ring.end(), 0);
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{64}}) {
    const std::vector<int> some(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(count));
    const GpuMap map = lay_out_gpus(nullptr, some, kArea, 1);
    CHECK_FALSE(map.shows_links);
    CHECK(map.gpus.size() == count);
    CHECK(map.route(0, static_cast<int>(count) - 1).empty());
    for (const GpuMap::Gpu& gpu : map.gpus) CHECK(gpu.box.max.y <= kArea.max.y + 1);
  }
}

TEST_CASE("a point travels along a line as far as its share") {
  const std::vector<ImVec2> line = {{0, 0}, {10, 0}, {10, 30}};
  CHECK(along(line, 0).x == 0);
  CHECK(along(line, 0.25F).x == Approx(10));
  CHECK(along(line, 0.5F).y == Approx(10));
  CHECK(along(line, 1).y == Approx(30));
}

TEST_CASE("cells share out all gradients, and fill as time goes on") {
  const RunPointer run = ddp("A", {});
  const analysis::GradientFlow flow = flow_of(*run);
  const analysis::BackwardFlow& backward = flow.backwards.back();
  std::size_t all = 0;
  for (const auto& bucket : backward.buckets) all += bucket.gradients.size();
  for (const std::size_t most : {1U, 7U, 24U, 1000U}) {
    double before = -1;
    for (int i = 0; i <= 10; ++i) {
      const Nanos time = backward.begun() - 1 + (backward.done() - backward.begun() + 1) * i / 10;
      const auto cells = gradient_cells(backward, time, most);
      CHECK(cells.size() == std::min(all, most));
      std::size_t gradients = 0;
      double ready = 0;
      for (const GradientCell& cell : cells) {
        gradients += cell.gradients;
        ready += cell.ready * static_cast<double>(cell.gradients);
      }
      CHECK(gradients == all);
      CHECK(ready >= before);
      before = ready;
      if (i == 0) CHECK(ready == 0);
      if (i == 10) CHECK(ready == Approx(static_cast<double>(all)));
    }
  }
}

TEST_CASE("words say what happens to which bucket, and how much is exposed") {
  const RunPointer run = ddp("A", {"collective.algorithm=ring", "collective.protocol=ll"});
  const analysis::GradientFlow flow = flow_of(*run);
  const analysis::BackwardFlow& backward = flow.backwards.back();
  const analysis::BucketTimes& first = backward.buckets.front();
  CHECK(flow_words(flow, 0).now.front() == "no gradient is ready yet");
  CHECK(flow_words(flow, first.started).now.front() == "bucket 0: ring, LL, step 1 of 14");
  CHECK(flow_words(flow, (first.started + first.done) / 2 + 1).now.front() ==
        "bucket 0: ring, LL, step 8 of 14");
  CHECK(flow_words(flow, *first.ready - 1).now.front().starts_with("bucket 0 fills: "));
  CHECK(flow_words(flow, backward.done()).now.front() ==
        fmt::format("all {} buckets are summed", backward.buckets.size()));
  const ExposureWords exposed = exposure_words(flow, backward.begun());
  CHECK(exposed.any);
  const analysis::StepExposure* step = step_of(flow, backward);
  REQUIRE(step);
  CHECK(exposed.figure == format_nanos(static_cast<double>(step->buckets + step->others)));
}

TEST_CASE("the gradient flow comes with gradients that are summed, and not without") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_runs({ddp("A", {})});
  driver->settle();
  CHECK(is_there(kSingleGradientFlowPanel));
  CHECK(driver->app().can("layout.gradient_flow"));
  program::Config copy;
  copy.set_text("workload=copy");
  driver->workspace().open_runs({std::make_shared<analysis::Run>(analysis::run_config("A", copy))});
  driver->settle();
  driver->settle();
  CHECK_FALSE(is_there(kSingleGradientFlowPanel));
  CHECK_FALSE(driver->app().can("layout.gradient_flow"));
}

TEST_CASE("a click on a bucket selects its all-reduce on the timeline") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  const RunPointer run = ddp("A", {});
  const analysis::GradientFlow flow = flow_of(*run);
  driver->workspace().open_runs({run});
  const analysis::BackwardFlow& backward = flow.backwards.at(2);
  driver->workspace().playhead.time = backward.begun();
  driver->app().run("layout.gradient_flow");
  driver->settle();
  REQUIRE(backward.buckets.size() > 1);
  REQUIRE(driver->click("//Gradient flow##single/**/bucket 1"));
  const SpanRef selected = driver->app().attention().timeline.selected;
  CHECK(selected.side == Side::kA);
  CHECK(selected.span == backward.buckets[1].span);
  const TimeRange& view = driver->app().attention().timeline.target;
  CHECK(view.start <= backward.buckets[1].started);
  CHECK(view.end >= backward.buckets[1].done);
}

TEST_CASE("a click on a stage of DataParallel selects what it sends, and the scaling can be seen") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  const RunPointer run = ddp("A", {"parallel.strategy=dp", "batch_size=64"});
  const analysis::StarFlow flow = analysis::star_flow(*run->trace);
  REQUIRE(flow.steps.size() == 4);
  driver->workspace().open_runs({run});
  driver->workspace().playhead.time = flow.steps[1].stages[1].start;
  driver->app().run("layout.gradient_flow");
  driver->settle();
  REQUIRE(driver->click("//Gradient flow##single/**/stage 4"));
  CHECK(driver->app().attention().timeline.selected.span ==
        flow.steps[1].stages[4].transfers.front().span);
  REQUIRE(driver->click("//Gradient flow##single/**/scaling"));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  REQUIRE(driver->click("//Gradient flow##single/**/buckets"));
  const std::size_t without = ImGui::GetDrawData()->TotalVtxCount;
  driver->app().run("layout.scaling");
  driver->settle();
  CHECK(static_cast<std::size_t>(ImGui::GetDrawData()->TotalVtxCount) != without);
}

TEST_CASE("the gradient flow cuts no word, whatever the window's size and the playhead's time") {
  const struct {
    int width, height;
  } sizes[] = {{1280, 720}, {1920, 1080}, {3840, 2160}};
  const std::pair<RunPointer, RunPointer> pairs[] = {
      {ddp("A", {"parallel.world_size=2"}), ddp("B", {})},
      {ddp("A", {"machine=h200-8x2", "parallel.world_size=16"}),
       ddp("B", {"machine=l40s-4", "parallel.world_size=4", "ddp.bucket_cap_mb=0.1"})},
      {ddp("A", {"machine=h100-sxm-8"}), ddp("B", {"parallel.strategy=dp", "batch_size=64"})},
      {ddp("A", {"machine=h100-sxm-8"}), nullptr}};
  for (const auto& size : sizes) {
    REQUIRE_DRIVER(driver, size.width, size.height);
    for (const auto& [a, b] : pairs) {
      if (b)
        driver->workspace().open_runs({a, b});
      else
        driver->workspace().open_runs({a});
      const analysis::GradientFlow flow = flow_of(*a);
      const analysis::BackwardFlow& backward = flow.backwards.back();
      for (const Nanos time :
           {Nanos{0}, (backward.buckets[0].started + backward.buckets[0].done) / 2,
            backward.done()}) {
        driver->workspace().playhead.time = time;
        driver->app().run("layout.gradient_flow");
        driver->settle();
        INFO(size.width << " x " << size.height << ", " << a->config.word("machine") << ", "
                        << time);
        CHECK(is_in_front(b ? kGradientFlowPanel : kSingleGradientFlowPanel));
        CHECK(cut_text(*ImGui::GetDrawData()).empty());
      }
    }
  }
}

TEST_CASE("a GPU that is starved is pale in the strip, one that is busy is not") {
  const analysis::Interval shown{0, 100'000};
  const auto bars_of = [&](Nanos busy) {
    std::vector<analysis::Interval> kernels;
    for (Nanos start = 0; start < shown.end; start += 100) kernels.push_back({start, start + busy});
    StripLane lane;
    add_bars(lane, analysis::IntervalSet(kernels), trace::Category::kForward, shown, 1000);
    return lane.bars;
  };
  const auto starved = bars_of(18), busy = bars_of(99);
  REQUIRE(starved.size() == 1);
  REQUIRE_FALSE(starved[0].shades.empty());
  for (const StripShade& shade : starved[0].shades) {
    CHECK(shade.busy >= 0.18F);
    CHECK(shade.busy < 0.26F);
  }
  CHECK(starved[0].shades.front().time.start == 0);
  CHECK(starved[0].shades.back().time.end == shown.end);
  REQUIRE(busy.size() == 1);
  CHECK(busy[0].shades.empty());
}

TEST_CASE("words on a bar of the strip are read, however pale it is under them") {
  for (const ThemeMode mode : {ThemeMode::kDark, ThemeMode::kLight, ThemeMode::kProjector}) {
    const Theme theme = make_theme(mode, 1);
    for (const trace::Category category :
         {trace::Category::kForward, trace::Category::kBackward, trace::Category::kOptimizer,
          trace::Category::kKernel, trace::Category::kCollective}) {
      StripBar bar{{0, 1000}, category, "words"};
      for (const float busy : {0.0F, 0.2F, 0.5F, 0.8F})
        bar.shades.push_back({{static_cast<Nanos>(busy * 1000), 1000}, busy});
      for (const analysis::Interval under : {analysis::Interval{0, 150}, {0, 1000}, {850, 900}}) {
        const LabelInk words = label_ink(theme, bar, under);
        for (const StripShade& shade : bar.shades) {
          if (shade.time.start >= under.end) continue;
          const Color fill = theme.of(category).fill;
          const Color bare = mixed(theme.panel, fill, shaded(fill, shade).a / 255.0F);
          CHECK(contrast(words.ink, words.ground.value_or(bare)) >= 4.5);
        }
      }
    }
  }
}

TEST_CASE("of the buckets the last one says its number, beside it where it is narrow") {
  const RunPointer run = ddp("A", {});
  const analysis::GradientFlow flow = flow_of(*run);
  const StepWork work = step_work(*run->trace, run->program.get());
  const StepStrip strip = strip_of(flow, work, flow.backwards.back().done(), 600);
  REQUIRE(strip.lanes.size() == 2);
  const auto& buckets = strip.lanes[1].bars;
  REQUIRE(buckets.size() > 1);
  for (const StripBar& bucket : buckets)
    CHECK(bucket.speaks_beside == (&bucket == &buckets.back()));
}

TEST_CASE("in the strip a kernel shorter than a column is as pale as the column is free") {
  StripLane lane;
  add_bars(lane, analysis::IntervalSet({{5100, 5350}, {20'000, 30'000}}),
           trace::Category::kBackward, {0, 100'000}, 1000);
  REQUIRE(lane.bars.size() == 2);
  REQUIRE(lane.bars[0].shades.size() == 1);
  CHECK(lane.bars[0].shades[0].busy == 0.25F);
  CHECK(lane.bars[0].shades[0].time.start == 5000);
  CHECK(lane.bars[1].shades.empty());
}

TEST_CASE("the flow's title says when its step is not the one at the playhead") {
  const FlowFacts facts(ddp("A", {}));
  const auto& backwards = facts.flow.backwards;
  REQUIRE(backwards.size() > 1);
  const auto brief = [&](Nanos time) { return title_of(facts, time).back(); };
  CHECK(brief(0) == "step 0, backward to come");
  CHECK(brief(backwards[0].done() - 1) == "step 0");
  CHECK(brief(backwards[1].begun() - 1) == "step 0, backward done");
  CHECK(brief(backwards[1].begun()) == "step 1");
}
