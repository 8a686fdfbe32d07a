// How a learner writes attention out, before the model that calls it.
#pragma once

#include <string>
#include <vector>

#include "train/model/graph.h"

namespace trainscope::train {

// Nothing where the model calls scaled_dot_product_attention, or has no attention. `model`:
// model.name; to Hugging Face's models the function is made known by a name.
std::vector<std::string> attention_lines(const Graph& graph, std::string_view model);

}  // namespace trainscope::train
