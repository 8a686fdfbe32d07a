#include "train/writer.h"

#include "base/error.h"

namespace trainscope::train {

void ThreadWriter::refuse_more() {
  throw InputError("this run has more than " + std::to_string(kMostCommands / 1'000'000) +
                   " million commands; give fewer steps, or fewer things in a step");
}

program::Stream compute_stream(const program::Config& config) {
  program::Stream stream;
  stream.name = "stream 7";
  stream.number = 7;
  const std::string& kind = config.word("stream.kind");
  stream.kind = kind == "legacy"     ? program::StreamKind::kLegacyDefault
                : kind == "blocking" ? program::StreamKind::kBlocking
                                     : program::StreamKind::kNonBlocking;
  return stream;
}

std::string_view python(bool flag) {
  return flag ? "True" : "False";
}

program::Index add_buffer(program::Program& program, std::string name, std::int64_t bytes,
                          program::MemoryKind kind, program::Role role) {
  program.buffers.push_back({std::move(name), bytes, kind, role});
  return static_cast<program::Index>(program.buffers.size() - 1);
}

}  // namespace trainscope::train
