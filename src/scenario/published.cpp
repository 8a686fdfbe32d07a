#include "scenario/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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

std::int64_t count(const Fields& fields, const char* key) {
  const auto number = fields.whole(key);
  if (!number || *number < 1)
    fields.fail(fmt::format("[check.attention] needs {}, at least 1", key));
  return *number;
}

PublishedAttention read_attention(const toml::table& table, const std::string& file) {
  const Fields fields(table, file, "[check.attention]");
  fields.only({"machine", "heads", "length", "width", "kind"});
  PublishedAttention one;
  one.machine = fields.text("machine");
  one.shape.heads = count(fields, "heads");
  one.shape.length = count(fields, "length");
  one.shape.width = count(fields, "width");
  const std::vector<std::string> kind = fields.words("kind");
  one.shape.causal = std::ranges::find(kind, "causal") != kind.end();
  one.shape.backward = std::ranges::find(kind, "backward") != kind.end();
  return one;
}

double rate_of(const PublishedAttention& attention) {
  const machine::Gpu gpu = machine::load_machine(attention.machine).gpu;
  const machine::AttentionShape& shape = attention.shape;
  const auto length = static_cast<double>(shape.length);
  const double flops = (shape.backward ? 10 : 4) * length * length *
                       static_cast<double>(shape.heads * shape.width) / (shape.causal ? 2 : 1);
  return flops / machine::plan_attention(gpu, shape).seconds;
}

PublishedCheck read_check(const toml::table& table, const std::string& file) {
  const Fields fields(table, file, "a [[check]]");
  fields.only({"id", "what", "source", "value", "unit", "tolerance", "expression", "missed",
               "config", "attention"});
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
  if (const toml::table* attention = fields.table("attention")) {
    check.attention = read_attention(*attention, file);
    return check;
  }
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
  if (check.attention) {
    const double rate = rate_of(*check.attention);
    return {&check, rate, (rate - check.value) / check.value};
  }
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

namespace {

// A step's time or samples a second, of training.
bool is_of_speed(const PublishedCheck& check) {
  const std::string& text = check.expression.text();
  const bool speed = text.find("time.step") != text.npos || text.find("throughput.") != text.npos;
  return speed && !check.attention && std::ranges::all_of(check.sides, [](const auto& side) {
           return side.second.word("workload") == "train";
         });
}

// The strategies that a check is about: of two sides those that differ in it, but for runs on one
// GPU beside others.
std::vector<std::string> strategies_of(const PublishedCheck& check) {
  std::vector<std::string> strategies;
  for (const auto& [label, config] : check.sides)
    strategies.push_back(config.word("parallel.strategy"));
  if (strategies.size() < 2) return strategies;
  if (strategies[0] == strategies[1]) return {};
  std::erase(strategies, "none");
  return strategies;
}

// By what share the strategy's simulated speed is above the measured one. A check of two sides has
// A's time over B's.
double speed_error(const PublishedResult& result, const std::string& strategy) {
  const PublishedCheck& check = *result.check;
  const bool of_speed = check.expression.text().find("throughput.") != std::string::npos;
  const bool is_below = check.sides.front().second.word("parallel.strategy") != strategy;
  return of_speed != is_below ? result.error : 1 / (1 + result.error) - 1;
}

}  // namespace

std::string published_errors_file(const std::vector<PublishedResult>& results) {
  std::map<std::string, std::vector<double>> errors;
  for (const PublishedResult& result : results)
    if (is_of_speed(*result.check))
      for (const std::string& strategy : strategies_of(*result.check))
        errors[strategy].push_back(speed_error(result, strategy));
  std::string text =
      "# By what share simulated speeds of training are above (+) or below (-) those that others "
      "have\n"
      "# published, by parallel.strategy: of the rows of published.toml that have a step's time "
      "or\n"
      "# samples a second. Written by `trainscope validate --published --errors FILE`; a test "
      "keeps "
      "it so.\n";
  for (const auto& [strategy, all] : errors)
    text += fmt::format(
        "\n[[errors]]\nstrategy = \"{}\"\nrows = {}\nleast = {:.3f}\nmost = {:.3f}\n", strategy,
        all.size(), *std::ranges::min_element(all), *std::ranges::max_element(all));
  return text;
}

analysis::ErrorSummary summarise(const std::vector<PublishedResult>& results) {
  std::vector<double> errors;
  for (const PublishedResult& result : results) errors.push_back(result.error);
  return analysis::summarise_errors(errors);
}

}  // namespace trainscope::scenario
