#include "train/listing/loop_listing.h"

#include <fmt/format.h>

#include "train/listing/parallel_listing.h"
#include "train/writer.h"

namespace trainscope::train {
namespace {

class LoopListing : ListingPart {
 public:
  LoopListing(ListingText& text, TrainLines& lines, const ListedRun& run)
      : ListingPart(text, lines, run) {}

  void write() {
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
  }

 private:
  void write_fetch() {
    add("def fetch(batch):  # starts the copies of a batch");
    ++text_.indent;
    add("if batch is None: return None");
    write_copies("batch[0]", "batch[1]");
    add("return x, y");
    --text_.indent;
    add("");
  }

  void write_epochs() {
    if (!run_.shows_epochs()) return;
    counts_through_ = run_.counts() && run_.epochs() > 1;
    if (counts_through_) add("step = -1");
    const bool part = settings_.steps % settings_.epoch != 0;
    std::string in_all;
    if (part || settings_.uneven) in_all = fmt::format("  # {} steps in all", settings_.steps);
    if (settings_.uneven) in_all += fmt::format(", {} of the last rank", settings_.steps - 1);
    write_epoch_head(in_all);
  }

  void write_epoch_head(const std::string& comment) {
    add(fmt::format("for epoch in range({}):{}", run_.epochs(), comment));
    ++text_.indent;
    if (settings_.set_epoch) add("sampler.set_epoch(epoch)");
  }

  // Batches of one epoch after the other: a step that accumulates may begin in one and end in the
  // next.
  void write_batches_of_epochs() {
    add("def batches_of_epochs():");
    ++text_.indent;
    write_epoch_head("");
    add(fmt::format("yield from {}", run_.batches()));
    text_.indent = 0;
    add("");
  }

  void write_prefetching_loop() {
    add(fmt::format("batches = iter({})", run_.batches()));
    lines_.begin = add("following = fetch(next(batches, None))");
    if (run_.counts() && !counts_through_) add("step = -1");
    lines_.loop = add("while following is not None:");
    ++text_.indent;
    if (run_.counts()) add("step += 1");
    write_timer_start();
    add("x, y = following");
    write_waits();
    lines_.fetch = add("following = fetch(next(batches, None))");
  }

  void write_loop() {
    lines_.loop = add(run_.counts() && !counts_through_
                          ? fmt::format("for step, (x, y) in enumerate({}):", run_.batches())
                          : fmt::format("for x, y in {}:", run_.batches()));
    lines_.begin = lines_.next = lines_.loop;
    ++text_.indent;
    if (counts_through_) add("step += 1");
    write_timer_start();
    write_copies("x", "y");
    write_waits();
  }

  void write_accumulating_loop() {
    if (run_.shows_epochs()) write_batches_of_epochs();
    lines_.begin = add(run_.shows_epochs() ? "batches = batches_of_epochs()"
                                           : fmt::format("batches = iter({})", run_.batches()));
    lines_.loop = add(fmt::format("for step in range({}):", settings_.steps));
    ++text_.indent;
    write_timer_start();
    write_zero_grad();
    add(fmt::format("for {} in range({}):", settings_.no_sync ? "i" : "_", settings_.accumulate));
    ++text_.indent;
    lines_.next = add("x, y = next(batches)");
    write_copies("x", "y");
    write_waits();
  }

  // Copies `from_x` and `from_y`, on the copy stream where there is one.
  void write_copies(const char* from_x, const char* from_y) {
    if (settings_.on_cpu || settings_.set_on_device) return;
    const auto non_blocking = python(config_.flag("transfer.non_blocking"));
    if (settings_.own_stream) add("with torch.cuda.stream(copy_stream):");
    text_.indent += settings_.own_stream;
    const char* pin = settings_.pins_in_loop ? ".pin_memory()" : "";
    const char* format = run_.channels_last() ? ", memory_format=torch.channels_last" : "";
    const auto on_stage = [&](int place) {
      return settings_.pipeline ? fmt::format("if {} == {}: ", rank_in_pipeline(settings_), place)
                                : "";
    };
    const std::string on_first = on_stage(0), on_last = on_stage(settings_.pipeline_ranks - 1);
    lines_.x = add(fmt::format("{}x = {}{}.to(device, non_blocking={}{}){}", on_first, from_x, pin,
                               non_blocking, format, run_.cast_of_batch()));
    lines_.y = add(
        fmt::format("{}y = {}{}.to(device, non_blocking={})", on_last, from_y, pin, non_blocking));
    text_.indent -= settings_.own_stream;
  }

  void write_waits() {
    if (!settings_.own_stream) return;
    lines_.wait_stream = add("torch.cuda.current_stream().wait_stream(copy_stream)");
    if (config_.flag("transfer.record_stream"))
      lines_.record_stream = add("for t in (x, y): t.record_stream(torch.cuda.current_stream())");
  }

  void write_timer_start() {
    if (config_.flag("loop.empty_cache") && !settings_.on_cpu)
      lines_.empty_cache = add("torch.cuda.empty_cache()");
    if (config_.flag("loop.timer")) lines_.timer_start = add("start = time.perf_counter()");
  }

  bool counts_through_ = false;  // steps, through all epochs
};

}  // namespace

void write_loop_head(ListingText& text, TrainLines& lines, const ListedRun& run) {
  LoopListing(text, lines, run).write();
}

}  // namespace trainscope::train
