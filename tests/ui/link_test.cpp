// What is open, as a link, and opened again from it.
#include "scenario/link.h"

#include <catch2/catch.hpp>

#include "ui/app/workspace/window_link.h"
#include "ui/idle.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

scenario::Link sent(const Workspace& workspace) {
  return scenario::parse_link(scenario::write_link(link_of(workspace)));
}

}  // namespace

TEST_CASE("a link opens the lesson at its step, run, with the knobs that were turned") {
  Workspace lecturer([] {});
  lecturer.open_link(scenario::parse_link("trainscope:1?lesson=pinned-vs-pageable&step=4&seed=3"));
  wait_until_idle(lecturer);
  REQUIRE(lecturer.revealed());
  CHECK(lecturer.lesson()->progress.step() == 3);
  lecturer.set_knob(0, "copy.count", std::int64_t{17});
  wait_until_idle(lecturer);

  Workspace student([] {});
  student.open_link(sent(lecturer));
  wait_until_idle(student);
  REQUIRE(student.revealed());
  CHECK(student.lesson()->lesson.id == "pinned-vs-pageable");
  CHECK(student.lesson()->progress.step() == 3);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(student.sides()[i].config == lecturer.sides()[i].config);
    CHECK(student.sides()[i].run->trace->end() == lecturer.sides()[i].run->trace->end());
  }
  CHECK(student.sides()[0].run->config.whole("seed") == 3);
  CHECK(sent(student).knobs == sent(lecturer).knobs);
  // The lesson's own runs are what its texts speak of.
  CHECK(student.lesson()->as_run[0].config ==
        student.lesson()->lesson.side(SideModel::label_of(0)));
}

TEST_CASE("a link with a seed brings what that seed draws, whoever opens it") {
  Workspace lecturer([] {});
  lecturer.open_link(scenario::parse_link("trainscope:1?lesson=launch-bound&step=4&seed=1"));
  wait_until_idle(lecturer);
  const double drawn = lecturer.sides()[0].config.number("launch.kernel_ns");
  CHECK(drawn != lecturer.lesson()->lesson.side("A").number("launch.kernel_ns"));
  CHECK(sent(lecturer).knobs.a.values().size() == 1);
  Workspace student([] {});
  student.record.set_student("Ada");  // her own seed draws another
  student.open_link(sent(lecturer));
  wait_until_idle(student);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(student.sides()[i].config == lecturer.sides()[i].config);
    CHECK(student.sides()[i].run->config.number("launch.kernel_ns") == drawn);
  }
}

TEST_CASE("a link to a step before the run gives nothing away, and turns its knobs after it") {
  Workspace workspace([] {});
  workspace.open_link(
      scenario::parse_link("trainscope:1?lesson=pinned-vs-pageable&step=2&A.copy.count=17"));
  wait_until_idle(workspace);
  CHECK_FALSE(workspace.revealed());
  REQUIRE(workspace.lesson()->step().question);
  CHECK_FALSE(workspace.lesson()->progress.answer(1).committed);
  workspace.lesson()->progress.choose(0);
  workspace.lesson()->progress.commit();
  workspace.next_step();
  workspace.run_lesson();
  wait_until_idle(workspace);
  CHECK(workspace.sides()[0].run->config.whole("copy.count") == 17);
  CHECK(workspace.can_undo());
}

TEST_CASE("a link without a lesson opens its runs") {
  Workspace workspace([] {});
  workspace.open_link(scenario::parse_link(
      "trainscope:1?workload=copy&A.copy.memory=pageable&B.copy.memory=pinned"));
  wait_until_idle(workspace);
  REQUIRE(workspace.sides().size() == 2);
  CHECK(workspace.sides()[1].run->config.word("copy.memory") == "pinned");
  CHECK(program::differing_knobs(sent(workspace).knobs.a, workspace.sides()[0].config).empty());
  workspace.open_link(scenario::parse_link("trainscope:1?workload=copy"));
  wait_until_idle(workspace);
  CHECK(workspace.sides().size() == 1);
}

TEST_CASE("a link to a lesson that is not there is a sentence, and what was open stays") {
  Workspace workspace([] {});
  workspace.open_link(scenario::parse_link("trainscope:1?workload=copy"));
  wait_until_idle(workspace);
  workspace.open_link(scenario::parse_link("trainscope:1?lesson=pined-vs-pageable"));
  CHECK(workspace.notice.find("pinned-vs-pageable") != std::string::npos);
  CHECK(workspace.sides().size() == 1);
  CHECK(workspace.sides()[0].run);
}
