#include "kernels/divisor.cuh"

#include <catch2/catch.hpp>

using trainscope::kernels::Divisor;

TEST_CASE("a divisor's quotients and rests are division's, for numbers of any size") {
  constexpr std::size_t kSmall = Divisor::kSmall;
  for (const std::size_t by :
       {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{56},
        std::size_t{641}, std::size_t{50257}, std::size_t{1} << 20U, kSmall / 2 + 1, kSmall - 1,
        kSmall, 3 * kSmall + 5}) {
    const Divisor divisor(by);
    for (const std::size_t near : {std::size_t{0}, by, 2 * by, 17 * by, kSmall / by * by, kSmall,
                                   std::size_t{1} << 32U, std::size_t{1} << 45U}) {
      for (std::size_t number = near < 3 ? 0 : near - 3; number < near + 4; ++number) {
        CHECK(divisor.split(number).quotient == number / by);
        CHECK(divisor.split(number).rest == number % by);
        if (number >= kSmall || by >= kSmall) continue;
        const auto narrow = static_cast<std::uint32_t>(number);
        CHECK(divisor.quotient(narrow) == number / by);
        CHECK(divisor.split(narrow).rest == number % by);
      }
    }
  }
}
