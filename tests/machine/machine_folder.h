// Machine files as tests write them, and the sentences with which they are refused.
#pragma once

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "machine/machine.h"

namespace trainscope::test {

class MachineFolder : public TemporaryFolder {
 public:
  // The sentence with which my.toml is refused, without the folder; "" when it is not.
  std::string refusal(const std::string& text) const { return refusal_of(write("my.toml", text)); }

  std::string refusal_of(const std::filesystem::path& file) const {
    try {
      machine::load_machine(file.string());
      return "";
    } catch (const InputError& error) {
      return without_folder(error.what());
    }
  }

  std::string without_folder(std::string sentence) const {
    const std::string prefix = (path() / "").string();
    for (auto at = sentence.find(prefix); at != std::string::npos; at = sentence.find(prefix))
      sentence.erase(at, prefix.size());
    return sentence;
  }
};

inline std::string shipped(const std::string& folder, const std::string& id) {
  constexpr std::size_t kMost = 1 << 20;  // bytes
  return read_file(home_folder() / "assets" / folder / (id + ".toml"), kMost);
}

inline std::string replaced(std::string text, const std::string& old, const std::string& with) {
  const auto at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), with);
}

// A shipped machine under the id that the tests use.
inline std::string my_machine() {
  return replaced(shipped("machines", "t4-1"), "\"t4-1\"", "\"my\"");
}

// A file that changes one line of a shipped machine; the line is its third.
inline std::string with_host(const std::string& line) {
  return "base = \"t4-1\"\n[host]\n" + line + "\n";
}

}  // namespace trainscope::test
