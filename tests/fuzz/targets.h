// What is fuzzed: each target takes any bytes and hands them to a reader. What comes of it must be
// a value that everything behind the reader can take, or an Error: one sentence. Anything else (a
// crash, undefined behaviour, another exception, minutes, gigabytes) is a bug.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace trainscope::fuzz {

void trace(std::string_view bytes);      // Chrome traces, plain and gzipped
void toml(std::string_view bytes);       // lessons, machines, GPUs, configs, claims, measurements
void run(std::string_view bytes);        // saved runs, in their envelope and out of it
void arguments(std::string_view bytes);  // one a line: the command line, --set, expressions
void images(std::string_view bytes);     // files of MNIST and CIFAR-10

// A promise that was not kept; no Error, so that nothing takes it for a refusal.
struct Broken : std::logic_error {
  using std::logic_error::logic_error;
};
inline void promise(bool kept, const char* what) {
  if (!kept) throw Broken(what);
}

// A refusal is one line.
inline void check_sentence(const std::string& sentence) {
  promise(!sentence.empty(), "a refusal says why");
  promise(sentence.find('\n') == std::string::npos, "a refusal is one line");
  promise(sentence.size() < 100'000, "a refusal is short");
}

}  // namespace trainscope::fuzz
