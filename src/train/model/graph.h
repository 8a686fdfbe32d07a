// A model as a graph: parameters, and the layers of one forward pass over a batch, in order. From
// it follow the kernels, the memory and the numbers of training (tape.h).
//
// Shapes are in elements; the first dimension is the batch, images are [channels, height, width].
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "program/program.h"

namespace trainscope::train {

using ValueId = std::uint32_t;
using ParameterId = std::uint32_t;

struct Parameter {
  std::string name;  // "fc1.weight"
  std::int64_t elements = 0;
  program::Initial initial;
  bool trained = true;  // false: running moments of a batch norm
  bool reached = true;  // by backward: false before a detach(); its .grad stays None
  // Each rank has the gradient of its part of the sequence alone: their sum is the parameter's.
  bool by_tokens = false;
  // Of all ranks together, where the parts of the last of them are padded; 0: none is.
  std::int64_t whole = 0;
};

// Something else that a layer's forward writes for its backward: a row's mean, chosen pixels.
struct SideResult {
  std::string name;
  std::int64_t elements = 0;
  program::ElementType type = program::ElementType::kFp32;
};

// Of a linear layer whose weights tensor parallelism shares out to several ranks: each has some of
// its outputs (ColwiseParallel in PyTorch), or of its inputs (RowwiseParallel). Of an embedding
// each has some of the table's rows (RowwiseParallel, too).
enum class Cut : std::uint8_t { kNone, kColumns, kRows, kVocabulary };

struct Layer {
  std::string name;  // "fc1"
  program::Function function;
  std::vector<ValueId> inputs;
  std::vector<ParameterId> parameters;
  ValueId output = 0;
  std::vector<SideResult> side_results;
  int block = 0;  // what checkpointing recomputes as one, from 1; 0: nothing does
  Cut cut = Cut::kNone;
  bool keeps_part = false;  // of the sequence that it gives whole, each rank keeps a part
};

// How a learner handles a model, beside the lines that make it.
struct ListedModel {
  std::vector<std::string> before;  // what those lines call
  std::string whole;                // behind them, of a model that is called as one
  std::string checkpoints;          // recomputes its blocks; empty: they do so themselves
  std::string is_recomputed;        // a block's attribute that says whether it is; empty: none
  bool has_init_weights = false;    // the method that gives parameters their first values
  bool takes_positions = false;  // else it numbers what its embedding gives, a part of a sequence
  std::string fewer_heads;       // where it counts them: "block.attn.num_heads //="
  // What a pipeline's stages are made of: the last line makes the list `parts`. So many of them are
  // before the blocks, and so many a block.
  std::vector<std::string> parts;
  int parts_before_blocks = 0;
  int parts_of_block = 1;
};

struct Graph {
  std::vector<Parameter> parameters;
  std::vector<std::int64_t> values;  // elements of each
  std::vector<Layer> layers;
  std::vector<bool> parts;  // by value: a rank has its part of the sequence alone; empty: of none
  std::int64_t batch = 0;
  bool reads_tokens = false;  // the input, value 0: tokens, not pixels
  std::int64_t rows = 0;      // that the loss is the mean of
  std::int64_t classes = 0;
  std::int64_t own_classes = 0;  // where ranks share them out, this one's; 0: each has all
  ValueId logits = 0;
  int ranks = 1;  // that share out the layers that are cut
  // Parts of gradients by tokens are summed over them there, and not by the optimizer: what comes
  // behind backward takes gradients as they are.
  bool sums_in_backward = false;
  std::vector<std::string> listing;  // how a learner writes the model
  std::string blocks;                // and the modules that are its blocks
  ListedModel listed;

  bool is_part(ValueId value) const { return !parts.empty() && parts[value]; }
  std::int64_t parameter_count() const;  // of those that are trained, on all ranks together
};

// Whether checkpointing recomputes a layer's block, where it does so to every so many-th, counted
// from 1; 0: to none. As torchtitan's selective_ac_option counts
// (torchtitan/distributed/activation_checkpoint.py).
bool is_recomputed(int block, int every);

// A value and its shape, the batch first.
struct Tensor {
  ValueId id = 0;
  std::vector<std::int64_t> shape;
  // One of so many steps of a sequence that the value holds: x.unbind(1)[step]. For linear() alone.
  std::int64_t steps = 1, step = 0;

  std::int64_t elements() const;
};

// scaled_dot_product_attention as its math backend does it or in its flash kernel, or written out.
enum class AttentionKernel : std::uint8_t { kMath, kFlash, kEager };

struct AttentionWay {
  AttentionKernel kernel = AttentionKernel::kMath;
  program::AttentionCode code = program::AttentionCode::kLearner;  // that writes it out
  double dropout = 0;                                              // of code that does
};

struct WindowOptions {
  std::int64_t kernel = 1, stride = 1, padding = 0, groups = 1;
  bool bias = true;
};

// Builds a graph layer by layer, as a module's forward is written. Throws InputError for a shape
// that does not fit, naming the layer.
class GraphBuilder {
 public:
  GraphBuilder(std::int64_t batch, bool channels_last = false);

  Tensor images(std::int64_t channels, std::int64_t height, std::int64_t width);
  Tensor numbers(std::int64_t count);  // a row of them a sample
  Tensor tokens(std::int64_t length);
  // A row of 0 a sample: x.new_zeros(len(x), width).
  Tensor zeros(std::int64_t width);

  // Called again by the same name it is the same module, with the same parameters.
  Tensor linear(const std::string& name, const Tensor& x, std::int64_t outputs, bool bias = true);
  Tensor conv(const std::string& name, const Tensor& x, std::int64_t outputs,
              const WindowOptions& window);
  Tensor relu(const Tensor& x);
  Tensor gelu(const Tensor& x, bool tanh = false, bool written_out = false);
  Tensor silu(const Tensor& x);
  Tensor tanh(const Tensor& x);
  Tensor max_pool(const Tensor& x, std::int64_t kernel, std::int64_t stride,
                  std::int64_t padding = 0);
  Tensor average_pool(const Tensor& x);  // to one pixel
  // In the order of its dimensions: a copy, where the channels lie innermost.
  Tensor flatten(const Tensor& x);
  // One of `steps` equal parts of each sample's numbers.
  Tensor step_of(const Tensor& x, std::int64_t steps, std::int64_t step) const;
  Tensor batch_norm(const std::string& name, const Tensor& x);
  Tensor layer_norm(const std::string& name, const Tensor& x);
  Tensor rms_norm(const std::string& name, const Tensor& x, bool written_out);
  // Rotary embedding of [batch, length, heads width], written out operator by operator.
  Tensor rotate(const Tensor& x, std::int64_t heads, double theta);
  Tensor embedding(const std::string& name, const Tensor& tokens, std::int64_t vocabulary,
                   std::int64_t width);
  // Adds to each token the vector of its place, from a table of `rows` of them; 0: of as many as
  // there are tokens.
  Tensor positions(const std::string& name, const Tensor& x, std::int64_t rows = 0);
  // Adds to each token the vector of its segment, from a table of `types` of them. All are of the
  // first.
  Tensor segments(const std::string& name, const Tensor& x, std::int64_t types);
  Tensor dropout(const Tensor& x, double p);
  // Of the projection [batch, length, 3 width]; gives [batch, length, width].
  Tensor attention(const Tensor& projection, std::int64_t heads, bool causal,
                   const AttentionWay& way);
  // Of three projections [batch, length, width]; where heads share some of `kv_heads`, those of
  // keys and values are narrower. 0: each has its own.
  Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                   bool causal, const AttentionWay& way, std::int64_t kv_heads = 0);
  Tensor add(const Tensor& a, const Tensor& b);
  Tensor product(const Tensor& a, const Tensor& b);
  // x.detach() of everything so far: backward goes no further.
  void detach() {
    for (Parameter& parameter : graph_.parameters) parameter.reached = false;
  }
  // y = x wᵀ with the weight of an embedding: a language model's tied head. With a `bias`, the name
  // of that parameter, it is added.
  Tensor tied_linear(const Tensor& x, const std::string& embedding, const std::string& bias = {});

  // Parameters are listed in the order in which the layers use them, but for these, whose place is
  // here: as named_parameters() lists what a module's constructor makes before its forward uses it.
  void declare(const std::vector<std::string>& parameters);

  // The layers from here on are a block that checkpointing recomputes; until the next or the end.
  void next_block() { block_ = ++blocks_; }
  void end_blocks() { block_ = 0; }
  // The standard deviation of the weights of linear layers and embeddings from here on; without it
  // they are as torch.nn makes them.
  void initialise_normal(double deviation) { deviation_ = deviation; }

  // The logits: [batch, classes] or, of a text, [batch, length, classes].
  Graph finish(const Tensor& logits);

 private:
  ParameterId parameter(const std::string& name, std::int64_t elements,
                        const program::Initial& initial, bool trained = true);
  Tensor layer(const std::string& name, program::Function function,
               const std::vector<Tensor>& inputs, std::vector<ParameterId> parameters,
               std::vector<std::int64_t> shape, std::vector<SideResult> side_results = {});
  program::Initial weight_initial(std::int64_t inputs) const;
  // "relu 2": the second layer that is called so.
  std::string numbered(const std::string& name) {
    return name + " " + std::to_string(++unnamed_[name]);
  }
  Tensor attention_layer(const std::vector<Tensor>& inputs, std::int64_t width, std::int64_t heads,
                         bool causal, const AttentionWay& way, std::int64_t kv_heads = 0);

  Graph graph_;
  bool channels_last_;
  int block_ = 0;
  int blocks_ = 0;
  double deviation_ = 0;
  std::map<std::string, int> unnamed_;  // layers without a name of their own, by what they are
  std::vector<ParameterId> declared_;   // and not used so far
};

}  // namespace trainscope::train
