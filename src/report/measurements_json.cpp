#include "report/measurements_json.h"

#include <nlohmann/json.hpp>

#include "cuda/calibration/machine_files.h"
#include "program/products.h"

namespace trainscope::report {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

// Mean size, mean with its sign, and worst; of one metric, or of all.
Json summary_of(const std::string& name, const std::vector<double>& errors) {
  const analysis::ErrorSummary sum = analysis::summarise_errors(errors);
  return {{"metric", name},
          {"checks", sum.count},
          {"mean_error", sum.mean_size},
          {"mean_signed", sum.mean},
          {"worst", sum.worst}};
}

Json summaries_of(const std::vector<analysis::ValidationRow>& rows) {
  Json summaries = Json::array();
  const auto add = [&](const std::string& name, const analysis::Metric* metric) {
    const std::vector<double> errors = analysis::errors_of(rows, metric);
    if (!errors.empty()) summaries.push_back(summary_of(name, errors));
  };
  for (const analysis::Metric* metric : analysis::metrics_of(rows)) add(metric->name, metric);
  add("all", nullptr);
  return summaries;
}

}  // namespace

std::string measured_validation_json(const analysis::Validation& validation) {
  Json rows = Json::array();
  for (const analysis::ValidationRow& row : validation.rows) {
    Json one{{"program", row.program},
             {"metric", row.metric->name},
             {"unit", row.metric->unit},
             {"simulated", row.simulated},
             {"measured", row.measured}};
    if (row.error) one["error"] = *row.error;
    rows.push_back(std::move(one));
  }
  Json tracing = Json::array();
  for (const auto& [program, longer] : validation.tracing)
    tracing.push_back({{"program", program}, {"longer", longer}});
  return dumped({{"machine", validation.machine},
                 {"origin", validation.origin},
                 {"caveat", validation.caveat},
                 {"checks", std::move(rows)},
                 {"summary", summaries_of(validation.rows)},
                 {"tracing", std::move(tracing)},
                 {"left_out", validation.left_out}});
}

std::string calibration_json(const cuda::Calibration& calibration) {
  Json figures = Json::array(), transfers = Json::array(), products = Json::array();
  for (const cuda::MeasuredFigure& figure : calibration.figures)
    figures.push_back({{"name", figure.name},
                       {"value", figure.value},
                       {"unit", cuda::figure_unit(figure.name)},
                       {"spread", figure.spread},
                       {"count", figure.count},
                       {"how", figure.how}});
  for (const cuda::TransferPoint& point : calibration.transfers)
    transfers.push_back({{"what", point.what},
                         {"bytes", point.bytes},
                         {"time", point.nanos},
                         {"spread", point.spread}});
  for (const cuda::ProductPoint& point : calibration.products)
    products.push_back({{"type", std::string(machine::name_of(program::gemm_type(point.type)))},
                        {"m", point.m},
                        {"n", point.n},
                        {"k", point.k},
                        {"time", point.nanos},
                        {"spread", point.spread}});
  return dumped({{"device", calibration.facts.name},
                 {"driver", calibration.facts.driver},
                 {"figures", std::move(figures)},
                 {"transfers", std::move(transfers)},
                 {"products", std::move(products)},
                 {"kernels_watched_launch", calibration.kernels_watched_launch_ns},
                 {"watched_launch", calibration.watched_launch_ns},
                 {"left_out", calibration.left_out}});
}

}  // namespace trainscope::report
