// A folder of the files of one job's ranks.
#include "trace/rank_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "trace/chrome_writer.h"
#include "trace/random_trace.h"
#include "trace/ranks.h"
#include "trace/same_trace.h"

using namespace trainscope;
using namespace trainscope::trace;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

constexpr int kSums = 5;

// One rank of a job, as PyTorch's profiler writes it. Each all-reduce ends 100 us after the last
// rank has come to it.
struct Job {
  int world = 2;
  std::vector<double> clocks = {0, 0};  // us that a rank's clock is ahead
  std::vector<double> come = {0, 0};    // us that a rank comes to a sum after the first
  std::vector<int> devices = {0, 1};
  bool says_rank = true;
  int sums = kSums;
  std::string model = "GPU of ours";
  std::string group = "";  // ", \"Group size\": 2"

  std::string file(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    const double last = *std::max_element(come.begin(), come.end());
    std::string text =
        R"({"schemaVersion": 1, "deviceProperties": [{"name": ")" + model + R"("}], )";
    if (says_rank)
      text += fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": {}}}, )", rank, world);
    text += R"("traceEvents": [)";
    text += fmt::format(
        R"({{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 90{}, "tid": 90{}, )"
        R"("ts": {:.3f}, "dur": 5}})",
        rank, rank, 1000 + clocks[r]);
    for (int sum = 0; sum < sums; ++sum) {
      const double start = 2000 + 1000 * sum + come[r], end = 2100 + 1000 * sum + last;
      text += fmt::format(
          ", "
          R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", )"
          R"("pid": {}, "tid": 20, "ts": {:.3f}, "dur": {:.3f}, "args": {{"device": {}, )"
          R"("stream": 20, "correlation": {}, "Collective name": "allreduce", )"
          R"("In msg nelems": 1024, "dtype": "Float"{}}}}})",
          devices[r], start + clocks[r], end - start, devices[r], 70 + sum, group);
    }
    return text + "]}";
  }
};

struct Folder : test::TemporaryFolder {
  void write_ranks(const Job& job, std::vector<int> ranks = {0, 1}) const {
    for (const int rank : ranks) write(fmt::format("rank{}.pt.trace.json", rank), job.file(rank));
  }
  std::string fault() const {
    try {
      read_rank_folder(path());
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }
};

Nanos length_of(const Trace& trace, int rank, Category category) {
  Nanos length = 0;
  for_each(trace.spans(), [&](const Span& span, SpanId) {
    if (span.category == category && trace.lanes()[span.lane].rank == rank) length += span.duration;
  });
  return length;
}

// A rank's spans in order, by all but the numbers that join them.
std::vector<std::string> spans_of(const Trace& whole, int rank) {
  const auto trace = part_of_rank(whole, rank);
  std::vector<std::string> spans;
  for_each(trace->spans(), [&](const Span& span, SpanId) {
    spans.push_back(fmt::format("{} {} {} {} {} {} {} {}", trace->name(span),
                                trace->lanes()[span.lane].name, span.start, span.duration,
                                static_cast<int>(span.category), static_cast<int>(span.cause),
                                span.cause_span, span.line));
  });
  return spans;
}

std::string of(const std::unique_ptr<Trace>& trace) {
  return trace->origin().detail;
}

}  // namespace

TEST_CASE("a file's name tells its rank") {
  CHECK(rank_in_name("rank_0.json") == 0);
  CHECK(rank_in_name("rank-12.json.gz") == 12);
  CHECK(rank_in_name("trace_Rank3.1234.pt.trace.json") == 3);
  CHECK(rank_in_name("ranking_rank=7_of_8.json") == 7);
  CHECK(rank_in_name("rank2_rank_x.json") == 2);
  CHECK_FALSE(rank_in_name("node4_1234.pt.trace.json"));
  CHECK_FALSE(rank_in_name("ranking.json"));
  CHECK_FALSE(rank_in_name("rank_99999999999999.json"));
}

TEST_CASE("the ranks of a job are on one clock and wait for the last") {
  const Folder folder;
  Job job;
  job.clocks = {0, -777.5};
  job.come = {0, 250};
  folder.write_ranks(job);
  CHECK(is_rank_folder(folder.path()));
  const auto trace = read_rank_folder(folder.path());
  CHECK(trace->origin().kind == OriginKind::kImported);
  CHECK(trace->origin().subject == folder.path().filename().string());
  CHECK(of(trace) ==
        "PyTorch profiler, schema 1, GPU of ours, 2 ranks, their clocks laid on one another by "
        "the ends of collectives");
  CHECK(ranks_of(*trace) == std::vector<int>{0, 1});
  CHECK(devices_of(*trace) == std::vector<int>{0, 1});
  CHECK(length_of(*trace, 0, Category::kSync) == kSums * 250'000);
  CHECK(length_of(*trace, 1, Category::kSync) == 0);
  for (const int rank : {0, 1})
    CHECK(length_of(*trace, rank, Category::kCollective) == kSums * 100'000);
  std::set<Nanos> ends;
  for_each(trace->spans(), [&](const Span& span, SpanId) {
    if (span.category == Category::kCollective) ends.insert(span.end());
    if (span.category == Category::kSync) CHECK(span.cause == Cause::kPeer);
  });
  CHECK(ends.size() == kSums);
}

TEST_CASE("a GPU that every rank calls its first is numbered as the rank is") {
  const Folder folder;
  Job job;
  job.devices = {0, 0};
  folder.write_ranks(job);
  const auto trace = read_rank_folder(folder.path());
  CHECK(devices_of(*trace) == std::vector<int>{0, 1});
  for_each(trace->spans(), [&](const Span& span, SpanId) {
    if (span.category != Category::kCollective) return;
    const Lane& lane = trace->lanes()[span.lane];
    CHECK(lane.device == lane.rank);
    CHECK(lane.group == "GPU " + std::to_string(lane.rank));
    CHECK(std::get<CollectiveDetail>(*trace->detail(span)).kernel.device == lane.rank);
  });
}

TEST_CASE("of a job some of whose ranks are missing nobody knows who came last") {
  const Folder folder;
  Job job;
  job.world = 4;
  job.come = {0, 0, 0, 400};
  job.clocks = {0, 0, 0, 3000};
  job.devices = {0, 1, 2, 3};
  folder.write_ranks(job, {0, 3});
  const auto trace = read_rank_folder(folder.path());
  CHECK_THAT(of(trace), Contains(", ranks 0 and 3 of 4, their clocks laid"));
  CHECK(ranks_of(*trace) == std::vector<int>{0, 3});
  CHECK(length_of(*trace, 0, Category::kSync) == 0);
  CHECK(length_of(*trace, 0, Category::kCollective) == kSums * 500'000);
}

TEST_CASE("a collective of fewer ranks joins nothing") {
  const Folder folder;
  Job job;
  job.world = 4;
  job.come = {0, 90, 0, 90};
  job.clocks = {0, 0, 0, 0};
  job.devices = {0, 1, 2, 3};
  job.group = ", \"Group size\": 2";
  folder.write_ranks(job, {0, 1, 2, 3});
  const auto trace = read_rank_folder(folder.path());
  CHECK_THAT(of(trace), EndsWith(", 4 ranks, ranks 1 to 3 without a collective in common with "
                                 "rank 0: by the clock of its file"));
  for (const int rank : {0, 1, 2, 3}) CHECK(length_of(*trace, rank, Category::kSync) == 0);
}

TEST_CASE("collectives that are not numbered and not equally many are not taken for one another") {
  const Folder folder;
  Job job, longer;
  longer.sums = kSums + 1;
  folder.write("rank0.json", job.file(0));
  folder.write("rank1.json", longer.file(1));
  CHECK_THAT(of(read_rank_folder(folder.path())), Contains("rank 1 without a collective"));
}

TEST_CASE("what only one rank's file says of itself is said of that rank") {
  const Folder folder;
  Job job, other;
  other.model = "GPU of theirs";
  folder.write("rank0.json", job.file(0));
  folder.write("rank1.json", other.file(1));
  CHECK_THAT(of(read_rank_folder(folder.path())),
             Contains("GPU of ours, rank 1: GPU of theirs, 2 ranks"));
}

TEST_CASE("without a collective in common the recorders' clocks decide") {
  const Folder folder;
  Job job;
  job.sums = 0;
  job.clocks = {0, 40};
  folder.write_ranks(job);
  const auto trace = read_rank_folder(folder.path());
  std::set<Nanos> starts;
  for_each(trace->spans(), [&](const Span& span, SpanId) { starts.insert(span.start); });
  CHECK(starts == std::set<Nanos>{0, 40'000});
}

TEST_CASE("the files that our writer has written of a run come back as they were") {
  for (const unsigned seed : {1U, 2U, 3U, 11U}) {
    const test::TemporaryFolder folder;
    const auto trace = test::RandomTrace(seed).make(12, 200);
    const std::vector<int> ranks = ranks_of(*trace);
    if (ranks.size() < 2) continue;
    write_chrome_folder(*trace, folder.path());
    const auto back = read_rank_folder(folder.path());
    CHECK(ranks_of(*back) == ranks);
    CHECK(back->origin().kind == trace->origin().kind);
    CHECK(back->origin().subject == trace->origin().subject);
    for (const int rank : ranks) CHECK(spans_of(*back, rank) == spans_of(*trace, rank));
    CHECK(back->dropped().size() == trace->dropped().size());
    const int first = ranks.front();
    CHECK(test::difference(*part_of_rank(*trace, first), *part_of_rank(*back, first)) == "");
  }
}

TEST_CASE("ranks that were laid on one clock as they were recorded stay on it") {
  const Folder job_folder, folder, later;
  Job job;
  job.clocks = {0, -777.5};
  job.come = {0, 250};
  job_folder.write_ranks(job);
  const auto trace = read_rank_folder(job_folder.path());
  Origin origin = trace->origin();
  origin.kind = OriginKind::kMeasured;
  origin.clock_start = 1'700'000'000'000'000'000;
  trace->set_origin(origin);
  write_chrome_folder(*trace, folder.path(), {}, ".json");
  const auto back = read_rank_folder(folder.path());
  CHECK(of(back) == origin.detail);
  for (const int rank : {0, 1}) CHECK(spans_of(*back, rank) == spans_of(*trace, rank));
  CHECK(length_of(*back, 0, Category::kSync) == kSums * 250'000);
  origin.clock_start += 1'000'000'000;
  trace->set_origin(origin);
  write_chrome_folder(*trace, later.path(), {}, ".json");
  std::filesystem::rename(later.path() / "rank_1.json", folder.path() / "rank_1.json");
  CHECK_THAT(folder.fault(), Contains("rank_0.json and rank_1.json are of different runs"));
}

TEST_CASE("a single file in a folder is read as it stands") {
  const Folder folder;
  Job job;
  job.says_rank = false;
  const auto file = folder.write("node_1234.json", job.file(1));
  CHECK(test::difference(*read_rank_folder(folder.path()), *read_chrome_trace(file)) == "");
}

TEST_CASE("a rank that no file says is in its name, or asked for") {
  const Folder folder;
  Job job;
  job.says_rank = false;
  folder.write_ranks(job);
  const auto trace = read_rank_folder(folder.path());
  CHECK(ranks_of(*trace) == std::vector<int>{0, 1});
  CHECK(trace->lanes()[0].group == "rank 0");
  folder.write("other.json", job.file(1));
  CHECK_THAT(folder.fault(), Contains("other.json: neither the file nor its name says which rank"));
}

TEST_CASE("a folder that is no job is refused in a sentence") {
  const Folder folder;
  CHECK_FALSE(is_rank_folder(folder.path()));
  CHECK_FALSE(is_rank_folder(folder.path() / "nowhere"));
  CHECK_THAT(folder.fault(), Contains("this folder holds no trace; it is read as the ranks"));
  folder.write("notes.txt", "{}");
  CHECK_FALSE(is_rank_folder(folder.path()));
  const Job job;
  folder.write_ranks(job);
  CHECK(folder.fault() == "none");
  folder.write("rank5.json", job.file(1));
  CHECK_THAT(folder.fault(), Contains("rank1.pt.trace.json and rank5.json are both of rank 1"));
}

TEST_CASE("a file of a folder that cannot be read is left out and counted") {
  const Folder folder;
  Job job;
  folder.write("rank0.json", "{\"a\": 1}");
  CHECK_THAT(folder.fault(), Contains("rank0.json"));
  folder.write("rank1.json", job.file(1).substr(0, 40));
  CHECK_THAT(folder.fault(), Contains("rank0.json"));
  folder.write_ranks(job);
  const auto trace = read_rank_folder(folder.path());
  CHECK(ranks_of(*trace) == std::vector<int>{0, 1});
  std::set<std::string> reasons;
  for_each(trace->dropped(),
           [&](const Dropped& one, std::uint32_t) { reasons.insert(one.reason); });
  CHECK(reasons.contains("file that cannot be read: rank0.json"));
  CHECK(reasons.contains("file that cannot be read: rank1.json"));
}

TEST_CASE("of files of a schedule that repeats, each rank's first are read") {
  const Folder folder;
  Job first, second;
  second.clocks = {9e6, 9e6};
  for (const int rank : {0, 1}) {
    folder.write(fmt::format("rank{}.1700.json", rank), first.file(rank));
    folder.write(fmt::format("rank{}.1600.json", rank), second.file(rank));
  }
  const auto trace = read_rank_folder(folder.path());
  CHECK(ranks_of(*trace) == std::vector<int>{0, 1});
  CHECK(trace->origin().clock_start == 1'000'000);
  CHECK_THAT(of(trace), Contains("the first of 2 recordings of each rank (rank0.1700.json)"));
  std::filesystem::remove(folder.path() / "rank1.1600.json");
  CHECK_THAT(folder.fault(), Contains("are both of rank 0"));
}

TEST_CASE("ranks wait for the last of those whose files are there") {
  const Folder folder;
  Job job;
  job.world = 4;
  job.clocks = {0, 0, 0, 0};
  job.come = {0, 0, 250, 40};
  job.devices = {0, 1, 2, 3};
  job.group = ", \"Group size\": 4";
  folder.write_ranks(job, {0, 2, 3});
  const auto trace = read_rank_folder(folder.path());
  CHECK(length_of(*trace, 0, Category::kSync) == kSums * 250'000);
  CHECK(length_of(*trace, 2, Category::kSync) == 0);
  CHECK(length_of(*trace, 3, Category::kSync) == kSums * 210'000);
}

TEST_CASE("ranks of jobs of different sizes are not mixed") {
  const Folder folder;
  folder.write("rank0.json", Job().file(0));
  Job other;
  other.world = 4;
  folder.write("rank1.json", other.file(1));
  CHECK_THAT(folder.fault(),
             Contains("rank0.json is of a job of 2 ranks and rank1.json of one of 4"));
}

TEST_CASE("ranks of different runs are not mixed") {
  const Folder folder;
  Trace one({OriginKind::kSimulated, "a machine", "native"});
  Span span;
  span.lane = one.add_lane({"stream 7", LaneKind::kStream, 0, 0, 0, 7, "GPU 0"});
  span.duration = 10;
  span.name = one.intern("kernel");
  one.add_span(span);
  write_chrome_trace(one, folder.path() / "rank_0.json");
  folder.write("rank_1.json", Job().file(1));
  CHECK_THAT(folder.fault(), Contains("rank_0.json and rank_1.json are of different runs"));
}
