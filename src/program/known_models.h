// The models that the knob model.name has, with what decides which other knobs change them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainscope::program {

struct KnownModel {
  std::string_view name;
  // Words, with spaces between them: "computed", its numbers are, beside the simulator; "mlp", a
  // perceptron; "images", it is made of convolutions; "transformer", it has attention; "library",
  // it is one of Hugging Face's; "dropout", it has such layers; "gpt2", its GELU is GPT-2's;
  // "llama", its norms are RMSNorm; "grouped", its heads share keys and values.
  std::string_view traits;
  std::string_view data;  // what it usually sees, a word of data.name; a trait, too
};

// In the order in which they are shown.
const std::vector<KnownModel>& known_models();
std::vector<std::string> model_names();
// null: there is none of that name.
const KnownModel* find_model(std::string_view name);
// Whether the model has this trait. False for a name that is none.
bool has_trait(std::string_view model, std::string_view trait);

}  // namespace trainscope::program
