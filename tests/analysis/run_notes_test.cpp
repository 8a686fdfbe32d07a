// Notes on a run go through a saved file and back.
#include "analysis/runs/run_notes.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/runs/run_file.h"
#include "analysis/runs/run_head.h"
#include "trace/bytes.h"
#include "trace/trace_bytes.h"

using namespace trainscope;
using analysis::Run;
using analysis::RunNote;
using nlohmann::json;

namespace {

analysis::SavedRuns copies_with(std::vector<RunNote> notes) {
  program::Config config;
  config.set_text("workload=copy");
  auto run = std::make_shared<Run>(analysis::run_config("A", config));
  run->notes = std::move(notes);
  analysis::SavedRuns saved;
  saved.version = "1";
  saved.executor = "sim";
  saved.runs = {run};
  return saved;
}

// The content of a file whose head says `notes` of its run.
std::string content_with(const json& notes) {
  const analysis::SavedRuns saved = copies_with({});
  json head = json::parse(analysis::write_head(saved));
  head["runs"][0]["notes"] = notes;
  trace::ByteWriter out;
  out.text(head.dump());
  trace::save_trace(*saved.runs[0]->trace, out);
  return out.bytes();
}

}  // namespace

TEST_CASE("notes are saved with their run and come back in the order of time") {
  const RunNote late{0, 2000, 3000, "zweiter: größer"}, moment{1, 500, 500, "\"first\""};
  const auto saved = copies_with({moment, late});
  const std::string bytes = analysis::pack_runs(saved);
  const auto opened = analysis::unpack_runs(bytes, "t.tsrun");
  CHECK(opened.runs[0]->notes == std::vector<RunNote>{moment, late});
  CHECK(analysis::pack_runs(opened) == bytes);
  const auto swapped = analysis::unpack_runs(analysis::pack_runs(copies_with({late, moment})), "t");
  CHECK(swapped.runs[0]->notes == std::vector<RunNote>{moment, late});
}

TEST_CASE("a file without notes says nothing of them, as those from before there were any") {
  const auto saved = copies_with({});
  CHECK_FALSE(json::parse(analysis::write_head(saved))["runs"][0].contains("notes"));
  CHECK(analysis::unpack_runs(analysis::pack_runs(saved), "t").runs[0]->notes.empty());
}

TEST_CASE("damaged notes are refused with one sentence that names the file") {
  const auto refuses = [](const json& notes, const char* part) {
    INFO(notes.dump());
    CHECK_THROWS_WITH(analysis::read_runs_content(content_with(notes), "bad.tsrun"),
                      Catch::StartsWith("bad.tsrun: ") && Catch::Contains(part));
  };
  const json good = {{"lane", 0}, {"start", 0}, {"end", 5}, {"text", "x"}};
  const auto with = [&](const char* key, const json& value) {
    json bad = good;
    bad[key] = value;
    return json::array({good, bad});
  };
  CHECK_NOTHROW(analysis::read_runs_content(content_with(json::array({good})), "good.tsrun"));
  refuses("none", "its notes are damaged");
  refuses({1}, "one of its notes is damaged");
  refuses({{{"lane", 0}}}, "one of its notes is damaged");
  refuses(with("text", ""), "one of its notes is empty");
  refuses(with("text", 7), "one of its notes is damaged");
  refuses(with("text", std::string(analysis::kLongestNote + 1, 'x')), "too long");
  refuses(with("start", 6), "the time of one of its notes");
  refuses(with("end", INT64_MAX), "the time of one of its notes");
  refuses(with("start", 1e300), "out of range");
  refuses(with("lane", 999), "on a lane that run A does not have");
  refuses(with("lane", -1), "out of range");
}
