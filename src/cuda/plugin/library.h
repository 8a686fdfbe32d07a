// A library of NVIDIA's that is looked for when it is first wanted. A missing one switches off one
// feature.
#pragma once

#include <string>
#include <vector>

namespace trainscope::cuda {

class Library {
 public:
  // The first of these names that loads; NVIDIA's do not take back what they set up, so it stays.
  explicit Library(const std::vector<std::string>& names);

  bool is_there() const { return handle_ != nullptr; }
  // "libcupti.so.13: cannot open shared object file".
  const std::string& why_not() const { return why_not_; }

  // False, and null, where the library has no such function.
  template <typename Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(address(name));
    return function != nullptr;
  }

 private:
  void* address(const char* name) const;

  void* handle_ = nullptr;
  std::string why_not_;
};

}  // namespace trainscope::cuda
