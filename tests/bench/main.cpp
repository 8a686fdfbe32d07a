#include <fmt/format.h>

#include <cstdio>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "bench/bench.h"

// All of them, or those whose names are given.
int main(int count, char** arguments) {
  using namespace trainscope::bench;
  trainscope::keep_freed_memory();
  const std::pair<std::string_view, void (*)()> benchmarks[] = {
      {"steps", bench_steps},
      {"lessons", bench_lessons},
      {"run-files", bench_run_files},
      {"device-steps", bench_device_steps},
      {"device-tracing", bench_device_tracing},
      {"device-kernels", bench_device_kernels},
      {"simulator", bench_simulator},
      {"series", bench_series},
      {"training", bench_training_steps},
#ifdef TRAINSCOPE_BENCH_UI
      {"timeline", bench_timeline},
      {"window", bench_window},
#endif
      {"reader", bench_reader}};
  const std::set<std::string_view> wanted(arguments + 1, arguments + count);
  int failed = 0;
  for (const auto& [name, bench] : benchmarks) {
    if (!wanted.empty() && !wanted.contains(name)) continue;
    try {
      bench();
    } catch (const trainscope::Error& error) {
      std::fflush(stdout);
      fmt::print(stderr, "{}: {}\n", name, error.what());
      ++failed;
    }
  }
  return failed > 0 ? 1 : 0;
}
