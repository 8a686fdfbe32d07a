// What is left of a name where there is little room. A kernel of a template is mostly called by
// what its programmers named it: hundreds of letters, of which few tell it from the next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainscope::trace {

// "gemm" of "void ns::gemm<float>(int)": without namespaces, template and call arguments; the name
// itself where nothing can be left out. Of a name that the linker has and nothing reads back, what
// can be told: "gemm" of "_ZN2ns4gemmILi128EEEvT_". A kernel that does whatever its template
// argument says, as PyTorch's vectorized_elementwise_kernel, keeps that:
// "vectorized_elementwise_kernel<AddFunctor>". A frame of Python's keeps its file, line and
// function: "module.py(1501): _call_impl".
std::string short_name(std::string_view name);

// What such a kernel does: "AddFunctor"; empty for any other name.
std::string functor_name(std::string_view name);

// The short names of several, in their order. Where two would read alike they keep their template
// arguments too: "gemm<float, 4>" and "gemm<float, 8>".
std::vector<std::string> distinct_names(const std::vector<std::string>& names);

}  // namespace trainscope::trace
