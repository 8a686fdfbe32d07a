#include "program/idle_knobs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "program/known_models.h"

namespace trainscope::program {
namespace {

constexpr std::string_view kSeparators = " |";
constexpr std::string_view kBetweenNumbers = " ,";  // of a list

// Knobs, and what another one has to be for them to matter: one of several words, or above a
// number, or some text. A name that ends in a dot is all knobs that begin with it. The first that
// is not met is the reason. A word in angle brackets is a trait of models (known_models.h).
struct Need {
  std::string_view knobs;
  std::string_view of;
  std::string_view words;
  double above = 0;              // where there are no words
  std::string_view where{};      // only where each of these is one of its words: "a=b|c d=e"
  bool of_those_turned = false;  // only of knobs that do not have their initial values
  // A number of steps, or a list of them, that the run has to get to: `of`, or the knob itself
  // where that is "steps".
  bool in_run = false;
};

constexpr std::string_view kOfNumbers =
    "loop.target_loss optimizer.lr loader.shuffle sampler.set_epoch";

constexpr std::array kNeeds{
    Need{"copy.", "workload", "copy"},
    Need{"gemm.", "workload", "gemm"},
    Need{"kernel.", "workload", "kernel"},
    Need{"launch.", "workload", "launch"},
    Need{"replay.", "workload", "replay"},
    Need{"machine device host. power_limit pcie.lanes nvlink steps seed", "workload",
         "train|copy|gemm|kernel|collective|launch"},
    // Samples, weights and masks are drawn; copies, products and launches have no random number.
    Need{"seed", "workload", "train"},
    // The only host thread of the others has a core of its own, however few there are.
    Need{"host.cores", "workload", "train|collective"},
    // A launch's kernels take launch.kernel_ns at any clock.
    Need{"power_limit", "workload", "train|copy|gemm|kernel|collective"},
    // The link sets the pace of copies to and from the host, not the GPU's clock.
    Need{"power_limit", "copy.direction", "d2d|round_trip"},
    // Nothing goes over PCIe in a product, a kernel or a launch; nor where all is on one side.
    Need{"pcie.lanes", "workload", "train|copy|collective"},
    Need{"pcie.lanes", "device", "cuda"},
    // A copy within the device has neither the host's memory nor its link in it, and is not waited
    // for either way.
    Need{"copy.memory pcie.lanes transfer.non_blocking", "copy.direction", "h2d|d2h|round_trip"},
    Need{"copy.chunks copy.streams copy.order copy.flops", "copy.direction", "round_trip"},
    Need{"copy.order", "copy.chunks", "", 1},
    Need{"copy.pin", "copy.direction", "h2d"},
    Need{"copy.pin", "copy.memory", "pinned"},
    Need{"stream.kind", "workload", "copy|gemm|kernel|launch"},
    // Streams that PyTorch makes are of one kind.
    Need{"stream.kind", "copy.streams", "1", 0, "copy.direction=round_trip"},
    Need{"collective.op collective.bytes collective.ranks collective.count", "workload",
         "collective"},
    Need{"collective.algorithm collective.protocol collective.channels collective.p2p "
         "collective.expanded",
         "workload", "train|collective"},
    Need{"collective.channels collective.p2p", "parallel.strategy", "dp|ddp|fsdp|tensor|pipeline"},
    // A pipeline sends and receives, for which there is one way.
    Need{"collective.algorithm collective.protocol collective.expanded", "parallel.strategy",
         "dp|ddp|fsdp|tensor"},
    Need{"collective.algorithm collective.protocol collective.channels collective.p2p "
         "collective.expanded",
         "parallel.world_size", "", 1},
    // What the switch adds up has no chunks.
    Need{"collective.expanded", "collective.algorithm", "auto|ring|tree"},
    Need{"model. memory_format attention. data. batch_size precision autocast. matmul. cudnn. "
         "scaler. optimizer. zero_grad. clip_grad_norm accumulate_steps "
         "checkpoint. compile. loop. validation. loader. sampler. parallel. dp. ddp. fsdp. tensor. "
         "pipeline. straggler. uneven_batches transfer.streams transfer.pin_in_loop "
         "transfer.prefetch "
         "transfer.record_stream",
         "workload", "train"},
    Need{"transfer.non_blocking", "workload", "train|copy"},
    Need{"model.inputs model.layers", "model.name", "mlp"},
    Need{"model.detach", "model.name", "<mlp>"},
    Need{"model.hidden", "model.name", "mlp|rnn"},
    Need{"model.batch_norm", "model.name", "cnn"},
    Need{"model.width model.blocks model.heads", "model.name", "gpt-mini"},
    Need{"attention.kernel", "model.name", "<transformer>"},
    Need{"model.dropout", "model.name", "<dropout>"},
    Need{"attention.dropout model.vocab_size", "model.name", "<library>"},
    Need{"attention.dropout", "attention.kernel", "eager|transformers"},
    Need{"model.gelu", "model.name", "<gpt2>"},
    Need{"model.rms_norm", "model.name", "<llama>"},
    Need{"matmul.allow_tf32", "device", "cuda"},  // the switch is torch.backends.cuda's
    // The CPU computes while the host waits: there is nothing to wait for at a step's end.
    Need{"loop.empty_cache loop.sync_timing", "device", "cuda"},
    Need{"model.seq_len", "model.name", "rnn|<transformer>"},
    Need{"memory_format cudnn.", "model.name", "<images>"},
    Need{"memory_format cudnn.", "device", "cuda"},
    Need{"loader.num_workers loader.prefetch_factor loader.persistent_workers loader.sample_ms "
         "loader.sample_bytes loader.shuffle",
         "data.source", "loader"},
    Need{"loader.num_workers loader.prefetch_factor loader.persistent_workers loader.sample_ms "
         "loader.sample_bytes loader.shuffle loader.pin_memory transfer.",
         "data.location", "host"},
    Need{"loader.prefetch_factor loader.persistent_workers", "loader.num_workers", "", 0},
    Need{"transfer.", "device", "cuda"},
    // What the loader has pinned, pin_memory() gives back as it is.
    Need{"transfer.pin_in_loop", "loader.pin_memory", "false"},
    Need{"transfer.record_stream", "transfer.streams", "", 1},
    Need{"scaler.init_scale scaler.growth_factor scaler.backoff_factor scaler.growth_interval",
         "scaler.enabled", "true"},
    Need{"optimizer.momentum", "optimizer.name", "sgd"},
    Need{"loop.cublas_load_ms", "loop.cold_start", "true"},
    Need{"validation.every validation.no_grad validation.keep", "validation.batches", "", 0},
    Need{"dp.", "parallel.strategy", "dp"},
    Need{"ddp.", "parallel.strategy", "ddp|tensor|pipeline"},
    Need{"ddp.", "tensor.degree", "", 0, "parallel.strategy=tensor"},
    Need{"ddp.", "pipeline.degree", "", 0, "parallel.strategy=pipeline"},
    Need{"fsdp.", "parallel.strategy", "fsdp"},
    Need{"tensor.", "parallel.strategy", "tensor|fsdp"},
    Need{"tensor.sequence_parallel tensor.loss_parallel", "tensor.degree", "", 1,
         "parallel.strategy=fsdp"},
    Need{"pipeline.", "parallel.strategy", "pipeline"},
    Need{"pipeline.stages_per_rank pipeline.batch_p2p_comm", "pipeline.schedule",
         "interleaved_1f1b"},
    Need{"sampler.", "parallel.strategy", "ddp|fsdp|tensor|pipeline"},
    Need{"sampler.", "tensor.degree", "", 0, "parallel.strategy=tensor"},
    Need{"sampler.", "pipeline.degree", "", 0, "parallel.strategy=pipeline"},
    // Without numbers a step takes as long with any rate and in any order of the samples. Numbers
    // are computed of data that is there: made by Trainscope, or in the user's files. Of a model
    // that is too large for that no row knows.
    Need{kOfNumbers, "model.name", "<computed>"},
    Need{kOfNumbers, "data.path", "", 0, "data.name=mnist|cifar10|imagenet|tokens"},
    Need{kOfNumbers, "data.path", "", 0, "data.name=auto model.name=<mnist>"},
    Need{"uneven_batches", "parallel.strategy", "ddp|fsdp"},
    Need{"straggler.", "parallel.strategy", "ddp|fsdp|tensor|pipeline"},
    // Its only effect: the graph is searched for unused parameters in the first step alone.
    Need{"ddp.static_graph", "ddp.find_unused_parameters", "true"},
    Need{"checkpoint.every", "checkpoint.enabled", "true"},
    Need{"compile.optimize_ddp", "parallel.strategy", "ddp"},
    Need{"compile.optimize_ddp", "compile.fuse", "true", 0, "compile.cuda_graph=false"},
    Need{"fsdp.shard_degree tensor.degree pipeline.degree", "parallel.world_size", "", 1},
    Need{"fsdp.reshard_after_forward", "fsdp.wrap", "block"},
    Need{"fsdp.reduce_dtype", "fsdp.param_dtype", "bf16"},
    Need{"ddp.no_sync fsdp.gradient_sync", "accumulate_steps", "", 1},
    Need{"straggler.factor", "straggler.rank", "", -1},
    Need{"straggler.rank", "straggler.factor", "", 1, "", true},
    Need{"scaler.inject_inf_at loop.item_every scaler.growth_interval validation.every", "steps",
         "", 0, "", true, true},
    Need{"scaler.growth_factor", "scaler.growth_interval", "", 0, "", false, true},
};

bool is_one_of(std::string_view word, std::string_view words) {
  while (!words.empty()) {
    const std::string_view first = words.substr(0, words.find_first_of(kSeparators));
    if (first == word || (first.ends_with('.') && word.starts_with(first))) return true;
    words.remove_prefix(std::min(words.size(), first.size() + 1));
  }
  return false;
}

// Whether a knob has one of the words, or is a model with one of the traits.
bool has_one_of(const Config& config, std::string_view knob, std::string_view words) {
  const std::string word = spell(config.value(knob));
  if (is_one_of(word, words)) return true;
  if (knob != "model.name") return false;
  while (!words.empty()) {
    const std::string_view first = words.substr(0, words.find('|'));
    if (first.starts_with('<') && has_trait(word, first.substr(1, first.size() - 2))) return true;
    words.remove_prefix(std::min(words.size(), first.size() + 1));
  }
  return false;
}

bool is_where(const Config& config, std::string_view where) {
  while (!where.empty()) {
    const std::string_view one = where.substr(0, where.find(' '));
    const std::size_t equals = one.find('=');
    if (!has_one_of(config, one.substr(0, equals), one.substr(equals + 1))) return false;
    where.remove_prefix(std::min(where.size(), one.size() + 1));
  }
  return true;
}

bool is_turned(const Config& config, std::string_view knob) {
  return config.value(knob) != find_knob(knob).initial;
}

bool is_about(const Config& config, const Need& need, std::string_view knob) {
  return is_one_of(knob, need.knobs) && is_where(config, need.where) &&
         (!need.of_those_turned || is_turned(config, knob));
}

std::vector<std::int64_t> numbers_of(const std::string& list) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; (at = list.find_first_not_of(kBetweenNumbers, at)) != list.npos;) {
    const std::size_t end = std::min(list.find_first_of(kBetweenNumbers, at), list.size());
    std::int64_t number = 0;  // of what is none, which is refused where a program is built
    std::from_chars(list.data() + at, list.data() + end, number);
    numbers.push_back(number);
    at = end;
  }
  return numbers;
}

// Of a list of steps, counted from 0, those that the run does not get to.
std::vector<std::int64_t> beyond_run(const Config& config, std::string_view knob) {
  std::vector<std::int64_t> numbers = numbers_of(config.word(knob));
  std::erase_if(numbers, [&](std::int64_t one) { return one < config.whole("steps"); });
  return numbers;
}

bool is_list(std::string_view knob) {
  return find_knob(knob).type == KnobType::kList;
}

// The run has one of the list's steps, or as many steps.
bool is_in_run(const Config& config, std::string_view knob) {
  if (!is_list(knob)) return config.whole(knob) <= config.whole("steps");
  return beyond_run(config, knob).size() < numbers_of(config.word(knob)).size();
}

bool is_met(const Config& config, const Need& need, std::string_view knob) {
  if (need.in_run) return is_in_run(config, need.of == "steps" ? knob : need.of);
  if (!need.words.empty()) return has_one_of(config, need.of, need.words);
  const Value& value = config.value(need.of);
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
  const auto* whole = std::get_if<std::int64_t>(&value);
  return (whole ? static_cast<double>(*whole) : std::get<double>(value)) > need.above;
}

// The first need of a knob that its config does not meet; null: there is none.
const Need* unmet(const Config& config, std::string_view knob) {
  for (const Need& need : kNeeds) {
    if (!is_about(config, need, knob) || is_met(config, need, knob)) continue;
    if (need.in_run || !unmet(config, need.of)) return &need;  // else its value says nothing
  }
  return nullptr;
}

// "steps = 5".
std::string reason_of(const Config& config, const Need& need) {
  const std::string value = show(find_knob(need.of), config.value(need.of));
  return std::string(need.of) + " = " + (value.empty() ? "\"\"" : value);
}

bool is_among(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// " at 50, 60": of a list of steps those that the run does not get to, where it gets to others.
std::string idle_at(const Config& config, std::string_view knob) {
  std::string words;
  if (!is_list(knob)) return words;
  for (const std::int64_t number : beyond_run(config, knob))
    words += (words.empty() ? " at " : ", ") + std::to_string(number);
  return words;
}

bool waits_for_steps(std::string_view knob) {
  return std::ranges::any_of(kNeeds, [&](const Need& need) {
    return need.in_run && need.of == "steps" && is_one_of(knob, need.knobs);
  });
}

// Of a knob whose reason is none of those that are to take several values.
std::string idle_note(const Config& config, std::string_view knob,
                      const std::vector<std::string>& varied) {
  const Need* need = unmet(config, knob);
  if (need && (is_among(varied, need->of) || (need->in_run && is_among(varied, "steps"))))
    return "";
  if (need) return "changes nothing with " + reason_of(config, *need);
  const std::string at = is_among(varied, "steps") ? "" : idle_at(config, knob);
  return at.empty() ? at : "changes nothing" + at + " with steps = " + spell(config.value("steps"));
}

}  // namespace

std::string idle_because(const Config& config, std::string_view knob) {
  const Need* need = unmet(config, knob);
  return need ? reason_of(config, *need) : "";
}

std::string idle_note(const Config& config, std::string_view knob) {
  return idle_note(config, knob, {});
}

std::vector<std::string> idle_words(const std::vector<std::string>& knobs,
                                    const std::vector<const Config*>& configs,
                                    const std::vector<std::string>& varied) {
  std::vector<std::string> words;
  for (const std::string& knob : knobs) {
    std::vector<std::string> notes;
    for (const Config* config : configs)
      if (!waits_for_steps(knob) || is_turned(*config, knob))
        notes.push_back(idle_note(*config, knob, varied));
    if (!notes.empty() && std::ranges::none_of(notes, &std::string::empty))
      words.push_back(knob + " " + notes.front());
  }
  return words;
}

}  // namespace trainscope::program
