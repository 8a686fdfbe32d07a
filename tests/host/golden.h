// What PyTorch gave for an operation (tests/golden/operations.py), and how far from it we may be.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "host/views.h"

// The distance is measured in units in the last place of the larger of |expected value| and the
// root mean square of the expected tensor: where a sum cancels, its error is that of its terms.
double worst_distance(trainscope::host::Values ours, trainscope::host::Values expected);
double worst_distance(trainscope::host::Values ours, std::span<const double> expected);

inline constexpr double kTimesAway = 3;
inline constexpr double kFloor = 1;

// One case of a file of tests/golden/operations.
struct GoldenCase {
  std::string operation;
  std::string name;
  std::map<std::string, double> numbers;
  std::map<std::string, std::vector<std::int64_t>> integers;
  std::map<std::string, std::vector<float>> tensors;
  std::map<std::string, std::vector<double>> exact;  // PyTorch's FP64, of what is an output
  std::map<std::string, double> away;  // of PyTorch's FP32 from that, in the same unit

  const std::vector<float>& operator[](const std::string& tensor) const {
    return tensors.at(tensor);
  }
  double number(const std::string& key, double otherwise) const;
  std::size_t count(const std::string& key) const;

  // Checks that `ours` is within `bound` of the tensor, and from PyTorch's FP64 not further than
  // kTimesAway times as far as PyTorch's FP32 is and kFloor more. With TRAINSCOPE_GOLDEN_REPORT set
  // in the environment it prints the distances as well.
  void check(const std::string& tensor, trainscope::host::Values ours, double bound) const;
};

std::vector<GoldenCase> golden_cases(const std::string& operation);
GoldenCase golden_case(const std::string& operation, const std::string& name);
