// Work beside the window that ends in an exception: a sentence where its result would stand.
#include "ui/app/workspace/background.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <new>
#include <stdexcept>

#include "base/error.h"
#include "base/platform.h"
#include "base/temporary_folder.h"
#include "ui/app/window/layout.h"
#include "ui/cut_text.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;
using Catch::Matchers::Contains;

namespace {

template <typename Thrown>
std::string said_of(Thrown thrown) {
  Background<int> work;
  work.start([thrown](const auto&) -> std::shared_ptr<int> { throw thrown; });
  while (work.busy()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK_FALSE(work.get());
  return work.error();
}

// A home that holds nothing, while it lives: no machine is found there.
class EmptyHome {
 public:
  EmptyHome() : before_(platform::variable(kName).value_or("")) {
    platform::set_variable(kName, folder_.path().string());
  }
  ~EmptyHome() { platform::set_variable(kName, before_); }

 private:
  static constexpr const char* kName = "TRAINSCOPE_HOME";
  test::TemporaryFolder folder_;
  std::string before_;
};

RunPointer on_gpus(const char* label) {
  return run_of(label, {"workload=train", "parallel.strategy=ddp", "parallel.world_size=2",
                        "machine=h200-8", "steps=4"});
}

}  // namespace

TEST_CASE("what work beside the window throws is a sentence in its value's place") {
  CHECK(said_of(InputError("there is no such machine")) == "there is no such machine");
  CHECK(said_of(MissingError("the files are gone")) == "the files are gone");
  CHECK_THAT(said_of(std::bad_alloc()), Contains("more memory than there is"));
  CHECK_THAT(said_of(std::logic_error("no such bucket")),
             Contains("fault of Trainscope's own: no such bucket"));
  CHECK_THAT(said_of(3), Contains("fault of Trainscope's own"));
}

TEST_CASE("an error goes when something else is asked for, or nothing any more") {
  Background<int> work;
  const auto fail = [](const auto&) -> std::shared_ptr<int> { throw InputError("so it is"); };
  const auto wait = [&work] {
    while (work.busy()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  CHECK(work.error().empty());
  work.start(fail);
  wait();
  CHECK(work.error() == "so it is");
  CHECK(work.error() == "so it is");
  work.start([](const auto&) { return std::make_shared<int>(7); });
  wait();
  CHECK(work.error().empty());
  REQUIRE(work.get());
  work.start(fail);
  wait();
  work.drop();
  CHECK(work.error().empty());
  // One that is no longer wanted says nothing of the one that is.
  work.start([](const auto& stopped) -> std::shared_ptr<int> {
    while (!stopped()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw InputError("given up");
  });
  work.start([](const auto&) { return std::make_shared<int>(8); });
  wait();
  CHECK(work.error().empty());
  CHECK(*work.get() == 8);
}

TEST_CASE("a window whose machines are gone says so in its panels, and goes on") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  const RunPointer run = on_gpus("A");
  const EmptyHome home;
  driver->workspace().open_runs({run});
  driver->settle();
  PanelStates& states = driver->app().deck().states;
  CHECK_THAT(states.summary.what_if.found.error(), Contains("TRAINSCOPE_HOME"));
  states.gradient_flow.part = "scaling";
  driver->app().run("layout.gradient_flow");
  driver->settle();
  CHECK_THAT(states.gradient_flow.sides[0].scaling.error(), Contains("TRAINSCOPE_HOME"));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
}
