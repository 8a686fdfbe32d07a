// NVRTC's part: compiles the texts that are kept, to their numbers.

#include <nvrtc.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/kept_texts.h"
#include "stand_in/symbols.h"

struct _nvrtcProgram {
  std::string text;
  std::vector<std::string> headers;
  std::string log;
  std::string code;
};

namespace {

constexpr const char* kEntryHeader = "kernels/compiled_chain.cuh";

nvrtcResult taken(const std::string& text, char* to) {
  std::memcpy(to, text.c_str(), text.size() + 1);
  return NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* text, const char*, int headers,
                               const char* const* texts, const char* const* names) {
  *program = new _nvrtcProgram{text, {}, {}, {}};
  for (int i = 0; i < headers; ++i)
    if (std::strlen(texts[i]) > 0) (*program)->headers.emplace_back(names[i]);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  static const auto& texts = *new std::vector<std::string>(trainscope::test::kept_texts());
  const auto found = std::find(texts.begin(), texts.end(), program->text);
  const auto has = [&](std::string_view option) {
    return std::find(options, options + count, option) != options + count;
  };
  if (!has("--gpu-architecture=sm_90") ||
      !std::count(program->headers.begin(), program->headers.end(), kEntryHeader)) {
    program->log = "wrong architecture, or a header is missing";
    return NVRTC_ERROR_COMPILATION;
  }
  if (found == texts.end()) {
    program->log = "nothing stands in for this text";
    return NVRTC_ERROR_COMPILATION;
  }
  program->code = std::to_string(found - texts.begin());
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* size) {
  *size = program->log.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  return taken(program->log, log);
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* size) {
  *size = program->code.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* code) {
  return taken(program->code, code);
}

}  // extern "C"

trainscope::stand_in::Symbols trainscope::stand_in::nvrtc_symbols() {
  return {TRAINSCOPE_SYMBOL(nvrtcCreateProgram),  TRAINSCOPE_SYMBOL(nvrtcDestroyProgram),
          TRAINSCOPE_SYMBOL(nvrtcCompileProgram), TRAINSCOPE_SYMBOL(nvrtcGetProgramLogSize),
          TRAINSCOPE_SYMBOL(nvrtcGetProgramLog),  TRAINSCOPE_SYMBOL(nvrtcGetCUBINSize),
          TRAINSCOPE_SYMBOL(nvrtcGetCUBIN)};
}
