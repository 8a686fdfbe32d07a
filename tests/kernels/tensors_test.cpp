// Lists of tensors: what a kernel does to all of them is what it does to each alone, wherever they
// lie and however many there are.
#include "kernels/tensors.h"

#include <numeric>

#include "host/clip_gradients.h"
#include "kernels/compare.h"
#include "kernels/elementwise.h"
#include "kernels/gradient_norm.h"
#include "kernels/loss_scale.h"
#include "kernels/optimizers.h"

using namespace trainscope;
using namespace trainscope::test;
using kernels::Tensor;

namespace {

using Counts = std::vector<std::size_t>;

// Empty ones at both ends and between, one value, whole chunks, one value less and more.
const Counts kFew = {0, 1, 3, 4096, 0, 4095, 4097, 9001, 64, 0};

// More than any table holds, some of them empty.
Counts many() {
  Counts counts(401);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i % 7;
  return counts;
}

std::size_t total(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

// Tensors in one piece of memory, side by side: aligned or not as it comes. Between them is a value
// that nobody may write.
template <typename T>
class Placed {
 public:
  Placed(const Counts& counts, std::uint64_t seed, std::size_t from = 0)
      : counts_(counts), from_(from) {
    memory_ = rounded<T>(numbers(total(counts) + counts.size() + 1, seed));
    memory_.insert(memory_.begin(), from, T());
    before_ = memory_;
  }

  T* at(std::size_t tensor) {
    T* place = memory_.data() + from_ + 1;
    for (std::size_t i = 0; i < tensor; ++i) place += counts_[i] + 1;
    return place;
  }
  std::vector<Tensor<T>> list() {
    std::vector<Tensor<T>> tensors;
    for (std::size_t i = 0; i < counts_.size(); ++i) tensors.push_back({at(i), counts_[i]});
    return tensors;
  }
  std::vector<T> values() {
    std::vector<T> all;
    for (const auto& one : list()) all.insert(all.end(), one.values, one.values + one.count);
    return all;
  }
  bool kept_between() {
    std::size_t place = from_;
    bool same = same_bits<T>({memory_[place]}, {before_[place]});
    for (const std::size_t count : counts_) {
      place += count + 1;
      same = same && same_bits<T>({memory_[place]}, {before_[place]});
    }
    return same;
  }

 private:
  Counts counts_;
  std::size_t from_;
  std::vector<T> memory_;
  std::vector<T> before_;
};

// What a step reads and writes; the copy lies somewhat further on, `from` values.
template <typename G>
struct Model {
  explicit Model(const Counts& counts, std::size_t from = 0)
      : gradient(counts, 71),
        parameter(counts, 72),
        first(counts, 73),
        second(counts, 74),
        copy(counts, 75, from) {
    for (const auto& one : second.list())
      for (std::size_t i = 0; i < one.count; ++i) one.values[i] = std::abs(one.values[i]);
  }
  Placed<G> gradient;
  Placed<float> parameter, first, second;
  Placed<G> copy;

  bool kept_between() {
    return parameter.kept_between() && first.kept_between() && second.kept_between() &&
           copy.kept_between();
  }
};

template <typename G>
bool same(Model<G>& a, Model<G>& b) {
  return same_bits(a.parameter.values(), b.parameter.values()) &&
         same_bits(a.first.values(), b.first.values()) &&
         same_bits(a.second.values(), b.second.values()) &&
         same_bits(a.copy.values(), b.copy.values());
}

template <typename G>
void check_adam(const Counts& counts, Stream stream) {
  const kernels::Adam options{1e-2, 0.9, 0.999, 1e-8, 0.1, true};
  const float scale = 8;
  Model<G> together(counts), alone(counts, 1);
  std::vector<kernels::AdamArrays<G>> all, one(1);
  const auto arrays = [](Model<G>& model, std::size_t i, std::size_t count) {
    return kernels::AdamArrays<G>{model.gradient.at(i), model.parameter.at(i), model.first.at(i),
                                  model.second.at(i),   model.copy.at(i),      count};
  };
  kernels::AdamState state;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    all.push_back(arrays(together, i, counts[i]));
    one[0] = arrays(alone, i, counts[i]);
    kernels::AdamState own;
    kernels::adam_step<G, float>(Stream{}, options, {&scale, nullptr}, &own, one);
  }
  kernels::adam_step<G, float>(stream, options, {&scale, nullptr}, &state, all);
  CHECK(state.step == 1);
  CHECK(same(together, alone));
  CHECK(together.kept_between());
}

template <typename G>
void check_sgd(const Counts& counts, Stream stream) {
  const kernels::Sgd options{0.1F, 0.9F, 0.1F, 1e-2F, true};
  Model<G> together(counts), alone(counts, 1);
  std::vector<kernels::SgdArrays<G>> all, one(1);
  const auto arrays = [](Model<G>& model, std::size_t i, std::size_t count) {
    return kernels::SgdArrays<G>{model.gradient.at(i), model.parameter.at(i), model.first.at(i),
                                 model.copy.at(i), count};
  };
  kernels::SgdState state;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    all.push_back(arrays(together, i, counts[i]));
    one[0] = arrays(alone, i, counts[i]);
    kernels::SgdState own;
    for (int step = 0; step < 2; ++step)
      kernels::sgd_step<G, float>(Stream{}, options, {}, &own, one);
  }
  for (int step = 0; step < 2; ++step)
    kernels::sgd_step<G, float>(stream, options, {}, &state, all);
  CHECK(state.steps == 2);
  CHECK(state.done == 0);
  CHECK(same(together, alone));
  CHECK(together.kept_between());
}

template <typename T>
void check_unscale(const Counts& counts, Stream stream) {
  Placed<T> gradients(counts, 76);
  std::vector<T> expected = gradients.values();
  for (T& value : expected) value = as<T>(as_float(value) * 0.3F);
  const float inverse = 0.3F;
  float found_inf = 0;
  kernels::unscale<T>(stream, gradients.list(), &inverse, &found_inf);
  CHECK(found_inf == 0);
  CHECK(same_bits(gradients.values(), expected));
  CHECK(gradients.kept_between());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    T& last = gradients.at(i)[counts[i] - 1];
    const T before = std::exchange(last, as<T>(i % 2 == 0 ? INFINITY : NAN));
    found_inf = 0;
    kernels::unscale<T>(stream, gradients.list(), nullptr, &found_inf);
    CHECK(found_inf == 1);
    last = before;
    if (counts.size() > kFew.size()) i += 50;
  }
}

template <typename T>
void check_fill(const Counts& counts, Stream stream) {
  Placed<T> tensors(counts, 77);
  kernels::fill<T>(stream, tensors.list(), 0.7F);
  CHECK(same_bits(tensors.values(), std::vector<T>(total(counts), as<T>(0.7F))));
  CHECK(tensors.kept_between());
}

void check_norm(const Counts& counts, Stream stream) {
  Placed<float> own(counts, 78), other(counts, 78);
  std::vector<host::Results> all;
  std::vector<Tensor<const float>> read;
  std::size_t room = 0;
  for (const auto& one : other.list()) all.emplace_back(one.values, one.count);
  for (const auto& one : own.list()) {
    read.push_back({one.values, one.count});
    room += kernels::squares_workspace(one.count);
  }
  const float norm = host::clip_gradients(all, 1.5);
  std::vector<float> workspace(room), found(1, -1.0F);
  kernels::gradient_norm<float>(stream, read, workspace.data(), found.data());
  check_near(found, {norm}, 8);
  kernels::clip_gradients<float>(stream, &norm, 1.5F, own.list());
  CHECK(same_bits(own.values(), other.values()));
  CHECK(own.kept_between());
}

template <typename T>
void check_all(const Counts& counts, Stream stream) {
  check_adam<T>(counts, stream);
  check_sgd<T>(counts, stream);
  check_unscale<T>(counts, stream);
  check_fill<T>(counts, stream);
}

}  // namespace

TEST_CASE("a step of many tensors is each one's own, to the bit") {
  for (const Stream stream : kOrders)
    for (const Counts& counts : {kFew, many(), Counts{}, Counts{0, 0}, Counts{1}}) {
      if (total(counts) > 0) {
        check_all<float>(counts, stream);
        check_all<Half>(counts, stream);
        check_all<Bfloat16>(counts, stream);
      }
      check_norm(counts, stream);
    }
}

TEST_CASE("a step of many tensors that is skipped writes nothing") {
  const Counts counts = many();
  Model<Half> model(counts), before(counts);
  const float scale = 2, found_inf = 1;
  std::vector<kernels::AdamArrays<Half>> list;
  for (std::size_t i = 0; i < counts.size(); ++i)
    list.push_back({model.gradient.at(i), model.parameter.at(i), model.first.at(i),
                    model.second.at(i), model.copy.at(i), counts[i]});
  kernels::AdamState state;
  kernels::adam_step<Half, float>(Stream{}, {}, {&scale, &found_inf}, &state, list);
  CHECK(state.step == 0);
  CHECK(same(model, before));
}
