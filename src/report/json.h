// What the commands print with --json: one object, two spaces of indent, no newline at the end.
//
// Keys stand in a fixed order and numbers carry full precision, so that equal runs give equal
// bytes. Text that is not UTF-8 has U+FFFD for its bad bytes; a number that is not finite is left
// out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/runs/run.h"
#include "machine/machine.h"

namespace trainscope::report {

// What a lesson expects of a real GPU, in base units; what is not there is left out.
struct ExpectationEntry {
  std::string expression;
  std::optional<double> min, max;
  std::optional<double> value;  // nothing: the runs do not tell
  std::string unit;             // of the value
  std::optional<bool> holds;
  std::string why;  // the runs do not tell
};

// `run` and `import`: A, B, … with config and metrics. The executor and the seed of an imported run
// are "imported" and null, whatever is given. Where origins differ, each run says its own. Each has
// its "operations", of its GPU and its host; "operations_are" says what counts and times are of.
// `caveat`: why the text of the runs' lesson need not hold for them; empty: not said.
std::string run_json(const std::vector<const analysis::Run*>& runs, std::int64_t seed,
                     std::string_view executor, const std::string& caveat = {},
                     const std::vector<ExpectationEntry>& expectations = {});

// `compare`: the same with the ratios B/A and the parts that the difference decomposes into.
std::string compare_json(const analysis::Run& a, const analysis::Run& b, std::int64_t seed,
                         std::string_view executor);

std::string knobs_json();
std::string metrics_json();
std::string machines_json(const std::vector<machine::Machine>& machines);

struct LessonEntry {
  std::string id;
  std::string title;
  std::string topic;
  std::string level;
  int minutes = 0;
  std::string track;
  std::vector<std::string> required;  // lessons, by id
  std::vector<std::string> terms;
  std::string claim;                  // "C1"; empty: none is put to the test
  std::string heard;                  // what that says
  std::vector<std::string> machines;  // empty: any
};
std::string lessons_json(const std::vector<LessonEntry>& lessons);

struct ActionEntry {
  std::string id;
  std::string label;
  std::string shortcut;
  std::string help;
};
std::string actions_json(const std::vector<ActionEntry>& actions);

struct DoctorEntry {
  std::string what;
  bool found = false;
  std::string detail;
  std::string switches_off;
};
std::string doctor_json(const std::vector<DoctorEntry>& entries);

// Simulated beside published; values in base units (ns, B/s), error and tolerance as shares.
struct ValidationEntry {
  std::string id;
  std::string what;
  std::string source;
  double published = 0;
  double simulated = 0;
  double error = 0;
  double tolerance = 0;
  bool within = false;
};
std::string validation_json(const std::vector<ValidationEntry>& entries);

// `findings`: a sentence each.
std::string check_json(std::size_t files, const std::vector<std::string>& findings);

}  // namespace trainscope::report
