#include "ui/app/workspace/caught.h"

#include "base/error.h"
#include "base/shortage.h"

namespace trainscope::ui {
namespace {

constexpr const char* kOurs = "This is a fault of Trainscope's own: ";

}  // namespace

std::string caught_sentence() {
  try {
    throw;
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    const std::string lack = shortage(error);
    return lack.empty() ? std::string(kOurs) + error.what() : lack;
  } catch (...) {
    return std::string(kOurs) + "something was thrown that has no words.";
  }
}

}  // namespace trainscope::ui
