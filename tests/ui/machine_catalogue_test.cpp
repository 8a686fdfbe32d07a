#include "ui/app/views/machine_catalogue.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/files.h"
#include "machine/figures.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

std::vector<std::string> found(const std::vector<CatalogueEntry>& catalogue,
                               const std::string& words) {
  std::vector<std::string> ids;
  for (const std::size_t i : matching_machines(catalogue, words)) ids.push_back(catalogue[i].id);
  return ids;
}

bool holds(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

TEST_CASE("every shipped machine is in the catalogue with its GPU, memory, PCIe and GPUs") {
  const auto catalogue = read_catalogue({});
  CHECK(catalogue.size() == machine::machine_ids().size());
  for (const CatalogueEntry& entry : catalogue) {
    CAPTURE(entry.id, entry.fault);
    REQUIRE(entry.machine);
    const std::string of_a_node = std::to_string(entry.machine->gpu_count);
    const int nodes = entry.machine->nodes;
    CHECK(entry.gpus == (nodes > 1 ? std::to_string(nodes) + " x " + of_a_node : of_a_node));
    CHECK(entry.memory.ends_with(" GiB"));
    CHECK(entry.pcie.find(std::to_string(entry.machine->pcie.generation)) == 0);
    CHECK_FALSE(entry.gpu.starts_with("NVIDIA"));
  }
}

TEST_CASE("machines are found by any words on their line, with and without blanks") {
  const auto catalogue = read_catalogue({});
  CHECK(found(catalogue, "").size() == catalogue.size());
  CHECK(found(catalogue, "zzz").empty());
  CHECK(found(catalogue, "h200-1") == std::vector<std::string>{"h200-1"});
  CHECK(holds(found(catalogue, "A100 80gb"), "a100-sxm-1"));
  CHECK_FALSE(holds(found(catalogue, "A100 80gb"), "a100-40-sxm-1"));
  CHECK(holds(found(catalogue, "x8 nvswitch"), "h200-8"));
  CHECK(holds(found(catalogue, "laptop"), "laptop-1"));
}

TEST_CASE("the data sheet has every figure once, with its value, its source and its note") {
  for (const std::string& id : machine::machine_ids()) {
    const machine::Machine machine = machine::load_machine(id);
    std::size_t rows = 0;
    for (const FigureGroup& group : figure_groups(machine)) {
      CAPTURE(id, group.title);
      CHECK_FALSE(group.title.empty());
      for (const FigureRow& row : group.rows) {
        CAPTURE(row.name);
        CHECK(row.name.find_first_of("._") == std::string::npos);
        CHECK_FALSE(row.value.empty());
        ++rows;
      }
    }
    CHECK(rows == machine::all_figures(machine).size());
  }
}

TEST_CASE("a figure is called by what it is, not by its key in the file") {
  const auto groups = figure_groups(machine::load_machine("h100-sxm-8"));
  const auto value_of = [&](const std::string& name) {
    std::string value;
    for (const FigureGroup& group : groups)
      for (const FigureRow& row : group.rows)
        if (row.name == name && group.title.starts_with("GPU")) value = row.value;
    return value;
  };
  CHECK(value_of("SMs") == "132");
  CHECK(value_of("threads an SM") == "2048");
  CHECK(value_of("L2 cache") == "50 MiB");
  CHECK(value_of("FP32 peak") == "67 TFLOP/s");
  CHECK(value_of("compute capability") == "9.0");
  CHECK(value_of("memory") == "79.2 GiB");
  const auto is_raw = [](const std::string& name) {
    for (const char* word : {"sm", "l2", "fp", "tf32", "h2d", "d2h", "nccl", "nvls", "gpu "})
      if (name.find(word) != std::string::npos) return true;
    return false;
  };
  for (const std::string& id : machine::machine_ids())
    for (const machine::Figure& figure : machine::load_machine(id).figures) {
      CAPTURE(figure.name);
      CHECK_FALSE(is_raw(machine::figure_name(figure.name)));
    }
}

TEST_CASE("a figure of a group that nobody has heard of is shown as any other") {
  machine::Machine machine = machine::load_machine("h200-1");
  machine.figures.push_back(
      {"disk_array.read_rate", 12345.5, "MB/s", machine::Provenance::kFitted, "a guess"});
  machine.figures.push_back({"disk_array.spindles", 12345, "", machine::Provenance::kMeasured, ""});
  const auto groups = figure_groups(machine);
  REQUIRE(groups.back().title == "Disk array");
  REQUIRE(groups.back().rows.size() == 2);
  CHECK(groups.back().rows[0].name == "read rate");
  CHECK(groups.back().rows[0].value == "12345.5 MB/s");
  CHECK(groups.back().rows[0].note == "a guess");
  CHECK(groups.back().rows[1].value == "12,345");
}

TEST_CASE("a machine file of one's own is listed, and one that cannot be read says why") {
  const auto folder = std::filesystem::temp_directory_path() / "trainscope-own-machine";
  std::filesystem::create_directories(folder);
  const std::string good = (folder / "mine.toml").string(), bad = (folder / "bad.toml").string();
  write_file(good, "base = \"h200-1\"\nname = \"my own\"\n");
  write_file(bad, "base = \"h20-1\"\n");
  const auto catalogue = read_catalogue({good, bad, "h200-1"});
  std::filesystem::remove_all(folder);
  REQUIRE(catalogue.size() == machine::machine_ids().size() + 2);
  const CatalogueEntry& own = catalogue[catalogue.size() - 2];
  CHECK(own.id == good);
  CHECK(own.name == "my own");
  CHECK_FALSE(catalogue.back().machine);
  CHECK(catalogue.back().fault.find("h200-1") != std::string::npos);
}
