// The validation between training steps: forward and loss of some batches in model.eval(), with
// torch.no_grad() or without, and what it appends to a list.
//
// Memory is given back when the last name is bound to something else that holds it. The names are
// those of a function, which go when it returns: `x` and `y` hold a batch, `out` the output and the
// graph behind it, `loss` the loss and both graphs. So without no_grad() a batch's activations meet
// those of the batch before: `out` and `loss` are bound again only behind the forward and the loss.
// What is appended is never given back.
#pragma once

#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/kernels/convolutions.h"
#include "train/listing/train_listing.h"
#include "train/loop/batch_feed.h"
#include "train/loop/launch_writer.h"
#include "train/model/graph.h"
#include "train/parallel/ddp.h"
#include "train/settings/train_settings.h"
#include "train/writer.h"

namespace trainscope::train {

class ValidationLoop {
 public:
  // Of what a program has already; all of it must outlive the loop.
  struct Parts {
    program::Program& program;
    const program::Config& config;
    const TrainSettings& settings;
    const TrainLines& lines;
    const Graph& graph;
    const ModelBuffers& model;
    BatchFeed& feed;
    Convolutions* convolutions = nullptr;
    Ddp* ddp = nullptr;  // null: the model is not wrapped
  };
  // `loss_on_host`: where loss.item() goes. Adds operations and buffers to the program.
  ValidationLoop(const Parts& parts, program::Index loss_on_host);

  // One validation: commands of the training thread.
  void write(ThreadWriter& main, const LaunchWriter& launch);

 private:
  // Where every other batch lies: two of them are there at once.
  struct Place {
    BatchFeed::Apart apart;
    ValidationPlan validation;
    std::vector<program::Index> lives;  // buffers whose memory it has now
  };
  // Names that are bound to a batch's tensors.
  struct Names {
    bool batch = false;
    bool output = false;
    bool loss = false;
  };

  void add_place();
  void write_batch(ThreadWriter& main, const LaunchWriter& launch, std::int64_t batch);
  void write_forward(ThreadWriter& main, const LaunchWriter& launch, const Plan& plan);
  void append(ThreadWriter& main, Place& place);
  // A tensor that is appended has its memory, and that of its graph, for ever.
  void keep(ThreadWriter& main, Place& place, const Names& names);
  // What no name holds is free.
  static void leave(ThreadWriter& main, Place& place, const Names& names);
  static std::vector<program::Index> held_by(const Place& place, const Names& names);

  Parts parts_;
  program::Index loss_on_host_;
  std::vector<Place> places_;
  std::int64_t appended_ = 0;  // batches, of all validations
};

}  // namespace trainscope::train
