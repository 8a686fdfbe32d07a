#include "cuda/kept_texts.h"

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "cuda/device/chain_text.h"
#include "kernels/compiled_chain.cuh"

namespace trainscope::test {
namespace {

// Starts an entry with arguments that lie where the addresses say.
using Entry = std::function<void(const char*, kernels::Stream, const kernels::Shape&, void**)>;

template <typename... Parameters, std::size_t... k>
Entry entry_of(void (*kernel)(Parameters...), std::index_sequence<k...>) {
  return [kernel](const char* name, kernels::Stream stream, const kernels::Shape& shape,
                  void** arguments) {
    kernels::launch(name, kernel, stream, shape,
                    *static_cast<const std::remove_const_t<Parameters>*>(arguments[k])...);
  };
}

template <typename... Parameters>
Entry entry(void (*kernel)(Parameters...)) {
  return entry_of(kernel, std::index_sequence_for<Parameters...>());
}

using Entries = std::map<std::string, Entry>;

// kKept: the entries of each text.
#include "cuda/kept_chains.inc"

const char* const kFile = TRAINSCOPE_SOURCE_DIR "/tests/cuda/kept_chains.inc";
const std::string kHeader = "#include \"kernels/compiled_chain.cuh\"\n\n";

std::string begin_of(std::size_t number) {
  return "namespace kept_" + std::to_string(number) + " {\n";
}
std::string end_of(std::size_t number) {
  return "}  // namespace kept_" + std::to_string(number) + "\n";
}

std::string file_text() {
  std::ifstream file(kFile);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class KeptModule : public cuda::ChainModule {
 public:
  explicit KeptModule(const Entries& entries) : entries_(entries) {}
  void start(const char* name, kernels::Stream stream, const kernels::Shape& shape,
             void** arguments) override {
    entries_.at(name)(name, stream, shape, arguments);
  }

 private:
  const Entries& entries_;
};

}  // namespace

std::vector<std::string> kept_texts() {
  const std::string file = file_text();
  std::vector<std::string> texts;
  for (std::size_t at = 0;;) {
    const std::string begin = begin_of(texts.size());
    at = file.find(begin, at);
    if (at == std::string::npos) return texts;
    at += begin.size();
    const std::size_t end = file.find(end_of(texts.size()), at);
    texts.push_back(kHeader + file.substr(at, end - at));
  }
}

void keep_texts(const std::vector<std::string>& texts) {
  std::ofstream file(kFile);
  file << "// Texts of chains' kernels. Written by tests_cuda where TRAINSCOPE_KEEP_CHAINS is "
          "set.\n";
  std::string table;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    file << begin_of(k) << texts[k].substr(kHeader.size()) << end_of(k);
    table += "    {";
    for (const std::string& name : cuda::entries_of(texts[k]))
      table += "{\"" + name + "\", entry(kept_" + std::to_string(k) + "::" + name + ")}, ";
    table += "},\n";
  }
  file << "const std::vector<Entries> kKept = {\n" << table << "};\n";
  if (!file) throw Error(Fault::kMissing, std::string(kFile) + " cannot be written");
}

std::unique_ptr<cuda::ChainModule> kept_module(std::size_t number) {
  if (number >= kKept.size()) return nullptr;
  return std::make_unique<KeptModule>(kKept[number]);
}

}  // namespace trainscope::test
