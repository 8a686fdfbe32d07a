// What each lesson of the course claims, as a property of its runs.

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "machine/machine.h"
#include "scenario/check.h"
#include "scenario/lesson.h"
#include "scenario/progress.h"
#include "support/lesson_runs.h"

using namespace trainscope;
using analysis::Run;
using scenario::Lesson;
using test::on_every_machine;
using test::Pair;
using test::run_on;
using test::value;

namespace {

std::size_t place_of(const std::vector<Lesson>& lessons, const std::string& id) {
  for (std::size_t i = 0; i < lessons.size(); ++i)
    if (lessons[i].id == id) return i;
  FAIL("no lesson " + id);
  return 0;
}

void walk_to(scenario::Progress& progress, const Lesson& lesson, std::size_t step) {
  while (progress.step() < step) {
    if (lesson.steps[progress.step()].kind == scenario::StepKind::kRun) progress.reveal();
    if (!progress.can_go_on()) progress.skip();
    progress.next();
  }
}

}  // namespace

TEST_CASE(
    "the course begins with the anatomy of a step, and no lesson comes before what it needs") {
  const std::vector<Lesson> lessons = scenario::all_lessons();
  CHECK(lessons.front().id == "anatomy-of-a-step");
  for (std::size_t i = 0; i < lessons.size(); ++i)
    for (const std::string& needed : lessons[i].requires_ids) {
      INFO(lessons[i].id << " needs " << needed);
      CHECK(place_of(lessons, needed) < i);
    }
}

TEST_CASE("every find-span question takes the spans that it means and no other") {
  for (const Lesson& lesson : scenario::all_lessons()) {
    const Pair pair = run_on(lesson, lesson.common.word("machine"));
    for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
      const auto& question = lesson.steps[step].question;
      if (!question || question->kind != scenario::QuestionKind::kFindSpan) continue;
      INFO(lesson.id << ", step " << lesson.steps[step].id);
      const Run& meant = question->span->run == "A" ? pair.a : pair.b;
      const Run& other = question->span->run == "A" ? pair.b : pair.a;
      scenario::Progress progress(lesson);
      walk_to(progress, lesson, step);
      const auto right = scenario::find_spans(*question->span, meant);
      REQUIRE(!right.empty());
      // A long training has too many spans to try each of them.
      const trace::SpanId spans = meant.trace->spans().size();
      const trace::SpanId stride = std::max<trace::SpanId>(1, spans / 1000);
      std::size_t wrong = 0, refused = 0;
      for (trace::SpanId span = 0; span < spans; span += stride) {
        if (std::find(right.begin(), right.end(), span) != right.end()) continue;
        ++wrong;
        refused += progress.select_span(meant, span) ? 0 : 1;
      }
      CHECK(refused == wrong);
      CHECK(spans > 2 * right.size());
      CHECK(!progress.select_span(other, 0));
      CHECK(!progress.can_go_on());
      CHECK(progress.select_span(meant, right.back()));
      CHECK(progress.can_go_on());
    }
  }
}

TEST_CASE("a question about a line means only the spans that the line causes") {
  const Lesson lesson = scenario::find_lesson("anatomy-of-a-step");
  const Pair pair = run_on(lesson, "h200-1");
  scenario::Focus focus;
  focus.run = "A";
  focus.lane = "stream 7";
  focus.code = "loss.backward()";
  const int line = scenario::lines_with(focus.code, pair.a.program->listing).front();
  const auto found = scenario::find_spans(focus, pair.a);
  CHECK(found.size() == 9u * static_cast<std::size_t>(pair.a.config.whole("steps")));
  for (const trace::SpanId span : found) {
    CHECK(pair.a.trace->spans()[span].line == line);
    CHECK(pair.a.trace->spans()[span].category == trace::Category::kBackward);
  }
  focus.code = "loss.forward()";
  CHECK(scenario::find_spans(focus, pair.a).empty());
}

TEST_CASE(
    "anatomy: a larger batch makes longer kernels, not more launches, and the host is ahead") {
  on_every_machine("anatomy-of-a-step", [](const Run& a, const Run& b) {
    CHECK(value(a, "launch.calls") == value(b, "launch.calls"));
    CHECK(value(b, "time.forward") > 2 * value(a, "time.forward"));
    CHECK(value(b, "time.h2d") > 2 * value(a, "time.h2d"));
    CHECK(value(b, "host.lead") > 0.2 * value(b, "time.step"));
  });
}

TEST_CASE("timing: without a synchronise the clock reads the launches, with it the step") {
  on_every_machine("time-it-right", [](const Run& a, const Run& b) {
    CHECK(value(a, "time.host_timer") < 0.5 * value(a, "time.step"));
    CHECK(value(b, "time.host_timer") == Approx(value(b, "time.step")).epsilon(0.05));
    // The work is the same.
    CHECK(value(a, "gpu.busy") == Approx(value(b, "gpu.busy")).epsilon(0.01));
  });
}

TEST_CASE("timing: a process that loads cuBLAS in its first step prints a longer first time") {
  const Lesson lesson = scenario::find_lesson("time-it-right");
  for (const std::string& machine : machine::machine_ids()) {
    INFO(machine);
    const Run warm = run_on(lesson, machine).b;
    const Run cold = run_on(lesson, machine, {"loop.cold_start=true"}).b;
    CHECK(value(cold, "time.first_timer") > 1.05 * value(cold, "time.host_timer"));
    CHECK(value(cold, "time.host_timer") == Approx(value(warm, "time.host_timer")).epsilon(0.001));
  }
}

TEST_CASE(
    "default stream: kernels of a blocking stream never run beside those of the default one") {
  on_every_machine("default-stream", [](const Run& a, const Run& b) {
    const double kernels = 2 * static_cast<double>(a.config.whole("launch.count")) *
                           a.config.number("launch.kernel_ns");
    CHECK(value(a, "gpu.busy") == Approx(kernels).epsilon(0.01));
    CHECK(value(b, "gpu.busy") < 0.65 * kernels);
    CHECK(value(a, "time.step") > 1.5 * value(b, "time.step"));
  });
}

TEST_CASE("item: reading the loss each step leaves the GPU without work until the host is back") {
  on_every_machine("item-synchronises", [](const Run& a, const Run& b) {
    CHECK(value(a, "gpu.idle") > 3 * value(b, "gpu.idle"));
    CHECK(value(a, "time.step") > 1.03 * value(b, "time.step"));
  });
}

TEST_CASE("overlap: a copy stream overlaps nothing until the next batch is copied ahead") {
  on_every_machine("stream-overlap", [](const Run& a, const Run& b) {
    CHECK(value(a, "overlap.copy_compute") == 0);
    CHECK(value(b, "overlap.copy_compute") > 0.5);
    CHECK(value(a, "time.step") > 1.2 * value(b, "time.step"));
    // A step of A is its copy and then its kernels; one of B is hardly longer than the longer.
    CHECK(value(a, "gpu.busy") > value(b, "gpu.busy"));
  });
}

TEST_CASE("overlap: a host that nothing holds prefetches without being asked") {
  const Lesson lesson = scenario::find_lesson("stream-overlap");
  // Over some steps: the first ones allocate what those that run ahead need.
  const Pair pair = run_on(lesson, "h200-1", {"loop.item_every=0", "steps=40"});
  CHECK(value(pair.a, "overlap.copy_compute") > 0.5);
  CHECK(value(pair.a, "time.step") < 1.05 * value(pair.b, "time.step"));
}

TEST_CASE("waves and tails: one block more costs a whole wave, until the waves are many") {
  on_every_machine("waves-and-tails", [](const Run& a, const Run& b) {
    CHECK(value(a, "sm.waves") == 1);
    CHECK(value(b, "sm.waves") == 2);
    CHECK(value(b, "time.step") > 1.8 * value(a, "time.step"));
    CHECK(value(b, "sm.tail_idle") > 0.4);
  });
  const Pair many =
      run_on(scenario::find_lesson("waves-and-tails"), "a100-sxm-1", {"kernel.grid=2161"});
  CHECK(value(many.b, "sm.tail_idle") < 0.05);
}
