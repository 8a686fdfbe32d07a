#include "scenario/published.h"

#include <cmath>

#include "base/files.h"
#include "base/toml.h"
#include "base/units.h"
#include "scenario/toml_fields.h"

namespace trainscope::scenario {
namespace {

// A machine that is a file stands beside the checks.
void resolve_machine(program::Config& config, const std::filesystem::path& folder) {
  const std::string& machine = config.word("machine");
  if (machine.ends_with(".toml")) config.set("machine", (folder / machine).string());
}

PublishedCheck read_check(const toml::table& table, const std::string& file) {
  const Fields fields(table, file, "a [[check]]");
  fields.only(
      {"id", "what", "source", "value", "unit", "tolerance", "expression", "missed", "config"});
  PublishedCheck check;
  check.id = fields.text("id");
  check.what = fields.text("what");
  check.source = fields.text("source");
  check.unit = fields.text_or("unit", "");
  check.missed = fields.text_or("missed", "");
  const auto factor = unit_factor(check.unit);
  if (!factor) fields.fail("unit", "there is no unit " + check.unit);
  const auto value = fields.number("value");
  if (!value || *value == 0) fields.fail("a [[check]] needs value, a number other than 0");
  check.value = *value * *factor;
  const auto tolerance = fields.number("tolerance");
  if (!tolerance || *tolerance <= 0) fields.fail("a [[check]] needs tolerance, a share above 0");
  check.tolerance = *tolerance;
  const auto expression = fields.expression("expression");
  if (!expression) fields.fail("a [[check]] needs expression");
  check.expression = *expression;
  const toml::table* configs = fields.table("config");
  if (!configs) fields.fail("a [[check]] needs [check.config.A]");
  const Fields sides(*configs, file, "[check.config]");
  sides.only({"A", "B"});
  for (const char* label : {"A", "B"})
    if (const toml::table* side = sides.table(label)) {
      check.sides.emplace_back(label, read_knobs(*side, file));
      resolve_machine(check.sides.back().second, std::filesystem::path(file).parent_path());
    }
  return check;
}

}  // namespace

std::vector<PublishedCheck> load_published() {
  return load_published(home_folder() / "assets" / "published.toml");
}

std::vector<PublishedCheck> load_published(const std::filesystem::path& file) {
  const toml::table table = read_toml(file);
  const Fields fields(table, file.string(), "a file of published numbers");
  fields.only({"check"});
  std::vector<PublishedCheck> checks;
  for (const toml::table* one : fields.tables("check"))
    checks.push_back(read_check(*one, file.string()));
  return checks;
}

PublishedResult carry_out(const PublishedCheck& check) {
  std::vector<analysis::Run> runs;
  runs.reserve(check.sides.size());
  Sides sides;
  for (const auto& [label, config] : check.sides) {
    runs.push_back(analysis::run_config(label, config));
    sides.push_back(&runs.back());
  }
  PublishedResult result;
  result.check = &check;
  result.simulated = check.expression.evaluate(sides).value;
  result.error = (result.simulated - check.value) / check.value;
  return result;
}

analysis::ErrorSummary summarise(const std::vector<PublishedResult>& results) {
  std::vector<double> errors;
  for (const PublishedResult& result : results) errors.push_back(result.error);
  return analysis::summarise_errors(errors);
}

}  // namespace trainscope::scenario
