#include "analysis/views/copy_steps.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "support/config.h"
#include "support/made_trace.h"

using namespace trainscope;
using test::config_of;
using trace::Category;
using trace::LaneKind;

TEST_CASE("what copies take a step does not depend on how many steps there are") {
  const std::vector<std::string> fed{"model.name=resnet50", "batch_size=64", "machine=a100-sxm-1",
                                     "loader.pin_memory=true", "transfer.non_blocking=true"};
  const std::vector<std::vector<std::string>> configs{
      // One stream; the next batch ahead; a stream of its own, on which a host that is ahead of the
      // GPU copies long before the kernels; both.
      {"loader.num_workers=8", "loader.sample_ms=4"},
      {"loader.num_workers=8", "loader.sample_ms=4", "transfer.prefetch=true"},
      {"loader.num_workers=16", "loader.sample_ms=1", "transfer.streams=2"},
      {"loader.num_workers=16", "loader.sample_ms=1", "transfer.streams=2",
       "transfer.prefetch=true"}};
  for (const std::vector<std::string>& config : configs) {
    double first = 0;
    for (const int steps : {4, 6, 8, 10, 20, 40}) {
      std::vector<std::string> settings = fed;
      settings.insert(settings.end(), config.begin(), config.end());
      settings.push_back("steps=" + std::to_string(steps));
      const analysis::Run run = analysis::run_config("A", config_of(settings));
      const auto time = analysis::value_of(run.metrics, "time.h2d");
      INFO(config.back() << ", " << steps << " steps");
      REQUIRE(time);
      if (first == 0) first = *time;
      CHECK(*time == Approx(first).epsilon(0.001));
    }
  }
}

namespace {

// Three steps of 100 ns, with copies that are called for at these times and take 10 ns.
analysis::Measured with_copies(test::MadeTrace& made, Category direction,
                               const std::vector<Nanos>& calls) {
  const trace::LaneId host = made.lane(LaneKind::kHostThread);
  const trace::LaneId stream = made.lane(LaneKind::kStream, 0);
  for (const Nanos start : {0, 100, 200})
    made.add(host, "ProfilerStep#", start, start + 100, Category::kAnnotation);
  std::uint32_t correlation = 0;
  for (const Nanos call : calls) {
    made.add(host, "cudaMemcpyAsync", call, call + 2, Category::kHostApi, ++correlation);
    made.add(stream, "Memcpy", call + 5, call + 15, direction, correlation);
  }
  return analysis::measure(made.trace, nullptr, nullptr);
}

int steps_of(Category direction, const std::vector<Nanos>& calls) {
  test::MadeTrace made(trace::OriginKind::kImported);
  return analysis::steps_of_copies(with_copies(made, direction, calls), direction);
}

}  // namespace

TEST_CASE("the last steps of a loop that fetches ahead do not count, and steps between do") {
  CHECK(steps_of(Category::kCopyH2D, {10, 110, 210}) == 3);
  CHECK(steps_of(Category::kCopyH2D, {10, 50, 110}) == 2);
  CHECK(steps_of(Category::kCopyH2D, {10, 210}) == 3);
  CHECK(steps_of(Category::kCopyH2D, {}) == 3);
  // A loss is read when it is asked for.
  CHECK(steps_of(Category::kCopyD2H, {10}) == 3);
}
