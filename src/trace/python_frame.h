// Whether a host's span is a frame of Python's, by the name that PyTorch's profiler gives those of
// with_stack=True (torch/csrc/autograd/profiler_python.cpp).
#pragma once

#include <string_view>

namespace trainscope::trace {

// "train.py(90): log_metrics", "<built-in function sleep>", "nn.Module: Linear_0".
bool is_python_frame(std::string_view name);

// "train.py(90): log_metrics": it says in which file.
bool is_frame_of_file(std::string_view name);

}  // namespace trainscope::trace
