#include "train/listing/setup_listing.h"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <cmath>

#include "train/listing/attention_listing.h"
#include "train/listing/parallel_listing.h"
#include "train/parallel/parallel.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

// Of torch.utils.data.DataLoader with workers, where it is given none.
constexpr std::int64_t kPyTorchPrefetchFactor = 2;

// What a learner calls the data set's object.
std::string data_name(const TrainSettings& settings) {
  return settings.data.name == "auto" ? "data" : settings.data.name;
}

// As Python reads it back; large powers of two as such.
std::string python_number(double value) {
  constexpr int kLarge = 17;
  int exponent = 0;
  if (std::frexp(value, &exponent) == 0.5 && exponent > kLarge)
    return fmt::format("2.0**{}", exponent - 1);
  return fmt::format("{}", value);
}

class SetupListing : ListingPart {
 public:
  SetupListing(ListingText& text, TrainLines& lines, const ListedRun& run)
      : ListingPart(text, lines, run) {}

  void write() {
    if (settings_.by_process || run_.shares_batches()) write_process_group();
    if (settings_.on_cpu) add("device = \"cpu\"");
    if (settings_.tensor) {
      write_tensors();
    } else {
      write_loader();
    }
    write_model();
    if (settings_.own_stream) add("copy_stream = torch.cuda.Stream()");
    if (settings_.one_batch)
      add(fmt::format("batch = next(iter({}))  # one batch, again and again", run_.all_batches()));
    add("");
  }

 private:
  void write_process_group() {
    add("# " + torchrun(config_, run_.processes(), settings_.gpus_of_node, "train.py"));
    if (run_.processes() > 1) add("# each rank runs all of this, on its own GPU");
    add("dist.init_process_group(\"nccl\")");
    add("rank = dist.get_rank()");
    if (run_.several_nodes()) add("local_rank = int(os.environ[\"LOCAL_RANK\"])  # on its node");
    add(fmt::format("torch.cuda.set_device({})", run_.device_number()));
    if (!settings_.sampled) return;
    if (settings_.uneven) {
      add("sampler = range(first[rank], last[rank])  # cut by hand: the last rank has fewer");
      return;
    }
    const std::int64_t seed = config_.whole("seed");
    const std::string group =
        settings_.tensor_parallel || settings_.pipeline
            ? fmt::format(", num_replicas={}, rank={}", settings_.ranks, reader())
            : "";
    add(fmt::format("sampler = DistributedSampler({}{}, shuffle={}{})", data_name(settings_), group,
                    python(config_.flag("loader.shuffle")),
                    seed == 0 ? "" : fmt::format(", seed={}", seed)));
  }

  // Who reads samples of its own: a rank, or a group of them.
  std::string reader() const {
    const int sharing = settings_.gpus_of_batch();
    return sharing > 1 ? fmt::format("rank // {}", sharing) : "rank";
  }

  void write_loader() {
    const std::int64_t workers = config_.whole("loader.num_workers");
    add(fmt::format("loader = DataLoader({}, batch_size={}, num_workers={},", data_name(settings_),
                    settings_.batch, workers));
    std::string rest = fmt::format("    pin_memory={}", python(config_.flag("loader.pin_memory")));
    if (const auto ahead = config_.whole("loader.prefetch_factor");
        workers > 0 && ahead != kPyTorchPrefetchFactor)
      rest += fmt::format(", prefetch_factor={}", ahead);
    if (workers > 0 && config_.flag("loader.persistent_workers"))
      rest += ", persistent_workers=True";
    if (settings_.sampled)
      rest += ", sampler=sampler";
    else if (config_.flag("loader.shuffle"))
      rest += ", shuffle=True";
    if (settings_.drop_last && (settings_.computes || run_.epochs() > 1))
      rest += ", drop_last=True";
    const char* of_ranks =
        settings_.tensor_ranks > 1
            ? (settings_.ranks > 1 ? "  # of each tensor group" : "  # the same on every rank")
        : settings_.ranks > 1 ? (settings_.pipeline ? "  # of each pipeline" : "  # of each rank")
                              : "";
    add(rest + ")" + of_ranks);
  }

  void write_tensors() {
    add("X, Y = load_tensors()  # all samples, in host memory");
    if (settings_.by_process && settings_.ranks > 1)
      add(fmt::format("X, Y = X[{0}::{1}], Y[{0}::{1}]  # this rank's", reader(), settings_.ranks));
    if (settings_.set_on_device) return write_whole_set();
    if (config_.flag("loader.pin_memory")) add("X, Y = X.pin_memory(), Y.pin_memory()");
  }

  void write_whole_set() {
    const std::string part =
        settings_.one_batch ? fmt::format("[:{}]", settings_.batch) : std::string();
    lines_.whole_set = add(fmt::format("X, Y = X{0}.to(device){1}, Y{0}.to(device)  # once", part,
                                       run_.cast_of_batch()));
  }

  // PyTorch's math attention widens 16-bit numbers to FP32 unless it is told not to (since 2.5,
  // aten/src/ATen/native/transformers/attention.cpp); what runs here does not.
  bool reduces_in_16_bits() const {
    return settings_.data.shape.tokens > 0 && config_.word("attention.kernel") == "math" &&
           (settings_.precision.autocast != program::ElementType::kFp32 ||
            config_.word("model.dtype") != "fp32");
  }

  void write_model() {
    for (const char* backend : {"matmul", "cudnn"}) {
      const std::string knob = std::string(backend) + ".allow_tf32";
      const bool used =
          backend[0] == 'm' ? settings_.precision.matmul_tf32 : settings_.precision.conv_tf32;
      const bool allowed = config_.is_set(knob) ? config_.flag(knob) : used;
      if (config_.is_set(knob) || (used && backend[0] == 'm'))
        add(fmt::format("torch.backends.{}.allow_tf32 = {}",
                        backend[0] == 'm' ? "cuda.matmul" : "cudnn", python(allowed)));
    }
    if (config_.flag("cudnn.benchmark")) add("torch.backends.cudnn.benchmark = True");
    if (reduces_in_16_bits()) add("torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)");
    for (const std::string& line : attention_lines(run_.graph, config_.word("model.name")))
      add(line);
    const ListedModel& listed = run_.graph.listed;
    for (const std::string& line : listed.before) add(line);
    if (settings_.fsdp) add("with torch.device(\"meta\"):  # its shapes, and no memory");
    text_.indent += settings_.fsdp;
    for (std::size_t i = 0; i < run_.graph.listing.size(); ++i) {
      const std::uint16_t line = add(placed(run_.graph.listing[i]));
      if (i == 0) lines_.model = line;
    }
    if (!settings_.pipeline && !listed.whole.empty()) add(listed.whole);
    text_.indent -= settings_.fsdp;
    if (run_.is_narrow()) add(fmt::format("model = model{}", run_.cast()));
    if (run_.channels_last()) add("model = model.to(memory_format=torch.channels_last)");
    if (settings_.image_sizes > 1)
      add(fmt::format("sizes = itertools.cycle(({}))", fmt::join(settings_.sides(), ", ")));
    write_checkpoints(listed);
    if (settings_.compile.any()) write_compile();
    write_parallel();
    write_optimizer();
    if (settings_.has_scaler) write_scaler();
  }

  void write_checkpoints(const ListedModel& listed) {
    const int every = settings_.checkpoint_every;
    if (every == 0) return;
    if (listed.is_recomputed.empty())
      add("# forward: x = checkpoint(block, x, use_reentrant=False) for " +
          (every == 1 ? "each block" : fmt::format("the last of every {} blocks", every)));
    else if (!listed.checkpoints.empty())
      add(listed.checkpoints);
    if (every > 1 && !listed.is_recomputed.empty())
      add(fmt::format("for i, block in enumerate({}, 1): block.{} = i % {} == 0", run_.graph.blocks,
                      listed.is_recomputed, every));
  }

  // Sharded or cut, a model is given memory later.
  std::string placed(const std::string& line) const {
    constexpr std::string_view kPlace = ".to(device)";
    if ((!settings_.fsdp && !settings_.pipeline) || !line.ends_with(kPlace)) return line;
    return line.substr(0, line.size() - kPlace.size());
  }

  // With the backend "cudagraphs" nothing is fused. It is compiled when it is first called, and
  // DistributedDataParallel's buckets are known by then; FSDP's hooks are around what is compiled.
  void write_compile() {
    const Compilation& compile = settings_.compile;
    if (settings_.fsdp) {
      const bool by_block = config_.word("fsdp.wrap") == "block" && !run_.graph.blocks.empty();
      add(by_block ? fmt::format("for block in {}: block.compile()", run_.graph.blocks)
                   : "model.compile()");
      return;
    }
    if (settings_.ddp && !compile.optimize_ddp)
      add("torch._dynamo.config.optimize_ddp = False  # one graph, one backward");
    add(fmt::format("model = torch.compile(model{})", !compile.cuda_graph ? ""
                                                      : compile.fuse ? ", mode=\"reduce-overhead\""
                                                                     : ", backend=\"cudagraphs\""));
  }

  // No model that is listed returns its loss, as those of transformers do: this one does.
  void write_model_with_loss() {
    for (const char* line :
         {"class WithLoss(nn.Module):  # each replica has the loss of its samples",
          "    def __init__(self, model):", "        super().__init__()",
          "        self.model = model",
          "    def forward(self, x, y):", "        out = self.model(x)"})
      add(line);
    add("        " + loss_line());
    add("        return loss.unsqueeze(0), out  # a vector: no scalars are gathered");
    add("model = WithLoss(model)");
  }

  void write_parallel() {
    if (has_loss_inside()) write_model_with_loss();
    const ParallelLines parallel =
        parallel_lines(config_, settings_, run_.graph, run_.stages, run_.device_number());
    for (std::size_t i = 0; i < parallel.lines.size(); ++i) {
      const std::uint16_t line = add(parallel.lines[i]);
      if (i == parallel.own) lines_.model = line;
      if (i == parallel.ddp) lines_.ddp = line;
    }
  }

  void write_optimizer() {
    const std::string& name = config_.word("optimizer.name");
    std::string text = fmt::format("optimizer = torch.optim.{}({}, lr={}",
                                   name == "sgd"    ? "SGD"
                                   : name == "adam" ? "Adam"
                                                    : "AdamW",
                                   listed_parameters(settings_), config_.number("optimizer.lr"));
    if (name == "sgd" && config_.number("optimizer.momentum") > 0)
      text += fmt::format(", momentum={}", config_.number("optimizer.momentum"));
    if (config_.number("optimizer.weight_decay") > 0 || name == "adamw")
      text += fmt::format(", weight_decay={}", config_.number("optimizer.weight_decay"));
    const bool for_loop = config_.word("optimizer.impl") == "for_loop";
    add(text + (settings_.fused ? ", fused=True)" : for_loop ? ", foreach=False)" : ")"));
  }

  void write_scaler() {
    std::string text = "scaler = torch.amp.GradScaler(\"cuda\"";
    for (const char* word : {"init_scale", "growth_factor", "backoff_factor"})
      if (const std::string knob = std::string("scaler.") + word; config_.is_set(knob))
        text += fmt::format(", {}={}", word, python_number(config_.number(knob)));
    if (config_.is_set("scaler.growth_interval"))
      text += fmt::format(", growth_interval={}", config_.whole("scaler.growth_interval"));
    add(text + ")");
  }
};

}  // namespace

void write_setup(ListingText& text, TrainLines& lines, const ListedRun& run) {
  SetupListing(text, lines, run).write();
}

}  // namespace trainscope::train
