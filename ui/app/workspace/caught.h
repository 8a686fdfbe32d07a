// What a person is told of an exception that ended work beside the window.
#pragma once

#include <string>

namespace trainscope::ui {

// Of the one that is being handled, in one sentence: to be called in a `catch` alone.
std::string caught_sentence();

}  // namespace trainscope::ui
