#include "report/data_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "machine/figures.h"
#include "machine/topology.h"

namespace trainscope::report {
namespace {

using machine::Figure;
using machine::Machine;
using machine::Provenance;

struct Part {
  std::string_view prefix;  // of the figures' names
  std::string_view title;
};
constexpr std::array kParts{Part{"", "Machine"},
                            Part{"gpu.", "GPU"},
                            Part{"architecture.", "SMs of its compute capability"},
                            Part{"pcie.", "PCIe link of one GPU"},
                            Part{"host.", "Host"},
                            Part{"gpu_link.", "Link between GPUs"},
                            Part{"pcie_tree.", "GPUs on the processors"},
                            Part{"network.", "Network between nodes"}};

bool is_in(const Figure& figure, std::string_view prefix) {
  return prefix.empty() ? figure.name.find('.') == std::string::npos
                        : figure.name.starts_with(prefix);
}

SheetLine line_of(const Figure& figure, std::string_view prefix) {
  return {figure.name.substr(prefix.size()), machine::value_of(figure),
          std::string(machine::meaning_of(figure.name)), figure.provenance, figure.note};
}

std::string remark_of(const Machine& machine, std::string_view prefix) {
  if (prefix == "gpu.") return machine.gpu.name;
  if (prefix == "architecture.") return fmt::format("{:.1f}", machine.gpu.compute_capability);
  if (prefix == "gpu_link.") return machine::name_of(machine.gpu_link.kind);
  return "";
}

// Characters of UTF-8 text, not bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

constexpr std::size_t kWidth = 80;
constexpr std::size_t kFigureWidth = 31;  // a key at its left and a value at its right
constexpr std::size_t kSourceWidth = 9;
constexpr std::size_t kMeaningAt = 2 + kFigureWidth + 2 + kSourceWidth + 2;
constexpr std::size_t kNoteAt = 6;

std::string padded(std::string_view text, std::size_t width) {
  std::string result(text);
  if (width_of(text) < width) result.append(width - width_of(text), ' ');
  return result;
}

// Adds words to a line that is begun, and to further lines that begin at `column`.
void add_words(std::string& text, std::string_view words, std::size_t column) {
  std::istringstream stream{std::string(words)};
  std::size_t used = width_of(std::string_view(text).substr(text.rfind('\n') + 1));
  bool first = true;
  for (std::string word; stream >> word;) {
    const std::size_t width = width_of(word);
    if (!first && used + 1 + width > kWidth) {
      text += '\n';
      text.append(column, ' ');
      used = column;
    } else if (!first) {
      text += ' ';
      ++used;
    }
    text += word;
    used += width;
    first = false;
  }
}

void add_line(std::string& text, const SheetLine& line, bool with_note) {
  const std::size_t used = width_of(line.key) + width_of(line.value);
  const std::size_t space = used < kFigureWidth ? kFigureWidth - used : 1;
  std::string row = "  " + line.key;
  row.append(space, ' ');
  row += line.value + "  " + padded(machine::name_of(line.provenance), kSourceWidth) + "  ";
  text += row;
  add_words(text, line.meaning, kMeaningAt);
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
  if (!with_note || line.note.empty()) return;
  text.append(kNoteAt, ' ');
  add_words(text, line.note, kNoteAt);
  text += '\n';
}

// Neighbours that share a note get it once, under the last of them.
void add_group(std::string& text, const SheetGroup& group) {
  text += "\n" + group.title + (group.remark.empty() ? "" : ": " + group.remark) + "\n";
  for (std::size_t i = 0; i < group.lines.size(); ++i) {
    const SheetLine& line = group.lines[i];
    const bool shared = i + 1 < group.lines.size() && group.lines[i + 1].note == line.note &&
                        group.lines[i + 1].provenance == line.provenance;
    add_line(text, line, !shared);
  }
}

}  // namespace

std::vector<SheetGroup> sheet_groups(const Machine& machine) {
  std::vector<SheetGroup> groups;
  const std::vector<Figure> figures = machine::all_figures(machine);
  for (const Part& part : kParts) {
    SheetGroup group{std::string(part.title), remark_of(machine, part.prefix), {}};
    for (const Figure& figure : figures)
      if (is_in(figure, part.prefix)) group.lines.push_back(line_of(figure, part.prefix));
    if (!group.lines.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<SourceCount> count_sources(const Machine& machine) {
  std::vector<SourceCount> counts;
  const std::vector<Figure> figures = machine::all_figures(machine);
  for (const Provenance provenance :
       {Provenance::kDatasheet, Provenance::kMeasured, Provenance::kFitted}) {
    const auto number = std::count_if(figures.begin(), figures.end(), [&](const Figure& figure) {
      return figure.provenance == provenance;
    });
    counts.push_back({provenance, static_cast<int>(number)});
  }
  return counts;
}

std::string data_sheet(const Machine& machine) {
  std::string text = machine.id + "\n";
  add_words(text, machine.name, 0);
  text += "\n";
  std::string sources = fmt::format("{} figures:", machine::all_figures(machine).size());
  for (const SourceCount& count : count_sources(machine))
    sources += fmt::format(" {} {},", count.figures, machine::name_of(count.provenance));
  sources.back() = '.';
  add_words(text, sources, 0);
  text += "\n";
  for (const SheetGroup& group : sheet_groups(machine)) add_group(text, group);
  if (machine.gpu_count > 1)
    text += "\nGPUs as nvidia-smi topo -m shows them\n" + machine::topology_matrix(machine);
  return text;
}

}  // namespace trainscope::report
