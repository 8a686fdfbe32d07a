// A communicator of NCCL, and how one of its collectives is put on streams.
#pragma once

#include <nccl.h>

#include <memory>
#include <string>
#include <vector>

#include "stand_in/collective_numbers.h"
#include "stand_in/member.h"
#include "stand_in/queue.h"

namespace trainscope::stand_in {

// What the communicators of one call of ncclCommInitAll have in common; of ncclCommInitRank it is
// each one's own.
struct Clique {
  int ranks;
};

}  // namespace trainscope::stand_in

struct ncclComm {
  std::shared_ptr<trainscope::stand_in::Clique> clique;
  int rank;
  int gpu;
  // Where the others are in other processes.
  std::unique_ptr<trainscope::stand_in::Member> member = {};
  bool is_broken = false;                 // which was said
  trainscope::stand_in::OpRef last = {};  // of its collectives
};

namespace trainscope::stand_in {

// A rank's part in a collective.
struct Share {
  Asked asked;
  const void* give;
  void* get;
  ncclComm_t comm;
  cudaStream_t stream;
};

// Why the thread's last call failed.
const std::string& last_words();
ncclResult_t failed(ncclResult_t status, const std::string& why);
// Of a broken rule, which it says and counts.
ncclResult_t wrong(const std::string& what);

// ncclSuccess: it is well.
ncclResult_t state_of(const Member& member);
ncclResult_t state_of(ncclComm_t comm);

// A collective whose ranks are all here; one whose others are in other processes.
ncclResult_t put_of_all(std::vector<Share> ranks);
ncclResult_t put_alone(const Share& one);

}  // namespace trainscope::stand_in
