#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "cli/opened.h"
#include "cli/sides.h"
#include "fuzz/targets.h"
#include "program/config.h"
#include "scenario/expression.h"
#include "scenario/link.h"

namespace trainscope::fuzz {
namespace {

std::vector<std::string> lines_of(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    lines.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return lines;
}

template <typename Read>
void try_to(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    check_sentence(error.what());
  }
}

// What is read as a link is written as one that means the same.
void read_link(const std::string& line) {
  const scenario::Link link = scenario::parse_link(line);
  const scenario::Link again = scenario::parse_link(scenario::write_link(link));
  promise(again.lesson == link.lesson && again.step == link.step && again.knobs == link.knobs,
          "a link that is written reads as itself");
}

void set_text(const std::string& line) {
  program::Config config;
  config.set_text(line);
  const auto& [name, value] = *config.values().begin();
  program::Config again;
  again.set_text(name + "=" + program::spell(value));
  promise(again == config, "a value that is spelled out reads as itself");
  program::show(program::find_knob(name), value);
}

void read_expression(const std::string& line) {
  const scenario::Expression expression = scenario::Expression::parse(line);
  try_to([&] { expression.evaluate({}); });
}

}  // namespace

void arguments(std::string_view bytes) {
  const std::vector<std::string> lines = lines_of(bytes);
  // Parsed and resolved, never carried out: nothing is run, nothing is written.
  try_to([&] {
    const cli::Arguments parsed = cli::parse_arguments(lines);
    if (parsed.command == "run") cli::read_request(parsed.run);
  });
  for (const std::string& line : lines) {
    try_to([&] { set_text(line); });
    try_to([&] { read_expression(line); });
    try_to([&] { read_link(line); });
    try_to([&] { scenario::fill_in(line, {}); });
    cli::split_side(line);
    parse_bytes(line);
  }
}

}  // namespace trainscope::fuzz
