#include "analysis/runs/published_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/toml.h"

namespace trainscope::analysis {
namespace {

// As people call it.
std::string name_of(const std::string& strategy) {
  if (strategy == "none") return "one GPU";
  if (strategy == "dp") return "DataParallel";
  if (strategy == "ddp") return "DDP";
  if (strategy == "fsdp") return "FSDP";
  return strategy + " parallelism";
}

bool is_simulated_training(const Run& run) {
  return run.program && run.trace->origin().kind == trace::OriginKind::kSimulated &&
         run.config.word("workload") == "train";
}

PublishedErrors errors_of(const toml::table& one, const std::string& file) {
  const auto strategy = one["strategy"].value<std::string>();
  const auto rows = one["rows"].value<int>();
  const auto least = one["least"].value<double>(), most = one["most"].value<double>();
  if (!strategy || !rows || !least || !most)
    fail_at(one, file, "an error has strategy, rows, least and most");
  if (*rows < 1 || *least > *most)
    fail_at(one, file, "an error is of at least one row, and its least is not above its most");
  return {*strategy, *rows, *least, *most};
}

}  // namespace

double PublishedErrors::largest() const {
  return std::max(std::abs(least), std::abs(most));
}

std::vector<PublishedErrors> load_published_errors() {
  const std::filesystem::path file = home_folder() / "assets" / "published_errors.toml";
  return std::filesystem::exists(file) ? load_published_errors(file)
                                       : std::vector<PublishedErrors>{};
}

std::vector<PublishedErrors> load_published_errors(const std::filesystem::path& file) {
  const toml::table table = read_toml(file);
  const toml::array* rows = table["errors"].as_array();
  if (!rows) fail_at(table, file.string(), "the errors are tables, [[errors]]");
  std::vector<PublishedErrors> all;
  for (const toml::node& node : *rows) {
    const toml::table* one = node.as_table();
    if (!one) fail_at(node, file.string(), "[[errors]] is a table");
    all.push_back(errors_of(*one, file.string()));
  }
  return all;
}

std::string closer_than_errors(const Run& a, const Run& b, double longer,
                               const std::vector<PublishedErrors>& errors, const Speech& speech) {
  if (!is_simulated_training(a) || !is_simulated_training(b)) return "";
  const std::string &of_a = a.config.word("parallel.strategy"),
                    &of_b = b.config.word("parallel.strategy");
  if (of_a == of_b) return "";  // what is off of one is off of the other, too
  const PublishedErrors* largest = nullptr;
  for (const PublishedErrors& one : errors)
    if ((one.strategy == of_a || one.strategy == of_b) &&
        (!largest || one.largest() > largest->largest()))
      largest = &one;
  if (!largest || longer - 1 >= largest->largest()) return "";
  return told(speech,
              "closer than the simulator's error for {}, {} to {} % of the speed in {} published "
              "rows",
              speech.say(name_of(largest->strategy)), fmt::format("{:+.0f}", 100 * largest->least),
              fmt::format("{:+.0f}", 100 * largest->most), largest->rows);
}

}  // namespace trainscope::analysis
