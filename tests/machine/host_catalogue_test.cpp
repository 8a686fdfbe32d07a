// What the hosts of the shipped machines must be: their memory, links, disks and software, against
// what was measured of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "machine/machine.h"
#include "machine/shipped_machines.h"

using namespace trainscope;
using namespace trainscope::machine;
using Catch::Matchers::Contains;
using test::figure_of;
using test::shipped_machines;

namespace {

// The same back: a chunk crosses the link while the thread copies the one before it out.
double staged_back_bytes_per_s(const Machine& machine, std::int64_t bytes) {
  const Host& host = machine.host;
  const double first_chunk = static_cast<double>(std::min(bytes, host.staging_chunk_bytes));
  const double seconds =
      static_cast<double>(bytes) / host.memcpy_back_bytes_per_s +
      first_chunk / machine.pcie.d2h_bytes_per_s +
      static_cast<double>(host.copy_call_ns + machine.pcie.d2h_latency_ns) * 1e-9;
  return static_cast<double>(bytes) / seconds;
}

// A pageable host-to-device copy as the driver does it: the thread copies one chunk after another
// to pinned buffers, and each crosses the link while the next is copied.
double staged_copy_seconds(const Machine& machine, std::int64_t bytes) {
  const Host& host = machine.host;
  const double last_chunk = static_cast<double>((bytes - 1) % host.staging_chunk_bytes + 1);
  return static_cast<double>(bytes) / host.memcpy_bytes_per_s +
         last_chunk / machine.pcie.h2d_bytes_per_s +
         static_cast<double>(host.copy_call_ns + machine.pcie.h2d_latency_ns) * 1e-9;
}

double staged_bytes_per_s(const Machine& machine, std::int64_t bytes) {
  return static_cast<double>(bytes) / staged_copy_seconds(machine, bytes);
}

}  // namespace

TEST_CASE("a link carries most of its raw rate and no more") {
  const std::map<int, double> raw_lane_bytes_per_s{{3, 0.985e9}, {4, 1.969e9}, {5, 3.938e9}};
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const Pcie& pcie = machine.pcie;
    const double raw = raw_lane_bytes_per_s.at(pcie.generation) * pcie.lanes;
    for (const double rate : {pcie.h2d_bytes_per_s, pcie.d2h_bytes_per_s}) {
      CHECK(rate < raw);
      CHECK(rate > 0.7 * raw);
    }
    CHECK(pcie.h2d_latency_ns > 0);
    CHECK(pcie.d2h_latency_ns > 0);
    CHECK_THAT(machine.name, Contains("PCIe " + std::to_string(pcie.generation) + ".0 x" +
                                      std::to_string(pcie.lanes)));
  }
}

TEST_CASE("every cost of a host is there, and pageable memory is the slow one") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const Host& host = machine.host;
    for (const Nanos cost : {host.launch_call_ns, host.copy_call_ns, host.event_call_ns,
                             host.sync_call_ns, host.launch_latency_ns, host.wake_ns,
                             host.eager_operator_ns, host.compiled_operator_ns}) {
      CHECK(cost > 0);
      CHECK(cost < 100'000);
    }
    for (const Nanos cost : {host.malloc_call_ns, host.free_call_ns}) {
      CHECK(cost > host.launch_call_ns);
      CHECK(cost < 15'000'000);
    }
    CHECK(host.compiled_operator_ns < host.eager_operator_ns);
    CHECK(host.cores >= 1);
    // A thread that copies reads and writes, and one thread does not saturate a socket.
    CHECK(2 * host.memcpy_bytes_per_s < host.memory_bytes_per_s);
    for (const double rate : {machine.pcie.h2d_bytes_per_s, machine.pcie.d2h_bytes_per_s}) {
      CHECK(host.memcpy_bytes_per_s < 0.6 * rate);
      CHECK(rate < machine.gpu.memory_bytes_per_s);
    }
    CHECK(staged_bytes_per_s(machine, 32'000'000) < host.memcpy_bytes_per_s);
  }
}

TEST_CASE("the staging of a DGX A100 makes its pageable copy as slow as it was measured") {
  const Machine machine = load_machine("a100-sxm-1");
  constexpr std::int64_t kBytes = 32'000'000;  // as bandwidthTest copies
  CHECK(staged_bytes_per_s(machine, kBytes) == Approx(10.0e9).epsilon(0.002));
  const double pinned = machine.pcie.h2d_bytes_per_s;
  CHECK(pinned / staged_bytes_per_s(machine, kBytes) == Approx(2.57).epsilon(0.01));
  // The copy engine waits for the thread and never the other way round: two buffers are enough.
  CHECK(pinned > machine.host.memcpy_bytes_per_s);
  CHECK(machine.host.staging_buffers == 2);
  CHECK(staged_back_bytes_per_s(machine, kBytes) == Approx(10.8e9).epsilon(0.002));
}

TEST_CASE("a laptop copies pageable memory as slowly as it was measured, both ways") {
  const Machine machine = load_machine("laptop-1");
  CHECK(staged_bytes_per_s(machine, 32'000'000) == Approx(3.2e9).epsilon(0.002));
  CHECK(staged_back_bytes_per_s(machine, 32'000'000) == Approx(3.0e9).epsilon(0.002));
}

TEST_CASE("the two directions of a link together carry less than each alone, added") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const Pcie& pcie = machine.pcie;
    CHECK(pcie.both_bytes_per_s >= std::max(pcie.h2d_bytes_per_s, pcie.d2h_bytes_per_s));
    CHECK(pcie.both_bytes_per_s < pcie.h2d_bytes_per_s + pcie.d2h_bytes_per_s);
  }
  CHECK(load_machine("a100-sxm-8").pcie.both_bytes_per_s == Approx(2 * 18.6e9));
  const Machine h100 = load_machine("h100-sxm-1");  // as an H800: 52.8 + 34.4 of 55.3 + 55.1
  CHECK(h100.pcie.both_bytes_per_s / (h100.pcie.h2d_bytes_per_s + h100.pcie.d2h_bytes_per_s) ==
        Approx(87.2 / 110.4).epsilon(0.002));
}

TEST_CASE("a disk is slower than memory, and one read takes longer than a launch") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const Host& host = machine.host;
    CHECK(host.disk_bytes_per_s > 0.1e9);
    CHECK(host.disk_bytes_per_s < host.memory_bytes_per_s / 2);
    CHECK(host.disk_latency_ns > 10'000);
    CHECK(host.disk_latency_ns <= 1'000'000);
  }
  CHECK(load_machine("a100-40-sxm-1").host.disk_bytes_per_s ==
        Approx(load_machine("a100-sxm-8").host.disk_bytes_per_s / 2));  // four drives and eight
}

TEST_CASE("what the host's software costs is the same part of an operator everywhere") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    CHECK(machine.host.interpreter_call_ns * 2 == machine.host.eager_operator_ns);
    CHECK(machine.host.launch_queue == 1024);
    CHECK(machine.host.worker_start_ns == 310'000'000);
  }
}

TEST_CASE("the staging of the T4's host makes a pageable copy of 6 GB/s") {
  const Machine machine = load_machine("t4-1");
  CHECK(staged_bytes_per_s(machine, 32'000'000) == Approx(6.0e9).epsilon(0.002));
}

TEST_CASE("a rate that nobody published is carried over and says so") {
  const double carried = load_machine("a100-sxm-1").host.memcpy_bytes_per_s;
  for (const char* id : {"h100-sxm-1", "h100-pcie-1", "h200-1", "b200-8", "rtx3090-1", "rtx4090-1",
                         "rtx5090-1", "l4-1", "l40s-4", "a6000-1", "a100-40-pcie-1"}) {
    CAPTURE(id);
    const Machine machine = load_machine(id);
    CHECK(machine.host.memcpy_bytes_per_s == carried);
    const Figure& figure = figure_of(machine, "host.memcpy");
    CHECK(figure.provenance == Provenance::kFitted);
    CHECK_THAT(figure.note, Contains("carried over from the DGX A100"));
  }
}

TEST_CASE("an A100 PCIe stages as slowly as a published benchmark of loaders says") {
  // Ten batches of 100 MiB: 0.65 s from pageable memory, 0.522 from pinned.
  const Machine machine = load_machine("a100-80-pcie-1");
  constexpr std::int64_t kBatch = 100 << 20;
  const double pinned = static_cast<double>(kBatch) / machine.pcie.h2d_bytes_per_s;
  CHECK(10 * (staged_copy_seconds(machine, kBatch) - pinned) == Approx(0.13).epsilon(0.15));
  CHECK_THAT(figure_of(machine, "host.memcpy").note, Contains("pin-memory-non-block-bench.py"));
}

TEST_CASE("launches take what NVIDIA's example of graphs measured") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const Nanos kernel = 2'900;
    const Host& host = machine.host;
    CHECK(std::max(host.launch_call_ns, kernel + machine.gpu.kernel_gap_ns) == 3'800);
    CHECK(host.launch_call_ns + host.launch_latency_ns + kernel + host.wake_ns == 9'600);
  }
}

TEST_CASE("a V100 starts the kernels of a graph as fast as NVIDIA's example") {
  for (const char* id : {"v100-sxm-1", "v100-pcie-1", "dgx1-v100-8", "dgx1-v100-8x2"}) {
    CAPTURE(id);
    const Machine machine = load_machine(id);
    CHECK(2'900 + machine.gpu.kernel_gap_ns == 3'400);
    CHECK(machine.host.launch_call_ns == 3'800);
  }
}
