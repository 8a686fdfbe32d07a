#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>

#include "machine/machine.h"

using namespace trainscope::machine;

TEST_CASE("a host that does not say how fast it locks pages is given what was measured") {
  for (const char* id : {"t4-1", "v100-sxm-1", "rtx4090-1"}) {
    const Machine machine = load_machine(id);
    CHECK(machine.host.page_lock_bytes_per_s == Approx(1.63e9));
    const auto figure = std::ranges::find(machine.figures, "host.page_lock", &Figure::name);
    REQUIRE(figure != machine.figures.end());
    CHECK(std::prev(figure)->name == "host.memcpy_back");
    CHECK(figure->provenance == Provenance::kFitted);
  }
  CHECK(load_machine("h200-8x2").host.page_lock_bytes_per_s == Approx(1.26e9));
}
