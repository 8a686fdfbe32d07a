// The program as tests start it: what it prints, how it ends.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace trainscope::test {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "trainscope-cli-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

struct Result {
  int code = -1;
  std::string out;
  std::string err;
};

inline std::string read(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// With these variables in its environment: "RANK=1 WORLD_SIZE=2".
inline Result run_in(const std::string& environment, const std::string& arguments) {
  const Folder folder;
  const std::string out = folder.file("out"), err = folder.file("err");
  std::ostringstream command;
  command << "env -u DISPLAY -u WAYLAND_DISPLAY " << environment << " " TRAINSCOPE_BINARY " "
          << arguments << " >" << out << " 2>" << err << " </dev/null";
  const int status = std::system(command.str().c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(out), read(err)};
}

inline Result run(const std::string& arguments) {
  return run_in("", arguments);
}

// The sanitizer builds have no window.
inline bool has_window() {
  static const bool found = run("actions").code == 0;
  return found;
}

// Carries it out, saves it to the file and opens that: both say and report the same. The report.
inline std::string saved_and_opened(const std::string& arguments, const std::string& saved) {
  const Folder folder;
  const std::string before = folder.file("ran.html"), after = folder.file("opened.html");
  const Result ran = run(arguments + " --save " + saved + " --html " + before);
  REQUIRE(ran.code == 0);
  const Result opened = run("run " + saved + " --html " + after);
  CHECK(opened.code == 0);
  CHECK(opened.out == ran.out);
  CHECK(read(after) == read(before));
  return read(before);
}

// Ends with `code` and one sentence that contains `part`; prints nothing else.
inline void refuses(const std::string& arguments, int code, const std::string& part) {
  const Result result = run(arguments);
  INFO(arguments << "\n" << result.err);
  CHECK(result.code == code);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, Catch::Contains(part));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

}  // namespace trainscope::test
