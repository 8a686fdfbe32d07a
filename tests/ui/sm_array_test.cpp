// The SM array, through the window: the raster's waves, the kernel it shows, the maps beside it.
#include <catch2/catch.hpp>

#include "analysis/views/placed_kernels.h"
#include "ui/app/views/wave_rows.h"
#include "ui/app/window/layout.h"
#include "ui/cut_text.h"
#include "ui/driver.h"
#include "ui/is_there.h"
#include "ui/panels/gpus/sm_blocks.h"
#include "ui/panels/gpus/tile_map.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

RunPointer run_of(const char* label, std::initializer_list<const char*> settings) {
  program::Config config;
  config.set("machine", "a100-sxm-1");
  for (const char* setting : settings) config.set_text(setting);
  return std::make_shared<analysis::Run>(analysis::run_config(label, config));
}

// On an A100 with 108 SMs, one block of 1,024 threads at 64 registers fits an SM.
RunPointer blocks(const char* label, const char* grid, const char* more = "steps=3") {
  return run_of(label, {"workload=kernel", "kernel.block=1024", "kernel.registers=64",
                        "kernel.flops_per_thread=100000", "kernel.bytes_per_thread=0", grid, more});
}

RunPointer product(const char* label, const char* m, const char* n, const char* k) {
  return run_of(label, {"workload=gemm", "steps=3", m, n, k});
}

sim::SmRun alone(const RunPointer& run) {
  return sim::run_alone(run->program->operations.at(0), run->machine->gpu);
}

std::string item_of(const char* panel, const std::string& item) {
  return std::string("//") + panel + "/**/" + item;
}

bool shows_sm(ImGuiTestContext* context, const char* panel, int sm) {
  const std::string item = item_of(panel, "##blocks of SM " + std::to_string(sm));
  return context->ItemInfo(item.c_str(), ImGuiTestOpFlags_NoError).ID != 0;
}

}  // namespace

TEST_CASE("the rows of a last wave cover every SM once, and hold its blocks") {
  for (const char* grid : {"kernel.grid=1", "kernel.grid=107", "kernel.grid=108", "kernel.grid=109",
                           "kernel.grid=1000003"}) {
    const sim::SmRun run = alone(blocks("A", grid));
    const std::vector<WaveRows> rows = last_wave_rows(run);
    int next = 0;
    std::int64_t held = 0;
    for (const WaveRows& row : rows) {
      CHECK(row.first_sm == next);
      next += row.sms;
      held += std::int64_t{row.blocks} * row.sms;
      CHECK(row.end <= run.duration);
    }
    INFO(grid);
    CHECK(next == run.sms);
    CHECK(held == run.wave(run.waves - 1).blocks);
  }
}

TEST_CASE("a raster says how many waves there are, and how many SMs the last leaves idle") {
  CHECK(wave_words(alone(blocks("A", "kernel.grid=108"))) == "108 blocks, 1 wave");
  CHECK(wave_words(alone(blocks("A", "kernel.grid=109"))) ==
        "109 blocks, 2 waves; in the last, 107 of 108 SMs idle");
  CHECK(wave_words(alone(blocks("A", "kernel.grid=2048"))).starts_with("2048 blocks, 19 waves"));
  CHECK(last_wave_words(alone(blocks("A", "kernel.grid=108"))) == "108 of 108");
  CHECK(last_wave_words(alone(blocks("A", "kernel.grid=109"))) == "1 of 108");
  CHECK(wave_words(alone(blocks("A", "kernel.grid=109", "kernel.registers=32"))) ==
        "109 blocks, 1 wave; 1 of 108 SMs has 2 blocks, the others 1");
  CHECK(wave_words(alone(blocks("A", "kernel.grid=1"))) == "1 block, 1 wave; 107 of 108 SMs idle");
}

TEST_CASE("a raster ends with its kernel, which is no shorter than the shortest") {
  const RunPointer run =
      run_of("A", {"workload=kernel", "kernel.block=64", "kernel.flops_per_thread=1",
                   "kernel.bytes_per_thread=0", "kernel.grid=1", "steps=3"});
  const sim::SmRun sms = alone(run);
  const std::vector<analysis::PlacedKernel> placed = analysis::placed_kernels(*run);
  REQUIRE_FALSE(placed.empty());
  CHECK(sms.duration < sms.kernel);
  CHECK(sms.kernel == run->trace->spans()[placed.front().span].duration);
  const sim::SmRun longer = alone(blocks("B", "kernel.grid=109"));
  CHECK(longer.kernel == longer.duration);
}

TEST_CASE("the times below a raster begin at the kernel's start and end at its end") {
  CHECK(raster_times(1134, 4) == std::vector<double>{0, 500, 1134});
  CHECK(raster_times(1000, 6) == std::vector<double>{0, 200, 400, 600, 800, 1000});
  CHECK(raster_times(1, 2) == std::vector<double>{0, 1});
  for (const Nanos end : {3, 99, 2'500, 18'400'007}) {
    const std::vector<double> times = raster_times(end, 5.5);
    CHECK(times.front() == 0);
    CHECK(times.back() == static_cast<double>(end));
    for (std::size_t i = 1; i < times.size(); ++i)
      CHECK(times[i] - times[i - 1] >= 0.9 * static_cast<double>(end) / 5.5 - 1e-6);
  }
}

TEST_CASE("a free slot says why it has no block") {
  const sim::SmRun run = alone(blocks("A", "kernel.grid=109"));
  const FreeSlot limited = free_slot(run, SlotKind::kUnused);
  REQUIRE_FALSE(limited.rows.empty());
  CHECK(limited.rows.front().second == "registers");
  for (const SlotKind kind : {SlotKind::kEmpty, SlotKind::kIdle}) {
    const FreeSlot left = free_slot(run, kind);
    CHECK_FALSE(left.title.empty());
    REQUIRE_FALSE(left.rows.empty());
    CHECK(left.rows.front().second == "1 of 108");
  }
}

TEST_CASE("hatched slots too low for words are named beside the SM") {
  const Theme theme = make_theme(ThemeMode::kDark, 1);
  const sim::SmRun run = alone(blocks("A", "kernel.grid=109"));
  const auto words_at = [&](float height) {
    const Box box{{0, 0}, {300, height}};
    return slot_words(theme, run, lay_out_slots(run, 0, {0, 2}, run.duration, box)).front();
  };
  CHECK(words_at(10).find("hatched: free, registers") != std::string::npos);
  CHECK(words_at(200).find("hatched") == std::string::npos);
}

TEST_CASE("a product one larger than its tiles wastes what stands out") {
  const RunPointer even = product("A", "gemm.m=1792", "gemm.n=1792", "gemm.k=1792");
  const RunPointer odd = product("B", "gemm.m=1793", "gemm.n=1793", "gemm.k=1793");
  const TileMap fits = tile_map_of(even->program->operations.at(0), even->machine->gpu).value();
  const TileMap spills = tile_map_of(odd->program->operations.at(0), odd->machine->gpu).value();
  CHECK(fits.wasted() == 0);
  CHECK(fits.words() == "1792 x 1792 in 7 x 14 tiles of 256 x 128: 0 % wasted");
  const machine::GemmPlan& plan = spills.plan;
  const auto covered = static_cast<double>(plan.tiles() * plan.tile_m * plan.tile_n);
  CHECK(covered > 1793.0 * 1793.0);
  CHECK(spills.wasted() == Approx(1 - 1793.0 * 1793.0 / covered));
}

TEST_CASE("the SM array comes with kernels that are placed block by block, and not without") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_runs({blocks("A", "kernel.grid=109")});
  driver->settle();
  CHECK(is_there(kSingleSmArrayPanel));
  CHECK(driver->app().can("layout.sm_array"));
  driver->workspace().open_runs({run_of("A", {"workload=copy"})});
  driver->settle();
  driver->settle();
  CHECK_FALSE(is_there(kSingleSmArrayPanel));
  CHECK_FALSE(driver->app().can("layout.sm_array"));
}

TEST_CASE("a run about the SMs gives them the whole width, with their map; memory is a tab") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  const auto dock_of = [](const char* panel) {
    const ImGuiWindow* window = ImGui::FindWindowByName(panel);
    REQUIRE(window);
    return window->DockId;
  };
  const auto has_map = [&] {
    bool found = false;
    driver->act([&](ImGuiTestContext* context) {
      const std::string item = std::string("//") + kSingleSmArrayPanel + "/**/tiles";
      found = context->ItemInfo(item.c_str(), ImGuiTestOpFlags_NoError).ID != 0;
    });
    return found;
  };
  driver->workspace().open_runs({run_of("A", {"workload=train", "steps=3"})});
  driver->settle();
  driver->workspace().open_runs({product("A", "gemm.m=1792", "gemm.n=1792", "gemm.k=1792")});
  driver->settle();
  driver->app().show_panel("sm-array");
  driver->settle();
  CHECK(is_in_front(kSingleSmArrayPanel));
  CHECK(dock_of(kSingleMemoryPanel) == dock_of(kSingleSmArrayPanel));
  CHECK(ImGui::FindWindowByName(kSingleSmArrayPanel)->Size.x > 900);
  CHECK(has_map());
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  driver->app().show_panel("memory");
  driver->settle();
  CHECK(is_in_front(kSingleMemoryPanel));
  // Charts of a training stand beside memory again.
  driver->workspace().open_runs({run_of("A", {"workload=train", "steps=3"})});
  driver->settle();
  CHECK(dock_of(kSingleMemoryPanel) != dock_of(kSingleRooflinePanel));
}

TEST_CASE("the SM array cuts no word, whatever the window's size and whatever it shows") {
  const struct {
    int width, height;
  } sizes[] = {{1280, 720}, {1920, 1080}, {3840, 2160}};
  for (const auto& size : sizes) {
    REQUIRE_DRIVER(driver, size.width, size.height);
    const std::pair<RunPointer, RunPointer> pairs[] = {
        {blocks("A", "kernel.grid=108"), blocks("B", "kernel.grid=109")},
        {blocks("A", "kernel.grid=1"), blocks("B", "kernel.grid=2000000000", "steps=1")},
        {product("A", "gemm.m=1792", "gemm.n=1792", "gemm.k=1792"),
         product("B", "gemm.m=33", "gemm.n=8192", "gemm.k=65")}};
    for (const auto& [a, b] : pairs) {
      driver->workspace().open_runs({a, b});
      driver->app().run("layout.sm_array");
      driver->settle();
      INFO(size.width << " x " << size.height << ", " << a->config.word("workload"));
      CHECK(is_in_front(kSmArrayPanel));
      CHECK(cut_text(*ImGui::GetDrawData()).empty());
    }
  }
}

TEST_CASE("an SM is shown block by block while the mouse is on its row, and stays when clicked") {
  REQUIRE_DRIVER(driver, 1600, 1000);
  driver->workspace().open_runs({blocks("A", "kernel.grid=109")});
  driver->settle();
  driver->app().show_panel("sm-array");
  driver->settle();
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    const char* panel = kSingleSmArrayPanel;
    const ImRect raster = context->ItemInfo(item_of(panel, "##raster").c_str()).RectFull;
    IM_CHECK(shows_sm(context, panel, 0));
    context->MouseMoveToPos({raster.Min.x + 20, raster.GetCenter().y});
    context->Yield(2);
    IM_CHECK(shows_sm(context, panel, 54) || shows_sm(context, panel, 53));
    context->MouseMoveToPos({700, 20});
    context->Yield(2);
    IM_CHECK(shows_sm(context, panel, 0));
    context->MouseMoveToPos({raster.Min.x + 20, raster.Max.y - 1});
    context->MouseClick(0);
    context->MouseMoveToPos({700, 20});
    context->Yield(2);
    IM_CHECK(shows_sm(context, panel, 107));
  }));
}

TEST_CASE("A and B each show an SM block by block, and what is under the mouse cuts no word") {
  for (const int width : {1280, 1600}) {
    INFO("width " << width);
    REQUIRE_DRIVER(driver, width, 1000);
    driver->workspace().open_runs(
        {blocks("A", "kernel.grid=109"), blocks("B", "kernel.grid=5000")});
    driver->settle();
    driver->app().run("layout.sm_array");
    driver->settle();
    REQUIRE(driver->act([](ImGuiTestContext* context) {
      IM_CHECK(shows_sm(context, kSmArrayPanel, 0));
      context->MouseMove(item_of(kSmArrayPanel, "##blocks of SM 0").c_str());
      context->Yield(2);
    }));
    CHECK(cut_text(*ImGui::GetDrawData()).empty());
  }
}
