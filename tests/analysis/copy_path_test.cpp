// Where the bytes of copies are: traces made by hand, and the runs of the shipped lessons.

#include "analysis/views/copy_path.h"

#include <catch2/catch.hpp>

#include "analysis/runs/run.h"
#include "scenario/lesson.h"
#include "support/config.h"
#include "support/skip.h"
#include "support/traces.h"

using namespace trainscope;
using test::config_of;
using namespace trainscope::analysis;
using trace::Category;
using trace::LaneKind;
using trace::Span;

namespace {

// A trace of one pageable copy of 10 bytes in chunks of 4, 4 and 2, through two buffers.
struct HandMade {
  HandMade() {
    main = lane("host main", LaneKind::kHostThread);
    staging = lane("staging", LaneKind::kStaging);
    engine = lane("H2D copy engine", LaneKind::kCopyEngine);
    stream = lane("stream 7", LaneKind::kStream);
  }
  trace::LaneId lane(const char* name, LaneKind kind) {
    trace::Lane lane;
    lane.name = name;
    lane.kind = kind;
    return trace.add_lane(lane);
  }
  void add(trace::LaneId lane, Category category, const char* name, Nanos start, Nanos end,
           std::int64_t bytes = 0, trace::Memory from = trace::Memory::kPageable,
           trace::Memory to = trace::Memory::kDevice) {
    Span span;
    span.lane = lane;
    span.category = category;
    span.name = trace.intern(name);
    span.start = start;
    span.duration = end - start;
    span.correlation = 1;
    if (bytes > 0) {
      trace::CopyDetail detail;
      detail.bytes = bytes;
      detail.from = from;
      detail.to = to;
      span.detail = trace.add_detail(detail);
    }
    trace.add_span(span);
  }
  void add_staged_copy() {
    add(staging, Category::kStaging, "4 B", 100, 140);
    add(staging, Category::kStaging, "4 B", 140, 180);
    add(staging, Category::kStaging, "2 B", 180, 200);
    add(engine, Category::kCopyH2D, "4 B", 140, 160, 4);
    add(engine, Category::kCopyH2D, "4 B", 180, 200, 4);
    add(engine, Category::kCopyH2D, "2 B", 200, 210, 2);
    add(stream, Category::kCopyH2D, "Memcpy HtoD", 140, 210, 10);
    add(main, Category::kHeld, "held: staging", 90, 200);
    add(main, Category::kHostApi, "cudaMemcpyAsync", 80, 200);
  }

  trace::Trace trace{trace::Origin{}};
  trace::LaneId main = 0, staging = 0, engine = 0, stream = 0;
};

// Of one rank, or, below 0, of all.
std::int64_t copied_bytes(const trace::Trace& trace, Category category, std::int32_t rank = -1) {
  std::int64_t bytes = 0;
  for (std::uint32_t i = 0; i < trace.spans().size(); ++i) {
    const Span& span = trace.spans()[i];
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (span.category != category || lane.kind != LaneKind::kStream) continue;
    if (rank >= 0 && lane.rank != rank) continue;
    bytes += std::get<trace::CopyDetail>(*trace.detail(span)).bytes;
  }
  return bytes;
}

// What must hold at every time of any run.
void check_everywhere(const Run& run) {
  const CopyPath path(*run.trace, run.program.get(), run.machine.get());
  const Nanos end = run.trace->end();
  const std::int64_t room =
      run.machine ? run.machine->host.staging_buffers * run.machine->host.staging_chunk_bytes
                  : INT64_MAX;
  std::int64_t carried[kWays] = {0, 0};
  int done[kWays] = {0, 0};
  bool good = true;
  for (Nanos i = 0; i <= 3000; ++i) {
    const PathState state = path.at(end * i / 3000);
    std::int64_t in_chunks = 0;
    for (const PathChunk& chunk : state.chunks) {
      in_chunks += chunk.written - chunk.read;
      good &= 0 <= chunk.read && chunk.read <= chunk.written && chunk.written <= chunk.bytes;
    }
    good &= in_chunks == state.staging.bytes;
    good &= state.staging.bytes >= 0 && state.staging.bytes <= room;
    good &= !run.machine ||
            state.chunks.size() <= static_cast<std::size_t>(run.machine->host.staging_buffers);
    good &= state.pageable.bytes >= 0 && state.pinned.bytes >= 0;
    for (std::size_t way = 0; way < kWays; ++way) {
      const PathLink& link = state.links[way];
      good &= link.carried >= carried[way] && link.carried <= link.total;
      good &= link.done >= done[way] && (link.rest == Rest::kBusy) == (link.bytes > 0);
      good &= link.peak == 0 || link.rate <= link.peak * 1.0001;
      carried[way] = link.carried;
      done[way] = link.done;
    }
    if (!good) {
      INFO("at " << end * i / 3000);
      REQUIRE(good);
    }
  }
  const PathState last = path.at(end);
  const std::int32_t rank = run.program ? 0 : -1;  // a program's first
  CHECK(last.link(Way::kToDevice).carried == copied_bytes(*run.trace, Category::kCopyH2D, rank));
  CHECK(last.link(Way::kToHost).carried == copied_bytes(*run.trace, Category::kCopyD2H, rank));
  CHECK(last.device.arrived == last.link(Way::kToDevice).carried);
  CHECK(last.pageable.arrived + last.pinned.arrived == last.link(Way::kToHost).carried);
  CHECK(last.staging.bytes == 0);
  if (!run.ending) {  // else what was on its way stays where it is
    CHECK(last.pageable.bytes == 0);
    CHECK(last.pinned.bytes == 0);
  }
  CHECK(last.chunks.empty());
}

CopyPath path_of(const Run& run) {
  return {*run.trace, run.program.get(), run.machine.get()};
}

}  // namespace

TEST_CASE("the batch that a DataLoader gave lies in pageable memory until it is copied") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces beside the source tree");
  const Run run = import_run("A", test::real_traces_folder() / "resnet50-v100-2021-schema.json.gz");
  const CopyPath path = path_of(run);
  constexpr std::int64_t kImages = 1 << 20;  // labels are fewer bytes
  int images = 0;
  for (const PathCopy& copy : path.copies()) {
    if (copy.bytes <= kImages) continue;
    ++images;
    CHECK(path.at(copy.called - 1).pageable.bytes >= copy.bytes);
  }
  CHECK(images > 0);
  CHECK(path.at(300 * kMillisecond).pageable.bytes == 0);  // in the second step's backward
}

TEST_CASE("the bytes of pieces move evenly and are counted once") {
  ByteSeries series;
  series.add({100, 200, 10, 7, 0});
  series.add({0, 50, 4, 6, 0});
  series.add({150, 160, 6, 8, 0});
  series.seal();
  CHECK(series.total() == 20);
  CHECK(series.moved_by(-1) == 0);
  CHECK(series.moved_by(25) == 2);
  CHECK(series.moved_by(75) == 4);
  CHECK(series.moved_by(155) == 4 + 5 + 3);
  CHECK(series.moved_by(1000) == 20);
  REQUIRE(series.under_way(155).size() == 2);
  CHECK(series.under_way(155)[0].owner == 7);
  CHECK(series.under_way(160).size() == 1);
  CHECK(series.next_after(100)->owner == 8);
  CHECK_FALSE(series.next_after(150));
}

TEST_CASE("a pageable copy is seen in the driver's buffers, chunk by chunk") {
  HandMade made;
  made.add_staged_copy();
  const CopyPath path(made.trace, nullptr, nullptr);
  REQUIRE(path.copies().size() == 1);
  CHECK(path.copies()[0].called == 80);
  CHECK(path.copies()[0].complete == 210);

  const PathState before = path.at(50);
  CHECK(before.pageable.bytes == 0);
  CHECK(before.link(Way::kToDevice).rest == Rest::kCall);
  CHECK_FALSE(before.threads.at(0).held);

  const PathState waits = path.at(85);
  CHECK(waits.pageable.bytes == 10);
  CHECK(waits.link(Way::kToDevice).rest == Rest::kStream);

  const PathState first = path.at(120);
  CHECK(first.pageable.bytes == 8);
  CHECK(first.staging.bytes == 2);
  CHECK(first.link(Way::kToDevice).rest == Rest::kStaging);
  CHECK(first.threads.at(0).held);
  CHECK(first.threads.at(0).because == "2 B of 10 B staged");

  const PathState second = path.at(150);
  REQUIRE(second.chunks.size() == 2);
  CHECK(second.chunks[0].written == 4);
  CHECK(second.chunks[0].read == 2);
  CHECK(second.chunks[1].written == 1);
  CHECK(second.staging.bytes == 3);
  CHECK(second.link(Way::kToDevice).carried == 2);
  CHECK(second.link(Way::kToDevice).rate == Approx(4 / 20e-9));
  CHECK(second.link(Way::kToDevice).moves == "copy 1 of 1");

  // Between two transfers the link waits for the second chunk.
  CHECK(path.at(170).link(Way::kToDevice).rest == Rest::kStaging);
  CHECK(path.at(205).device.arrived == 9);
  CHECK_FALSE(path.at(205).threads.at(0).held);
  CHECK(path.at(210).link(Way::kToDevice).rest == Rest::kDone);
  CHECK(path.at(210).link(Way::kToDevice).done == 1);
}

TEST_CASE("a trace without staging spans says so, and its bytes leave as the link takes them") {
  HandMade made;
  made.add(made.stream, Category::kCopyH2D, "Memcpy HtoD", 100, 200, 10);
  made.add(made.main, Category::kHostApi, "cudaMemcpyAsync", 80, 190);
  const CopyPath path(made.trace, nullptr, nullptr);
  const PathState state = path.at(150);
  CHECK_FALSE(state.staging_shown);
  CHECK(state.chunks.empty());
  CHECK(state.pageable.bytes == 5);
  CHECK(state.device.arrived == 5);
  CHECK(state.threads.at(0).held);
  CHECK(path.at(90).link(Way::kToDevice).rest == Rest::kStream);
}

TEST_CASE("a trace that ends within a copy shows what it has of it") {
  HandMade made;
  made.add(made.staging, Category::kStaging, "4 B", 100, 140);
  made.add(made.staging, Category::kStaging, "4 B", 140, 180);
  made.add(made.engine, Category::kCopyH2D, "4 B", 140, 160, 4);
  const CopyPath path(made.trace, nullptr, nullptr);
  REQUIRE(path.copies().size() == 1);
  CHECK_FALSE(path.copies()[0].whole);
  const PathState last = path.at(180);
  CHECK(last.link(Way::kToDevice).carried == 4);
  CHECK(last.link(Way::kToDevice).done == 0);
  CHECK(last.staging.bytes == 4);
}

TEST_CASE("a trace without copies has an empty path") {
  HandMade made;
  made.add(made.stream, Category::kForward, "gemm", 0, 10);
  const CopyPath path(made.trace, nullptr, nullptr);
  CHECK(path.empty());
  CHECK(path.at(5).link(Way::kToDevice).rest == Rest::kUnused);
}

TEST_CASE("on every shipped lesson bytes are conserved and no buffer overflows") {
  for (const scenario::Lesson& lesson : scenario::all_lessons())
    for (const char* label : {"A", "B"}) {
      INFO(lesson.id << " " << label);
      check_everywhere(run_config(label, lesson.side(label)));
    }
}

TEST_CASE("what is fetched ahead is the next step's batch") {
  const char* const ahead = "transfer.prefetch=true";
  for (const char* ranks : {"parallel.strategy=none", "parallel.strategy=ddp"}) {
    INFO(ranks);
    const Run run = run_config(
        "A", config_of({"workload=train", "model.name=mlp", "data.name=digits", "steps=5",
                        "loop.evaluate=false", "machine=l40s-2", "transfer.streams=2", ahead,
                        "loader.pin_memory=true", "transfer.non_blocking=true", ranks}));
    check_everywhere(run);
    const CopyPath path(*run.trace, run.program.get(), run.machine.get());
    std::vector<int> batches;
    for (const PathCopy& copy : path.copies())
      if (copy.way == Way::kToDevice) batches.push_back(copy.batch);
    CHECK(batches == std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4});
  }
}

TEST_CASE("the path holds for both directions, both kinds of memory and one copy engine") {
  for (const char* machine : {"machine=h200-1", "machine=t4-1", "machine=laptop-1"})
    for (const char* direction : {"copy.direction=h2d", "copy.direction=d2h"})
      for (const char* memory : {"copy.memory=pageable", "copy.memory=pinned"}) {
        INFO(machine << " " << direction << " " << memory);
        check_everywhere(run_config("A", config_of({"workload=copy", machine, direction, memory,
                                                    "copy.bytes=10000001", "copy.count=3"})));
      }
}

TEST_CASE("the path holds for a tensor that is pinned once, and for one that is in the loop") {
  for (const char* pin : {"copy.pin=once", "copy.pin=each"})
    for (const char* waits : {"transfer.non_blocking=true", "transfer.non_blocking=false"}) {
      INFO(pin << " " << waits);
      check_everywhere(run_config("A", config_of({"workload=copy", "copy.memory=pinned", pin, waits,
                                                  "copy.bytes=10000001", "copy.count=3"})));
    }
}

TEST_CASE("the path holds for loaders with and without workers and pinning") {
  for (const char* workers : {"loader.num_workers=0", "loader.num_workers=3"})
    for (const char* pin : {"loader.pin_memory=true", "loader.pin_memory=false"}) {
      INFO(workers << " " << pin);
      check_everywhere(run_config("A", config_of({"workload=train", workers, pin, "steps=9"})));
    }
}

TEST_CASE("a batch that is read from disk and then loaded arrives once") {
  check_everywhere(run_config(
      "A", config_of({"workload=train", "loader.num_workers=2", "loader.sample_bytes=1000",
                      "loader.pin_memory=true", "loader.persistent_workers=false", "steps=9"})));
}

TEST_CASE("a pageable copy holds its host thread and a pinned one does not") {
  const Run pageable = run_config("A", config_of({"workload=copy", "copy.memory=pageable"}));
  const Run pinned = run_config(
      "B", config_of({"workload=copy", "copy.memory=pinned", "transfer.non_blocking=true"}));
  const CopyPath a = path_of(pageable), b = path_of(pinned);
  const Nanos within = (a.copies()[0].called + a.copies()[0].returned) / 2;
  const PathState state = a.at(within);
  REQUIRE_FALSE(state.threads.empty());
  CHECK(state.threads[0].held);
  CHECK(state.threads[0].doing == "held: staging");
  CHECK(state.staging.room > 0);
  CHECK(state.pageable.bytes > 0);
  CHECK(b.at(b.copies()[0].called + 1).staging.used == false);
  CHECK_FALSE(b.at(b.copies()[0].called + 1).threads[0].held);
}

TEST_CASE("batches are loaded, pinned and carried under their own numbers") {
  const Run run =
      run_config("A", config_of({"workload=train", "loader.num_workers=2", "loader.pin_memory=true",
                                 "loader.persistent_workers=true", "steps=6"}));
  const CopyPath path = path_of(run);
  bool loads = false, pins = false, carries = false, third = false;
  for (trace::SpanId id = 0; id < run.trace->spans().size(); ++id) {
    const trace::Span& span = run.trace->spans()[id];
    const PathState state = path.at(span.start + span.duration / 2);
    loads |= !state.loading.empty() && state.loading[0].name.starts_with("load batch");
    for (const PathThread& thread : state.threads) pins |= thread.doing == "pin batch";
    carries |= state.link(Way::kToDevice).moves.starts_with("batch");
    third |= state.link(Way::kToDevice).moves == "batch 3";
  }
  CHECK(loads);
  CHECK(pins);
  CHECK(carries);
  CHECK(third);
}

TEST_CASE("a recorded PyTorch trace has a path of what its tracer shows") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces beside the source tree");
  bool any = false;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(test::real_traces_folder())) {
    const std::string name = file.path().filename().string();
    if (!name.ends_with(".json") && !name.ends_with(".json.gz")) continue;
    if (file.file_size() > (8u << 20)) continue;
    Run run;
    try {
      run = import_run("A", file.path());
    } catch (const Error&) {
      continue;  // files that are no traces lie there, too
    }
    const CopyPath path = path_of(run);
    if (path.empty()) continue;
    INFO(file.path());
    any = true;
    const PathState last = path.at(run.trace->end());
    CHECK(last.link(Way::kToDevice).carried == copied_bytes(*run.trace, Category::kCopyH2D));
    CHECK(last.link(Way::kToHost).carried == copied_bytes(*run.trace, Category::kCopyD2H));
    CHECK(last.staging.bytes == 0);
  }
  CHECK(any);
}
