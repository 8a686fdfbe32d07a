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
                            Catch::Contains("0 of 3 points") && Catch::Contains("skipped") &&
                            Catch::Contains("About as long: the link decides"));
  const json data = json::parse(run("grade --json " + folder.file("ada.json")).out);
  REQUIRE(data["grades"].size() == 1);
  CHECK(data["grades"][0]["of"] == 3);
  CHECK(data["grades"][0]["marks"][0]["mark"] == "wrong");
  CHECK(data["grades"][0]["marks"][0]["counts"] == false);
  CHECK_THAT(table.out, Catch::Contains("wrong, no point") &&
                            Catch::Contains("Predictions are guesses and count nothing"));
  CHECK_THAT(run("grade --count-predictions " + folder.file("ada.json")).out,
             Catch::Contains("0 of 4 points") && !Catch::Contains("no point"));
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
  const std::string counted = what + " --count-predictions";
  const json data = json::parse(run(counted + " --json --csv " + folder.file("class.csv")).out);
  REQUIRE(data["grades"].size() == 4);
  for (std::size_t i = 0; i < 4; ++i)  // in the order of the files
    CHECK(data["grades"][i]["student"] == "S" + std::to_string(i + 1));
  int right = 0;
  for (const json& grade : data["grades"]) right += grade["points"].get<int>();
  CHECK(right == 1);  // exactly one option is right
  CHECK_THAT(read(folder.file("class.csv")),
             Catch::StartsWith("file,student,lesson,seed,points,of,score") &&
                 Catch::Contains(",1,4,0.25,"));
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

TEST_CASE("a later attempt that is not finished takes nothing from the finished one") {
  const Folder folder;
  std::filesystem::create_directory(folder.file("class"));
  int option = 1;  // the right one
  for (; option < 4; ++option) {
    write(folder.file("try.json"), answers("Ada", option));
    if (run("grade --count-predictions --pass 0.2 " + folder.file("try.json")).code == 0) break;
  }
  write(folder.file("class/pinned-vs-pageable.json"), answers("Ada", option));
  write(folder.file("class/pinned-vs-pageable.unfinished.json"), answers("Ada", option % 4 + 1));
  const std::string book = folder.file("book.csv");
  const std::string how = " --count-predictions --pass 0.2 --gradebook " + book;
  const Result whole = run("grade --json " + folder.file("class") + how);
  CHECK(whole.code == 0);
  CHECK(json::parse(whole.out)["grades"].size() == 1);
  CHECK_THAT(whole.err, Catch::Contains("1 file left out, of later attempts"));
  CHECK(read(book) == "name,pinned-vs-pageable,total\r\nAda,1,1\r\n");
  CHECK(run("grade " + folder.file("class/*.json") + how).code == 0);
  refuses("grade " + folder.file("class/pinned-vs-pageable.unfinished.json"), 2,
          "only attempts that are not finished");
}

TEST_CASE("grade writes a gradebook of the roster, and says who is missing and who is unknown") {
  const Folder folder;
  std::filesystem::create_directory(folder.file("class"));
  write(folder.file("class/1.json"), answers("ada", 1));
  write(folder.file("class/2.json"), answers("Bobb", 2));
  write(folder.file("roster.csv"), "name,id,email\nAda,17,a@x.org\nBob,4,b@x.org\n");
  const std::string book = folder.file("book.csv");
  const Result result = run("grade " + folder.file("class") + " --gradebook " + book +
                            " --roster " + folder.file("roster.csv"));
  CHECK(result.code == 0);
  CHECK(read(book) ==
        "name,id,email,pinned-vs-pageable,total\r\nAda,17,a@x.org,0,0\r\nBob,4,b@x.org,,\r\n");
  CHECK_THAT(result.err, Catch::Contains("2.json: Bobb is not on the roster (did you mean Bob?)") &&
                             Catch::Contains("1 of 2 students have no file: Bob"));
  refuses("grade " + folder.file("class") + " --roster " + folder.file("roster.csv"), 2,
          "add --gradebook");
  refuses("grade " + folder.file("class") + " --gradebook b.html", 2, "--gradebook writes no file");
}

TEST_CASE("a lesson that is no shipped one is found in --lessons, wherever lessons are named") {
  const Folder folder;
  const auto lessons = folder.file("mine"), handed_in = folder.file("class");
  std::filesystem::create_directory(lessons);
  std::filesystem::create_directory(handed_in);
  std::string text =
      read(std::string(TRAINSCOPE_SOURCE_DIR) + "/scenarios/pinned-vs-pageable.toml");
  const std::string id = "id = \"pinned-vs-pageable\"";
  text.replace(text.find(id), id.size(), "id = \"find-unused\"");
  write(lessons + "/find-unused.toml", text);
  write(handed_in + "/a.json", R"({"format": 1, "lesson": "find-unused", "steps": []})");
  refuses("grade " + handed_in, 2, "there is no lesson find-unused");
  const std::string named = " --lessons " + lessons;
  CHECK_THAT(run("grade " + handed_in + named).out, Catch::Contains("0 of 3 points"));
  CHECK_THAT(run("lessons" + named).out, Catch::Contains("find-unused"));
  CHECK(run("run find-unused" + named).code == 0);
  CHECK(run("handout find-unused" + named + " --out " + folder.file("h.html")).code == 0);
  refuses("run find-unused", 2, "there is no lesson find-unused");
  for (const char* command : {"lessons", "run find-unused"})
    refuses(std::string(command) + " --lessons " + folder.file("none"), 2,
            "there is no such folder of lessons");
  refuses("grade " + handed_in + " --lessons " + folder.file("none"), 2, "no such folder");
  write(handed_in + "/find-unused.toml", text);
  CHECK(run("grade " + handed_in).code == 0);
}

TEST_CASE("grade refuses what is not there") {
  const Folder folder;
  refuses("grade " + folder.file("no.json"), 2, "no.json");
  std::filesystem::create_directory(folder.file("empty"));
  refuses("grade " + folder.file("empty"), 2, "no answers file");
  refuses("grade", 2, "ANSWERS");
}
