#include "train/replay/recorded_link.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "train/build.h"

namespace trainscope::train {
namespace {

// "NVIDIA", "A100", "SXM4", "80GB".
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    if (std::isalnum(static_cast<unsigned char>(letter)))
      words.back() += letter;
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// "A100" of "NVIDIA A100 SXM 80 GB", "4090" of "NVIDIA GeForce RTX 4090": its first word with a
// digit.
std::string model_of(std::string_view gpu) {
  const std::vector<std::string> words = words_of(gpu);
  const auto model = std::ranges::find_if(words, [](const std::string& word) {
    return word.find_first_of("0123456789") != std::string::npos;
  });
  return model == words.end() ? "" : *model;
}

}  // namespace

machine::Pcie recorded_link(const program::Config& config, const trace::Trace& trace) {
  if (config.is_set("machine")) return machine_of(config).pcie;
  const std::vector<std::string> named = words_of(trace.origin().detail);
  for (const std::string& id : machine::machine_ids()) {
    const machine::Machine machine = machine::load_machine(id);
    const std::string model = model_of(machine.gpu.name);
    const bool is_laptop = has(words_of(machine.gpu.name), "Laptop");
    if (!model.empty() && has(named, model) && is_laptop == has(named, "Laptop"))
      return machine.pcie;
  }
  return machine_of(config).pcie;
}

}  // namespace trainscope::train
