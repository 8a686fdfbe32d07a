#include "base/text.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

using namespace trainscope;

TEST_CASE("a text that is too long keeps its two ends, in whole characters") {
  CHECK(without_middle("sm90_gemm_tn", 8, 4) == "sm90_gemm_tn");
  CHECK(without_middle("sm90_xmma_gemm_f16f16_f32_tn", 9, 2) == "sm90_xmma…tn");
  CHECK(without_middle("grüße und viele mehr aus Köln", 3, 3) == "gr…öln");
  CHECK(without_middle("", 3, 3).empty());
}

TEST_CASE("a list of words has what is between them between them alone") {
  CHECK(joined(std::vector<std::string>{}).empty());
  CHECK(joined(std::vector<std::string>{"a"}) == "a");
  CHECK(joined(std::vector<std::string_view>{"a", "b", "c"}) == "a, b, c");
  CHECK(joined(std::vector<std::string>{"a", "b"}, " and ") == "a and b");
  std::string list;
  for (const char* word : {"host", "GPU"}) add_to_list(list, word, "; ");
  CHECK(list == "host; GPU");
}

TEST_CASE("a text contains its parts and itself, and nothing longer") {
  CHECK(contains("ncclDevKernel_AllReduce", "AllReduce"));
  CHECK(contains("AllReduce", "AllReduce"));
  CHECK_FALSE(contains("Reduce", "AllReduce"));
}
