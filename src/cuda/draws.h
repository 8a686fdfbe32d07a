// Where in the stream of random words each dropout of a run draws: one after another on each GPU,
// as the host's interpreter does, also where a graph draws anew each time it is launched.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/device_calls.h"
#include "program/program.h"

namespace trainscope::cuda {

class Draws {
 public:
  explicit Draws(const program::Program& program);

  // Before a graph is captured: a number in device memory that says, at each launch, how many words
  // were drawn before it.
  void set_base(program::Index graph, std::uint64_t* base);

  // Says where the call's draws begin, of parts as well; `graph`: that it is captured in, kNoIndex:
  // it is launched now.
  void place(KernelCall& call, program::Index graph);

  // Before a launch: what goes to the graph's base. Nothing where it does not draw.
  std::optional<std::uint64_t> launch(program::Index graph);

  const std::vector<std::uint64_t*>& bases() const { return bases_; }

 private:
  struct Place {
    program::Index graph = program::kNoIndex;  // that drew it
    std::uint64_t at = 0;                      // from the graph's base on, else of all
  };
  struct GraphDraws {
    std::size_t gpu = 0;
    std::uint64_t words = 0;  // of one launch
  };

  void place_one(KernelCall& call, program::Index graph);
  Place draw(const program::Dropout& dropout, program::Index written, program::Index graph);

  const program::Program& program_;
  std::vector<Place> places_;         // by buffer
  std::vector<std::uint64_t> drawn_;  // words so far, by GPU
  std::vector<GraphDraws> graphs_;
  std::vector<std::uint64_t*> bases_;
  std::mutex mutex_;
};

}  // namespace trainscope::cuda
