#include "program/decided_defaults.h"

#include <array>
#include <utility>

namespace trainscope::program {
namespace {

// null: nothing decides, and the registry's default holds.
using Decide = const Value* (*)(const Config&);

const Value* steps(const Config& config) {
  static const Value one = std::int64_t{1};
  return config.word("workload") == "copy" ? &one : nullptr;
}

// `precision` is short for autocast.dtype and matmul.allow_tf32: each says what the other is.
const Value* precision(const Config& config) {
  static const Value tf32 = std::string("tf32");
  if (config.is_set("autocast.dtype") && config.word("autocast.dtype") != "none")
    return &config.value("autocast.dtype");
  const bool products = config.is_set("matmul.allow_tf32") && config.flag("matmul.allow_tf32");
  return products ? &tf32 : nullptr;
}

const Value* autocast_type(const Config& config) {
  if (!config.is_set("precision")) return nullptr;
  const std::string& word = config.word("precision");
  return word == "fp16" || word == "bf16" ? &config.value("precision") : nullptr;
}

const Value* matmul_tf32(const Config& config) {
  static const Value yes = true;
  return config.is_set("precision") && config.word("precision") == "tf32" ? &yes : nullptr;
}

// An rnn reads an image row by row; its usual data are MNIST's. Points of a plane are one row.
const Value* seq_len(const Config& config) {
  static const std::array rows{
      std::pair{"auto", Value(std::int64_t{28})},   std::pair{"mnist", Value(std::int64_t{28})},
      std::pair{"digits", Value(std::int64_t{28})}, std::pair{"cifar10", Value(std::int64_t{32})},
      std::pair{"spirals", Value(std::int64_t{1})}, std::pair{"imagenet", Value(std::int64_t{224})},
  };
  if (config.word("model.name") != "rnn") return nullptr;
  for (const auto& [data, height] : rows)
    if (config.word("data.name") == data) return &height;
  return nullptr;
}

constexpr std::array kDecided{
    std::pair<std::string_view, Decide>{"steps", steps},
    std::pair<std::string_view, Decide>{"precision", precision},
    std::pair<std::string_view, Decide>{"autocast.dtype", autocast_type},
    std::pair<std::string_view, Decide>{"matmul.allow_tf32", matmul_tf32},
    std::pair<std::string_view, Decide>{"model.seq_len", seq_len},
};

}  // namespace

bool counts_when_set(std::string_view knob) {
  return knob == "ddp.bucket_cap_mb";
}

const Value& default_in(const Config& config, const Knob& knob) {
  for (const auto& [name, decide] : kDecided) {
    if (name != knob.name) continue;
    const Value* value = decide(config);
    return value ? *value : knob.initial;
  }
  return knob.initial;
}

}  // namespace trainscope::program
