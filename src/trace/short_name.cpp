#include "trace/short_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "base/text.h"

namespace trainscope::trace {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::string without_clutter(std::string_view name) {
  std::string text(name);
  if (text.starts_with("void ")) text.erase(0, 5);
  erase_all(text, "(anonymous namespace)::");
  erase_all(text, "<unnamed>::");
  return text;
}

// ---- The parts of "ns::gemm<float, 4>(int)" -----------------------------------------------------

// Where the bracket that opens at `open` closes; the end of the text where it does not.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '<' || letter == '(' || letter == '{') ++depth;
    const bool arrow = letter == '>' && i > 0 && text[i - 1] == '-';
    if (!arrow && (letter == '>' || letter == ')' || letter == '}') && --depth == 0) return i;
  }
  return text.size();
}

std::string_view without_scope(std::string_view text) {
  const auto scope = text.rfind("::");
  return scope != std::string_view::npos && scope + 2 < text.size() ? text.substr(scope + 2) : text;
}

// "gemm", with its namespaces.
std::string_view scoped_base(std::string_view text) {
  const auto cut = text.find_first_of("<(");
  return trimmed(cut == 0 ? text : text.substr(0, cut));
}

std::string_view base_of(std::string_view text) {
  return without_scope(scoped_base(text));
}

// "float" and "4".
std::vector<std::string_view> arguments_of(std::string_view text) {
  std::vector<std::string_view> arguments;
  const auto open = text.find_first_of("<(");
  if (open == std::string_view::npos || open == 0 || text[open] != '<') return arguments;
  const std::size_t end = closing(text, open);
  std::size_t from = open + 1;
  for (std::size_t i = from; i < end; ++i) {
    if (text[i] == '<' || text[i] == '(' || text[i] == '{') i = closing(text, i);
    if (i >= end || text[i] != ',') continue;
    arguments.push_back(trimmed(text.substr(from, i - from)));
    from = i + 1;
  }
  arguments.push_back(trimmed(text.substr(from, end - from)));
  return arguments;
}

// "module.py(1501): _call_impl" of "torch/nn/modules/module.py(1501): _call_impl", as profilers
// write a frame of Python's; empty for any other name.
std::string_view python_frame(std::string_view name) {
  const auto line = name.find(".py(");
  if (line == name.npos) return {};
  const auto digits = line + 4;
  const auto end = name.find_first_not_of("0123456789", digits);
  if (end == digits || end == name.npos || !name.substr(end).starts_with("): ")) return {};
  const auto folder = name.substr(0, line).find_last_of("/\\");
  return folder == name.npos ? name : name.substr(folder + 1);
}

// ---- What a kernel does ------------------------------------------------------------------------

// Templates that are called by their argument alone: cutlass::Kernel<gemm_tn_256x128>, CUTLASS 3's
// device_kernel<enable_sm90_or_later<FlashAttnFwdSm90<...>>>, Composable Kernel's kentry<2, ...>.
bool is_wrapper(std::string_view base) {
  return is_one_of(base, std::array<std::string_view, 5>{"Kernel", "Kernel2", "kernel",
                                                         "device_kernel", "kentry"}) ||
         base.starts_with("enable_sm");
}

// Kernels that run any function over elements, tensors or a reduction.
bool runs_a_functor(std::string_view base) {
  return base.ends_with("elementwise_kernel") || base.starts_with("distribution_elementwise") ||
         is_one_of(base, std::array<std::string_view, 5>{
                             "reduce_kernel", "map_kernel", "map_repeated_kernel",
                             "multi_tensor_apply_kernel", "elementwise_kernel_with_index"});
}

// Functors that only say how another one's arguments come.
bool passes_on(std::string_view base) {
  return is_one_of(base, std::array<std::string_view, 7>{
                             "AUnaryFunctor", "BUnaryFunctor", "BinaryFunctor", "gpu_kernel_impl",
                             "gpu_kernel_impl_nocast", "ReduceOp", "func_wrapper_t"});
}

// How a list of tensors is walked; what is done with each stands in the argument after it.
bool walks_tensors(std::string_view base) {
  return base.starts_with("BinaryOp") || base.starts_with("UnaryOp") ||
         base.starts_with("PointwiseOp");
}

bool is_number_type(std::string_view base) {
  return is_one_of(base, std::array<std::string_view, 15>{"float", "double", "int", "long", "bool",
                                                          "char", "short", "half", "__half", "Half",
                                                          "BFloat16", "__nv_bfloat16", "complex",
                                                          "int8_t", "uint8_t"}) ||
         base.starts_with("unsigned");
}

bool is_functor(std::string_view argument) {
  const std::string_view base = base_of(argument);
  return !base.empty() && (std::isalpha(static_cast<unsigned char>(base[0])) || base[0] == '_') &&
         base != "true" && base != "false" && !is_number_type(base) &&
         !base.ends_with("Metadata") && !base.starts_with("lambda");
}

std::string functor_among(const std::vector<std::string_view>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_functor(arguments[i])) continue;
    const std::string_view base = base_of(arguments[i]);
    if (passes_on(base))
      if (std::string inner = functor_among(arguments_of(arguments[i])); !inner.empty())
        return inner;
    if (walks_tensors(base) && i + 1 < arguments.size() && is_functor(arguments[i + 1]))
      return std::string(base) + ", " + std::string(base_of(arguments[i + 1]));
    return std::string(base);
  }
  return "";
}

std::string functor_of(std::string_view text) {
  return runs_a_functor(base_of(text)) ? functor_among(arguments_of(text)) : std::string();
}

// ---- Names as the linker has them, where nothing reads them back --------------------------------

bool is_linkers(std::string_view name) {
  return name.starts_with("_ZN");
}

// The last part of a nested name that begins at `at`, which is moved behind it: "gemm" of
// "2ns4gemm", or of "S_4gemm", whose namespaces stand further left.
std::string_view last_part(std::string_view name, std::size_t& at) {
  std::string_view last;
  while (at < name.size()) {
    const std::size_t mark = name[at] == 'S' ? name.find('_', at) : name.npos;
    std::size_t letters = at, length = 0;
    while (letters < name.size() && std::isdigit(static_cast<unsigned char>(name[letters])) &&
           length < name.size())
      length = 10 * length + static_cast<std::size_t>(name[letters++] - '0');
    if (mark == name.npos && (length == 0 || length > name.size() - letters)) break;
    if (mark == name.npos) last = name.substr(letters, length);
    at = mark == name.npos ? letters + length : mark + 1;
  }
  return last;
}

// "gemm" of "_ZN2ns4gemmILi128EEEvT_", and of one that a wrapper has as its argument.
std::string part_of_linkers(std::string_view name) {
  std::size_t at = 3;
  const std::string_view base = last_part(name, at);
  if (!is_wrapper(base) || !name.substr(at).starts_with("I")) return std::string(base);
  ++at;
  while (name.substr(at).starts_with("L") && name.find('E', at) != name.npos)  // a number
    at = name.find('E', at) + 1;
  if (!name.substr(at).starts_with("N")) return std::string(base);
  ++at;
  const std::string_view inner = last_part(name, at);
  return std::string(inner.empty() ? base : inner);
}

// "gemm<128, 64>": with its first whole numbers, which are mostly those of a tile.
std::string numbered_linkers(std::string_view name) {
  constexpr int kMost = 3;
  std::string numbers;
  int count = 0;
  for (auto at = name.find("Li"); at != name.npos && count < kMost; at = name.find("Li", at + 2)) {
    const auto end = name.find_first_not_of("0123456789", at + 2);
    if (end == name.npos || end == at + 2 || name[end] != 'E') continue;
    numbers += (count++ > 0 ? ", " : "") + std::string(name.substr(at + 2, end - at - 2));
  }
  const std::string part = part_of_linkers(name);
  return part.empty() || count == 0 ? std::string(name) : part + "<" + numbers + ">";
}

// "gemm<float, 4>": with all template arguments, without their namespaces; a frame of Python's with
// its folder; a copy with its memories, "Memcpy HtoD (Pinned -> Device)".
std::string templated_name(std::string_view name) {
  if (name.starts_with("Memcpy ")) return std::string(name);
  if (!python_frame(name).empty()) return std::string(name);
  if (is_linkers(name)) return numbered_linkers(name);
  const std::string text = without_clutter(name);
  const auto open = text.find_first_of("<(");
  if (open == std::string::npos || open == 0 || text[open] != '<') return short_name(name);
  std::string_view whole(text);
  whole = whole.substr(0, std::min(closing(whole, open) + 1, whole.size()));
  std::string kept;
  std::size_t word = 0;  // where the identifier that is being read begins, in `kept`
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const char letter = whole[i];
    if (letter == ':' && i + 1 < whole.size() && whole[i + 1] == ':') {
      kept.resize(word);
      ++i;
      continue;
    }
    kept += letter;
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '_') word = kept.size();
  }
  return kept;
}

}  // namespace

std::string short_name(std::string_view name) {
  if (const std::string_view frame = python_frame(name); !frame.empty()) return std::string(frame);
  if (is_linkers(name))
    if (std::string part = part_of_linkers(name); !part.empty()) return part;
  const std::string text = without_clutter(name);
  const std::string base(base_of(text));
  if (is_wrapper(base))
    for (const std::string_view argument : arguments_of(text))
      if (is_functor(argument)) return short_name(argument);
  if (const std::string functor = functor_of(text); !functor.empty())
    return base + "<" + functor + ">";
  return base.empty() ? std::string(name) : base;
}

std::string functor_name(std::string_view name) {
  const std::string text = without_clutter(name);
  if (text.find('<') == std::string::npos) return "";
  const std::string functor = functor_of(text);
  const auto comma = functor.rfind(", ");
  return comma == std::string::npos ? functor : functor.substr(comma + 2);
}

std::vector<std::string> distinct_names(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  shown.reserve(names.size());
  std::map<std::string, int> count;
  for (const std::string& name : names) ++count[shown.emplace_back(short_name(name))];
  for (std::size_t i = 0; i < names.size(); ++i)
    if (count[shown[i]] > 1) shown[i] = templated_name(names[i]);
  return shown;
}

}  // namespace trainscope::trace
