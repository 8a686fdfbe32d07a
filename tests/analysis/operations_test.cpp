#include "analysis/views/operations.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <random>

#include "analysis/runs/run.h"

using namespace trainscope;
using namespace trainscope::analysis;

namespace {

Run run_of(const char* label, std::initializer_list<const char*> settings) {
  program::Config config;
  for (const char* setting : settings) config.set_text(setting);
  return run_config(label, config);
}

const Operation* find(const std::vector<Operation>& list, const std::string& name) {
  for (const Operation& one : list)
    if (one.name == name) return &one;
  return nullptr;
}

std::unique_ptr<trace::Trace> trace_with(const std::vector<std::pair<const char*, Nanos>>& spans) {
  auto made =
      std::make_unique<trace::Trace>(trace::Origin{trace::OriginKind::kSimulated, "test", ""});
  trace::Trace& trace = *made;
  trace::Lane lane;
  lane.name = "stream 7";
  lane.kind = trace::LaneKind::kStream;
  const trace::LaneId stream = trace.add_lane(lane);
  Nanos start = 0;
  for (const auto& [name, duration] : spans) {
    trace::Span span;
    span.lane = stream;
    span.start = start;
    span.duration = duration;
    span.category = trace::Category::kKernel;
    span.name = trace.intern(name);
    trace.add_span(span);
    start += duration;
  }
  return made;
}

}  // namespace

TEST_CASE("operations are what a plain walk over the window's spans counts") {
  for (const char* seed : {"seed=1", "seed=2"}) {
    const Run run = run_of("A", {"workload=train", "steps=6", "loader.num_workers=2", seed});
    const Measured& measured = run.facts.measured;
    std::map<std::string, std::pair<std::size_t, Nanos>> plain;
    const trace::Trace& trace = *run.trace;
    for (std::uint32_t i = 0; i < trace.spans().size(); ++i) {
      const trace::Span& span = trace.spans()[i];
      if (!trace::is_kernel(span.category) || span.start < measured.window.start ||
          span.start >= measured.window.end)
        continue;
      if (trace.lanes()[span.lane].kind != trace::LaneKind::kStream) continue;
      auto& [count, total] = plain[trace.name(span)];
      ++count;
      total += span.duration;
    }
    REQUIRE(plain.size() > 3);
    const auto list = operations(measured);
    for (const auto& [name, sums] : plain) {
      const Operation* found = find(list, name);
      REQUIRE(found);
      CHECK(found->where == Operation::Where::kGpu);
      CHECK(found->durations.size() == sums.first);
      CHECK(found->total == sums.second);
    }
    for (std::size_t i = 1; i < list.size(); ++i) CHECK(list[i - 1].total >= list[i].total);
  }
}

TEST_CASE("a copy is counted once, though a stream and an engine both show it") {
  const Run run = run_of("A", {"workload=copy", "copy.count=5", "copy.memory=pinned"});
  std::size_t copies = 0;
  for (const Operation& one : operations(run.facts.measured))
    if (one.where == Operation::Where::kGpu && trace::is_copy(one.category))
      copies += one.durations.size();
  CHECK(copies == static_cast<std::size_t>(5 * run.facts.measured.per()));
}

TEST_CASE("what a step launches counts as its own, though it begins beside the step before") {
  const auto side = [](const char* label, const char* kind) {
    return run_of(label, {"workload=launch", "launch.streams=2", "launch.kernel_sms=12",
                          "launch.kernel_ns=40000", "launch.count=4", "host.profile=native",
                          "steps=3", kind});
  };
  const Run a = side("A", "stream.kind=blocking"), b = side("B", "stream.kind=non_blocking");
  std::size_t kernels = 0;
  for (const OperationRow& row : compare_operations(a.facts.measured, b.facts.measured)) {
    if (!trace::is_kernel(row.category)) continue;
    INFO(row.name);
    ++kernels;
    CHECK(row.a.count == row.b.count);
    CHECK(row.a.count == std::round(row.a.count));
  }
  CHECK(kernels > 0);
}

TEST_CASE("batches are loaded in one row, however many there are") {
  const auto settings = {"workload=train", "steps=8", "loader.num_workers=2",
                         "loader.sample_bytes=100000"};
  const Run run = run_of("A", settings);
  const auto list = operations(run.facts.measured);
  for (const char* name : {"load batch", "read batch"}) {
    INFO(name);
    const Operation* batches = find(list, name);
    REQUIRE(batches);
    CHECK(batches->durations.size() > 1);
  }
  for (const Operation& one : list) CHECK_FALSE(one.name.starts_with("load batch "));
}

TEST_CASE("rows hold each side's own figures, a step, and their difference") {
  const Run a = run_of("A", {"workload=train", "steps=4", "batch_size=64"});
  const Run b = run_of("B", {"workload=train", "steps=7", "batch_size=1024", "precision=fp16"});
  const auto rows = compare_operations(a.facts.measured, b.facts.measured);
  const auto in_a = operations(a.facts.measured), in_b = operations(b.facts.measured);
  double total_a = 0, total_b = 0;
  for (const OperationRow& row : rows) {
    CHECK(row.a.durations.size() + row.b.durations.size() > 0);
    total_a += row.a.total;
    total_b += row.b.total;
  }
  const auto sum = [](const std::vector<Operation>& list, int steps) {
    double total = 0;
    for (const Operation& one : list) total += static_cast<double>(one.total) / steps;
    return total;
  };
  CHECK(total_a == Approx(sum(in_a, a.facts.measured.per())));
  CHECK(total_b == Approx(sum(in_b, b.facts.measured.per())));
  for (std::size_t i = 1; i < rows.size(); ++i)
    CHECK(std::abs(rows[i - 1].difference()) >= std::abs(rows[i].difference()));
  // A run beside itself differs in nothing.
  for (const OperationRow& row : compare_operations(a.facts.measured, a.facts.measured))
    CHECK(row.difference() == 0);
}

TEST_CASE("operations that take as long in both are taken out of those that differ") {
  const Run a = run_of("A", {"workload=train", "steps=4", "loop.item_every=1"});
  const Run b = run_of("B", {"workload=train", "steps=4", "loop.item_every=50"});
  const auto all = compare_operations(a.facts.measured, b.facts.measured);
  auto differing = all;
  const std::size_t alike = erase_alike(differing);
  CHECK(alike > 0);
  CHECK(!differing.empty());
  CHECK(differing.size() + alike == all.size());
  for (const OperationRow& row : differing) CHECK(std::abs(row.difference()) >= 1);
  auto same = compare_operations(a.facts.measured, a.facts.measured);
  CHECK(erase_alike(same) > 0);
  CHECK(same.empty());
}

TEST_CASE("a built-in of Python's is one row, wherever its object stands in a process") {
  const auto one = trace_with(
      {{"<built-in method linear of type object at 0x7f3c8a1b2e40>", 5}, {"kernel at 0x10", 3}});
  const auto two = trace_with(
      {{"<built-in method linear of type object at 0x7fa18a1b2e40>", 9}, {"kernel at 0x10", 3}});
  const auto rows =
      compare_operations(measure(*one, nullptr, nullptr), measure(*two, nullptr, nullptr));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "<built-in method linear of type object>");
  CHECK(rows[0].difference() == 4);
  CHECK(rows[1].name == "kernel at 0x10");
}

TEST_CASE("rows are sorted by any column, either way") {
  const auto one = trace_with({{"b", 5}, {"a", 9}, {"b", 7}, {"c", 9}});
  const auto two = trace_with({{"a", 1}, {"c", 40}});
  auto rows = compare_operations(measure(*one, nullptr, nullptr), measure(*two, nullptr, nullptr));
  const auto names = [&] {
    std::string all;
    for (const OperationRow& row : rows) all += row.name;
    return all;
  };
  CHECK(names() == "cba");
  sort_operations(rows, OperationOrder::kName, true);
  CHECK(names() == "abc");
  sort_operations(rows, OperationOrder::kCount, false);
  CHECK(names() == "bac");
  sort_operations(rows, OperationOrder::kTotal, true);
  CHECK(names() == "abc");
  sort_operations(rows, OperationOrder::kMean, false);
  CHECK(names() == "cab");
  const std::string csv = operations_csv(rows);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
  CHECK(csv.find("c,GPU,kernel,1,9,9,1,40,40,31") != std::string::npos);
}

TEST_CASE("every duration falls into one bin, whose bounds hold it") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Nanos> a, b;
    for (auto left = random() % 40; left > 0; --left)
      a.push_back(static_cast<Nanos>(random() % 100'000));
    for (auto left = random() % 40; left > 0; --left)
      b.push_back(static_cast<Nanos>(random() % 3000));
    const DurationBins bins = duration_bins(a, b, 24);
    const auto all = [](const std::vector<std::size_t>& counts) {
      return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    };
    CHECK(all(bins.a) == a.size());
    CHECK(all(bins.b) == b.size());
    if (a.empty() && b.empty()) continue;
    REQUIRE(bins.bounds.size() == bins.a.size() + 1);
    for (std::size_t i = 0; i < bins.a.size(); ++i) {
      const auto inside = [&](Nanos duration) {
        const double at = std::max(1.0, static_cast<double>(duration));
        const bool last = i + 1 == bins.a.size();
        return at >= bins.bounds[i] && (at < bins.bounds[i + 1] || last);
      };
      CHECK(static_cast<std::size_t>(std::count_if(a.begin(), a.end(), inside)) == bins.a[i]);
    }
  }
  const DurationBins alike = duration_bins({7, 7, 7}, {7}, 24);
  CHECK(alike.a == std::vector<std::size_t>{3});
  CHECK(alike.b == std::vector<std::size_t>{1});
  CHECK(duration_bins({}, {}, 24).a.empty());
}

TEST_CASE("a rank that comes late launches as much a step as without being late") {
  const auto counts = [](const char* slow) {
    const Run run = run_of(
        "A", {"workload=train", "model.name=resnet50", "batch_size=16", "steps=5", "machine=l40s-4",
              "parallel.strategy=ddp", "parallel.world_size=4", "straggler.factor=1.4", slow});
    std::map<std::string, double> count;
    for (const OperationRow& row : operation_rows(run.facts.measured))
      count[row.name + (row.where == Operation::Where::kHost ? ", host" : ", GPU")] = row.a.count;
    return count;
  };
  const auto late = counts("straggler.rank=3"), even = counts("straggler.rank=-1");
  for (const auto& [name, count] : even) {
    if (!name.starts_with("foreach") && !name.starts_with("batch_norm")) continue;
    INFO(name);
    REQUIRE(late.contains(name));
    CHECK(late.at(name) == count);
  }
}
