// Chains whose form is known when their kernels are compiled beside the kernel that reads their
// steps, to the bit; other tests hold that one against the steps one by one.

#include "kernels/compiled_chain.h"

#include "kernels/chain_support.h"
#include "kernels/compiled_chain.cuh"

using namespace trainscope;
using namespace trainscope::test;
using kernels::ChainNorm;
using kernels::ChainOfSums;
using kernels::ChainTerm;
using kernels::Matrix;
using kernels::NormChain;
using kernels::NormKind;

namespace {

// Every action, with a draw in the middle, of type T; what is left is of all types.
template <NumberType T>
constexpr Chain kAllActions{
    .reads = {{.type = T, .place = 0},
              {.type = T, .place = 1},
              {.type = NumberType::kFp32, .place = 2, .from = ChainFrom::kSingle}},
    .writes = {{.type = T, .place = 14},
               {.type = NumberType::kFp32, .place = 13},
               {.type = NumberType::kFp16, .place = 8},
               {.type = NumberType::kBf16, .place = 5}},
    .steps = {{ChainAction::kAdd, T, 0, 1, 3, 1},
              {ChainAction::kRelu, T, 3, 3, 4, 1},
              {ChainAction::kScaleBy, T, 4, 2, 5, 0.5F},
              {ChainAction::kDrop, T, 5, 0, 6, 1.25F},
              {ChainAction::kGeluErf, T, 6, 6, 7, 1},
              {ChainAction::kGeluTanh, NumberType::kFp32, 7, 7, 8, 1},
              {ChainAction::kReluSlope, T, 8, 1, 9, 1},
              {ChainAction::kGeluErfSlope, T, 9, 0, 10, 1},
              {ChainAction::kGeluTanhSlope, T, 10, 1, 11, 1},
              {ChainAction::kFill, T, 0, 0, 12, 3},
              {ChainAction::kScale, NumberType::kFp32, 12, 12, 13, 0.75F},
              {ChainAction::kTanh, T, 11, 11, 15, 1},
              {ChainAction::kTanhSlope, T, 15, 11, 16, 1},
              {ChainAction::kMove, NumberType::kBf16, 16, 16, 14, 1}},
    .drops = {},
    .pool = {},
    .read_count = 3,
    .write_count = 4,
    .step_count = 14};

// dropout(table[tokens] + positions) of type T; rows of the table may be a multiple of 8 long.
template <NumberType T, bool kInEights>
constexpr Chain kEmbedded{
    .reads = {{.type = T, .place = 0, .from = ChainFrom::kRowOf, .in_eights = kInEights},
              {.type = T, .place = 1, .from = ChainFrom::kRepeated, .in_eights = kInEights}},
    .writes = {{.type = T, .place = 3}},
    .steps = {{ChainAction::kAdd, T, 0, 1, 2, 1}, {ChainAction::kDrop, T, 2, 0, 3, 1.5F}},
    .drops = {},
    .pool = {},
    .read_count = 2,
    .write_count = 1,
    .step_count = 2};

// ReLU's slope of what both kinds of pooling hand back, added up.
template <NumberType T>
constexpr Chain kPooled{
    .reads = {{.type = T, .place = 0},
              {.type = T, .place = 1, .from = ChainFrom::kMaxPool},
              {.type = T, .place = 2, .from = ChainFrom::kAveragePool}},
    .writes = {{.type = T, .place = 4}},
    .steps = {{ChainAction::kAdd, T, 1, 2, 3, 1}, {ChainAction::kReluSlope, T, 0, 3, 4, 1}},
    .drops = {},
    .pool = {},
    .read_count = 3,
    .write_count = 1,
    .step_count = 2};

// A norm's gradient of a sum, and a norm of that, with steps before, between and behind.
template <NumberType T>
constexpr Chain kNormSteps{
    .reads = {{.type = T, .place = 0}, {.type = T, .place = 1}, {.type = T, .place = 2}},
    .writes = {{.type = T, .place = 7}, {.type = T, .place = 3}},
    .steps = {{ChainAction::kAdd, T, 1, 2, 3, 1},
              {ChainAction::kAdd, T, 4, 1, 5, 1},
              {ChainAction::kRelu, T, 6, 6, 7, 1}},
    .drops = {},
    .pool = {},
    .read_count = 3,
    .write_count = 2,
    .step_count = 3};
template <NumberType T>
constexpr NormChain kNorms{
    .chain = kNormSteps<T>,
    .norms = {{NormKind::kInputGradient, T, 0, 3, 4, 1}, {NormKind::kForward, T, 5, 5, 6, 2}},
    .norm_count = 2,
    .rows = {},
    .type = T};

// GELU's gradient, and its sums in FP32 and rounded to T.
template <NumberType T>
constexpr Chain kTerms{.reads = {{.type = T, .place = 0}, {.type = T, .place = 1}},
                       .writes = {{.type = T, .place = 2}},
                       .steps = {{ChainAction::kGeluErfSlope, T, 0, 1, 2, 1}},
                       .drops = {},
                       .pool = {},
                       .read_count = 2,
                       .write_count = 1,
                       .step_count = 1};
template <NumberType T>
constexpr Chain kSums{.reads = {},
                      .writes = {{.type = NumberType::kFp32, .place = 0}, {.type = T, .place = 1}},
                      .steps = {{ChainAction::kMove, T, 0, 0, 1, 1}},
                      .drops = {},
                      .pool = {},
                      .write_count = 2,
                      .step_count = 1};

template <const Chain& kForm, int kWidth>
void chain_entry(const Chain chain, bool packed) {
  kernels::compiled_chain<kForm, kWidth>(chain, packed);
}

template <typename T>
constexpr NumberType kTypeOf = number_of<T>();

// What the chain writes, to be compared. It stays where it is.
struct Written {
  Written(Written&&) = default;
  explicit Written(Chain& chain, std::size_t shift = 0) {
    for (int k = 0; k < chain.write_count; ++k) {
      memory.emplace_back(4 * (chain.values + shift) + 16);
      const std::size_t each = chain.writes[k].type == NumberType::kFp32 ? 4 : 2;
      chain.writes[k].memory = memory.back().data() + shift * each;
    }
  }
  bool operator==(const Written& other) const { return memory == other.memory; }
  std::vector<std::vector<char>> memory;
};

Written read_steps(Chain chain, Stream stream, std::size_t shift = 0) {
  Written written(chain, shift);
  kernels::run_chain(stream, chain);
  return written;
}

template <const Chain& kForm, int kWidth>
Written known_steps(Chain chain, Stream stream, std::size_t shift = 0) {
  Written written(chain, shift);
  kernels::launch("chain", chain_entry<kForm, kWidth>, stream, kernels::shape_for(chain.values),
                  chain, kernels::is_packed(chain, kWidth));
  return written;
}

template <const Chain& kForm>
void check_widths(const Chain& chain, Stream stream, std::size_t shift = 0) {
  const Written want = read_steps(chain, stream, shift);
  CHECK(known_steps<kForm, 4>(chain, stream, shift) == want);
  CHECK(known_steps<kForm, 8>(chain, stream, shift) == want);
}

// `shift`: how many values past an aligned address all arrays begin; `words`: draws before.
template <typename T>
void check_actions(std::size_t count, std::size_t shift, std::uint64_t words, Stream stream) {
  const auto a = rounded<T>(numbers(count + shift, 1)), b = rounded<T>(numbers(count + shift, 2));
  const float number = 1.75F;
  Chain chain = kAllActions<kTypeOf<T>>;
  chain.values = count;
  chain.drops[0] = {0.2F, 7, 1, words};
  chain.reads[0].memory = a.data() + shift;
  chain.reads[1].memory = b.data() + shift;
  chain.reads[2].memory = &number;
  check_widths<kAllActions<kTypeOf<T>>>(chain, stream, shift);
}

template <typename T, bool kInEights>
void check_embedded(std::size_t tokens, std::size_t width, Stream stream) {
  const auto table = rounded<T>(numbers(5 * width, 3)), rows = rounded<T>(numbers(2 * width, 4));
  std::vector<std::int64_t> index(tokens);
  for (std::size_t t = 0; t < tokens; ++t) index[t] = static_cast<std::int64_t>(t * 3 % 5);
  Chain chain = kEmbedded<kTypeOf<T>, kInEights>;
  chain.values = tokens * width;
  chain.drops[0] = {0.3F, 7, 1, 8};
  for (kernels::ChainRead* read : {&chain.reads[0], &chain.reads[1]})
    read->extent = kernels::Divisor(width);
  chain.reads[0].memory = table.data();
  chain.reads[0].rows = 5;
  chain.reads[0].index = index.data();
  chain.reads[1].memory = rows.data();
  chain.reads[1].extent = kernels::Divisor(2 * width);
  check_widths<kEmbedded<kTypeOf<T>, kInEights>>(chain, stream);
}

template <typename T>
void check_pooled(const kernels::MaxPool& pool, Stream stream) {
  const std::size_t count = pool.input.size(), outputs = pool.output().size();
  const auto planes = static_cast<std::size_t>(pool.input.batch * pool.input.channels);
  const auto x = rounded<T>(numbers(count, 5)), dy = rounded<T>(numbers(outputs, 6));
  const auto dmean = rounded<T>(numbers(planes, 7));
  std::vector<T> pooled(outputs);
  std::vector<std::int32_t> chosen(outputs);
  kernels::max_pool_forward(stream, pool, x.data(), pooled.data(), chosen.data());
  Chain chain = kPooled<kTypeOf<T>>;
  chain.values = count;
  chain.pool = pool;
  chain.reads[0].memory = x.data();
  chain.reads[1].memory = dy.data();
  chain.reads[1].index = chosen.data();
  chain.reads[2].memory = dmean.data();
  check_widths<kPooled<kTypeOf<T>>>(chain, stream);
}

template <NumberType T>
void norm_entry(const NormChain chain, kernels::NormWalk walk, bool at_once) {
  constexpr int kWidth = T == NumberType::kFp32 ? 4 : 8;
  if (at_once) return kernels::compiled_norm_chain<kNorms<T>, kNormSteps<T>, kWidth>(chain, walk);
  kernels::compiled_norm_walks<kNorms<T>, kNormSteps<T>, kWidth>(chain, walk);
}

// What a chain of norms leaves.
struct WithNorms {
  Written values;
  std::vector<float> mean, rstd;
  bool operator==(const WithNorms&) const = default;
};

struct WithSums {
  Written values, sums;
  bool operator==(const WithSums&) const = default;
};

// In walks, and where a row is narrow enough at once. `shift`: as above.
template <typename T>
void check_norms(const Matrix& shape, std::size_t shift, Stream stream) {
  const auto x = rounded<T>(numbers(shape.size() + shift, 5)),
             a = rounded<T>(numbers(shape.size() + shift, 6)),
             b = rounded<T>(numbers(shape.size() + shift, 7));
  const auto gamma = numbers(shape.columns, 8), beta = numbers(shape.columns, 9);
  std::vector<float> mean = numbers(shape.rows, 10), rstd = numbers(shape.rows, 11);
  NormChain all = kNorms<kTypeOf<T>>;
  all.rows = shape;
  all.chain.values = shape.size();
  const std::vector<T>* reads[] = {&x, &a, &b};
  for (int k = 0; k < 3; ++k) all.chain.reads[k].memory = reads[k]->data() + shift;
  for (ChainNorm& norm : all.norms) {
    norm.eps = 1e-5F;
    norm.gamma = gamma.data();
    norm.beta = beta.data();
  }
  all.norms[0].mean = mean.data();
  all.norms[0].rstd = rstd.data();
  const auto carried_out = [&](const auto& run) {
    NormChain one = all;
    WithNorms left{Written(one.chain, shift), std::vector<float>(shape.rows),
                   std::vector<float>(shape.rows)};
    one.norms[1].mean = left.mean.data();
    one.norms[1].rstd = left.rstd.data();
    run(one);
    return left;
  };
  const auto started = [&](bool at_once) {
    return carried_out([&](const NormChain& one) {
      kernels::start_norm_chain(one, [&](const char* name, const kernels::Shape& grid, void** of) {
        kernels::launch(name, norm_entry<kTypeOf<T>>, stream, grid,
                        *static_cast<const NormChain*>(of[0]),
                        *static_cast<const kernels::NormWalk*>(of[1]), at_once);
      });
    });
  };
  const auto want =
      carried_out([&](const NormChain& one) { kernels::run_norm_chain(stream, one); });
  if (kernels::is_at_once(all) && shift > 0) {
    NormChain one = all;
    CHECK_FALSE(kernels::start_norm_chain(one, {}));
    return;
  }
  CHECK(started(false) == want);
  if (kernels::is_at_once(all)) CHECK(started(true) == want);
}

template <NumberType T>
struct ColumnEntries {
  static void whole(const ChainTerm term, kernels::ColumnShape shape, const ChainOfSums sums) {
    kernels::compiled_column_chain<kTerms<T>, 2, 4, kSums<T>>(term, shape, sums);
  }
  static void parts(const ChainTerm term, kernels::ColumnShape shape, kernels::KeepPart keep) {
    kernels::compiled_column_parts<kTerms<T>, 2, 8>(term, shape, keep);
  }
  static void sums(kernels::PartSums of, const ChainOfSums sums) {
    kernels::compiled_column_sums<kSums<T>>(of, sums);
  }
};

template <typename... Parameters, std::size_t... k>
void launch_with(void (*kernel)(Parameters...), Stream stream, const kernels::Shape& shape,
                 void** arguments, std::index_sequence<k...>) {
  kernels::launch("column_chain", kernel, stream, shape,
                  *static_cast<std::remove_const_t<Parameters>*>(arguments[k])...);
}

template <typename T>
void check_columns(const Matrix& shape, Stream stream) {
  const auto x = rounded<T>(numbers(shape.size(), 1)), dy = rounded<T>(numbers(shape.size(), 2));
  kernels::ColumnChain all{kTerms<kTypeOf<T>>, 2, kSums<kTypeOf<T>>};
  all.values.values = shape.size();
  all.sums.values = shape.columns;
  all.values.reads[0].memory = x.data();
  all.values.reads[1].memory = dy.data();
  std::vector<float> room(kernels::column_chain_workspace(shape));
  const auto carried_out = [&](const auto& run) {
    kernels::ColumnChain one = all;
    WithSums left{Written(one.values), Written(one.sums)};
    run(one);
    return left;
  };
  const auto want = carried_out([&](const kernels::ColumnChain& one) {
    kernels::run_column_chain(stream, shape, one, room.data());
  });
  using Entries = ColumnEntries<kTypeOf<T>>;
  const auto found = carried_out([&](const kernels::ColumnChain& one) {
    kernels::start_column_chain(
        shape, one, room.data(),
        [&](const std::string& name, const kernels::Shape& grid, void** of) {
          const auto three = std::make_index_sequence<3>();
          if (name == "column_chain") return launch_with(&Entries::whole, stream, grid, of, three);
          if (name == "column_chain_parts")
            return launch_with(&Entries::parts, stream, grid, of, three);
          launch_with(&Entries::sums, stream, grid, of, std::make_index_sequence<2>());
        });
  });
  CHECK(found == want);
}

}  // namespace

TEST_CASE("a compiled chain gives the bits of the one whose steps are read, for every action") {
  for (const Stream stream : kOrders)
    for (const std::size_t count : {1, 3, 8, 31, 257, 1000})
      for (const std::size_t shift : {0, 1}) {
        check_actions<float>(count, shift, 0, stream);
        check_actions<Half>(count, shift, 5, stream);
        check_actions<Bfloat16>(count, shift, 4, stream);
      }
}

TEST_CASE("a compiled chain reads tables, positions and pooled gradients where they are") {
  for (const Stream stream : kOrders) {
    for (const std::size_t width : {1, 7, 64}) {
      check_embedded<float, false>(6, width, stream);
      check_embedded<Half, false>(2, width, stream);
    }
    for (const std::size_t width : {8, 64}) {
      check_embedded<float, true>(6, width, stream);
      check_embedded<Bfloat16, true>(4, width, stream);
    }
    for (const bool last : {false, true}) {
      check_pooled<float>({{1, 3, 5, 7, last}, {3, 2, 1}, {3, 1, 1}}, stream);
      check_pooled<Half>({{2, 3, 4, 5, last}, {2, 2}, {2, 2}}, stream);
      check_pooled<Bfloat16>({{1, 1, 1, 1, last}, {}, {}}, stream);
    }
  }
}

TEST_CASE("compiled norms give the bits of those whose form is read, in walks and at once") {
  for (const Matrix& shape :
       {Matrix{1, 1}, Matrix{3, 7}, Matrix{7, 64}, Matrix{2, 1001}, Matrix{2, 1024}})
    for (const std::size_t shift : {0, 1}) {
      check_norms<float>(shape, shift, Stream{});
      check_norms<Half>(shape, shift, Stream{1});
      check_norms<Bfloat16>(shape, shift, Stream{2});
    }
  check_norms<float>({2, 2056}, 0, Stream{3});
  for (const Stream stream : kOrders) check_norms<float>({5, 132}, 0, stream);
}

TEST_CASE("compiled sums down columns give the bits of those whose form is read") {
  for (const Matrix& shape :
       {Matrix{1, 1}, Matrix{1, 33}, Matrix{7, 3}, Matrix{300, 5}, Matrix{129, 70}}) {
    check_columns<float>(shape, Stream{});
    check_columns<Half>(shape, Stream{1});
    check_columns<Bfloat16>(shape, Stream{2});
  }
  for (const Stream stream : kOrders) check_columns<float>({130, 9}, stream);
}

TEST_CASE("a compiled chain of no values starts no kernel") {
  kernels::start_chain({}, {});
  CHECK(kernels::start_norm_chain({}, {}));
  kernels::start_column_chain({3, 0}, {}, nullptr, {});
}
