#include "report/data_sheet.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "base/temporary_folder.h"
#include "machine/figures.h"

using namespace trainscope;
using Catch::Matchers::Contains;

namespace {

std::size_t characters(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string with_note(const std::string& note) {
  const test::TemporaryFolder folder;
  const auto file =
      folder.write("my.toml",
                   "base = \"t4-1\"\n[host]\ncores = { value = 4, source = \"measured\", "
                   "note = \"" +
                       note + "\" }\n");
  return report::data_sheet(machine::load_machine(file.string()));
}

}  // namespace

TEST_CASE("a data sheet has every figure, its source and its note, in 80 columns") {
  for (const std::string& id : machine::machine_ids()) {
    CAPTURE(id);
    const machine::Machine machine = machine::load_machine(id);
    const std::string sheet = report::data_sheet(machine);
    std::istringstream lines(sheet);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(characters(line) <= 80);
      CHECK((line.empty() || line.back() != ' '));
    }
    std::string words;  // without the breaks of lines
    std::istringstream stream(sheet);
    for (std::string word; stream >> word;) words += word + " ";
    for (const machine::Figure& figure : machine::all_figures(machine)) {
      CAPTURE(figure.name);
      CHECK_THAT(words, Contains(figure.name.substr(figure.name.find('.') + 1)));
      CHECK_THAT(words, Contains(figure.note));
    }
    CHECK_THAT(words, Contains(machine.gpu.name) && Contains(machine.name));
    CHECK(sheet.back() == '\n');
  }
}

TEST_CASE("a line of the sheet is key, value, source and meaning") {
  const std::string sheet = report::data_sheet(machine::load_machine("h200-8x2"));
  const auto line = [](const std::string& key, const std::string& value) {
    return "\n  " + key + std::string(31 - key.size() - value.size(), ' ') + value + "  ";
  };
  CHECK_THAT(sheet, Contains(line("gpu_count", "8") + "datasheet  GPUs of one node\n"));
  CHECK_THAT(sheet, Contains(line("nodes", "2") + "datasheet  nodes, each with its own host\n"));
  CHECK_THAT(sheet, Contains(line("compute_capability", "9.0") + "datasheet  what the GPU can do"));
  CHECK_THAT(sheet, Contains(line("h2d", "55.43 GB/s") + "measured   large pinned copies"));
  CHECK_THAT(sheet, Contains("\nLink between GPUs: nvswitch" + line("bandwidth", "450 GB/s")));
  CHECK_THAT(sheet, Contains(line("peer_to_peer", "yes") + "datasheet"));
  CHECK_THAT(sheet, Contains("\nNetwork between nodes" + line("bandwidth", "400 GB/s")));
  CHECK_THAT(sheet, Contains("73 figures: "));
}

TEST_CASE("groups hold what a machine has and nothing else") {
  const auto one = report::sheet_groups(machine::load_machine("t4-1"));
  REQUIRE(one.size() == 5);
  CHECK(one[0].title == "Machine");
  CHECK(one[1].remark == "NVIDIA T4");
  CHECK(one[1].lines.size() == 21);
  CHECK(one[4].lines.front().key == "cores");
  CHECK(one[4].lines.front().meaning == "processor cores of one node");
  CHECK(report::sheet_groups(machine::load_machine("h200-8")).size() == 7);
  CHECK(report::sheet_groups(machine::load_machine("h200-8x2")).size() == 8);
}

TEST_CASE("the latencies that no file has are listed with their source") {
  for (const char* id : {"a100-sxm-1", "h200-1", "rtx4090-1"}) {
    CAPTURE(id);
    const auto groups = report::sheet_groups(machine::load_machine(id));
    REQUIRE(groups[2].title == "SMs of its compute capability");
    REQUIRE(groups[2].lines.size() == 5);
    const report::SheetLine& memory = groups[2].lines[1];
    CHECK(memory.key == "memory_latency");
    CHECK(memory.value == "400 cycles");
    CHECK_THAT(memory.note, Contains("PMC10448217"));
    const bool carried = std::string(id) == "rtx4090-1";
    CHECK((memory.note.find("carried over") != std::string::npos) == carried);
    CHECK((memory.provenance == machine::Provenance::kFitted) == carried);
  }
}

TEST_CASE("the sources of a machine are counted") {
  const machine::Machine machine = machine::load_machine("h200-8");
  int sum = 0;
  for (const report::SourceCount& count : report::count_sources(machine)) {
    CHECK(count.figures > 0);
    sum += count.figures;
  }
  CHECK(sum == static_cast<int>(machine::all_figures(machine).size()));
}

TEST_CASE("a note of one's own is wrapped and never cut") {
  const std::string word(100, 'x');
  CHECK_THAT(with_note("at home " + word), Contains("\n      at home\n      " + word + "\n"));
  const std::string sheet = with_note(
      "gemessen \u00fcber Nacht, gr\u00f6\u00dfer als sonst, sehr sehr sehr sehr lange "
      "Erkl\u00e4rung dazu");
  std::istringstream lines(sheet);
  for (std::string line; std::getline(lines, line);) CHECK(characters(line) <= 80);
}
