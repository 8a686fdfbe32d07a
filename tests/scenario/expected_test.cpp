// What lessons expect of a real GPU, put to simulated runs.
#include "scenario/expected.h"

#include <catch2/catch.hpp>

using namespace trainscope;
using namespace trainscope::scenario;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

struct Ran {
  Lesson lesson;
  analysis::Run a, b;

  explicit Ran(const std::string& id, const std::string& setting = "seed=0")
      : lesson(find_lesson(id)) {
    program::Config flags;
    flags.set_text(setting);
    a = analysis::run_config("A", lesson.side("A", flags));
    b = analysis::run_config("B", lesson.side("B", flags));
  }
  Sides sides() const { return {&a, &b}; }
  std::vector<Expected> expected() const { return expected_of_a_gpu(lesson, sides()); }
  bool fails() const { return any_fails(expected(), lesson, sides()); }
};

}  // namespace

TEST_CASE("what a lesson expects of a real GPU is told with its bounds, and whether it holds") {
  Ran ran("pinned-vs-pageable");
  REQUIRE(ran.expected().size() == 1);  // another is of simulated runs alone
  const Expected one = ran.expected().front();
  CHECK(one.expression == "ratio(A.time.h2d, B.time.h2d)");
  CHECK(one.value->value > 1.1);
  CHECK_FALSE(one.fails);
  CHECK_FALSE(ran.fails());
  CHECK_THAT(sentence(one), StartsWith("expected of a real GPU: ratio(A.time.h2d, B.time.h2d) at "
                                       "least 1.1: ") &&
                                EndsWith(", holds"));
  ran.lesson.expectations.front().real_max = 1.2;
  CHECK(ran.fails());
  CHECK_THAT(sentence(ran.expected().front()),
             Contains(" 1.1 to 1.2: ") && EndsWith(", does not hold"));
  ran.lesson.expectations.front().real_min.reset();
  CHECK_THAT(sentence(ran.expected().front()), Contains(" at most 1.2: "));
}

TEST_CASE("what the runs do not tell neither holds nor fails") {
  const Ran ran("pinned-vs-pageable");
  const Sides alone{&ran.a};
  const std::vector<Expected> expected = expected_of_a_gpu(ran.lesson, alone);
  REQUIRE(expected.size() == 1);
  CHECK_FALSE(expected.front().value);
  CHECK_FALSE(any_fails(expected, ran.lesson, alone));
  CHECK_THAT(sentence(expected.front()), EndsWith("at least 1.1: there is no run B"));
}

TEST_CASE("nothing is expected of a lesson whose knobs were turned") {
  CHECK(Ran("pinned-vs-pageable", "copy.count=1").expected().empty());
  CHECK(Ran("pinned-vs-pageable", "machine=t4-1").expected().size() == 1);
  CHECK(Ran("pinned-vs-pageable", "seed=3").expected().size() == 1);
}

TEST_CASE("a machine that the lesson is not written for may differ from it") {
  constexpr double kNever = 1e30;
  Ran home("occupancy-cliff"), other("occupancy-cliff", "machine=t4-1");
  for (Ran* ran : {&home, &other}) {
    ran->lesson.expectations.front().real_min = kNever;
    CHECK(ran->expected().front().fails);
  }
  CHECK(home.fails());
  CHECK_FALSE(other.fails());
}
