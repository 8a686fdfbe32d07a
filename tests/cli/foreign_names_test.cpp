// Traces of others: what their names and headers say reaches a terminal as words.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.h"

using namespace trainscope::test;

namespace {

// A call and a kernel that would clear the terminal and colour what comes after them.
constexpr const char* kSteering = R"({"traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::\u001b[2Jmm", "pid": 9, "tid": 9, "ts": 1, "dur": 5},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 2,
   "dur": 2, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "red\u001b[31m\r\u0007kernel", "pid": 0, "tid": 7, "ts": 8,
   "dur": 9, "args": {"device": 0, "stream": 7, "correlation": 1}}]})";

}  // namespace

TEST_CASE("names of a trace that would steer the terminal are spelled out") {
  const Folder folder;
  const std::string trace = folder.file("t.json"), saved = folder.file("t.tsrun");
  std::ofstream(trace) << kSteering;
  for (const std::string& command :
       {"import " + trace + " --save " + saved, "run " + saved, "import " + trace + " " + trace,
        "compare " + trace + " " + trace}) {
    const Result result = run(command);
    INFO(command << "\n" << result.err);
    CHECK(result.code == 0);
    for (const char control : {'\x1b', '\r', '\a'})
      CHECK((result.out + result.err).find(control) == std::string::npos);
    const bool lists_kernels =
        command.find(trace + " " + trace) == std::string::npos || command.starts_with("compare");
    if (lists_kernels) CHECK_THAT(result.out, Catch::Contains("red\\x1b[31m\\x0d\\x07kernel"));
  }
}

TEST_CASE("figures stand beside the longest name of a kernel, and no two names read alike") {
  const std::string matrix = "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_";
  const std::string kernels[] = {matrix + "tilesize128x128x16_stage4_execute_kernel_cudnn",
                                 "a_" + matrix + "tilesize64x64x16_stage4_execute_kernel_cudnn",
                                 "a_" + matrix + "tilesize64x32x16_stage4_execute_kernel_cudnn"};
  nlohmann::json events = nlohmann::json::array();
  for (int i = 0; i < 3; ++i)
    events.push_back({{"ph", "X"},
                      {"cat", "kernel"},
                      {"name", kernels[i]},
                      {"pid", 0},
                      {"tid", 7},
                      {"ts", 100 * i},
                      {"dur", 50},
                      {"args", {{"device", 0}, {"stream", 7}}}});
  const Folder folder;
  const std::string trace = folder.file("t.json");
  std::ofstream(trace) << nlohmann::json{{"traceEvents", events}}.dump();
  const std::string out = run("import " + trace).out;
  const std::string table = out.substr(out.find("operation of the GPU"));
  CHECK_THAT(table,
             Catch::Contains("sm80_xmma_fprop_implicit_gemm_indexed_tf32f3…xecute_kernel_cudnn"));
  CHECK_THAT(table, !Catch::Contains(kernels[0] + "  "));
  CHECK_THAT(table, Catch::Contains(kernels[1] + "  "));
  CHECK_THAT(table, Catch::Contains(kernels[2] + "  "));
}

TEST_CASE("ranks whose files lost their header are of a job that has as many at least") {
  const Folder folder;
  const auto rank_file = [&](int rank) {
    return folder.file("t/rank_" + std::to_string(rank) + ".json");
  };
  REQUIRE(run("run --machine dgx1-v100-8 --set model.name=resnet18 --set batch_size=4 --set "
              "parallel.strategy=ddp --set parallel.world_size=3 --set steps=2 --trace " +
              folder.file("t.json"))
              .code == 0);
  for (const int rank : {0, 1, 2}) {
    auto content = nlohmann::ordered_json::parse(read(rank_file(rank)));
    REQUIRE(content.erase("distributedInfo") == 1);
    std::ofstream(rank_file(rank)) << content.dump();
  }
  const std::string folder_of_ranks = folder.file("t");
  CHECK_THAT(run("import " + folder_of_ranks).out, !Catch::Contains(" of 0"));
  std::filesystem::remove(rank_file(1));
  CHECK_THAT(run("import " + folder_of_ranks).out, Catch::Contains("ranks 0 and 2 of 3"));
}
