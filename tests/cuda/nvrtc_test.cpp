// What NVRTC makes of the texts of real models' chains. It needs no GPU; where it is missing this
// is skipped.

#include "cuda/plugin/nvrtc.h"

#include <catch2/catch.hpp>

#include "cuda/kept_chains.h"
#include "support/skip.h"

using namespace trainscope;
using Catch::Contains;

namespace {

// Whether every kernel keeps its registers: none lie in memory.
bool has_no_local_memory(const std::string& log) {
  bool none = log.find(" bytes stack frame") != std::string::npos;
  for (std::size_t at = 0; (at = log.find(" bytes stack frame", at)) != std::string::npos; ++at)
    none = none && at >= 2 && log.compare(at - 2, 2, " 0") == 0;
  return none;
}

}  // namespace

TEST_CASE("NVRTC compiles the chains of real models, and leaves none of their values in memory") {
  const cuda::Nvrtc nvrtc;
  if (!nvrtc.why_not().empty()) TRAINSCOPE_SKIP(nvrtc.why_not());
  const auto texts = test::kept_texts();
  REQUIRE(!texts.empty());
  for (const int capability : {75, 90})
    for (const std::string& text : texts) {
      const cuda::Compiled compiled = nvrtc.compile(text, capability);
      INFO("compute capability " << capability << "\n" << text << compiled.log);
      CHECK_FALSE(compiled.code.empty());
      CHECK(has_no_local_memory(compiled.log));
      CHECK_THAT(compiled.log, !Contains("warning"));
    }
}

TEST_CASE("what NVRTC does not compile is no code, and the log says why") {
  const cuda::Nvrtc nvrtc;
  if (!nvrtc.why_not().empty()) TRAINSCOPE_SKIP(nvrtc.why_not());
  const cuda::Compiled compiled = nvrtc.compile("this is no C++;", 90);
  CHECK(compiled.code.empty());
  CHECK_THAT(compiled.log, Contains("error"));
}
