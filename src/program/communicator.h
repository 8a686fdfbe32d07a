// Ranks that carry out collectives together, one GPU each. Those that the program has no streams
// for do as the others, at the same time.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace trainscope::program {

struct Communicator {
  std::string name;  // "default process group"
  int ranks = 1;
  std::vector<int> gpus;  // of the machine, by rank; none: GPUs 0 .. ranks - 1
  int simulated = 1;      // of them, those that the program has a stream for
  // It is one of so many groups alike, which do the same at the same time, and share what a node
  // has. The first has GPU 0; the GPUs of each stand `apart` behind those of the one before.
  int groups = 1;
  int apart = 0;
  // What NCCL is told, by the words of the knobs; auto and 0: it chooses.
  std::string algorithm = "auto";
  std::string protocol = "auto";
  int channels = 0;
  bool peer_to_peer = true;

  int gpu_of(int rank) const { return gpus.empty() ? rank : gpus[static_cast<std::size_t>(rank)]; }
  // Of a GPU that is in it.
  int rank_of(int gpu) const {
    return gpus.empty() ? gpu : static_cast<int>(std::ranges::find(gpus, gpu) - gpus.begin());
  }
  // Which of the groups alike it is, from 0.
  int number() const { return apart == 0 ? 0 : gpu_of(0) / apart; }
  // Of a rank of another one of them.
  int gpu_of(int rank, int group) const { return gpu_of(rank) + (group - number()) * apart; }
  // Another one of the groups alike, by its number.
  Communicator group(int number) const;
};

}  // namespace trainscope::program
