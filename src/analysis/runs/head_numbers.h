// The numbers of a saved run's head, checked as they are read.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trainscope::analysis::head {

using Json = nlohmann::json;

// All throw InputError, without a file's name, where the number is not such a one.
inline std::int64_t whole(const Json& json, std::int64_t least = 0,
                          std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  if (!json.is_number_integer() || json > most || json < least)
    throw InputError("a whole number in it is out of range");
  return json.get<std::int64_t>();
}

inline double real(const Json& json) {
  const double value = json.get<double>();
  if (!std::isfinite(value)) throw InputError("a number in it is not finite");
  return value;
}

inline double positive(const Json& json) {
  const double value = real(json);
  if (value < 0) throw InputError("a number in it is out of range");
  return value;
}

template <typename Enum>
Enum word(const Json& json, Enum last) {
  return static_cast<Enum>(whole(json, 0, static_cast<std::int64_t>(last)));
}

}  // namespace trainscope::analysis::head
