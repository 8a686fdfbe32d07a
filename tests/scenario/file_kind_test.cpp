#include "scenario/file_kind.h"

#include <catch2/catch.hpp>

#include "base/files.h"
#include "base/temporary_folder.h"

using namespace trainscope;
using scenario::FileKind;
using scenario::kind_of;

TEST_CASE("what a file is, is told by its ending, and of .toml by what stands in it") {
  const test::TemporaryFolder folder;
  CHECK(kind_of(folder.write("a.tsrun", "")) == FileKind::kRun);
  CHECK(kind_of(folder.write("a.json", "{}")) == FileKind::kTrace);
  CHECK(kind_of(folder.write("a.json.gz", "")) == FileKind::kTrace);
  CHECK(kind_of(folder.write("notes.txt", "")) == FileKind::kOther);
  CHECK(kind_of(home_folder() / "scenarios" / "dp-vs-ddp.toml") == FileKind::kLesson);
  CHECK(kind_of(home_folder() / "scenarios" / "pinned-vs-pageable.de.toml") ==
        FileKind::kTranslation);
  CHECK(kind_of(home_folder() / "assets" / "machines" / "h200-8.toml") == FileKind::kMachine);
  CHECK(kind_of(home_folder() / "assets" / "published.toml") == FileKind::kPublished);
  CHECK(kind_of(home_folder() / "assets" / "published_errors.toml") == FileKind::kErrors);
}
