// TOML files with errors that name file, line, column and the nearest right name.
#pragma once

#include <toml++/toml.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trainscope {

// Parses a TOML file. Throws InputError. Files over 1 MiB, and keys with more than 16 dots, are
// refused before parsing: the parser recurses once a dot.
toml::table read_toml(const std::filesystem::path& path);
toml::table parse_toml(std::string_view text, const std::string& name);

SourcePlace place_of(const toml::node& node, const std::string& file);

// As they stand in the file; the table sorts them by name.
std::vector<std::pair<const toml::key*, const toml::node*>> in_file_order(const toml::table& table);

// Throws InputError for the first key of the file's `table` that is not in `known`, with the one
// that may be meant, else with all of them.
void refuse_unknown_keys(const toml::table& table, const std::vector<std::string>& known,
                         const std::string& file, const std::string& what);

// Throws InputError: "file:line:column: sentence".
[[noreturn]] void fail_at(const toml::node& node, const std::string& file,
                          const std::string& sentence);

}  // namespace trainscope
