// Cards of GPUs: one form for all of them, and words that stand apart, however many there are.
#include "ui/panels/gpus/gpu_cards.h"

#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "analysis/views/gradient_flow.h"
#include "machine/ring.h"
#include "ui/panels/gpus/gpu_paint.h"
#include "ui/read_text.h"
#include "ui/runs.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

RunPointer on(const char* machine, int ranks, const char* knob,
              std::initializer_list<const char*> settings) {
  program::Config config = test::config_of(settings);
  config.set_text(fmt::format("machine={}", machine));
  config.set_text(fmt::format("{}={}", knob, ranks));
  config.set_text("collective.algorithm=ring");
  return std::make_shared<analysis::Run>(analysis::run_config("A", config));
}

RunPointer ddp_on(const char* machine, int ranks) {
  return on(machine, ranks, "parallel.world_size",
            {"workload=train", "parallel.strategy=ddp", "model.name=resnet18", "batch_size=8",
             "steps=3"});
}

RunPointer all_reduce_on(const char* machine, int ranks) {
  return on(machine, ranks, "collective.ranks",
            {"workload=collective", "collective.expanded=true", "steps=2"});
}

void check_words_of_panel() {
  CHECK(letters(*ImGui::GetDrawData()) > 300);
  for (const TextOverlap& overlap : overlapping_text(*ImGui::GetDrawData())) {
    if (overlap.window.find("Gradient flow") == std::string::npos) continue;
    CAPTURE(overlap.window, overlap.first.x, overlap.first.y, overlap.second.x, overlap.second.y);
    CHECK(overlap.width == 0);
  }
}

}  // namespace

TEST_CASE("cards lose their names, then what is in them, then their numbers") {
  REQUIRE_DRIVER(driver, 1280, 720);
  const Theme theme = make_theme(ThemeMode::kDark, 1, driver->window().fonts());
  std::vector<int> ring(64);
  std::iota(ring.begin(), ring.end(), 0);
  int before = -1;
  for (const float wide : {1600.0F, 520.0F, 260.0F, 100.0F}) {
    const GpuPicture picture = gpu_picture(theme, nullptr, ring, {{0, 0}, {wide, wide * 0.4F}});
    INFO(wide);
    CHECK(static_cast<int>(picture.look.form) >= before);
    before = static_cast<int>(picture.look.form);
    CHECK(picture.legend.has_value() ==
          (picture.look.form == CardForm::kDot && wide * 0.4F >= theme.px(48)));
  }
  CHECK(before == static_cast<int>(CardForm::kDot));
}

TEST_CASE("all cards of a picture have their names, or none has") {
  REQUIRE_DRIVER(driver, 1280, 720);
  const Theme theme = make_theme(ThemeMode::kDark, 1, driver->window().fonts());
  const machine::Topology topology = machine::topology_of(machine::load_machine("h200-8x2"));
  const std::vector<int> ring = machine::ring_order(topology, 16);
  // "GPU 15" is the widest.
  for (float wide = 200; wide < 1200; wide += 7) {
    const GpuPicture picture = gpu_picture(theme, &topology, ring, {{0, 0}, {wide, 200}});
    if (picture.look.form != CardForm::kNamed) continue;
    const float name = text_size(theme.font.text, theme.size.label, "GPU 15").x;
    CHECK(name <= picture.map.gpus.front().box.width());
    CHECK(picture.look.words >= name);
  }
}

TEST_CASE("a card shows its gradients in every room, and all cards show as many cells") {
  REQUIRE_DRIVER(driver, 1280, 720);
  const Theme theme = make_theme(ThemeMode::kDark, 1, driver->window().fonts());
  for (const auto& [machine, ranks] : {std::pair{"h100-sxm-8", 8}, std::pair{"h200-8x2", 16}}) {
    const RunPointer run = ddp_on(machine, ranks);
    const analysis::GradientFlow flow = analysis::gradient_flow(*run->trace, run->program.get());
    const Nanos done = flow.backwards.back().buckets.back().done;
    const machine::Topology topology = machine::topology_of(machine::load_machine(machine));
    const std::vector<int> ring = machine::ring_order(topology, ranks);
    driver->window().begin_frame();
    ImGui::Begin("cards");
    ImDrawList* draw = ImGui::GetWindowDrawList();
    for (float wide = 250; wide <= 1100; wide += 85)
      for (float tall = 62; tall <= 400; tall += 3) {
        INFO(machine << " in " << wide << " x " << tall);
        const GpuPicture picture = gpu_picture(theme, &topology, ring, {{0, 0}, {wide, tall}});
        const int before = draw->VtxBuffer.Size;
        paint_cards(theme, picture, flow, done);
        const Color summed = theme.of(trace::Category::kCollective).fill;
        const ImU32 full = summed, under_words = mixed(theme.card, summed, 0.4F);
        std::set<std::ptrdiff_t> counts;
        for (const GpuMap::Gpu& gpu : picture.map.gpus)
          counts.insert(std::count_if(draw->VtxBuffer.begin() + before, draw->VtxBuffer.end(),
                                      [&](const ImDrawVert& vertex) {
                                        const ImVec2 at = vertex.pos;
                                        return (vertex.col == full || vertex.col == under_words) &&
                                               at.x >= gpu.box.min.x - 1 &&
                                               at.x <= gpu.box.max.x + 1 &&
                                               at.y >= gpu.box.min.y - 1 &&
                                               at.y <= gpu.box.max.y + 1;
                                      }));
        CHECK(counts.size() == 1);
        CHECK(*counts.begin() >= 4);
      }
    ImGui::End();
    driver->window().end_frame();
  }
}

TEST_CASE("what the colours of cells mean is said at every size of the window") {
  for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1366, 768}}) {
    REQUIRE_DRIVER(driver, width, height);
    for (const char* lesson : {"buckets-and-overlap", "dp-vs-ddp"}) {
      walk_to_result(*driver, lesson);
      driver->app().show_panel("gradient-flow");
      driver->settle();
      INFO(lesson << " at " << width);
      CHECK(says("being summed", "Gradient flow"));
    }
  }
}

TEST_CASE("no word of a gradient flow is on another while buckets are summed") {
  for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1920, 1080}}) {
    REQUIRE_DRIVER(driver, width, height);
    for (const auto& [machine, ranks] :
         {std::pair{"h100-sxm-8", 2}, std::pair{"h100-sxm-8", 4}, std::pair{"h100-sxm-8", 8},
          std::pair{"h200-8x2", 16}, std::pair{"dgx1-v100-8x2", 16}, std::pair{"l40s-4", 4}}) {
      const RunPointer run = ddp_on(machine, ranks);
      const analysis::GradientFlow flow = analysis::gradient_flow(*run->trace, run->program.get());
      const analysis::BucketTimes& bucket = flow.backwards.back().buckets.front();
      driver->workspace().open_runs({run});
      driver->app().show_panel("gradient-flow");
      for (const int share : {1, 4, 7}) {
        driver->workspace().playhead.time =
            bucket.started + (bucket.done - bucket.started) * share / 9;
        driver->settle();
        INFO(machine << ", " << ranks << " at " << width << ", " << share);
        check_words_of_panel();
      }
    }
  }
}

TEST_CASE("no word of a collective is on another on sixteen GPUs") {
  for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1920, 1080}}) {
    REQUIRE_DRIVER(driver, width, height);
    for (const char* machine : {"h200-8x2", "dgx1-v100-8x2"}) {
      driver->workspace().open_runs({all_reduce_on(machine, 16)});
      driver->app().show_panel("gradient-flow");
      for (const int share : {1, 3, 5}) {
        driver->workspace().playhead.time = playhead_end(driver->workspace()) * share / 9;
        driver->settle();
        INFO(machine << " at " << width << ", " << share);
        check_words_of_panel();
      }
    }
  }
}

TEST_CASE("two sides with sixteen GPUs each have room in a small window") {
  for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1024, 640}}) {
    REQUIRE_DRIVER(driver, width, height);
    for (const char* lesson : {"ring-vs-tree", "two-nodes"}) {
      walk_to_result(*driver, lesson);
      driver->app().show_panel("gradient-flow");
      driver->settle();
      INFO(lesson << " at " << width);
      check_words_of_panel();
    }
  }
}
