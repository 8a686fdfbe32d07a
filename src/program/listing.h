// The PyTorch-like source of a program. Every command cites one of its lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainscope::program {

struct Listing {
  std::vector<std::string> lines;

  // Appends a line and returns its number, from 1.
  std::uint16_t add(std::string text) {
    lines.push_back(std::move(text));
    return static_cast<std::uint16_t>(lines.size());
  }
};

}  // namespace trainscope::program
