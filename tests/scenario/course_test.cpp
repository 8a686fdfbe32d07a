// The order of the course, where a learner stands in it, and what is kept of that.

#include "scenario/course.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "scenario/learner.h"
#include "train/build.h"

using namespace trainscope;
using namespace trainscope::scenario;

namespace {

Lesson lesson(const std::string& id, const std::string& track,
              std::vector<std::string> after = {}) {
  Lesson one;
  one.id = id;
  one.title = "On " + id;
  one.track = track;
  one.requires_ids = std::move(after);
  one.minutes = 5;
  return one;
}

const CourseEntry& entry(const std::vector<Track>& tracks, const std::string& id) {
  for (const Track& track : tracks)
    for (const CourseEntry& one : track.lessons)
      if (one.lesson->id == id) return one;
  FAIL("no lesson " << id);
  return tracks.front().lessons.front();
}

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("trainscope-learner-" + std::to_string(::getpid()))) {}
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Answers answers_to(const std::string& id) {
  Answers answers;
  answers.lesson = id;
  answers.at("predict").answer.option = 1;
  return answers;
}

}  // namespace

TEST_CASE("of a lesson all that it requires is told, finished or not, there or not") {
  const std::vector<Lesson> lessons{lesson("start", "T0"), lesson("copies", "T1", {"start"}),
                                    lesson("loader", "T1", {"copies", "start", "elsewhere"})};
  const std::vector<Track> tracks = course_of(lessons, {{"start", {true, 3, 4, false}}});
  CHECK(entry(tracks, "loader").required ==
        std::vector<std::string>{"On copies", "On start", "elsewhere"});
}

TEST_CASE("the next lesson is the first one that nothing has to come before") {
  const std::vector<Lesson> lessons{lesson("copies", "T1", {"start"}), lesson("start", "T0"),
                                    lesson("loader", "T1", {"copies"})};
  std::vector<Track> tracks = course_of(lessons, {});
  REQUIRE(tracks.size() == 2);
  CHECK(tracks[0].title == "Start");
  CHECK(tracks[1].title == "Feed the GPU");
  CHECK(entry(tracks, "start").standing == Standing::kNext);
  CHECK(entry(tracks, "copies").standing == Standing::kAhead);
  CHECK(entry(tracks, "copies").after == "On start");
  CHECK(entry(tracks, "copies").required == std::vector<std::string>{"On start"});
  CHECK(entry(tracks, "start").required.empty());
  CHECK(minutes_left(tracks) == 15);
  tracks = course_of(lessons, {{"start", {true, 2, 2, false}}});
  CHECK(entry(tracks, "start").standing == Standing::kDone);
  CHECK(entry(tracks, "copies").standing == Standing::kNext);
  CHECK(tracks[0].done() == 1);
  CHECK(minutes_left(tracks) == 10);
}

TEST_CASE("what was begun comes next, and what was missed is worth taking again") {
  const std::vector<Lesson> lessons{lesson("a", "T0"), lesson("b", "T0"), lesson("c", "T0")};
  const auto tracks = course_of(lessons, {{"a", {true, 1, 3, true}}, {"c", {false, 1, 3, false}}});
  CHECK(entry(tracks, "a").standing == Standing::kAgain);
  CHECK(entry(tracks, "b").standing == Standing::kOpen);
  CHECK(entry(tracks, "c").standing == Standing::kNext);
}

TEST_CASE("the shipped course begins with its first lesson, and every lesson can be reached") {
  const std::vector<Lesson> lessons = all_lessons();
  Records records;
  for (std::size_t taken = 0; taken < lessons.size(); ++taken) {
    const auto tracks = course_of(lessons, records);
    const Lesson* next = nullptr;
    for (const Track& track : tracks)
      for (const CourseEntry& one : track.lessons)
        if (one.standing == Standing::kNext) next = one.lesson;
    REQUIRE(next);
    if (taken == 0) CHECK(next->id == "anatomy-of-a-step");
    records[next->id] = {true, 1, 1, false};
  }
  CHECK(minutes_left(course_of(lessons, records)) == 0);
}

// What no script says: the machine that it runs on.
bool is_of_the_machine(const std::string& knob) {
  return knob == "machine" || knob == "pcie.lanes" || knob == "power_limit" ||
         knob.starts_with("host.") || knob.starts_with("straggler.");
}

TEST_CASE("where two sides of a lesson are two scripts, their listings tell them apart") {
  int two_scripts = 0;
  for (const Lesson& one : all_lessons()) {
    const program::Config a = one.side("A"), b = one.side("B");
    std::vector<std::string> knobs = program::differing_knobs(a, b);
    std::erase_if(knobs, is_of_the_machine);
    if (knobs.empty()) continue;
    ++two_scripts;
    CAPTURE(one.id, knobs);
    CHECK(train::build_program(a, train::machine_of(a)).listing.lines !=
          train::build_program(b, train::machine_of(b)).listing.lines);
  }
  CHECK(two_scripts > 0);
}

TEST_CASE("what a learner did is there again the next time") {
  const TemporaryFolder folder;
  {
    Learner learner(folder.path());
    learner.keep(answers_to("sdpa"), {false, 0, 4, false});
    learner.keep(answers_to("sdpa"), {true, 3, 4, true});
  }
  Learner learner(folder.path());
  CHECK(learner.fault().empty());
  REQUIRE(learner.records().count("sdpa") == 1);
  CHECK(learner.records().at("sdpa") == LessonRecord{true, 3, 4, true});
  CHECK(load_answers(learner.file_of("sdpa")).find("predict")->answer.option == 1);
}

TEST_CASE("two windows of a learner keep what the other has kept") {
  const TemporaryFolder folder;
  Learner one(folder.path()), other(folder.path());
  one.keep(answers_to("sdpa"), {true, 3, 4, true});
  other.keep(answers_to("launch-bound"), {false, 0, 2, false});
  one.keep(answers_to("first-script"), {true, 1, 1, false});
  const Records kept = Learner(folder.path()).records();
  CHECK(kept == one.records());
  REQUIRE(kept.size() == 3);
  CHECK(kept.at("sdpa") == LessonRecord{true, 3, 4, true});
  CHECK_FALSE(kept.at("launch-bound").finished);
}

TEST_CASE("students at one machine have folders of their own") {
  const std::filesystem::path all = "settings";
  CHECK(folder_of_student(all, "") == all);
  CHECK(folder_of_student(all, "  ") == all);
  const auto ada = folder_of_student(all, "Ada Lovelace");
  CHECK(ada.parent_path() == all / "students");
  CHECK(ada.filename().string().starts_with("ada_lovelace-"));
  CHECK(folder_of_student(all, " ada lovelace ") == ada);
  CHECK(folder_of_student(all, "Ada_Lovelace") != ada);
  // No name leaves the folder.
  CHECK(folder_of_student(all, "../..").parent_path() == all / "students");
}

TEST_CASE("a later attempt replaces a finished one only once it is finished, too") {
  const TemporaryFolder folder;
  Learner learner(folder.path());
  learner.keep(answers_to("sdpa"), {true, 4, 4, false});
  Answers again = answers_to("sdpa");
  again.at("predict").answer.option = 0;
  learner.keep(again, {false, 0, 4, false});
  CHECK(learner.records().at("sdpa").points == 4);
  CHECK(load_answers(learner.file_of("sdpa")).find("predict")->answer.option == 1);
  CHECK(std::filesystem::exists(folder.path() / "answers" / "sdpa.unfinished.json"));
  learner.keep(again, {true, 2, 4, false});
  CHECK(learner.records().at("sdpa").points == 2);
  CHECK(load_answers(learner.file_of("sdpa")).find("predict")->answer.option == 0);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "answers" / "sdpa.unfinished.json"));
}

TEST_CASE("records that cannot be read are put aside, not written over") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path());
  for (const std::string text : {"{", "{\"format\": 1}", "{\"format\": 9, \"lessons\": {}}",
                                 "{\"format\": 1, \"lessons\": {\"a\": {\"finished\": 3}}}"}) {
    INFO(text);
    write_file(folder.path() / "learner.json", text);
    Learner learner(folder.path());
    CHECK_THAT(learner.fault(), Catch::Contains("learner.json"));
    CHECK(learner.records().empty());
    learner.keep(answers_to("sdpa"), {true, 1, 1, false});
    CHECK(read_file(folder.path() / "learner.json.bad", 1 << 20) == text);
    CHECK(Learner(folder.path()).records().size() == 1);
  }
}

TEST_CASE("what a lost record says nothing of is not written over before it is finished anew") {
  const TemporaryFolder folder;
  const auto finished = folder.path() / "answers" / "sdpa.json";
  const auto again = folder.path() / "answers" / "sdpa.unfinished.json";
  Learner(folder.path()).keep(answers_to("sdpa"), {true, 4, 4, false});
  const std::string before = read_file(finished, 1 << 20);
  write_file(folder.path() / "learner.json", "{");
  Answers other = answers_to("sdpa");
  other.at("predict").answer.option = 0;
  {
    Learner learner(folder.path());
    CHECK_FALSE(learner.fault().empty());
    CHECK_FALSE(learner.under_way("sdpa"));
    learner.keep(other, {false, 0, 4, false});
    learner.keep(other, {false, 0, 4, false});
    CHECK(read_file(finished, 1 << 20) == before);
    CHECK(std::filesystem::exists(again));
  }
  Learner learner(folder.path());
  CHECK(learner.fault().empty());
  REQUIRE(learner.under_way("sdpa"));
  CHECK(learner.under_way("sdpa")->find("predict")->answer.option == 0);
  learner.keep(other, {true, 2, 4, false});
  CHECK(load_answers(finished).find("predict")->answer.option == 0);
  CHECK_FALSE(std::filesystem::exists(again));
  CHECK(learner.records().at("sdpa").points == 2);
}

TEST_CASE("answers that cannot be read are put aside, with a sentence, not written over") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "answers" / "sdpa.json";
  Learner(folder.path()).keep(answers_to("sdpa"), {false, 0, 4, false});
  write_file(file, "{\"format\": 1,");
  Learner learner(folder.path());
  CHECK(learner.fault().empty());
  CHECK_FALSE(learner.under_way("sdpa"));
  CHECK_THAT(learner.fault(), Catch::Contains("sdpa.json.bad has them"));
  CHECK_FALSE(learner.take_fault().empty());
  CHECK(learner.fault().empty());
  learner.keep(answers_to("sdpa"), {false, 0, 4, false});
  CHECK(read_file(file.string() + ".bad", 1 << 20) == "{\"format\": 1,");
  CHECK(load_answers(file).find("predict"));
}

TEST_CASE("a folder that cannot be written keeps the progress of the session") {
  Learner learner("/proc/no/such/place");
  CHECK_THROWS_AS(learner.keep(answers_to("sdpa"), {true, 1, 1, false}), InputError);
  CHECK(learner.records().size() == 1);
  Learner nowhere;
  CHECK_NOTHROW(nowhere.keep(answers_to("sdpa"), {true, 1, 1, false}));
  CHECK(nowhere.file_of("sdpa").empty());
}
