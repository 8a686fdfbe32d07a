#include "base/platform.h"

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

// They need that one before them.
#include <fcntl.h>
#include <io.h>
#include <shellapi.h>
#include <shlobj.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace trainscope::platform {
namespace {

namespace fs = std::filesystem;

// The system speaks UTF-16.
std::wstring wide(std::string_view text) {
  const auto size = static_cast<int>(text.size());
  std::wstring all(
      static_cast<std::size_t>(::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, nullptr, 0)),
      L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, text.data(), size, all.data(), static_cast<int>(all.size()));
  return all;
}

std::string narrow(std::wstring_view text) {
  const auto size = static_cast<int>(text.size());
  std::string all(static_cast<std::size_t>(::WideCharToMultiByte(CP_UTF8, 0, text.data(), size,
                                                                 nullptr, 0, nullptr, nullptr)),
                  '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, all.data(), static_cast<int>(all.size()),
                        nullptr, nullptr);
  return all;
}

bool is_console(DWORD which) {
  DWORD mode = 0;
  return ::GetConsoleMode(::GetStdHandle(which), &mode) != 0;
}

// Opened by the system for a program that was double-clicked.
bool has_own_console() {
  std::array<DWORD, 2> processes{};
  return ::GetConsoleProcessList(processes.data(), static_cast<DWORD>(processes.size())) == 1;
}

// What is written stays as it is, and leaves in pieces of whole letters: the C library would write
// to a console byte by byte.
void prepare(std::FILE* output, DWORD which) {
  ::_setmode(::_fileno(output), _O_BINARY);
  std::setvbuf(output, nullptr, _IOFBF, 1 << 16);
  DWORD mode = 0;
  const HANDLE handle = ::GetStdHandle(which);
  if (::GetConsoleMode(handle, &mode) != 0)
    ::SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

fs::path known_folder(int which) {
  std::array<wchar_t, MAX_PATH> folder{};
  return ::SHGetFolderPathW(nullptr, which, nullptr, 0, folder.data()) == S_OK
             ? fs::path(folder.data())
             : fs::path();
}

std::string last_error() {
  std::array<wchar_t, 512> words{};
  const DWORD size = ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS,
                                      nullptr, ::GetLastError(), 0, words.data(),
                                      static_cast<DWORD>(words.size()), nullptr);
  const std::string text = narrow({words.data(), size});
  return text.substr(0, text.find_last_not_of(" .\r\n") + 1);
}

}  // namespace

std::vector<std::string> words_of(int, char**) {
  int count = 0;
  wchar_t** const all = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  std::vector<std::string> words;
  for (int i = 1; i < count; ++i) words.push_back(narrow(all[i]));
  ::LocalFree(all);
  return words;
}

fs::path program_file() {
  std::wstring name(MAX_PATH, L'\0');
  for (;;) {
    const DWORD size = ::GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
    if (size < name.size()) return name.substr(0, size);
    name.resize(2 * name.size());
  }
}

int process_number() {
  return static_cast<int>(::GetCurrentProcessId());
}

std::string host_name() {
  std::array<wchar_t, 256> name{};
  auto size = static_cast<DWORD>(name.size());
  return ::GetComputerNameW(name.data(), &size) != 0 ? narrow({name.data(), size}) : "";
}

bool is_administrator() {
  return ::IsUserAnAdmin() != 0;
}

std::optional<std::string> variable(const char* name) {
  const wchar_t* value = ::_wgetenv(wide(name).c_str());
  if (!value || !*value) return std::nullopt;
  return narrow(value);
}

void set_variable(const char* name, const std::string& value) {
  ::_wputenv_s(wide(name).c_str(), wide(value).c_str());
}

const char kBetweenFolders = ';';
const char* const kProgramEnding = ".exe";

fs::path user_folder() {
  return known_folder(CSIDL_PROFILE);
}

fs::path settings_folder() {
  if (const auto chosen = variable("APPDATA")) return *chosen;
  return known_folder(CSIDL_APPDATA);
}

Terminal::Terminal() : before_(::GetConsoleOutputCP()) {
  ::SetConsoleOutputCP(CP_UTF8);
  prepare(stdout, STD_OUTPUT_HANDLE);
  prepare(stderr, STD_ERROR_HANDLE);
}

Terminal::~Terminal() {
  std::fflush(stdout);
  std::fflush(stderr);
  if (before_ != 0) ::SetConsoleOutputCP(before_);
}

bool errors_are_read() {
  return is_console(STD_ERROR_HANDLE);
}

void end_where_nobody_reads() {
  if (::GetFileType(::GetStdHandle(STD_OUTPUT_HANDLE)) == FILE_TYPE_PIPE) std::_Exit(1);
}

void tell_error(const std::string& sentence) {
  std::cerr << sentence << "\n";
  const bool seen = ::GetFileType(::GetStdHandle(STD_ERROR_HANDLE)) != FILE_TYPE_UNKNOWN;
  if (seen && !(is_console(STD_ERROR_HANDLE) && has_own_console())) return;
  ::MessageBoxW(nullptr, wide(sentence).c_str(), L"Trainscope", MB_OK | MB_ICONERROR);
}

void leave_own_console() {
  if (has_own_console()) ::FreeConsole();
}

bool has_display() {
  return true;
}

const bool kAlwaysHasDisplay = true;

bool may_write(const fs::path& path) {
  constexpr int kMayWrite = 2;
  return ::_waccess(path.c_str(), kMayWrite) == 0;
}

bool may_run(const fs::path& path) {
  return ::_waccess(path.c_str(), 0) == 0;
}

std::FILE* open_to_read(const fs::path& path) {
  return ::_wfopen(path.c_str(), L"rb");
}

void* find_library(const char* name) {
  return reinterpret_cast<void*>(::LoadLibraryW(wide(name).c_str()));
}

void* load_library(const fs::path& file, std::string& why_not) {
  const HMODULE library = ::LoadLibraryW(file.c_str());
  if (!library) why_not = last_error();
  return reinterpret_cast<void*>(library);
}

void* function_in(void* library, const char* name) {
  return reinterpret_cast<void*>(::GetProcAddress(reinterpret_cast<HMODULE>(library), name));
}

}  // namespace trainscope::platform
