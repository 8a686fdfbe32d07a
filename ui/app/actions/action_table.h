// What each action of action_list.h does to the application.
#pragma once

#include <string_view>
#include <vector>

namespace trainscope::ui {

class Application;

struct Binding {
  std::string_view id;
  bool (*enabled)(const Application&);
  void (*run)(Application&);
};

// One for each action, in no particular order.
const std::vector<Binding>& bindings();
const Binding* find_binding(std::string_view id);

}  // namespace trainscope::ui
