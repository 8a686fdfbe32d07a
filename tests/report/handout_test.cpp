// A lesson on paper: what stands where, what a sheet to work on leaves out, foreign text.
#include "report/handout.h"

#include <catch2/catch.hpp>

#include "report/escape.h"
#include "report/markup.h"
#include "report/runs.h"

using namespace trainscope;
using analysis::LessonSheet;
using analysis::SheetAnswer;
using analysis::SheetStep;
using test::has;

namespace {

SheetStep step(const char* kind, const char* text, bool before_run) {
  SheetStep one;
  one.kind = kind;
  one.title = kind;
  one.text = text;
  one.before_run = before_run;
  return one;
}

LessonSheet sheet() {
  LessonSheet sheet;
  sheet.id = "copies";
  sheet.title = "Copies";
  sheet.track = "Feed the GPU";
  sheet.topic = "Copies";
  sheet.level = "worked";
  sheet.minutes = 5;
  sheet.heard = "Pinning makes it faster";
  SheetStep predict = step("predict", "How much longer?", true);
  predict.asks = SheetAnswer::kChoice;
  predict.options = {{"About as long", false, "The link decides only if"},
                     {"Twice as long", true, ""}};
  SheetStep find = step("observe", "Find the span.", false);
  find.asks = SheetAnswer::kSpan;
  find.answer = "**A**, *host main*: `held`";
  find.hint = "Look at the panel's head.";
  sheet.steps = {step("scene", "Both sides send a tensor.", true), predict,
                 step("run", "Run both sides.", true), find,
                 step("explain", "The engine reads what stays in place.", false)};
  predict.before_run = false;
  sheet.looked_back = {predict};
  SheetStep vary = step("vary", "Make it smaller: now it is 5 times.", false);
  vary.asked = "Make it smaller: now it is ____ times.";
  vary.explain = "The engine has little to hide.";
  vary.of_own_run = true;
  vary.hint = "Try a small one.";
  sheet.steps.push_back(vary);
  for (SheetStep& one : sheet.steps)
    if (one.asked.empty()) one.asked = one.text;
  sheet.metrics = {"time.h2d", "idle.copy"};
  sheet.terms = {{"pinned", "Locked in place."}};
  sheet.limits = "What pinning costs.";
  sheet.notes = "Ask for a show of hands.";
  return sheet;
}

std::string page(bool answers, LessonSheet of = sheet()) {
  static const analysis::Run a = test::copies("A", "pageable"), b = test::copies("B", "pinned");
  report::HandoutInput input;
  input.sheet = std::move(of);
  input.runs = {&a, &b};
  input.version = "1.2.3";
  input.answers = answers;
  return report::handout_html(input);
}

}  // namespace

TEST_CASE("a handout is well-formed, has no script and asks the network for nothing") {
  for (const bool answers : {true, false}) {
    const std::string html = page(answers);
    CHECK(test::unbalanced(html) == "");
    for (const char* outside : {"http:", "https:", "src=", "<link", "<img", "@import", "<script"}) {
      CAPTURE(outside);
      CHECK_FALSE(has(html, outside));
    }
    CHECK(has(html, "@media print"));
    CHECK(has(html, "default-src 'none'"));
    CHECK(has(html, "lang=\"en\""));
  }
}

TEST_CASE("a prediction is asked for, with room to write, before anything of the runs is shown") {
  const std::string html = page(true);
  const std::size_t asked = html.find("How much longer?"), room = html.find("class=\"room\""),
                    own_page = html.find("page-of-its-own\" aria-labelledby=\"run-title\""),
                    picture = html.find("<svg"), table = html.find("<table class=\"metrics\">"),
                    why = html.find("The link decides only if");
  REQUIRE(asked != html.npos);
  CHECK(asked < room);
  CHECK(room < own_page);
  CHECK(own_page < picture);
  CHECK(picture < table);
  CHECK(table < why);
  CHECK_FALSE(has(html.substr(0, own_page), "class=\"right\""));
  CHECK(test::count(html, "class=\"right\"") == 1);
}

TEST_CASE("a handout says what its numbers are of") {
  const std::string html = page(true);
  CHECK(has(html, "SIMULATED"));
  CHECK(has(html, "H200"));
  CHECK(has(html, "seed 0"));
  CHECK(has(html, "1.2.3"));
  CHECK(has(html, "What pinning costs."));
  CHECK(has(html, "Locked in place."));
}

TEST_CASE("where A and B have machines of their own, a handout says which is whose") {
  const analysis::Run one = test::simulated("A", {"workload=copy", "machine=titan-rtx-2"}),
                      same = test::simulated("B", {"workload=copy", "machine=titan-rtx-2"}),
                      other = test::simulated("B", {"workload=copy", "machine=t4-1"});
  const auto page_of = [](const analysis::Run& a, const analysis::Run& b) {
    report::HandoutInput input;
    input.sheet = sheet();
    input.runs = {&a, &b};
    return report::handout_html(input);
  };
  const std::string mine = report::html_text(one.trace->origin().subject),
                    theirs = report::html_text(other.trace->origin().subject);
  CHECK(has(page_of(one, other), " · A: " + mine + "; B: " + theirs + " · "));
  CHECK(has(page_of(one, same), " · " + mine + " · "));
}

TEST_CASE("a sheet to work on keeps the runs and leaves every solution out") {
  const std::string html = page(false);
  for (const char* told : {"class=\"right\"", "The link decides only if", "Try a small one.",
                           "The engine reads", "show of hands", "<code>held</code>"}) {
    CAPTURE(told);
    CHECK_FALSE(has(html, told));
    CHECK(has(page(true), told));
  }
  CHECK(has(html, "<svg"));
  CHECK(has(html, "Say in your own words"));
  // To predict, to find, to explain, to vary.
  CHECK(test::count(html, "class=\"room\"") == 4);
  CHECK(test::count(page(true), "class=\"room\"") == 1);
}

TEST_CASE("a sheet to work on has blanks where the results would stand") {
  const std::string html = page(false), told = page(true);
  for (const char* result :
       {"x faster", "ms in all", "waiting for staging</th><td class=\"number\">1",
        "class=\"waterfall\"", "class=\"operations", "now it is 5 times",
        ": waiting for staging"}) {
    CAPTURE(result);
    CHECK_FALSE(has(html, result));
  }
  for (const char* result : {"x faster", "ms in all", "class=\"waterfall\"", "now it is 5 times"}) {
    CAPTURE(result);
    CHECK(has(told, result));
  }
  CHECK(has(html, "now it is ____ times"));
  // The lesson's metrics alone, a cell for each side.
  const std::string table = test::between(html, "<table class=\"metrics to-fill\">", "</table>");
  CHECK(has(table, "copy to GPU"));
  CHECK(has(table, "waiting for staging"));
  CHECK_FALSE(has(table, "whole run"));
  CHECK(test::count(table, "<td class=\"number\"></td>") == 4);
}

TEST_CASE(
    "a handout's table has the metrics that its lesson names, and says where the others are") {
  const std::string html = page(true), of_it = "<code>trainscope run copies</code> prints all";
  const std::string table = test::between(html, "<table class=\"metrics\">", "</table>");
  CHECK(test::count(table, "<th scope=\"row\"") == 2);
  CHECK(has(table, "copy to GPU"));
  CHECK(has(table, "waiting for staging"));
  CHECK(has(html, of_it));
  CHECK_FALSE(has(page(false), of_it));
  // One that names none has them all.
  LessonSheet of_none = sheet();
  of_none.metrics.clear();
  const std::string all = page(true, of_none);
  CHECK(has(test::between(all, "<table class=\"metrics\">", "</table>"), "whole run"));
  CHECK_FALSE(has(all, of_it));
}

TEST_CASE("a question that is answered on paper needs no hint") {
  CHECK_FALSE(has(page(true), "Look at the panel"));
  CHECK_FALSE(has(page(false), "Look at the panel"));
}

TEST_CASE("an explanation of knobs that a learner turns says whose numbers it is about") {
  CHECK(has(page(true), "The engine has little to hide."));
  CHECK(test::count(page(true), "those of one&#39;s own run") == 1);
  CHECK_FALSE(has(page(false), "own run"));
}

TEST_CASE("a handout's own words are those of its language, and English where there are none") {
  LessonSheet german = sheet();
  german.language = "de";
  german.words = {{"What happened", "Was geschah"}};
  const std::string html = page(true, german);
  CHECK(has(html, "lang=\"de\""));
  CHECK(has(html, "Was geschah"));
  CHECK(has(html, "What you may have heard"));
}

TEST_CASE("a handout says twice where its text need not hold, and marks nothing it cannot decide") {
  LessonSheet elsewhere = sheet();
  elsewhere.caveat = "The text of this lesson is written for h200-1; on t4-1 it need not hold.";
  elsewhere.looked_back[0].decided = false;
  elsewhere.looked_back[0].options[1].right = false;
  const std::string html = page(true, elsewhere);
  CHECK(test::count(html, "on t4-1 it need not hold") == 2);
  CHECK(test::count(html, "class=\"right\"") == 0);
  CHECK(has(html, "this question has no answer here"));
  CHECK_FALSE(has(page(true), "this question has no answer here"));
}

TEST_CASE("a handout's head names a topic that is not its track's own name") {
  CHECK(has(page(true), "Feed the GPU: Copies"));
  LessonSheet same = sheet();
  same.topic = same.track;
  CHECK(has(page(true, same), ">Feed the GPU<"));
  CHECK_FALSE(has(page(true, same), "Feed the GPU: "));
}

TEST_CASE("markup in a lesson's words stays words in a handout") {
  LessonSheet nasty = sheet();
  nasty.title = nasty.heard = nasty.steps[0].text = "<script>alert(1)</script> {{title}}";
  const std::string html = page(true, nasty);
  CHECK(test::unbalanced(html) == "");
  CHECK_FALSE(has(html, "<script"));
  CHECK(has(html, "{{title}}"));
}
