// After its first step a training allocates nothing: counts the allocations of this program.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "support/stepper.h"
#include "training/training_run.h"

// Sanitizers bring an operator new of their own; GCC and Clang each say in their way that one is
// on.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRAINSCOPE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRAINSCOPE_SANITIZED 1
#endif
#endif

#ifndef TRAINSCOPE_SANITIZED

namespace {

std::atomic<long> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

using namespace trainscope;

// Of each step.
std::vector<long> allocations_by_step(test::TrainingRun& run) {
  test::Stepper stepper(run.program(), run.numbers());
  std::vector<long> by_step(static_cast<std::size_t>(run.program().steps));
  for (long& count : by_step) {
    const long before = allocations;
    stepper.step();
    count = allocations - before;
  }
  return by_step;
}

}  // namespace

TEST_CASE("a step of a training in its loop allocates nothing") {
  const std::vector<std::string> common{"steps=6", "batch_size=16", "data.source=tensor",
                                        "loop.evaluate=false"};
  for (const std::vector<std::string>& model :
       {std::vector<std::string>{"model.name=mlp", "data.name=digits"},
        {"model.name=cnn", "data.name=digits"},
        {"model.name=cnn", "data.name=digits", "precision=fp16", "scaler.enabled=true"},
        {"model.name=mlp", "data.name=digits", "optimizer.name=adam", "optimizer.impl=fused",
         "scaler.enabled=true", "clip_grad_norm=1"},
        {"model.name=gpt-mini", "data.name=text", "model.seq_len=32", "model.dropout=0.1"},
        {"model.name=gpt-mini", "data.name=text", "model.seq_len=32", "attention.kernel=flash",
         "checkpoint.enabled=true", "optimizer.name=adamw"}}) {
    for (const int threads : {1, 2}) {
      INFO(model[0] << " " << model.back() << ", " << threads << " threads");
      test::TrainingRun run(test::with(model, common), threads);
      const std::vector<long> by_step = allocations_by_step(run);
      REQUIRE(by_step.size() == 6);
      CHECK(by_step[0] > 0);
      for (std::size_t step = 2; step < by_step.size(); ++step) CHECK(by_step[step] == 0);
    }
  }
}

#endif
