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

const std::vector<PublishedErrors>& all_errors() {
  static const std::vector<PublishedErrors> all = load_published_errors();
  return all;
}

}  // namespace

double PublishedErrors::largest() const {
  return std::max(std::abs(least), std::abs(most));
}

std::vector<PublishedErrors> load_published_errors() {
  const std::filesystem::path file = home_folder() / "assets" / "published_errors.toml";
  std::vector<PublishedErrors> all;
  if (!std::filesystem::exists(file)) return all;
  const toml::table table = read_toml(file);
  const toml::array* rows = table["errors"].as_array();
  if (!rows) return all;
  for (const toml::node& node : *rows) {
    const toml::table* one = node.as_table();
    if (!one) fail_at(node, file.string(), "[[errors]] is a table");
    PublishedErrors errors;
    errors.strategy = (*one)["strategy"].value_or("");
    errors.rows = (*one)["rows"].value_or(0);
    errors.least = (*one)["least"].value_or(0.0);
    errors.most = (*one)["most"].value_or(0.0);
    all.push_back(std::move(errors));
  }
  return all;
}

std::string closer_than_errors(const Run& a, const Run& b, double longer, const Speech& speech) {
  if (!is_simulated_training(a) || !is_simulated_training(b)) return "";
  const std::string &of_a = a.config.word("parallel.strategy"),
                    &of_b = b.config.word("parallel.strategy");
  if (of_a == of_b) return "";  // what is off of one is off of the other, too
  const PublishedErrors* largest = nullptr;
  for (const PublishedErrors& one : all_errors())
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
