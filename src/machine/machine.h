// A machine: what a program runs on, as data. Read from assets/machines and assets/gpus, where
// every number carries its provenance.
//
// Units stand in the names: _per_s is bytes or operations a second, _ns nanoseconds, _bytes bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace trainscope::machine {

enum class Provenance { kDatasheet, kMeasured, kFitted };
std::string name_of(Provenance provenance);

// One number of a machine file as a person reads it: for the data sheet and `machines --json`.
struct Figure {
  std::string name;  // "gpu.memory_bandwidth"
  double value = 0;  // in `unit`; 1 for a yes, 0 for a no
  std::string unit;  // as written in the file: "GB/s"
  Provenance provenance = Provenance::kDatasheet;
  std::string note;  // where it comes from
};

struct Gpu {
  std::string id;                 // "h200"
  std::string name;               // "NVIDIA H200 SXM"
  double compute_capability = 0;  // 9.0
  int sm_count = 0;
  int threads_per_sm = 0;
  int blocks_per_sm = 0;
  int registers_per_sm = 0;
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t l2_bytes = 0;
  double l2_bytes_per_s = 0;  // peak; 0: not known
  double boost_clock_hz = 0;
  double tdp_watts = 0;    // the most that it draws as delivered; 0: not known
  double clock_share = 1;  // of the boost clock as delivered, held under a power limit (power.h)
  double fp32_flops_per_s = 0;  // peak, outside the tensor cores
  double tf32_flops_per_s = 0;  // peak, dense; 0: the GPU has no such unit
  double fp16_flops_per_s = 0;  // peak, dense, FP32 accumulation
  std::int64_t memory_bytes = 0;
  double memory_bytes_per_s = 0;    // peak
  double gemm_efficiency = 0;       // achievable share of an arithmetic peak, 0..1
  double fp32_gemm_efficiency = 0;  // the same outside the tensor cores; 0: no other
  double memory_efficiency = 0;     // achievable share of the memory peak, 0..1
  int copy_engines = 0;             // 1: both directions share one
  Nanos kernel_floor_ns = 0;        // the shortest kernel
  Nanos kernel_gap_ns = 0;          // between two kernels back to back on a stream
};

// How the GPUs of a machine are wired to one another. nvlink: in pairs, so that two GPUs share only
// some of their links; nvswitch: any two GPUs get the whole rate; pcie: there are no other wires.
enum class LinkKind { kNone, kNvlink, kNvswitch, kPcie };
std::string name_of(LinkKind kind);  // as in the file; "none" for kNone

// Two GPUs of a node that NVLinks join, and how many.
struct NvlinkPair {
  int a = 0;
  int b = 0;
  int links = 1;
  bool operator==(const NvlinkPair&) const = default;
};

// The link between the GPUs of one machine. A machine with one GPU has none.
struct GpuLink {
  LinkKind kind = LinkKind::kNone;
  double bytes_per_s = 0;         // peak of one GPU, all its links together, each direction
  bool peer_to_peer = false;      // a copy between two GPUs need not pass through host memory
  double ring_bytes_per_s = 0;    // bus bandwidth that a large all-reduce reaches on rings
  double nvls_bytes_per_s = 0;    // the same, all GPUs of a node, added up in the switch; 0: cannot
  std::vector<NvlinkPair> pairs;  // of nvlink; empty: every GPU has one link to every other

  // Directly or through a switch; else GPUs reach one another over PCIe, or not at all.
  bool is_nvlink() const { return kind == LinkKind::kNvlink || kind == LinkKind::kNvswitch; }
};

// How the GPUs of one node hang on its processors.
struct PcieTree {
  int sockets = 1;                // processors, each with a host bridge of its own
  int gpus_per_switch = 0;        // that share a PCIe switch; 0: each hangs on its host bridge
  double socket_bytes_per_s = 0;  // between two processors, each direction; 0: there is but one
};

// The PCIe link of one GPU. While it carries both directions at once they share `both`, which is at
// least the rate of the faster one alone and at most the sum of the two.
struct Pcie {
  int generation = 0;
  int lanes = 0;
  double h2d_bytes_per_s = 0;   // of large pinned copies, nothing coming back
  double d2h_bytes_per_s = 0;   // the same the other way
  double both_bytes_per_s = 0;  // of both directions together while both are busy
  Nanos h2d_latency_ns = 0;     // of one copy on its engine, before its first byte
  Nanos d2h_latency_ns = 0;
};

struct Host {
  int cores = 0;
  int sharers = 1;  // processes alike of which one is simulated: each has its part of the cores
  double core_flops_per_s = 0;           // peak of one core in FP32
  double memory_bytes_per_s = 0;         // of all threads together
  double memcpy_bytes_per_s = 0;         // one thread, bytes copied (not read plus written)
  double memcpy_back_bytes_per_s = 0;    // the same out of the driver's pinned buffers (D2H)
  double page_lock_bytes_per_s = 0;      // one thread: cudaHostAlloc of many pages
  std::int64_t staging_chunk_bytes = 0;  // the driver copies pageable memory in chunks of this
  int staging_buffers = 0;               // chunks in flight
  double disk_bytes_per_s = 0;           // reading the files of a data set, all readers together
  Nanos disk_latency_ns = 0;             // of one read, before its first byte
  Nanos worker_start_ns = 0;  // from the creation of a DataLoader worker to its first batch
  Nanos launch_call_ns = 0;   // cudaLaunchKernel, on the host
  int launch_queue = 0;       // launches not done in a stream before a call waits
  Nanos copy_call_ns = 0;     // cudaMemcpyAsync, without staging
  Nanos event_call_ns = 0;    // cudaEventRecord, cudaStreamWaitEvent
  Nanos nccl_call_ns = 0;     // NCCL's own work for one rank of a collective, its launch excluded
  Nanos malloc_call_ns = 0;   // cudaMalloc
  Nanos free_call_ns = 0;     // cudaFree, the device idle
  Nanos graph_launch_ns = 0;  // cudaGraphLaunch, without its nodes
  Nanos graph_launch_node_ns = 0;       // and for each node
  Nanos graph_instantiate_node_ns = 0;  // cudaGraphInstantiate, for each node
  Nanos sync_call_ns = 0;               // a synchronisation that need not wait
  Nanos launch_latency_ns = 0;          // from the end of a launch call to the kernel, GPU idle
  Nanos wake_ns = 0;               // from the end of device work to the return of a waiting call
  Nanos eager_operator_ns = 0;     // a PyTorch operator's own host time, its launch excluded
  Nanos interpreter_call_ns = 0;   // the part of it that runs in Python, under the interpreter lock
  Nanos compiled_operator_ns = 0;  // the same under torch.compile
  // What a process's CUDA context and the kernels of its libraries take of each GPU's memory, as
  // nvidia-smi shows it; 0: not known.
  std::int64_t context_bytes = 0;
};

// What joins several nodes. A machine of one node has none.
struct Network {
  double bytes_per_s = 0;  // peak of one node, all its adapters together, each direction
  int adapters = 0;        // of one node
  Nanos latency_ns = 0;    // of one message from a node to another
};

// A machine is `nodes` equal nodes of `gpu_count` equal GPUs each: gpu, pcie, host and gpu_link
// describe one node, whether there are others or not. Its id ends in the GPUs of a node, and where
// there are several nodes in x and their number: h200-8x2 has 16 GPUs.
struct Machine {
  std::string id;    // "h200-1"
  std::string name;  // "1 x H200, PCIe 5.0 x16"
  Gpu gpu;
  int gpu_count = 1;  // of one node
  int nodes = 1;
  Pcie pcie;
  Host host;
  GpuLink gpu_link;
  PcieTree pcie_tree;
  Network network;
  // Every number above with its provenance: GPU, gpu_count, nodes (of several), PCIe, host, link
  // (of several GPUs), tree of PCIe (where the file tells it), network (of several nodes).
  std::vector<Figure> figures;
};

// Of a GPU's memory, what the CUDA context of a process leaves to its allocator.
std::int64_t room_of_allocator(const Machine& machine);

// The GPUs of all nodes together.
std::int64_t all_gpus(const Machine& machine);

// "8", or "2 x 8" for two nodes of eight GPUs.
std::string gpus_in_words(const Machine& machine);

// What a figure measures, in a few words: "host.wake" gives "from the end of device work to the
// return of a waiting call". "" for a name that no figure has.
std::string_view meaning_of(std::string_view figure);

// The machine of that id (assets/machines/ID.toml), or of a file (a path that ends in .toml).
// Throws InputError naming file, line, column and the nearest right name.
Machine load_machine(const std::string& id_or_file);

// The ids of all shipped machines, sorted.
std::vector<std::string> machine_ids();

// Checks one machine or GPU file; throws InputError like load_machine.
void check_machine_file(const std::filesystem::path& path);
void check_gpu_file(const std::filesystem::path& path);

}  // namespace trainscope::machine
