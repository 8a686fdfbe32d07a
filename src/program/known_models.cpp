#include "program/known_models.h"

#include <algorithm>

namespace trainscope::program {

const std::vector<KnownModel>& known_models() {
  static const std::vector<KnownModel> models{
      {"mlp", "mlp computed", "mnist"},
      {"mlp-784-128-10", "mlp computed", "mnist"},
      {"mlp-1000-512-10", "mlp computed", "mnist"},
      {"cnn", "computed images", "digits"},
      {"rnn", "computed", "mnist"},
      {"gpt-mini", "computed transformer dropout", "text"},
      {"resnet18", "images", "imagenet"},
      {"resnet50", "images", "imagenet"},
      {"resnet101", "images", "imagenet"},
      {"resnext50", "images", "imagenet"},
      {"resnext101", "images", "imagenet"},
      {"bert-large", "transformer library dropout", "tokens"},
      {"gpt2", "transformer library dropout gpt2", "tokens"},
      {"gpt2-large", "transformer library dropout gpt2", "tokens"},
      {"gpt2-2.9b", "transformer library dropout gpt2", "tokens"},
      {"gpt3-xl", "transformer library dropout gpt2", "tokens"},
      {"opt-1.3b", "transformer library dropout", "tokens"},
      {"tinyllama-1.1b", "transformer library llama grouped", "tokens"},
      {"llama-3.2-1b", "transformer library llama grouped", "tokens"},
      {"llama-2-7b", "transformer library llama", "tokens"},
      {"llama-3-8b", "transformer library llama grouped", "tokens"},
  };
  return models;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const KnownModel& model : known_models()) names.emplace_back(model.name);
  return names;
}

const KnownModel* find_model(std::string_view name) {
  const auto found = std::ranges::find(known_models(), name, &KnownModel::name);
  return found == known_models().end() ? nullptr : &*found;
}

bool has_trait(std::string_view model, std::string_view trait) {
  const KnownModel* known = find_model(model);
  if (!known) return false;
  if (trait == known->data) return true;
  std::string_view words = known->traits;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (word == trait) return true;
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
  return false;
}

}  // namespace trainscope::program
