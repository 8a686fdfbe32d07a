// Saved runs as a person makes and opens them.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "support/sanitized.h"
#include "support/skip.h"
#include "support/traces.h"

using nlohmann::json;
using namespace trainscope::test;

TEST_CASE("every lesson saved and opened prints, reports and traces as it did when it was run") {
  const Folder folder;
  const json lessons = json::parse(run("lessons --json").out)["lessons"];
  // A sanitizer needs not see the same code run for every lesson.
  constexpr std::size_t kEvery = kSanitized ? 5 : 1;
  for (std::size_t i = 0; i < lessons.size(); i += kEvery) {
    const json& lesson = lessons[i];
    const std::string id = lesson["id"], saved = folder.file(id + ".tsrun");
    INFO(id);
    const Result ran = run("run " + id + " --save " + saved + " --html " + folder.file("ran.html") +
                           " --trace " + folder.file("ran.json"));
    REQUIRE(ran.code == 0);
    const Result opened =
        run("run " + saved + " --save " + folder.file("again.tsrun") + " --html " +
            folder.file("opened.html") + " --trace " + folder.file("opened.json"));
    REQUIRE(opened.code == 0);
    CHECK(opened.out == ran.out);
    CHECK(read(folder.file("opened.html")) == read(folder.file("ran.html")));
    CHECK(read(folder.file("opened.A.json")) == read(folder.file("ran.A.json")));
    CHECK(read(folder.file("opened.B.json")) == read(folder.file("ran.B.json")));
    CHECK(read(folder.file("again.tsrun")) == read(saved));
    CHECK(run("run " + saved + " --json").out == run("run " + id + " --json").out);
    CHECK(run("run " + saved + ":B --series time.step").out ==
          run("run " + saved + " --series time.step")
              .out.substr(run("run " + saved + ":A --series time.step").out.size()));
  }
  if (kSanitized) TRAINSCOPE_SKIP("of five lessons one was enough under a sanitizer");
}

TEST_CASE("a saved run opens without asking the catalogue, and is never run again") {
  const Folder folder;
  const std::string machine = folder.file("mine.toml"), saved = folder.file("r.tsrun");
  std::ofstream(machine) << "base = \"t4-1\"\nname = \"Mine\"\n";
  const Result ran = run("run --set workload=copy --machine " + machine + " --save " + saved);
  REQUIRE(ran.code == 0);
  std::filesystem::remove(machine);
  const Result opened = run("run " + saved);
  CHECK(opened.code == 0);
  CHECK(opened.out == ran.out);
  for (const char* flag : {"--set copy.count=2", "--machine t4-1", "--steps 3", "--seed 1"})
    refuses("run " + saved + " " + flag, 2, "is a run that is over");
}

TEST_CASE("an imported trace saved and opened says the same") {
  if (!real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const Folder folder;
  const std::string trace = (real_traces_folder() / "three-streams-events.json.gz").string();
  const std::string saved = folder.file("i.tsrun");
  const Result imported = run("import " + trace + " --save " + saved);
  REQUIRE(imported.code == 0);
  const Result opened = run("run " + saved);
  CHECK(opened.out == imported.out);
  CHECK(json::parse(run("run " + saved + " --json").out) ==
        json::parse(run("import " + trace + " --json").out));
}

TEST_CASE("files that are no saved runs, or no longer whole, are refused with one sentence") {
  const Folder folder;
  const std::string saved = folder.file("r.tsrun"), bad = folder.file("bad.tsrun");
  REQUIRE(run("run --set workload=copy --save " + saved).code == 0);
  const std::string bytes = read(saved);
  const auto with = [&](const std::string& content) {
    std::ofstream(bad, std::ios::binary) << content;
    return bad;
  };
  for (const char* command : {"run ", "compare pinned-vs-pageable ", ""}) {
    INFO(command);
    refuses(command + with(""), 2, "is not a saved run");
    refuses(command + with("text"), 2, "is not a saved run");
    refuses(command + with(bytes.substr(0, 100)), 2, "is damaged");
    refuses(command + with(bytes + "x"), 2, "is damaged");
    std::string newer = bytes;
    newer[8] = 9;
    refuses(command + with(newer), 2, "open it with a newer Trainscope");
    refuses(command + folder.file("none.tsrun"), 2, "there is no such file");
  }
  refuses("run " + saved + " --executor cuda", 2, "--executor would change it");
  refuses("run " + saved + ":C", 2, "holds no run C; it holds A");
  refuses("import " + saved, 2, "is a saved run, not a trace");
  refuses(saved, 3, "");  // opens, and there is no display
}
