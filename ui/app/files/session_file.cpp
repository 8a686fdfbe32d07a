#include "ui/app/files/session_file.h"

#include "base/error.h"
#include "base/files.h"
#include "scenario/link.h"

namespace trainscope::ui {
namespace {

constexpr std::size_t kMostBytes = 16'384;

}  // namespace

SessionFile::SessionFile(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  file_ = folder / "open.txt";
  std::error_code ignored;
  if (!std::filesystem::exists(file_, ignored)) return;
  try {
    const std::string text = read_file(file_, kMostBytes);
    if (text.starts_with(scenario::kLinkBegins)) left_behind_ = text.substr(0, text.find('\n'));
  } catch (const Error&) {
    // What cannot be read was not left behind.
  }
}

void SessionFile::keep(const std::string& link) {
  if (file_.empty() || link == kept_) return;
  kept_ = link;
  if (link.empty()) return close();
  write_file(file_, link + "\n");
}

void SessionFile::close() {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

}  // namespace trainscope::ui
