#include "ui/app/figure_names.h"

#include <algorithm>
#include <array>

namespace trainscope::ui {
namespace {

struct Named {
  std::string_view figure, name;
};

constexpr std::array kNames{
    Named{"gpu_count", "GPUs of a node"},
    Named{"nodes", "nodes"},
    Named{"gpu.compute_capability", "compute capability"},
    Named{"gpu.sm_count", "SMs"},
    Named{"gpu.threads_per_sm", "threads an SM"},
    Named{"gpu.blocks_per_sm", "blocks an SM"},
    Named{"gpu.registers_per_sm", "registers an SM"},
    Named{"gpu.shared_per_sm", "shared memory an SM"},
    Named{"gpu.l2", "L2 cache"},
    Named{"gpu.l2_bandwidth", "L2 bandwidth"},
    Named{"gpu.boost_clock", "boost clock"},
    Named{"gpu.tdp", "power as delivered"},
    Named{"gpu.fp32", "FP32 peak"},
    Named{"gpu.tf32", "TF32 peak"},
    Named{"gpu.fp16", "FP16 and BF16 peak"},
    Named{"gpu.memory", "memory"},
    Named{"gpu.memory_bandwidth", "memory bandwidth"},
    Named{"gpu.gemm_efficiency", "matrix product efficiency"},
    Named{"gpu.fp32_gemm_efficiency", "FP32 matrix product efficiency"},
    Named{"gpu.memory_efficiency", "memory efficiency"},
    Named{"gpu.copy_engines", "copy engines"},
    Named{"gpu.kernel_floor", "shortest kernel"},
    Named{"gpu.kernel_gap", "between kernels"},
    Named{"pcie.generation", "generation"},
    Named{"pcie.lanes", "lanes"},
    Named{"pcie.h2d", "H2D bandwidth"},
    Named{"pcie.d2h", "D2H bandwidth"},
    Named{"pcie.both", "both directions together"},
    Named{"pcie.h2d_latency", "H2D latency"},
    Named{"pcie.d2h_latency", "D2H latency"},
    Named{"host.cores", "cores"},
    Named{"host.core_flops", "FP32 peak of a core"},
    Named{"host.memory_bandwidth", "memory bandwidth"},
    Named{"host.memcpy", "memcpy of one thread"},
    Named{"host.memcpy_back", "memcpy from pinned buffers"},
    Named{"host.staging_chunk", "staging piece"},
    Named{"host.staging_buffers", "staging buffers"},
    Named{"host.disk", "disk bandwidth"},
    Named{"host.disk_latency", "disk latency"},
    Named{"host.worker_start", "start of a DataLoader worker"},
    Named{"host.launch_call", "kernel launch call"},
    Named{"host.launch_queue", "launch queue of a stream"},
    Named{"host.copy_call", "copy call"},
    Named{"host.event_call", "event call"},
    Named{"host.nccl_call", "NCCL call"},
    Named{"host.malloc_call", "cudaMalloc call"},
    Named{"host.free_call", "cudaFree call"},
    Named{"host.graph_launch", "graph launch"},
    Named{"host.graph_launch_node", "graph launch, each node"},
    Named{"host.graph_instantiate_node", "graph instantiation, each node"},
    Named{"host.sync_call", "synchronise call"},
    Named{"host.launch_latency", "launch latency"},
    Named{"host.wake", "wake after a wait"},
    Named{"host.eager_operator", "eager operator"},
    Named{"host.interpreter_call", "of it in Python"},
    Named{"host.compiled_operator", "compiled operator"},
    Named{"gpu_link.bandwidth", "bandwidth, each direction"},
    Named{"gpu_link.peer_to_peer", "peer to peer"},
    Named{"gpu_link.ring", "ring all-reduce bandwidth"},
    Named{"gpu_link.nvls", "NVLS all-reduce bandwidth"},
    Named{"pcie_tree.sockets", "processors of a node"},
    Named{"pcie_tree.gpus_per_switch", "GPUs on a PCIe switch"},
    Named{"pcie_tree.socket_bandwidth", "bandwidth between processors"},
    Named{"network.bandwidth", "bandwidth of a node"},
    Named{"network.adapters", "adapters of a node"},
    Named{"network.latency", "latency"},
};

}  // namespace

std::string figure_name(std::string_view figure) {
  const auto* found = std::ranges::find(kNames, figure, &Named::figure);
  if (found != kNames.end()) return std::string(found->name);
  const std::size_t dot = figure.find('.');
  std::string name(figure.substr(dot == figure.npos ? 0 : dot + 1));
  std::ranges::replace(name, '_', ' ');
  std::ranges::replace(name, '.', ' ');
  return name;
}

}  // namespace trainscope::ui
