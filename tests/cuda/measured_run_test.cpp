#include "analysis/runs/measured_run.h"

#include <dlfcn.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "analysis/runs/run_file.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "cuda/emulated_device.h"
#include "cuda/own_device.h"
#include "report/json.h"
#include "report/svg.h"
#include "report/written.h"
#include "support/config.h"
#include "support/skip.h"

using namespace trainscope;
using test::config_of;

namespace {

std::string machine_of(const std::string& name, int sms, double gigabytes) {
  cuda::DeviceFacts facts;
  facts.name = name;
  facts.sm_count = sms;
  facts.memory_bytes = static_cast<std::int64_t>(gigabytes * 1e9);
  const auto machine = analysis::machine_of_device(facts);
  return machine ? machine->gpu.id : "none";
}

}  // namespace

TEST_CASE("a device is found among the machines by its name, its SMs, its form and its memory") {
  CHECK(machine_of("NVIDIA H100 80GB HBM3", 132, 85.0) == "h100-sxm");
  CHECK(machine_of("NVIDIA H200", 132, 150.1) == "h200");
  CHECK(machine_of("NVIDIA L4", 58, 23.6) == "l4");
  CHECK(machine_of("NVIDIA GeForce RTX 4090", 128, 25.3) == "rtx4090");
  CHECK(machine_of("NVIDIA A100-SXM4-80GB", 108, 85.1) == "a100-sxm-80");
  CHECK(machine_of("NVIDIA A100 80GB PCIe", 108, 85.1) == "a100-pcie-80");
  CHECK(machine_of("NVIDIA A100-PCIE-40GB", 108, 42.3) == "a100-pcie-40");
  CHECK(machine_of("NVIDIA H100 NVL", 99, 94.0) == "none");
}

TEST_CASE("a measured run says so, names what took its times, and has metrics") {
  test::EmulatedDevice device;
  const analysis::Run run = analysis::measured_run(
      "A", config_of({"workload=copy", "copy.memory=pinned", "copy.count=3"}), device);
  CHECK_FALSE(run.ending);
  CHECK(run.trace->origin().kind == trace::OriginKind::kMeasured);
  CHECK(run.trace->origin().subject == "Emulated GPU");
  CHECK(run.trace->origin().detail.find("no machine file describes it") != std::string::npos);
  CHECK(analysis::value_of(run.metrics, "bandwidth.h2d"));
}

TEST_CASE("a run's origin says what its device could not compile, also where that shows late") {
  test::EmulatedOptions options;
  options.compiles_not = "fused kernels read their steps";
  test::EmulatedDevice device(options);
  const analysis::Run run =
      analysis::measured_run("A", config_of({"workload=launch", "launch.count=1"}), device);
  const std::string& detail = run.trace->origin().detail;
  CHECK(detail.find("no driver; fused kernels read their steps, built with no toolkit") == 0);
}

TEST_CASE("a device that fails ends a measured run with a sentence, and its metrics remain") {
  test::EmulatedOptions options;
  options.lost_at = 30;
  test::EmulatedDevice device(options);
  const analysis::Run run = analysis::measured_run(
      "A", config_of({"workload=copy", "copy.memory=pinned", "copy.count=100"}), device);
  REQUIRE(run.ending);
  CHECK(sim::name_of(*run.ending) == "device_failed");
  CHECK(sim::title_of(*run.ending) == "The GPU failed");
  CHECK(sim::sentence(*run.ending).find("an emulated illegal address") != std::string::npos);
  CHECK(run.trace->spans().size() > 10);

  const test::TemporaryFolder folder;
  analysis::SavedRuns saved;
  saved.runs.push_back(std::make_shared<analysis::Run>(run));
  const auto trace = report::write_traces(saved, (folder.path() / "trace.json").string());
  const analysis::Run read = analysis::import_run("A", trace.front());
  REQUIRE(read.ending);
  CHECK(sim::name_of(*read.ending) == "ended_early");
  CHECK(sim::sentence(*read.ending) == sim::sentence(*run.ending));
  saved.runs = {std::make_shared<analysis::Run>(read)};
  analysis::save_runs(saved, folder.path() / "read.tsrun");
  const auto again = analysis::open_runs(folder.path() / "read.tsrun").runs.front();
  REQUIRE(again->ending);
  CHECK(sim::sentence(*again->ending) == sim::sentence(*run.ending));

  report::ReportInput input;
  input.runs = {&run};
  const std::string drawing = report::timelines_svg(input, {}, report::SvgTheme::kLight);
  CHECK_THAT(drawing, Catch::Contains("an emulated illegal address"));
}

TEST_CASE("without a plug-in, or with a file that is none, one sentence says what to do") {
  const auto folder = std::filesystem::temp_directory_path() / "trainscope-no-plugin";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder / cuda::kPluginFile);
  CHECK_THROWS_WITH(cuda::open_device(folder), Catch::Contains("trainscope_cuda` builds it"));
  std::ofstream(folder / cuda::kPluginFile) << "no library";
  CHECK_THROWS_WITH(cuda::open_device(folder), Catch::Contains("does not load"));
  // A library that has none of a plug-in's functions.
  Dl_info library{};
  REQUIRE(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &library));
  std::filesystem::remove(folder / cuda::kPluginFile);
  std::filesystem::create_symlink(library.dli_fname, folder / cuda::kPluginFile);
  CHECK_THROWS_WITH(
      cuda::open_device(folder),
      Catch::Contains("is of another version of Trainscope") &&
          Catch::Contains("ninja -C " + folder.string() + " trainscope_cuda` builds it"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("why there is no GPU is said alone, and what to do instead by who asked") {
  if (std::filesystem::exists("/dev/nvidia0")) TRAINSCOPE_SKIP("there is a GPU");
  CHECK_THROWS_WITH(cuda::open_device(cuda::plugin_folder()), !Catch::Contains("--executor sim"));
  CHECK_THROWS_WITH(cuda::open_own_device("do something else"),
                    Catch::EndsWith("; do something else") && !Catch::Contains("--executor sim"));
  CHECK_THROWS_AS(cuda::open_own_device(cuda::kSimulateInstead), MissingError);
}

TEST_CASE("a recording opens again as measured, with device, driver, toolkit, commit and date") {
  const test::TemporaryFolder folder;
  test::EmulatedDevice device;
  analysis::SavedRuns saved;
  saved.version = "0.1.0";
  saved.executor = "cuda";
  saved.runs.push_back(std::make_shared<analysis::Run>(analysis::measured_run(
      "A", config_of({"workload=copy", "copy.memory=pinned", "copy.count=3"}), device)));
  const auto file = folder.path() / "recording.tsrun";
  analysis::save_runs(saved, file);
  const analysis::SavedRuns opened = analysis::open_runs(file);
  REQUIRE(opened.runs.size() == 1);
  const trace::Origin& origin = opened.runs.front()->trace->origin();
  CHECK(origin.kind == trace::OriginKind::kMeasured);
  CHECK(origin.subject == "Emulated GPU");
  CHECK_THAT(origin.detail, Catch::Contains("no driver, built with no toolkit, commit ") &&
                                Catch::Contains(", " + analysis::today()));
  CHECK(opened.executor == "cuda");
  const std::string json = report::run_json({opened.runs.front().get()}, 0, opened.executor);
  CHECK_THAT(json, Catch::Contains("\"origin\": \"measured\""));
  CHECK(trace::badge(origin.kind) == "MEASURED");

  const std::string bytes = read_file(file, std::size_t{1} << 30);
  write_file(file, bytes.substr(0, bytes.size() / 2));
  CHECK_THROWS_AS(analysis::open_runs(file), InputError);
}

TEST_CASE("a device without room ends a measured run out of memory, and names the largest") {
  test::EmulatedOptions options;
  options.memory_bytes = 9'000'000;
  test::EmulatedDevice device(options);
  const analysis::Run run =
      analysis::measured_run("A",
                             config_of({"workload=copy", "copy.memory=pinned", "copy.bytes=8000000",
                                        "copy.direction=d2d"}),
                             device);
  REQUIRE(run.ending);
  CHECK(sim::ran_out_of_memory(*run.ending));
  CHECK(sim::title_of(*run.ending) == "Out of memory");
  CHECK_THAT(sim::sentence(*run.ending),
             Catch::Contains("asked for 7.63 MiB") && Catch::Contains("; the largest are "));
  CHECK(device.is_usable());
}

TEST_CASE("a machine of a person's choice is a measured run's where it has the device's GPU") {
  const machine::Machine costs = machine::load_machine("t4-1");
  test::EmulatedOptions options;
  options.costs = &costs;
  options.name = "Tesla T4";
  test::EmulatedDevice device(options);
  const auto measured = [&](const std::string& machine) {
    return analysis::measured_run(
        "A", config_of({"workload=launch", "launch.count=1", "machine=" + machine}), device);
  };
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "mine.toml";
  write_file(file, "id = \"mine\"\nbase = \"t4-1\"\nname = \"my own\"\n");
  const analysis::Run mine = measured(file.string());
  CHECK(mine.machine->id == "mine");
  CHECK_THAT(mine.trace->origin().detail, !Catch::Contains("without effect"));
  const analysis::Run other = measured("h200-1");
  CHECK(other.machine->gpu.id == "t4");
  CHECK_THAT(other.trace->origin().detail,
             Catch::Contains("without effect on a real GPU: machine"));
}

TEST_CASE("sides that differ only in their machine are not measured on one device") {
  const auto why = [](const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return analysis::same_on_a_device(config_of(a), config_of(b));
  };
  CHECK_THAT(why({"machine=t4-1"}, {"machine=h200-1"}), Catch::Contains("differ in machine alone"));
  CHECK_THAT(why({"power_limit=300"}, {"machine=h100-sxm-1"}),
             Catch::Contains("machine and power_limit"));
  CHECK(why({"machine=t4-1"}, {"machine=h200-1", "steps=7"}).empty());
  CHECK(why({}, {}).empty());
}

TEST_CASE("on a device that an earlier run lost, the next is refused with one sentence") {
  test::EmulatedOptions options;
  options.lost_at = 30;
  test::EmulatedDevice device(options);
  const auto config = config_of({"workload=copy", "copy.memory=pinned", "copy.count=100"});
  CHECK(analysis::measured_run("A", config, device).ending);
  CHECK_FALSE(device.is_usable());
  CHECK_THROWS_WITH(analysis::measured_run("B", config, device),
                    Catch::Contains("start the program again"));
}

TEST_CASE("blocks that a kernel tells of are what SMs hold, inside the kernel's time") {
  static const machine::Machine costs = machine::load_machine("h200-1");
  test::EmulatedOptions options;
  options.costs = &costs;
  test::EmulatedDevice device(options);
  const analysis::Run run = analysis::measured_run(
      "A", config_of({"workload=kernel", "kernel.grid=20", "kernel.block=96", "steps=3"}), device);
  REQUIRE_FALSE(run.ending);
  std::map<std::string, std::vector<trace::Sample>> samples;
  trace::for_each(run.trace->samples(), [&](const trace::Sample& sample, std::uint32_t) {
    samples[run.trace->lanes()[sample.lane].name].push_back(sample);
  });
  std::vector<trace::Span> kernels;
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, std::uint32_t) {
    if (run.trace->lanes()[span.lane].kind == trace::LaneKind::kStream) kernels.push_back(span);
  });
  REQUIRE(!kernels.empty());
  const auto& busy = samples["SMs with a block"];
  const auto& warps = samples["resident warps"];
  // The emulator has one SM, and one block after another: each comes, and goes.
  CHECK(busy.size() == 2 * 20 * kernels.size());
  CHECK(busy.size() == warps.size());
  double last = 0;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    CHECK(busy[i].value == 1 - last);
    CHECK(warps[i].value == 3 * busy[i].value);
    last = busy[i].value;
    CHECK(std::ranges::any_of(kernels, [&](const trace::Span& kernel) {
      return kernel.start <= busy[i].time && busy[i].time <= kernel.end();
    }));
  }
  CHECK(last == 0);
  REQUIRE(analysis::value_of(run.metrics, "sm.utilization"));
  CHECK(*analysis::value_of(run.metrics, "sm.utilization") < 1.01 / 132);
  CHECK(analysis::value_of(run.metrics, "occupancy.achieved"));
}

TEST_CASE("blocks that there is no room for are counted") {
  test::EmulatedDevice device;
  const analysis::Run run =
      analysis::measured_run("A",
                             config_of({"workload=kernel", "kernel.grid=1200000", "kernel.block=1",
                                        "kernel.flops_per_thread=1", "steps=2"}),
                             device);
  std::int64_t left_out = 0;
  trace::for_each(run.trace->dropped(), [&](const trace::Dropped& one, std::uint32_t) {
    if (one.reason == "launches whose blocks there was no room for") left_out += one.count;
  });
  CHECK(left_out == 2);
}
