// `trainscope validate`: simulated beside measured on the GPU that is here, or with --published
// beside what others have measured, with the error of each.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "analysis/runs/measured_run.h"
#include "analysis/runs/validation.h"
#include "base/error.h"
#include "base/files.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/measured_files.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cuda/calibration/machine_files.h"
#include "cuda/own_device.h"
#include "report/json.h"
#include "report/measurements_json.h"
#include "scenario/published.h"

namespace trainscope::cli {
namespace {

using scenario::PublishedResult;

std::string percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string in_unit(const PublishedResult& result, double value) {
  const double factor = *unit_factor(result.check->unit);
  const double shown = value / factor;
  const std::string number =
      std::abs(shown) < 1000 ? fmt::format("{:.3g}", shown) : fmt::format("{:.0f}", shown);
  return number + (result.check->unit.empty() ? "" : " ") + result.check->unit;
}

std::string word_of(const PublishedResult& result) {
  if (result.within()) return "";
  return result.check->missed.empty() ? "OUTSIDE" : "known to miss";
}

std::vector<std::string> groups_of(const std::vector<PublishedResult>& results) {
  std::vector<std::string> groups;
  for (const PublishedResult& result : results)
    if (std::find(groups.begin(), groups.end(), result.check->id) == groups.end())
      groups.push_back(result.check->id);
  return groups;
}

std::vector<PublishedResult> of_group(const std::vector<PublishedResult>& results,
                                      const std::string& group) {
  std::vector<PublishedResult> some;
  for (const PublishedResult& result : results)
    if (result.check->id == group) some.push_back(result);
  return some;
}

void print_results(const std::vector<PublishedResult>& results) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kLeft});
  table.add({"", "what", "published", "simulated", "error", "allowed", ""});
  for (const PublishedResult& result : results)
    table.add({result.check->id, result.check->what, in_unit(result, result.check->value),
               in_unit(result, result.simulated), percent(result.error),
               fmt::format("{:.0f} %", 100 * result.check->tolerance), word_of(result)});
  std::cout << table.text() << "\n";
  TextTable summary({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  summary.add({"", "checks", "mean error", "mean, signed", "worst"});
  const auto add = [&](const std::string& name, const std::vector<PublishedResult>& some) {
    const analysis::ErrorSummary sum = scenario::summarise(some);
    summary.add({name, std::to_string(sum.count), fmt::format("{:.1f} %", 100 * sum.mean_size),
                 percent(sum.mean), percent(sum.worst)});
  };
  for (const std::string& group : groups_of(results)) add(group, of_group(results, group));
  add("all", results);
  const auto outside = std::ranges::count_if(
      results, [](const PublishedResult& result) { return !result.within(); });
  const auto known = std::ranges::count_if(results, [](const PublishedResult& result) {
    return !result.within() && !result.check->missed.empty();
  });
  std::cout
      << summary.text()
      << fmt::format("\n{} of {} checks are further off than allowed, {} of them known to miss.\n",
                     outside, results.size(), known)
      << "\nAn error above 0: the simulator says more. Figures of some machines were fitted to\n"
         "these very measurements (`trainscope machines --json` says which); for those the "
         "table\nshows how well the model's form fits, not a prediction.\n";
}

report::ValidationEntry entry_of(const PublishedResult& result) {
  return {result.check->id, result.check->what, result.check->source,    result.check->value,
          result.simulated, result.error,       result.check->tolerance, result.within()};
}

int validate_published(bool json, const std::string& errors) {
  const std::vector<scenario::PublishedCheck> checks = scenario::load_published();
  std::vector<PublishedResult> results(checks.size());
  in_parallel_with_progress(checks.size(), "checks",
                            [&](std::size_t i) { results[i] = scenario::carry_out(checks[i]); });
  if (!errors.empty()) write_file(errors, scenario::published_errors_file(results));
  if (json) {
    std::vector<report::ValidationEntry> entries;
    for (const PublishedResult& result : results) entries.push_back(entry_of(result));
    std::cout << report::validation_json(entries) << "\n";
  } else {
    print_results(results);
  }
  const bool all = std::all_of(results.begin(), results.end(), [](const PublishedResult& result) {
    return result.within() || !result.check->missed.empty();
  });
  return all ? 0 : 1;
}

void print_validation(const analysis::Validation& validation) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add({"program", "metric", "simulated", "measured", "error"});
  for (const analysis::ValidationRow& row : validation.rows)
    table.add({row.program, row.metric->name, analysis::show(*row.metric, row.simulated),
               analysis::show(*row.metric, row.measured), row.error ? percent(*row.error) : ""});
  TextTable summary({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  summary.add({"metric", "programs", "mean error", "mean, signed", "worst"});
  const auto add = [&](const std::string& name, const analysis::Metric* metric) {
    const auto errors = analysis::errors_of(validation.rows, metric);
    const analysis::ErrorSummary sum = analysis::summarise_errors(errors);
    if (sum.count > 0)
      summary.add({name, std::to_string(sum.count), fmt::format("{:.1f} %", 100 * sum.mean_size),
                   percent(sum.mean), percent(sum.worst)});
  };
  for (const analysis::Metric* metric : analysis::metrics_of(validation.rows))
    add(metric->name, metric);
  add("all", nullptr);
  std::cout << "measured: " << validation.origin << "\nsimulated: " << validation.machine << "\n\n"
            << table.text() << "\n"
            << summary.text() << "\nAn error above 0: the simulator says more.\n";
  if (!validation.caveat.empty()) std::cout << validation.caveat << "\n";
  for (const std::string& sentence : validation.left_out)
    std::cout << "not compared: " << sentence << "\n";
}

// Where the page goes, known before minutes of measuring.
std::filesystem::path page_of(const std::string& out, const std::string& device) {
  if (out.empty()) {
    const auto folder = home_folder() / "assets" / "validation";
    make_folder(folder);
    return folder / (cuda::id_of_device(device) + ".md");
  }
  const std::filesystem::path page(out);
  if (page.has_parent_path() && !is_folder(page.parent_path()))
    throw InputError(out + ": there is no folder " + page.parent_path().string() +
                     "; make it, or give another --out");
  return page;
}

// Nothing is simulated in place of a measurement; others' can be looked at.
constexpr const char* kInstead =
    "`trainscope validate --published` compares with what others have measured";

// The page is written even where a table is not wanted: it is what is kept of the measurement.
int validate_measured(const ValidateOptions& options) {
  if (!options.machine.empty()) machine::load_machine(options.machine);
  const cuda::OpenDevice device = cuda::open_own_device(kInstead);
  const std::filesystem::path page = page_of(options.out, device->facts().name);
  // What is measured by then, should it be cut short.
  const std::filesystem::path part = page.string() + ".part";
  const analysis::Validation validation =
      analysis::validate_executors(*device, analysis::validation_programs(), options.machine,
                                   [&](const analysis::Validation& so_far) {
                                     write_file(part, analysis::validation_page(so_far));
                                   });
  write_file(page, analysis::validation_page(validation));
  if (const std::string fault = remove_parts({part}); !fault.empty())
    std::cerr << "trainscope: " << fault << "\n";
  if (options.json) {
    std::cout << report::measured_validation_json(validation) << "\n";
  } else {
    print_validation(validation);
  }
  std::cerr << "written: " << page.string() << "\n";
  return 0;
}

}  // namespace

int validate_command(const ValidateOptions& options) {
  return options.published ? validate_published(options.json, options.errors)
                           : validate_measured(options);
}

}  // namespace trainscope::cli
