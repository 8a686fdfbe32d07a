// What knobs are set to, as JSON; of nlohmann's types either one.
#pragma once

#include <variant>

#include "program/config.h"

namespace trainscope::analysis {

template <typename Json>
Json value_json(const program::Value& value) {
  return std::visit([](const auto& one) { return Json(one); }, value);
}

// By the knobs' names, those alone that are set.
template <typename Json>
Json config_json(const program::Config& config) {
  Json json = Json::object();
  for (const auto& [name, value] : config.values()) json[name] = value_json<Json>(value);
  return json;
}

}  // namespace trainscope::analysis
