#include "scenario/lesson_search.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace trainscope;
using namespace trainscope::scenario;

namespace {

Lesson about_streams() {
  Lesson lesson;
  lesson.id = "two-lanes";
  lesson.title = "Copies beside kernels";
  lesson.topic = "Streams";
  lesson.terms = {"event"};
  lesson.heard = "pin_memory=True makes transfers faster";
  lesson.knobs = {"transfer.prefetch"};
  lesson.steps.emplace_back();
  lesson.steps.back().text = "An NCCL kernel takes SMs away.";
  return lesson;
}

bool is_found(const std::vector<Lesson>& lessons, const char* words, std::string_view id) {
  return std::ranges::any_of(lessons_about(lessons, words),
                             [&](const Lesson* lesson) { return lesson->id == id; });
}

}  // namespace

TEST_CASE("a lesson is about its title before its subject, its knobs and what its cards say") {
  const Lesson lesson = about_streams();
  CHECK(relevance(lesson, "Copies") > relevance(lesson, "event"));
  CHECK(relevance(lesson, "event") > relevance(lesson, "prefetch"));
  CHECK(relevance(lesson, "pin_memory") == relevance(lesson, "prefetch"));
  CHECK(relevance(lesson, "prefetch") > relevance(lesson, "nccl"));
  CHECK(relevance(lesson, "nccl") > 0);
  CHECK(relevance(lesson, "fsdp") == 0);
}

TEST_CASE("a lesson is found by the beginnings of its words, all of them") {
  const Lesson lesson = about_streams();
  CHECK(relevance(lesson, "stre") > 0);
  CHECK(relevance(lesson, "tream") == 0);
  CHECK(relevance(lesson, "memory") > 0);  // of pin_memory
  CHECK(relevance(lesson, "  streams  EVENT ") > 0);
  CHECK(relevance(lesson, "streams fsdp") == 0);
  CHECK(relevance(lesson, "") == 0);
  CHECK(relevance(lesson, " ") == 0);
}

TEST_CASE("what a lesson is about is said in its language") {
  CHECK(subject_line(about_streams()) == "Streams");
  CHECK(subject_line(find_lesson("fuse-it")) == "fusion, kernel, memory-bound");
  CHECK(subject_line(find_lesson("pinned-vs-pageable", "de")).starts_with("auslagerbar, gepinnt"));
}

TEST_CASE("German words are found in capitals and in small letters, from their beginning on") {
  const Lesson lesson = find_lesson("amp-loss-scale", "de");
  const auto weight = [&](const char* words) { return relevance(lesson, words); };
  REQUIRE(weight("Überlauf") > 0);
  CHECK(weight("überlauf") == weight("Überlauf"));
  CHECK(weight("ÜBERLAUF") == weight("Überlauf"));
  CHECK(weight("berlauf") == 0);
}

TEST_CASE("shipped lessons are found by the words that somebody comes with") {
  const std::vector<Lesson> lessons = all_lessons();
  CHECK(is_found(lessons, "fsdp", "zero-stages"));
  CHECK(is_found(lessons, "bf16", "bf16-vs-fp16"));
  CHECK(is_found(lessons, "nccl", "ring-all-reduce"));
  CHECK(is_found(lessons, "pin_memory", "pinned-vs-pageable"));
  CHECK(is_found(lessons, "num_workers", "num-workers"));
  REQUIRE_FALSE(lessons_about(lessons, "loss scale").empty());
  CHECK(lessons_about(lessons, "loss scale").front()->id == "amp-loss-scale");
  CHECK(lessons_about(lessons, "").empty());
}
