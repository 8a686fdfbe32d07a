#include "bench/bench.h"

int main() {
  trainscope::bench::bench_lessons();
  trainscope::bench::bench_run_files();
  trainscope::bench::bench_simulator();
  trainscope::bench::bench_reader();
  return 0;
}
