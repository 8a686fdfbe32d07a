// Softmax and cross-entropy in one: torch.nn.functional.cross_entropy, reduction = "mean". Programs
// have them in two (log_softmax.h, nll_loss.h); kernels/cross_entropy.h is held against this.
//
// logits [rows, classes], targets [rows].
//   loss = mean over rows of (log Σ_c exp x[r, c] - x[r, target]);
//   dx[r, c] = (softmax(x)[r, c] - [c = target]) · dloss / rows.
// A row whose target is kIgnoredTarget (targets.h) counts nowhere: not in the
// sum, not in the number of rows, and its gradient is 0; if all are such, the loss is NaN, as in
// PyTorch. Error: the loss within 2 units in its last place (sums in FP64); a gradient within a few
// units in the last place of dloss / rows.
#pragma once

#include "host/targets.h"
#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

// `statistics`, 2 · rows values, keeps each row's maximum and the logarithm of its sum for
// backward. Throws InputError for a target that is no class, naming the row.
float cross_entropy_forward(const MatrixShape& shape, Values logits, Targets targets,
                            Results statistics, const Workers& workers = {});

// In place: `logits` become their gradients. `dloss` is the gradient of the loss: 1, or the scale
// of a gradient scaler, or 1 / the number of accumulated batches.
void cross_entropy_backward(const MatrixShape& shape, Results logits, Targets targets,
                            Values statistics, float dloss, const Workers& workers = {});

}  // namespace trainscope::host
