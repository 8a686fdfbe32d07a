#include <cstdlib>

#include "ui/app/window/handover.h"
#include "ui/app/window/page.h"

namespace trainscope::ui {

void hand_over(const std::filesystem::path& file) {
  page_download(file.c_str());
}

// trainscope:1?lesson=… as https://…/?lesson=…
std::string shared_link(const std::string& link) {
  char* const letters = page_address();
  std::string address = letters;
  std::free(letters);
  const std::size_t asks = link.find('?');
  return asks == link.npos ? address : address + link.substr(asks);
}

}  // namespace trainscope::ui
