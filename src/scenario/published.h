// What others have measured and published, beside what the simulator says of the same config.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/runs/validation.h"
#include "machine/attention_kernel.h"
#include "program/config.h"
#include "scenario/expression.h"

namespace trainscope::scenario {

// Of an attention kernel alone, which no config launches alone.
struct PublishedAttention {
  std::string machine;
  machine::AttentionShape shape;
};

// One published number, and the configs whose run repeats it.
struct PublishedCheck {
  std::string id;    // of the group: "A7"
  std::string what;  // "H200, pinned copy to the GPU, 64 MiB"
  std::string source;
  double value = 0;      // in ns, B/s, …: base units
  std::string unit;      // as written: "GB/s"
  double tolerance = 0;  // share of the value
  std::string missed;    // why the simulator is known to miss it; empty: it must not
  Expression expression = Expression::parse("0");
  std::vector<std::pair<std::string, program::Config>> sides;
  // In place of expression and configs: the value is FLOP/s, half of all where it is causal, and
  // five products backward.
  std::optional<PublishedAttention> attention;
};

struct PublishedResult {
  const PublishedCheck* check = nullptr;
  double simulated = 0;  // in base units
  double error = 0;      // (simulated - published) / published: above 0, the simulator says more
  bool within() const { return error <= check->tolerance && error >= -check->tolerance; }
};

// assets/published.toml, or another file of that form. Throws InputError with file and line.
std::vector<PublishedCheck> load_published();
std::vector<PublishedCheck> load_published(const std::filesystem::path& file);

PublishedResult carry_out(const PublishedCheck& check);

// Errors of a group, or of all.
analysis::ErrorSummary summarise(const std::vector<PublishedResult>& results);

// What assets/published_errors.toml holds of these results: the errors of simulated speeds, by the
// parallel.strategy of training (analysis/runs/published_errors.h).
std::string published_errors_file(const std::vector<PublishedResult>& results);

}  // namespace trainscope::scenario
