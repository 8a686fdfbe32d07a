#include "host/embedding.h"

#include <catch2/catch.hpp>
#include <vector>

#include "host/golden.h"
#include "host/gradient.h"

using namespace trainscope;
using namespace trainscope::host;

TEST_CASE("embedding is PyTorch's: forward exactly, backward within a unit") {
  const GoldenCase golden = golden_case("embedding", "tokens");
  const auto& tokens = golden.integers.at("tokens");
  const MatrixShape shape{20, 16};
  std::vector<float> y(golden["y"].size());
  embedding_forward(shape, golden["table"], tokens, y);
  golden.check("y", y, 0);
  std::vector<float> dtable(shape.size(), 7.0F);
  embedding_backward(shape, tokens, golden["dy"], dtable, Into::kReplace);
  golden.check("dtable", dtable, 1);
}

TEST_CASE("the gradient of an embedding is its slope") {
  const MatrixShape shape{4, 3};
  std::vector<float> table = normal_values(12, 31);
  const std::vector<std::int64_t> tokens = {1, 3, 1, 0, 1};
  const std::vector<float> dy = normal_values(15, 32);
  std::vector<float> dtable(12);
  embedding_backward(shape, tokens, dy, dtable, Into::kReplace);
  const auto loss = [&] {
    std::vector<float> y(15);
    embedding_forward(shape, table, tokens, y);
    return dot(y, dy);
  };
  check_gradient(table, loss, dtable);
}

TEST_CASE("a token outside the table is refused by its place") {
  std::vector<float> y(6);
  const std::vector<std::int64_t> tokens = {0, 2};
  CHECK_THROWS_WITH(embedding_forward({2, 3}, std::vector<float>(6), tokens, y),
                    "token 2 at place 1 is not in the table, which has rows 0 to 1");
}
