#include "train/listing/validation_listing.h"

#include <fmt/format.h>

#include <fmt/ranges.h>

namespace trainscope::train {
namespace {

class ValidationListing : ListingPart {
 public:
  ValidationListing(ListingText& text, TrainLines& lines, const ListedRun& run)
      : ListingPart(text, lines, run) {}

  void write() {
    const bool keeps = settings_.keeps_numbers || settings_.keeps_losses;
    if (keeps) add("losses = []");
    if (settings_.validation.batches > 0) {
      write_loader();
      add(fmt::format("{} = []", list()));
      write_function();
    }
    if (keeps || settings_.validation.batches > 0) add("");
  }

 private:
  const char* list() const {
    return settings_.validation.appended == Appended::kOutput ? "outputs" : "val_losses";
  }
  const char* appended() const {
    switch (settings_.validation.appended) {
      case Appended::kItem:
        return "loss.item()";
      case Appended::kLoss:
        return "loss";
      case Appended::kOutput:
        return "out";
    }
    return "";
  }
  std::string batches() const {
    return settings_.tensor
               ? fmt::format("zip(X_val.split({0}), Y_val.split({0}))", settings_.batch)
               : "val_loader";
  }

  void write_loader() {
    if (settings_.tensor)
      add("X_val, Y_val = load_validation_tensors()");
    else
      add(fmt::format("val_loader = DataLoader(val_data, batch_size={})", settings_.batch));
  }

  void write_function() {
    add("def validate():");
    ++text_.indent;
    add("model.eval()");
    if (settings_.validation.no_grad) add("with torch.no_grad():");
    text_.indent += settings_.validation.no_grad;
    lines_.validation_next = add(fmt::format("for x, y in itertools.islice({}, {}):", batches(),
                                             settings_.validation.batches));
    ++text_.indent;
    write_batch();
    text_.indent -= settings_.validation.no_grad + 1;
    add("model.train()");
    --text_.indent;
  }

  void write_batch() {
    const char* format = run_.channels_last() ? "memory_format=torch.channels_last" : "";
    lines_.validation_copy = add(fmt::format("x, y = x.to(device{}{}){}, y.to(device)",
                                             *format ? ", " : "", format, run_.cast_of_batch()));
    const std::vector<std::string> contexts = contexts_of_forward();
    if (!contexts.empty()) add(fmt::format("with {}:", fmt::join(contexts, ", ")));
    text_.indent += !contexts.empty();
    lines_.validation_forward = add(has_loss_inside() ? "_, out = model(x, y)" : "out = model(x)");
    lines_.validation_loss = add(loss_line());
    text_.indent -= !contexts.empty();
    lines_.validation_append = add(fmt::format("{}.append({})", list(), appended()));
  }
};

}  // namespace

void write_validation(ListingText& text, TrainLines& lines, const ListedRun& run) {
  ValidationListing(text, lines, run).write();
}

}  // namespace trainscope::train
