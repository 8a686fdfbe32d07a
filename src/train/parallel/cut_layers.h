// A model whose linear layers are cut for tensor parallelism (Megatron-LM, arXiv:1909.08053): what
// one of several ranks has of it.
//
// Linear layers are cut in pairs, with nothing but activations and an attention between them: of
// the first, or of the three that project to queries, keys and values, each rank has some of the
// outputs, of the second the inputs that belong to them. What lies between is then the rank's own,
// and needs no other's: an attention has some of the heads. All else, norms, embeddings and a
// language model's head, every rank has whole; or with tensor.loss_parallel some of the
// vocabulary's rows of embedding and head, and with them some of the logits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/config.h"
#include "train/model/graph.h"
#include "train/settings/train_settings.h"

namespace trainscope::train {

// Throws InputError where nothing can be cut, or not in so many equal parts. `cuts_vocabulary`: of
// a language model.
Graph cut_layers(const Graph& whole, int ranks, bool cuts_vocabulary = false);

// What a rank has of the model that a config names, for so many samples: all of it, or with tensor
// parallelism its part.
Graph build_own_model(const program::Config& config, const TrainSettings& settings,
                      std::int64_t samples);

// Whether it is an embedding or a head of which each rank has some of the vocabulary.
bool is_of_vocabulary(const Graph& graph, const Layer& layer);

// The linear layers that are cut, but for a head, and, where ranks have parts of the sequence, the
// norms between them, which are not; as a plan of PyTorch names them: within their block, or in the
// model where there are no blocks. Each name once, in order.
struct CutName {
  std::string name;
  Cut cut = Cut::kNone;
  bool shares_input = false;  // with others that are cut
  bool is_added = false;      // a residual sum reads it
};
std::vector<CutName> cut_names(const Graph& graph);

// Whether a residual sum reads what a layer gives.
bool is_added(const Graph& graph, const Layer& layer);

}  // namespace trainscope::train
