// Benchmarks: what each prints, and how a duration is taken.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace trainscope::bench {

struct Timing {
  double best = 0;  // seconds
  double median = 0;
};

// Runs `work` once to warm up and then `runs` times.
template <typename Work>
Timing time_of(int runs, Work&& work) {
  work();
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    seconds.push_back(took.count());
  }
  std::sort(seconds.begin(), seconds.end());
  return {seconds.front(), seconds[seconds.size() / 2]};
}

// On a GPU; nothing where there is none.
void bench_device_kernels();
void bench_device_steps();
void bench_device_tracing();
void bench_reader();          // Chrome-trace JSON to spans, beside simdjson alone
void bench_run_files();       // saving and opening a million spans
void bench_steps();           // forward, backward and update of small networks on the CPU
void bench_lessons();         // both sides of each lesson, metrics included
void bench_series();          // the metrics of each step of a long run
void bench_simulator();       // commands a second
void bench_timeline();        // ten million spans opened and drawn; a trace that grows
void bench_training_steps();  // a step with its kernels block by block
void bench_window();          // start to first picture; a knob to both timelines

}  // namespace trainscope::bench
