// ResNet (arXiv:1512.03385) and ResNeXt (arXiv:1611.05431) as torchvision/models/resnet.py has
// them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "base/error.h"
#include "train/model/published_models.h"

namespace trainscope::train {
namespace {

struct ResNet {
  std::string_view name;
  std::string_view torchvision;  // what calls it there
  bool bottleneck;
  std::array<int, 4> blocks;  // of each stage
  std::int64_t groups = 1;
  std::int64_t group_width = 64;  // width_per_group
};

constexpr std::array kResNets{
    ResNet{"resnet18", "resnet18", false, {2, 2, 2, 2}},
    ResNet{"resnet50", "resnet50", true, {3, 4, 6, 3}},
    ResNet{"resnet101", "resnet101", true, {3, 4, 23, 3}},
    ResNet{"resnext50", "resnext50_32x4d", true, {3, 4, 6, 3}, 32, 4},
    ResNet{"resnext101", "resnext101_32x8d", true, {3, 4, 23, 3}, 32, 8},
};

const ResNet* find(std::string_view name) {
  const auto* found = std::find_if(kResNets.begin(), kResNets.end(),
                                   [&](const ResNet& model) { return model.name == name; });
  return found == kResNets.end() ? nullptr : found;
}

class ResNetBuilder {
 public:
  ResNetBuilder(const ResNet& model, std::int64_t batch, bool channels_last)
      : model_(model), builder_(batch, channels_last) {}

  Graph build(const data::SampleShape& shape) {
    Tensor x = builder_.images(shape.channels, shape.height, shape.width);
    x = conv_norm("", "1", x, 64, {.kernel = 7, .stride = 2, .padding = 3});
    x = builder_.max_pool(builder_.relu(x), 3, 2, 1);
    for (std::size_t stage = 0; stage < model_.blocks.size(); ++stage)
      for (int block = 0; block < model_.blocks[stage]; ++block) {
        const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
        builder_.next_block();
        x = residual(fmt::format("layer{}.{}.", stage + 1, block), x, 64 << stage, stride);
      }
    builder_.end_blocks();
    return builder_.finish(builder_.linear("fc", builder_.average_pool(x), shape.classes));
  }

 private:
  // conv1 and bn1, of one module.
  Tensor conv_norm(const std::string& module, const char* number, const Tensor& x,
                   std::int64_t outputs, WindowOptions window) {
    window.bias = false;
    return builder_.batch_norm(module + "bn" + number,
                               builder_.conv(module + "conv" + number, x, outputs, window));
  }

  Tensor residual(const std::string& module, const Tensor& x, std::int64_t planes,
                  std::int64_t stride) {
    const Tensor y = model_.bottleneck ? bottleneck(module, x, planes, stride)
                                       : basic(module, x, planes, stride);
    const bool same = x.shape == y.shape;
    return builder_.relu(
        builder_.add(y, same ? x : downsample(module + "downsample.", x, y.shape[1], stride)));
  }

  Tensor basic(const std::string& module, const Tensor& x, std::int64_t planes,
               std::int64_t stride) {
    const WindowOptions first{.kernel = 3, .stride = stride, .padding = 1};
    const Tensor y = builder_.relu(conv_norm(module, "1", x, planes, first));
    return conv_norm(module, "2", y, planes, {.kernel = 3, .padding = 1});
  }

  Tensor bottleneck(const std::string& module, const Tensor& x, std::int64_t planes,
                    std::int64_t stride) {
    const std::int64_t width = planes * model_.group_width / 64 * model_.groups;
    const WindowOptions middle{
        .kernel = 3, .stride = stride, .padding = 1, .groups = model_.groups};
    Tensor y = builder_.relu(conv_norm(module, "1", x, width, {}));
    y = builder_.relu(conv_norm(module, "2", y, width, middle));
    return conv_norm(module, "3", y, 4 * planes, {});
  }

  // An nn.Sequential of a convolution and its norm.
  Tensor downsample(const std::string& module, const Tensor& x, std::int64_t outputs,
                    std::int64_t stride) {
    const Tensor y = builder_.conv(module + "0", x, outputs, {.stride = stride, .bias = false});
    return builder_.batch_norm(module + "1", y);
  }

  const ResNet& model_;
  GraphBuilder builder_;
};

}  // namespace

bool is_resnet(std::string_view model) {
  return find(model) != nullptr;
}

Graph build_resnet(const program::Config& config, const TrainingData& data, std::int64_t batch) {
  const ResNet* model = find(config.word("model.name"));
  assert(model);
  if (data.shape.channels == 0)
    throw InputError(fmt::format("{} reads images, and {} has none; set data.name = imagenet",
                                 model->name, data.name));
  const bool channels_last = config.word("memory_format") == "channels_last";
  Graph graph = ResNetBuilder(*model, batch, channels_last).build(data.shape);
  graph.blocks = "[*model.layer1, *model.layer2, *model.layer3, *model.layer4]";
  graph.listing = {fmt::format("model = torchvision.models.{}(num_classes={}).to(device)",
                               model->torchvision, data.shape.classes)};
  graph.listed.parts = {
      "parts = [nn.Sequential(model.conv1, model.bn1, model.relu, model.maxpool), *model.layer1,",
      "    *model.layer2, *model.layer3, *model.layer4, model.avgpool, nn.Flatten(), model.fc]"};
  graph.listed.parts_before_blocks = 1;
  return graph;
}

}  // namespace trainscope::train
