#include "base/platform.h"

#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>

namespace trainscope::platform {

namespace fs = std::filesystem;

std::vector<std::string> words_of(int argc, char** argv) {
  return {argv + (argc > 0 ? 1 : 0), argv + argc};
}

fs::path program_file() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

int process_number() {
  return ::getpid();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

bool is_administrator() {
  return ::geteuid() == 0;
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

void set_variable(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1);
}

const char kBetweenFolders = ':';
const char* const kProgramEnding = "";

fs::path user_folder() {
  return variable("HOME").value_or("/");
}

fs::path settings_folder() {
  if (const auto config = variable("XDG_CONFIG_HOME")) return *config;
  if (const auto home = variable("HOME")) return fs::path(*home) / ".config";
  return {};
}

// Of a file that is said; of a pipe the write fails, and end_where_nobody_reads() sees to it.
Terminal::Terminal() {
  std::signal(SIGPIPE, SIG_IGN);
}
Terminal::~Terminal() = default;

bool errors_are_read() {
  return ::isatty(STDERR_FILENO) == 1;
}

void end_where_nobody_reads() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&output, 1, 0) != 1 || (output.revents & POLLERR) == 0) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

void tell_error(const std::string& sentence) {
  std::cerr << sentence << "\n";
}

void leave_own_console() {}

bool has_display() {
  return variable("DISPLAY") || variable("WAYLAND_DISPLAY");
}

const bool kAlwaysHasDisplay = false;

bool may_write(const fs::path& path) {
  return ::access(path.c_str(), W_OK) == 0;
}

bool may_run(const fs::path& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

std::FILE* open_to_read(const fs::path& path) {
  return std::fopen(path.c_str(), "rbe");
}

void* find_library(const char* name) {
  return ::dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}

void* load_library(const fs::path& file, std::string& why_not) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library) return library;
  const char* error = ::dlerror();
  why_not = error ? error : file.string();
  return nullptr;
}

void* function_in(void* library, const char* name) {
  return ::dlsym(library, name);
}

}  // namespace trainscope::platform
