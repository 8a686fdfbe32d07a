#include "train/train_listing.h"

#include <fmt/format.h>

#include "train/writer.h"

namespace trainscope::train {
namespace {

class ListingWriter {
 public:
  ListingWriter(program::Listing& listing, const program::Config& config, const MlpShape& shape)
      : listing_(listing),
        config_(config),
        shape_(shape),
        tensor_(config.word("data.source") == "tensor"),
        own_stream_(config.whole("transfer.streams") == 2),
        prefetch_(config.flag("transfer.prefetch")) {}

  TrainLines write() {
    if (tensor_) {
      write_tensors();
    } else {
      write_loader();
    }
    write_model();
    if (own_stream_) listing_.add("copy_stream = torch.cuda.Stream()");
    listing_.add("");
    if (prefetch_) {
      write_fetch();
      write_prefetching_loop();
    } else {
      write_loop();
    }
    write_step();
    lines_.end = listing_.add("torch.cuda.synchronize()");
    return lines_;
  }

 private:
  std::string batches() const {
    if (!tensor_) return "loader";
    return fmt::format("zip(X.split({0}), Y.split({0}))", shape_.batch);
  }

  void write_loader() {
    listing_.add(fmt::format("loader = DataLoader(mnist, batch_size={}, num_workers={},",
                             shape_.batch, config_.whole("loader.num_workers")));
    const bool persistent =
        config_.whole("loader.num_workers") > 0 && config_.flag("loader.persistent_workers");
    listing_.add(fmt::format("                    pin_memory={}",
                             python(config_.flag("loader.pin_memory"))) +
                 (persistent ? ", persistent_workers=True)" : ")"));
  }

  void write_tensors() {
    listing_.add("X, Y = load_tensors()  # all samples, in host memory");
    if (config_.flag("loader.pin_memory")) listing_.add("X, Y = X.pin_memory(), Y.pin_memory()");
  }

  void write_model() {
    lines_.model = listing_.add("model = nn.Sequential(");
    listing_.add(fmt::format("    nn.Linear({}, {}), nn.ReLU(),", shape_.inputs, shape_.hidden));
    const std::string hidden = fmt::format("nn.Linear({0}, {0}), nn.ReLU()", shape_.hidden);
    if (shape_.layers == 2) listing_.add("    " + hidden + ",");
    if (shape_.layers > 2)
      listing_.add(
          fmt::format("    *(m for _ in range({}) for m in ({})),", shape_.layers - 1, hidden));
    listing_.add(fmt::format("    nn.Linear({}, {})).to(device)", shape_.hidden, shape_.classes));
    listing_.add(fmt::format("optimizer = torch.optim.SGD(model.parameters(), lr={})",
                             config_.number("optimizer.lr")));
  }

  // Copies `from_x` and `from_y`, on the copy stream where there is one.
  void write_copies(const char* from_x, const char* from_y) {
    const auto non_blocking = python(config_.flag("transfer.non_blocking"));
    if (own_stream_) listing_.add("    with torch.cuda.stream(copy_stream):");
    const char* indent = own_stream_ ? "        " : "    ";
    lines_.x = listing_.add(
        fmt::format("{}x = {}.to(device, non_blocking={})", indent, from_x, non_blocking));
    lines_.y = listing_.add(
        fmt::format("{}y = {}.to(device, non_blocking={})", indent, from_y, non_blocking));
  }

  void write_waits() {
    if (!own_stream_) return;
    lines_.wait_stream = listing_.add("    torch.cuda.current_stream().wait_stream(copy_stream)");
    if (config_.flag("transfer.record_stream"))
      lines_.record_stream =
          listing_.add("    for t in (x, y): t.record_stream(torch.cuda.current_stream())");
  }

  void write_timer_start() {
    if (config_.flag("loop.timer"))
      lines_.timer_start = listing_.add("    start = time.perf_counter()");
  }

  void write_fetch() {
    listing_.add("def fetch(batch):  # starts the copies of a batch");
    listing_.add("    if batch is None: return None");
    write_copies("batch[0]", "batch[1]");
    listing_.add("    return x, y");
    listing_.add("");
  }

  void write_prefetching_loop() {
    listing_.add(fmt::format("batches = iter({})", batches()));
    lines_.begin = listing_.add("following = fetch(next(batches, None))");
    if (counts()) listing_.add("step = -1");
    lines_.loop = listing_.add("while following is not None:");
    if (counts()) listing_.add("    step += 1");
    write_timer_start();
    listing_.add("    x, y = following");
    write_waits();
    lines_.fetch = listing_.add("    following = fetch(next(batches, None))");
  }

  void write_loop() {
    lines_.loop =
        listing_.add(counts() ? fmt::format("for step, (x, y) in enumerate({}):", batches())
                              : fmt::format("for x, y in {}:", batches()));
    lines_.begin = lines_.loop;
    write_timer_start();
    write_copies("x", "y");
    write_waits();
  }

  bool counts() const { return config_.whole("loop.item_every") > 1; }

  void write_step() {
    const bool zero_first = config_.word("zero_grad.when") == "before_forward";
    const char* zero_grad = "    optimizer.zero_grad(set_to_none=True)";
    if (zero_first) lines_.zero_grad = listing_.add(zero_grad);
    lines_.forward = listing_.add("    out = model(x)");
    lines_.loss = listing_.add("    loss = F.cross_entropy(out, y)");
    if (!zero_first) lines_.zero_grad = listing_.add(zero_grad);
    lines_.backward = listing_.add("    loss.backward()");
    lines_.step = listing_.add("    optimizer.step()");
    if (const double sleep = config_.number("loop.sleep_ms"); sleep > 0)
      lines_.sleep = listing_.add(fmt::format("    time.sleep({})", sleep / 1000));
    if (const std::int64_t every = config_.whole("loop.item_every"); counts())
      listing_.add(fmt::format("    if step % {} == {}:", every, every - 1));
    if (config_.whole("loop.item_every") > 0)
      lines_.item = listing_.add(fmt::format("{}    print(loss.item())", counts() ? "    " : ""));
    if (config_.flag("loop.sync_timing"))
      lines_.sync = listing_.add("    torch.cuda.synchronize()");
    if (lines_.timer_start)
      lines_.timer_stop = listing_.add("    print(time.perf_counter() - start)");
  }

  program::Listing& listing_;
  const program::Config& config_;
  const MlpShape& shape_;
  bool tensor_;
  bool own_stream_;
  bool prefetch_;
  TrainLines lines_;
};

}  // namespace

TrainLines write_train_listing(program::Listing& listing, const program::Config& config,
                               const MlpShape& shape) {
  return ListingWriter(listing, config, shape).write();
}

}  // namespace trainscope::train
