// The numbers of a machine as tables: the key in the file, what it measures, its bounds, and the
// member that takes it. A number that is added to machine.h gets a line here and one in
// meanings.cpp.
//
// The bounds are wide: they keep a slip of a thousand or a zero from hanging a simulation.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "machine/machine.h"
#include "machine/number.h"

namespace trainscope::machine {

template <class Part>
struct Field {
  std::string_view key;
  Dimension dimension;
  Bounds bounds;
  std::variant<int Part::*, std::int64_t Part::*, double Part::*, bool Part::*> member;
  bool may_lack = false;  // then it is 0
};

inline constexpr Bounds kShareBounds{1e-6, 1};
inline constexpr Bounds kFlopsBounds{1e6, 1e18};
inline constexpr Bounds kRateBounds{1e6, 1e15};
inline constexpr Bounds kDelayBounds{0, double{kSecond}};
inline constexpr Bounds kStartBounds{0, 60.0 * kSecond};  // of a process

inline constexpr std::array kGpuFields{
    Field<Gpu>{"compute_capability", Dimension::kCount, {1, 99}, &Gpu::compute_capability},
    Field<Gpu>{"sm_count", Dimension::kCount, {1, 10'000}, &Gpu::sm_count},
    Field<Gpu>{"threads_per_sm", Dimension::kCount, {32, 65'536}, &Gpu::threads_per_sm},
    Field<Gpu>{"blocks_per_sm", Dimension::kCount, {1, 1'024}, &Gpu::blocks_per_sm},
    Field<Gpu>{"registers_per_sm", Dimension::kCount, {1, 0x1p24}, &Gpu::registers_per_sm},
    Field<Gpu>{"shared_per_sm", Dimension::kBytes, {1, 0x1p30}, &Gpu::shared_bytes_per_sm},
    Field<Gpu>{"l2", Dimension::kBytes, {1, 0x1p40}, &Gpu::l2_bytes},
    Field<Gpu>{"boost_clock", Dimension::kHertz, {1e6, 1e11}, &Gpu::boost_clock_hz},
    Field<Gpu>{"fp32", Dimension::kFlopsPerSecond, kFlopsBounds, &Gpu::fp32_flops_per_s},
    Field<Gpu>{"tf32", Dimension::kFlopsPerSecond, {0, kFlopsBounds.most}, &Gpu::tf32_flops_per_s},
    Field<Gpu>{"fp16", Dimension::kFlopsPerSecond, kFlopsBounds, &Gpu::fp16_flops_per_s},
    Field<Gpu>{"memory", Dimension::kBytes, {0x1p20, 0x1p50}, &Gpu::memory_bytes},
    Field<Gpu>{"memory_bandwidth", Dimension::kBytesPerSecond, kRateBounds,
               &Gpu::memory_bytes_per_s},
    Field<Gpu>{"gemm_efficiency", Dimension::kShare, kShareBounds, &Gpu::gemm_efficiency},
    Field<Gpu>{"memory_efficiency", Dimension::kShare, kShareBounds, &Gpu::memory_efficiency},
    Field<Gpu>{"copy_engines", Dimension::kCount, {1, 64}, &Gpu::copy_engines},
    Field<Gpu>{"kernel_floor", Dimension::kTime, {1, kDelayBounds.most}, &Gpu::kernel_floor_ns},
    Field<Gpu>{"kernel_gap", Dimension::kTime, kDelayBounds, &Gpu::kernel_gap_ns},
};

// Left out, they are 0: not known. Few makers publish the first; the second is a laptop's to
// choose.
inline constexpr std::array kRareGpuFields{
    Field<Gpu>{
        "l2_bandwidth", Dimension::kBytesPerSecond, {0, kRateBounds.most}, &Gpu::l2_bytes_per_s},
    Field<Gpu>{"tdp", Dimension::kWatts, {0, 1e5}, &Gpu::tdp_watts},
    Field<Gpu>{"fp32_gemm_efficiency", Dimension::kShare, {0, 1}, &Gpu::fp32_gemm_efficiency},
};

inline constexpr std::array kMachineFields{
    Field<Machine>{"gpu_count", Dimension::kCount, {1, 65'536}, &Machine::gpu_count},
};

// Left out, it is 1: most machines are one node.
inline constexpr std::array kNodeFields{
    Field<Machine>{"nodes", Dimension::kCount, {1, 65'536}, &Machine::nodes},
};

inline constexpr std::array kPcieFields{
    Field<Pcie>{"generation", Dimension::kCount, {1, 9}, &Pcie::generation},
    Field<Pcie>{"lanes", Dimension::kCount, {1, 32}, &Pcie::lanes},
    Field<Pcie>{"h2d", Dimension::kBytesPerSecond, kRateBounds, &Pcie::h2d_bytes_per_s},
    Field<Pcie>{"d2h", Dimension::kBytesPerSecond, kRateBounds, &Pcie::d2h_bytes_per_s},
    Field<Pcie>{"both", Dimension::kBytesPerSecond, kRateBounds, &Pcie::both_bytes_per_s},
    Field<Pcie>{"h2d_latency", Dimension::kTime, kDelayBounds, &Pcie::h2d_latency_ns},
    Field<Pcie>{"d2h_latency", Dimension::kTime, kDelayBounds, &Pcie::d2h_latency_ns},
};

inline constexpr std::array kHostFields{
    Field<Host>{"cores", Dimension::kCount, {1, 65'536}, &Host::cores},
    Field<Host>{"core_flops", Dimension::kFlopsPerSecond, kRateBounds, &Host::core_flops_per_s},
    Field<Host>{"memory_bandwidth", Dimension::kBytesPerSecond, kRateBounds,
                &Host::memory_bytes_per_s},
    Field<Host>{"memcpy", Dimension::kBytesPerSecond, kRateBounds, &Host::memcpy_bytes_per_s},
    Field<Host>{"memcpy_back", Dimension::kBytesPerSecond, kRateBounds,
                &Host::memcpy_back_bytes_per_s},
    Field<Host>{"page_lock", Dimension::kBytesPerSecond, kRateBounds, &Host::page_lock_bytes_per_s,
                true},
    Field<Host>{"staging_chunk", Dimension::kBytes, {4'096, 0x1p40}, &Host::staging_chunk_bytes},
    Field<Host>{"staging_buffers", Dimension::kCount, {1, 1'024}, &Host::staging_buffers},
    Field<Host>{
        "disk", Dimension::kBytesPerSecond, {1e3, kRateBounds.most}, &Host::disk_bytes_per_s},
    Field<Host>{"disk_latency", Dimension::kTime, kDelayBounds, &Host::disk_latency_ns},
    Field<Host>{"worker_start", Dimension::kTime, kStartBounds, &Host::worker_start_ns},
    Field<Host>{"launch_call", Dimension::kTime, kDelayBounds, &Host::launch_call_ns},
    Field<Host>{"launch_queue", Dimension::kCount, {1, 1'000'000}, &Host::launch_queue},
    Field<Host>{"copy_call", Dimension::kTime, kDelayBounds, &Host::copy_call_ns},
    Field<Host>{"event_call", Dimension::kTime, kDelayBounds, &Host::event_call_ns},
    Field<Host>{"nccl_call", Dimension::kTime, kDelayBounds, &Host::nccl_call_ns},
    Field<Host>{"malloc_call", Dimension::kTime, kDelayBounds, &Host::malloc_call_ns},
    Field<Host>{"free_call", Dimension::kTime, kDelayBounds, &Host::free_call_ns},
    Field<Host>{"graph_launch", Dimension::kTime, kDelayBounds, &Host::graph_launch_ns},
    Field<Host>{"graph_launch_node", Dimension::kTime, kDelayBounds, &Host::graph_launch_node_ns},
    Field<Host>{"graph_instantiate_node", Dimension::kTime, kDelayBounds,
                &Host::graph_instantiate_node_ns},
    Field<Host>{"sync_call", Dimension::kTime, kDelayBounds, &Host::sync_call_ns},
    Field<Host>{"launch_latency", Dimension::kTime, kDelayBounds, &Host::launch_latency_ns},
    Field<Host>{"wake", Dimension::kTime, kDelayBounds, &Host::wake_ns},
    Field<Host>{"eager_operator", Dimension::kTime, kDelayBounds, &Host::eager_operator_ns},
    Field<Host>{"interpreter_call", Dimension::kTime, kDelayBounds, &Host::interpreter_call_ns},
    Field<Host>{"compiled_operator", Dimension::kTime, kDelayBounds, &Host::compiled_operator_ns},
    Field<Host>{"context", Dimension::kBytes, {0, 0x1p40}, &Host::context_bytes, true},
};

inline constexpr std::array kGpuLinkFields{
    Field<GpuLink>{"bandwidth", Dimension::kBytesPerSecond, kRateBounds, &GpuLink::bytes_per_s},
    Field<GpuLink>{"peer_to_peer", Dimension::kFlag, {0, 1}, &GpuLink::peer_to_peer},
};

// What follows from the others where a file does not say it (rules.h).
inline constexpr std::array kReachedFields{
    Field<GpuLink>{"ring", Dimension::kBytesPerSecond, kRateBounds, &GpuLink::ring_bytes_per_s},
    Field<GpuLink>{"nvls", Dimension::kBytesPerSecond, kRateBounds, &GpuLink::nvls_bytes_per_s},
};

inline constexpr std::array kPcieTreeFields{
    Field<PcieTree>{"sockets", Dimension::kCount, {1, 64}, &PcieTree::sockets},
    Field<PcieTree>{"gpus_per_switch", Dimension::kCount, {0, 64}, &PcieTree::gpus_per_switch},
    Field<PcieTree>{"socket_bandwidth",
                    Dimension::kBytesPerSecond,
                    {0, kRateBounds.most},
                    &PcieTree::socket_bytes_per_s},
};

inline constexpr std::array kNetworkFields{
    Field<Network>{"bandwidth", Dimension::kBytesPerSecond, kRateBounds, &Network::bytes_per_s},
    Field<Network>{"adapters", Dimension::kCount, {1, 1'024}, &Network::adapters},
    Field<Network>{"latency", Dimension::kTime, kDelayBounds, &Network::latency_ns},
};

}  // namespace trainscope::machine
