#include "program/usual_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/suggest.h"
#include "program/knobs.h"

namespace trainscope::program {
namespace {

struct Usual {
  std::string_view name;
  std::string_view here;
};

// As Hugging Face's Trainer, Lightning, DeepSpeed and Megatron-LM call them.
constexpr std::array kUsualKnobs{
    Usual{"amp", "precision"},
    Usual{"torch.amp", "precision"},
    Usual{"mixed_precision", "precision"},
    Usual{"gradient_accumulation_steps", "accumulate_steps"},
    Usual{"accumulate_grad_batches", "accumulate_steps"},
    Usual{"learning_rate", "optimizer.lr"},
    Usual{"max_grad_norm", "clip_grad_norm"},
    Usual{"gradient_clip_val", "clip_grad_norm"},
    Usual{"tensor_parallel", "tensor.degree"},
    Usual{"pipeline_parallel", "pipeline.degree"},
};
constexpr std::array kUsualChoices{
    Usual{"tp", "tensor"},      Usual{"pp", "pipeline"},  Usual{"zero", "fsdp"},
    Usual{"deepspeed", "fsdp"}, Usual{"half", "fp16"},    Usual{"float16", "fp16"},
    Usual{"bfloat16", "bf16"},  Usual{"float32", "fp32"}, Usual{"sdpa", "flash"},
};

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

template <typename All>
std::string_view usual(const All& all, std::string_view wrong) {
  const std::string small = in_small_letters(wrong);
  const auto found = std::ranges::find(all, std::string_view(small), &Usual::name);
  return found == all.end() ? std::string_view() : found->here;
}

std::string meant(std::string_view name) {
  return " (did you mean " + std::string(name) + "?)";
}

// "torch.compile", or the last word of "torch.utils.checkpoint".
bool is_called(std::string_view pytorch, std::string_view wrong) {
  if (pytorch == wrong) return true;
  constexpr std::size_t kLeast = 4;
  return wrong.size() >= kLeast && pytorch.size() > wrong.size() && pytorch.ends_with(wrong) &&
         pytorch[pytorch.size() - wrong.size() - 1] == '.';
}

// "loader.pin_memory" of "pin_memory"; empty where several knobs, or none, end so.
std::string_view ends_in(std::string_view wrong) {
  const std::string end = "." + std::string(wrong);
  std::string_view found;
  for (const Knob& knob : knobs()) {
    if (!knob.name.ends_with(end)) continue;
    if (!found.empty()) return "";
    found = knob.name;
  }
  return found;
}

}  // namespace

std::string did_you_mean_knob(std::string_view wrong) {
  if (const std::string_view here = usual(kUsualKnobs, wrong); !here.empty()) return meant(here);
  if (const std::string_view here = ends_in(wrong); !here.empty()) return meant(here);
  for (const Knob& knob : knobs())
    if (!knob.pytorch.empty() && is_called(knob.pytorch, wrong)) return meant(knob.name);
  return did_you_mean(wrong, knob_names());
}

std::string did_you_mean_choice(std::string_view wrong, const std::vector<std::string>& choices) {
  const std::string_view here = usual(kUsualChoices, wrong);
  if (std::ranges::find(choices, here) != choices.end()) return meant(here);
  return did_you_mean(wrong, choices);
}

}  // namespace trainscope::program
