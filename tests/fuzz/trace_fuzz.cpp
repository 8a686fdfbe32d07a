#include "base/error.h"
#include "fuzz/after.h"
#include "fuzz/targets.h"
#include "trace/chrome_reader.h"

void trainscope::fuzz::trace(std::string_view bytes) {
  trace::ReadOptions options;
  options.max_bytes = 1 << 20;
  auto run = std::make_shared<analysis::Run>();
  try {
    run->trace = trace::read_chrome_trace("fuzz.json", bytes, options);
  } catch (const Error& error) {
    return check_sentence(error.what());
  }
  run->label += 'A';
  analysis::analyse(*run);
  analysis::SavedRuns saved;
  saved.runs = {run};
  use(saved);
}
