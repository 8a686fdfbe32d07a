// Whether the test program runs under a sanitizer, which makes it some ten times as slow.
#pragma once

// GCC and Clang each say in their way that one is on.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRAINSCOPE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRAINSCOPE_SANITIZED 1
#endif
#endif

namespace trainscope::test {

#ifdef TRAINSCOPE_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace trainscope::test
