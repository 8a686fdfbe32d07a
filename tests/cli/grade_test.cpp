// `trainscope grade`: one learner's answers, a class's, and what cannot be graded.

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.h"

using namespace trainscope::test;
using nlohmann::json;

namespace {

void write(const std::string& file, const std::string& text) {
  std::ofstream(file) << text;
}

std::string answers(const std::string& student, int predicted) {
  return R"({"format": 1, "lesson": "pinned-vs-pageable", "student": ")" + student +
         R"(", "steps": [{"id": "predict", "option": )" + std::to_string(predicted) +
         R"(}, {"id": "say-it-back", "skipped": true}]})";
}

}  // namespace

TEST_CASE("grade shows each answer beside the right one") {
  const Folder folder;
  write(folder.file("ada.json"), answers("Ada", 1));
  const Result table = run("grade " + folder.file("ada.json"));
  CHECK(table.code == 0);
  CHECK_THAT(table.out, Catch::Contains("pinned-vs-pageable, Ada") &&
                            Catch::Contains("0 of 4 points") && Catch::Contains("skipped") &&
                            Catch::Contains("About as long: the link decides"));
  const json data = json::parse(run("grade --json " + folder.file("ada.json")).out);
  REQUIRE(data["grades"].size() == 1);
  CHECK(data["grades"][0]["of"] == 4);
  CHECK(data["grades"][0]["marks"][0]["mark"] == "wrong");
}

TEST_CASE("grade takes a class's folder, and one bad file holds up nobody") {
  const Folder folder;
  std::filesystem::create_directory(folder.file("class"));
  for (int option = 1; option <= 4; ++option) {
    std::string name = "S";
    name += std::to_string(option);
    write(folder.file("class/" + name + ".json"), answers(name, option));
  }
  const std::string what = "grade " + folder.file("class");
  const json data = json::parse(run(what + " --json --csv " + folder.file("class.csv")).out);
  REQUIRE(data["grades"].size() == 4);
  int right = 0;
  for (const json& grade : data["grades"]) right += grade["points"].get<int>();
  CHECK(right == 1);  // exactly one option is right
  CHECK_THAT(read(folder.file("class.csv")),
             Catch::StartsWith("file,student,lesson,seed,points,of,score"));
  CHECK(run(what + " --pass 0.2").code == 1);
  CHECK(run(what + " --pass 0").code == 0);
  refuses(what + " --pass nan", 2, "--pass: nan is no number from 0 to 1");
  refuses(what + " --csv class.html", 2, "--csv writes no file that ends in .html");
  CHECK_THAT(run(what).out, Catch::Contains("most common wrong answer"));
  write(folder.file("class/broken.json"), "{");
  const Result broken = run(what);
  CHECK(broken.code == 2);
  CHECK_THAT(broken.err, Catch::Contains("broken.json:1:") && Catch::Contains("not JSON"));
  CHECK_THAT(broken.out, Catch::Contains("S4"));
}

TEST_CASE("grade refuses what is not there") {
  const Folder folder;
  refuses("grade " + folder.file("no.json"), 2, "no.json");
  std::filesystem::create_directory(folder.file("empty"));
  refuses("grade " + folder.file("empty"), 2, "no answers file");
  refuses("grade", 2, "ANSWERS");
}
