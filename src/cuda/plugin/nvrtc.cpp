#include "cuda/plugin/nvrtc.h"

#include <array>
#include <cstddef>
#include <vector>

#include "cuda/plugin/kernel_headers.h"

namespace trainscope::cuda {
namespace {

// NVRTC's C interface (its reference, "User Interface"), as far as it is used: nothing is included
// so that it also works where the toolkit is not.
struct NvrtcProgram;
using Program = NvrtcProgram*;
using Status = int;
constexpr Status kSuccess = 0;

}  // namespace

struct Nvrtc::Functions {
  Status (*create)(Program*, const char*, const char*, int, const char* const*,
                   const char* const*) = nullptr;
  Status (*destroy)(Program*) = nullptr;
  Status (*compile)(Program, int, const char* const*) = nullptr;
  Status (*log_size)(Program, std::size_t*) = nullptr;
  Status (*log)(Program, char*) = nullptr;
  Status (*code_size)(Program, std::size_t*) = nullptr;
  Status (*code)(Program, char*) = nullptr;

  bool find(const Library& library) {
    const auto get = [&](auto& function, const char* name) { return library.find(function, name); };
    return get(create, "nvrtcCreateProgram") && get(destroy, "nvrtcDestroyProgram") &&
           get(compile, "nvrtcCompileProgram") && get(log_size, "nvrtcGetProgramLogSize") &&
           get(log, "nvrtcGetProgramLog") && get(code_size, "nvrtcGetCUBINSize") &&
           get(code, "nvrtcGetCUBIN");
  }
};

namespace {

std::string taken(Status (*size_of)(Program, std::size_t*), Status (*get)(Program, char*),
                  Program program) {
  std::size_t size = 0;
  if (size_of(program, &size) != kSuccess || size == 0) return "";
  std::string bytes(size, '\0');
  return get(program, bytes.data()) == kSuccess ? bytes : "";
}

// Text that ends in a zero.
std::string without_end(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace

Nvrtc::Nvrtc() : library_({"libnvrtc.so.13", "libnvrtc.so.12"}) {
  if (!library_.is_there()) {
    why_not_ = "NVRTC is missing (" + library_.why_not() + ")";
  } else if (!Functions().find(library_)) {
    why_not_ = "NVRTC is older than CUDA 12";
  }
}

Compiled Nvrtc::compile(const std::string& text, int capability) const {
  Functions nvrtc;
  if (!why_not_.empty() || !nvrtc.find(library_)) return {"", why_not_};
  std::vector<const char*> names, texts;
  for (const KernelHeader& header : kernel_headers()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  Program program = nullptr;
  if (nvrtc.create(&program, text.c_str(), "chain.cu", static_cast<int>(names.size()), texts.data(),
                   names.data()) != kSuccess)
    return {"", "NVRTC made no program"};
  const std::string architecture = "--gpu-architecture=sm_" + std::to_string(capability);
  const std::array options{architecture.c_str(), "--std=c++20",
                           "--device-as-default-execution-space", "--ptxas-options=-v"};
  const Status status = nvrtc.compile(program, static_cast<int>(options.size()), options.data());
  Compiled compiled;
  compiled.log = without_end(taken(nvrtc.log_size, nvrtc.log, program));
  if (status == kSuccess) compiled.code = taken(nvrtc.code_size, nvrtc.code, program);
  nvrtc.destroy(&program);
  return compiled;
}

}  // namespace trainscope::cuda
