// A session whose numbers come after its timeline, against a simulation that computes each as the
// program calls for it.
#include "host/later_numbers.h"

#include <catch2/catch.hpp>

#include "analysis/runs/run.h"
#include "base/error.h"
#include "host/interpreter.h"
#include "host/rank_numbers.h"
#include "host/scale_numbers.h"
#include "scenario/lesson.h"
#include "support/config.h"
#include "trace/trace_bytes.h"
#include "train/build.h"

using namespace trainscope;
using test::config_of;

namespace {

std::string bytes_of(const trace::Trace& trace) {
  trace::ByteWriter out;
  trace::save_trace(trace, out);
  return out.bytes();
}

std::unique_ptr<program::Numbers> numbers_of(const program::Program& program) {
  if (program.timing_only) return std::make_unique<host::ScaleNumbers>(program);
  if (program.computed_ranks > 1) return std::make_unique<host::RankNumbers>(program);
  return std::make_unique<host::Interpreter>(program);
}

// In step with virtual time.
struct Plain {
  Plain(const program::Config& config, const trace::Origin& origin) : trace(origin) {
    const machine::Machine machine = train::machine_of(config);
    const program::Program program = train::build_program(config, machine);
    const std::unique_ptr<program::Numbers> numbers = numbers_of(program);
    sim::Simulation simulation(program, machine, config.word("host.profile"), trace, numbers.get(),
                               {.chunks = config.flag("collective.expanded")});
    simulation.finish();
    ending = simulation.ending();
  }
  trace::Trace trace;
  std::optional<sim::Ending> ending;
};

constexpr std::uint64_t kAFew = 500;

}  // namespace

TEST_CASE("every lesson's run is to the byte what it is with numbers in step with its times") {
  int trained_later = 0;
  for (const scenario::Lesson& lesson : scenario::all_lessons())
    for (const char* side : {"A", "B"}) {
      CAPTURE(lesson.id, side);
      const program::Config config = lesson.side(side);
      analysis::Session session(side, config);
      std::optional<std::uint32_t> spans;
      while (!session.advance(kAFew))
        if (session.is_training() && !spans) spans = session.trace()->spans().size();
      const analysis::Run run = session.result();
      const Plain plain(config, run.trace->origin());
      CHECK(bytes_of(*run.trace) == bytes_of(plain.trace));
      CHECK(run.ending.has_value() == plain.ending.has_value());
      if (!spans) continue;
      ++trained_later;
      CHECK(*spans == run.trace->spans().size());
    }
  CHECK(trained_later >= 10);
}

TEST_CASE("numbers decide where a loss scale skips steps, by a branch or on the device") {
  const auto decide = [](const char* implementation) {
    const program::Config config =
        config_of({"workload=train", "data.name=digits", "model.name=mlp", "precision=fp16",
                   "scaler.enabled=true", implementation});
    return host::numbers_decide(train::build_program(config, train::machine_of(config)));
  };
  CHECK(decide("optimizer.impl=foreach"));
  CHECK(decide("optimizer.impl=fused"));
  const program::Config plain = config_of({"workload=train", "data.name=digits", "model.name=mlp"});
  CHECK_FALSE(host::numbers_decide(train::build_program(plain, train::machine_of(plain))));
}

TEST_CASE("a loss that ends the run is met after its timeline, which then ends there as well") {
  const program::Config config = config_of(
      {"workload=train", "data.name=digits", "model.name=mlp", "optimizer.lr=1e6", "steps=12"});
  analysis::Session session("A", config);
  std::shared_ptr<const trace::Trace> complete;
  std::uint32_t rows = 0;
  while (!session.advance(1)) {
    if (!session.is_training()) continue;
    complete = session.trace();
    CHECK(complete->steps().size() >= rows);
    rows = complete->steps().size();
  }
  const analysis::Run run = session.result();
  REQUIRE(complete);
  const Plain plain(config, run.trace->origin());
  REQUIRE(run.ending);
  REQUIRE(plain.ending);
  CHECK(sim::sentence(*run.ending) == sim::sentence(*plain.ending));
  CHECK(run.trace != complete);
  CHECK(run.trace->end() < complete->end());
  CHECK(bytes_of(*run.trace) == bytes_of(plain.trace));
}

TEST_CASE("a run whose host has given everything is as far as its GPU is") {
  const program::Config config =
      config_of({"workload=launch", "launch.count=200", "launch.kernel_ns=1000000"});
  analysis::Session session("A", config);
  std::vector<std::pair<Nanos, double>> looks;
  while (!session.advance(1)) looks.emplace_back(session.trace()->end(), session.share());
  const Nanos end = session.trace()->end();
  int early = 0;
  for (const auto& [time, share] : looks) {
    if (time > end / 2) continue;
    ++early;
    CHECK(share < 0.6);
  }
  CHECK(early > 50);
  CHECK(session.share() == 1);
}

TEST_CASE("how far a session is only grows, timeline and training together") {
  analysis::Session session(
      "A", config_of({"workload=train", "data.name=digits", "model.name=mlp", "steps=8"}));
  double before = 0;
  int times = 0;  // of a few operations each: it can be left at once
  while (!session.advance(50)) {
    CHECK(session.share() >= before);
    before = session.share();
    times += session.is_training();
  }
  CHECK(times > 8 * 10);
  CHECK(session.share() == 1.0);
}

TEST_CASE("a batch that its data set cannot fill is refused before the timeline") {
  const program::Config config =
      config_of({"workload=train", "data.name=digits", "model.name=mlp", "batch_size=20000"});
  CHECK_THROWS_AS(analysis::Session("A", config), InputError);
}
