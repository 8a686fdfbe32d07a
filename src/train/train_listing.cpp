#include "train/train_listing.h"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <cmath>

#include "train/attention_listing.h"
#include "train/parallel.h"
#include "train/parallel_listing.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

// Of torch.utils.data.DataLoader with workers, where it is given none.
constexpr std::int64_t kPyTorchPrefetchFactor = 2;

std::string_view torch_name(program::ElementType type) {
  return type == program::ElementType::kFp16 ? "torch.float16" : "torch.bfloat16";
}

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

class ListingWriter {
 public:
  ListingWriter(program::Listing& listing, const program::Config& config,
                const TrainSettings& settings, const Graph& graph, const ListedStages& stages)
      : listing_(listing), config_(config), settings_(settings), graph_(graph), stages_(stages) {}

  TrainLines write() {
    if (settings_.by_process || shares_batches()) write_process_group();
    if (settings_.on_cpu) add("device = \"cpu\"");
    if (settings_.tensor) {
      write_tensors();
    } else {
      write_loader();
    }
    write_model();
    if (settings_.own_stream) add("copy_stream = torch.cuda.Stream()");
    if (settings_.one_batch)
      add(fmt::format("batch = next(iter({}))  # one batch, again and again", all_batches()));
    add("");
    if (settings_.prefetch) {
      write_fetch();
      write_epochs();
      write_prefetching_loop();
    } else if (settings_.accumulate > 1) {
      write_accumulating_loop();
    } else {
      write_epochs();
      write_loop();
    }
    write_step();
    indent_ = 0;
    if (!settings_.on_cpu) lines_.end = add("torch.cuda.synchronize()");
    if (settings_.evaluates) write_evaluation();
    return lines_;
  }

 private:
  std::uint16_t add(const std::string& text) {
    return listing_.add(text.empty() ? "" : std::string(4 * indent_, ' ') + text);
  }

  std::string batches() const {
    if (settings_.one_batch) return fmt::format("[batch] * {}", settings_.steps);
    return all_batches();
  }

  std::string all_batches() const {
    if (!settings_.tensor) return "loader";
    const std::string whole = settings_.left_out > 0 && epochs() > 1
                                  ? fmt::format("[:{}]", settings_.epoch * settings_.batch)
                                  : "";
    return fmt::format("zip(X{0}.split({1}), Y{0}.split({1}))", whole, settings_.batch);
  }

  // ---- Before the loop --------------------------------------------------------------------------

  void write_process_group() {
    add("# " + torchrun(config_, processes(), settings_.gpus_of_node, "train.py"));
    if (processes() > 1) add("# each rank runs all of this, on its own GPU");
    add("dist.init_process_group(\"nccl\")");
    add("rank = dist.get_rank()");
    if (several_nodes()) add("local_rank = int(os.environ[\"LOCAL_RANK\"])  # on its node");
    add(fmt::format("torch.cuda.set_device({})", device_number()));
    if (!settings_.sampled) return;
    if (settings_.uneven) {
      add("sampler = range(first[rank], last[rank])  # cut by hand: the last rank has fewer");
      return;
    }
    const std::int64_t seed = config_.whole("seed");
    add(fmt::format("sampler = DistributedSampler({}, shuffle={}{})", data_name(settings_),
                    python(config_.flag("loader.shuffle")),
                    seed == 0 ? "" : fmt::format(", seed={}", seed)));
  }

  // All ranks work on the same batches.
  bool shares_batches() const { return settings_.pipeline || settings_.tensor_parallel; }
  int processes() const {
    return std::max({settings_.ranks, settings_.pipeline_ranks, settings_.tensor_ranks});
  }
  bool several_nodes() const { return processes() > settings_.gpus_of_node; }

  // GPUs are numbered on each node.
  const char* device_number() const { return several_nodes() ? "local_rank" : "rank"; }

  void write_parallel() {
    const ParallelLines parallel =
        parallel_lines(config_, settings_, graph_, stages_, device_number());
    for (std::size_t i = 0; i < parallel.lines.size(); ++i) {
      const std::uint16_t line = add(parallel.lines[i]);
      if (i == parallel.own) (settings_.ddp ? lines_.ddp : lines_.model) = line;
    }
  }

  // With the backend "cudagraphs" nothing is fused.
  void write_compile() {
    const Compilation& compile = settings_.compile;
    add(fmt::format("model = torch.compile(model{})", !compile.cuda_graph ? ""
                                                      : compile.fuse ? ", mode=\"reduce-overhead\""
                                                                     : ", backend=\"cudagraphs\""));
  }

  void write_loader() {
    const std::int64_t workers = config_.whole("loader.num_workers");
    add(fmt::format("loader = DataLoader({}, batch_size={}, num_workers={},", data_name(settings_),
                    settings_.batch, workers));
    std::string rest =
        fmt::format("                    pin_memory={}", python(config_.flag("loader.pin_memory")));
    if (const auto ahead = config_.whole("loader.prefetch_factor");
        workers > 0 && ahead != kPyTorchPrefetchFactor)
      rest += fmt::format(", prefetch_factor={}", ahead);
    if (workers > 0 && config_.flag("loader.persistent_workers"))
      rest += ", persistent_workers=True";
    if (settings_.sampled)
      rest += ", sampler=sampler";
    else if (config_.flag("loader.shuffle"))
      rest += ", shuffle=True";
    if (settings_.drop_last && (settings_.computes || epochs() > 1)) rest += ", drop_last=True";
    const char* of_ranks = settings_.ranks > 1          ? "  # of each rank"
                           : settings_.tensor_ranks > 1 ? "  # the same on every rank"
                                                        : "";
    add(rest + ")" + of_ranks);
  }

  void write_tensors() {
    add("X, Y = load_tensors()  # all samples, in host memory");
    if (settings_.by_process && settings_.ranks > 1)
      add(fmt::format("X, Y = X[rank::{0}], Y[rank::{0}]  # this rank's", settings_.ranks));
    if (settings_.set_on_device) return write_whole_set();
    if (config_.flag("loader.pin_memory")) add("X, Y = X.pin_memory(), Y.pin_memory()");
  }

  void write_whole_set() {
    const std::string part =
        settings_.one_batch ? fmt::format("[:{}]", settings_.batch) : std::string();
    lines_.whole_set = add(
        fmt::format("X, Y = X{0}.to(device){1}, Y{0}.to(device)  # once", part, cast_of_batch()));
  }

  void write_model() {
    for (const char* backend : {"matmul", "cudnn"}) {
      const std::string knob = std::string(backend) + ".allow_tf32";
      const bool allowed =
          backend[0] == 'm' ? settings_.precision.matmul_tf32 : settings_.precision.conv_tf32;
      if (config_.is_set(knob) || (allowed && backend[0] == 'm'))
        add(fmt::format("torch.backends.{}.allow_tf32 = {}",
                        backend[0] == 'm' ? "cuda.matmul" : "cudnn", python(allowed)));
    }
    if (config_.flag("cudnn.benchmark")) add("torch.backends.cudnn.benchmark = True");
    for (const std::string& line : attention_lines(graph_, config_.word("model.name"))) add(line);
    if (settings_.fsdp) add("with torch.device(\"meta\"):  # its shapes, and no memory");
    indent_ += settings_.fsdp;
    for (std::size_t i = 0; i < graph_.listing.size(); ++i) {
      const std::uint16_t line = add(placed(graph_.listing[i]));
      if (i == 0) lines_.model = line;
    }
    indent_ -= settings_.fsdp;
    if (is_narrow()) add(fmt::format("model = model{}", cast()));
    if (channels_last()) add("model = model.to(memory_format=torch.channels_last)");
    if (settings_.image_sizes > 1)
      add(fmt::format("sizes = itertools.cycle(({}))", fmt::join(settings_.sides(), ", ")));
    if (config_.flag("checkpoint.enabled"))
      add("# forward: x = checkpoint(block, x, use_reentrant=False) for each block");
    if (settings_.compile.any()) write_compile();
    write_parallel();
    write_optimizer();
    if (settings_.has_scaler) write_scaler();
  }

  // Sharded or cut, a model is given memory later.
  std::string placed(const std::string& line) const {
    constexpr std::string_view kPlace = ".to(device)";
    if ((!settings_.fsdp && !settings_.pipeline) || !line.ends_with(kPlace)) return line;
    return line.substr(0, line.size() - kPlace.size());
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

  // ---- The loop's head --------------------------------------------------------------------------

  // Copies `from_x` and `from_y`, on the copy stream where there is one.
  void write_copies(const char* from_x, const char* from_y) {
    if (settings_.on_cpu || settings_.set_on_device) return;
    const auto non_blocking = python(config_.flag("transfer.non_blocking"));
    if (settings_.own_stream) add("with torch.cuda.stream(copy_stream):");
    indent_ += settings_.own_stream;
    const char* pin = settings_.pins_in_loop ? ".pin_memory()" : "";
    const char* format = channels_last() ? ", memory_format=torch.channels_last" : "";
    const std::string on_first = settings_.pipeline ? "if rank == 0: " : "";
    const std::string on_last =
        settings_.pipeline ? fmt::format("if rank == {}: ", settings_.pipeline_ranks - 1) : "";
    lines_.x = add(fmt::format("{}x = {}{}.to(device, non_blocking={}{}){}", on_first, from_x, pin,
                               non_blocking, format, cast_of_batch()));
    lines_.y = add(
        fmt::format("{}y = {}{}.to(device, non_blocking={})", on_last, from_y, pin, non_blocking));
    indent_ -= settings_.own_stream;
  }

  bool is_narrow() const { return settings_.parameter_type != program::ElementType::kFp32; }
  // To the type of the weights.
  std::string cast() const { return fmt::format(".to({})", torch_name(settings_.parameter_type)); }
  // Of numbers: tokens stay whole.
  std::string cast_of_batch() const {
    return is_narrow() && settings_.data.shape.tokens == 0 ? cast() : "";
  }

  // Of images: to other inputs the format means nothing.
  bool channels_last() const {
    return config_.word("memory_format") == "channels_last" && settings_.data.shape.channels > 0;
  }

  void write_resize() {
    if (settings_.image_sizes > 1) lines_.resize = add("x = F.interpolate(x, size=next(sizes))");
  }

  void write_waits() {
    if (!settings_.own_stream) return;
    lines_.wait_stream = add("torch.cuda.current_stream().wait_stream(copy_stream)");
    if (config_.flag("transfer.record_stream"))
      lines_.record_stream = add("for t in (x, y): t.record_stream(torch.cuda.current_stream())");
  }

  void write_timer_start() {
    if (config_.flag("loop.timer")) lines_.timer_start = add("start = time.perf_counter()");
  }

  void write_fetch() {
    add("def fetch(batch):  # starts the copies of a batch");
    ++indent_;
    add("if batch is None: return None");
    write_copies("batch[0]", "batch[1]");
    add("return x, y");
    --indent_;
    add("");
  }

  // That the run begins.
  std::int64_t epochs() const {
    if (settings_.one_batch || settings_.epoch == 0) return 1;
    return (settings_.batches() + settings_.epoch - 1) / settings_.epoch;
  }

  // Several, or one of which a sampler may have to be told.
  bool shows_epochs() const {
    const bool told = settings_.sampled && config_.is_set("sampler.set_epoch");
    return epochs() > 1 || (told && settings_.epoch > 0 && !settings_.one_batch);
  }

  void write_epochs() {
    if (!shows_epochs()) return;
    counts_through_ = counts() && epochs() > 1;
    if (counts_through_) add("step = -1");
    const bool part = settings_.steps % settings_.epoch != 0;
    std::string in_all;
    if (part || settings_.uneven) in_all = fmt::format("  # {} steps in all", settings_.steps);
    if (settings_.uneven) in_all += fmt::format(", {} of the last rank", settings_.steps - 1);
    write_epoch_head(in_all);
  }

  void write_epoch_head(const std::string& comment) {
    add(fmt::format("for epoch in range({}):{}", epochs(), comment));
    ++indent_;
    if (settings_.set_epoch) add("sampler.set_epoch(epoch)");
  }

  // Batches of one epoch after the other: a step that accumulates may begin in one and end in the
  // next.
  void write_batches_of_epochs() {
    add("def batches_of_epochs():");
    ++indent_;
    write_epoch_head("");
    add(fmt::format("yield from {}", batches()));
    indent_ = 0;
    add("");
  }

  void write_prefetching_loop() {
    add(fmt::format("batches = iter({})", batches()));
    lines_.begin = add("following = fetch(next(batches, None))");
    if (counts() && !counts_through_) add("step = -1");
    lines_.loop = add("while following is not None:");
    ++indent_;
    if (counts()) add("step += 1");
    write_timer_start();
    add("x, y = following");
    write_waits();
    lines_.fetch = add("following = fetch(next(batches, None))");
  }

  void write_loop() {
    lines_.loop = add(counts() && !counts_through_
                          ? fmt::format("for step, (x, y) in enumerate({}):", batches())
                          : fmt::format("for x, y in {}:", batches()));
    lines_.begin = lines_.next = lines_.loop;
    ++indent_;
    if (counts_through_) add("step += 1");
    write_timer_start();
    write_copies("x", "y");
    write_waits();
  }

  void write_accumulating_loop() {
    if (shows_epochs()) write_batches_of_epochs();
    lines_.begin = add(shows_epochs() ? "batches = batches_of_epochs()"
                                      : fmt::format("batches = iter({})", batches()));
    lines_.loop = add(fmt::format("for step in range({}):", settings_.steps));
    ++indent_;
    write_timer_start();
    write_zero_grad();
    add(fmt::format("for {} in range({}):", settings_.no_sync ? "i" : "_", settings_.accumulate));
    ++indent_;
    lines_.next = add("x, y = next(batches)");
    write_copies("x", "y");
    write_waits();
  }

  bool counts() const { return settings_.item_every > 1 || !settings_.infinities.empty(); }

  // ---- The loop's body --------------------------------------------------------------------------

  void write_zero_grad() {
    if (settings_.zero_never) return;
    lines_.zero_grad = add(fmt::format("optimizer.zero_grad(set_to_none={})",
                                       python(config_.flag("zero_grad.set_to_none"))));
  }

  std::vector<std::string> contexts_of_forward() const {
    std::vector<std::string> contexts;
    if (settings_.precision.autocast != program::ElementType::kFp32)
      contexts.push_back(fmt::format("torch.autocast(\"cuda\", dtype={})",
                                     torch_name(settings_.precision.autocast)));
    const std::string& kernel = config_.word("attention.kernel");
    if (config_.is_set("attention.kernel") && kernel != "eager" && settings_.data.shape.tokens > 0)
      contexts.push_back(fmt::format("sdpa_kernel(SDPBackend.{})",
                                     kernel == "flash" ? "FLASH_ATTENTION" : "MATH"));
    return contexts;
  }

  void write_forward() {
    const std::vector<std::string> contexts = contexts_of_forward();
    if (!contexts.empty()) add(fmt::format("with {}:", fmt::join(contexts, ", ")));
    indent_ += !contexts.empty();
    const std::string divided =
        settings_.accumulate > 1 ? fmt::format(" / {}", settings_.accumulate) : "";
    if (settings_.dp && config_.flag("dp.loss_in_forward")) {
      lines_.forward = add("losses, out = model(x, y)");
      lines_.loss = add("loss = losses.mean()" + divided);
      indent_ -= !contexts.empty();
      return;
    }
    lines_.forward = add("out = model(x)");
    lines_.loss =
        add(settings_.data.shape.tokens > 0
                ? fmt::format("loss = F.cross_entropy(out.flatten(0, 1), y.flatten()){}", divided)
                : fmt::format("loss = F.cross_entropy(out, y){}", divided));
    indent_ -= !contexts.empty();
  }

  // Every rank calls it: the first has the input, the last the targets.
  void write_schedule() {
    write_zero_grad();
    const std::vector<std::string> contexts = contexts_of_forward();
    add("losses = []");
    add("args = (x,) if rank == 0 else ()");
    if (!contexts.empty()) add(fmt::format("with {}:", fmt::join(contexts, ", ")));
    indent_ += !contexts.empty();
    lines_.forward = lines_.tied =
        add(fmt::format("schedule.step(*args, target=y if rank == {} else None, losses=losses, "
                        "return_outputs=False)",
                        settings_.pipeline_ranks - 1));
    indent_ -= !contexts.empty();
    if (!stages_.tied.empty())
      lines_.tied = add("if tied is not None: dist.all_reduce(tied.grad, group=ends)");
  }

  void write_step() {
    if (settings_.pipeline) {
      write_schedule();
      write_update();
      return write_rest();
    }
    const bool zero_inside = settings_.accumulate == 1;
    write_resize();
    if (settings_.zero_first && zero_inside) write_zero_grad();
    if (settings_.no_sync && settings_.fsdp)
      add(fmt::format("model.set_requires_gradient_sync(i == {})", settings_.accumulate - 1));
    const bool apart = settings_.no_sync && settings_.ddp;  // forward decides, too
    if (apart)
      add(fmt::format("with model.no_sync() if i < {} else nullcontext():",
                      settings_.accumulate - 1));
    indent_ += apart;
    write_forward();
    if (!settings_.zero_first) write_zero_grad();
    lines_.backward =
        add(settings_.has_scaler ? "scaler.scale(loss).backward()" : "loss.backward()");
    indent_ -= apart;
    if (settings_.accumulate > 1) --indent_;
    write_update();
    write_rest();
  }

  void write_update() {
    if (!settings_.infinities.empty())
      lines_.inject = add(fmt::format(
          "if step in ({},): next(model.parameters()).grad.view(-1)[0] = float(\"inf\")",
          fmt::join(settings_.infinities, ", ")));
    if (settings_.clip_norm > 0) {
      if (settings_.has_scaler) lines_.unscale = add("scaler.unscale_(optimizer)");
      lines_.clip =
          add(fmt::format("nn.utils.clip_grad_norm_(model.parameters(), {})", settings_.clip_norm));
    }
    // Tensors that are whole on each rank stand beside those that are shared out.
    if (settings_.tensor_parallel) add("with implicit_replication():");
    indent_ += settings_.tensor_parallel;
    lines_.step = add(settings_.has_scaler ? "scaler.step(optimizer)" : "optimizer.step()");
    indent_ -= settings_.tensor_parallel;
    if (lines_.unscale == 0) lines_.unscale = lines_.step;
    if (settings_.has_scaler) lines_.update_scale = add("scaler.update()");
  }

  void write_rest() {
    if (const double sleep = config_.number("loop.sleep_ms"); sleep > 0)
      lines_.sleep = add(fmt::format("time.sleep({})", sleep / 1000));
    const std::int64_t every = settings_.item_every;
    if (every > 1) add(fmt::format("if step % {} == {}:", every, every - 1));
    if (every > 0) lines_.item = add(fmt::format("{}print(loss.item())", every > 1 ? "    " : ""));
    if (config_.flag("loop.sync_timing") && !settings_.on_cpu)
      lines_.sync = add("torch.cuda.synchronize()");
    if (lines_.timer_start) lines_.timer_stop = add("print(time.perf_counter() - start)");
  }

  void write_evaluation() {
    add("");
    add("model.eval(); correct = 0");
    const auto narrow = settings_.precision.autocast;
    add(narrow == program::ElementType::kFp32
            ? "with torch.no_grad():"
            : fmt::format("with torch.no_grad(), torch.autocast(\"cuda\", dtype={}):",
                          torch_name(narrow)));
    ++indent_;
    lines_.evaluate = add("for x, y in test_loader:  # whole batches: drop_last=True");
    ++indent_;
    if (!settings_.on_cpu)
      lines_.evaluate_copy =
          add(fmt::format("x, y = x.to(device){}, y.to(device)", cast_of_batch()));
    lines_.evaluate_forward = add("correct += (model(x).argmax(1) == y).sum()");
    indent_ = 0;
    lines_.accuracy =
        add(fmt::format("print(correct.item() / (len(test_loader) * {}))", settings_.batch));
  }

  program::Listing& listing_;
  const program::Config& config_;
  const TrainSettings& settings_;
  const Graph& graph_;
  const ListedStages& stages_;
  TrainLines lines_;
  std::size_t indent_ = 0;
  bool counts_through_ = false;  // steps, through all epochs
};

}  // namespace

TrainLines write_train_listing(program::Listing& listing, const program::Config& config,
                               const TrainSettings& settings, const Graph& graph,
                               const ListedStages& stages) {
  return ListingWriter(listing, config, settings, graph, stages).write();
}

}  // namespace trainscope::train
