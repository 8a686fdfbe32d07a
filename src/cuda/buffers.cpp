#include "cuda/buffers.h"

#include <utility>

#include "base/units.h"
#include "cuda/execution.h"

namespace trainscope::cuda {
namespace {

using program::MemoryKind;

// What operations read before they have written it; how many answers were right is added to.
bool is_kept(const program::Program& program, program::Index index) {
  const program::Buffer& buffer = program.buffers[index];
  return index == program.gauges.correct || buffer.role == program::Role::kParameter ||
         buffer.role == program::Role::kOptimizerState ||
         buffer.role == program::Role::kWorkspace || buffer.initial.value != 0;
}

// A single number that is kept, as the loss scale: a framework may make it after its first use.
bool is_number(const program::Program& program, program::Index index) {
  return is_kept(program, index) && program.buffers[index].elements() == 1;
}

std::vector<bool> allocated_later(const program::Program& program) {
  std::vector<bool> later(program.buffers.size());
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* alloc = std::get_if<program::Alloc>(&command.action))
        later[alloc->buffer] = true;
  return later;
}

// Which buffers something computes with or moves.
class Uses {
 public:
  explicit Uses(const program::Program& program) : used_(program.buffers.size()) {
    for (const program::Operation& operation : program.operations)
      if (!is_empty_launch(program, operation)) add(operation);
    for (const auto& payload : program.payloads) add(payload);
    const program::Gauges& gauges = program.gauges;
    add({gauges.loss, gauges.scale, gauges.found_inf, gauges.gradient_norm, gauges.correct});
    add(gauges.more_losses);
    add(gauges.gradients);
    for (const program::Thread& thread : program.threads)
      for (const program::Command& command : thread.commands) add(command.action);
  }

  std::vector<bool> take() { return std::move(used_); }

 private:
  void add(program::Index buffer) {
    if (buffer != program::kNoIndex) used_[buffer] = true;
  }
  void add(const std::vector<program::Index>& buffers) {
    for (const program::Index buffer : buffers) add(buffer);
  }
  void add(const program::Operation& operation) {
    add(operation.reads);
    add(operation.writes);
    for (const program::Operation& part : operation.parts) add(part);
  }
  void add(const program::Action& action) {
    if (const program::Copy* copy = program::copy_of(action)) add({copy->from, copy->to});
    if (const auto* view = std::get_if<program::View>(&action)) add({view->of, view->view});
    if (const auto* load = std::get_if<program::LoadBatch>(&action)) add({load->x, load->y});
    if (const auto* launch = std::get_if<program::Launch>(&action)) add(launch->predicate);
  }

  std::vector<bool> used_;
};

}  // namespace

Buffers::Buffers(const program::Program& program, DeviceCalls& device,
                 const std::vector<StreamHandle>& streams)
    : program_(program),
      device_(device),
      streams_(streams),
      contents_(program, device),
      places_(program.buffers.size()),
      is_used_(Uses(program).take()),
      handed_(streams.size()),
      has_event_(streams.size()) {
  for (program::Index i = 0; i < streams.size(); ++i) {
    const auto gpu = static_cast<std::size_t>(program.streams[i].device);
    if (first_.size() <= gpu) first_.resize(gpu + 1, kNone);
    if (first_[gpu] == kNone) first_[gpu] = i;
  }
  try {
    place_all();
  } catch (...) {
    release_all();
    throw;
  }
}

void Buffers::place_all() {
  const std::vector<bool> later = allocated_later(program_);
  for (program::Index i = 0; i < places_.size(); ++i) {
    if (later[i] && program_.buffers[i].kind == MemoryKind::kDevice && !is_number(program_, i))
      continue;
    place(i);
    fill(i, streams_[first_of(i)]);
  }
}

Buffers::~Buffers() {
  release_all();
}

void Buffers::release_all() {
  for (program::Index i = 0; i < places_.size(); ++i)
    for (const Slot& slot : places_[i].slots)
      device_.release_host(slot.memory, program_.buffers[i].kind);
  try {
    for (program::Index i = 0; i < places_.size(); ++i) {
      if (program_.buffers[i].kind != MemoryKind::kDevice) continue;
      for (void* memory : {places_[i].memory, places_[i].lent})
        if (memory && !places_[i].is_view) device_.release(memory, streams_[first_of(i)]);
    }
  } catch (const Error&) {  // the device is lost, and its memory with it
  }
}

void Buffers::lend(program::Index buffer) {
  const std::lock_guard held(mutex_);
  Place& place = places_[buffer];
  if (place.memory || place.lent) return;
  const StreamHandle stream = streams_[first_of(buffer)];
  place.lent = take(buffer, stream);
  device_.synchronise_stream(stream);  // any stream may use it from here on
}

void* Buffers::take(program::Index buffer, StreamHandle stream) try {
  return device_.allocate(program_.buffers[buffer].bytes, stream);
} catch (const OutOfDeviceMemory& error) {
  const program::Buffer& what = program_.buffers[buffer];
  throw OutOfDeviceMemory(sim::buffer_words(what.name, what.role) + " asked for " +
                          format_bytes(static_cast<double>(what.bytes)) + ", and " + error.what() +
                          sim::holders_words(largest(what.device)));
}

std::vector<sim::OutOfMemory::Holder> Buffers::largest(int gpu) const {
  std::vector<sim::OutOfMemory::Holder> holders;
  for (program::Index i = 0; i < places_.size(); ++i) {
    const program::Buffer& one = program_.buffers[i];
    const bool has_own = (places_[i].memory && !places_[i].is_view) || places_[i].lent;
    if (has_own && one.kind == MemoryKind::kDevice && one.device == gpu)
      holders.push_back({one.name, one.role, one.bytes});
  }
  return sim::largest_of(std::move(holders));
}

void Buffers::place(program::Index buffer) {
  const program::Buffer& what = program_.buffers[buffer];
  Place& place = places_[buffer];
  if (what.kind == MemoryKind::kDevice) {
    place.stream = first_of(buffer);
    place.memory = take(buffer, streams_[place.stream]);
    if (!what.is_view) note(buffer, 1);
  } else {
    place.memory = device_.allocate_host(what.bytes, what.kind);
    place.slots.push_back({place.memory});
  }
}

void Buffers::fill(program::Index buffer, StreamHandle stream) {
  places_[buffer].filled = true;
  contents_.fill(buffer, places_[buffer].memory, stream);
}

void Buffers::view(const program::View& action) {
  Place& place = places_[action.view];
  if (place.memory && !place.is_view)
    device_.release(place.memory, streams_[first_of(action.view)]);
  place.is_view = true;
  place.memory = static_cast<char*>(at(action.of)) + action.begin;
}

Operand Buffers::operand(program::Index buffer) const {
  const program::Buffer& what = program_.buffers[buffer];
  return {at(buffer), what.elements(), what.type};
}

bool Buffers::fills(const program::Alloc& action) const {
  const Place& place = places_[action.buffer];
  return program_.buffers[action.buffer].kind == MemoryKind::kDevice && !place.memory &&
         is_used_[action.buffer] && !place.filled && is_kept(program_, action.buffer);
}

void Buffers::allocate(const program::Alloc& action) {
  if (program_.buffers[action.buffer].kind != MemoryKind::kDevice) return;
  Place& place = places_[action.buffer];
  if (place.memory) return;  // a number that is there from the start
  // What a framework allocates for kernels whose work one of ours does is told of, and not there.
  if (!is_used_[action.buffer]) return note(action.buffer, 1);
  const bool is_filled = fills(action);
  place.memory = take(action.buffer, streams_[action.stream]);
  place.stream = action.stream;
  note(action.buffer, 1);
  if (is_filled) fill(action.buffer, streams_[action.stream]);
}

void Buffers::free(program::Index buffer) {
  if (program_.buffers[buffer].kind != MemoryKind::kDevice) return;
  Place& place = places_[buffer];
  for (const program::Index user : place.users) {
    // A wait is for what was recorded when it was asked for, so each stream needs one event.
    if (!has_event_[user]) handed_[user] = device_.make_event(program_.streams[user].device);
    has_event_[user] = true;
    device_.record(handed_[user], streams_[user]);
    device_.wait(streams_[place.stream], handed_[user]);
  }
  place.users.clear();
  if (place.memory) device_.release(place.memory, streams_[place.stream]);
  place.memory = nullptr;
  note(buffer, -1);
}

void Buffers::record_stream(const program::RecordStream& action) {
  if (places_[action.buffer].stream != action.stream)
    places_[action.buffer].users.push_back(action.stream);
}

// Slots whose copy is done are used again; a new one is made where none is.
void Buffers::renew(program::Index buffer) {
  Place& place = places_[buffer];
  if (place.slots.empty() || !place.slots[place.slot].read) return;
  for (std::size_t i = 0; i < place.slots.size(); ++i) {
    Slot& slot = place.slots[i];
    if (slot.read && !device_.is_done(slot.event)) continue;
    slot.read = false;
    place.slot = i;
    place.memory = slot.memory;
    return;
  }
  const program::Buffer& what = program_.buffers[buffer];
  place.memory = device_.allocate_host(what.bytes, what.kind);
  place.slot = place.slots.size();
  place.slots.push_back({place.memory});
}

bool Buffers::holds(const program::LoadBatch& load) const {
  const auto has = [&](program::Index buffer) {
    return places_[buffer].batch == load.batch && places_[buffer].is_test == load.test;
  };
  return has(load.x) && has(load.y);
}

void Buffers::note_loaded(const program::LoadBatch& load) {
  for (const program::Index buffer : {load.x, load.y}) {
    places_[buffer].batch = load.batch;
    places_[buffer].is_test = load.test;
  }
}

void Buffers::was_read(program::Index buffer, program::Index stream) {
  Place& place = places_[buffer];
  if (program_.buffers[buffer].kind != MemoryKind::kPinned || place.slots.empty()) return;
  Slot& slot = place.slots[place.slot];
  if (!slot.has_event) slot.event = device_.make_event(program_.streams[stream].device);
  slot.has_event = true;
  slot.read = true;
  device_.record(slot.event, streams_[stream]);
}

void Buffers::note(program::Index buffer, std::int64_t sign) {
  const std::lock_guard held(mutex_);
  const program::Buffer& what = program_.buffers[buffer];
  changes_.push_back({device_.now(), what.device, what.role, sign * what.bytes});
}

std::vector<MemoryChange> Buffers::changes() const {
  const std::lock_guard held(mutex_);
  return changes_;
}

}  // namespace trainscope::cuda
