// Where things stand in panels: what belongs together lines up, and nothing leans to a side.
#include <imgui_internal.h>

#include <catch2/catch.hpp>

#include "ui/cut_text.h"
#include "ui/driver.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/charts/duration_chart.h"
#include "ui/stage.h"

using namespace trainscope;
using namespace trainscope::ui;

TEST_CASE("the shelf leaves as much room on its left as on its right") {
  for (const int width : {1024, 1280, 1920}) {
    REQUIRE_DRIVER(driver, width, 720);
    driver->settle();
    const ImGuiWindow* shelf = ImGui::FindWindowByName("##shelf");
    REQUIRE(shelf);
    float left = 1e9F, right = 1e9F;
    REQUIRE(driver->act([&](ImGuiTestContext* context) {
      for (const char* lesson : {"anatomy-of-a-step", "time-it-right", "where-is-my-tensor"}) {
        const ImRect card =
            context->ItemInfo((std::string("//##shelf/") + lesson + "/lesson").c_str()).RectFull;
        left = std::min(left, card.Min.x - shelf->InnerRect.Min.x);
        right = std::min(right, shelf->InnerRect.Max.x - card.Max.x);
      }
    }));
    CAPTURE(width);
    CHECK(left > 0);
    CHECK(left == Approx(right).margin(2));
  }
}

TEST_CASE("among all parameters switches stand below A and B as sliders do") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  driver->app().run("knobs.all");
  driver->settle();
  const auto left_of = [&](const std::string& control) {
    float left = 0;
    REQUIRE(driver->act([&](ImGuiTestContext* context) {
      left = context->ItemInfo(("//All parameters/**/" + control).c_str()).RectFull.Min.x;
    }));
    return left;
  };
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->ItemInputValue("//All parameters/**/##search", "loader.");
  }));
  for (const std::string side : {"@A", "@B"})
    CHECK(left_of("loader.pin_memory" + side) == Approx(left_of("loader.num_workers" + side)));
}

namespace {

// A chart of nothing, over the whole window.
class ChartDriver : public EngineDriver {
 public:
  ChartDriver() : EngineDriver(400, 300) {
    theme_ = make_theme(ThemeMode::kDark, 1, window().fonts());
    apply(theme_);
  }

  // Letters written, with numbers along x or with these words in their place.
  std::size_t letters_with(std::vector<std::string> words) {
    words_ = std::move(words);
    for (int i = 0; i < 4; ++i) frame();
    return letters(*ImGui::GetDrawData());
  }

 private:
  void draw() override {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({400, 300});
    ImGui::Begin("chart", nullptr, ImGuiWindowFlags_NoDecoration);
    ChartOptions options;
    options.x_numbers = words_.empty();
    Stretch x{100, 200, 100, 200};
    if (begin_chart(theme_, "##chart", {{10, 10}, {390, 290}}, x, options)) {
      if (!words_.empty()) name_axis_alone(theme_, words_);
      end_chart();
    }
    ImGui::End();
  }

  Theme theme_;
  std::vector<std::string> words_;
};

}  // namespace

TEST_CASE("an axis whose numbers say nothing has words in their place, as long as there is room") {
  REQUIRE_ENGINE(driver, ChartDriver);
  const std::size_t bare = driver->letters_with({""});
  CHECK(driver->letters_with({}) > bare);
  CHECK(driver->letters_with({"frees"}) == bare + 5);
  CHECK(driver->letters_with({std::string(200, 'w'), "frees"}) == bare + 5);
}

TEST_CASE("an operation that always takes equally long is said to") {
  CHECK(times_words({}) == "not once");
  CHECK(times_words({2'000}) == "once, 2 us");
  CHECK(times_words({132'000, 132'010, 132'020}) == "3 times, each 132 us");
  CHECK(times_words({1'000, 2'000}) == "2 times, 1 us to 2 us");
}

TEST_CASE("of parts with commas none is cut as long as one fits") {
  REQUIRE_STAGE(stage);
  stage->settle();
  ImFont* face = stage->theme.font.text;
  const float size = stage->theme.size.label;
  const std::string words = "kernels 75 %, host 9 %, staging 8 %";
  const auto within = [&](float width) { return shortened_parts(face, size, words, width); };
  const float all = text_size(face, size, words).x;
  CHECK(within(all) == words);
  CHECK(within(all - 1) == "kernels 75 %, host 9 %, …");
  const float least = text_size(face, size, "kernels 75 %, …").x;
  CHECK(within(least) == "kernels 75 %, …");
  CHECK(within(least - 1).ends_with("…"));
  CHECK(text_size(face, size, within(least - 1)).x < least);
}

TEST_CASE("a name that is cut in its middle keeps its start and its end") {
  REQUIRE_STAGE(stage);
  stage->settle();
  ImFont* face = stage->theme.font.text;
  const float size = stage->theme.size.label;
  const std::string name = "vectorized_elementwise_kernel: größe";
  const float all = text_size(face, size, name).x;
  CHECK(shortened_middle(face, size, name, all) == name);
  CHECK(shortened_middle(face, size, name, 1).empty());
  for (float width = all - 1; width > 40; width -= 3) {
    const std::string cut = shortened_middle(face, size, name, width);
    CAPTURE(width, cut);
    CHECK(text_size(face, size, cut).x <= width);
    const std::size_t gap = cut.find("…");
    REQUIRE(gap != cut.npos);
    const std::string start = cut.substr(0, gap), end = cut.substr(gap + std::string("…").size());
    CHECK(name.starts_with(start));
    CHECK(name.ends_with(end));
    CHECK_FALSE(start.empty());
    CHECK_FALSE(end.empty());
  }
}
