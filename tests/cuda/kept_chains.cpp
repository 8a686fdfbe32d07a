#include "cuda/kept_chains.h"

#include <algorithm>

#include "base/error.h"
#include "cuda/device/chain_text.h"
#include "cuda/fused_calls.h"

namespace trainscope::test {

const std::vector<std::vector<std::string>>& kept_trainings() {
  static const std::vector<std::string> small{
      "model.name=gpt-mini", "batch_size=2",    "model.width=24",   "model.blocks=1",
      "model.heads=2",       "model.seq_len=5", "model.dropout=0.1"};
  static const auto with = [](std::vector<std::string> settings, const char* more) {
    settings.emplace_back(more);
    return settings;
  };
  static const std::vector<std::vector<std::string>> all{
      {"model.name=mlp", "precision=fp32"},
      {"model.name=mlp", "precision=fp16"},
      {"model.name=cnn", "batch_size=1", "precision=fp32"},
      {"model.name=cnn", "batch_size=1", "precision=bf16"},
      with(small, "precision=fp32"),
      with(small, "precision=fp16"),
      with(small, "precision=bf16"),
      with(with(small, "model.width=1040"), "precision=fp32"),  // rows wider than a block's packs
      {"model.name=gpt-mini", "precision=fp32"},
      {"model.name=gpt-mini", "precision=bf16"}};
  return all;
}

std::vector<std::string> texts_of_trainings() {
  std::vector<std::string> texts;
  const auto keep = [&](const cuda::FusedKernel& chain) {
    std::string text = cuda::text_of(chain);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  };
  for (const auto& settings : kept_trainings()) {
    const program::Program program = program_of(settings);
    for (const program::Operation& operation : program.operations)
      for (const cuda::FusedKernel& chain : cuda::chains_of(call_of(program, operation, nowhere)))
        keep(chain);
  }
  return texts;
}

std::unique_ptr<cuda::ChainModule> KeptCompiler::compile(const std::string& text) {
  static const std::vector<std::string> texts = kept_texts();
  const auto found = std::find(texts.begin(), texts.end(), text);
  if (found == texts.end()) throw Error(Fault::kInternal, "this text is not kept:\n" + text);
  return kept_module(static_cast<std::size_t>(found - texts.begin()));
}

}  // namespace trainscope::test
