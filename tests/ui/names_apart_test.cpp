// Names that are cut to fit, and still told apart.
#include "ui/app/views/names_apart.h"

#include <catch2/catch.hpp>

using namespace trainscope::ui;

namespace {

constexpr std::size_t kFits = 20;  // bytes, of which "…" takes three

std::string cut_middle(std::string_view name) {
  if (name.size() <= kFits) return std::string(name);
  return std::string(name.substr(0, 8)) + "…" + std::string(name.substr(name.size() - 9));
}

std::string cut_end(std::string_view name) {
  return name.size() <= kFits ? std::string(name) : std::string(name.substr(0, kFits - 3)) + "…";
}

std::vector<std::string> apart(const std::vector<std::string>& names) {
  return cut_apart(names, cut_middle, cut_end);
}

}  // namespace

TEST_CASE("names that read the same without their middles begin with what tells them apart") {
  CHECK(
      apart({"ncclDevKernel_AllReduce_Sum_RING_LL", "gemm", "ncclDevKernel_Reduce_Sum_RING_LL"}) ==
      std::vector<std::string>{"…AllReduce_Sum_…", "gemm", "…Reduce_Sum_RIN…"});
  // What a word does not tell, its letters do.
  const auto letters =
      apart({"aaaaaaaaaaaaaaaaaaaaaaXaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaYaaaaaaaaaaaaa"});
  CHECK(letters[0] != letters[1]);
  CHECK(letters[0].starts_with("…X"));
}

TEST_CASE("names that differ where they are not cut keep their beginnings and ends") {
  const std::vector<std::string> names = {
      "elementwise_kernel_of_adam", "elementwise_kernel_of_cast", "elementwise_kernel_of_adam"};
  const auto cut = apart(names);
  CHECK(cut[0] == cut_middle(names[0]));
  CHECK(cut[1] == cut_middle(names[1]));
  CHECK(cut[2] == cut[0]);
}
