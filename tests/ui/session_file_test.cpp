// What is opened again after a window that was not closed.
#include "ui/app/files/session_file.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

constexpr const char* kLink = "trainscope:1?lesson=pinned-vs-pageable&step=4";

}  // namespace

TEST_CASE("what was open is there again after a crash, and not after the window was closed") {
  const test::TemporaryFolder folder;
  {
    SessionFile session(folder.path());
    CHECK(session.left_behind().empty());
    session.keep("trainscope:1?lesson=first");
    session.keep(kLink);
  }
  SessionFile next(folder.path());
  CHECK(next.left_behind() == kLink);
  next.keep(kLink);
  next.close();
  CHECK(SessionFile(folder.path()).left_behind().empty());
}

TEST_CASE("the shelf leaves nothing behind") {
  const test::TemporaryFolder folder;
  SessionFile session(folder.path());
  session.keep(kLink);
  session.keep("");
  CHECK(SessionFile(folder.path()).left_behind().empty());
}

TEST_CASE("a session file that is nonsense is as good as none") {
  const test::TemporaryFolder folder;
  for (const std::string& text :
       {std::string("\x01\x02\xFF"), std::string(100'000, 'x'), std::string()}) {
    write_file(folder.path() / "open.txt", text);
    CHECK(SessionFile(folder.path()).left_behind().empty());
  }
  std::filesystem::remove(folder.path() / "open.txt");
  std::filesystem::create_directory(folder.path() / "open.txt");
  CHECK(SessionFile(folder.path()).left_behind().empty());
}

TEST_CASE("a session that cannot be kept says so once for each link") {
  const test::TemporaryFolder folder;
  write_file(folder.path() / "file", "no folder");
  SessionFile session(folder.path() / "file");
  CHECK_THROWS_AS(session.keep(kLink), Error);
  CHECK_NOTHROW(session.keep(kLink));
  SessionFile nowhere{std::filesystem::path()};
  CHECK_NOTHROW(nowhere.keep(kLink));
}
