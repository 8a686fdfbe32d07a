#include "program/knob_rows.h"
#include "program/known_models.h"

namespace trainscope::program {

namespace {

void add_size_knobs(std::vector<Knob>& t) {
  choice("model.name", "mlp")
      .choices(model_names())
      .help(
          "the model; mlp is a classroom classifier of images, of widths model.inputs, "
          "model.hidden, the rnn reads them in model.seq_len steps; the numbers of mlp, cnn, rnn "
          "and gpt-mini are computed, of the others only the time")
      .into(t);
  whole("model.inputs", 784, 1, 1 << 20)
      .help("width of the mlp's input: the numbers of one sample, 28 x 28 pixels")
      .into(t);
  whole("model.hidden", 128, 1, 65536)
      .help("width of the mlp's hidden layers, and of the rnn's state")
      .into(t);
  whole("model.layers", 1, 1, 1000).help("hidden layers of the mlp").into(t);
  flag("model.batch_norm", true)
      .pytorch("nn.BatchNorm2d")
      .help("the cnn normalises each channel over the batch")
      .into(t);
  whole("model.detach", 0, 0, 1000)
      .pytorch("x.detach()")
      .help("a bug to find: after so many hidden layers of the mlp the graph is cut; 0: nowhere")
      .into(t);
  whole("model.width", 128, 1, 8192).help("width of gpt-mini").into(t);
  whole("model.blocks", 2, 1, 48).help("transformer blocks of gpt-mini").into(t);
  whole("model.heads", 4, 1, 128).help("attention heads of gpt-mini").into(t);
  number("model.dropout", 0, 0, 0.95)
      .pytorch("nn.Dropout")
      .help("share of a transformer's activations that dropout drops")
      .into(t);
  whole("model.seq_len", 128, 1, 1 << 20)
      .help("tokens of a sequence; of the rnn the steps in which it reads an image (else its rows)")
      .into(t);
  whole("model.vocab_size", 0, 0, 1 << 20)
      .pytorch("vocab_size")
      .help(
          "tokens that a transformer of the literature knows: rows of its embedding and of its "
          "head; 0: its own number of them, as GPT-2's 50257")
      .into(t);
}

void add_type_and_kernel_knobs(std::vector<Knob>& t) {
  choice("model.dtype", "fp32")
      .choices({"fp32", "fp16", "bf16"})
      .pytorch("model.to(dtype)")
      .help(
          "type of the weights, and so of gradients, of what the optimizer keeps and of "
          "activations")
      .into(t);
  choice("memory_format", "contiguous")
      .choices({"contiguous", "channels_last"})
      .pytorch("memory_format")
      .help("layout of images")
      .into(t);
  choice("attention.kernel", "math")
      .choices({"math", "flash", "eager", "transformers"})
      .pytorch("sdpa_kernel")
      .help(
          "how attention is computed; flash: in FP32, and before compute capability 8.0, by "
          "PyTorch's memory-efficient kernel; eager: written out in the model, operator by "
          "operator; transformers: as Hugging Face's library writes it out "
          "(attn_implementation=\"eager\")")
      .into(t);
  number("attention.dropout", 0, 0, 0.95)
      .pytorch("nn.Dropout")
      .help("share of the probabilities that attention drops, where it is written out")
      .into(t);
  choice("model.gelu", "fused")
      .choices({"fused", "written_out"})
      .pytorch("activation_function")
      .help(
          "GPT-2's GELU: one kernel (gelu_pytorch_tanh), or operator by operator (gelu_new, the "
          "default of Hugging Face's library)")
      .into(t);
  choice("model.rms_norm", "fused")
      .choices({"fused", "written_out"})
      .pytorch("nn.RMSNorm")
      .help(
          "Llama's norms: one kernel (nn.RMSNorm, PyTorch 2.9 or later), or operator by operator "
          "(LlamaRMSNorm, the default of Hugging Face's library)")
      .into(t);
}

void add_data_knobs(std::vector<Knob>& t) {
  choice("data.name", "auto")
      .choices({"auto", "mnist", "digits", "spirals", "text", "cifar10", "imagenet", "tokens"})
      .help(
          "the data set; auto: the model's usual one. digits, spirals and text are made by "
          "Trainscope; of the others only the shapes are known, unless data.path is set")
      .into(t);
  text("data.path", "", KnobType::kText)
      .path()
      .help("folder of the MNIST or CIFAR-10 files; with them numbers are computed")
      .into(t);
  choice("data.source", "loader")
      .choices({"loader", "tensor"})
      .help("a DataLoader, or one tensor in host memory that is split into batches")
      .into(t);
  whole("data.image_sizes", 1, 1, 6)
      .pytorch("F.interpolate")
      .help(
          "sizes of images, in turn: a step resizes its batch on the GPU, each size 32 pixels "
          "below the one before; 1: none is resized")
      .into(t);
  flag("data.one_batch", false)
      .help("every step trains on the first batch: a model that can learn must learn it by heart")
      .into(t);
  choice("data.location", "host")
      .choices({"host", "device"})
      .help("where the data set lies: in host memory, or all of it on the GPU from the start")
      .into(t);
  whole("batch_size", 64, 1, 1 << 22)
      .pytorch("batch_size")
      .help(
          "samples a step (a rank with DDP, a tensor group with tensor.degree, a pipeline with "
          "pipeline.degree, in all with DataParallel)")
      .into(t);
}

}  // namespace

void add_model_knobs(std::vector<Knob>& t) {
  add_size_knobs(t);
  add_type_and_kernel_knobs(t);
  add_data_knobs(t);
}

}  // namespace trainscope::program
