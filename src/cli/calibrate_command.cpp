// `trainscope calibrate`: measures the GPU that is here and writes it as a GPU and a machine of the
// catalogue.

#include <fmt/format.h>

#include <iostream>

#include "analysis/runs/measured_run.h"
#include "base/error.h"
#include "base/files.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/measured_files.h"
#include "cli/table.h"
#include "cuda/calibration/machine_files.h"
#include "cuda/nvml.h"
#include "cuda/own_device.h"
#include "machine/machine.h"
#include "program/products.h"
#include "report/measurements_json.h"

namespace trainscope::cli {
namespace {

namespace fs = std::filesystem;

// The clocks of the GPU of that name, now.
std::string clocks_of(const std::string& name) {
  for (const cuda::GpuState& state : cuda::gpu_states().gpus)
    if (state.name == name) return cuda::clocks_in_words(state);
  return "";
}

std::string checked_id(const std::string& id) {
  if (id.empty() || id == cuda::id_of_device(id)) return id;
  throw InputError("the id " + id + " has letters that no id has; write --id " +
                   cuda::id_of_device(id));
}

struct Places {
  fs::path gpu;
  fs::path machine;
};

// Refused before anything is measured.
Places places_of(const CalibrateOptions& options, const std::string& id) {
  const fs::path folder = options.out.empty() ? home_folder() / "assets" : fs::path(options.out);
  const Places places{folder / "gpus" / (id + ".toml"), folder / "machines" / (id + "-1.toml")};
  for (const fs::path& file : {places.gpu, places.machine})
    if (is_there(file))
      throw InputError(file.string() + ": is there already; give another --id, or move it away");
  for (const fs::path& file : {places.gpu, places.machine}) make_folder(file.parent_path());
  return places;
}

void print_figures(const cuda::Calibration& calibration) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  table.add({"figure", "measured", "half within", "how"});
  for (const cuda::MeasuredFigure& figure : calibration.figures)
    table.add({figure.name, cuda::figure_text(figure.name, figure.value),
               figure.spread > 0 ? cuda::figure_text(figure.name, figure.spread) : "", figure.how});
  std::cout << table.text() << "\n";
  TextTable transfers({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  transfers.add({"copy or pass", "bytes", "time", "rate"});
  for (const cuda::TransferPoint& point : calibration.transfers)
    transfers.add({point.what, format_bytes(static_cast<double>(point.bytes)),
                   format_nanos(point.nanos),
                   format_rate(1e9 * static_cast<double>(point.bytes) / point.nanos)});
  std::cout << transfers.text() << "\n";
}

// A file that the catalogue would refuse, by which it would refuse all, is put beside it under a
// name that it does not read. True: both are machines.
bool keep_if_read(const Places& places) try {
  machine::load_machine(places.machine.string());
  return true;
} catch (const InputError& error) {
  const std::string fault = rename_with({places.gpu, places.machine}, ".refused");
  std::cerr << "trainscope: what was measured makes no machine: " << error.what() << "; "
            << (fault.empty() ? "both files are kept under names that end in .refused; measure "
                                "again on an idle GPU, or mend them and take the ending off"
                              : fault)
            << "\n";
  return false;
}

void print_products(const cuda::Calibration& calibration) {
  if (calibration.products.empty()) return;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add({"product", "m x n x k", "time", "rate"});
  for (const cuda::ProductPoint& point : calibration.products)
    table.add({std::string(machine::name_of(program::gemm_type(point.type))),
               fmt::format("{} x {} x {}", point.m, point.n, point.k), format_nanos(point.nanos),
               fmt::format("{:.1f} TFLOP/s", point.flops_per_s() / 1e12)});
  std::cout << table.text() << "\n";
}

// Nothing is simulated in place of a measurement.
constexpr const char* kInstead =
    "calibrating measures a GPU of this machine, and `trainscope machines` lists those that were "
    "described by others";

}  // namespace

int calibrate_command(const CalibrateOptions& options) {
  const std::string asked = checked_id(options.id);
  const cuda::OpenDevice device = cuda::open_own_device(kInstead);
  const cuda::DeviceFacts facts = device->facts();
  const std::string id = asked.empty() ? cuda::id_of_device(facts.name) : asked;
  const Places places = places_of(options, id);
  const auto known = analysis::machine_of_device(facts);
  std::string clocks;  // before the last part: an idle GPU has lower ones
  const bool is_asset = options.out.empty();
  const auto write = [&](const cuda::Calibration& measured, const Places& to) {
    const cuda::CalibrationFiles files =
        cuda::machine_files(measured, {analysis::today(), "trainscope calibrate", clocks}, id,
                            known, is_asset ? id : "../gpus/" + id + ".toml");
    write_file(to.gpu, files.gpu);
    write_file(to.machine, files.machine);
  };
  // What is measured by then, should it be cut short; the catalogue does not read such names. Of a
  // GPU that no file describes there is too little for a file at first.
  const Places parts{places.gpu.string() + ".part", places.machine.string() + ".part"};
  const auto keep = [&](const cuda::Calibration& so_far) {
    try {
      write(so_far, parts);
    } catch (const MissingError&) {
    }
  };
  const cuda::Calibration calibration =
      cuda::calibrate(*device, {}, known ? known->gpu.fp16_flops_per_s : 0,
                      [&](std::string_view part, const cuda::Calibration& so_far) {
                        std::cerr << "measuring: " << part << "\n";
                        clocks = clocks_of(facts.name);
                        keep(so_far);
                      });
  write(calibration, places);
  if (const std::string fault = remove_parts({parts.gpu, parts.machine}); !fault.empty())
    std::cerr << "trainscope: " << fault << "\n";
  if (options.json) {
    std::cout << report::calibration_json(calibration) << "\n";
  } else {
    print_figures(calibration);
    print_products(calibration);
    std::cout << fmt::format(
        "A launch takes {} while kernels are traced, {} while everything is.\n",
        format_nanos(calibration.kernels_watched_launch_ns),
        format_nanos(calibration.watched_launch_ns));
    for (const std::string& sentence : calibration.left_out)
      std::cout << "not measured: " << sentence << "\n";
  }
  if (!keep_if_read(places)) return 1;
  std::cerr << "written: " << places.gpu.string() << ", " << places.machine.string() << "\n";
  return 0;
}

}  // namespace trainscope::cli
