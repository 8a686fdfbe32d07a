// DistributedDataParallel's fp16_compress_hook and bf16_compress_hook
// (torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py): what they add to a rank's
// program.
//
// A bucket of FP32 gradients is copied in a narrow type, and the copy divided by the number of
// ranks in that type and summed by the all-reduce; the sums are written back into the bucket, in
// FP32. The last of it is the callback of a future, and runs on a stream of PyTorch's pool.
#pragma once

#include <string>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/writer.h"

namespace trainscope::train {

class CompressHook {
 public:
  // Whether ddp.comm_hook asks for one. Throws InputError where gradients are narrow already.
  static bool is_wanted(const program::Config& config);

  // Adds its stream to the program, which outlives it. Call at most once a program.
  CompressHook(program::Program& program, const program::Config& config, int ranks);

  // A stream and an event of its own for a bucket that lies in those buffers, one after another.
  void add_bucket(const std::string& name, const std::vector<program::Index>& buffers);
  // The buckets are made anew.
  void forget_buckets() { buckets_.clear(); }

  // In bytes, of what is summed of so many of a bucket.
  static std::int64_t sent_bytes(std::int64_t bytes) { return bytes / 2; }
  program::Index payload(std::size_t bucket) const { return buckets_[bucket].payload; }

  // Before the sum of a bucket, and behind it, once `summed` has been recorded.
  void compress(ThreadWriter& autograd, std::size_t bucket) const;
  void decompress(ThreadWriter& autograd, std::size_t bucket, program::Index summed,
                  program::Index summing_stream) const;
  // At the end of backward.
  void wait(ThreadWriter& autograd, std::size_t bucket) const;

 private:
  struct Bucket {
    program::Index copy = 0;                              // buffer, in the narrow type
    program::Index payload = 0;                           // that
    program::Index cast = 0, divide = 0, write_back = 0;  // operations
    program::Index written = 0;                           // event
  };

  program::Index add_operation(const char* kernel, const char* framework, program::ElementType type,
                               double bytes, const program::Function& function,
                               std::vector<program::Index> reads,
                               std::vector<program::Index> writes);

  program::Program& program_;
  program::ElementType type_;
  int ranks_;
  program::Index stream_;
  std::vector<Bucket> buckets_;
};

}  // namespace trainscope::train
