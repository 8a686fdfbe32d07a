// The validation between training steps: what it launches, what its graph holds, and for how long.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/files.h"
#include "program/marks.h"
#include "support/built_program.h"
#include "support/freed_in_order.h"
#include "support/program_order.h"

using namespace trainscope;
using program::Index;
using program::Program;
using test::in_order;
using test::listing_of;
using test::program_of;
using test::Settings;
using test::with;

namespace {

const Settings kMlp{"machine=h200-8",   "data.source=tensor", "model.name=mlp", "model.inputs=784",
                    "model.hidden=256", "model.layers=1",     "batch_size=64",  "steps=2"};
const char* const kThree = "validation.batches=3";
const char* const kRecords = "validation.no_grad=false";

std::int64_t sum_of(const Program& program, const std::set<Index>& buffers) {
  std::int64_t bytes = 0;
  for (const Index buffer : buffers) bytes += program.buffers[buffer].bytes;
  return bytes;
}

// Bytes that a program's tensors have, and where it stands.
struct Moment {
  std::int64_t bytes = 0;
  std::string line;
  bool validates = false;
};

// One for each command that takes or gives memory, or launches something.
std::vector<Moment> moments(const Program& program) {
  std::vector<Moment> all;
  Moment now;
  std::vector<std::string> marks;
  in_order(program, 0, [&](const program::Command& command) {
    const auto& action = command.action;
    if (std::holds_alternative<program::BeginMark>(action))
      marks.push_back(program.names[command.name]);
    if (std::holds_alternative<program::EndMark>(action)) marks.pop_back();
    if (const auto* alloc = std::get_if<program::Alloc>(&action))
      now.bytes += program.buffers[alloc->buffer].bytes;
    if (const auto* free = std::get_if<program::Free>(&action))
      now.bytes -= program.buffers[free->buffer].bytes;
    now.validates = !marks.empty() && marks.back() == program::kValidationMark;
    now.line = command.line > 0 ? program.listing.lines[command.line - 1U] : "";
    now.line.erase(0, now.line.find_first_not_of(' '));
    all.push_back(now);
  });
  return all;
}

std::int64_t peak(const Program& program, bool validating) {
  std::int64_t most = 0;
  for (const Moment& one : moments(program))
    if (one.validates == validating) most = std::max(most, one.bytes);
  return most;
}

// At the end of each validation's batch: what it has beyond what there was when the first began.
std::vector<std::int64_t> behind_lines(const Program& program, const std::string& begin) {
  std::vector<std::int64_t> found;
  std::int64_t before = -1;
  const std::vector<Moment> all = moments(program);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].validates && before < 0) before = all[i].bytes;
    if (!all[i].validates || all[i].line.find(begin) != 0) continue;
    if (i + 1 == all.size() || all[i + 1].line != all[i].line)
      found.push_back(all[i].bytes - before);
  }
  return found;
}

// What the first training step's forward and loss leave that its backward reads, but for the batch:
// the sum of its activations.
std::int64_t kept_by_training(const Program& program) {
  std::set<Index> there, kept;
  bool backward = false, done = false;
  in_order(program, 0, [&](const program::Command& command) {
    const auto& action = command.action;
    if (std::holds_alternative<program::EndMark>(action)) done = true;
    if (done) return;
    backward |= command.phase == program::Phase::kBackward;
    if (const auto* alloc = std::get_if<program::Alloc>(&action); alloc && !backward)
      there.insert(alloc->buffer);
    if (const auto* free = std::get_if<program::Free>(&action); free && !backward)
      there.erase(free->buffer);
    const auto* launch = std::get_if<program::Launch>(&action);
    if (!backward || !launch) return;
    for (const Index buffer : program.operations[launch->operation].reads)
      if (there.contains(buffer) && program.buffers[buffer].role != program::Role::kParameter &&
          program.buffers[buffer].role != program::Role::kBatch)
        kept.insert(buffer);
  });
  return sum_of(program, kept);
}

std::int64_t batch_bytes(const Program& program) {
  std::int64_t bytes = 0;
  for (const char* name : {"x of validation", "y of validation"})
    bytes += std::ranges::find(program.buffers, name, &program::Buffer::name)->bytes;
  return bytes;
}

// Of the batch, what the graph holds: autocast's copy of x is what the first layer reads.
std::int64_t batch_in_graph(const Program& program, const Settings& settings) {
  std::int64_t bytes = batch_bytes(program);
  const bool casts = std::ranges::any_of(
      settings, [](const std::string& one) { return one.starts_with("precision="); });
  const auto x = std::ranges::find(program.buffers, "x of validation", &program::Buffer::name);
  if (casts && x->type == program::ElementType::kFp32) bytes -= x->bytes;
  return bytes;
}

}  // namespace

TEST_CASE("a validation's graph keeps what PyTorch keeps, as long as PyTorch does") {
  const nlohmann::json golden = nlohmann::json::parse(
      read_file(TRAINSCOPE_SOURCE_DIR "/tests/golden/kept_graphs.json", std::size_t{1} << 20));
  // Bytes of the targets, the output, and the loss; and of the sum of the classes' weights, which
  // PyTorch keeps with each loss's graph and we do not.
  constexpr std::int64_t kInputs = 64 * 784 * 4, kTargets = 64 * 8, kOutput = 64 * 10 * 4;
  constexpr std::int64_t kLoss = 4, kWeights = 4;
  const Settings four = with(kMlp, {"validation.batches=4", "validation.every=2"});
  for (const std::string name : {"no_grad", "item", "loss", "output"}) {
    INFO(name);
    const bool records = name != "no_grad";
    const Program program =
        program_of(with(four, {records ? kRecords : "validation.no_grad=true",
                               records ? "validation.keep=" + name : "validation.keep=item"}));
    const auto forward = behind_lines(program, "out = model(x)");
    const auto loss = behind_lines(program, "loss = F.cross_entropy");
    REQUIRE(forward.size() == 4);
    REQUIRE(loss.size() == 4);
    for (std::int64_t i = 0; i < 4; ++i) {
      INFO("batch " << i);
      const auto& row = golden.at("kept").at(name)[static_cast<std::size_t>(i)];
      const std::int64_t of_before = i > 0 ? 1 : 0;
      const std::int64_t outputs = name == "output" ? i : 0,
                         losses = name == "loss" ? i : of_before;
      // Behind the forward `out` is the batch's own, and `loss` still that of the batch before,
      // which has freed its own output; x and y are held by their names alone until they are saved.
      std::int64_t before = row[0].get<std::int64_t>() + kTargets + (outputs + 1) * kOutput;
      before += losses * kLoss - (records ? losses * kWeights : 0);
      if (!records) before += kInputs;
      CHECK(forward[static_cast<std::size_t>(i)] == before);
      std::int64_t after = row[1].get<std::int64_t>() + (outputs + 1) * kOutput;
      const std::int64_t graphs = name == "loss" ? i + 1 : 1;
      after += graphs * kLoss - (records ? graphs * kWeights : 0);
      if (!records) after += kInputs + kTargets;
      CHECK(loss[static_cast<std::size_t>(i)] == after);
    }
  }
  // Backward has freed all that a training's graph had saved: a loss that is kept is a number.
  for (const auto& row : golden.at("kept").at("trained")) CHECK(row[1] == 0);
  const Settings few = with(kMlp, {"steps=10"});
  const auto last = [&](const char* keep) {
    return moments(program_of(with(few, {keep}))).back().bytes;
  };
  CHECK(last("loop.keep_losses=tensor") == last("loop.keep_losses=none") + 10 * kLoss);
  CHECK(last("loop.keep_losses=item") == last("loop.keep_losses=none"));
}

namespace {

// Models of a few layers of each kind, without dropout: training keeps what validation would.
std::vector<Settings> models() {
  const Settings small{"machine=h200-8", "data.source=tensor", "steps=2", "batch_size=2"};
  const Settings gpt = with(small, {"model.name=gpt-mini", "model.dropout=0"});
  return {kMlp,
          with(kMlp, {"precision=bf16"}),
          with(kMlp, {"model.dtype=bf16"}),
          with(small, {"model.name=cnn"}),
          with(small, {"model.name=rnn"}),
          with(small, {"model.name=resnet18"}),
          with(small, {"model.name=resnet18", "precision=fp16", "memory_format=channels_last"}),
          gpt,
          with(gpt, {"attention.kernel=flash", "precision=bf16"}),
          with(gpt, {"attention.kernel=eager"}),
          with(gpt, {"checkpoint.enabled=true"}),
          with(gpt, {"checkpoint.enabled=true", "checkpoint.every=2"}),
          with(small, {"model.name=gpt2", "model.seq_len=64", "model.dropout=0",
                       "model.gelu=written_out", "attention.kernel=transformers"})};
}

// Of a validation's batch.
std::int64_t bytes_written(const Program& program, const std::string& line) {
  std::int64_t bytes = 0;
  bool validates = false;
  in_order(program, 0, [&](const program::Command& command) {
    const auto* launch = std::get_if<program::Launch>(&command.action);
    if (std::holds_alternative<program::BeginMark>(command.action))
      validates = program.names[command.name] == program::kValidationMark;
    if (!launch || !validates || command.line == 0) return;
    if (program.listing.lines[command.line - 1U].find(line) == std::string::npos) return;
    const program::Operation& operation = program.operations[launch->operation];
    if (!operation.writes.empty()) bytes = program.buffers[operation.writes[0]].bytes;
  });
  return bytes;
}

// Of each validation, what it leaves behind it.
std::vector<std::int64_t> left(const Program& program) {
  std::vector<std::int64_t> all;
  std::int64_t before = 0;
  const std::vector<Moment> at = moments(program);
  for (std::size_t i = 1; i < at.size(); ++i) {
    if (at[i].validates && !at[i - 1].validates) before = at[i].bytes;
    if (!at[i].validates && at[i - 1].validates) all.push_back(at[i].bytes - before);
  }
  return all;
}

}  // namespace

TEST_CASE("without no_grad a validation holds a batch's activations beside the next one's") {
  for (const Settings& model : models()) {
    INFO(model[2] << " " << model[model.size() - 2] << " " << model.back());
    const Program one = program_of(with(model, {"validation.batches=1", kRecords}));
    const Program three = program_of(with(model, {kThree, kRecords}));
    // What the batch before holds: its graph and loss, and its output until the forward is through.
    const std::int64_t held =
        kept_by_training(one) + batch_in_graph(one, model) + bytes_written(one, "loss =");
    std::int64_t in_forward = 0, behind = 0;
    for (const Moment& at : moments(one)) {
      if (!at.validates) continue;
      const bool before_loss = at.line.starts_with("x, y =") || at.line.starts_with("out =");
      std::int64_t& most = before_loss ? in_forward : behind;
      most = std::max(most, at.bytes);
    }
    CHECK(peak(three, true) ==
          held + std::max(in_forward + bytes_written(one, "out = model(x)"), behind));
    CHECK(held > kept_by_training(one));
    CHECK(left(three) == std::vector<std::int64_t>(2, 0));
  }
}

TEST_CASE(
    "under no_grad all that a validation has is what is still to be read, and what is named") {
  for (const Settings& model : models()) {
    INFO(model[2] << " " << model[model.size() - 2] << " " << model.back());
    const Program program = program_of(with(model, {kThree}));
    // By buffer, the last launch that touches it in each batch.
    struct Touch {
      std::set<Index> live;
      std::vector<Index> used;
    };
    std::vector<std::vector<Touch>> batches;
    bool validates = false;
    std::set<Index> live;
    in_order(program, 0, [&](const program::Command& command) {
      const auto& action = command.action;
      if (std::holds_alternative<program::BeginMark>(action)) {
        validates = program.names[command.name] == program::kValidationMark;
        live.clear();
      }
      if (!validates) return;
      if (std::holds_alternative<program::LoadBatch>(action) ||
          (std::holds_alternative<program::Copy>(action) && live.size() <= 4))
        batches.emplace_back();
      if (const auto* alloc = std::get_if<program::Alloc>(&action)) live.insert(alloc->buffer);
      if (const auto* free = std::get_if<program::Free>(&action)) live.erase(free->buffer);
      const auto* launch = std::get_if<program::Launch>(&action);
      if (!launch || batches.empty()) return;
      const program::Operation& operation = program.operations[launch->operation];
      Touch touch{live, operation.reads};
      touch.used.insert(touch.used.end(), operation.writes.begin(), operation.writes.end());
      batches.back().push_back(touch);
    });
    const std::int64_t named = batch_bytes(program) + bytes_written(program, "loss =") +
                               2 * bytes_written(program, "out = model(x)");
    for (const std::vector<Touch>& batch : batches) {
      std::set<Index> needed;
      for (std::size_t i = batch.size(); i-- > 0;) {
        needed.insert(batch[i].used.begin(), batch[i].used.end());
        std::set<Index> idle;
        for (const Index buffer : batch[i].live)
          if (!needed.contains(buffer) && program.buffers[buffer].role != program::Role::kWorkspace)
            idle.insert(buffer);
        CHECK(sum_of(program, idle) <= named);
      }
    }
    CHECK(left(program) == std::vector<std::int64_t>(2, 0));
    // Of training no command is another.
    CHECK(peak(program, false) == peak(program_of(model), false));
  }
}

TEST_CASE("what a validation appends grows by as much with each batch, to the byte") {
  for (const Settings& model : models()) {
    INFO(model[2] << " " << model[model.size() - 2] << " " << model.back());
    const auto with_kept = [&](const char* keep, const char* no_grad) {
      return program_of(with(model, {kThree, keep, no_grad}));
    };
    const Program item = with_kept("validation.keep=item", "validation.no_grad=true");
    const std::int64_t loss = bytes_written(item, "loss ="), out = bytes_written(item, "out = ");
    const auto each = [](std::int64_t bytes) { return std::vector<std::int64_t>(2, 3 * bytes); };
    CHECK(left(item) == each(0));
    CHECK(left(with_kept("validation.keep=loss", "validation.no_grad=true")) == each(loss));
    CHECK(left(with_kept("validation.keep=output", "validation.no_grad=true")) == each(out));
    const Program losses = with_kept("validation.keep=loss", kRecords);
    CHECK(left(losses) == each(kept_by_training(losses) + batch_in_graph(losses, model) + loss));
    // The loss's own log-probabilities and the targets go with the name `loss`.
    const std::vector<std::int64_t> outputs = left(with_kept("validation.keep=output", kRecords));
    REQUIRE(outputs.size() == 2);
    CHECK(outputs[0] == outputs[1]);
    CHECK(outputs[0] > 3 * out);
    CHECK(outputs[0] < 3 * (kept_by_training(losses) + batch_bytes(losses) + out));
  }
}

TEST_CASE("a program without validation is the same, whatever the validation's other knobs are") {
  const Settings other{"validation.every=3", kRecords, "validation.keep=loss"};
  for (const Settings& model : models()) {
    const Program plain = program_of(model), same = program_of(with(model, other));
    CHECK(plain.threads[0].commands.size() == same.threads[0].commands.size());
    CHECK(plain.operations.size() == same.operations.size());
    CHECK(plain.buffers.size() == same.buffers.size());
    CHECK(listing_of(plain) == listing_of(same));
    // What never comes takes no memory.
    CHECK(program_of(with(model, {kThree, "validation.every=3"})).buffers.size() ==
          plain.buffers.size());
  }
}

TEST_CASE("ranks validate each by itself: buffers are sent, and nothing is summed") {
  const Settings ranks{"machine=h200-8", "parallel.strategy=ddp", "parallel.world_size=4",
                       "steps=3",        "batch_size=4",          "model.name=resnet18"};
  const auto sums = [](const Program& program, program::CollectiveKind kind, int rank) {
    return std::ranges::count(test::collectives_of(program, rank), kind,
                              &program::Collective::kind);
  };
  const Program plain = program_of(ranks);
  for (const Settings& more : {Settings{}, Settings{"straggler.rank=1", "straggler.factor=2"}})
    for (const char* keep : {"validation.keep=item", "validation.keep=loss"}) {
      const Program program = program_of(with(with(ranks, more), {kThree, kRecords, keep}));
      const int last = more.empty() ? 0 : 3;
      using Kind = program::CollectiveKind;
      CHECK(sums(program, Kind::kAllReduce, last) == sums(plain, Kind::kAllReduce, 0));
      CHECK(sums(program, Kind::kBroadcast, last) == sums(plain, Kind::kBroadcast, 0) + 3 * 3);
      CHECK(test::FreedInOrder(program, last).too_early() == std::set<std::string>{});
      for (int rank = 0; rank <= last; ++rank) {
        std::set<Index> there;
        in_order(program, rank, [&](const program::Command& command) {
          if (const auto* alloc = std::get_if<program::Alloc>(&command.action)) {
            CHECK(there.insert(alloc->buffer).second);
            CHECK(program.buffers[alloc->buffer].device == rank);
          }
          if (const auto* free = std::get_if<program::Free>(&command.action))
            CHECK(there.erase(free->buffer) == 1);
        });
      }
    }
}
