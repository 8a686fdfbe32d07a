#include "base/error.h"
#include "fuzz/after.h"
#include "fuzz/targets.h"

namespace trainscope::fuzz {
namespace {

template <typename Read>
void read(const Read& reader) {
  analysis::SavedRuns saved;
  try {
    saved = reader();
  } catch (const Error& error) {
    return check_sentence(error.what());
  }
  use(saved);
}

}  // namespace

void run(std::string_view bytes) {
  read([&] { return analysis::unpack_runs(bytes, "fuzz.tsrun"); });
  // No fuzzer guesses a checksum, so the content stands alone too.
  read([&] { return analysis::read_runs_content(bytes, "fuzz.tsrun"); });
}

}  // namespace trainscope::fuzz
