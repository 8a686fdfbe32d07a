#include "sim/memory.h"

#include <algorithm>

#include "base/error.h"
#include "base/units.h"

namespace trainscope::sim {

Memory::Memory(const program::Program& program, std::int64_t capacity, std::string gpu,
               Recorder& recorder)
    : program_(program),
      capacity_(capacity),
      gpu_(std::move(gpu)),
      recorder_(recorder),
      allocated_(program.buffers.size(), false) {}

void Memory::allocate(Nanos now, program::Index buffer) {
  const program::Buffer& one = program_.buffers[buffer];
  if (allocated_[buffer]) throw InputError("the program allocates " + one.name + " twice");
  allocated_[buffer] = true;
  in_use_ += one.bytes;
  if (in_use_ > capacity_)
    throw InputError(gpu_ + " is out of memory: " + one.name + " brings it to " +
                     format_bytes(static_cast<double>(in_use_)) + " of " +
                     format_bytes(static_cast<double>(capacity_)) + "; the largest are " +
                     largest());
  note(now);
}

void Memory::free(Nanos now, program::Index buffer) {
  const program::Buffer& one = program_.buffers[buffer];
  if (!allocated_[buffer])
    throw InputError("the program frees " + one.name + ", which is not allocated");
  allocated_[buffer] = false;
  in_use_ -= one.bytes;
  note(now);
}

std::string Memory::largest() const {
  std::vector<const program::Buffer*> held;
  for (std::size_t i = 0; i < allocated_.size(); ++i)
    if (allocated_[i]) held.push_back(&program_.buffers[i]);
  std::stable_sort(held.begin(), held.end(),
                   [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, held.size()); ++i)
    text += (i ? ", " : "") + held[i]->name + " (" +
            format_bytes(static_cast<double>(held[i]->bytes)) + ")";
  return text;
}

void Memory::note(Nanos now) {
  recorder_.trace().add_sample({now, static_cast<double>(in_use_), recorder_.memory_lane()});
}

}  // namespace trainscope::sim
