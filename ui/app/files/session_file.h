// What is open, kept on disk as a link while the window is open: when the window ends otherwise
// than by being closed, the next one opens it again.
#pragma once

#include <filesystem>
#include <string>

namespace trainscope::ui {

class SessionFile {
 public:
  // Keeps nothing where the folder is empty.
  explicit SessionFile(const std::filesystem::path& folder);

  // The link that a window left behind which was not closed; empty: there is none.
  const std::string& left_behind() const { return left_behind_; }

  // Writes the link where it is another one than before. Throws InputError when it cannot be
  // written; it is then tried again only for another link.
  void keep(const std::string& link);

  // The window is closed: nothing is to be opened again.
  void close();

 private:
  std::filesystem::path file_;
  std::string left_behind_;
  std::string kept_;
};

}  // namespace trainscope::ui
