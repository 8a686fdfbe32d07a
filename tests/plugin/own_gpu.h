// A device of the plug-in for a test, over libraries that stand in for NVIDIA's.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "cuda/plugin_loader.h"
#include "plugin/stand_in_function.h"
#include "support/config.h"
#include "trace/trace.h"

namespace trainscope::test {

// One of its own for a case, after which nothing is left and no rule is broken.
class Gpu {
 public:
  Gpu() : device_(cuda::open_device(cuda::plugin_folder())) {
    broken_ = stand_in_function<int()>("trainscope_stand_in_broken");
    left_ = stand_in_function<const char*()>("trainscope_stand_in_left");
    before_ = broken_();
  }
  ~Gpu() {
    device_.reset();
    CHECK(broken_() == before_);
    CHECK(left_() == std::string());
  }
  cuda::DeviceCalls& operator*() { return *device_; }
  cuda::DeviceCalls* operator->() { return device_.get(); }

 private:
  cuda::OpenDevice device_;
  int (*broken_)() = nullptr;
  const char* (*left_)() = nullptr;
  int before_ = 0;
};

// Whether the words of the environment name it.
inline bool is_told(const char* word) {
  const char* words = std::getenv("TRAINSCOPE_STAND_IN");
  return words && std::string(words).find(word) != std::string::npos;
}
inline bool is_missing(const std::string& library) {
  return is_told(("without=" + library).c_str());
}

// Sums are in another order.
inline constexpr double kFp32 = 1e-4;

inline const Settings kMlp{"workload=train",  "model.name=mlp", "data.name=digits",   "steps=4",
                           "model.hidden=20", "batch_size=8",   "loop.evaluate=false"};
inline const Settings kCnn{
    "workload=train", "model.name=cnn", "data.name=digits",       "steps=3",
    "batch_size=2",   "precision=fp32", "cudnn.allow_tf32=false", "loop.evaluate=false"};
inline const Settings kGpt{
    "workload=train", "model.name=gpt-mini", "data.name=text", "steps=3",
    "model.width=8",  "model.blocks=1",      "model.heads=2",  "model.seq_len=4",
    "batch_size=2",   "loop.evaluate=false"};

inline std::int64_t dropped(const trace::Trace& trace, const std::string& reason) {
  std::int64_t count = 0;
  trace::for_each(trace.dropped(), [&](const trace::Dropped& one, std::uint32_t) {
    if (one.reason == reason) count += one.count;
  });
  return count;
}

}  // namespace trainscope::test
