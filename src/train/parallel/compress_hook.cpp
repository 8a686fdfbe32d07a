#include "train/parallel/compress_hook.h"

#include <utility>

#include "base/error.h"
#include "train/kernels/kernels.h"
#include "train/parallel/compute_stream.h"

namespace trainscope::train {
namespace {

using program::ElementType;
using program::Index;

}  // namespace

bool CompressHook::is_wanted(const program::Config& config) {
  if (config.word("ddp.comm_hook") == "none") return false;
  if (config.word("model.dtype") != "fp32")
    throw InputError("ddp.comm_hook compresses gradients of FP32, and model.dtype = " +
                     config.word("model.dtype") +
                     " has narrow ones already; set model.dtype = fp32, or ddp.comm_hook = none");
  return true;
}

CompressHook::CompressHook(program::Program& program, const program::Config& config, int ranks)
    : program_(program),
      type_(config.word("ddp.comm_hook") == "fp16_compress" ? ElementType::kFp16
                                                            : ElementType::kBf16),
      ranks_(ranks),
      stream_(static_cast<Index>(program.streams.size())) {
  program.streams.push_back(
      {"stream 28, comm hook", 28, program::StreamKind::kNonBlocking, 0, 0, 0});
}

Index CompressHook::add_operation(const char* kernel, const char* framework, ElementType type,
                                  double bytes, const program::Function& function,
                                  std::vector<Index> reads, std::vector<Index> writes) {
  const std::int64_t elements = program_.buffers[buckets_.back().copy].elements();
  program::Operation operation = pointwise(kernel, framework, program::OperationKind::kElementwise,
                                           elements, 1, bytes * static_cast<double>(elements));
  operation.type = type;
  operation.function = function;
  operation.reads = std::move(reads);
  operation.writes = std::move(writes);
  program_.operations.push_back(std::move(operation));
  return static_cast<Index>(program_.operations.size() - 1);
}

void CompressHook::add_bucket(const std::string& name, const std::vector<Index>& buffers) {
  std::int64_t elements = 0;
  for (const Index buffer : buffers) elements += program_.buffers[buffer].elements();
  Bucket& bucket = buckets_.emplace_back();
  bucket.copy = add_numbers(program_, name + ", compressed", elements, type_,
                            program::MemoryKind::kDevice, program::Role::kGradient);
  bucket.payload = static_cast<Index>(program_.payloads.size());
  program_.payloads.push_back({bucket.copy});
  bucket.cast = add_operation("cast", "aten::to", ElementType::kFp32, 4 + 2, program::Concatenate{},
                              buffers, {bucket.copy});
  program_.operations[bucket.cast].is_gradient = true;  // whose losses in the narrow type count
  bucket.divide =
      add_operation("div", "aten::div_", type_, 2 + 2, program::Multiply{elements, 1.0 / ranks_},
                    {bucket.copy}, {bucket.copy});
  bucket.write_back = add_operation("vectorized_elementwise_kernel: copy", "aten::copy_", type_,
                                    2 + 4, program::ShardsApart{1}, {bucket.copy}, buffers);
  bucket.written = program_.events++;
}

void CompressHook::compress(ThreadWriter& autograd, std::size_t bucket) const {
  const Bucket& one = buckets_[bucket];
  autograd.add(program::Alloc{one.copy, kComputeStream});
  autograd.add(program::Launch{one.cast, kComputeStream});
  autograd.add(program::Launch{one.divide, kComputeStream});
}

// The copy's memory is given back when the future is done with it, behind the streams that read it.
void CompressHook::decompress(ThreadWriter& autograd, std::size_t bucket, Index summed,
                              Index summing_stream) const {
  const Bucket& one = buckets_[bucket];
  autograd.add(program::StreamWait{stream_, summed});
  autograd.add(program::Launch{one.write_back, stream_});
  autograd.add(program::RecordEvent{one.written, stream_});
  for (const Index stream : {summing_stream, stream_})
    autograd.add(program::RecordStream{one.copy, stream});
  autograd.add(program::Free{one.copy});
}

void CompressHook::wait(ThreadWriter& autograd, std::size_t bucket) const {
  autograd.add(program::StreamWait{kComputeStream, buckets_[bucket].written});
}

}  // namespace trainscope::train
