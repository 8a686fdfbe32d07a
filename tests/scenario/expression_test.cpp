#include "scenario/expression.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/error.h"

using namespace trainscope;
using scenario::Expression;
using scenario::Quantity;

namespace {

const analysis::Run& pinned() {
  static const analysis::Run run = [] {
    program::Config config;
    config.set_text("workload=copy");
    config.set_text("copy.memory=pinned");
    return analysis::run_config("A", config);
  }();
  return run;
}

Quantity evaluate(const char* text) {
  return Expression::parse(text).evaluate({&pinned()});
}

}  // namespace

TEST_CASE("arithmetic binds as people expect") {
  CHECK(evaluate("2 + 3 * 4").value == 14);
  CHECK(evaluate("(2 + 3) * 4").value == 20);
  CHECK(evaluate("8 - 2 - 1").value == 5);
  CHECK(evaluate("-2 * -3").value == 6);
  CHECK(evaluate("12 / 3 / 2").value == 2);
}

TEST_CASE("comparisons, and, or and not give truths") {
  CHECK(evaluate("1 < 2 and 2 <= 2").truth());
  CHECK(evaluate("1 > 2 or 3 != 4").truth());
  CHECK(evaluate("not 1 == 2").truth());
  CHECK(!evaluate("not (1 < 2 and 2 < 3)").truth());
}

TEST_CASE("knobs that are words are equal or not, and nothing else") {
  CHECK(evaluate("A.copy.memory == A.copy.memory").truth());
  CHECK_FALSE(evaluate("A.copy.memory != A.copy.memory").truth());
  CHECK(evaluate("A.copy.memory != A.precision").truth());
  CHECK_THROWS_WITH(evaluate("A.copy.memory == 1"), Catch::Contains("copy.memory is a word"));
  CHECK_THROWS_WITH(evaluate("A.copy.memory < A.precision"),
                    Catch::Contains("copy.memory is a word"));
}

TEST_CASE("what is compared is told with its values") {
  const auto evaluated = [](const char* text) {
    return Expression::parse(text).evaluated({&pinned()});
  };
  CHECK(evaluated("A.copy.count == 3 and 1 KiB < A.copy.bytes") == "1 == 3 and 1 KiB < 64 MiB");
  CHECK(evaluated("not (1 > 2) or A.copy.memory == A.copy.memory") ==
        "not (1 > 2) or pinned == pinned");
  CHECK(evaluated("(1 < 2 or 3 < 2) and 2 * 3 > 5") == "(1 < 2 or 3 < 2) and 6 > 5");
  CHECK(evaluated("A.time.d2h < 1 ms") == "? < 1 ms");
  CHECK(evaluated("A.copy.count") == "1");
}

TEST_CASE("functions: min, max, abs and ratio") {
  CHECK(evaluate("min(3, 1, 2)").value == 1);
  CHECK(evaluate("max(3, 1, 2)").value == 3);
  CHECK(evaluate("abs(1 - 4)").value == 3);
  CHECK(evaluate("ratio(6, 4)").value == 1.5);
}

TEST_CASE("a text writes an exact ratio whole, and another with the digits that it has") {
  const auto shown = [](const char* text) { return Expression::parse(text).show({&pinned()}); };
  CHECK(shown("ratio(512, 64)") == "8");
  CHECK(shown("ratio(64, 64)") == "1");
  CHECK(shown("ratio(A.time.h2d, A.time.h2d)") == "1");
  CHECK(shown("ratio(2048, 2)") == "1,024");
  CHECK(shown("ratio(-512, 64)") == "-8");
  CHECK(shown("ratio(0, 64)") == "0");
  CHECK(shown("ratio(8001, 1000)") == "8.00");
  CHECK(shown("ratio(6, 4)") == "1.50");
  CHECK(shown("ratio(18182, 1)") == "18,200");
  CHECK(shown("ratio(1, 182)") == "1/182");
}

TEST_CASE("numbers have units, and values are shown with theirs") {
  CHECK(evaluate("5 ms").value == 5e6);
  CHECK(evaluate("5 ms").unit == "ns");
  CHECK(evaluate("64 MiB").value == 67108864);
  CHECK(scenario::show(evaluate("A.copy.bytes")) == "64 MiB");
  CHECK(scenario::show(evaluate("ratio(A.time.h2d, A.time.h2d)")) == "1");
  CHECK(evaluate("A.time.h2d + 1 us").unit == "ns");
  CHECK(evaluate("A.time.h2d > 1 us").truth());
}

TEST_CASE("a metric, a knob and a placeholder resolve by side") {
  CHECK(evaluate("A.copy.count").value == 1);
  CHECK(evaluate("A.time.h2d").value == *analysis::value_of(pinned().metrics, "time.h2d"));
  CHECK(scenario::fill_in("It moves {A.copy.bytes} once.", {&pinned()}) == "It moves 64 MiB once.");
}

TEST_CASE("a metric of one rank is asked for by its number") {
  CHECK(evaluate("A.time.h2d@0 == A.time.h2d").truth());
  CHECK(scenario::fill_in("{A.time.h2d@0}", {&pinned()}) ==
        scenario::fill_in("{A.time.h2d}", {&pinned()}));
  CHECK_THROWS_AS(evaluate("A.time.h2d@1"), InputError);
  CHECK_THROWS_AS(Expression::parse("A.time.h2d@"), InputError);
  CHECK_THROWS_AS(Expression::parse("A.copy.count@0"), InputError);
}

TEST_CASE("a metric that a run ended too early for is missed with the reason") {
  analysis::Run full = pinned();
  sim::OutOfMemory why;
  why.gpu = "NVIDIA T4";
  full.ending = why;
  CHECK_THROWS_WITH(Expression::parse("A.time.d2h").evaluate({&full}),
                    Catch::Contains("run A has no time.d2h, because NVIDIA T4 is out of memory"));
}

TEST_CASE("a factor is read with its digits, or as a power of two") {
  analysis::Run run = pinned();
  for (const auto& [scale, words] : {std::pair{65536.0, "65536"}, {4294967296.0, "2^32"}}) {
    run.config.set("scaler.init_scale", scale);
    CHECK(scenario::fill_in("{A.scaler.init_scale}", {&run}) == words);
  }
  CHECK(analysis::show(analysis::find_metric("scaler.scale"), 32768) == "32768");
}

TEST_CASE("what is wrong in an expression is said in one sentence") {
  const auto fails = [](const char* text, const char* sentence) {
    INFO(text);
    CHECK_THROWS_WITH(evaluate(text), Catch::Contains(sentence));
  };
  fails("", "ends where a value is expected");
  fails("1 +", "ends where a value is expected");
  fails("(1", "a parenthesis is not closed");
  fails("1 2", "\"2\" is left over");
  fails("A.time.stap", "did you mean time.step?");
  fails("time.step", "names no side");
  fails("foo", "is not a name");
  fails("rato(1, 2)", "did you mean ratio?");
  fails("ratio(1)", "ratio takes two values");
  fails("5 parsecs", "there is no unit parsecs");
  fails("1 / 0", "divides by zero");
  fails("B.time.step", "there is no run B");
  fails("A.time.d2h", "run A has no time.d2h");
  fails("A.copy.memory", "is a word");
  CHECK_THROWS_AS(Expression::parse(std::string(100000, '(')), InputError);
  CHECK_THROWS_AS(Expression::parse("1" + std::string(100000, '-')), InputError);
  CHECK_THROWS_WITH(scenario::fill_in("a {A.time.step", {&pinned()}),
                    Catch::Contains("a brace is not closed"));
}

TEST_CASE("an expression that would exhaust the stack is refused") {
  std::string chain = "1";
  for (int i = 0; i < 100'000; ++i) chain += "+1";
  CHECK_THROWS_WITH(Expression::parse(chain), Catch::Contains("it is too long"));
  CHECK_THROWS_WITH(Expression::parse(std::string(100'000, '(')), Catch::Contains("too deeply"));
  CHECK_THROWS_WITH(Expression::parse(std::string(100'000, '-')), Catch::Contains("too deeply"));
}
