#include "report/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/advice/batch_fit.h"
#include "analysis/advice/what_if.h"
#include "analysis/causes/critical_path.h"
#include "analysis/causes/diagnosis.h"
#include "analysis/runs/config_json.h"
#include "analysis/views/operations.h"
#include "machine/figures.h"
#include "program/idle_knobs.h"
#include "program/knob_number.h"
#include "program/knobs.h"
#include "report/comparison.h"

namespace trainscope::report {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string lower(std::string_view text) {
  std::string word(text);
  for (char& letter : word)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return word;
}

std::string origin_of(const analysis::Run& run) {
  return lower(trace::badge(run.trace->origin().kind));
}

// A run that only its trace is left of: what its config was, nobody knows.
bool is_imported(const analysis::Run& run) {
  return run.program == nullptr;
}

Json config_of(const analysis::Run& run) {
  Json config = Json::object();
  if (is_imported(run)) return config;
  for (const program::Knob& knob : program::knobs()) {
    const bool always = knob.name == "machine" || knob.name == "seed";
    if (always || run.config.is_set(knob.name))
      config[knob.name] = analysis::value_json<Json>(run.config.value(knob.name));
  }
  return config;
}

// Every knob that this run does something with, as it was set or by default.
Json knobs_of(const analysis::Run& run) {
  Json knobs = Json::object();
  for (const program::Knob& knob : program::knobs())
    if (run.config.is_set(knob.name) || program::idle_because(run.config, knob.name).empty())
      knobs[knob.name] = analysis::value_json<Json>(run.config.value(knob.name));
  return knobs;
}

Json metrics_of(const analysis::Run& run) {
  Json metrics = Json::object();
  for (const analysis::MetricValue& one : run.metrics)
    if (std::isfinite(one.value))
      metrics[one.metric->name] = {{"value", one.value}, {"unit", one.metric->unit}};
  return metrics;
}

Json drops_of(const analysis::Run& run) {
  Json drops = Json::array();
  const auto& dropped = run.trace->dropped();
  for (std::uint32_t i = 0, n = dropped.size(); i < n; ++i)
    drops.push_back({{"reason", dropped[i].reason},
                     {"count", dropped[i].count},
                     {"complete_event", dropped[i].complete_event}});
  return drops;
}

Json ending_of(const sim::Diverged& why) {
  return {{"message", sim::sentence(why)},
          {"time", why.time},
          {"line", why.line},
          {"step", why.step},
          {"loss", std::isnan(why.loss) ? "NaN"
                   : why.loss > 0       ? "Infinity"
                                        : "-Infinity"}};
}

Json ending_of(const sim::Deadlock& why) {
  return {{"message", sim::sentence(why)},
          {"time", why.time},
          {"line", why.line},
          {"collective", why.collective},
          {"group", why.group},
          {"sequence", why.sequence},
          {"waiting", why.waiting},
          {"missing", why.missing},
          {"missing_line", why.missing_line}};
}

Json ending_of(const sim::DeviceFailed& why) {
  return {{"message", sim::sentence(why)},
          {"time", why.time},
          {"line", why.line},
          {"out_of_memory", why.out_of_memory}};
}

Json ending_of(const sim::EndedEarly& why) {
  return {{"message", sim::sentence(why)}};
}

Json ending_of(const sim::OutOfMemory& why) {
  Json holders = Json::array();
  for (const auto& one : why.holders)
    holders.push_back(
        {{"name", one.name}, {"role", program::name_of(one.role)}, {"bytes", one.bytes}});
  return {{"message", sim::sentence(why)},
          {"buffer", why.buffer},
          {"role", program::name_of(why.role)},
          {"time", why.time},
          {"line", why.line},
          {"requested", why.requested},
          {"allocated", why.allocated},
          {"reserved", why.reserved},
          {"capacity", why.capacity},
          {"context", why.context},
          {"holders", std::move(holders)}};
}

Json notes_of(const analysis::Run& run) {
  Json notes = Json::array();
  for (const analysis::RunNote& note : run.notes) {
    const trace::Lane& lane = run.trace->lanes()[note.lane];
    notes.push_back({{"group", lane.group},
                     {"lane", lane.name},
                     {"start", note.start},
                     {"end", note.end},
                     {"text", note.text}});
  }
  return notes;
}

Json ranks_of(const analysis::Run& run) {
  Json ranks = Json::array();
  for (const analysis::RankTimes& one : run.ranks)
    ranks.push_back(
        {{"rank", one.rank}, {"busy", one.busy}, {"wait", one.wait}, {"idle", one.idle}});
  return ranks;
}

Json diagnosis_of(const analysis::Run& run, const std::optional<analysis::WhatIf>& asked) {
  Json findings = Json::array();
  for (const analysis::Finding& one : analysis::diagnose(run, {}, asked ? &*asked : nullptr))
    findings.push_back(
        {{"part", one.title.empty() ? std::string(analysis::key_of(one.part)) : one.title},
         {"time", one.nanos},
         {"share", one.share},
         {"gain", one.gain},
         {"most_gain", one.most_gain > 0 ? Json(one.most_gain) : Json(nullptr)},
         {"why", one.why},
         {"advice", one.advice}});
  return findings;
}

Json each_of(const std::vector<analysis::Altered>& all) {
  Json settings = Json::array();
  for (const analysis::Altered& one : all) settings.push_back(one.settings);
  return settings;
}

Json what_if_of(const analysis::WhatIf& what_if) {
  Json changes = Json::array();
  for (const analysis::Altered& one : what_if.changes) {
    changes.push_back({{"change", one.words}, {"settings", one.settings}, {"time", one.time}});
    if (what_if.of_knobs) changes.back()["reserved"] = one.reserved;
  }
  if (!what_if.refusal.empty()) return {{"refusal", what_if.refusal}};
  Json json{{"origin", "simulated"},        {"unit", "ns"},
            {"steps", what_if.steps},       {"recorded", what_if.recorded},
            {"replayed", what_if.replayed}, {"changes", std::move(changes)}};
  if (!what_if.of_knobs) return json;
  json["in_vain"] = Json::array();
  for (const analysis::Altered& one : what_if.in_vain)
    json["in_vain"].push_back({{"settings", one.settings}, {"time", one.time}});
  json["only_together"] = each_of(what_if.only_together);
  json["does_not_fit"] = each_of(what_if.unfit);
  json["untried"] = what_if.untried;
  json["untried_settings"] = what_if.untried_settings;
  json["room"] = what_if.room;
  return json;
}

// Its parts as times of a step, where the run has steps; those of none are left out.
Json path_of(const analysis::Run& run) {
  const analysis::CriticalPath path = analysis::critical_path(run.facts.measured);
  Json parts = Json::object();
  for (std::size_t i = 0; i < analysis::kPathPartCount; ++i)
    if (path.time[i] > 0)
      parts[std::string(analysis::name_of(static_cast<analysis::PathPart>(i)))] =
          static_cast<double>(path.time[i]) / path.steps;
  if (parts.empty()) return parts;
  constexpr std::size_t kLongest = 10;
  Json longest = Json::array();
  for (const analysis::OnPath& one : analysis::longest_on_path(path, *run.trace, kLongest))
    longest.push_back({{"name", one.name}, {"time", static_cast<double>(one.time) / path.steps}});
  return {{"inferred", path.is_inferred},
          {"unit", "ns"},
          {"parts", std::move(parts)},
          {"longest", std::move(longest)}};
}

// What a change brings is asked of a trace, and of a run that stands alone: beside another one it
// is seen what a change has brought.
Json run_of(const analysis::Run& run, bool says_origin, bool is_alone) {
  Json json = Json::object();
  if (says_origin) json["origin"] = origin_of(run);
  json["machine"] = run.machine ? run.machine->id : run.trace->origin().subject;
  if (const trace::Origin& origin = run.trace->origin(); trace::is_measured(*run.trace))
    json["device"] = {{"name", origin.subject}, {"detail", origin.detail}};
  json["config"] = config_of(run);
  if (!is_imported(run)) json["knobs"] = knobs_of(run);
  json["metrics"] = metrics_of(run);
  if (!run.ranks.empty()) json["ranks"] = ranks_of(run);
  json["spans"] = run.trace->spans().size();
  json["dropped"] = run.trace->dropped_events();
  const auto asked =
      is_alone || !run.program ? analysis::what_if(run) : std::optional<analysis::WhatIf>();
  if (run.facts.measured.steps > 0)
    json["measured_steps"] = {{"first", run.facts.measured.first_step},
                              {"count", run.facts.measured.steps}};
  if (Json findings = diagnosis_of(run, asked); !findings.empty())
    json["diagnosis"] = std::move(findings);
  if (Json path = path_of(run); !path.empty()) json["critical_path"] = std::move(path);
  if (asked) json["what_if"] = what_if_of(*asked);
  if (run.ending)
    json[std::string(sim::name_of(*run.ending))] =
        std::visit([](const auto& why) { return ending_of(why); }, *run.ending);
  if (json.contains("out_of_memory") && run.program && run.machine)
    if (const auto largest = analysis::largest_batch_with(run.config, *run.machine, ""))
      json["out_of_memory"]["largest_batch"] = largest;
  json["caveat"] = run.caveat.empty() ? Json(nullptr) : Json(run.caveat);
  if (Json drops = drops_of(run); !drops.empty()) json["drops"] = std::move(drops);
  if (!run.notes.empty()) json["notes"] = notes_of(run);
  return json;
}

bool same_origin(const std::vector<const analysis::Run*>& runs) {
  for (const analysis::Run* run : runs)
    if (run->trace->origin().kind != runs.front()->trace->origin().kind) return false;
  return true;
}

Json runs_of(const std::vector<const analysis::Run*>& runs, std::int64_t seed,
             std::string_view executor) {
  Json json = Json::object();
  if (runs.empty()) return json;
  const bool imported = is_imported(*runs.front());
  json["origin"] = origin_of(*runs.front());
  json["executor"] = imported ? "imported" : std::string(executor);
  json["seed"] = imported ? Json(nullptr) : Json(seed);
  json["runs"] = Json::object();
  const bool says_origin = !same_origin(runs);
  for (const analysis::Run* run : runs)
    json["runs"][run->label] = run_of(*run, says_origin, runs.size() == 1);
  return json;
}

Json ratios_of(const analysis::Run& a, const analysis::Run& b) {
  Json ratios = Json::object();
  for (const analysis::MetricValue& one : a.metrics) {
    const auto other = analysis::value_of(b.metrics, one.metric->name);
    if (!other || one.value == 0 || !std::isfinite(*other / one.value)) continue;
    ratios[one.metric->name] = *other / one.value;
  }
  return ratios;
}

Json parts_of(const analysis::Run& a, const analysis::Run& b) {
  Json parts = Json::array();
  if (compare_times(a, b).changes.empty()) return parts;
  for (const analysis::Change& change : analysis::compare(
           a.facts.partition, a.facts.measured.per(), b.facts.partition, b.facts.measured.per()))
    parts.push_back({{"part", analysis::key_of(change.part)}, {"ns", change.nanos}});
  return parts;
}

Json range_of(const program::Knob& knob) {
  if (!program::is_numeric(knob)) return nullptr;
  return {{"min", knob.least}, {"max", knob.most}};
}

Json knob_of(const program::Knob& knob) {
  Json json = {{"name", knob.name},
               {"type", program::name_of(knob.type)},
               {"default", analysis::value_json<Json>(knob.initial)},
               {"unit", knob.unit}};
  if (!knob.choices.empty()) {
    json["choices"] = knob.choices;
    json["built_choices"] = knob.built_choices;
  }
  if (Json range = range_of(knob); !range.is_null()) json["range"] = std::move(range);
  json["pytorch"] = knob.pytorch;
  json["help"] = knob.help;
  json["built"] = true;
  return json;
}

Json machine_of(const machine::Machine& machine) {
  Json figures = Json::array();
  for (const machine::Figure& figure : machine::all_figures(machine)) {
    if (!std::isfinite(figure.value)) continue;
    figures.push_back({{"name", figure.name},
                       {"value", figure.value},
                       {"unit", figure.unit},
                       {"meaning", machine::meaning_of(figure.name)},
                       {"source", machine::name_of(figure.provenance)},
                       {"note", figure.note}});
  }
  return {{"id", machine.id},        {"name", machine.name},
          {"gpu", machine.gpu.name}, {"gpu_count", machine.gpu_count},
          {"nodes", machine.nodes},  {"figures", std::move(figures)}};
}

Json expectation_of(const ExpectationEntry& entry) {
  Json json{{"expression", entry.expression}};
  if (entry.min) json["min"] = *entry.min;
  if (entry.max) json["max"] = *entry.max;
  if (entry.value && std::isfinite(*entry.value)) json["value"] = *entry.value;
  if (!entry.unit.empty()) json["unit"] = entry.unit;
  json["holds"] = entry.holds ? Json(*entry.holds) : Json(nullptr);
  if (!entry.why.empty()) json["why"] = entry.why;
  return json;
}

Json expectations_of(const std::vector<ExpectationEntry>& entries) {
  Json list = Json::array();
  for (const ExpectationEntry& entry : entries) list.push_back(expectation_of(entry));
  return list;
}

// {"key": [an object an entry]}.
template <typename Entries, typename Make>
std::string list_json(const char* key, const Entries& entries, const Make& make) {
  Json list = Json::array();
  for (const auto& entry : entries) list.push_back(make(entry));
  return dumped({{key, std::move(list)}});
}

// Times in nanoseconds.
Json figures_of(analysis::Operation::Where where, const analysis::OperationRow::Figures& one) {
  Json json{{"count", one.count}, {"total", one.total}, {"mean", one.mean}};
  if (where != analysis::Operation::Where::kHost) return json;
  json["self"] = one.self;
  json["gpu"] = one.gpu;
  return json;
}

// Every operation of either, by the size of the difference; counts and totals as `parts_are`.
Json operations_of(const analysis::Run& a, const analysis::Run& b) {
  Json rows = Json::array();
  for (const analysis::OperationRow& row :
       analysis::compare_operations(a.facts.measured, b.facts.measured))
    rows.push_back({{"name", row.name},
                    {"where", std::string(analysis::name_of(row.where))},
                    {"A", figures_of(row.where, row.a)},
                    {"B", figures_of(row.where, row.b)},
                    {"difference", row.difference()}});
  return rows;
}

// Of one run alone, longest first.
void add_operations(Json& json, const analysis::Run& run) {
  Json rows = Json::array();
  for (const analysis::OperationRow& row : analysis::operation_rows(run.facts.measured)) {
    Json one{{"name", row.name}, {"where", std::string(analysis::name_of(row.where))}};
    one.update(figures_of(row.where, row.a));
    rows.push_back(std::move(one));
  }
  if (rows.empty()) return;
  json["operations"] = std::move(rows);
  json["operations_are"] = run.facts.measured.steps > 0 ? "a step" : "the whole run";
}

}  // namespace

std::string run_json(const std::vector<const analysis::Run*>& runs, std::int64_t seed,
                     std::string_view executor, const std::string& caveat,
                     const std::vector<ExpectationEntry>& expectations) {
  Json json = runs_of(runs, seed, executor);
  for (const analysis::Run* run : runs) add_operations(json["runs"][run->label], *run);
  if (!caveat.empty()) json["caveat"] = caveat;
  if (!expectations.empty()) json["expectations"] = expectations_of(expectations);
  return dumped(json);
}

std::string compare_json(const analysis::Run& a, const analysis::Run& b, std::int64_t seed,
                         std::string_view executor) {
  Json json = runs_of({&a, &b}, seed, executor);
  const Comparison comparison = compare_times(a, b);
  json["ratios"] = ratios_of(a, b);
  json["parts"] = parts_of(a, b);
  json["parts_are"] = comparison.steps == Steps::kBoth ? "a step" : "the whole run";
  json["operations"] = operations_of(a, b);
  return dumped(json);
}

std::string knobs_json() {
  return list_json("knobs", program::knobs(), knob_of);
}

std::string metrics_json() {
  return list_json("metrics", analysis::metrics(), [](const analysis::Metric& metric) {
    return Json{{"name", metric.name},   {"unit", metric.unit},
                {"label", metric.label}, {"help", metric.help},
                {"share", metric.share}, {"less_is_better", metric.less_is_better},
                {"built", true}};
  });
}

std::string machines_json(const std::vector<machine::Machine>& machines) {
  return list_json("machines", machines, machine_of);
}

std::string lessons_json(const std::vector<LessonEntry>& lessons) {
  return list_json("lessons", lessons, [](const LessonEntry& one) {
    return Json{{"id", one.id},
                {"title", one.title},
                {"topic", one.topic},
                {"level", one.level},
                {"minutes", one.minutes},
                {"track", one.track},
                {"requires", one.required},
                {"terms", one.terms},
                {"claim", one.claim},
                {"heard", one.heard},
                {"machines", one.machines}};
  });
}

std::string actions_json(const std::vector<ActionEntry>& actions) {
  return list_json("actions", actions, [](const ActionEntry& one) {
    return Json{
        {"id", one.id}, {"label", one.label}, {"shortcut", one.shortcut}, {"help", one.help}};
  });
}

std::string doctor_json(const std::vector<DoctorEntry>& entries) {
  return list_json("doctor", entries, [](const DoctorEntry& one) {
    return Json{{"what", one.what},
                {"found", one.found},
                {"detail", one.detail},
                {"switches_off", one.switches_off}};
  });
}

std::string validation_json(const std::vector<ValidationEntry>& entries) {
  return list_json("checks", entries, [](const ValidationEntry& entry) -> Json {
    return {{"id", entry.id},
            {"what", entry.what},
            {"source", entry.source},
            {"published", entry.published},
            {"simulated", entry.simulated},
            {"error", entry.error},
            {"tolerance", entry.tolerance},
            {"within", entry.within}};
  });
}

std::string check_json(std::size_t files, const std::vector<std::string>& findings) {
  return dumped({{"checked", files}, {"findings", findings}});
}

}  // namespace trainscope::report
