// Typed reading of TOML tables: every getter names file, line and column when a value is missing or
// of another type.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/toml.h"
#include "program/config.h"
#include "scenario/expression.h"

namespace trainscope::scenario {

class Fields {
 public:
  // `what` names the table in messages: "a lesson", "[[step]]".
  Fields(const toml::table& table, std::string file, std::string what)
      : table_(table), file_(std::move(file)), what_(std::move(what)) {}

  void only(const std::vector<std::string>& known) const {
    refuse_unknown_keys(table_, known, file_, what_);
  }
  const toml::node* find(std::string_view key) const { return table_.get(key); }

  std::string text(std::string_view key) const;  // required
  std::string text_or(std::string_view key, std::string otherwise) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<std::int64_t> whole(std::string_view key) const;
  std::vector<std::string> words(std::string_view key) const;  // a list of strings; empty if absent
  std::optional<Expression> expression(std::string_view key) const;
  const toml::table* table(std::string_view key) const;
  // Of a table of min and max; either may be missing.
  std::pair<std::optional<double>, std::optional<double>> bounds(std::string_view key) const;
  std::vector<const toml::table*> tables(std::string_view key) const;

  SourcePlace place() const { return place_of(table_, file_); }
  [[noreturn]] void fail(const std::string& sentence) const { fail_at(table_, file_, sentence); }
  [[noreturn]] void fail(std::string_view key, const std::string& sentence) const;
  const std::string& file() const { return file_; }

 private:
  const toml::table& table_;
  std::string file_;
  std::string what_;
};

// One knob, with the value that stands in the file. A path is one from the folder of the file, and
// a machine must be there. Throws InputError at the value.
void set_knob(program::Config& config, const std::string& name, const toml::node& node,
              const std::string& file);

// A machine as a file names it: an id, or a file, from the folder of the one that names it. Throws
// InputError, with "did you mean", where there is none.
std::string machine_named(const std::string& id_or_file, const std::string& file);

// The knobs of a (nested) table, checked one by one at their own place. Throws InputError for the
// first that is wrong; with `faults`, each is told there and left out.
program::Config read_knobs(const toml::table& table, const std::string& file,
                           std::vector<std::string>* faults = nullptr);

}  // namespace trainscope::scenario
