// How large a saved run of a million spans is, and how long it takes to save and to open.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "analysis/runs/run_file.h"
#include "bench/bench.h"

namespace trainscope::bench {

void bench_run_files() {
  fmt::print("\nsaved runs: a million spans of a training run\n");
  program::Config config;
  config.set_text("workload=train");
  config.set_text("steps=26500");
  analysis::SavedRuns saved;
  saved.runs = {std::make_shared<const analysis::Run>(analysis::run_config("A", config))};
  const double spans = saved.runs[0]->trace->spans().size();
  const auto file = std::filesystem::temp_directory_path() /
                    ("trainscope-bench-" + std::to_string(::getpid()) + ".tsrun");
  constexpr int kRuns = 5;
  const Timing save = time_of(kRuns, [&] { analysis::save_runs(saved, file); });
  const Timing open = time_of(kRuns, [&] { analysis::open_runs(file); });
  const Timing analyse = time_of(kRuns, [&] {
    analysis::Run again = *saved.runs[0];
    analysis::analyse(again);
  });
  fmt::print("  {:.0f} spans: {:.2f} MB, {:.1f} B a span (unpacked {:.1f})\n", spans,
             static_cast<double>(std::filesystem::file_size(file)) / 1e6,
             static_cast<double>(std::filesystem::file_size(file)) / spans,
             static_cast<double>(analysis::runs_content(saved).size()) / spans);
  fmt::print("  saved in {:.0f} ms, opened in {:.0f} ms, of which its metrics take {:.0f} ms\n",
             save.median * 1e3, open.median * 1e3, analyse.median * 1e3);
  std::filesystem::remove(file);
}

}  // namespace trainscope::bench
