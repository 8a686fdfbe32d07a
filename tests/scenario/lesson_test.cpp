#include "scenario/lesson.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "scenario/check.h"
#include "scenario/progress.h"
#include "support/edited_lesson.h"

using namespace trainscope;
using scenario::Lesson;
using test::Edit;
using test::Edited;

namespace {

std::string error_of(const std::string& from, const std::string& to) {
  const Edited edited({{from, to}});
  try {
    scenario::load_lesson(edited.file());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string findings_of(const std::vector<Edit>& edits) {
  const Edited edited(edits);
  std::string all;
  for (const auto& finding : scenario::check_lesson(scenario::load_lesson(edited.file())))
    all += finding.sentence + "\n";
  return all;
}

std::string findings_of(const std::string& from, const std::string& to) {
  return findings_of({{from, to}});
}

std::vector<trace::SpanId> spans_of(const analysis::Run& run, const char* lane, const char* name) {
  scenario::Focus focus;
  focus.run = run.label;
  focus.lane = lane;
  focus.span = name;
  return scenario::find_spans(focus, run);
}

}  // namespace

TEST_CASE("a wrong lesson is refused with file, line, column and the nearest right name") {
  const auto contains = [](const std::string& text) { return Catch::Contains(text); };
  CHECK_THAT(error_of("copy.count = 3", "copy.cuont = 3"),
             contains(".toml:29:14: there is no knob copy.cuont (did you mean copy.count?)"));
  CHECK_THAT(error_of("copy.count = 3", "copy.count = -3"), contains("-3 is out of range"));
  CHECK_THAT(error_of("span = { run", "span = { which = \"lanched\", run"),
             contains("did you mean launched?"));
  CHECK_THAT(error_of("\"64 MiB\"", "1000000000000000000"), contains("is out of range"));
  CHECK_THAT(error_of("\"64 MiB\"", "\"64 MiBs\""), contains("is not a size"));
  CHECK_THAT(error_of("title =", "titel ="), contains("has no key titel (did you mean title?)"));
  CHECK_THAT(error_of("kind = \"predict\"", "kind = \"perdict\""),
             contains("did you mean predict?"));
  CHECK_THAT(error_of("\"pageable\"\n\n[config.B]", "\"pagable\"\n\n[config.B]"),
             contains("(did you mean pageable?)"));
  CHECK_THAT(error_of("format = 1", "format = 2"), contains("begins with format = 1"));
  CHECK_THAT(error_of("claim = \"C1\"", "claim = \"C99\""), contains("there is no claim C99"));
  CHECK_THAT(error_of("run = \"A\"", "run = \"C\""), contains("neither \"A\" nor \"B\""));
  CHECK_THAT(error_of("id = \"pinned", "id = \"other"), contains("make them the same"));
  CHECK_THAT(error_of("ratio(A.time.h2d, B.time.h2d) < 1.2", "ratio(A.time.hd2, 1) < 1.2"),
             contains("did you mean time.h2d?"));
  CHECK_THAT(error_of("id = \"run\"", "id = \"run\"\npause_at = \"span.start\""),
             contains("the step needs a focus with run, lane and span"));
  CHECK_THAT(error_of("pause_at = \"span.end\"", "pause_at = \"span.strat\""),
             contains("did you mean span.start?"));
  CHECK_THAT(error_of("level = \"worked\"", "level = 3"), contains("is not text"));
  CHECK_THAT(error_of("pad = 4.0", "pad = -4.0"), contains("write 0 or more"));
  CHECK_THAT(error_of("pad = 4.0", "pad = nan"), contains("write 0 or more"));
  CHECK_THAT(error_of("done_when = { action = \"lesson.run\" }", "done_when = {}"),
             contains("needs action or expect"));
  CHECK_THAT(error_of("level = \"worked\"", "level = \"worked\"\nmachines = [\"t4-1\"]"),
             contains("h200-1, is not among machines"));
  CHECK_THAT(error_of("[config.A]", "[config.A"), contains(".toml:"));
  for (const char* seeds : {"[]", "7", "[1, \"2\"]", "[1, -2]"}) {
    INFO(seeds);
    CHECK_THAT(error_of("level =", std::string("seeds = ") + seeds + "\nlevel ="),
               contains(".toml:") && (contains("seeds") || contains("out of range")));
  }
  CHECK_THAT(error_of("workload = \"copy\"", "workload = \"copy\"\nparallel.strategy = \"tenser\""),
             contains("did you mean tensor?"));
}

TEST_CASE("a step names the knobs that its task is done with, and they are knobs") {
  const Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  const auto vary = std::ranges::find(lesson.steps, "vary", &scenario::Step::id);
  CHECK(vary->goal_knobs == std::vector<std::string>{"copy.bytes"});
  const Lesson climb = scenario::find_lesson("amp-loss-scale");
  CHECK(std::ranges::find(climb.steps, "climb", &scenario::Step::id)->goal_knobs ==
        std::vector<std::string>{"scaler.growth_interval"});
  CHECK_THAT(error_of("knobs = [\"copy.bytes\"]", "knobs = [\"copy.byte\"]"),
             Catch::Contains("there is no knob copy.byte (did you mean copy.bytes?)"));
  CHECK_THAT(error_of("kind = \"predict\"\n", "kind = \"predict\"\nknobs = [\"copy.bytes\"]\n"),
             Catch::Contains("knobs are what a step asks to turn"));
  CHECK_THAT(
      error_of("done_when = { expect = \"A.copy.bytes == B.copy.bytes and ratio(A.time.h2d, "
               "B.time.h2d) < 1.5\" }",
               "goal = { expect = \"ratio(A.time.h2d, B.time.h2d) < 1.5\", knobs = [\"steps\"] }"),
      Catch::Contains("the goal names its knobs"));
}

TEST_CASE("every knob that a step asks to turn is one that its lesson shows") {
  int asked = 0;
  for (const Lesson& lesson : scenario::all_lessons())
    for (const scenario::Step& step : lesson.steps)
      for (const std::string& knob : step.goal_knobs) {
        CAPTURE(lesson.id, step.id, knob);
        CHECK(std::ranges::count(lesson.knobs, knob) == 1);
        ++asked;
      }
  CHECK(asked > 0);
}

TEST_CASE("who corrects a lesson is told a fault of each of its parts at once") {
  const Edited edited({{"level = \"worked\"", "level = \"worke\""},
                       {"copy.count = 3", "copy.cuont = 3"},
                       {"kind = \"predict\"", "kind = \"perdict\""},
                       {"pause_at = \"span.end\"", "pause_at = \"span.strat\""}});
  std::vector<std::string> faults;
  scenario::load_lesson(edited.file(), faults);
  REQUIRE(faults.size() == 4);
  CHECK_THAT(faults[0], Catch::Contains("did you mean worked?"));
  CHECK_THAT(faults[1], Catch::Contains(".toml:29:14: there is no knob copy.cuont"));
  CHECK_THAT(faults[2], Catch::Contains("did you mean predict?"));
  CHECK_THAT(faults[3], Catch::Contains("did you mean span.start?"));
  std::string first;
  try {
    scenario::load_lesson(edited.file());
  } catch (const InputError& error) {
    first = error.what();
  }
  CHECK(first == faults[0]);
  const Edited names({{"level = \"worked\"", "level = \"worke\""},
                      {"knobs = [\"copy.memory\"", "knobs = [\"copy.memry\""},
                      {"id = \"pinned", "id = \"unpinned"},
                      {"kind = \"predict\"", "kind = \"perdict\""}});
  faults.clear();
  scenario::load_lesson(names.file(), faults);
  CHECK(faults.size() == 4);
  const Edited tables({{"level = \"worked\"", "level = \"worke\""},
                       {"[[expect]]", "[expect]"},
                       {"[[expect]]", "[other]"}});
  faults.clear();
  scenario::load_lesson(tables.file(), faults);
  CHECK(faults.size() == 3);
  const Edited right({});
  faults.clear();
  CHECK(scenario::load_lesson(right.file(), faults).steps.size() > 3);
  CHECK(faults.empty());
}

TEST_CASE("a seed that teaches something else is found among those that students get") {
  Lesson lesson = scenario::find_lesson("amp-underflow");
  lesson.seeds = {0, 11};  // with 11, FP16 learns without a scaler too
  const auto findings = scenario::check_lesson(lesson);
  REQUIRE_FALSE(findings.empty());
  for (const auto& finding : findings)
    CHECK_THAT(finding.sentence, Catch::Contains("on h200-1 with seed 11"));
}

TEST_CASE("another seed than the lesson's draws other knobs, in turn, and flags go over them") {
  const Edit draws{"[[step]]",
                   "[[draw]]\ncommon.copy.count = 4\n\n"
                   "[[draw]]\ncommon.copy.count = 5\nB.copy.bytes = \"32 MiB\"\n\n[[step]]"};
  const Edited edited(std::vector<Edit>{draws});
  const Lesson lesson = scenario::load_lesson(edited.file());
  const auto counts = [&](const char* label, std::int64_t seed) {
    program::Config flags;
    flags.set("seed", seed);
    return lesson.side(label, flags).whole("copy.count");
  };
  CHECK(lesson.side("A").whole("copy.count") == 3);
  for (const char* label : {"A", "B"}) {
    std::vector<std::int64_t> drawn;
    for (std::int64_t seed = 0; seed < 5; ++seed) drawn.push_back(counts(label, seed));
    CHECK(drawn == std::vector<std::int64_t>{3, 4, 5, 3, 4});
  }
  program::Config flags;
  flags.set_text("seed=2");
  CHECK(lesson.side("A", flags).whole("copy.bytes") == 64 << 20);
  CHECK(lesson.side("B", flags).whole("copy.bytes") == 32 << 20);
  CHECK(lesson.turned("B", lesson.side("B", flags)) == flags);
  // What was the lesson's own is turned where the seed draws another.
  flags.set_text("copy.count=3");
  CHECK(lesson.side("B", flags).whole("copy.count") == 3);
  CHECK(lesson.turned("B", lesson.side("B", flags)) == flags);
  CHECK(lesson.turned("B", lesson.side("B")).values().empty());
}

TEST_CASE("a draw sets knobs of the sides, and neither the machine nor the seed") {
  const auto error_with = [](const std::string& draw) {
    return error_of("[[step]]", "[[draw]]\n" + draw + "\n\n[[step]]");
  };
  CHECK(error_with("common.copy.count = 4") == "no error");
  CHECK_THAT(error_with(""), Catch::Contains("a draw sets a knob"));
  CHECK_THAT(error_with("common.copy.cuont = 4"), Catch::Contains("did you mean copy.count?"));
  CHECK_THAT(error_with("C.copy.count = 4"), Catch::Contains("a draw has no key C"));
  CHECK_THAT(error_with("B.machine = \"t4-1\""), Catch::Contains("leaves machine as it is"));
  CHECK_THAT(error_with("common.seed = 4"), Catch::Contains("leaves seed as it is"));
}

TEST_CASE("a draw that teaches something else is found by the seed that draws it") {
  const Edit here{"level = \"worked\"", "level = \"worked\"\nmachines = [\"h200-1\"]"};
  const Edit announced{"depends = \"Machines", "# depends = \"Machines"};
  const auto drawn = [](const std::string& draw) {
    return Edit{"[[step]]", "[[draw]]\n" + draw + "\n\n[[step]]"};
  };
  CHECK(findings_of({here, announced, drawn("common.copy.count = 4")}).empty());
  const std::string findings = findings_of({here, announced, drawn("common.copy.bytes = 4096")});
  CHECK_THAT(findings, Catch::Contains("on h200-1 with seed 1"));
  CHECK_THAT(findings, Catch::Contains("step vary is done before the knob is turned"));
}

TEST_CASE("the checks of a lesson find what would mislead a learner") {
  const auto contains = [](const std::string& text) { return Catch::Contains(text); };
  CHECK_THAT(findings_of("ratio(A.time.h2d, B.time.h2d) < 1.2", "1 < 2"),
             contains("has 2 right options"));
  CHECK_THAT(findings_of("ratio(A.time.h2d, B.time.h2d) >= 4", "1 > 2"),
             contains("has 0 right options on h200-1"));
  CHECK_THAT(findings_of("span = \"held: staging\"", "span = \"held: nothing\""),
             contains("no span \"held: nothing\""));
  CHECK_THAT(findings_of("Run both sides.", "Run both sides. B takes 3.6 ms."),
             contains("has the typed number"));
  CHECK_THAT(findings_of("Run both sides.", "Run both sides, they are great!"),
             contains("exclamation mark"));
  CHECK_THAT(findings_of("Run both sides.", "Run both sides. Shift+P shows the path."),
             contains("names a key in its sentence"));
  CHECK_THAT(findings_of("Run both sides.", "Run both sides. Look at the path (Shift+P)."),
             !contains("names a key"));
  CHECK_THAT(findings_of("depends = \"Machines", "depends = \"\" # \"Machines"),
             contains("has another answer by machine") && contains("on h200-1") &&
                 contains("say in depends what decides"));
  CHECK_THAT(findings_of("level = \"worked\"", "level = \"worked\"\nmachines = [\"h200-1\"]"),
             contains("it is the same on every machine"));
  CHECK_THAT(findings_of("minutes = 5", "minutes = 50"), contains("minutes is 50"));
  CHECK_THAT(findings_of("{A.idle.copy}", "{A.time.d2h}"), contains("run A has no time.d2h"));
  CHECK_THAT(findings_of("max = 6.0", "max = 2.0"), contains("expected ratio"));
  CHECK_THAT(
      findings_of("How much longer do A's copies", "In {A.time.h2d}, how much longer do A's"),
      contains("nobody knows {A.time.h2d} then"));
  CHECK_THAT(findings_of("\"time-it-right\"", "\"time-it-rigth\""),
             contains("there is no such lesson (did you mean time-it-right?)"));
  CHECK_THAT(findings_of("\"time-it-right\"", "\"pinned-vs-pageable\""),
             contains("requires names the lesson itself"));
  CHECK_THAT(findings_of("\"timeline\"", "\"timelime\""),
             contains("hides timelime") && contains("did you mean timeline?"));
  std::string words;
  for (int i = 0; i < 70; ++i) words += "word ";
  CHECK_THAT(findings_of("Run both sides.", words), contains("at most 60 fit a card"));
}

TEST_CASE("a config is checked as a whole, and each of its mistakes told at its line") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("configs-" + std::to_string(::getpid()));
  const auto errors = [&](const char* text) {
    write_file(folder / "my.toml", text);
    return scenario::check_config_file(folder / "my.toml");
  };
  const auto only = [&](const char* text) {
    const std::vector<std::string> all = errors(text);
    REQUIRE(all.size() == 1);
    return all.front();
  };
  CHECK(errors("steps = 3\n").empty());
  const std::vector<std::string> three =
      errors("steps = 3\nstepz = 3\n[model]\nwidth = 1979-05-27\n[loader]\nnum_workers = -1\n");
  REQUIRE(three.size() == 3);
  CHECK_THAT(three[0], Catch::Contains("my.toml:2:") && Catch::Contains("there is no knob stepz"));
  CHECK_THAT(three[1], Catch::Contains("my.toml:4:") && Catch::Contains("neither a word"));
  CHECK_THAT(three[2], Catch::Contains("my.toml:6:") && Catch::Contains("loader.num_workers"));
  CHECK_THAT(only("machine = \"nope\"\n"), Catch::Contains("there is no machine nope"));
  CHECK_THAT(only("parallel.strategy = \"ddp\"\nparallel.world_size = 4\n"),
             Catch::Contains("h200-1 has 1 GPU"));
  CHECK_THROWS_WITH(errors("gpu = \"h200\"\n"), Catch::Contains("belongs into a machine"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a lesson that would keep the learner waiting is found by its work, not by a clock") {
  const Edit here{"level = \"worked\"", "level = \"worked\"\nmachines = [\"h200-1\"]"};
  CHECK_THAT(findings_of({here, {"copy.count = 3", "copy.count = 60000"}}),
             Catch::Contains(" spans on h200-1; a lesson draws at most 400000"));
  const Edit trains{"workload = \"copy\"",
                    "workload = \"train\"\nmodel.name = \"mlp\"\nmodel.hidden = 2000\n"
                    "data.name = \"digits\"\nsteps = 60"};
  CHECK_THAT(findings_of({here, trains}),
             Catch::Contains("compute 62 GFLOP on h200-1; a lesson computes at most 40"));
}

TEST_CASE("a side's value beats the common one, and a flag beats both") {
  const Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  CHECK(lesson.side("A").word("copy.memory") == "pageable");
  CHECK(lesson.side("B").word("copy.memory") == "pinned");
  CHECK(lesson.side("A").whole("copy.count") == 3);
  program::Config flags;
  flags.set_text("copy.memory=pinned");
  CHECK(lesson.side("A", flags).word("copy.memory") == "pinned");
}

TEST_CASE("an unknown lesson is answered with the nearest one") {
  CHECK_THROWS_WITH(scenario::find_lesson("pined-vs-pageable"),
                    Catch::Contains("did you mean pinned-vs-pageable?"));
}

TEST_CASE("a learner cannot go on without an answer, nor see results before the run") {
  const Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  scenario::Progress progress(lesson);
  progress.next();
  REQUIRE(progress.step() == 1);
  CHECK(!progress.can_go_on());
  progress.next();
  CHECK(progress.step() == 1);
  CHECK(!progress.can_commit());
  progress.choose(0);
  progress.commit();
  progress.choose(2);  // too late
  CHECK(progress.answer(1).option == 0);
  progress.next();
  REQUIRE(lesson.steps[progress.step()].kind == scenario::StepKind::kRun);
  CHECK(!progress.revealed());
  CHECK(!progress.can_go_on());
  progress.reveal();
  progress.next();
  const analysis::Run a = analysis::run_config("A", lesson.side("A"));
  const analysis::Run b = analysis::run_config("B", lesson.side("B"));
  CHECK(!progress.select_span(b, spans_of(b, "host main", "cudaMemcpyAsync").front()));
  CHECK(!progress.select_span(a, spans_of(a, "staging", "").front()));
  CHECK(!progress.can_go_on());
  CHECK(progress.select_span(a, spans_of(a, "host main", "held: staging").back()));
  CHECK(progress.can_go_on());
  progress.back();
  CHECK(progress.revealed());
}

TEST_CASE("skipping is recorded and is not an answer") {
  const Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  scenario::Progress progress(lesson);
  progress.next();
  progress.skip();
  CHECK(progress.answer(1).skipped);
  CHECK(progress.can_go_on());
}

TEST_CASE("answers are judged by the run, and a wrong one is told why") {
  const Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
  const analysis::Run a = analysis::run_config("A", lesson.side("A"));
  const analysis::Run b = analysis::run_config("B", lesson.side("B"));
  const scenario::Question& question = *lesson.steps[1].question;
  int right = 0;
  for (int option = 0; option < static_cast<int>(question.options.size()); ++option) {
    scenario::Answer answer;
    answer.option = option;
    const auto verdict = scenario::judge(question, answer, {&a, &b});
    right += verdict.right ? 1 : 0;
    CHECK(verdict.right == (verdict.right_option == option));
    if (!verdict.right) CHECK(!verdict.message.empty());
  }
  CHECK(right == 1);

  scenario::Question number;
  number.kind = scenario::QuestionKind::kNumber;
  number.answer = scenario::Expression::parse("ratio(A.time.h2d, B.time.h2d)");
  number.tolerance = 0.2;
  const double truth = number.answer->evaluate({&a, &b}).value;
  scenario::Answer answer;
  answer.number = truth * 1.1;
  CHECK(scenario::judge(number, answer, {&a, &b}).right);
  answer.number = truth * 1.3;
  CHECK(!scenario::judge(number, answer, {&a, &b}).right);
}

TEST_CASE(
    "what is shown of several spans is the first of the measured steps, or the one asked for") {
  program::Config config;
  for (const char* setting : {"workload=train", "steps=3", "machine=h200-1"})
    config.set_text(setting);
  const analysis::Run run = analysis::run_config("A", config);
  const Nanos measured = run.facts.measured.window.start;
  scenario::Focus focus;
  focus.run = "A";
  focus.lane = "stream 7";
  focus.span = "gemm";
  const auto all = scenario::find_spans(focus, run);
  REQUIRE(all.size() > 6);
  REQUIRE(run.trace->spans()[all[2]].start < measured);
  const auto shown = scenario::shown_span(focus, run);
  REQUIRE(shown);
  CHECK(run.trace->spans()[*shown].start >= measured);
  for (const trace::SpanId id : all)
    if (run.trace->spans()[id].start >= measured)
      CHECK(run.trace->spans()[id].start >= run.trace->spans()[*shown].start);
  // The third of the warm-up is the third of the measured ones instead.
  const auto warm = static_cast<std::size_t>(std::ranges::find(all, *shown) - all.begin());
  focus.nth = 2;
  CHECK(scenario::shown_span(focus, run) == all[warm + 2]);
  focus.nth = static_cast<int>(warm) + 2;
  CHECK(scenario::shown_span(focus, run) == all[warm + 2]);
  focus.nth = static_cast<int>(all.size());
  CHECK(!scenario::shown_span(focus, run));
  // A mark of the warm-up itself is all that there is of it.
  focus.nth = 0;
  focus.lane = "steps";
  focus.span = "ProfilerStep#0";
  const auto first = scenario::shown_span(focus, run);
  REQUIRE(first);
  CHECK(run.trace->spans()[*first].start < measured);
}

TEST_CASE(
    "of kernels alike those that began as they were launched are told from those that waited") {
  const scenario::Lesson lesson = scenario::find_lesson("read-a-trace");
  const analysis::Run run = analysis::run_config("B", lesson.side("B"));
  scenario::Focus focus;
  focus.run = "B";
  focus.lane = "stream 7";
  focus.code = "optimizer.step()";
  const auto all = scenario::find_spans(focus, run);
  focus.which = scenario::WhichSpans::kLaunched;
  const auto launched = scenario::find_spans(focus, run);
  CHECK(launched.size() > all.size() / 2);
  CHECK(launched.size() < all.size());
  for (const trace::SpanId id : launched) {
    const trace::Span& span = run.trace->spans()[id];
    CHECK(span.cause == trace::Cause::kLaunch);
    const trace::Span& call = run.trace->spans()[span.cause_span];
    CHECK(span.start - call.end() < 5 * kMicrosecond);  // its arrow stands upright
  }
}

TEST_CASE("of collectives alike those beside which nothing is computed are told from the others") {
  const scenario::Lesson lesson = scenario::find_lesson("pcie-lanes");
  const analysis::Run run = analysis::run_config("B", lesson.side("B"));
  scenario::Focus focus;
  focus.run = "B";
  focus.lane = "stream 24, NCCL";
  focus.span = "ncclDevKernel_AllReduce";
  const auto all = scenario::find_spans(focus, run);
  focus.which = scenario::WhichSpans::kExposed;
  const auto exposed = scenario::find_spans(focus, run);
  CHECK(exposed.size() < all.size());
  // Half of its time and more, of each that is meant and of none that is not.
  for (const trace::SpanId id : all) {
    const trace::Span& sum = run.trace->spans()[id];
    Nanos beside = 0;
    for (trace::SpanId other = 0, n = run.trace->spans().size(); other < n; ++other) {
      const trace::Span& span = run.trace->spans()[other];
      if (!trace::is_kernel(span.category) || span.start >= sum.end() || span.end() <= sum.start ||
          run.trace->lanes()[span.lane].rank != run.trace->lanes()[sum.lane].rank)
        continue;
      beside += std::min(span.end(), sum.end()) - std::max(span.start, sum.start);
    }
    CHECK((std::ranges::find(exposed, id) != exposed.end()) == (2 * beside <= sum.duration));
  }
}

TEST_CASE("of what only the warm-up does, that of a step is shown before that of the setup") {
  const analysis::Run run =
      analysis::run_config("B", scenario::find_lesson("allocated-vs-reserved").side("B"));
  scenario::Focus focus;
  focus.run = "B";
  focus.lane = "host main";
  focus.span = "cudaMalloc";
  const auto all = scenario::find_spans(focus, run);
  const Nanos first = analysis::step_windows(*run.trace).front().mark.start;
  REQUIRE(run.trace->spans()[all.front()].start < first);
  REQUIRE(run.trace->spans()[all.back()].start < run.facts.measured.window.start);
  const auto shown = scenario::shown_span(focus, run);
  REQUIRE(shown);
  CHECK(run.trace->spans()[*shown].start >= first);
}
