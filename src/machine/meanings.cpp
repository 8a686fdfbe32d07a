// What each figure measures, for the data sheet and the page of the machines.

#include <algorithm>
#include <array>

#include "machine/machine.h"

namespace trainscope::machine {
namespace {

struct Meaning {
  std::string_view figure;
  std::string_view words;
};

constexpr std::array kMeanings{
    Meaning{"gpu.compute_capability", "what the GPU can do, as CUDA numbers it"},
    Meaning{"gpu.sm_count", "streaming multiprocessors (SMs)"},
    Meaning{"gpu.threads_per_sm", "threads that an SM holds at once"},
    Meaning{"gpu.blocks_per_sm", "thread blocks that an SM holds at once"},
    Meaning{"gpu.registers_per_sm", "32-bit registers of an SM"},
    Meaning{"gpu.shared_per_sm", "shared memory of an SM, at most"},
    Meaning{"gpu.l2", "second-level cache"},
    Meaning{"gpu.l2_bandwidth", "peak of that cache; left out where it is not known"},
    Meaning{"gpu.boost_clock", "clock of the SMs at their best"},
    Meaning{"gpu.tdp",
            "power that the card may draw as delivered; left out where makers choose it"},
    Meaning{"gpu.fp32", "peak in FP32, outside the tensor cores"},
    Meaning{"gpu.tf32", "peak in TF32, dense; 0: no such unit"},
    Meaning{"gpu.fp16", "peak in FP16 or BF16, dense, FP32 accumulation"},
    Meaning{"gpu.memory", "device memory, as CUDA reports it"},
    Meaning{"gpu.memory_bandwidth", "peak of the device memory"},
    Meaning{"gpu.gemm_efficiency", "share of an arithmetic peak that large matrix products reach"},
    Meaning{"gpu.fp32_gemm_efficiency",
            "the same in FP32, outside the tensor cores; left out where it is no other"},
    Meaning{"gpu.memory_efficiency", "share of the memory peak that a kernel reaches"},
    Meaning{"gpu.copy_engines", "copies at once; 1: both directions share one"},
    Meaning{"gpu.kernel_floor", "the shortest kernel"},
    Meaning{"gpu.kernel_gap", "between kernels, back to back on a stream"},
    Meaning{"gpu_count", "GPUs of one node"},
    Meaning{"nodes", "nodes, each with its own host"},
    Meaning{"pcie.generation", "of PCI Express"},
    Meaning{"pcie.lanes", "of the link of one GPU"},
    Meaning{"pcie.h2d", "large pinned copies to the device, nothing coming back"},
    Meaning{"pcie.d2h", "large pinned copies back, nothing going to the device"},
    Meaning{"pcie.both", "both directions together while both are busy"},
    Meaning{"pcie.h2d_latency", "of a copy to the device on its engine, before its first byte"},
    Meaning{"pcie.d2h_latency", "of a copy back on its engine, before its first byte"},
    Meaning{"host.cores", "processor cores of one node"},
    Meaning{"host.core_flops", "peak of one core in FP32"},
    Meaning{"host.memory_bandwidth", "host memory, all threads together"},
    Meaning{"host.memcpy", "one thread, bytes copied (not read plus written)"},
    Meaning{"host.memcpy_back", "the same out of the driver's pinned buffers, for copies back"},
    Meaning{"host.page_lock", "one thread, bytes that cudaHostAlloc finds and locks"},
    Meaning{"host.staging_chunk", "the driver copies pageable memory in pieces of this size"},
    Meaning{"host.staging_buffers", "such pieces on their way at once"},
    Meaning{"host.disk", "reading the files of a data set, all readers together"},
    Meaning{"host.disk_latency", "of one read, before its first byte"},
    Meaning{"host.worker_start", "from the creation of a DataLoader worker to its first batch"},
    Meaning{"host.launch_call", "cudaLaunchKernel, on the host"},
    Meaning{"host.launch_queue", "launches not yet done in a stream before a call waits"},
    Meaning{"host.copy_call", "cudaMemcpyAsync, on the host, without staging"},
    Meaning{"host.event_call", "cudaEventRecord or cudaStreamWaitEvent, on the host"},
    Meaning{"host.nccl_call", "NCCL's own work for one rank of a collective, before its launch"},
    Meaning{"host.malloc_call", "cudaMalloc, on the host"},
    Meaning{"host.free_call", "cudaFree, on the host, with nothing to wait for"},
    Meaning{"host.graph_launch", "cudaGraphLaunch, without its nodes"},
    Meaning{"host.graph_launch_node", "and for each node"},
    Meaning{"host.graph_instantiate_node", "cudaGraphInstantiate, for each node"},
    Meaning{"host.sync_call", "a synchronisation that need not wait"},
    Meaning{"host.launch_latency", "from the end of a launch call to its kernel, GPU idle"},
    Meaning{"host.wake", "from the end of device work to the return of a waiting call"},
    Meaning{"host.eager_operator", "an eager PyTorch operator's own host time, without its launch"},
    Meaning{"host.interpreter_call", "the part of it in Python, which holds the interpreter lock"},
    Meaning{"host.compiled_operator", "an operator's own host time under torch.compile"},
    Meaning{"host.context", "what a process's CUDA context and kernels take of a GPU's memory"},
    Meaning{"gpu_link.bandwidth", "peak of one GPU, all its links together, each direction"},
    Meaning{"gpu_link.peer_to_peer", "a copy between two GPUs need not pass through host memory"},
    Meaning{"gpu_link.ring", "bus bandwidth that a large all-reduce on rings reaches"},
    Meaning{"gpu_link.nvls", "bus bandwidth that one reaches whose sums the switch makes (NVLS)"},
    Meaning{"pcie_tree.sockets", "processors of one node, each with a host bridge"},
    Meaning{"pcie_tree.gpus_per_switch", "GPUs that share a PCIe switch; 0: there are none"},
    Meaning{"pcie_tree.socket_bandwidth", "between two processors of a node, each direction"},
    Meaning{"network.bandwidth", "peak of one node, all its adapters together, each direction"},
    Meaning{"network.adapters", "network adapters of one node"},
    Meaning{"network.latency", "of one message from a node to another"},
};

}  // namespace

std::string_view meaning_of(std::string_view figure) {
  const auto found = std::find_if(kMeanings.begin(), kMeanings.end(),
                                  [&](const Meaning& one) { return one.figure == figure; });
  return found == kMeanings.end() ? std::string_view() : found->words;
}

}  // namespace trainscope::machine
