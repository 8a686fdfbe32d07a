#include "trace/short_name.h"

#include <catch2/catch.hpp>

#include "base/demangled.h"

using namespace trainscope;
using namespace trainscope::trace;

namespace {

const std::string kClamp =
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
    "launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, at::native::detail::"
    "ClampLimits)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::"
    "{lambda(float)#1}, at::detail::Array<char*, 2> >(int, at::native::(anonymous namespace)::"
    "launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar)::{lambda()#1}, at::detail::"
    "Array<char*, 2>)";
const std::string kMul =
    "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, "
    "float, at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 2> >(int, "
    "at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> "
    ">, at::detail::Array<char*, 2>)";

std::string batch_norm(int block) {
  return "void cudnn::bn_bw_1C11_kernel_new<float, cudnn::float2, " + std::to_string(block) +
         ", true, 1>(float, cudnnTensorStruct, float const*)";
}

}  // namespace

TEST_CASE("a short name drops namespaces and arguments") {
  CHECK(short_name("void at::native::(anonymous namespace)::foo<4, a::b>(int)") == "foo");
  CHECK(short_name("Memcpy HtoD (Pageable -> Device)") == "Memcpy HtoD");
  CHECK(short_name("aten::conv2d") == "conv2d");
  CHECK(short_name("<built-in method>") == "<built-in method>");
  CHECK(short_name("<lambda>") == "<lambda>");
  CHECK(short_name("") == "");
}

TEST_CASE("a frame of Python's is told by its function and the line, without the folder") {
  const std::string impl = "torch/nn/modules/module.py(1562): _call_impl";
  CHECK(short_name(impl) == "module.py(1562): _call_impl");
  CHECK(short_name("train.py(12): <module>") == "train.py(12): <module>");
  CHECK(short_name("C:\\work\\gpt.py(7): forward") == "gpt.py(7): forward");
  CHECK(short_name("void a::run.py(int)") == "run.py");
  CHECK(distinct_names({impl, "torch/nn/modules/module.py(1553): _wrapped_call_impl"}) ==
        std::vector<std::string>{"module.py(1562): _call_impl",
                                 "module.py(1553): _wrapped_call_impl"});
  CHECK(distinct_names({"a/net.py(3): forward", "b/net.py(3): forward"}) ==
        std::vector<std::string>{"a/net.py(3): forward", "b/net.py(3): forward"});
  for (std::size_t length = 1; length <= impl.size(); ++length)
    CHECK_FALSE(short_name(impl.substr(0, length)).empty());
}

TEST_CASE("a template that only wraps a kernel is called by that") {
  CHECK(short_name("void cutlass::Kernel<cutlass_80_gemm_256x128>(Params)") ==
        "cutlass_80_gemm_256x128");
  CHECK(
      short_name("void a::Kernel<a::reduction::kernel::ReduceSplitK<a::Shape<4, 128>, int> >()") ==
      "ReduceSplitK");
  CHECK(short_name("kernel<float>") == "kernel");
  CHECK(short_name(
            "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90"
            "<flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>>>>>>(flash::Params)") ==
        "FlashAttnFwdSm90");
  CHECK(
      short_name("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<int, x>>(z)") ==
      "GemmUniversal");
  CHECK(short_name("void ck_tile::kentry<2, ck_tile::FmhaFwdKernel<a, b>>(c)") == "FmhaFwdKernel");
  CHECK(short_name("_ZN7ck_tile6kentryILi2ENS_13FmhaFwdKernelINS_4tileEEEJEEEvDpT1_") ==
        "FmhaFwdKernel");
  CHECK(short_name("_ZN7ck_tile6kentryILi2EiEEvT1_") == "kentry");
}

TEST_CASE("a kernel that runs any functor is told by its functor") {
  CHECK(short_name(kMul) == "vectorized_elementwise_kernel<MulFunctor>");
  CHECK(functor_name(kMul) == "MulFunctor");
  CHECK(short_name(kClamp) == "vectorized_elementwise_kernel<launch_clamp_scalar>");
  CHECK(short_name("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<"
                   "at::native::CUDAFunctor_add<float> >(at::TensorIteratorBase&, at::native::"
                   "CUDAFunctor_add<float> const&)::{lambda(int)#1}>(int)") ==
        "elementwise_kernel<CUDAFunctor_add>");
  CHECK(
      short_name("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::"
                 "func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()("
                 "at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >()") ==
      "reduce_kernel<sum_functor>");
  const std::string list =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
      "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::"
      "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(int)";
  CHECK(short_name(list) == "multi_tensor_apply_kernel<BinaryOpListAlphaFunctor, plus>");
  CHECK(functor_name(list) == "plus");
  CHECK(short_name("map_kernel<Sum, float>") == "map_kernel<Sum>");
  CHECK(functor_name("gemm<float>").empty());
  CHECK(functor_name("aten::add").empty());
}

TEST_CASE("a name that is cut off is still read to its end") {
  CHECK(short_name(kMul.substr(0, kMul.find("Functor"))) ==
        "vectorized_elementwise_kernel<AUnary>");
  for (std::size_t length = 0; length <= kClamp.size(); ++length)
    CHECK((length == 0 || !short_name(kClamp.substr(0, length)).empty()));
}

TEST_CASE("names that would read alike keep their template arguments") {
  const std::vector<std::string> shown =
      distinct_names({batch_norm(32), "aten::relu", batch_norm(512), kMul});
  CHECK(shown == std::vector<std::string>{"bn_bw_1C11_kernel_new<float, float2, 32, true, 1>",
                                          "relu",
                                          "bn_bw_1C11_kernel_new<float, float2, 512, true, 1>",
                                          "vectorized_elementwise_kernel<MulFunctor>"});
  const std::string pageable = "Memcpy HtoD (Pageable -> Device)",
                    pinned = "Memcpy HtoD (Pinned -> Device)",
                    back = "Memcpy DtoH (Device -> Pinned)";
  CHECK(distinct_names({pageable, pinned, back}) ==
        std::vector<std::string>{pageable, pinned, "Memcpy DtoH"});
  CHECK(distinct_names({"aten::add", "prim::add"}) == std::vector<std::string>{"add", "add"});
}

TEST_CASE("of a linker's name that nothing reads back, the kernel's is told all the same") {
  const std::string wrapped =
      "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11threadblock22"
      "ImplicitGemmMultistageINS_4gemm9GemmShapeILi128ELi64ELi32EEENS4_";
  CHECK(short_name(wrapped) == "ImplicitGemmConvolution");
  std::string other = wrapped;
  other.replace(other.find("Li64"), 4, "Li32");
  CHECK(distinct_names({wrapped, other}) ==
        std::vector<std::string>{"ImplicitGemmConvolution<128, 64, 32>",
                                 "ImplicitGemmConvolution<128, 32, 32>"});
  CHECK(short_name("_ZN2ns4gemmILi128EEEvT_") == "gemm");
  for (std::size_t length = 1; length <= wrapped.size(); ++length)
    for (const std::string& name : distinct_names({wrapped.substr(0, length), wrapped}))
      CHECK_FALSE(name.empty());
  CHECK(short_name("_ZN99999999999999999999999gemm") == "_ZN99999999999999999999999gemm");
  CHECK(short_name("_ZN") == "_ZN");
  CHECK(short_name("_ZNS") == "_ZNS");
}

TEST_CASE("linkers' names are read as programmers wrote them, and others left alone") {
  CHECK(demangled("_Z1fIfEvi") == "void f<float>(int)");
  CHECK(demangled("_ZN2at6native3addEv") == "at::native::add()");
  CHECK(demangled("i") == "i");
  CHECK(demangled("_Zzz") == "_Zzz");
  CHECK(demangled("") == "");
}
