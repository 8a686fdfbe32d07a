// A lesson in one line.
#include "scenario/link.h"

#include <catch2/catch.hpp>
#include <random>

using namespace trainscope;
using namespace trainscope::scenario;
using Catch::Matchers::Contains;

TEST_CASE("a link says which lesson, which step and which knobs") {
  Link link;
  link.lesson = "pinned-vs-pageable";
  link.step = 5;
  link.knobs.a.set_text("copy.count=40");
  link.knobs.a.set_text("seed=7");
  link.knobs.b.set_text("seed=7");
  CHECK(write_link(link) == "trainscope:1?lesson=pinned-vs-pageable&step=5&A.copy.count=40&seed=7");
  const Link back = parse_link(write_link(link));
  CHECK(back.lesson == link.lesson);
  CHECK(back.step == 5);
  CHECK(back.knobs == link.knobs);
  CHECK(parse_link("trainscope:1").lesson.empty());
  CHECK(write_link({}) == "trainscope:1");
}

TEST_CASE("every knob comes back from a link with its value") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    Link link;
    link.lesson = round % 2 == 0 ? "a & b=c?%" : "";
    link.step = random() % 9;
    for (const program::Knob& knob : program::knobs())
      for (program::Config* side : {&link.knobs.a, &link.knobs.b})
        if (random() % 20 == 0) side->set(knob.name, program::Config().value(knob.name));
    link.knobs.a.set("data.path", std::string("/data/my set?&=%41/ü"));
    const Link back = parse_link(write_link(link));
    CHECK(back.lesson == link.lesson);
    CHECK(back.step == link.step);
    CHECK(back.knobs == link.knobs);
    CHECK(write_link(back) == write_link(link));
  }
}

TEST_CASE("a link that cannot be read is refused with a sentence") {
  const auto refused = [](const char* text, const char* why) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_link(text), Contains(why));
  };
  refused("http://example.org", "does not begin with trainscope:1?");
  refused("trainscope:2?lesson=a", "this Trainscope reads 1");
  refused("trainscope:1?lesson=a&step=0", "steps count from 1");
  refused("trainscope:1?step=two", "steps count from 1");
  refused("trainscope:1?lesson=a&lesson=b", "two lessons");
  refused("trainscope:1?A.copy.count=1&A.copy.count=2", "A.copy.count twice");
  refused("trainscope:1?lodaer.pin_memory=true", "loader.pin_memory");
  refused("trainscope:1?A.copy.count=many", "copy.count");
  refused("trainscope:1?lesson", "without a value");
  refused("trainscope:1?lesson=%4", "two hexadecimal digits");
  refused("trainscope:1?lesson=%zz", "two hexadecimal digits");
  refused("trainscope:1?%0A=1", "stands for no letter");
}

TEST_CASE("a link's step is one of its lesson's, counted from 0, or is refused") {
  const Lesson lesson = find_lesson("pinned-vs-pageable");
  const auto step = [&](const std::string& text) {
    return step_in(parse_link("trainscope:1?lesson=pinned-vs-pageable" + text), lesson);
  };
  CHECK_FALSE(step(""));
  CHECK(step("&step=1") == 0U);
  CHECK(step("&step=" + std::to_string(lesson.steps.size())) == lesson.steps.size() - 1);
  CHECK_THROWS_WITH(step("&step=99"),
                    Contains("names step 99, and the lesson pinned-vs-pageable has"));
}
