// Convolution: torch.nn.functional.conv2d, with stride, padding, dilation and groups.
//
// x [batch, channels, height, width], w [outputs, channels / groups, kernel height, kernel width],
// b [outputs]; y[n, o, i, j] = b[o] + Σ w[o, c, u, v] x[n, c, i·s - p + u·d, j·s - p + v·d], where
// x is 0 outside (PyTorch calls the cross-correlation so). In channels-last memory x, y and w have
// their channels innermost: w is [outputs, kernel height, kernel width, channels / groups]. Method:
// the windows are laid out as a matrix (im2col, Chellapilla, Puri, Simard 2006) and multiplied by
// BLAS, image by image; a kernel of one pixel without stride needs no laying out. The images are
// dealt to at most kShares shares of the workspace, which workers take one each; in dw the shares
// are summed at the end. Error: that of a product of channels/groups · kernel terms (linear.h); dw
// sums over all pixels.
#pragma once

#include <cstddef>

#include "host/image.h"
#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

struct Conv2d {
  ImageShape input;
  std::size_t outputs = 0;
  std::size_t groups = 1;
  Window vertical;
  Window horizontal;

  ImageShape output() const;
  std::size_t weights() const;  // how many there are
  // Values needed by forward and by backward.
  std::size_t workspace() const;
};

// Throws InputError where channels and groups do not divide or the kernel does not fit the image.
void require_fit(const Conv2d& conv);

// `bias` may be empty.
void conv2d_forward(const Conv2d& conv, Values x, Values w, Values bias, Results y,
                    Results workspace, const Workers& workers = {});

// What is empty is not computed.
struct Conv2dGradients {
  Results dx;  // written, never added to
  Results dw;
  Results db;
};

// `x` may be empty where dw is, `w` where dx is.
void conv2d_backward(const Conv2d& conv, Values x, Values w, Values dy,
                     const Conv2dGradients& gradients, Results workspace, Into into,
                     const Workers& workers = {});

}  // namespace trainscope::host
