#include "cuda/device/chain_text.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>

#include "kernels/compiled_chain.h"

namespace trainscope::cuda {
namespace {

using kernels::Chain;
using kernels::ChainAction;
using kernels::ChainFrom;
using kernels::ChainNorm;
using kernels::ChainRead;
using kernels::ChainStep;
using kernels::ChainWrite;
using kernels::NormChain;
using kernels::NormKind;
using kernels::NumberType;

std::string word(NumberType type) {
  static constexpr const char* kWords[] = {"kFp32", "kFp16", "kBf16"};
  return std::string("NumberType::") + kWords[static_cast<std::size_t>(type)];
}

std::string word(ChainAction action) {
  static constexpr const char* kWords[] = {
      "kMove",     "kAdd",           "kScale",     "kScaleBy",  "kFill",
      "kDrop",     "kRelu",          "kReluSlope", "kGeluErf",  "kGeluErfSlope",
      "kGeluTanh", "kGeluTanhSlope", "kTanh",      "kTanhSlope"};
  return std::string("ChainAction::") + kWords[static_cast<std::size_t>(action)];
}

std::string word(ChainFrom from) {
  static constexpr const char* kWords[] = {"kEach",  "kSingle",  "kRepeated",
                                           "kRowOf", "kMaxPool", "kAveragePool"};
  return std::string("ChainFrom::") + kWords[static_cast<std::size_t>(from)];
}

// To the bit: as hexadecimal digits, or as bits where there are none.
std::string word(float value) {
  char text[64];
  if (std::isfinite(value)) {
    std::snprintf(text, sizeof(text), "%aF", static_cast<double>(value));
  } else {
    std::snprintf(text, sizeof(text), "__builtin_bit_cast(float, 0x%08xU)",
                  std::bit_cast<std::uint32_t>(value));
  }
  return text;
}

std::string item(const ChainRead& read) {
  return "{.type = " + word(read.type) + ", .place = " + std::to_string(read.place) +
         ", .from = " + word(read.from) + (read.in_eights ? ", .in_eights = true" : "") + "}";
}

std::string item(const ChainWrite& write) {
  return "{.type = " + word(write.type) + ", .place = " + std::to_string(write.place) + "}";
}

std::string item(const ChainStep& step) {
  return "{" + word(step.action) + ", " + word(step.type) + ", " + std::to_string(step.a) + ", " +
         std::to_string(step.b) + ", " + std::to_string(step.result) + ", " + word(step.factor) +
         "}";
}

std::string item(const ChainNorm& norm) {
  const bool gradient = norm.kind == NormKind::kInputGradient;
  return std::string("{.kind = NormKind::") + (gradient ? "kInputGradient" : "kForward") +
         ", .type = " + word(norm.type) + ", .x = " + std::to_string(norm.x) +
         ", .dy = " + std::to_string(norm.dy) + ", .result = " + std::to_string(norm.result) +
         ", .before = " + std::to_string(norm.before) + "}";
}

// "    .reads = {item,\n              item},\n"
template <typename Item>
std::string list(const std::string& name, const Item* items, int count) {
  const std::string begin = "    ." + name + " = {";
  std::string text = begin;
  for (int k = 0; k < count; ++k)
    text += (k == 0 ? "" : ",\n" + std::string(begin.size(), ' ')) + item(items[k]);
  return text + "},\n";
}

std::string constant(const Chain& chain, const std::string& name) {
  return "__device__ constexpr Chain " + name + "{\n" +
         list("reads", chain.reads, chain.read_count) +
         list("writes", chain.writes, chain.write_count) +
         list("steps", chain.steps, chain.step_count) +
         "    .drops = {},\n    .pool = {},\n    .read_count = " +
         std::to_string(chain.read_count) +
         ",\n    .write_count = " + std::to_string(chain.write_count) +
         ",\n    .step_count = " + std::to_string(chain.step_count) + "};\n";
}

std::string constant(const NormChain& chain, const std::string& steps, const std::string& name) {
  return "__device__ constexpr NormChain " + name + "{\n    .chain = " + steps + ",\n" +
         list("norms", chain.norms, chain.norm_count) +
         "    .norm_count = " + std::to_string(chain.norm_count) + ",\n    .rows = {}};\n";
}

// The compiler's layout of what is handed over must be ours.
std::string with_size(const char* type, std::size_t bytes) {
  return std::string("static_assert(sizeof(") + type + ") == " + std::to_string(bytes) + ");\n";
}

std::string with_constants(const std::string& constants) {
  return "#include \"kernels/compiled_chain.cuh\"\n\nnamespace {\n"
         "using namespace trainscope::kernels;\n" +
         constants + "}  // namespace\n\n";
}

constexpr std::string_view kEntry = "TRAINSCOPE_ENTRY(";

std::string entry(const char* blocks, const std::string& declared, const std::string& body) {
  return std::string(kEntry) + "256, " + blocks + ") " + declared + " {\n  " + body + "\n}\n";
}

struct Text {
  std::string operator()(const Chain& chain) const {
    return with_constants(with_size("Chain", sizeof(Chain)) + constant(chain, "kSteps")) +
           entry("4", "chain(const __grid_constant__ Chain chain, bool packed)",
                 "compiled_chain<kSteps, " + std::to_string(kernels::compiled_width(chain)) +
                     ">(chain, packed);");
  }

  std::string operator()(const NormChain& chain) const {
    const bool at_once = kernels::is_at_once(chain);
    return with_constants(with_size("NormChain", sizeof(NormChain)) +
                          constant(chain.chain, "kSteps") + constant(chain, "kSteps", "kNorms")) +
           entry("3",
                 std::string(at_once ? "norm_chain" : "norm_chain_in_walks") +
                     "(const __grid_constant__ NormChain chain, NormWalk walk)",
                 std::string(at_once ? "compiled_norm_chain" : "compiled_norm_walks") +
                     "<kNorms, kSteps, " + std::to_string(kernels::compiled_width(chain)) +
                     ">(chain, walk);");
  }

  std::string operator()(const SummedChain& sum) const {
    const std::string constants =
        with_constants(with_size("Chain", sizeof(Chain)) + constant(sum.chain.values, "kSteps") +
                       constant(sum.chain.sums, "kSums"));
    const std::string term = "const __grid_constant__ ChainTerm term, ColumnShape shape, ";
    const std::string sums = "const __grid_constant__ ChainOfSums sums)";
    const std::string known = "<kSteps, " + std::to_string(sum.chain.summed) + ", " +
                              std::to_string(kernels::compiled_width(sum.chain.values));
    if (kernels::is_one_part(sum.shape))
      return constants + entry("4", "column_chain(" + term + sums,
                               "compiled_column_chain" + known + ", kSums>(term, shape, sums);");
    return constants +
           entry("4", "column_chain_parts(" + term + "KeepPart keep)",
                 "compiled_column_parts" + known + ">(term, shape, keep);") +
           entry("4", "column_chain_sums(PartSums of, " + sums,
                 "compiled_column_sums<kSums>(of, sums);");
  }
};

// What a text is made of, byte by byte.
class Key {
 public:
  void operator()(const Chain& chain) {
    add({'c'});
    add(chain);
  }
  void operator()(const NormChain& chain) {
    add({'n', char(kernels::is_at_once(chain)), char(chain.norm_count)});
    add(chain.chain);
    add({char(kernels::compiled_width(chain))});
    for (int k = 0; k < chain.norm_count; ++k) {
      const ChainNorm& norm = chain.norms[k];
      add({char(norm.kind), char(norm.type), char(norm.x), char(norm.dy), char(norm.result),
           char(norm.before)});
    }
  }
  void operator()(const SummedChain& sum) {
    add({'s', char(kernels::is_one_part(sum.shape)), char(sum.chain.summed)});
    add(sum.chain.values);
    add(sum.chain.sums);
  }

  std::string take() { return std::move(key_); }

 private:
  void add(std::initializer_list<char> bytes) { key_.append(bytes.begin(), bytes.size()); }
  void add(const Chain& chain) {
    add({char(chain.read_count), char(chain.write_count), char(chain.step_count)});
    for (int k = 0; k < chain.read_count; ++k) {
      const ChainRead& read = chain.reads[k];
      add({char(read.type), char(read.place), char(read.from), char(read.in_eights)});
    }
    for (int k = 0; k < chain.write_count; ++k)
      add({char(chain.writes[k].type), char(chain.writes[k].place)});
    for (int k = 0; k < chain.step_count; ++k) {
      const ChainStep& step = chain.steps[k];
      add({char(step.action), char(step.type), char(step.a), char(step.b), char(step.result)});
      char factor[sizeof(float)];
      std::memcpy(factor, &step.factor, sizeof(factor));
      key_.append(factor, sizeof(factor));
    }
  }

  std::string key_;
};

}  // namespace

std::string text_of(const FusedKernel& chain) {
  return std::visit(Text{}, chain);
}

std::vector<std::string> entries_of(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find(kEntry); at != std::string::npos; at = text.find(kEntry, at)) {
    at = text.find(") ", at) + 2;
    names.push_back(text.substr(at, text.find('(', at) - at));
  }
  return names;
}

std::string key_of(const FusedKernel& chain) {
  Key key;
  std::visit(std::ref(key), chain);
  return key.take();
}

}  // namespace trainscope::cuda
