#include <string_view>

#include "bench/bench.h"

// All of them, or with "steps" the training steps alone.
int main(int count, char** arguments) {
  using namespace trainscope::bench;
  bench_steps();
  if (count > 1 && std::string_view(arguments[1]) == "steps") return 0;
  bench_lessons();
  bench_run_files();
  bench_simulator();
  bench_reader();
  return 0;
}
