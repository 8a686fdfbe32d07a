// What a program's operations are to the machine: units of arithmetic, matrix products.
#pragma once

#include <optional>

#include "machine/gemm_tiles.h"
#include "program/program.h"

namespace trainscope::program {

// FP32 for what is no type of a product.
machine::GemmType gemm_type(ElementType type);

// The unit that an operation's arithmetic runs on.
machine::Math math_of(const Operation& operation, const machine::Gpu& gpu);

// How a product is cut. What torch.compile launches has sides of which rows begin at
// multiples of 16 bytes, padded where that is the quicker by a tenth at least, as Inductor measures
// (shape_padding, on by default: torch/_inductor/fx_passes/pad_mm.py). What it copies for that is
// left out: it becomes part of the kernels around it, but for a weight.
machine::GemmPlan product_plan(const Operation& operation, const machine::Gpu& gpu);

// The tiles that the operation's blocks compute; nothing for what is no plain product C = A B.
std::optional<machine::GemmPlan> tiles_of(const Operation& operation, const machine::Gpu& gpu);

}  // namespace trainscope::program
