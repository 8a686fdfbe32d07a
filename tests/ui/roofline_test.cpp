// The roofline panel, through the window: when it is there, and that no word of it is cut.
#include <catch2/catch.hpp>

#include "base/temporary_folder.h"
#include "ui/app/window/layout.h"
#include "ui/cut_text.h"
#include "ui/is_there.h"
#include "ui/panels/charts/free_place.h"
#include "ui/panels/charts/roof_names.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;
using test::TemporaryFolder;

TEST_CASE("the roofline comes with kernels that calculate, and not with copies alone") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_runs({run_of("A", {"workload=gemm", "steps=3"})});
  driver->settle();
  CHECK(is_there(kSingleRooflinePanel));
  CHECK(driver->app().can("layout.roofline"));
  for (const char* workload : {"workload=copy", "workload=launch"}) {
    driver->workspace().open_runs({run_of("A", {workload, "steps=3"})});
    driver->settle();
    driver->settle();
    INFO(workload);
    CHECK_FALSE(is_there(kSingleRooflinePanel));
    CHECK_FALSE(driver->app().can("layout.roofline"));
  }
}

TEST_CASE("the roofline of a file says that its FLOPs are not known") {
  REQUIRE_DRIVER(driver, 1366, 768);
  const TemporaryFolder folder;
  driver->workspace().open_trace(folder.write("trace.json", R"({"traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 1, "dur": 50,
     "args": {"device": 0, "stream": 7, "correlation": 3, "grid": [8, 1, 1], "block": [256, 1, 1]}}
  ]})"));
  driver->settle();
  CHECK_FALSE(is_there(kSingleRooflinePanel));
  REQUIRE(driver->app().can("layout.roofline"));
  driver->app().run("layout.roofline");
  driver->settle();
  CHECK(is_in_front(kSingleRooflinePanel));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
}

TEST_CASE("the roofline cuts no word, whatever the window's size and whatever it shows") {
  const struct {
    int width, height;
  } sizes[] = {{1280, 720}, {1920, 1080}, {3840, 2160}};
  for (const auto& size : sizes) {
    REQUIRE_DRIVER(driver, size.width, size.height);
    const std::pair<RunPointer, RunPointer> pairs[] = {
        {run_of("A", {"workload=gemm", "gemm.m=1", "steps=3"}),
         run_of("B", {"workload=gemm", "gemm.type=fp32", "steps=3", "machine=a100-sxm-1"})},
        {run_of("A", {"model.name=resnet50", "steps=3", "batch_size=64"}),
         run_of("B", {"model.name=resnet50", "steps=3", "batch_size=64", "precision=fp16"})},
        {run_of("A", {"model.name=gpt2", "steps=2", "batch_size=4", "machine=t4-1"}),
         run_of("B", {"model.name=gpt2", "steps=2", "batch_size=4", "machine=b200-1"})}};
    for (const auto& [a, b] : pairs) {
      driver->workspace().open_runs({a, b});
      driver->app().run("layout.roofline");
      driver->settle();
      INFO(size.width << " x " << size.height << ", " << a->config.word("workload"));
      CHECK(is_in_front(kRooflinePanel));
      CHECK(letters(*ImGui::GetDrawData()) > 100);
      CHECK(cut_text(*ImGui::GetDrawData()).empty());
    }
  }
}

TEST_CASE("the words of a line stand clear of other lines, of points and of other words") {
  LineLabels labels({{0, 0}, {100, 100}});
  const std::size_t flat = labels.add_line({0, 50}, {100, 50});
  labels.add_line({0, 60}, {100, 60});
  labels.add_point({90, 42}, 6);
  const auto above = [](float right) {
    return LineLabels::Place{{{right - 30, 36}, {right, 48}}, {right, 50}};
  };
  const LineLabels::Place below{{{70, 62}, {100, 74}}, {100, 50}};  // beyond the other line
  const auto first = labels.place({{flat, {above(100), below, above(60)}}});
  CHECK(first[0]->box.max.x == 60);
  CHECK_FALSE(first[0]->led);
  // A point is the lesser fault; where nothing else is left, a line leads to the words.
  const auto both = labels.place({{flat, {above(60)}}, {flat, {above(60), below, above(100)}}});
  CHECK(both[1]->box.max.x == 100);
  CHECK(both[1]->box.min.y == 36);
  CHECK(labels.place({{flat, {below}}})[0]->led);
  CHECK_FALSE(labels.place({{flat, {above(110)}}})[0]);
}

TEST_CASE("words that would stand at another line choose before those that have room elsewhere") {
  LineLabels labels({{0, 0}, {100, 100}}, 0, 4);
  const std::size_t upper = labels.add_line({0, 40}, {100, 40});
  const std::size_t lower = labels.add_line({0, 70}, {100, 70});
  const auto at = [](float top, float line) {
    return LineLabels::Place{{{60, top}, {100, top + 12}}, {100, line}};
  };
  // Between the two there is room for one; above the upper there is none.
  const auto places =
      labels.place({{lower, {at(50, 70), at(76, 70)}}, {upper, {at(48, 40), at(72, 40)}}});
  REQUIRE((places[0] && places[1]));
  CHECK(places[0]->box.min.y == 76);
  CHECK(places[1]->box.min.y == 48);
  CHECK_FALSE((places[0]->led || places[1]->led));
}

TEST_CASE("the line that leads to words strikes no other words, and is struck by none") {
  LineLabels labels({{0, 0}, {200, 100}}, 4);
  const std::size_t line = labels.add_line({0, 90}, {200, 90});
  const LineLabels::Place near{{{60, 70}, {120, 82}}, {90, 90}};
  const auto far = [](float right) {
    return LineLabels::Place{{{right - 60, 20}, {right, 32}}, {right, 90}, true};
  };
  const auto after = labels.place({{line, {near}}, {line, {far(100), far(180)}}});
  CHECK(after[1]->box.max.x == 180);
  const auto one = labels.place({{line, {far(100)}}, {line, {near}}});
  CHECK(one[0].has_value() != one[1].has_value());
}

TEST_CASE("in a small chart the names of two machines' roofs keep clear of lines and each other") {
  struct Named {
    Roof roof;
    float width;
  };
  // A's peaks, B's peaks, A's memory, B's memory and L2.
  const std::vector<Named> all{
      {{{190, 36}, {250, 36}}, 182},      {{{162, 54}, {250, 54}}, 108},
      {{{150, 38}, {250, 38}}, 182},      {{{92, 70}, {250, 70}, false}, 108},
      {{{0, 158}, {190, 36}, false}, 97}, {{{0, 148}, {172, 38}}, 100},
      {{{0, 120}, {150, 38}}, 78}};
  LineLabels labels({{0, -4}, {251, 158}}, 8, 8);
  std::vector<LineLabels::Words> words;
  for (const Named& one : all)
    words.push_back(
        {labels.add_line(one.roof.from, one.roof.to), places_of(one.roof, {one.width, 9.6F}, 1)});
  const auto places = labels.place(words);
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(i);
    REQUIRE(places[i]);
    for (std::size_t other = 0; other < all.size(); ++other) {
      CHECK_FALSE(crosses(places[i]->box, all[other].roof.from, all[other].roof.to));
      if (other != i && places[other]->led)
        CHECK_FALSE(crosses(places[i]->box, places[other]->foot, end_of_lead(*places[other])));
    }
  }
}
