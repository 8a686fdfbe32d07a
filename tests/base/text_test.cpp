#include "base/text.h"

#include <catch2/catch.hpp>

using namespace trainscope;

TEST_CASE("a text that is too long keeps its two ends, in whole characters") {
  CHECK(without_middle("sm90_gemm_tn", 8, 4) == "sm90_gemm_tn");
  CHECK(without_middle("sm90_xmma_gemm_f16f16_f32_tn", 9, 2) == "sm90_xmma…tn");
  CHECK(without_middle("grüße und viele mehr aus Köln", 3, 3) == "gr…öln");
  CHECK(without_middle("", 3, 3).empty());
}
