#include "cuda/plugin/cublas_products.h"

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cuda/plugin/device_memory.h"
#include "cuda/plugin/require.h"

namespace trainscope::cuda {
namespace {

// What NVIDIA's documentation of cublasSetWorkspace recommends for Hopper and later.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;
constexpr int kMostAlgorithms = 8;

cudaDataType data_type(program::ElementType type) {
  switch (type) {
    case program::ElementType::kFp16:
      return CUDA_R_16F;
    case program::ElementType::kBf16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

// Bytes of which the address is a multiple: 256 where it is of more, as the heuristics take it.
std::uint32_t alignment_of(const Operand& operand) {
  constexpr std::uintptr_t kMost = 256;
  const auto address = reinterpret_cast<std::uintptr_t>(operand.memory) | kMost;
  return static_cast<std::uint32_t>(address & (~address + 1));
}

// Of cuBLAS's first and second matrix, of the result, which is both what is read and what is
// written, and of the bias, by whose pointer the heuristics tell its alignment.
std::array<std::uint32_t, 4> alignments_of(const Product& p) {
  return {alignment_of(p.b), alignment_of(p.a), alignment_of(p.c), alignment_of(p.bias)};
}

void require_cublas(cublasStatus_t status, const char* call, const Product& product) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(Fault::kMissing, std::string("cuBLASLt cannot multiply matrices of ") +
                                   std::to_string(product.m) + " x " + std::to_string(product.k) +
                                   " x " + std::to_string(product.n) + ": " + call + " says " +
                                   std::to_string(static_cast<int>(status)));
}

}  // namespace

struct CublasProducts::Functions {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;

  bool find(const Library& library) {
    const auto get = [&](auto& function, const char* name) { return library.find(function, name); };
    return get(create, "cublasLtCreate") && get(destroy, "cublasLtDestroy") &&
           get(matmul, "cublasLtMatmul") && get(desc_create, "cublasLtMatmulDescCreate") &&
           get(desc_destroy, "cublasLtMatmulDescDestroy") &&
           get(desc_set, "cublasLtMatmulDescSetAttribute") &&
           get(layout_create, "cublasLtMatrixLayoutCreate") &&
           get(layout_destroy, "cublasLtMatrixLayoutDestroy") &&
           get(preference_create, "cublasLtMatmulPreferenceCreate") &&
           get(preference_destroy, "cublasLtMatmulPreferenceDestroy") &&
           get(preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
           get(heuristic, "cublasLtMatmulAlgoGetHeuristic");
  }
};

// cuBLAS has matrices column by column: what lies row by row is its transpose there. So
// C = op(A) op(B) row by row is Cᵀ = op(B)ᵀ op(A)ᵀ, with A and B changing places.
struct CublasProducts::Plan {
  explicit Plan(const Functions& all) : functions(all) {}
  ~Plan() {
    if (desc) functions.desc_destroy(desc);
    for (cublasLtMatrixLayout_t layout : {first, second, result})
      if (layout) functions.layout_destroy(layout);
  }
  const Functions& functions;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t first = nullptr;   // of B
  cublasLtMatrixLayout_t second = nullptr;  // of A
  cublasLtMatrixLayout_t result = nullptr;
  // The first is expected to be the fastest; one that fails is taken out.
  std::vector<cublasLtMatmulAlgo_t> algorithms;
};

CublasProducts::CublasProducts() : library_({"libcublasLt.so.13"}) {
  if (!library_.is_there()) {
    why_not_ = "matrix products need cuBLASLt, which is missing (" + library_.why_not() +
               "); install the CUDA 13 runtime libraries";
    return;
  }
  functions_ = std::make_unique<Functions>();
  if (!functions_->find(library_) || functions_->create(&handle_) != CUBLAS_STATUS_SUCCESS)
    why_not_ = "matrix products need cuBLASLt of CUDA 13, and the one that is here does not start";
}

CublasProducts::~CublasProducts() {
  plans_.clear();
  for (const auto& [stream, memory] : workspaces_) cudaFree(memory);
  for (void* memory : idle_) cudaFree(memory);
  if (handle_) functions_->destroy(handle_);
}

// Of how the heuristics are to choose.
class CublasProducts::Preference {
 public:
  Preference(const Functions& all, const Product& product) : functions_(all), product_(product) {
    require_cublas(functions_.preference_create(&preference_), "cublasLtMatmulPreferenceCreate",
                   product_);
  }
  ~Preference() { functions_.preference_destroy(preference_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;

  template <typename Value>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
    require_cublas(functions_.preference_set(preference_, attribute, &value, sizeof(value)),
                   "cublasLtMatmulPreferenceSetAttribute", product_);
  }
  cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  const Functions& functions_;
  const Product& product_;
  cublasLtMatmulPreference_t preference_ = nullptr;
};

void CublasProducts::describe(const Product& p, Plan& plan) const {
  const Functions& f = *functions_;
  const cublasComputeType_t compute = p.arithmetic == program::ElementType::kTf32
                                          ? CUBLAS_COMPUTE_32F_FAST_TF32
                                          : CUBLAS_COMPUTE_32F;
  require_cublas(f.desc_create(&plan.desc, compute, CUDA_R_32F), "cublasLtMatmulDescCreate", p);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    require_cublas(f.desc_set(plan.desc, attribute, &value, sizeof(value)),
                   "cublasLtMatmulDescSetAttribute", p);
  };
  const cublasOperation_t first = p.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second = p.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  set(CUBLASLT_MATMUL_DESC_TRANSA, first);
  set(CUBLASLT_MATMUL_DESC_TRANSB, second);
  if (!p.bias.memory) return;
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias.memory);
  set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, data_type(p.bias.type));
}

// As the matrices lie: B is [n, k] where transposed, else [k, n]; A is [k, m] where transposed.
void CublasProducts::lay_out(const Product& p, Plan& plan) const {
  const auto layout = [&](cublasLtMatrixLayout_t& to, program::ElementType type, std::int64_t rows,
                          std::int64_t columns, std::int64_t stride) {
    require_cublas(
        functions_->layout_create(&to, data_type(type), static_cast<std::uint64_t>(rows),
                                  static_cast<std::uint64_t>(columns), stride > 0 ? stride : rows),
        "cublasLtMatrixLayoutCreate", p);
  };
  layout(plan.first, p.b.type, p.b_transposed ? p.k : p.n, p.b_transposed ? p.n : p.k, p.b_stride);
  layout(plan.second, p.a.type, p.a_transposed ? p.m : p.k, p.a_transposed ? p.k : p.m, p.a_stride);
  layout(plan.result, p.c.type, p.n, p.m, 0);
}

void CublasProducts::choose_algorithms(const Product& p, Plan& plan) const {
  Preference preference(*functions_, p);
  preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
  // Parts of a sum are added as wide as they are computed, not in the type of the result.
  const std::uint32_t sums = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  preference.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, sums);
  const auto [first, second, result, bias] = alignments_of(p);
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, first);
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, second);
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, result);
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, result);
  std::array<cublasLtMatmulHeuristicResult_t, kMostAlgorithms> results{};
  int found = 0;
  const cublasStatus_t status =
      functions_->heuristic(handle_, plan.desc, plan.first, plan.second, plan.result, plan.result,
                            preference.get(), kMostAlgorithms, results.data(), &found);
  require_cublas(
      found == 0 && status == CUBLAS_STATUS_SUCCESS ? CUBLAS_STATUS_NOT_SUPPORTED : status,
      "cublasLtMatmulAlgoGetHeuristic", p);
  for (const auto& one : std::span(results).first(static_cast<std::size_t>(found)))
    if (one.state == CUBLAS_STATUS_SUCCESS) plan.algorithms.push_back(one.algo);
}

std::unique_ptr<CublasProducts::Plan> CublasProducts::make_plan(const Product& p) const {
  auto plan = std::make_unique<Plan>(*functions_);
  describe(p, *plan);
  lay_out(p, *plan);
  choose_algorithms(p, *plan);
  return plan;
}

CublasProducts::Plan& CublasProducts::plan_for(const Product& p) {
  const auto number = [](program::ElementType type) { return static_cast<int>(type); };
  const Key key{p.m,
                p.n,
                p.k,
                p.a_transposed,
                p.b_transposed,
                number(p.a.type),
                number(p.b.type),
                number(p.c.type),
                number(p.arithmetic),
                p.bias.memory != nullptr,
                p.a_stride,
                p.b_stride,
                alignments_of(p)};
  std::unique_ptr<Plan>& plan = plans_[key];
  if (!plan) plan = make_plan(p);
  return *plan;
}

// Products on one stream follow one another, so they share room.
void* CublasProducts::workspace_of(cudaStream_t stream) {
  void*& memory = workspaces_[stream];
  if (memory) return memory;
  if (idle_.empty()) {
    TRAINSCOPE_CUDA(allocate_beside_pool(&memory, kWorkspaceBytes));
  } else {
    memory = idle_.back();
    idle_.pop_back();
  }
  return memory;
}

void CublasProducts::forget(cudaStream_t stream) {
  const std::lock_guard held(mutex_);
  const auto found = workspaces_.find(stream);
  if (found == workspaces_.end()) return;
  idle_.push_back(found->second);
  workspaces_.erase(found);
}

void CublasProducts::multiply(const Product& p, kernels::Stream stream) {
  if (!why_not_.empty()) throw MissingError(why_not_);
  const std::lock_guard held(mutex_);
  Plan& plan = plan_for(p);
  if (p.bias.memory)
    require_cublas(functions_->desc_set(plan.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                        &p.bias.memory, sizeof(p.bias.memory)),
                   "cublasLtMatmulDescSetAttribute", p);
  const cudaStream_t on = kernels::handle_of(stream);
  const float one = 1, zero = 0;
  cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
  while (!plan.algorithms.empty()) {
    status =
        functions_->matmul(handle_, plan.desc, &one, p.b.memory, plan.first, p.a.memory,
                           plan.second, &zero, p.c.memory, plan.result, p.c.memory, plan.result,
                           plan.algorithms.data(), workspace_of(on), kWorkspaceBytes, on);
    const bool cannot = status == CUBLAS_STATUS_NOT_SUPPORTED ||
                        status == CUBLAS_STATUS_INVALID_VALUE ||
                        status == CUBLAS_STATUS_ARCH_MISMATCH;
    if (!cannot) break;
    plan.algorithms.erase(plan.algorithms.begin());
  }
  require_cublas(status, "cublasLtMatmul", p);
}

}  // namespace trainscope::cuda
