// The runner of every test program. Catch2 version 2 knows no skipped test, so it is counted here.
// Exit: 0 all passed, 77 something was skipped and nothing failed, 1 something failed.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <cstddef>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

#include "support/skip.h"

namespace {

struct Tally {
  std::set<std::string> skipped;
  std::size_t passed = 0;
  std::size_t failed = 0;
};

Tally& tally() {
  static Tally counts;
  return counts;
}

struct TallyListener : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (!stats.totals.testCases.allOk()) {
      ++tally().failed;
      tally().skipped.erase(stats.testInfo.name);
    } else if (!tally().skipped.contains(stats.testInfo.name)) {
      ++tally().passed;
    }
  }
};

}  // namespace

CATCH_REGISTER_LISTENER(TallyListener)

void trainscope::test::skip(std::string_view reason) {
  const std::string name = Catch::getResultCapture().getCurrentTestName();
  if (tally().skipped.insert(name).second) {
    std::cout << "skipped: " << name << ": " << reason << '\n';
  }
}

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int wrong = session.applyCommandLine(argc, argv); wrong != 0) return wrong;
  const bool failed = session.run() != 0;
  const Tally& counts = tally();
  // The form of this line is read by ./run test, which adds up the programs.
  std::cout << "cases: " << counts.passed << " passed, " << counts.skipped.size() << " skipped, "
            << counts.failed << " failed\n";
  if (failed) return 1;
  return counts.skipped.empty() ? 0 : 77;
}
