// Exponentials, logarithms, error functions and hyperbolic tangents a vector at a time.
//
// A loop that calls std::exp, std::log, std::erf or std::tanh on floats, and nothing that keeps it
// from being vectorised, calls glibc's libmvec instead: at most 4 units in the last place from the
// exact value (glibc manual, "Errors in Math Functions"); infinities and NaNs as in the plain
// functions. glibc offers this only where all of -ffast-math is on; the declarations here are the
// same without it. Other compilers and libraries call the plain functions. So the last places of a
// value may depend on where it stands in its array.
#pragma once

#include <cmath>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
extern "C" {
__attribute__((__simd__("notinbranch"))) float expf(float) noexcept;
__attribute__((__simd__("notinbranch"))) float logf(float) noexcept;
__attribute__((__simd__("notinbranch"))) float erff(float) noexcept;
__attribute__((__simd__("notinbranch"))) float tanhf(float) noexcept;
}
#endif
#endif
