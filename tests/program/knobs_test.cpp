#include "program/knobs.h"

#include <catch2/catch.hpp>
#include <set>

#include "program/config.h"

using namespace trainscope;
using program::Config;

TEST_CASE("knob names are unique, and every default is a value that may be set") {
  std::set<std::string> names;
  for (const program::Knob& knob : program::knobs()) {
    INFO(knob.name);
    CHECK(names.insert(knob.name).second);
    CHECK(!knob.help.empty());
    CHECK_NOTHROW(program::checked(knob, knob.initial));
    CHECK(program::parse_value(knob, program::spell(knob.initial)) == knob.initial);
  }
}

TEST_CASE("values are read in the forms that people write") {
  Config config;
  config.set_text("copy.bytes=64 MiB");
  CHECK(config.whole("copy.bytes") == 67108864);
  config.set_text("copy.bytes=1e6");
  CHECK(config.whole("copy.bytes") == 1000000);
  config.set_text("loader.pin_memory=True");
  CHECK(config.flag("loader.pin_memory"));
  config.set_text("loader.pin_memory=false");
  CHECK(!config.flag("loader.pin_memory"));
  config.set_text("loader.sample_ms=0.25");
  CHECK(config.number("loader.sample_ms") == 0.25);
  config.set_text("machine=a=b.toml");
  CHECK(config.word("machine") == "a=b.toml");
}

TEST_CASE("a short time is shown in a unit that it fills") {
  using program::show;
  const program::Knob& sample = program::find_knob("loader.sample_ms");
  CHECK(show(sample, 0.0033) == "3.3 us");
  CHECK(show(sample, 0.00005) == "50 ns");
  CHECK(show(sample, 12.5) == "12.5 ms");
  CHECK(show(program::find_knob("optimizer.lr"), 0.00005) == "5e-05");  // no time
}

TEST_CASE("a value that cannot be is refused in one sentence that says what to give") {
  const auto fails = [](const char* setting, const char* sentence) {
    Config config;
    INFO(setting);
    CHECK_THROWS_WITH(config.set_text(setting), Catch::Contains(sentence));
    CHECK(config.values().empty());
  };
  fails("copy.bytes", "write knob=value");
  fails("=3", "write knob=value");
  fails("copy.byts=3", "did you mean copy.bytes?");
  fails("pin_memory=true", "did you mean loader.pin_memory?");
  fails("copy.bytes=-5", "-5 is out of range; give a value from 1 B to 1 TiB");
  fails("copy.bytes=1000000000000000000", "is out of range");
  fails("copy.bytes=many", "\"many\" is not a size");
  fails("copy.bytes=5 ms", "is not a size");
  fails("copy.count=2.5", "is not a whole number");
  fails("copy.count=nan", "nan is out of range");
  fails("copy.count=1e999", "is not a number");
  fails("copy.memory=pined", "did you mean pinned?");
  fails("loader.pin_memory=maybe", "neither true nor false");
  fails("parallel.strategy=tenser", "did you mean tensor?");
}

TEST_CASE("a choice that is declared and not built yet is refused, and what runs is named") {
  program::Knob knob = program::find_knob("parallel.strategy");
  CHECK(program::checked(knob, std::string("tensor")) == program::Value("tensor"));
  std::erase(knob.built_choices, "tensor");
  CHECK_THROWS_WITH(
      program::checked(knob, std::string("tensor")),
      Catch::Contains("tensor is declared but not built yet; what runs today: none, dp"));
}

TEST_CASE("configs override one another and say where they differ") {
  Config a, b;
  a.set_text("copy.memory=pinned");
  b.set_text("copy.memory=pageable");  // the default
  CHECK(program::differing_knobs(a, b) == std::vector<std::string>{"copy.memory"});
  CHECK(program::differing_knobs(b, Config()).empty());
  b.override_with(a);
  CHECK(b.word("copy.memory") == "pinned");
}
