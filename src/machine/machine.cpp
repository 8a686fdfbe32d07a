#include "machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <system_error>

#include "base/files.h"
#include "base/suggest.h"
#include "base/toml.h"
#include "machine/fields.h"
#include "machine/number.h"
#include "machine/rules.h"

namespace trainscope::machine {
namespace fs = std::filesystem;
namespace {

using Figures = std::vector<Figure>;

// A path that is equal for two names of one file, and never throws.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  return error ? path : found;
}

// The files on the way from the one that was asked for to the one that is being read.
using BaseChain = std::vector<fs::path>;

struct GpuSheet {
  Gpu gpu;
  Figures figures;
};

fs::path gpu_folder() {
  return home_folder() / "assets" / "gpus";
}
fs::path machine_folder() {
  return home_folder() / "assets" / "machines";
}

std::vector<std::string> ids_in(const fs::path& folder) {
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".toml") ids.push_back(entry.path().stem().string());
  std::sort(ids.begin(), ids.end());
  return ids;
}

bool holds(const std::vector<std::string>& ids, const std::string& id) {
  return std::binary_search(ids.begin(), ids.end(), id);
}

bool is_file_name(const std::string& id_or_file) {
  return id_or_file.ends_with(".toml");
}

std::string unknown_machine(const std::string& id) {
  return fmt::format(
      "there is no machine {}{}; `trainscope machines` lists them, and a file of your own ends in "
      ".toml",
      id.empty() ? "with an empty name" : id, did_you_mean(id, machine_ids()));
}

std::string unknown_gpu(const std::string& id) {
  const auto ids = ids_in(gpu_folder());
  return fmt::format("there is no GPU {}{}; shipped are {}, and a file of your own ends in .toml",
                     id.empty() ? "with an empty name" : id, did_you_mean(id, ids),
                     fmt::join(ids, ", "));
}

SourceFile source_file(const toml::table& root, const std::string& name) {
  SourceFile file{name, read_provenance(root, name), ""};
  file.note = read_text(root, "note", name).value_or("");
  return file;
}

void keep(Figures& figures, Figure figure) {
  const auto same = std::find_if(figures.begin(), figures.end(),
                                 [&](const Figure& old) { return old.name == figure.name; });
  if (same == figures.end())
    figures.push_back(std::move(figure));
  else
    *same = std::move(figure);
}

bool has_figure(const Figures& figures, const std::string& name) {
  return std::any_of(figures.begin(), figures.end(),
                     [&](const Figure& figure) { return figure.name == name; });
}

template <class Part>
std::vector<std::string> keys_of(std::span<const Field<Part>> fields) {
  std::vector<std::string> keys;
  for (const Field<Part>& field : fields) keys.emplace_back(field.key);
  return keys;
}

template <class Part>
void assign(Part& part, const Field<Part>& field, double value) {
  std::visit([&]<class Value>(Value Part::* member) { part.*member = static_cast<Value>(value); },
             field.member);
}

// Reads the fields that `table` has; those that it lacks must have been inherited.
template <class Part>
void read_fields(const toml::table& table, const std::string& prefix,
                 std::span<const Field<Part>> fields, const SourceFile& file, Part& part,
                 Figures& figures) {
  for (const Field<Part>& field : fields) {
    const std::string name = prefix + std::string(field.key);
    const toml::node* node = table.get(field.key);
    if (!node && (has_figure(figures, name) || field.may_lack)) continue;
    if (!node)
      fail_at(table, file.name,
              fmt::format("{} is missing; write for example {} = {}", name, field.key,
                          example_of(field.dimension)));
    const bool whole = !std::holds_alternative<double Part::*>(field.member);
    Number number = read_number(*node, name, field.dimension, field.bounds,
                                whole ? Rounding::kWhole : Rounding::kNone, file);
    assign(part, field, number.value);
    keep(figures, std::move(number.figure));
  }
}

// The same for a table of its own, `[pcie]` or `[host]`, which a file that inherits may leave out.
template <class Part>
void read_section(const toml::table& root, const std::string& key,
                  std::span<const Field<Part>> fields, const SourceFile& file, Part& part,
                  Figures& figures) {
  const toml::node* node = root.get(key);
  static const toml::table nothing;
  const toml::table* table = node ? node->as_table() : &nothing;
  if (!table) fail_at(*node, file.name, fmt::format("{0} must be a table: [{0}]", key));
  if (!node && !has_figure(figures, key + "." + std::string(fields.front().key)))
    throw InputError(fmt::format(
        "{}: has no table [{}]; add it, or start from a shipped machine: base = \"h200-1\"",
        file.name, key));
  refuse_unknown_keys(*table, keys_of(fields), file.name, "[" + key + "]");
  read_fields(*table, key + ".", fields, file, part, figures);
}

// A file is called as its id, so that the id finds it.
void check_id(const toml::table& root, const std::string& id, const fs::path& path) {
  const std::string stem = path.stem().string();
  if (id == stem) return;
  fail_at(*root.get("id"), path.string(),
          fmt::format("the id is {} but the file is {}; write id = \"{}\" or rename the file", id,
                      path.filename().string(), stem));
}

std::string required_text(const toml::table& root, std::string_view key, std::string_view example,
                          const std::string& file) {
  if (auto text = read_text(root, key, file)) return *text;
  throw InputError(fmt::format("{}: has no {}; write {} = \"{}\"", file, key, key, example));
}

// What a file may leave out. Each figure stands beside the one that it goes with: the bandwidth of
// L2 after its size, the power after the clock, the share of one type after that of all.
void read_rare_fields(const toml::table& table, const SourceFile& file, Gpu& gpu,
                      Figures& figures) {
  constexpr std::array kAfter{std::pair{"gpu.l2_bandwidth", "gpu.l2"},
                              std::pair{"gpu.tdp", "gpu.boost_clock"},
                              std::pair{"gpu.fp32_gemm_efficiency", "gpu.gemm_efficiency"}};
  Figures read;
  for (const Field<Gpu>& field : kRareGpuFields)
    if (table.get(field.key)) read_fields<Gpu>(table, "gpu.", {&field, 1}, file, gpu, read);
  for (Figure& figure : read) {
    std::erase_if(figures, [&](const Figure& old) { return old.name == figure.name; });
    const auto* after =
        std::ranges::find(kAfter, figure.name, [](auto& pair) { return pair.first; });
    const auto place = std::ranges::find(figures, after->second, &Figure::name);
    figures.insert(std::next(place), std::move(figure));
  }
}

GpuSheet load_gpu_file(const fs::path& path) {
  const toml::table root = read_toml(path);
  const SourceFile file = source_file(root, path.string());
  auto known = keys_of<Gpu>(kGpuFields);
  known.insert(known.end(), {"id", "name", "source", "note"});
  for (const Field<Gpu>& field : kRareGpuFields) known.emplace_back(field.key);
  refuse_unknown_keys(root, known, file.name, "a GPU file");
  GpuSheet sheet;
  sheet.gpu.id = required_text(root, "id", path.stem().string(), file.name);
  check_id(root, sheet.gpu.id, path);
  sheet.gpu.name = required_text(root, "name", "NVIDIA H200 SXM", file.name);
  read_fields<Gpu>(root, "gpu.", kGpuFields, file, sheet.gpu, sheet.figures);
  read_rare_fields(root, file, sheet.gpu, sheet.figures);
  return sheet;
}

// The GPU that a machine file names; a file name is meant from the machine file's folder.
GpuSheet load_gpu(const toml::node& node, const fs::path& machine_file) {
  const std::string id = node.value<std::string>().value_or("");
  if (is_file_name(id)) return load_gpu_file(machine_file.parent_path() / id);
  if (!holds(ids_in(gpu_folder()), id)) fail_at(node, machine_file.string(), unknown_gpu(id));
  return load_gpu_file(gpu_folder() / (id + ".toml"));
}

// Forgets what a machine inherited and does not have.
void drop_figures(Machine& machine, std::string_view prefix) {
  std::erase_if(machine.figures,
                [&](const Figure& figure) { return figure.name.starts_with(prefix); });
}

void take_gpu(Machine& machine, GpuSheet sheet) {
  machine.gpu = std::move(sheet.gpu);
  drop_figures(machine, "gpu.");
  machine.figures.insert(machine.figures.begin(), sheet.figures.begin(), sheet.figures.end());
}

// `gpu = "h200"`, or a table that changes some of its numbers: `[gpu]` with `base = "h200"`, which
// a file that inherits a GPU may leave out.
void read_gpu(const toml::table& root, const fs::path& path, const SourceFile& file,
              Machine& machine) {
  const toml::node* node = root.get("gpu");
  const bool inherits = !machine.gpu.id.empty();
  if (!node && inherits) return;
  if (!node) throw InputError(file.name + ": names no GPU; write gpu = \"h200\"");
  if (node->is_string()) return take_gpu(machine, load_gpu(*node, path));
  const toml::table* table = node->as_table();
  if (!table) fail_at(*node, file.name, "gpu must be an id in quotes or a table: gpu = \"h200\"");
  auto known = keys_of<Gpu>(kGpuFields);
  known.emplace_back("base");
  for (const Field<Gpu>& field : kRareGpuFields) known.emplace_back(field.key);
  refuse_unknown_keys(*table, known, file.name, "[gpu]");
  const auto base = read_text(*table, "base", file.name);
  if (!base && !inherits)
    fail_at(*node, file.name, "[gpu] does not say which GPU it changes; write base = \"h200\"");
  if (base) take_gpu(machine, load_gpu(*table->get("base"), path));
  read_fields<Gpu>(*table, "gpu.", kGpuFields, file, machine.gpu, machine.figures);
  read_rare_fields(*table, file, machine.gpu, machine.figures);
}

LinkKind link_kind(const toml::node& node, const std::string& text, const std::string& file) {
  std::vector<std::string> names;
  for (const LinkKind kind : {LinkKind::kNvlink, LinkKind::kNvswitch, LinkKind::kPcie}) {
    if (text == name_of(kind)) return kind;
    names.push_back(name_of(kind));
  }
  fail_at(node, file,
          fmt::format("the kind of a link is nvlink, nvswitch or pcie, not {}{}", text,
                      did_you_mean(text, names)));
}

// One of `pairs`: two GPUs, and the links between them.
NvlinkPair read_pair(const toml::node& node, int gpus, const SourceFile& file) {
  const toml::array* numbers = node.as_array();
  const auto number = [&](std::size_t i) {
    return numbers && numbers->size() == 3 ? (*numbers)[i].value<int>().value_or(-1) : -1;
  };
  const NvlinkPair pair{number(0), number(1), number(2)};
  if (pair.a < 0 || pair.b < 0 || pair.links < 1)
    fail_at(
        node, file.name,
        "a pair of GPUs is written as two GPUs and the number of links between them: [0, 1, 2]");
  if (pair.a >= gpus || pair.b >= gpus || pair.a == pair.b)
    fail_at(node, file.name,
            fmt::format("links join two different GPUs of 0 to {}, not {} and {}", gpus - 1, pair.a,
                        pair.b));
  return pair;
}

// `pairs`: which GPUs share NVLinks.
void read_pairs(const toml::table& table, const SourceFile& file, Machine& machine) {
  const toml::node* node = table.get("pairs");
  if (!node) return;
  const toml::array* list = node->as_array();
  if (!list || machine.gpu_link.kind != LinkKind::kNvlink)
    fail_at(*node, file.name,
            "pairs is a list of GPUs that NVLinks join, beside kind = \"nvlink\": pairs = [[0, 1, "
            "2]]");
  machine.gpu_link.pairs.clear();
  for (const toml::node& one : *list)
    machine.gpu_link.pairs.push_back(read_pair(one, machine.gpu_count, file));
}

// `[gpu_link]`: the wires between several GPUs. One GPU has none, and inherits none.
void read_gpu_link(const toml::table& root, const SourceFile& file, Machine& machine) {
  const toml::node* node = root.get("gpu_link");
  if (machine.gpu_count == 1) {
    if (node)
      fail_at(
          *node, file.name,
          "gpu_link joins several GPUs and gpu_count is 1; leave it out or write gpu_count = 8");
    machine.gpu_link = {};
    drop_figures(machine, "gpu_link.");
    return;
  }
  const bool inherits = machine.gpu_link.kind != LinkKind::kNone;
  if (!node && inherits) return;
  if (!node)
    throw InputError(fmt::format(
        "{}: has {} GPUs and no table [gpu_link] that says how they are joined; add it, or start "
        "from a shipped machine: base = \"h200-8\"",
        file.name, machine.gpu_count));
  const toml::table* table = node->as_table();
  if (!table) fail_at(*node, file.name, "gpu_link must be a table: [gpu_link]");
  auto known = keys_of<GpuLink>(kGpuLinkFields);
  known.insert(known.end(), {"kind", "ring", "nvls", "pairs"});
  refuse_unknown_keys(*table, known, file.name, "[gpu_link]");
  const auto kind = read_text(*table, "kind", file.name);
  if (!kind && !inherits)
    fail_at(*table, file.name, "gpu_link.kind is missing; write for example kind = \"nvswitch\"");
  if (kind) machine.gpu_link.kind = link_kind(*table->get("kind"), *kind, file.name);
  read_fields<GpuLink>(*table, "gpu_link.", kGpuLinkFields, file, machine.gpu_link,
                       machine.figures);
  for (const Field<GpuLink>& field : kReachedFields)
    if (table->get(field.key))
      read_fields<GpuLink>(*table, "gpu_link.", std::span(&field, 1), file, machine.gpu_link,
                           machine.figures);
  read_pairs(*table, file, machine);
}

// `[pcie_tree]`: which GPUs hang on which processor and switch. Without it, all hang on one.
void read_pcie_tree(const toml::table& root, const SourceFile& file, Machine& machine) {
  if (machine.gpu_count > 1) {
    if (root.get("pcie_tree"))
      read_section<PcieTree>(root, "pcie_tree", kPcieTreeFields, file, machine.pcie_tree,
                             machine.figures);
    return;
  }
  if (const toml::node* node = root.get("pcie_tree"))
    fail_at(*node, file.name,
            "pcie_tree says how several GPUs are reached and gpu_count is 1; leave it out or write "
            "gpu_count = 8");
  machine.pcie_tree = {};
  drop_figures(machine, "pcie_tree.");
}

// `nodes`, which most files leave out. One node is no figure.
void read_nodes(const toml::table& root, const SourceFile& file, Machine& machine) {
  if (!root.get("nodes")) return;
  drop_figures(machine, "nodes");
  Figures figure;
  read_fields<Machine>(root, "", kNodeFields, file, machine, figure);
  if (machine.nodes == 1) return;
  const auto count = std::find_if(machine.figures.begin(), machine.figures.end(),
                                  [](const Figure& one) { return one.name == "gpu_count"; });
  machine.figures.insert(std::next(count), std::move(figure.front()));
}

// `[network]`: what joins several nodes. One node has none, and inherits none.
void read_network(const toml::table& root, const SourceFile& file, Machine& machine) {
  const toml::node* node = root.get("network");
  if (machine.nodes == 1) {
    if (node)
      fail_at(*node, file.name,
              "network joins several nodes and there is one; leave it out or write nodes = 2");
    machine.network = {};
    drop_figures(machine, "network.");
    return;
  }
  const bool inherits = has_figure(machine.figures, "network.bandwidth");
  if (!node && inherits) return;
  if (!node)
    throw InputError(
        fmt::format("{}: has {} nodes and no table [network] that says how they are joined; add "
                    "it, or start from a shipped machine: base = \"h200-8x2\"",
                    file.name, machine.nodes));
  read_section<Network>(root, "network", kNetworkFields, file, machine.network, machine.figures);
}

Machine load_machine_file(const fs::path& path, BaseChain chain);

Machine load_base(const toml::node& node, const fs::path& path, const BaseChain& chain) {
  const std::string base = node.value<std::string>().value_or("");
  if (!is_file_name(base) && !holds(machine_ids(), base))
    fail_at(node, path.string(), unknown_machine(base));
  const fs::path target =
      is_file_name(base) ? path.parent_path() / base : machine_folder() / (base + ".toml");
  if (std::find(chain.begin(), chain.end(), resolved(target)) != chain.end())
    fail_at(node, path.string(),
            fmt::format("base = \"{}\" leads back to a file that starts from this one; let one of "
                        "them start from a shipped machine",
                        base));
  return load_machine_file(target, chain);
}

// How the names of machines begin: "8 x ", "2 nodes of 8 x ".
std::string count_words(const Machine& machine) {
  if (machine.nodes == 1) return fmt::format("{} x ", machine.gpu_count);
  return fmt::format("{} nodes of {} x ", machine.nodes, machine.gpu_count);
}

// The name of a machine that has none of its own: that of `base`, with its own counts.
std::string name_after(const Machine& base, const Machine& machine, const std::string& stem) {
  std::string name = base.name;
  const std::string counts = count_words(base);
  if (name.starts_with(counts)) name.replace(0, counts.size(), count_words(machine));
  return fmt::format("{} ({})", name, stem);
}

Machine load_machine_file(const fs::path& path, BaseChain chain) {
  const toml::table root = read_toml(path);
  const SourceFile file = source_file(root, path.string());
  auto known = keys_of<Machine>(kMachineFields);
  known.insert(known.end(), {"nodes", "id", "name", "base", "source", "note", "gpu", "pcie", "host",
                             "gpu_link", "pcie_tree", "network"});
  refuse_unknown_keys(root, known, file.name, "a machine file");
  chain.push_back(resolved(path));

  Machine machine, base;
  const std::string stem = path.stem().string();
  const auto name = read_text(root, "name", file.name);
  const bool is_based = read_text(root, "base", file.name).has_value();
  if (is_based) {
    machine = base = load_base(*root.get("base"), path, chain);
    machine.id = read_text(root, "id", file.name).value_or(stem);
  } else {
    machine.id = required_text(root, "id", stem, file.name);
    machine.name = required_text(root, "name", "1 x H200, PCIe 5.0 x16", file.name);
  }
  check_id(root, machine.id, path);
  read_gpu(root, path, file, machine);
  read_fields<Machine>(root, "", kMachineFields, file, machine, machine.figures);
  read_nodes(root, file, machine);
  if (is_based) machine.name = name ? *name : name_after(base, machine, stem);
  const Machine before = machine;
  read_section<Pcie>(root, "pcie", kPcieFields, file, machine.pcie, machine.figures);
  read_section<Host>(root, "host", kHostFields, file, machine.host, machine.figures);
  settle_pcie(root, file.name, before, machine);
  settle_host(root, file.name, before, machine);
  read_gpu_link(root, file, machine);
  settle_gpu_link(root, before, machine);
  read_pcie_tree(root, file, machine);
  read_network(root, file, machine);
  return machine;
}

}  // namespace

std::string name_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNone:
      return "none";
    case LinkKind::kNvlink:
      return "nvlink";
    case LinkKind::kNvswitch:
      return "nvswitch";
    case LinkKind::kPcie:
      return "pcie";
  }
  return "";
}

std::int64_t room_of_allocator(const Machine& machine) {
  return std::max<std::int64_t>(0, machine.gpu.memory_bytes - machine.host.context_bytes);
}

std::int64_t all_gpus(const Machine& machine) {
  return std::int64_t{machine.gpu_count} * machine.nodes;
}

std::string gpus_in_words(const Machine& machine) {
  if (machine.nodes == 1) return fmt::format("{}", machine.gpu_count);
  return fmt::format("{} x {}", machine.nodes, machine.gpu_count);
}

Machine load_machine(const std::string& id_or_file) {
  if (is_file_name(id_or_file)) return load_machine_file(id_or_file, {});
  if (!holds(machine_ids(), id_or_file)) throw InputError(unknown_machine(id_or_file));
  return load_machine_file(machine_folder() / (id_or_file + ".toml"), {});
}

std::vector<std::string> machine_ids() {
  return ids_in(machine_folder());
}

void check_machine_file(const fs::path& path) {
  load_machine_file(path, {});
}

void check_gpu_file(const fs::path& path) {
  load_gpu_file(path);
}

}  // namespace trainscope::machine
