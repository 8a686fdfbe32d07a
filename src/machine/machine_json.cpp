#include "machine/machine_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "machine/fields.h"

namespace trainscope::machine {
namespace {

using Json = nlohmann::json;

template <class Part, class Fields>
Json numbers_of(const Part& part, const Fields& fields) {
  Json json = Json::object();
  for (const Field<Part>& field : fields)
    std::visit([&](auto member) { json[std::string(field.key)] = part.*member; }, field.member);
  return json;
}

[[noreturn]] void out_of_range(std::string_view key) {
  throw InputError("the machine's " + std::string(key) + " is out of range");
}

void take(const Json& json, std::string_view, bool& value) {
  value = json.get<bool>();
}
void take(const Json& json, std::string_view key, double& value) {
  value = json.get<double>();
  if (!std::isfinite(value) || value < 0) out_of_range(key);
}
template <typename Whole>
void take(const Json& json, std::string_view key, Whole& value) {
  const auto given = json.is_number_integer() ? json.get<std::int64_t>() : -1;
  if (given < 0 || given > std::int64_t{std::numeric_limits<Whole>::max()}) out_of_range(key);
  value = static_cast<Whole>(given);
}

template <class Part, class Fields>
void take_numbers(const Json& json, const Fields& fields, Part& part) {
  for (const Field<Part>& field : fields) {
    const auto found = json.find(std::string(field.key));
    if (found == json.end()) continue;
    std::visit([&](auto member) { take(*found, field.key, part.*member); }, field.member);
  }
}

// What a machine's file may not say, a saved machine may not either. `or_none`: 0 stands for what
// the machine does not have.
template <class Part, class Fields>
void require_bounds(const Part& part, const Fields& fields, bool or_none = false) {
  for (const Field<Part>& field : fields) {
    const auto value =
        std::visit([&](auto member) { return static_cast<double>(part.*member); }, field.member);
    const bool inside = value >= field.bounds.least && value <= field.bounds.most;
    if (!inside && !(or_none && value == 0)) out_of_range(field.key);
  }
}

void require_bounds(const Machine& machine) {
  constexpr std::int64_t kMostGpus = 1 << 20;
  require_bounds(machine, kMachineFields);
  require_bounds(machine, kNodeFields);
  if (std::int64_t{machine.gpu_count} * machine.nodes > kMostGpus) out_of_range("gpu_count");
  require_bounds(machine.gpu, kGpuFields);
  require_bounds(machine.gpu, kRareGpuFields);
  if (!(machine.gpu.clock_share > 0 && machine.gpu.clock_share <= 1)) out_of_range("clock_share");
  require_bounds(machine.pcie, kPcieFields);
  require_bounds(machine.host, kHostFields);
  require_bounds(machine.pcie_tree, kPcieTreeFields);
  const bool linked = machine.gpu_link.kind != LinkKind::kNone;
  require_bounds(machine.gpu_link, kGpuLinkFields, !linked);
  require_bounds(machine.gpu_link, kReachedFields, true);
  require_bounds(machine.network, kNetworkFields, machine.nodes == 1);
}

template <typename Word>
Word word_of(const Json& json, Word last) {
  const auto word = json.get<std::string>();
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name_of(static_cast<Word>(i)) == word) return static_cast<Word>(i);
  throw InputError("the machine holds the unknown word " + word);
}

Json pairs_of(const GpuLink& link) {
  Json pairs = Json::array();
  for (const NvlinkPair& pair : link.pairs) pairs.push_back({pair.a, pair.b, pair.links});
  return pairs;
}

void take_pairs(const Json& json, int gpus, GpuLink& link) {
  constexpr int kMostLinks = 1024;
  const auto found = json.find("pairs");
  if (found == json.end()) return;
  for (const Json& one : *found) {
    NvlinkPair pair;
    take(one.at(0), "pairs", pair.a);
    take(one.at(1), "pairs", pair.b);
    take(one.at(2), "pairs", pair.links);
    if (pair.a >= gpus || pair.b >= gpus || pair.a == pair.b || pair.links < 1 ||
        pair.links > kMostLinks)
      out_of_range("pairs");
    link.pairs.push_back(pair);
  }
}

Json figures_of(const Machine& machine) {
  Json figures = Json::array();
  for (const Figure& figure : machine.figures)
    figures.push_back({{"name", figure.name},
                       {"value", figure.value},
                       {"unit", figure.unit},
                       {"source", name_of(figure.provenance)},
                       {"note", figure.note}});
  return figures;
}

std::vector<Figure> take_figures(const Json& json) {
  std::vector<Figure> figures;
  for (const Json& one : json)
    figures.push_back({one.at("name"), one.at("value"), one.at("unit"),
                       word_of(one.at("source"), Provenance::kFitted), one.at("note")});
  return figures;
}

}  // namespace

Json to_json(const Machine& machine) {
  Json json = numbers_of(machine, kMachineFields);
  json.update(numbers_of(machine, kNodeFields));
  json["id"] = machine.id;
  json["name"] = machine.name;
  json["gpu"] = numbers_of(machine.gpu, kGpuFields);
  json["gpu"].update(numbers_of(machine.gpu, kRareGpuFields));
  if (machine.gpu.clock_share != 1) json["gpu"]["clock_share"] = machine.gpu.clock_share;
  json["gpu"]["id"] = machine.gpu.id;
  json["gpu"]["name"] = machine.gpu.name;
  json["pcie"] = numbers_of(machine.pcie, kPcieFields);
  json["host"] = numbers_of(machine.host, kHostFields);
  json["gpu_link"] = numbers_of(machine.gpu_link, kGpuLinkFields);
  json["gpu_link"].update(numbers_of(machine.gpu_link, kReachedFields));
  json["gpu_link"]["pairs"] = pairs_of(machine.gpu_link);
  json["pcie_tree"] = numbers_of(machine.pcie_tree, kPcieTreeFields);
  json["gpu_link"]["kind"] = name_of(machine.gpu_link.kind);
  json["network"] = numbers_of(machine.network, kNetworkFields);
  json["figures"] = figures_of(machine);
  return json;
}

Machine machine_from_json(const Json& json) {
  Machine machine;
  machine.id = json.at("id");
  machine.name = json.at("name");
  machine.gpu.id = json.at("gpu").at("id");
  machine.gpu.name = json.at("gpu").at("name");
  take_numbers(json, kMachineFields, machine);
  take_numbers(json, kNodeFields, machine);
  take_numbers(json.at("gpu"), kGpuFields, machine.gpu);
  take_numbers(json.at("gpu"), kRareGpuFields, machine.gpu);
  machine.gpu.clock_share = json.at("gpu").value("clock_share", 1.0);
  take_numbers(json.at("pcie"), kPcieFields, machine.pcie);
  take_numbers(json.at("host"), kHostFields, machine.host);
  take_numbers(json.at("gpu_link"), kGpuLinkFields, machine.gpu_link);
  machine.gpu_link.kind = word_of(json.at("gpu_link").at("kind"), LinkKind::kPcie);
  take_numbers(json.at("gpu_link"), kReachedFields, machine.gpu_link);
  take_pairs(json.at("gpu_link"), machine.gpu_count, machine.gpu_link);
  if (json.contains("pcie_tree"))
    take_numbers(json.at("pcie_tree"), kPcieTreeFields, machine.pcie_tree);
  take_numbers(json.at("network"), kNetworkFields, machine.network);
  require_bounds(machine);
  machine.figures = take_figures(json.at("figures"));
  return machine;
}

}  // namespace trainscope::machine
