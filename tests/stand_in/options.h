// What kind of machine stands in: words of the environment variable TRAINSCOPE_STAND_IN.
//
//   gpus=4          as many GPUs, each of which can reach the others' memory, or none; a process
//                   sees those that CUDA_VISIBLE_DEVICES names
//   no_peers        none can reach another's memory
//   capability=70   of each, 9.0 otherwise
//   driver=12020    it is for CUDA 12.2, not for the runtime's own version; 0: there is none
//   profiler        another one watches the process already
//   cupti=130101    its version, with the faults that its release notes say it had; otherwise that
//                   of the headers
//   cut_at=20       the tracer's record of the kernel of this number is handed over unfinished
//   memory_mb=64    of each
//   pinned_mb=1     so much of the host's memory can be pinned
//   no_pools        of memory: cudaMallocAsync is not supported, as on a share of a GPU
//   late            work waits until somebody waits for it, or asks whether it is done
//   seed=7          of the order in which streams get their turn
//   brief           nothing is computed: products and convolutions take their time at 10 TFLOP/s,
//                   kernels and large copies none, and memory holds what it held
//   lost_at=20      the kernel of this number fails, and the device with it
//   dies_at=20      at the kernel of this number the process is killed
//   dies_joining    in ncclCommInitRank the process is killed
//   refuses_joining    ncclCommInitRank fails, before others know that the rank is there
//   dies_connecting    the first time that it sends to a rank or receives of it the process is
//                   killed, when the other one has done the same
//   nccl=22105      its version, 2.21.5, otherwise that of the headers
//   fixed_sums      cuBLASLt does not let one say how parts of a sum are added
//   deaf            NCCL does not tell that a rank's process is gone: as where they share memory
//   without=libnccl.so.2    a library that is not there; as often as wanted
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trainscope::stand_in {

struct Options {
  int gpus = 1;              // that the process sees
  std::vector<int> numbers;  // of the machine's, by the process's
  int capability = 90;
  int driver = -1;  // the runtime's
  bool profiler = false;
  unsigned cupti = 0;
  long cut_at = -1;
  std::size_t memory_bytes = std::size_t{4} << 30;
  std::size_t pinned_bytes = std::size_t{1} << 40;
  bool no_pools = false;
  bool no_peers = false;
  int nccl = 0;
  bool late = false;
  bool brief = false;
  unsigned seed = 1;
  long lost_at = -1;
  long dies_at = -1;
  bool dies_joining = false;
  bool refuses_joining = false;
  bool dies_connecting = false;
  bool fixed_sums = false;
  bool deaf = false;
  std::vector<std::string> without;
};

// Whether so many multiplications only take their time, which passes here: large ones, on a brief
// machine.
bool only_takes_time(std::size_t multiplications);

// Read once. Ends the process with a sentence where a word is not known.
const Options& options();

}  // namespace trainscope::stand_in
