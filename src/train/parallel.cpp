#include "train/parallel.h"

namespace trainscope::train {

program::Communicator& add_communicator(program::Program& program, const program::Config& config,
                                        int ranks) {
  program::Communicator communicator;
  communicator.name = "default process group";
  communicator.ranks = ranks;
  communicator.algorithm = config.word("collective.algorithm");
  communicator.protocol = config.word("collective.protocol");
  communicator.channels = static_cast<int>(config.whole("collective.channels"));
  communicator.peer_to_peer = config.flag("collective.p2p");
  return program.communicators.emplace_back(std::move(communicator));
}

program::Stream nccl_stream(int rank) {
  return {"stream 24, NCCL", 24, program::StreamKind::kNonBlocking, 0, rank, rank};
}

}  // namespace trainscope::train
