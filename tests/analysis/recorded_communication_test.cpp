// What is advised of recorded collectives, by what they are, and of kernels that no operator tells
// of.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "analysis/causes/diagnosis.h"
#include "support/made_trace.h"

using namespace trainscope;
using Catch::Matchers::Contains;
using test::MadeTrace;
using trace::Category;
using trace::LaneKind;

namespace {

analysis::Run run_of(const std::shared_ptr<MadeTrace>& made) {
  analysis::Run run;
  run.trace = std::shared_ptr<const trace::Trace>(made, &made->trace);
  analysis::analyse(run);
  return run;
}

// Of a GPU that for the most part does this, with no kernel beside it.
std::string advice_of(const char* operation, const char* group, const char* type = "Float") {
  const auto made = std::make_shared<MadeTrace>(trace::OriginKind::kImported);
  const auto thread = made->lane(LaneKind::kHostThread), stream = made->lane(LaneKind::kStream, 0);
  for (std::uint32_t i = 0; i < 10; ++i) {
    const Nanos at = 1'000'000 * Nanos{i};
    made->add(thread, "cudaLaunchKernel", at, at + 5'000, Category::kHostApi, 2 * i + 1);
    made->add(stream, "gemm", at + 10'000, at + 200'000, Category::kKernel, 2 * i + 1);
    made->add(thread, "cudaLaunchKernelExC", at + 6'000, at + 9'000, Category::kHostApi, 2 * i + 2);
    trace::CollectiveDetail detail;
    detail.operation = operation;
    detail.group = group;
    detail.type = type;
    detail.group_size = 8;
    trace::Span span;
    span.lane = stream;
    span.name = made->trace.intern("ncclDevKernel");
    span.start = at + 200'000;
    span.duration = 790'000;
    span.category = Category::kCollective;
    span.correlation = 2 * i + 2;
    span.detail = made->trace.add_detail(detail);
    made->trace.add_span(span);
  }
  for (const analysis::Finding& one : analysis::diagnose(run_of(made)))
    if (one.part == analysis::Part::kExposedCommunication) return one.advice;
  return "";
}

}  // namespace

TEST_CASE("what is advised of a recorded collective follows from what it is") {
  CHECK_THAT(advice_of("allreduce", "0"), Contains("bucket_cap_mb"));
  for (const char* operation : {"_allgather_base", "_reduce_scatter_base"})
    CHECK_THAT(advice_of(operation, "0"),
               Contains("reshard_after_forward") && !Contains("bucket_cap_mb"));
  CHECK_THAT(advice_of("all_to_allv", "0"), Contains("experts") && !Contains("bucket_cap_mb"));
  CHECK_THAT(advice_of("allreduce", "8 (TENSOR_MODEL_PARALLEL_GROUP)"),
             Contains("fewer ranks to a model") && !Contains("bucket_cap_mb"));
  CHECK_THAT(advice_of("send", "3"), Contains("micro-batches") && !Contains("bucket_cap_mb"));
}

TEST_CASE("gathering in BF16 is not advised where parameters are gathered so") {
  CHECK_THAT(advice_of("_allgather_base", "0", "Float"), Contains("gathering in BF16"));
  CHECK_THAT(advice_of("_allgather_base", "0", "BFloat16"), !Contains("gathering in BF16"));
}

TEST_CASE("where no operator tells what kernels are of, the longest of them are named") {
  const auto made = std::make_shared<MadeTrace>(trace::OriginKind::kImported);
  const auto stream = made->lane(LaneKind::kStream, 0);
  made->add(stream, "gemm", 0, 900, Category::kKernel);
  made->add(stream, "gelu", 900, 1000, Category::kKernel);
  const std::vector<analysis::Finding> findings = analysis::diagnose(run_of(made));
  REQUIRE_FALSE(findings.empty());
  CHECK(findings[0].why == "longest in gemm (900 ns), gelu (100 ns)");
}
