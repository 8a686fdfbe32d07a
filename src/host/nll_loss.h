// Negative log-likelihood: torch.nn.functional.nll_loss, reduction = "mean". After log_softmax.h it
// makes torch.nn.functional.cross_entropy.
//
// log_p [rows, classes], targets [rows]:
//   loss = -mean over rows of log_p[r, target];  dlog_p[r, c] = -[c = target] · dloss / rows.
// Rows whose target is kIgnoredTarget (targets.h) count nowhere and have a gradient of 0; if all
// are such, the loss is NaN, as in PyTorch. Error: one rounding of a sum in FP64, one of a
// quotient.
#pragma once

#include "host/targets.h"
#include "host/views.h"

namespace trainscope::host {

// `loss` is one value. Both throw InputError for a target that is no class, naming the row.
void nll_loss_forward(const MatrixShape& shape, Values log_p, Targets targets, Results loss);

// `dlog_p` is written. `dloss` is the gradient of the loss: 1, or the scale of a gradient
// scaler, or 1 / the number of accumulated batches.
void nll_loss_backward(const MatrixShape& shape, Targets targets, float dloss, Results dlog_p);

}  // namespace trainscope::host
