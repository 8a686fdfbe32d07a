#include "scenario/toml_fields.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "machine/machine.h"

namespace trainscope::scenario {
namespace {

// A knob's value as TOML spells it; nothing for dates, tables and lists of other things.
std::optional<program::Value> knob_value(const toml::node& node) {
  if (const auto flag = node.value_exact<bool>()) return *flag;
  if (const auto whole = node.value_exact<std::int64_t>()) return *whole;
  if (const auto number = node.value_exact<double>()) return *number;
  if (const auto text = node.value_exact<std::string>()) return *text;
  const toml::array* list = node.as_array();
  if (!list) return std::nullopt;
  std::string numbers;
  for (const toml::node& one : *list) {
    const auto whole = one.value_exact<std::int64_t>();
    if (!whole) return std::nullopt;
    add_to_list(numbers, std::to_string(*whole));
  }
  return numbers;
}

bool is_path(const program::Knob& knob, const std::string& value) {
  return knob.is_path || (knob.name == "machine" && value.ends_with(".toml"));
}

// A path that a file names is one from the folder that the file is in.
program::Value beside_the_file(const std::string& name, const program::Value& value,
                               const std::string& file) {
  const program::Knob* knob = program::find_knob_or_null(name);
  const auto* path = std::get_if<std::string>(&value);
  if (!knob || !path || path->empty() || !is_path(*knob, *path)) return value;
  return (std::filesystem::path(file).parent_path() / *path).string();
}

// A machine that is not there is missed where it is named; what is wrong in its file, there.
void require_machine(const std::string& id_or_file) {
  const std::vector<std::string> ids = machine::machine_ids();
  if (std::ranges::find(ids, id_or_file) != ids.end()) return;
  std::error_code none;
  if (!std::filesystem::exists(id_or_file, none)) machine::load_machine(id_or_file);
}

void add_knobs(const toml::table& table, const std::string& prefix, const std::string& file,
               program::Config& config, std::vector<std::string>* faults) {
  for (const auto& [key, node] : in_file_order(table)) {
    const std::string name = prefix + std::string(key->str());
    if (const toml::table* nested = node->as_table()) {
      add_knobs(*nested, name + ".", file, config, faults);
      continue;
    }
    try {
      set_knob(config, name, *node, file);
    } catch (const InputError& error) {
      if (!faults) throw;
      faults->push_back(error.what());
    }
  }
}

}  // namespace

void Fields::fail(std::string_view key, const std::string& sentence) const {
  fail_at(*find(key), file_, sentence);
}

std::string Fields::text(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) fail(what_ + " needs " + std::string(key) + " = \"…\"");
  if (!node->is_string()) fail(key, std::string(key) + " is not text; put it in quotes");
  return *node->value_exact<std::string>();
}

std::string Fields::text_or(std::string_view key, std::string otherwise) const {
  return find(key) ? text(key) : otherwise;
}

std::optional<double> Fields::number(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return std::nullopt;
  if (!node->is_number()) fail(key, std::string(key) + " is not a number");
  return node->value<double>();
}

std::optional<std::int64_t> Fields::whole(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return std::nullopt;
  if (!node->is_integer()) fail(key, std::string(key) + " is not a whole number");
  return node->value<std::int64_t>();
}

std::vector<std::string> Fields::words(std::string_view key) const {
  std::vector<std::string> result;
  const toml::node* node = find(key);
  if (!node) return result;
  const toml::array* list = node->as_array();
  if (!list) fail(key, std::string(key) + " is not a list; write [\"…\", \"…\"]");
  for (const toml::node& one : *list) {
    const auto word = one.value_exact<std::string>();
    if (!word) fail_at(one, file_, std::string(key) + " holds something that is not text");
    result.push_back(*word);
  }
  return result;
}

std::optional<Expression> Fields::expression(std::string_view key) const {
  if (!find(key)) return std::nullopt;
  try {
    return Expression::parse(text(key));
  } catch (const InputError& error) {
    fail(key, error.what());
  }
}

const toml::table* Fields::table(std::string_view key) const {
  const toml::node* node = find(key);
  if (!node) return nullptr;
  if (!node->is_table()) fail(key, std::string(key) + " is not a table");
  return node->as_table();
}

std::pair<std::optional<double>, std::optional<double>> Fields::bounds(std::string_view key) const {
  const toml::table* values = table(key);
  if (!values) return {};
  const Fields inner(*values, file_, std::string(key));
  inner.only({"min", "max"});
  return {inner.number("min"), inner.number("max")};
}

std::vector<const toml::table*> Fields::tables(std::string_view key) const {
  std::vector<const toml::table*> result;
  const toml::node* node = find(key);
  if (!node) return result;
  const toml::array* list = node->as_array();
  if (!list)
    fail(key, std::string(key) + " is not a list of tables; write [[" + std::string(key) + "]]");
  for (const toml::node& one : *list) {
    if (!one.is_table())
      fail_at(one, file_, std::string(key) + " holds something that is not a table");
    result.push_back(one.as_table());
  }
  return result;
}

void set_knob(program::Config& config, const std::string& name, const toml::node& node,
              const std::string& file) {
  const auto value = knob_value(node);
  if (!value) fail_at(node, file, name + " is neither a word, a number, nor true or false");
  try {
    const program::Value placed = beside_the_file(name, *value, file);
    const auto* machine = name == "machine" ? std::get_if<std::string>(&placed) : nullptr;
    if (machine) require_machine(*machine);
    config.set(name, placed);
  } catch (const InputError& error) {
    fail_at(node, file, error.what());
  }
}

std::string machine_named(const std::string& id_or_file, const std::string& file) {
  std::string machine = std::get<std::string>(beside_the_file("machine", id_or_file, file));
  require_machine(machine);
  return machine;
}

program::Config read_knobs(const toml::table& table, const std::string& file,
                           std::vector<std::string>* faults) {
  program::Config config;
  add_knobs(table, "", file, config, faults);
  return config;
}

}  // namespace trainscope::scenario
