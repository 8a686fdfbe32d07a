// Where a model is cut into the stages of a pipeline.
#include "train/parallel/stages.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "train/autograd/tape.h"
#include "train/model/models.h"

using namespace trainscope;
using namespace trainscope::train;
using Catch::Matchers::Contains;

namespace {

Graph graph_of(const std::vector<std::string>& settings, std::int64_t batch = 4) {
  program::Config config;
  for (const std::string& one : settings) config.set_text(one);
  return build_model(config, training_data(config), batch);
}

const std::vector<std::vector<std::string>> kModels{
    {"model.name=mlp", "model.layers=7"},
    {"model.name=cnn"},
    {"model.name=gpt-mini", "data.name=text", "model.blocks=6"},
    {"model.name=gpt2", "model.seq_len=64"},
    {"model.name=bert-large", "model.seq_len=64"},
    {"model.name=opt-1.3b", "model.seq_len=64"},
    {"model.name=resnet50"}};

// Multiply-adds of a stage's forward: products alone, which are nearly all of it.
double products_of(const Graph& graph) {
  double sum = 0;
  for (const Layer& layer : graph.layers)
    if (const auto* linear = std::get_if<program::Linear>(&layer.function))
      sum += static_cast<double>(linear->rows) * static_cast<double>(linear->inputs) *
             static_cast<double>(linear->outputs);
  return sum;
}

double most_of(const std::vector<Stage>& stages) {
  double most = 0;
  for (const Stage& stage : stages) most = std::max(most, products_of(stage.graph));
  return most;
}

}  // namespace

TEST_CASE("stages have every layer of the model once, in its order, and every parameter") {
  for (const auto& model : kModels)
    for (const int count : {1, 2, 3}) {
      INFO(model[0] << " in " << count);
      const Graph whole = graph_of(model);
      const std::vector<Stage> stages = cut_into_stages(whole, count);
      REQUIRE(stages.size() == static_cast<std::size_t>(count));
      std::size_t next = 0;
      std::set<ParameterId> parameters;
      for (const Stage& stage : stages) {
        for (const Layer& layer : stage.graph.layers) {
          const Layer& like = whole.layers.at(next++);
          CHECK(layer.name == like.name);
          CHECK(stage.graph.values[layer.output] == whole.values[like.output]);
          REQUIRE(layer.parameters.size() == like.parameters.size());
          for (std::size_t i = 0; i < layer.parameters.size(); ++i)
            CHECK(stage.parameters[layer.parameters[i]] == like.parameters[i]);
        }
        CHECK(std::ranges::is_sorted(stage.parameters));
        parameters.insert(stage.parameters.begin(), stage.parameters.end());
      }
      CHECK(next == whole.layers.size());
      CHECK(parameters.size() == whole.parameters.size());
    }
}

TEST_CASE("what a stage reads is what the one before gives, and no more") {
  for (const auto& model : kModels) {
    INFO(model[0]);
    const std::vector<Stage> stages = cut_into_stages(graph_of(model), 3);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const Graph& graph = stages[i].graph;
      std::set<ValueId> made{0};
      for (const Layer& layer : graph.layers) {
        for (const ValueId input : layer.inputs) CHECK(made.contains(input));
        made.insert(layer.output);
      }
      CHECK(graph.logits == graph.layers.back().output);
      if (i == 0) continue;
      const Graph& before = stages[i - 1].graph;
      CHECK(graph.values[0] == before.values[before.logits]);
      CHECK_FALSE(graph.reads_tokens);
    }
  }
}

// Blocks that are alike, and a head that is as much as several of them.
TEST_CASE("no other cuts leave less to the stage that has most") {
  const Graph whole = graph_of({"model.name=gpt2", "model.seq_len=256"}, 1);
  for (const int count : {2, 3, 4}) {
    const std::vector<Stage> stages = cut_into_stages(whole, count);
    const double most = most_of(stages);
    double block = 0, head = 0;
    for (const Layer& layer : whole.layers)
      if (const auto* linear = std::get_if<program::Linear>(&layer.function)) {
        const double products = static_cast<double>(linear->rows) *
                                static_cast<double>(linear->inputs * linear->outputs);
        (layer.block > 0 ? block : head) += layer.block > 1 ? 0 : products;
      }
    REQUIRE(head > 2 * block);
    // All ways to share 12 blocks out, the last stage with the head.
    double best = 12 * block + head;
    for (int last = 0; last <= 12; ++last) {
      const int others = 12 - last;
      const int largest = (others + count - 2) / (count - 1);
      best = std::min(best, std::max(largest * block, last * block + head));
    }
    INFO(count << " stages, in blocks: " << most / block << ", best " << best / block);
    CHECK(most == Approx(best).epsilon(1e-9));
  }
}

TEST_CASE("an embedding that is the head, too, belongs to the first stage and the last") {
  for (const auto& [model, is_tied] :
       {std::pair{"gpt2", true}, {"bert-large", true}, {"gpt-mini", false}, {"resnet18", false}}) {
    INFO(model);
    const bool mini = std::string_view(model) == "gpt-mini";
    const Graph whole = graph_of({std::string("model.name=") + model, "model.seq_len=64",
                                  mini ? "data.name=text" : "data.name=auto"});
    const std::vector<Stage> stages = cut_into_stages(whole, 3);
    const std::vector<TiedParameter> tied = tied_parameters(stages);
    REQUIRE(tied.size() == (is_tied ? 1 : 0));
    if (!is_tied) continue;
    CHECK(tied[0].first == 0);
    CHECK(tied[0].second == 2);
    const auto name = [&](std::size_t stage, ParameterId id) {
      return stages[stage].graph.parameters[id].name;
    };
    CHECK(name(0, tied[0].in_first) == name(2, tied[0].in_second));
    CHECK(tied_parameters(cut_into_stages(whole, 1)).empty());
  }
}

TEST_CASE("stages are told by the blocks that are before them") {
  const auto before = [](const std::vector<std::string>& model, int count) {
    return blocks_before(cut_into_stages(graph_of(model), count));
  };
  const std::vector<std::string> mlp{"model.name=mlp", "model.layers=3", "model.hidden=64"};
  CHECK(before(mlp, 4) == std::vector{1, 2, 3});  // the last has the head alone
  CHECK(before({"model.name=resnet18"}, 8).back() <= 8);
  CHECK(before({"model.name=gpt2", "model.seq_len=64"}, 1).empty());
}

TEST_CASE("a model is not cut into more stages than it has parts") {
  CHECK_THROWS_WITH(cut_into_stages(graph_of({"model.name=mlp", "model.layers=2"}), 4),
                    Contains("parallel.world_size = 4 is more stages") && Contains("at most 3"));
}
