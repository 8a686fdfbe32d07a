// The sweep of a lesson: how it is read, and what is demanded of it.
#include "scenario/lesson_sweep.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "scenario/check_sweep.h"

using namespace trainscope;

namespace {

// The lesson l2-fits with one edit, under its own name in a folder that is removed.
class Edited {
 public:
  Edited(const std::string& from, const std::string& to)
      : folder_(std::filesystem::temp_directory_path() /
                ("trainscope-sweep-" + std::to_string(::getpid()))) {
    std::string text = read_file(home_folder() / "scenarios" / "l2-fits.toml", 1 << 20);
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    write_file(file(), text);
  }
  ~Edited() { std::filesystem::remove_all(folder_); }
  std::filesystem::path file() const { return folder_ / "l2-fits.toml"; }

 private:
  std::filesystem::path folder_;
};

std::string error_of(const std::string& from, const std::string& to) {
  const Edited edited(from, to);
  try {
    scenario::load_lesson(edited.file());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string findings_of(const std::string& from, const std::string& to) {
  const Edited edited(from, to);
  std::string all;
  for (const auto& finding : scenario::check_sweep(scenario::load_lesson(edited.file())))
    all += finding.sentence + "\n";
  return all;
}

constexpr const char* kRange = "from = \"1 MiB\"\nto = \"1 GiB\"";

}  // namespace

TEST_CASE("a lesson's sweep is read: its knob, its values, its metric, what is expected of it") {
  const scenario::Lesson lesson = scenario::find_lesson("l2-fits");
  REQUIRE(lesson.sweep);
  CHECK(lesson.sweep->axis.knob->name == "kernel.footprint");
  CHECK(lesson.sweep->axis.values.size() == 11);
  CHECK(lesson.sweep->metric->name == "time.step");
  REQUIRE(lesson.sweep->expectations.size() == 2);
  CHECK(lesson.sweep->expectations[0].a == program::Value(std::int64_t{1} << 20));
  const auto values_with = [](const char* values) {
    const Edited edited(kRange, values);
    return scenario::load_lesson(edited.file()).sweep->axis.values.size();
  };
  CHECK(values_with("values = [\"1 MiB\", 3000000, \"1 GiB\"]") == 3);
  CHECK(values_with("from = \"1 MiB\"\nto = \"1 GiB\"\ntimes = 4") == 6);
  CHECK(values_with("from = \"1 MiB\"\nto = \"8 MiB\"\nplus = \"1 MiB\"") == 8);
}

TEST_CASE("a wrong sweep is refused at its place, with what to write") {
  const auto contains = [](const std::string& text) { return Catch::Contains(text); };
  const char* knob = "knob = \"kernel.footprint\"";
  CHECK_THAT(error_of(knob, "knob = \"kernel.footprints\""),
             contains("did you mean kernel.footprint?"));
  CHECK_THAT(error_of("metric = \"time.step\"", "metric = \"time.stepp\""),
             contains("did you mean time.step?"));
  CHECK_THAT(error_of("metric = \"time.step\"\n", ""), contains("needs metric"));
  CHECK_THAT(error_of(kRange, ""), contains("has values = [...], or from and to"));
  CHECK_THAT(error_of(kRange, "values = [\"1 MiB\"]"), contains("needs two values"));
  CHECK_THAT(error_of(kRange, "values = 7"), contains("is not a list"));
  CHECK_THAT(error_of(kRange, "values = [\"1 MiB\", \"many\"]"), contains("is not a size"));
  CHECK_THAT(error_of(kRange, "values = [1, 2]\nfrom = 1"), contains("not both"));
  CHECK_THAT(error_of(kRange, "from = 1\nto = 100\nplus = 1"), contains("at most 24 values"));
  CHECK_THAT(error_of(kRange, "from = 1\nto = 100\nplus = 1\ntimes = 2"), contains("not both"));
  CHECK_THAT(error_of("[sweep]", "[sweep]\nshow = \"B\""), contains("has no key show"));
  CHECK_THAT(error_of("a = \"1 MiB\"", "a = \"pinned\""), contains("is not a size"));
  CHECK_THAT(error_of("panel = \"sweep\"", "panel = \"sweeps\""), contains("did you mean sweep?"));
}

TEST_CASE("a step points at a sweep only where there is one") {
  const std::string text = read_file(home_folder() / "scenarios" / "l2-fits.toml", 1 << 20);
  const auto begin = text.find("[sweep]"), end = text.find("[[step]]");
  CHECK_THAT(error_of(text.substr(begin, end - begin), ""),
             Catch::Contains("points at the sweep, and the lesson has none"));
}

TEST_CASE("the checks of a sweep find what would mislead a learner") {
  const auto contains = [](const std::string& text) { return Catch::Contains(text); };
  CHECK(findings_of("notes = ", "notes = ").empty());
  CHECK_THAT(findings_of("metric = \"time.step\"", "metric = \"loss.final\""),
             contains("has no curve of loss.final"));
  CHECK_THAT(findings_of(", panel = \"sweep\"", ""), contains("no step shows the sweep"));
  CHECK_THAT(findings_of("kind = \"scene\"", "kind = \"scene\"\nfocus = { panel = \"sweep\" }"),
             contains("shows the sweep before the lesson has run"));
  CHECK_THAT(findings_of("sim = { min = 0.95, max = 1.05 }", "sim = { min = 1.5 }"),
             contains("with kernel.footprint = 1 MiB in A and 16 MiB in B, but it is"));
}
