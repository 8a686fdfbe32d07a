// Which phase of training a recorded kernel belongs to.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "trace/given_events.h"

using namespace trainscope;
using namespace trainscope::trace;
using test::events;

TEST_CASE("a kernel has the phase of the host work around its launch") {
  const auto launch = [](int at, int correlation) {
    return fmt::format(
        R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
             "ts": {0}, "dur": 1, "args": {{"correlation": {1}}}}},
           {{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5{0}, "dur": 1,
             "args": {{"stream": 7, "correlation": {1}}}}})",
        at, correlation);
  };
  const auto host = [](const std::string& name, int at, int length) {
    return fmt::format(
        R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 1, "tid": 1, "ts": {}, "dur": {}}},)",
        name, at, length);
  };
  const auto trace = events(
      host("Net.forward", 0, 100) + host("autograd::engine::evaluate_function: B", 100, 100) +
      host("checkpointed.forward", 150, 20) + host("Optimizer.step#SGD.step", 200, 50) +
      host("loss.forward_backward", 250, 50) + launch(10, 1) + "," + launch(110, 2) + "," +
      launch(155, 3) + "," + launch(190, 4) + "," + launch(210, 5) + "," + launch(260, 6));
  std::vector<Category> found;
  for (SpanId id = 0; id < trace->spans().size(); ++id)
    if (is_kernel(trace->spans()[id].category)) found.push_back(trace->spans()[id].category);
  CHECK(found == std::vector<Category>{Category::kForward, Category::kBackward, Category::kBackward,
                                       Category::kBackward, Category::kOptimizer,
                                       Category::kKernel});
}

TEST_CASE("an operator of 2021 is forward if it makes the node that a later backward names") {
  // name, thread, start, length, number of the node, whether it is its backward.
  const auto call = [](const char* name, int tid, int at, int length, int node, int forward = 0) {
    return fmt::format(
        R"({{"ph": "X", "cat": "Operator", "name": "{}", "pid": 1, "tid": {}, "ts": {}, "dur": {},
             "args": {{"Fwd thread id": {}, "Sequence number": {}}}}},)",
        name, tid, at, length, forward, node);
  };
  int launches = 0;
  const auto launch = [&](int tid, int at) {
    ++launches;
    return fmt::format(
        R"({{"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": {0},
             "ts": {1}, "dur": 1, "args": {{"correlation": {2}}}}},
           {{"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 9{1},
             "dur": 1, "args": {{"stream": 7, "correlation": {2}}}}},)",
        tid, at, launches);
  };
  std::string text = call("aten::zero_", 1, 100, 10, 4) + launch(1, 101) +  // of no node
                     call("aten::conv2d", 1, 120, 40, 4) + launch(1, 125) +
                     call("aten::cudnn_convolution", 1, 130, 10, 4) + launch(1, 131) +
                     launch(1, 150) +                                           // its bias
                     call("aten::add_", 1, 170, 10, 5) + launch(1, 171) +       // a count
                     call("aten::batch_norm", 1, 190, 10, 5) + launch(1, 191);  // node 5
  text += call("aten::zero_", 1, 200, 10, 6) + launch(1, 201) +
          call("BatchNormBackward", 2, 220, 10, 5, 1) + launch(2, 221) +
          call("ConvBackward", 2, 240, 10, 4, 1) + launch(2, 241) +
          call("aten::mul", 1, 260, 10, 6) + launch(1, 261) +  // no backward has it
          call("aten::conv2d", 1, 280, 10, 7) + launch(1, 281) +
          call("ConvBackward", 2, 300, 10, 7, 1) + launch(2, 301);
  text.pop_back();
  const auto trace = events(text);
  std::vector<Category> found;
  for (SpanId id = 0; id < trace->spans().size(); ++id)
    if (is_kernel(trace->spans()[id].category)) found.push_back(trace->spans()[id].category);
  constexpr Category kNo = Category::kKernel, kForward = Category::kForward,
                     kBackward = Category::kBackward;
  CHECK(found == std::vector<Category>{kNo, kForward, kForward, kForward, kForward, kForward, kNo,
                                       kBackward, kBackward, kNo, kForward, kBackward});
}

TEST_CASE("on autograd's own thread a kernel outside of its functions is backward") {
  const auto work = [](int tid, int at, int correlation) {
    return fmt::format(
        R"({{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": {0}, "ts": {1},
             "dur": 4}},
           {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": {0},
             "ts": {1}, "dur": 1, "args": {{"correlation": {2}}}}},
           {{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5{1}, "dur": 1,
             "args": {{"stream": 7, "correlation": {2}}}}},)",
        tid, at, correlation);
  };
  const auto mark = [](int tid, const char* name, int at) {
    return fmt::format(
        R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 1, "tid": {}, "ts": {}, "dur": 9}},)",
        name, tid, at);
  };
  const auto category = [&](const std::string& marks) {
    std::string list = marks + work(2, 150, 1);
    list.pop_back();
    const auto trace = events(list);
    for (SpanId id = 0; id < trace->spans().size(); ++id)
      if (trace->name(trace->spans()[id]) == "k") return trace->spans()[id].category;
    return Category::kOther;
  };
  const std::string backward = mark(2, "autograd::engine::evaluate_function: B", 100);
  CHECK(category(backward) == Category::kBackward);
  CHECK(category(backward + mark(2, "Net.forward", 20)) == Category::kKernel);
  CHECK(category(mark(1, "autograd::engine::evaluate_function: B", 100)) == Category::kKernel);
  CHECK(category("") == Category::kKernel);
}
