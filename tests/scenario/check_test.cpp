// What `trainscope check` says of a lesson's shape, its comparisons, and where a slip stands.
#include "scenario/check.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "scenario/check_units.h"
#include "scenario/where_it_runs.h"
#include "support/edited_lesson.h"

using namespace trainscope;
using Catch::Contains;
using test::Edit;
using test::Edited;

namespace {

const Edit kOnTwo{"level = \"worked\"", "level = \"worked\"\nmachines = [\"h200-1\", \"t4-1\"]"};
const char* const kTask =
    "done_when = { expect = \"A.copy.bytes == B.copy.bytes and ratio(A.time.h2d, B.time.h2d) < "
    "1.5\" }";

std::vector<scenario::Finding> found(std::vector<Edit> edits) {
  edits.push_back(kOnTwo);
  const Edited edited(edits);
  return scenario::check_lesson(scenario::load_lesson(edited.file()));
}

std::string sentences(const std::vector<Edit>& edits) {
  std::string all;
  for (const scenario::Finding& one : found(edits)) all += one.sentence + "\n";
  return all;
}

// The only finding that an edit makes.
scenario::Finding only(const std::string& from, const std::string& to) {
  const std::vector<scenario::Finding> all = found({{from, to}});
  CAPTURE(from, to);
  REQUIRE(all.size() == 1);
  return all.front();
}

// Of the shipped lesson, moved by the line that kOnTwo adds; 0: no line has it.
int line_with(const std::string& words) {
  const std::string text =
      read_file(home_folder() / "scenarios" / "pinned-vs-pageable.toml", 1 << 20);
  const auto at = text.find(words);
  if (at == std::string::npos) return 0;
  return static_cast<int>(
             std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
         2;
}

std::vector<std::string> faults(const char* expression) {
  return scenario::unit_faults(scenario::Expression::parse(expression));
}

}  // namespace

TEST_CASE("a lesson has its learner say it back, and expects something of its runs") {
  CHECK(found({}).empty());
  CHECK_THAT(
      sentences(
          {{"id = \"say-it-back\"\nkind = \"recap\"", "id = \"say-it-back\"\nkind = \"explain\""},
           {"kind = \"explain\"\npause_at = \"span.end\"\ntext = \"\"\"\nBoth listings",
            "kind = \"recap\"\npause_at = \"span.end\"\ntext = \"\"\"\nBoth listings"}}),
      Contains("step call is a recap and asks nothing") && Contains("[step.question]") &&
          !Contains("step say-it-back is a recap"));
  CHECK_THAT(sentences({{"[[expect]]\nexpression = \"ratio(A.time.h2d, B.time.h2d)\"\n"
                         "sim = { min = 1.5, max = 6.0 }\nreal = { min = 1.1 }\n",
                         ""},
                        {"[[expect]]\nexpression = \"A.bandwidth.h2d < B.bandwidth.h2d\"\n", ""}}),
             Contains("the lesson expects nothing of its runs") && Contains("write [[expect]]"));
}

TEST_CASE("a time that is compared with a bare number is found, and told with a unit") {
  const std::vector<std::string> bare = faults("A.time.step < 20");
  REQUIRE(bare.size() == 1);
  CHECK_THAT(bare[0], Contains("\"A.time.step < 20\" compares what is in ns") &&
                          Contains("taken for ns; write one, as in 20 ms"));
  CHECK_THAT(faults("3 < A.memory.peak_allocated").at(0), Contains("as in 20 MiB"));
  CHECK_THAT(faults("A.bandwidth.h2d - B.bandwidth.h2d >= 5 and A.gpu.util > 0.5").at(0),
             Contains("as in 20 GB/s"));
  CHECK_THAT(faults("A.time.step < 20 MiB").at(0), Contains("in ns with a number in B"));
  CHECK(faults("not (A.time.step < 20 or B.time.step < 20)").size() == 2);
  for (const char* right :
       {"A.time.step < 20 ms", "A.time.h2d <= 0", "ratio(A.time.step, B.time.step) < 1.5",
        "A.copy.bytes >= 65536", "A.time.step / B.time.step < 2", "A.gpu.util > 0.5",
        "A.time.step < 1.5 * B.time.step", "A.batch_size * 2 > 64", "A.throughput.samples > 100"})
    CHECK(faults(right).empty());
}

TEST_CASE("what a task compares without a unit is told where it stands") {
  const std::vector<scenario::Finding> all =
      found({{kTask, "done_when = { expect = \"A.time.h2d < 20\" }"}});
  REQUIRE(all.size() ==
          2);  // and with its solution it is not done, which is told of its own machine
  CHECK(all[0].place.line == line_with(kTask));
  CHECK_THAT(all[0].sentence, Contains("\"A.time.h2d < 20\" compares what is in ns"));
  CHECK(all[1].place.line == line_with(kTask));
  CHECK_THAT(all[1].sentence, Contains("is not done on h200-1"));
}

TEST_CASE("a task that is done before anything is turned is found, in whichever step it stands") {
  const std::vector<scenario::Finding> early =
      found({{kTask, "done_when = { expect = \"A.time.h2d > 5 ns\" }"}});
  REQUIRE_FALSE(early.empty());
  CHECK(early[0].place.line == line_with(kTask));
  CHECK_THAT(early[0].sentence, Contains("step vary is done before the knob is turned"));
  const scenario::Finding nowhere = only("done_when = { action = \"lesson.run\" }",
                                         "done_when = { expect = \"A.time.h2d > 5 ns\" }");
  CHECK_THAT(nowhere.sentence, Contains("step run is of kind run, where no knob is turned"));
}

TEST_CASE("two units are not compared, nor added up") {
  CHECK_THAT(faults("A.time.step < B.memory.peak_allocated").at(0),
             Contains("compares what is in ns with what is in B"));
  CHECK_THAT(faults("A.time.step + B.memory.peak_allocated < 3 s").at(0),
             Contains("adds up what is in ns and what is in B"));
  CHECK_THAT(
      faults("A.time.step + 5 < 3 s").at(0),
      Contains("adds up what is in ns and a number that has no unit") && Contains("as in 20 ms"));
  CHECK_THAT(faults("A.time.step < A.batch_size").at(0),
             Contains("compares what is in ns with what has no unit"));
  CHECK_THAT(faults("A.gpu.util < 20 ms").at(0),
             Contains("compares what has no unit with a number in ns"));
  CHECK_THAT(faults("max(A.time.step, A.memory.peak_allocated) > 0").at(0), Contains("in ns with"));
  // A knob stands in its own unit, and so is not what a metric is in.
  CHECK_THAT(faults("A.time.step < A.loader.sample_ms").at(0),
             Contains("in ns with what is in ms"));
  for (const char* right :
       {"A.time.step < 0.1 * B.time.step", "A.time.step - B.time.step > 0",
        "A.time.step - B.time.step < 20 ms", "1 - ratio(A.time.step, B.time.step) < 0.5",
        "A.gpu.util + A.batch_size > 1", "A.copy.bytes / A.time.h2d > B.bandwidth.h2d",
        "A.bandwidth.h2d * A.time.h2d > A.copy.bytes", "max(A.time.step, 20 ms) < B.time.step"}) {
    CAPTURE(right);
    CHECK(faults(right).empty());
  }
}

TEST_CASE(
    "options that are right at once are named with what they compare, and so are all of none") {
  const std::string two = sentences({{"ratio(A.time.h2d, B.time.h2d) < 1.2", "1 < 2"}});
  CHECK_THAT(two, Contains("step predict has 2 right options on h200-1 and t4-1; exactly one must "
                           "be: \"") &&
                      Contains("\" is 1 < 2, \""));
  const std::string none = sentences({{"ratio(A.time.h2d, B.time.h2d) >= 4", "1 > 2"}});
  CHECK_THAT(none, Contains("has 0 right options on h200-1") && Contains("\" is 1 > 2"));
}

TEST_CASE("a knob in which the sides differ and that changes nothing is named") {
  CHECK_THAT(sentences({{"[config.A]", "[config.A]\nmodel.hidden = 64"}}),
             Contains("model.hidden changes nothing with workload = copy"));
}

TEST_CASE("what does not run is told once for each reason, with the machines on which it does") {
  const Edited edited({});
  scenario::Lesson lesson = scenario::load_lesson(edited.file());
  scenario::WhereItRuns where;
  CHECK(where.everywhere());
  where.runs_on((edited.file().parent_path() / "mine.toml").string());
  where.runs_on("dgx1-v100-8");
  where.does_not_run_on("t4-1", "world_size = 2, and t4-1 has 1 GPU");
  where.does_not_run_on("l40s-1", "world_size = 2, and l40s-1 has 1 GPU");
  where.does_not_run_on("laptop-1", "there is no room");
  CHECK_FALSE(where.everywhere());
  const std::vector<scenario::Finding> all = where.findings(lesson);
  REQUIRE(all.size() == 2);
  CHECK_THAT(all[0].sentence, Contains("on laptop-1: there is no room; where it is not meant to"));
  CHECK(all[1].sentence ==
        "it does not run on t4-1 and l40s-1: world_size = 2, and t4-1 has 1 GPU; where it is not "
        "meant to, write machines = [\"mine.toml\", \"dgx1-v100-8\"]");
  CHECK(all[1].place.line == 12);
  lesson.machines = {"t4-1"};
  CHECK_THAT(where.findings(lesson)[1].sentence, !Contains("write machines"));
}

TEST_CASE("keys of the head are told where they stand") {
  CHECK(only("minutes = 5", "minutes = 50").place.line == line_with("minutes = 5"));
  CHECK(only("\"time-it-right\"", "\"time-it-rigth\"").place.line == line_with("requires = [") - 1);
  const scenario::Finding track = only("track = \"T1\"", "track = \"T9\"");
  CHECK_THAT(track.sentence, Contains("there is no track T9; write one of T0 to T5"));
  CHECK(found({{"track = \"T1\"", "track = \"Networks\""}}).empty());
}

TEST_CASE("a lesson that does not let its learner say it back is told") {
  CHECK_THAT(sentences({{"id = \"say-it-back\"\nkind = \"recap\"",
                         "id = \"say-it-back\"\nkind = \"explain\""}}),
             Contains("the lesson has no step of kind recap"));
}

TEST_CASE("a lane or a span that is not there is told with those that are, once for all machines") {
  const scenario::Finding lane =
      only("lane = \"host main\", span = \"held", "lane = \"host mian\", span = \"held");
  CHECK_THAT(lane.sentence, Contains("A has no lane \"host mian\" on h200-1") &&
                                Contains("(did you mean host main?); its lanes are ") &&
                                Contains("staging"));
  const scenario::Finding span = only("span = \"held: staging\"", "span = \"held staging\"");
  CHECK_THAT(span.sentence,
             Contains("no span \"held staging\" in lane \"host main\" of A on h200-1") &&
                 Contains("(did you mean held: staging?); it has aten::copy_, cuda") &&
                 Contains("cudaMemcpyAsync"));
  CHECK(span.place.line == line_with("span = \"held: staging\""));
  const scenario::Finding many =
      only("span = \"cudaMemcpyAsync\"\nnth = 0", "span = \"cudaMemcpyAsync\"\nnth = 7");
  CHECK_THAT(many.sentence, Contains("number 7") && Contains("there are 3, from 0"));
}

TEST_CASE("a placeholder that cannot be filled in is told with its own line and column") {
  const scenario::Finding unknown = only("{A.idle.copy}", "{A.idle.coppy}");
  CHECK(unknown.place.line == line_with("{A.idle.copy}"));
  CHECK(unknown.place.column == 1);
  CHECK_THAT(unknown.sentence, Contains("did you mean idle.copy?"));
  const scenario::Finding none = only("{A.idle.copy}", "{A.time.d2h}");
  CHECK(none.place.line == line_with("{A.idle.copy}"));
  CHECK_THAT(none.sentence, Contains("on h200-1 and t4-1: run A has no time.d2h"));
  const scenario::Finding open = only("{A.idle.copy}, waiting", "{A.idle.copy, waiting");
  CHECK(open.place.line == line_with("{A.idle.copy}"));
  CHECK_THAT(open.sentence, Contains("step why: a brace is not closed: \"{A.idle.copy, waiting"));
  const scenario::Finding limits = only("Left out: what", "Left out: {A.foo} what");
  CHECK(limits.place.line == line_with("Left out: what"));
  CHECK(limits.place.column == 11);
}
