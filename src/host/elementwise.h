// Arithmetic on values one by one: torch.add, maximum, mul, pow, fill_. Each result has one
// rounding; a result may be an input.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

// sum[i] = a[i] + b[i]: a residual connection; its gradient goes to both unchanged. Where `sum` is
// `a`, b is accumulated.
void add(Values a, Values b, Results sum, const Workers& workers = {});

// The larger of a[i] and b[i]; a NaN where one is.
void larger(Values a, Values b, Results most, const Workers& workers = {});

// y[i] = a[i] · b[i].
void product(Values a, Values b, Results y, const Workers& workers = {});

// y[i] = factor · x[i].
void scale(Values x, float factor, Results y, const Workers& workers = {});

// y[i] = x[i] to the power `exponent`.
void power(Values x, float exponent, Results y, const Workers& workers = {});

void fill(Results values, float value, const Workers& workers = {});

}  // namespace trainscope::host
