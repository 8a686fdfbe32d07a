#include "report/machines_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "machine/figures.h"
#include "report/data_sheet.h"
#include "report/escape.h"
#include "report/page.h"
#include "report/template.h"

namespace trainscope::report {
namespace {

using machine::Machine;
using machine::Provenance;

std::string_view words_of(Provenance provenance) {
  switch (provenance) {
    case Provenance::kDatasheet:
      return "the maker says so";
    case Provenance::kMeasured:
      return "somebody measured it; the note says who and how";
    case Provenance::kFitted:
      return "chosen so that the simulator meets a measurement, carried over from another machine, "
             "or assumed; the note says which";
  }
  return "";
}

std::string source_html(Provenance provenance) {
  const std::string name = machine::name_of(provenance);
  return fmt::format("<span class=\"source {0}\" title=\"{1}\">{0}</span>", name,
                     html_text(words_of(provenance)));
}

std::string legend_html() {
  std::string html = "<dl class=\"sources\">";
  for (const Provenance provenance :
       {Provenance::kDatasheet, Provenance::kMeasured, Provenance::kFitted})
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", source_html(provenance),
                        html_text(words_of(provenance)));
  return html + "</dl>";
}

// A column of the table: a number, shown in `unit`, with a bar for its share of the greatest.
struct Column {
  const char* title;
  const char* unit;
  double (*value)(const Machine&);
  const char* format;
  bool bar;
};

constexpr std::array kColumns{
    Column{"GPUs", "", [](const Machine& one) { return static_cast<double>(all_gpus(one)); }, "",
           false},
    Column{"SMs", "", [](const Machine& one) { return static_cast<double>(one.gpu.sm_count); },
           "{:.0f}", false},
    Column{"FP32", "TFLOP/s", [](const Machine& one) { return one.gpu.fp32_flops_per_s / 1e12; },
           "{:.1f}", true},
    Column{"FP16", "TFLOP/s", [](const Machine& one) { return one.gpu.fp16_flops_per_s / 1e12; },
           "{:.0f}", true},
    Column{"memory", "GiB",
           [](const Machine& one) { return static_cast<double>(one.gpu.memory_bytes) / 0x1p30; },
           "{:.1f}", true},
    Column{"its rate", "GB/s", [](const Machine& one) { return one.gpu.memory_bytes_per_s / 1e9; },
           "{:.0f}", true},
    Column{"to GPU", "GB/s", [](const Machine& one) { return one.pcie.h2d_bytes_per_s / 1e9; },
           "{:.1f}", true},
    Column{"back", "GB/s", [](const Machine& one) { return one.pcie.d2h_bytes_per_s / 1e9; },
           "{:.1f}", true},
    Column{"both", "GB/s", [](const Machine& one) { return one.pcie.both_bytes_per_s / 1e9; },
           "{:.1f}", true},
    Column{"pageable", "GB/s", [](const Machine& one) { return one.host.memcpy_bytes_per_s / 1e9; },
           "{:.1f}", true},
    Column{"GPU link", "GB/s", [](const Machine& one) { return one.gpu_link.bytes_per_s / 1e9; },
           "{:.4g}", true},
    Column{"network", "GB/s", [](const Machine& one) { return one.network.bytes_per_s / 1e9; },
           "{:.4g}", true},
    Column{"cores", "", [](const Machine& one) { return static_cast<double>(one.host.cores); },
           "{:.0f}", false},
    Column{"launch", "us",
           [](const Machine& one) { return static_cast<double>(one.host.launch_call_ns) / 1e3; },
           "{:.1f}", true},
    Column{"operator", "us",
           [](const Machine& one) { return static_cast<double>(one.host.eager_operator_ns) / 1e3; },
           "{:.1f}", true},
};

std::string cell_html(const Column& column, const Machine& machine, double greatest) {
  const double value = column.value(machine);
  const std::string sort = fmt::format("data-value=\"{:.7g}\"", value);
  if (value == 0)
    return fmt::format("<td class=\"number none\" {}><span class=\"hidden-text\">none</span></td>",
                       sort);
  const std::string text = column.format[0] == '\0'
                               ? machine::gpus_in_words(machine)
                               : fmt::format(fmt::runtime(column.format), value);
  if (!column.bar) return fmt::format("<td class=\"number\" {}>{}</td>", sort, text);
  return fmt::format("<td class=\"number bar\" style=\"--share:{:.3f}\" {}>{}</td>",
                     value / greatest, sort, text);
}

std::string count_words(const SourceCount& count) {
  return fmt::format("{} {}", count.figures, machine::name_of(count.provenance));
}

// How much of a machine is known: a strip of the three provenances.
std::string strip_html(const Machine& machine) {
  std::string html = "<td class=\"strip-cell\" data-value=\"";
  const auto counts = count_sources(machine);
  const int fitted = counts.back().figures;
  html += fmt::format(
      "{:.4g}\"><span class=\"parts\" title=\"",
      static_cast<double>(fitted) / static_cast<double>(machine::all_figures(machine).size()));
  std::string words, strip;
  for (const SourceCount& count : counts) {
    add_to_list(words, count_words(count));
    if (count.figures > 0)
      strip += fmt::format("<i class=\"{}\" style=\"flex-grow:{}\"></i>",
                           machine::name_of(count.provenance), count.figures);
  }
  return html + words + "\">" + strip + "</span><span class=\"hidden-text\">" + words +
         "</span></td>";
}

// What the filter box looks at.
std::string search_text(const Machine& machine) {
  std::string text = machine.id + " " + machine.name + " " + machine.gpu.name + " " +
                     machine.gpu.id + " " + machine::name_of(machine.gpu_link.kind);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string table_head() {
  std::string html = "<thead><tr><th scope=\"col\" class=\"first\">machine</th>";
  for (const Column& column : kColumns)
    html +=
        fmt::format("<th scope=\"col\" class=\"number\">{}{}</th>", column.title,
                    column.unit[0] == '\0' ? "" : fmt::format("<small>{}</small>", column.unit));
  return html + "<th scope=\"col\">sources</th></tr></thead>";
}

std::string table_html(const std::vector<Machine>& machines) {
  std::array<double, kColumns.size()> greatest{};
  for (const Machine& one : machines)
    for (std::size_t i = 0; i < kColumns.size(); ++i)
      greatest[i] = std::max(greatest[i], kColumns[i].value(one));
  std::string html = "<table class=\"machines\">" + table_head() + "<tbody>";
  for (const Machine& one : machines) {
    const std::string id = html_text(one.id);
    html += fmt::format(
        "<tr data-search=\"{0}\"><th scope=\"row\" class=\"first\" data-value=\"{1}\">"
        "<a href=\"#{1}\">{1}</a><span class=\"small muted\">{2}</span></th>",
        html_text(search_text(one)), id, html_text(one.gpu.name));
    for (std::size_t i = 0; i < kColumns.size(); ++i)
      html += cell_html(kColumns[i], one, greatest[i]);
    html += strip_html(one) + "</tr>\n";
  }
  return html + "</tbody></table>";
}

std::string group_html(const SheetGroup& group) {
  std::string html = "<h3>" + html_text(group.title);
  if (!group.remark.empty())
    html += " <span class=\"muted foreign\">" + html_text(group.remark) + "</span>";
  html += "</h3><table class=\"sheet\"><tbody>";
  for (const SheetLine& line : group.lines)
    html += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code><span class=\"small muted\">{}</span></th>"
        "<td class=\"number\">{}</td><td>{}</td><td class=\"small note foreign\">{}</td></tr>\n",
        html_text(line.key), html_text(line.meaning), html_text(line.value),
        source_html(line.provenance), html_prose(line.note));
  return html + "</tbody></table>";
}

std::string sheet_html(const Machine& machine, bool open) {
  std::string html = fmt::format(
      "<details class=\"panel machine\" id=\"{0}\" data-search=\"{1}\"{2}><summary class=\"head\">"
      "<h2>{0}</h2><span class=\"foreign\">{3}</span><span class=\"aside\">",
      html_text(machine.id), html_text(search_text(machine)), open ? " open" : "",
      html_text(machine.name));
  std::string counts;
  for (const SourceCount& count : count_sources(machine)) add_to_list(counts, count_words(count));
  html += counts + "</span></summary><div class=\"body\">";
  for (const SheetGroup& group : sheet_groups(machine)) html += group_html(group);
  return html + "</div></details>\n";
}

}  // namespace

std::string machines_html(const std::vector<Machine>& machines, const std::string& version) {
  const bool single = machines.size() == 1;
  Parts parts;
  parts["title"] = single ? html_text(machines.front().id) : "Machines";
  parts["style"] = std::string(page_style()) + std::string(machines_style());
  parts["script"] = machines_script();
  parts["count"] = single ? "1 machine" : fmt::format("{} machines", machines.size());
  parts["legend"] = legend_html();
  parts["table"] = table_html(machines);
  for (const Machine& one : machines) parts["sheets"] += sheet_html(one, single);
  parts["footer"] = version.empty() ? "Trainscope" : "Trainscope " + html_text(version);
  return filled(machines_template(), parts);
}

}  // namespace trainscope::report
