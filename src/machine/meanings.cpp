// What each figure is called and what it measures, for the data sheet, the page of the machines and
// the window; and how its value is written.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.h"
#include "machine/figures.h"

namespace trainscope::machine {
namespace {

struct Row {
  std::string_view figure;
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array kRows{
    Row{"gpu.compute_capability", "compute capability", "what the GPU can do, as CUDA numbers it"},
    Row{"gpu.sm_count", "SMs", "streaming multiprocessors (SMs)"},
    Row{"gpu.threads_per_sm", "threads an SM", "threads that an SM holds at once"},
    Row{"gpu.blocks_per_sm", "blocks an SM", "thread blocks that an SM holds at once"},
    Row{"gpu.registers_per_sm", "registers an SM", "32-bit registers of an SM"},
    Row{"gpu.shared_per_sm", "shared memory an SM", "shared memory of an SM, at most"},
    Row{"gpu.l2", "L2 cache", "second-level cache"},
    Row{"gpu.l2_bandwidth", "L2 bandwidth", "peak of that cache; left out where it is not known"},
    Row{"gpu.boost_clock", "boost clock", "clock of the SMs at their best"},
    Row{"gpu.tdp", "power as delivered",
        "power that the card may draw as delivered; left out where makers choose it"},
    Row{"gpu.fp32", "FP32 peak", "peak in FP32, outside the tensor cores"},
    Row{"gpu.tf32", "TF32 peak", "peak in TF32, dense; 0: no such unit"},
    Row{"gpu.fp16", "FP16 and BF16 peak", "peak in FP16 or BF16, dense, FP32 accumulation"},
    Row{"gpu.memory", "memory", "device memory, as CUDA reports it"},
    Row{"gpu.memory_bandwidth", "memory bandwidth", "peak of the device memory"},
    Row{"gpu.gemm_efficiency", "matrix product efficiency",
        "share of an arithmetic peak that large matrix products reach"},
    Row{"gpu.fp32_gemm_efficiency", "FP32 matrix product efficiency",
        "the same in FP32, outside the tensor cores; left out where it is no other"},
    Row{"gpu.memory_efficiency", "memory efficiency",
        "share of the memory peak that a kernel reaches"},
    Row{"gpu.copy_engines", "copy engines", "copies at once; 1: both directions share one"},
    Row{"gpu.kernel_floor", "shortest kernel", "the shortest kernel"},
    Row{"gpu.kernel_gap", "between kernels", "between kernels, back to back on a stream"},
    Row{"architecture.arithmetic_latency", "arithmetic latency",
        "from an arithmetic instruction to one that needs its result"},
    Row{"architecture.memory_latency", "memory latency",
        "from a load to its arrival from device memory"},
    Row{"architecture.l2_latency", "L2 latency", "the same from L2"},
    Row{"architecture.sm_port", "port of an SM", "what L2 sends to one SM at most"},
    Row{"architecture.sub_partitions", "parts of an SM",
        "parts of an SM, each with its warps and as much of the arithmetic"},
    Row{"gpu_count", "GPUs of a node", "GPUs of one node"},
    Row{"nodes", "nodes", "nodes, each with its own host"},
    Row{"pcie.generation", "generation", "of PCI Express"},
    Row{"pcie.lanes", "lanes", "of the link of one GPU"},
    Row{"pcie.h2d", "H2D bandwidth", "large pinned copies to the device, nothing coming back"},
    Row{"pcie.d2h", "D2H bandwidth", "large pinned copies back, nothing going to the device"},
    Row{"pcie.both", "both directions together", "both directions together while both are busy"},
    Row{"pcie.h2d_latency", "H2D latency",
        "of a copy to the device on its engine, before its first byte"},
    Row{"pcie.d2h_latency", "D2H latency", "of a copy back on its engine, before its first byte"},
    Row{"host.cores", "cores", "processor cores of one node"},
    Row{"host.core_flops", "FP32 peak of a core", "peak of one core in FP32"},
    Row{"host.memory_bandwidth", "memory bandwidth", "host memory, all threads together"},
    Row{"host.memcpy", "memcpy of one thread", "one thread, bytes copied (not read plus written)"},
    Row{"host.memcpy_back", "memcpy from pinned buffers",
        "the same out of the driver's pinned buffers, for copies back"},
    Row{"host.page_lock", "page locking of one thread",
        "one thread, bytes that cudaHostAlloc finds and locks"},
    Row{"host.staging_chunk", "staging piece",
        "the driver copies pageable memory in pieces of this size"},
    Row{"host.staging_buffers", "staging buffers", "such pieces on their way at once"},
    Row{"host.disk", "disk bandwidth", "reading the files of a data set, all readers together"},
    Row{"host.disk_latency", "disk latency", "of one read, before its first byte"},
    Row{"host.worker_start", "start of a DataLoader worker",
        "from the creation of a DataLoader worker to its first batch"},
    Row{"host.launch_call", "kernel launch call", "cudaLaunchKernel, on the host"},
    Row{"host.launch_queue", "launch queue of a stream",
        "launches not yet done in a stream before a call waits"},
    Row{"host.copy_call", "copy call", "cudaMemcpyAsync, on the host, without staging"},
    Row{"host.event_call", "event call", "cudaEventRecord or cudaStreamWaitEvent, on the host"},
    Row{"host.nccl_call", "NCCL call",
        "NCCL's own work for one rank of a collective, before its launch"},
    Row{"host.malloc_call", "cudaMalloc call", "cudaMalloc, on the host"},
    Row{"host.free_call", "cudaFree call", "cudaFree, on the host, with nothing to wait for"},
    Row{"host.graph_launch", "graph launch", "cudaGraphLaunch, without its nodes"},
    Row{"host.graph_launch_node", "graph launch, each node", "and for each node"},
    Row{"host.graph_instantiate_node", "graph instantiation, each node",
        "cudaGraphInstantiate, for each node"},
    Row{"host.sync_call", "synchronise call", "a synchronisation that need not wait"},
    Row{"host.launch_latency", "launch latency",
        "from the end of a launch call to its kernel, GPU idle"},
    Row{"host.wake", "wake after a wait",
        "from the end of device work to the return of a waiting call"},
    Row{"host.eager_operator", "eager operator",
        "an eager PyTorch operator's own host time, without its launch"},
    Row{"host.interpreter_call", "of it in Python",
        "the part of it in Python, which holds the interpreter lock"},
    Row{"host.compiled_operator", "compiled operator",
        "an operator's own host time under torch.compile"},
    Row{"host.context", "CUDA context",
        "what a process's CUDA context and kernels take of a GPU's memory"},
    Row{"gpu_link.bandwidth", "bandwidth, each direction",
        "peak of one GPU, all its links together, each direction"},
    Row{"gpu_link.peer_to_peer", "peer to peer",
        "a copy between two GPUs need not pass through host memory"},
    Row{"gpu_link.ring", "ring all-reduce bandwidth",
        "bus bandwidth that a large all-reduce on rings reaches"},
    Row{"gpu_link.nvls", "NVLS all-reduce bandwidth",
        "bus bandwidth that one reaches whose sums the switch makes (NVLS)"},
    Row{"pcie_tree.sockets", "processors of a node",
        "processors of one node, each with a host bridge"},
    Row{"pcie_tree.gpus_per_switch", "GPUs on a PCIe switch",
        "GPUs that share a PCIe switch; 0: there are none"},
    Row{"pcie_tree.socket_bandwidth", "bandwidth between processors",
        "between two processors of a node, each direction"},
    Row{"network.bandwidth", "bandwidth of a node",
        "peak of one node, all its adapters together, each direction"},
    Row{"network.adapters", "adapters of a node", "network adapters of one node"},
    Row{"network.latency", "latency", "of one message from a node to another"},
};
static_assert(std::ranges::none_of(kRows, [](const Row& row) {
  return row.figure.empty() || row.name.empty() || row.meaning.empty();
}));

// Null: there is none.
const Row* row_of(std::string_view figure) {
  const auto found = std::ranges::find(kRows, figure, &Row::figure);
  return found == kRows.end() ? nullptr : &*found;
}

// As it stands in its file, from 10,000 on with commas.
std::string written(double value) {
  std::string text = fmt::format("{:.7g}", value);
  if (text.find_first_of("e.") != std::string::npos || text.size() < 5) return text;
  for (std::size_t at = text.size(); at > 3 && text[at - 4] != '-'; at -= 3)
    text.insert(at - 3, ",");
  return text;
}

}  // namespace

std::string_view meaning_of(std::string_view figure) {
  const Row* row = row_of(figure);
  return row ? row->meaning : std::string_view();
}

std::string_view short_name_of(std::string_view figure) {
  const Row* row = row_of(figure);
  return row ? row->name : std::string_view();
}

std::string figure_name(std::string_view figure) {
  if (const std::string_view name = short_name_of(figure); !name.empty()) return std::string(name);
  const std::size_t dot = figure.find('.');
  std::string name(figure.substr(dot == std::string_view::npos ? 0 : dot + 1));
  std::ranges::replace(name, '_', ' ');
  std::ranges::replace(name, '.', ' ');
  return name;
}

std::string value_of(const Figure& figure) {
  if (figure.name == "gpu_link.peer_to_peer") return figure.value == 0 ? "no" : "yes";
  if (figure.name == "gpu.compute_capability") return fmt::format("{:.1f}", figure.value);
  // A GPU's memory, of which files have every byte.
  const double bytes = figure.value * unit_factor(figure.unit).value_or(1);
  if (figure.unit == "B" || (figure.unit == "MiB" && bytes >= 0x1p30)) return format_bytes(bytes);
  if (figure.unit.empty() || figure.unit == "1") return written(figure.value);
  return written(figure.value) + (figure.unit == "%" ? "" : " ") + figure.unit;
}

}  // namespace trainscope::machine
