// A training's numbers by the host and by a device, operation by operation: every operation is
// launched on the device with the operands that the host has for it, and what it writes there is
// compared with what the host's writes. So no difference grows from one operation to the next.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cuda/device_calls.h"
#include "host/interpreter.h"
#include "program/numbers.h"

namespace trainscope::test {

// The largest of all that an operation of this name wrote in this type.
struct Difference {
  double ulps = 0;     // of the type, of the larger of the value and its tensor's root mean square
  double allowed = 0;  // of the operation that came nearest to what it may
  std::string worst;   // "weight of linear 1: 0.25 on the device, 0.5 on the host"
  double share() const { return ulps / allowed; }
};

// How many times as far off as by our own kernels numbers may be where a GPU's libraries compute.
struct OfLibraries {
  double convolutions = 1;
  double tf32 = 1;
};

class Lockstep : public program::Numbers {
 public:
  // Both must outlive it. Of several ranks the first one's numbers.
  Lockstep(const program::Program& program, cuda::DeviceCalls& device,
           const OfLibraries& libraries = {});
  ~Lockstep() override;

  void load(const program::LoadBatch& load) override;
  void run(const program::Operation& operation) override;
  void copy(const program::Copy& copy) override;
  void view(const program::View& view) override { host_.view(view); }
  double value(program::Index buffer) const override { return host_.value(buffer); }
  trace::TrainingStep step(std::int64_t number) override { return host_.step(number); }
  trace::Evaluation evaluation(std::int64_t step) override { return host_.evaluation(step); }

  // By operator, kernel and type: "aten::gelu, gelu_kernel, fp32".
  const std::map<std::string, Difference>& differences() const { return differences_; }
  std::int64_t operations() const { return operations_; }

 private:
  void* memory(program::Index buffer);
  void upload(program::Index buffer);
  std::vector<float> download(program::Index buffer);
  cuda::KernelCall call_of(const program::Operation& operation);
  std::uint64_t draws_of(const program::Operation& operation);
  void launch(const program::Operation& operation);
  void compare(const program::Operation& operation, program::Index buffer);

  const program::Program& program_;
  cuda::DeviceCalls& device_;
  OfLibraries libraries_;
  const cuda::HandleCounts handles_;  // that were there before
  cuda::StreamHandle stream_;
  host::Interpreter host_;
  host::BatchSource batches_;
  std::map<program::Index, void*> memory_;
  std::map<program::Index, std::vector<std::int64_t>> whole_;  // tokens and targets
  std::map<const program::Operation*, void*> states_;
  std::map<program::Index, std::uint64_t> draws_;
  std::uint64_t drawn_ = 0;
  std::map<std::string, Difference> differences_;
  std::int64_t operations_ = 0;
};

}  // namespace trainscope::test
