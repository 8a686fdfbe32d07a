// Names of Python's functions, as PyTorch's profiler writes them.
#include "trace/python_frame.h"

#include <catch2/catch.hpp>

using namespace trainscope::trace;

TEST_CASE("a frame of Python's is told from an operator by its name") {
  for (const char* name :
       {"train.py(90): log_metrics", "torch/nn/modules/module.py(1775): _call_impl",
        "<string>(2): __init__", "C:\\Users\\me/x.py(3): f"}) {
    CAPTURE(name);
    CHECK(is_python_frame(name));
    CHECK(is_frame_of_file(name));
  }
  for (const char* name : {"<built-in function sleep>", "nn.Module: Linear_0"}) {
    CAPTURE(name);
    CHECK(is_python_frame(name));
    CHECK_FALSE(is_frame_of_file(name));
  }
  for (const char* name : {"aten::mm", "Optimizer.step#AdamW.step", "f(int): g", "autograd(): x",
                           "(7): x", "ProfilerStep#3", ""}) {
    CAPTURE(name);
    CHECK_FALSE(is_python_frame(name));
  }
}
