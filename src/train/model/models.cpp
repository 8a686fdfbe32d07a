#include "train/model/models.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/units.h"
#include "program/known_models.h"
#include "train/listing/model_lines.h"
#include "train/model/published_models.h"

namespace trainscope::train {
namespace {

// ---- Data --------------------------------------------------------------------------------------

bool is_generated(const std::string& name) {
  return name == "digits" || name == "spirals" || name == "text";
}

// Shapes of data sets that are read from the user's files, or are too large to be read at all.
data::SampleShape known_shape(const std::string& name, const program::Config& config) {
  data::SampleShape shape;
  if (name == "mnist") {
    shape.channels = 1;
    shape.height = shape.width = 28;
  } else if (name == "cifar10") {
    shape.channels = 3;
    shape.height = shape.width = 32;
  } else if (name == "imagenet") {
    shape.channels = 3;
    shape.height = shape.width = 224;
    shape.classes = 1000;
  } else {  // tokens
    shape.tokens = shape.targets = config.whole("model.seq_len");
    shape.classes = 0;  // the model's own vocabulary
  }
  return shape;
}

// Of the training set, as its authors count them; 0: unknown.
std::int64_t known_samples(const std::string& name) {
  if (name == "mnist") return 60'000;
  if (name == "cifar10") return 50'000;
  return name == "imagenet" ? 1'281'167 : 0;
}

// ---- The perceptron ----------------------------------------------------------------------------

std::vector<std::int64_t> widths_of(const program::Config& config, std::int64_t classes) {
  const std::string& name = config.word("model.name");
  if (name == "mlp-784-128-10") return {784, 128, 10};
  if (name == "mlp-1000-512-10") return {1000, 512, 10};
  std::vector<std::int64_t> widths{config.whole("model.inputs")};
  for (std::int64_t layer = 0; layer < config.whole("model.layers"); ++layer)
    widths.push_back(config.whole("model.hidden"));
  widths.push_back(classes);
  return widths;
}

std::vector<std::string> mlp_listing(const std::vector<std::int64_t>& widths) {
  std::vector<std::string> lines{"model = nn.Sequential("};
  std::size_t layer = 0;
  const std::size_t last = widths.size() - 2;
  while (layer < last) {
    const std::string one =
        fmt::format("nn.Linear({}, {}), nn.ReLU()", widths[layer], widths[layer + 1]);
    std::size_t same = 1;
    while (layer + same < last && widths[layer + same] == widths[layer] &&
           widths[layer + same + 1] == widths[layer + 1])
      ++same;
    lines.push_back(same == 1
                        ? fmt::format("    {},", one)
                        : fmt::format("    *(m for _ in range({}) for m in ({})),", same, one));
    layer += same;
  }
  lines.push_back(fmt::format("    nn.Linear({}, {})).to(device)", widths[last], widths[last + 1]));
  return lines;
}

Graph build_mlp(const program::Config& config, const TrainingData& data, std::int64_t batch) {
  const std::vector<std::int64_t> widths = widths_of(config, data.shape.classes);
  const bool is_known = data.has_samples || config.word("data.name") != "auto";
  if (is_known && widths.front() != data.shape.values())
    throw InputError(fmt::format(
        "model.inputs = {} does not fit {}: a sample has {} numbers; set model.inputs = {}",
        widths.front(), data.name, data.shape.values(), data.shape.values()));
  const std::int64_t cut = config.whole("model.detach");
  const auto hidden = static_cast<std::int64_t>(widths.size()) - 2;
  if (cut > hidden)
    throw InputError(fmt::format(
        "model.detach = {} is after the last of {}: no loss could train what is before it; set "
        "model.detach = {} or less",
        cut, counted(static_cast<std::size_t>(hidden), "hidden layer"), hidden));
  GraphBuilder builder(batch);
  Tensor x = builder.numbers(widths.front());
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const bool last = layer + 2 == widths.size();
    if (last) {
      builder.end_blocks();
    } else {
      builder.next_block();
    }
    x = builder.linear(fmt::format("linear {}", layer + 1), x, widths[layer + 1]);
    if (!last) x = builder.relu(x);
    if (static_cast<std::int64_t>(layer) + 1 == cut) builder.detach();
  }
  Graph graph = builder.finish(x);
  graph.listing = mlp_listing(widths);
  graph.blocks = "model[:-1]";
  graph.listed.parts = {"parts = list(model)"};
  graph.listed.parts_of_block = 2;
  if (cut > 0)
    graph.listing.push_back(fmt::format("# forward: x = x.detach() after hidden layer {}", cut));
  return graph;
}

// ---- The convolutional network ------------------------------------------------------------------

Graph build_cnn(const program::Config& config, const TrainingData& data, std::int64_t batch) {
  constexpr std::array<std::int64_t, 2> kChannels{16, 32};
  const bool norm = config.flag("model.batch_norm");
  GraphBuilder builder(batch, config.word("memory_format") == "channels_last");
  Tensor x = builder.images(data.shape.channels, data.shape.height, data.shape.width);
  std::vector<std::string> listing{"model = nn.Sequential("};
  for (std::size_t i = 0; i < kChannels.size(); ++i) {
    builder.next_block();
    const std::string number = std::to_string(i + 1);
    listing.push_back(
        fmt::format("    nn.Conv2d({}, {}, 3, padding=1{}),{} nn.ReLU(), nn.MaxPool2d(2),",
                    x.shape[1], kChannels[i], norm ? ", bias=False" : "",
                    norm ? fmt::format(" nn.BatchNorm2d({}),", kChannels[i]) : ""));
    x = builder.conv("conv " + number, x, kChannels[i], {.kernel = 3, .padding = 1, .bias = !norm});
    if (norm) x = builder.batch_norm("norm " + number, x);
    x = builder.max_pool(builder.relu(x), 2, 2);
  }
  builder.end_blocks();
  x = builder.flatten(x);
  listing.push_back(fmt::format("    nn.Flatten(), nn.Linear({}, {})).to(device)", x.shape[1],
                                data.shape.classes));
  Graph graph = builder.finish(builder.linear("linear", x, data.shape.classes));
  graph.listing = listing;
  graph.blocks = "model[:-1]";
  graph.listed.parts = {"parts = list(model)"};
  graph.listed.parts_of_block = norm ? 4 : 3;
  return graph;
}

// ---- The recurrent network ----------------------------------------------------------------------

// As many as divide a sample's numbers into equal parts.
std::int64_t steps_of(const program::Config& config, const TrainingData& data) {
  const std::int64_t numbers = data.shape.values();
  const std::int64_t steps = config.whole("model.seq_len");
  if (numbers % steps == 0) return steps;
  std::int64_t nearest = steps;
  while (numbers % nearest != 0) --nearest;
  throw InputError(fmt::format(
      "model.seq_len = {} does not divide the {} numbers of a sample of {} into equal steps; set "
      "model.seq_len = {}",
      steps, numbers, data.name, nearest));
}

// An Elman network (Elman 1990, "Finding structure in time") that reads an image step by step, as
// the sequential MNIST of Le, Jaitly and Hinton, arXiv:1504.00941.
Graph build_rnn(const program::Config& config, const TrainingData& data, std::int64_t batch) {
  const std::int64_t hidden = config.whole("model.hidden"), steps = steps_of(config, data);
  const std::int64_t inputs = data.shape.values() / steps;
  GraphBuilder builder(batch);
  const Tensor x = builder.numbers(data.shape.values());
  Tensor h = builder.zeros(hidden);
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor read = builder.linear("ih", builder.step_of(x, steps, step), hidden);
    h = builder.tanh(builder.add(read, builder.linear("hh", h, hidden)));
  }
  Graph graph = builder.finish(builder.linear("head", h, data.shape.classes));
  graph.listing = {
      "class RNN(nn.Module):",
      "    def __init__(self):",
      "        super().__init__()",
      fmt::format("        self.ih = nn.Linear({}, {})", inputs, hidden),
      fmt::format("        self.hh = nn.Linear({0}, {0})", hidden),
      fmt::format("        self.head = nn.Linear({}, {})", hidden, data.shape.classes),
      "    def forward(self, x):",
      fmt::format("        h = x.new_zeros(len(x), {})", hidden),
      fmt::format("        for x_t in x.view(len(x), {}, {}).unbind(1):", steps, inputs),
      "            h = torch.tanh(self.ih(x_t) + self.hh(h))",
      "        return self.head(h)",
      "model = RNN().to(device)",
  };
  return graph;
}

// ---- The small language model -------------------------------------------------------------------

Graph build_gpt_mini(const program::Config& config, const TrainingData& data, std::int64_t batch) {
  const std::int64_t width = config.whole("model.width"), heads = config.whole("model.heads");
  const std::int64_t blocks = config.whole("model.blocks");
  const double dropout = config.number("model.dropout");
  const AttentionWay way = attention_way(config);
  if (data.shape.tokens == 0)
    throw InputError("gpt-mini reads text, and " + data.name + " has none; set data.name = text");
  if (data.shape.classes == 0)
    throw InputError("gpt-mini has as many tokens as its data, and " + data.name +
                     " says of none how many; set data.name = text");
  GraphBuilder builder(batch);
  builder.initialise_normal(0.02);  // as GPT-2's code does
  Tensor x =
      builder.embedding("token", builder.tokens(data.shape.tokens), data.shape.classes, width);
  x = builder.dropout(builder.positions("position", x), dropout);
  for (std::int64_t i = 0; i < blocks; ++i) {
    builder.next_block();
    const std::string name = fmt::format("block {}, ", i + 1);
    Tensor y = builder.linear(name + "qkv", builder.layer_norm(name + "norm 1", x), 3 * width);
    y = builder.linear(name + "projection", builder.attention(y, heads, true, way), width);
    x = builder.add(x, builder.dropout(y, dropout));
    y = builder.linear(name + "up", builder.layer_norm(name + "norm 2", x), 4 * width);
    y = builder.linear(name + "down", builder.gelu(y, true), width);
    x = builder.add(x, builder.dropout(y, dropout));
  }
  builder.end_blocks();
  x = builder.linear("head", builder.layer_norm("last norm", x), data.shape.classes, false);
  Graph graph = builder.finish(x);
  graph.blocks = "model.blocks";
  graph.listing = {fmt::format("model = GPT(vocabulary={}, length={}, width={}, heads={},",
                               data.shape.classes, data.shape.tokens, width, heads),
                   fmt::format("    blocks={}, dropout={:g}).to(device)", blocks, dropout)};
  graph.listed = listed_gpt(way.kernel == AttentionKernel::kEager, checkpoint_every(config));
  return graph;
}

}  // namespace

AttentionWay attention_way(const program::Config& config, program::AttentionCode library) {
  const std::string& kernel = config.word("attention.kernel");
  AttentionWay way;
  if (kernel == "flash") way.kernel = AttentionKernel::kFlash;
  if (kernel == "eager" || kernel == "transformers") way.kernel = AttentionKernel::kEager;
  if (kernel == "transformers") {
    if (library == program::AttentionCode::kLearner)
      throw InputError(fmt::format(
          "attention.kernel = transformers is for models of Hugging Face's library, and {} is "
          "none; set attention.kernel = eager, or model.name = gpt2",
          config.word("model.name")));
    way.code = library;
  }
  if (library != program::AttentionCode::kLearner) way.dropout = config.number("attention.dropout");
  return way;
}

int checkpoint_every(const program::Config& config) {
  return config.flag("checkpoint.enabled") ? static_cast<int>(config.whole("checkpoint.every")) : 0;
}

bool is_computed(const program::Config& config) {
  return program::has_trait(config.word("model.name"), "computed");
}

TrainingData training_data(const program::Config& config) {
  TrainingData data;
  data.name = config.word("data.name");
  if (data.name == "auto") data.name = program::find_model(config.word("model.name"))->data;
  const std::string& path = config.word("data.path");
  const bool generated = is_generated(data.name);
  data.has_samples = is_computed(config) && (generated || !path.empty());
  if (data.has_samples || generated) {
    const auto test = data::open_dataset({data.name, path, data::Split::kTest,
                                          static_cast<std::uint64_t>(config.whole("seed")),
                                          config.whole("model.seq_len")});
    data.shape = test->shape();
    data.test_samples = test->size();
    data.train_samples = data::open_dataset({data.name, path, data::Split::kTrain,
                                             static_cast<std::uint64_t>(config.whole("seed")),
                                             config.whole("model.seq_len")})
                             ->size();
  } else {
    data.shape = known_shape(data.name, config);
    data.train_samples = known_samples(data.name);
  }
  return data;
}

Graph build_model(const program::Config& config, const TrainingData& data, std::int64_t batch) {
  const std::string& name = config.word("model.name");
  if (name == "cnn") return build_cnn(config, data, batch);
  if (name == "rnn") return build_rnn(config, data, batch);
  if (name == "gpt-mini") return build_gpt_mini(config, data, batch);
  if (is_resnet(name)) return build_resnet(config, data, batch);
  if (is_transformer(name)) return build_transformer(config, data, batch);
  if (is_llama(name)) return build_llama(config, data, batch);
  return build_mlp(config, data, batch);
}

}  // namespace trainscope::train
