// `trainscope handout`: a lesson as one page; all of them.
#include "report/handout.h"

#include <catch2/catch.hpp>
#include <string>

#include "cli/program.h"
#include "report/markup.h"
#include "scenario/answers.h"
#include "scenario/sheet.h"

using namespace trainscope;
using namespace trainscope::test;
using Catch::Contains;

TEST_CASE("every lesson makes a handout, with its answers and without") {
  for (const scenario::Lesson& lesson : scenario::all_lessons()) {
    CAPTURE(lesson.id);
    const analysis::Run a = analysis::run_config("A", lesson.side("A")),
                        b = analysis::run_config("B", lesson.side("B"));
    report::HandoutInput input;
    input.runs = {&a, &b};
    input.sheet = scenario::sheet_of(lesson, input.runs);
    const std::string told = report::handout_html(input);
    input.answers = false;
    const std::string asked = report::handout_html(input);
    for (const std::string* page : {&told, &asked}) {
      CHECK(unbalanced(*page) == "");
      CHECK(count(*page, "<svg") >= 1);
      CHECK(page->find("{A.") == std::string::npos);
      CHECK(page->find("{ratio(") == std::string::npos);
      CHECK(count(*page, "class=\"room\"") >= 1);
    }
    CHECK(count(asked, "class=\"right\"") == 0);
    CHECK(told.size() > asked.size());
  }
}

TEST_CASE("handout writes one page, in the language and on the machine asked for") {
  const Folder folder;
  const std::string page = folder.file("h.html"), other = folder.file("t4.html");
  const Result result = run("handout pinned-vs-pageable --out " + page);
  CHECK(result.code == 0);
  CHECK(result.out.empty());
  CHECK(result.err == "wrote " + page + "\n");
  const std::string html = read(page);
  CHECK_THAT(html, Contains("Pinned vs pageable memory") && Contains("class=\"right\""));
  run("handout pinned-vs-pageable --no-answers --lang de --machine t4-1 --out " + other);
  CHECK_THAT(read(other), Contains("Gepinnter und auslagerbarer Speicher") && Contains("T4") &&
                              Contains("lang=\"de\"") && !Contains("class=\"right\""));
  run("handout pinned-vs-pageable --out " + other);
  CHECK(read(other) == html);
}

TEST_CASE(
    "a handout says how a task is done and what it changes, a sheet to work on says neither") {
  const Folder folder;
  const std::string told = folder.file("h.html"), asked = folder.file("s.html"),
                    german = folder.file("de.html");
  run("handout pinned-vs-pageable --out " + told);
  const std::string html = read(told);
  const std::string task = html.substr(html.find("class=\"answer solution\""), 2000);
  CHECK(count(html, "class=\"answer solution\"") == 1);
  CHECK_THAT(task, Contains("SIMULATED") && Contains("<code>copy.bytes</code>") &&
                       Contains("<b>4 KiB</b>") && Contains("A before") && Contains("B after") &&
                       Contains("times as long at 4 KiB"));
  run("handout pinned-vs-pageable --no-answers --out " + asked);
  CHECK_THAT(read(asked), !Contains("4 KiB") && !Contains("class=\"answer"));
  run("handout pinned-vs-pageable --lang de --out " + german);
  CHECK_THAT(read(german), Contains("Lösung") && Contains("A vorher") && Contains("B nachher"));
}

TEST_CASE("a sheet draws the steps, where most of a run comes before them, and few lanes") {
  const Folder folder;
  const std::string page = folder.file("h.html");
  run("handout num-workers --no-answers --out " + page);
  CHECK_THAT(read(page), Contains("12 measured steps, and what comes just before") &&
                             Contains("load batch 7</text>") && !Contains("start worker</text>"));
  run("handout keep-it-fed --no-answers --out " + page);
  CHECK_THAT(read(page), Contains(" lanes are left out here.") && Contains(">stream 7</text>") &&
                             Contains("one axis for both sides, each from its own start"));
  run("handout pinned-vs-pageable --no-answers --out " + page);
  CHECK_THAT(read(page), !Contains("left out here") && Contains(">staging</text>"));
}

TEST_CASE("a lesson on a machine that its text is not written for says so wherever it is told") {
  const Folder folder;
  const std::string page = folder.file("h.html"), caveat = "on t4-1 it need not hold.";
  run("handout occupancy-cliff --machine t4-1 --out " + page);
  CHECK(count(read(page), caveat) == 2);
  CHECK(count(read(page), "this question has no answer here") == 2);
  const std::string report =
      saved_and_opened("run occupancy-cliff --machine t4-1", folder.file("t4.tsrun"));
  CHECK_THAT(report, Contains(caveat));
  CHECK_THAT(run("run occupancy-cliff --machine t4-1").out, Contains(caveat));
  CHECK_THAT(run("run occupancy-cliff --machine t4-1 --json").out, Contains(caveat));
  CHECK_THAT(run("run occupancy-cliff --machine b200-1").out, !Contains("need not hold"));
}

TEST_CASE("a lesson that compares machines is not run with both sides on the same one") {
  for (const char* one : {"--machine t4-1", "--set machine=t4-1"})
    refuses(
        std::string("run which-gpu ") + one, 2,
        "chooses them itself, l40s-1 for A and a100-40-sxm-1 for B; leave out " + std::string(one));
  refuses("handout which-gpu --machine laptop-1", 2, "compares machines");
  CHECK(run("run which-gpu:A --machine t4-1").code == 0);
  CHECK_THAT(run("run which-gpu --set A.machine=t4-1").out, Contains("on t4-1 it need not hold"));
}

TEST_CASE("handout refuses what is no lesson, and a language that there is not") {
  const Folder folder;
  refuses("handout pinned-vs-pagable", 2, "did you mean pinned-vs-pageable?");
  refuses("handout trainscope:1?A.copy.count=4", 2, "is no lesson");
  refuses("handout pinned-vs-pageable --lang xx", 2, "there are en, de");
  refuses("handout pinned-vs-pageable --out /proc/none/h.html", 2, "/proc/none/h.html");
  refuses("handout", 2, "LESSON");
}

TEST_CASE("a handout is HTML: another ending is refused, and - is standard output") {
  refuses("handout pinned-vs-pageable --out x.pdf", 2,
          "write --out x.html, open it in a browser and print it there into a PDF");
  refuses("handout pinned-vs-pageable --out x.txt", 2, "does not end in .html");
  const Folder folder;
  const std::string page = folder.file("h.htm");
  CHECK(run("handout pinned-vs-pageable --out " + page).code == 0);
  const Result shown = run("handout pinned-vs-pageable --out -");
  CHECK(shown.code == 0);
  CHECK(shown.out == read(page));
  CHECK(shown.err.empty());
}

TEST_CASE("a handout takes the seed of a student, whose name stands on it") {
  const std::vector<std::int64_t> seeds = scenario::find_lesson("amp-underflow").seeds;
  const Result ada = run("handout amp-underflow --student 'Ada <L>' --no-answers --out -");
  CHECK(ada.err.empty());
  CHECK_THAT(ada.out,
             Contains("Name: <b>Ada &lt;L&gt;</b>") &&
                 Contains("seed " + std::to_string(scenario::seed_of_student("Ada <L>", seeds))));
  refuses("handout amp-underflow --student Ada --seed 4", 2, "leave out --seed 4");
  const Result odd = run("handout amp-underflow --no-answers --seed 1 --out -");
  CHECK(odd.code == 0);
  CHECK_THAT(odd.err, Contains("the seed 1 is none of those that amp-underflow lists (0, 4, 7,"));
  CHECK(run("handout amp-underflow --no-answers --seed 4 --out -").err.empty());
}

TEST_CASE("a handout of a roster is a sheet for each student, called by the id") {
  const Folder folder;
  const std::string roster = folder.file("r.csv"), out = folder.file("sheets");
  std::ofstream(roster) << "name,id\nAda,s/17\nBob,4\n";
  const std::string what = "handout pinned-vs-pageable --roster " + roster;
  const Result result = run(what + " --out " + out);
  CHECK(result.code == 0);
  CHECK_THAT(result.err, Contains("wrote 2 sheets into " + out));
  CHECK_THAT(read(out + "/pinned-vs-pageable-s_17.html"), Contains("<b>Ada</b>"));
  CHECK_THAT(read(out + "/pinned-vs-pageable-4.html"),
             Contains("<b>Bob</b>") &&
                 Contains("seed " + std::to_string(scenario::seed_of_student("Bob"))));
  refuses(what, 2, "--out FOLDER");
  refuses(what + " --out " + roster, 2, "name a folder");
  refuses(what + " --student Ada --out " + out, 2, "leave out --student");
  std::ofstream(roster) << "name,id\nAda,s/17\nBob,s_17\n";
  refuses(what + " --out " + out, 2, "two students' sheets would be called");
}

TEST_CASE("a lesson's words are printed in its language") {
  CHECK_THAT(run("lessons --lang de").out, Contains("Gepinnter und auslagerbarer Speicher"));
  CHECK_THAT(run("run pinned-vs-pageable --lang de").out, Contains("Gepinnter und auslagerbarer"));
  CHECK_THAT(run("lessons").out, !Contains("Gepinnter"));
}
