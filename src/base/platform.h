// What one system does in another way than the next. Each folder beside this file, posix and
// windows, implements it, and CMake compiles one of them; no other code asks which system it is on.
// Texts are UTF-8 everywhere.
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trainscope::platform {

// ---- The program -------------------------------------------------------------------------------

// The words behind the program's name, of main()'s arguments.
std::vector<std::string> words_of(int argc, char** argv);
// The file of the program that runs; empty where the system does not tell.
std::filesystem::path program_file();
int process_number();
// What this machine is called; empty: not told.
std::string host_name();
bool is_administrator();

// ---- The environment ---------------------------------------------------------------------------

// Nothing where it is not set, or empty.
std::optional<std::string> variable(const char* name);
void set_variable(const char* name, const std::string& value);
// What separates the folders of the variable PATH, and how programs' names end there.
extern const char kBetweenFolders;
extern const char* const kProgramEnding;

// The person's own folder; that of their programs' settings, empty where there is none.
std::filesystem::path user_folder();
std::filesystem::path settings_folder();

// ---- The terminal ------------------------------------------------------------------------------

// Standard output and error as long as it lives: bytes go out as they are, an output that nobody
// reads any more is an error and no signal, and a console shows UTF-8. For main().
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

 private:
  unsigned before_ = 0;  // the console's encoding
};

// Whether a person reads standard error.
bool errors_are_read();
// After a failed write to standard output: where nobody reads it any more, as `head` does once it
// has its lines, ends the program as other tools end then.
void end_where_nobody_reads();
// The last words of a program that ends with an error: on standard error, and in a box where that
// would be seen by nobody.
void tell_error(const std::string& sentence);
// A window is about to open: without the console that the system opened for this program alone.
void leave_own_console();

// ---- Displays ----------------------------------------------------------------------------------

// Whether there is a display to open a window on, as far as can be told without trying.
bool has_display();
// Where there always is one, pictures are drawn in a window that is not shown, else by OSMesa.
extern const bool kAlwaysHasDisplay;

// ---- Files -------------------------------------------------------------------------------------

bool may_write(const std::filesystem::path& path);
bool may_run(const std::filesystem::path& path);
// To be read, byte by byte as it is; null where it cannot be, and errno says why.
std::FILE* open_to_read(const std::filesystem::path& path);

// ---- Libraries ---------------------------------------------------------------------------------

// Libraries stay loaded: drivers do not take back what they set up. By its name, where the system
// looks for libraries; null: it is not there, or needs what is not there.
void* find_library(const char* name);
// By its file, with all that it needs; null and a sentence.
void* load_library(const std::filesystem::path& file, std::string& why_not);
// Null: it has no such function.
void* function_in(void* library, const char* name);

// ---- Memory ------------------------------------------------------------------------------------

// Bytes `from` to `to` of large memory that malloc gave are read no more: the system may give their
// room to others. Returns up to which byte it does; it works in large pages. More: base/memory.h,
// which each system implements too.
std::size_t give_back(void* memory, std::size_t from, std::size_t to);

}  // namespace trainscope::platform
