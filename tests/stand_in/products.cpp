// cuBLASLt's part: products of matrices that lie column by column, with a bias, plainly summed in
// FP32. What was promised of addresses' alignment is held against those that come.

#include <cublasLt.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "stand_in/calls.h"
#include "stand_in/machine.h"
#include "stand_in/numbers.h"
#include "stand_in/options.h"
#include "stand_in/symbols.h"

using namespace trainscope;
using stand_in::bytes_of;
using stand_in::machine;
using stand_in::number_at;

namespace {

struct Matrix {
  cudaDataType type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading;
};

struct Description {
  cublasComputeType_t compute;
  cublasOperation_t a = CUBLAS_OP_N;
  cublasOperation_t b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  cudaDataType bias_type = CUDA_R_32F;
};

struct Preference {
  std::size_t workspace = 0;
  std::uint32_t aligned[4] = {256, 256, 256, 256};      // A, B, C, D
  std::uint32_t sums = CUBLASLT_REDUCTION_SCHEME_MASK;  // how parts of one may be added
};

// What an algorithm has in it: how addresses must be aligned.
constexpr std::uint64_t kOurs = 0x7472616e;

template <typename Ours, typename Theirs>
Ours& as(Theirs* handle) {
  return *reinterpret_cast<Ours*>(handle);
}

template <typename Value>
cublasStatus_t take(Value& to, const void* from, std::size_t bytes) {
  if (bytes != sizeof(Value)) {
    stand_in::breaks(cudaErrorInvalidValue, "an attribute of cuBLASLt is of another size");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(&to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t wrong(const std::string& what) {
  stand_in::breaks(cudaErrorInvalidValue, "a product: " + what);
  return CUBLAS_STATUS_INVALID_VALUE;
}

struct Shapes {
  std::size_t m, n, k;
};
bool fit(const Description& how, const Matrix& a, const Matrix& b, const Matrix& d, Shapes& out) {
  const auto turned = [](cublasOperation_t op, const Matrix& x) {
    return op == CUBLAS_OP_N ? std::pair(x.rows, x.columns) : std::pair(x.columns, x.rows);
  };
  const auto [m, k] = turned(how.a, a);
  const auto [other_k, n] = turned(how.b, b);
  out = {m, n, k};
  const auto lies = [](const Matrix& x) {
    return x.leading >= static_cast<std::int64_t>(x.rows) && stand_in::is_known(x.type);
  };
  return k == other_k && d.rows == m && d.columns == n && lies(a) && lies(b) && lies(d);
}

// Of one call, kept until it is carried out.
struct Product {
  Description how;
  Matrix a, b, d;
  const void* from_a;
  const void* from_b;
  void* to;
  Shapes size;

  void run() const {
    if (stand_in::only_takes_time(size.m * size.n * size.k)) return;
    const auto at = [](const Matrix& x, std::size_t row, std::size_t column) {
      return column * static_cast<std::size_t>(x.leading) + row;
    };
    const auto rounded = [&](float value) {
      return how.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? host::round_to_tf32(value) : value;
    };
    for (std::size_t j = 0; j < size.n; ++j)
      for (std::size_t i = 0; i < size.m; ++i) {
        float sum = 0;
        for (std::size_t k = 0; k < size.k; ++k)
          sum +=
              rounded(number_at(from_a, a.type, how.a == CUBLAS_OP_N ? at(a, i, k) : at(a, k, i))) *
              rounded(number_at(from_b, b.type, how.b == CUBLAS_OP_N ? at(b, k, j) : at(b, j, k)));
        if (how.epilogue == CUBLASLT_EPILOGUE_BIAS) sum += number_at(how.bias, how.bias_type, i);
        stand_in::put_number(to, d.type, at(d, i, j), sum);
      }
  }
};

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new int(stand_in::thread_state().gpu));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete &as<int>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* how, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  if (scale != CUDA_R_32F) return wrong("its factors are not FP32");
  *how = reinterpret_cast<cublasLtMatmulDesc_t>(new Description{.compute = compute});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t how) {
  delete &as<Description>(how);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t handle,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  auto& how = as<Description>(handle);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return take(how.a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return take(how.b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return take(how.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return take(how.bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return take(how.bias_type, value, bytes);
    default:
      return wrong("an attribute that the stand-in does not know");
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Matrix{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &as<Matrix>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete &as<Preference>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t handle,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
  auto& preference = as<Preference>(handle);
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return take(preference.workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return take(preference.aligned[0], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return take(preference.aligned[1], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return take(preference.aligned[2], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return take(preference.aligned[3], value, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      if (stand_in::options().fixed_sums) return CUBLAS_STATUS_NOT_SUPPORTED;
      return take(preference.sums, value, bytes);
    default:
      return wrong("a preference that the stand-in does not know");
  }
}

// Two: the first cannot do it when it comes to it, as cuBLASLt's sometimes cannot.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t how,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  Shapes size{};
  if (!fit(as<Description>(how), as<Matrix>(a), as<Matrix>(b), as<Matrix>(d), size))
    return wrong("its matrices do not fit each other");
  *found = wanted < 2 ? wanted : 2;
  for (int i = 0; i < *found; ++i) {
    results[i] = {};
    results[i].state = CUBLAS_STATUS_SUCCESS;
    results[i].algo.data[0] = i == 1 ? kOurs : 0;
    for (int k = 0; k < 4; ++k) results[i].algo.data[1 + k] = as<Preference>(preference).aligned[k];
    results[i].workspaceSize = as<Preference>(preference).workspace;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_lies, const void* b,
                              cublasLtMatrixLayout_t b_lies, const void* beta, const void* c,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_lies,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  if (algorithm->data[0] != kOurs) return CUBLAS_STATUS_NOT_SUPPORTED;
  Product product{as<Description>(how),
                  as<Matrix>(a_lies),
                  as<Matrix>(b_lies),
                  as<Matrix>(d_lies),
                  a,
                  b,
                  d,
                  {}};
  if (!fit(product.how, product.a, product.b, product.d, product.size))
    return wrong("its matrices do not fit each other");
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0)
    return wrong("factors that the stand-in does not know");
  const void* addresses[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (reinterpret_cast<std::uintptr_t>(addresses[i]) % algorithm->data[1 + i] != 0)
      return wrong("an address is not aligned as its algorithm was promised");
  const auto in_device = [](const void* memory, const Matrix& x) {
    const std::size_t numbers = static_cast<std::size_t>(x.leading) * (x.columns - 1) + x.rows;
    return machine().memory().where(memory, bytes_of(x.type) * numbers) == stand_in::Where::kDevice;
  };
  if (!in_device(a, product.a) || !in_device(b, product.b) || !in_device(d, product.d) ||
      machine().memory().where(workspace, workspace_bytes) != stand_in::Where::kDevice)
    return wrong("a matrix, or the room to work in, does not lie in a device's memory");
  if (machine().gpu_of(stream) != as<int>(handle)) return wrong("a handle of another GPU");
  stand_in::Work work{.kind = stand_in::WorkKind::kKernel,
                      .name = "product",
                      .run = [product] { product.run(); },
                      .blocks = {1, 1, 1},
                      .threads = {128, 1, 1}};
  const cudaError_t status =
      stand_in::call("cuLaunchKernelEx", [&] { return machine().put(stream, std::move(work)); });
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"

stand_in::Symbols stand_in::cublas_symbols() {
  return {TRAINSCOPE_SYMBOL(cublasLtCreate),
          TRAINSCOPE_SYMBOL(cublasLtDestroy),
          TRAINSCOPE_SYMBOL(cublasLtMatmul),
          TRAINSCOPE_SYMBOL(cublasLtMatmulDescCreate),
          TRAINSCOPE_SYMBOL(cublasLtMatmulDescDestroy),
          TRAINSCOPE_SYMBOL(cublasLtMatmulDescSetAttribute),
          TRAINSCOPE_SYMBOL(cublasLtMatrixLayoutCreate),
          TRAINSCOPE_SYMBOL(cublasLtMatrixLayoutDestroy),
          TRAINSCOPE_SYMBOL(cublasLtMatmulPreferenceCreate),
          TRAINSCOPE_SYMBOL(cublasLtMatmulPreferenceDestroy),
          TRAINSCOPE_SYMBOL(cublasLtMatmulPreferenceSetAttribute),
          TRAINSCOPE_SYMBOL(cublasLtMatmulAlgoGetHeuristic)};
}
