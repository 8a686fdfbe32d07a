// Matrix products by cuBLASLt, loaded when the first one is wanted: bias in the epilogue, and a
// plan for each shape, found once.
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "cuda/device/operation_kernels.h"
#include "cuda/plugin/library.h"

namespace trainscope::cuda {

class CublasProducts : public Products {
 public:
  CublasProducts();
  ~CublasProducts() override;
  CublasProducts(const CublasProducts&) = delete;

  // Why there are no matrix products; empty: there are.
  const std::string& why_not() const { return why_not_; }

  // Throws MissingError without the library, and an Error for a product that it has no kernel for.
  void multiply(const Product& product, kernels::Stream stream) override;

  // What belonged to a stream that is no more is another's.
  void forget(cudaStream_t stream);

 private:
  struct Functions;
  struct Plan;
  class Preference;
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, bool, int, int, int, int,
                         bool, std::int64_t, std::int64_t, std::array<std::uint32_t, 4>>;

  Plan& plan_for(const Product& product);
  std::unique_ptr<Plan> make_plan(const Product& product) const;
  void describe(const Product& product, Plan& plan) const;
  void lay_out(const Product& product, Plan& plan) const;
  void choose_algorithms(const Product& product, Plan& plan) const;
  void* workspace_of(cudaStream_t stream);

  Library library_;
  std::unique_ptr<Functions> functions_;
  std::string why_not_;
  cublasLtHandle_t handle_ = nullptr;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<Plan>> plans_;
  std::map<cudaStream_t, void*> workspaces_;
  std::vector<void*> idle_;
};

}  // namespace trainscope::cuda
