#include "machine/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/toml.h"
#include "base/units.h"
#include "machine/topology.h"

namespace trainscope::machine {
namespace {

// The number that this very file writes; nothing when it inherits it.
const toml::node* written(const toml::table& root, const char* section, const char* key) {
  const toml::table* table = root[section].as_table();
  return table ? table->get(key) : nullptr;
}

// Says in the figure that its number follows another one now. `value` is in base units.
void carry_over(Machine& machine, const std::string& name, double value, const toml::table& root,
                const std::string& with) {
  const std::string from = root["base"].value_or(std::string("the base"));
  for (Figure& figure : machine.figures) {
    if (figure.name != name) continue;
    figure.value = value / unit_factor(figure.unit).value_or(1);
    figure.provenance = Provenance::kFitted;
    figure.note = fmt::format("follows {} as on {}", with, from);
  }
}

// Every digit that matters, so that what is told to be written will be taken.
std::string exact_rate(double bytes_per_s) {
  return fmt::format("{:g} GB/s", bytes_per_s / 1e9);
}

double of_both(const Pcie& pcie) {
  return pcie.h2d_bytes_per_s + pcie.d2h_bytes_per_s;
}

}  // namespace

void settle_pcie(const toml::table& root, const std::string& file, const Machine& before,
                 Machine& machine) {
  Pcie& pcie = machine.pcie;
  const double least = std::max(pcie.h2d_bytes_per_s, pcie.d2h_bytes_per_s);
  const double most = of_both(pcie);
  const toml::node* node = written(root, "pcie", "both");
  if (!node) {
    if (most == of_both(before.pcie)) return;
    const double share = before.pcie.both_bytes_per_s / of_both(before.pcie);
    constexpr double kStep = 1e7;  // 0.01 GB/s: a share is no more exact than what it came from
    pcie.both_bytes_per_s = std::clamp(std::round(share * most / kStep) * kStep, least, most);
    carry_over(machine, "pcie.both", pcie.both_bytes_per_s, root, "pcie.h2d and pcie.d2h");
    return;
  }
  constexpr double kRounding = 1e-9;  // a sum of what was written may miss what is written
  if (pcie.both_bytes_per_s < least)
    fail_at(*node, file,
            fmt::format("pcie.both is {}, less than one direction carries alone; write at least {}",
                        exact_rate(pcie.both_bytes_per_s), exact_rate(least)));
  if (pcie.both_bytes_per_s > most * (1 + kRounding))
    fail_at(*node, file,
            fmt::format("pcie.both is {}, more than pcie.h2d and pcie.d2h together; write at most "
                        "{}",
                        exact_rate(pcie.both_bytes_per_s), exact_rate(most)));
}

namespace {

void settle_page_lock(Machine& machine) {
  if (machine.host.page_lock_bytes_per_s > 0) return;
  constexpr double kPageLock = 1.63;  // GB/s
  machine.host.page_lock_bytes_per_s = kPageLock * 1e9;
  const auto before = std::ranges::find(machine.figures, "host.memcpy_back", &Figure::name);
  machine.figures.insert(
      before == machine.figures.end() ? before : std::next(before),
      {"host.page_lock", kPageLock, "GB/s", Provenance::kFitted,
       "12 x 64 MiB in 494.8 ms on an EPYC 7H12 (pytorch#197868); carried over"});
}

}  // namespace

void settle_host(const toml::table& root, const std::string& file, const Machine& before,
                 Machine& machine) {
  settle_page_lock(machine);
  Host& host = machine.host;
  const toml::node* node = written(root, "host", "interpreter_call");
  if (!node) {
    if (host.eager_operator_ns == before.host.eager_operator_ns) return;
    const double share = before.host.eager_operator_ns == 0
                             ? 0
                             : static_cast<double>(before.host.interpreter_call_ns) /
                                   static_cast<double>(before.host.eager_operator_ns);
    host.interpreter_call_ns = std::llround(share * static_cast<double>(host.eager_operator_ns));
    carry_over(machine, "host.interpreter_call", static_cast<double>(host.interpreter_call_ns),
               root, "host.eager_operator");
    return;
  }
  if (host.interpreter_call_ns > host.eager_operator_ns)
    fail_at(*node, file,
            fmt::format("host.interpreter_call is {}, more than the {} of host.eager_operator, of "
                        "which it is a part",
                        format_nanos(static_cast<double>(host.interpreter_call_ns)),
                        format_nanos(static_cast<double>(host.eager_operator_ns))));
}

namespace {

// Of the peak of a GPU's links, what a large all-reduce reaches (bus bandwidth).
struct Reached {
  double ring = 0;
  double nvls = 0;  // 0: the switch cannot add
  const char* ring_note = "";
  const char* nvls_note = "";
};

// NVLS needs the switches of Hopper or later (nccl: src/transport/nvls.cc).
Reached reached(const Machine& machine) {
  constexpr double kFirstNvls = 9.0;
  switch (machine.gpu_link.kind) {
    case LinkKind::kPcie:
      return {kPcieRingShare, 0, "2 x L40S reach 15.8 of 31.5 GB/s (yumibyte/CS244C-Research)", ""};
    case LinkKind::kNvlink:
      return {0.8, 0, "NCCL reckons with 20 GB/s of a link's 25 (nccl: src/graph/topo.h)", ""};
    case LinkKind::kNvswitch:
      return {0.816, machine.gpu.compute_capability >= kFirstNvls ? 1.072 : 0,
              "8 x H200 without NVLS reach 367 of 450 GB/s (ml-eng network/README.md)",
              "8 x H200 reach 482 of 450 GB/s (ml-eng network/README.md)"};
    case LinkKind::kNone:
      break;
  }
  return {};
}

bool is_written(const toml::table& root, const char* key) {
  return written(root, "gpu_link", key) != nullptr;
}

void add_reached(Machine& machine, const char* key, double value, const char* note) {
  const std::string name = std::string("gpu_link.") + key;
  std::erase_if(machine.figures, [&](const Figure& figure) { return figure.name == name; });
  if (value == 0) return;
  machine.figures.push_back({name, value / 1e9, "GB/s", Provenance::kFitted,
                             std::string("a share of bandwidth: ") + note + "; carried over"});
}

}  // namespace

void settle_gpu_link(const toml::table& root, const Machine& before, Machine& machine) {
  GpuLink& link = machine.gpu_link;
  const GpuLink& old = before.gpu_link;
  if (link.kind == old.kind && link.bytes_per_s == old.bytes_per_s) return;
  const Reached share = reached(machine);
  if (!is_written(root, "ring")) {
    link.ring_bytes_per_s = share.ring * link.bytes_per_s;
    add_reached(machine, "ring", link.ring_bytes_per_s, share.ring_note);
  }
  if (!is_written(root, "nvls")) {
    link.nvls_bytes_per_s = share.nvls * link.bytes_per_s;
    add_reached(machine, "nvls", link.nvls_bytes_per_s, share.nvls_note);
  }
}

}  // namespace trainscope::machine
