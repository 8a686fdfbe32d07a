// Convolution, pooling and batch normalisation against PyTorch and finite differences.
#include <catch2/catch.hpp>
#include <vector>

#include "base/error.h"
#include "host/average_pool.h"
#include "host/batch_norm.h"
#include "host/conv2d.h"
#include "host/golden.h"
#include "host/gradient.h"
#include "host/max_pool.h"

using namespace trainscope;
using namespace trainscope::host;

namespace {

Conv2d conv_of(const GoldenCase& golden) {
  const ImageLayout layout =
      golden.count("channels_last") != 0 ? ImageLayout::kChannelsLast : ImageLayout::kChannelsFirst;
  const auto window = [&](const char* size) {
    return Window{golden.count(size), golden.count("stride"), golden.count("padding"),
                  golden.count("dilation")};
  };
  return {
      {golden.count("n"), golden.count("c"), golden.count("height"), golden.count("width"), layout},
      golden.count("o"),
      golden.count("groups"),
      window("kernel_height"),
      window("kernel_width")};
}

struct ConvRun {
  std::vector<float> y, dx, dw, db;
};

ConvRun run(const Conv2d& conv, Values x, Values w, Values b, Values dy) {
  ConvRun out{std::vector<float>(conv.output().size()), std::vector<float>(x.size(), 9.0F),
              std::vector<float>(w.size(), 9.0F), std::vector<float>(b.size(), 9.0F)};
  std::vector<float> room(conv.workspace());
  conv2d_forward(conv, x, w, b, out.y, room);
  conv2d_backward(conv, x, w, dy, {out.dx, out.dw, out.db}, room, Into::kReplace);
  return out;
}

struct NormRun {
  std::vector<float> y, mean, rstd, mean_after, variance_after, dx, dgamma, dbeta;
};

NormRun run(Mode mode, const ImageShape& shape, Values x, Values gamma, Values beta, Values dy,
            const std::vector<float>& mean, const std::vector<float>& variance) {
  const std::vector<float> channels(shape.channels);
  const std::vector<float> image(x.size());
  NormRun out{image, channels, channels, mean, variance, image, channels, channels};
  if (mode == Mode::kTrain) {
    batch_norm_train(shape, x, gamma, beta, out.y, {out.mean, out.rstd},
                     {out.mean_after, out.variance_after});
  } else {
    batch_norm_evaluate(shape, x, gamma, beta, mean, variance, out.y, {out.mean, out.rstd});
  }
  batch_norm_backward(mode, shape, x, gamma, dy, out.mean, out.rstd,
                      {out.dx, out.dgamma, out.dbeta}, Into::kReplace);
  return out;
}

// The same images with their channels innermost.
std::vector<float> channels_last(const ImageShape& shape, Values values) {
  std::vector<float> out(values.size());
  for (std::size_t n = 0; n < shape.batch; ++n) {
    for (std::size_t c = 0; c < shape.channels; ++c) {
      for (std::size_t p = 0; p < shape.pixels(); ++p) {
        out[n * shape.image_size() + p * shape.channels + c] =
            values[n * shape.image_size() + c * shape.pixels() + p];
      }
    }
  }
  return out;
}

ImageShape last(ImageShape shape) {
  shape.layout = ImageLayout::kChannelsLast;
  return shape;
}

}  // namespace

// PyTorch is 3 units from FP64 in y and dx, up to 6 in the sums over all pixels, dw and db.
TEST_CASE("convolution is PyTorch's, forward and backward, in both layouts") {
  for (const GoldenCase& golden : golden_cases("conv2d")) {
    const Conv2d conv = conv_of(golden);
    const ConvRun out = run(conv, golden["x"], golden["w"], golden["b"], golden["dy"]);
    golden.check("y", out.y, 8);
    golden.check("dx", out.dx, 8);
    golden.check("dw", out.dw, 12);
    golden.check("db", out.db, 8);
  }
}

TEST_CASE("the gradients of a convolution are its slopes") {
  for (const ImageLayout layout : {ImageLayout::kChannelsFirst, ImageLayout::kChannelsLast}) {
    const Conv2d conv{{2, 4, 6, 5, layout}, 6, 2, {3, 2, 1, 1}, {2, 1, 0, 2}};
    std::vector<float> x = normal_values(conv.input.size(), 61);
    std::vector<float> w = normal_values(conv.weights(), 62);
    std::vector<float> b = normal_values(6, 63);
    const std::vector<float> dy = normal_values(conv.output().size(), 64);
    const ConvRun out = run(conv, x, w, b, dy);
    const auto loss = [&] {
      std::vector<float> y(dy.size());
      std::vector<float> room(conv.workspace());
      conv2d_forward(conv, x, w, b, y, room);
      return dot(y, dy);
    };
    check_gradient(x, loss, out.dx);
    check_gradient(w, loss, out.dw);
    check_gradient(b, loss, out.db);
  }
}

TEST_CASE("each gradient of a convolution can be computed alone") {
  for (const ImageLayout layout : {ImageLayout::kChannelsFirst, ImageLayout::kChannelsLast}) {
    const Conv2d conv{{11, 4, 6, 5, layout}, 6, 2, {3, 2, 1, 1}, {2, 1, 0, 2}};
    const std::vector<float> x = normal_values(conv.input.size(), 65);
    const std::vector<float> w = normal_values(conv.weights(), 66);
    const std::vector<float> dy = normal_values(conv.output().size(), 67);
    const ConvRun whole = run(conv, x, w, std::vector<float>(6), dy);
    std::vector<float> dx(x.size(), 2.0F);
    std::vector<float> dw(w.size(), 2.0F);
    std::vector<float> db(6, 2.0F);
    std::vector<float> room(conv.workspace());
    conv2d_backward(conv, {}, w, dy, {dx, {}, {}}, room, Into::kReplace);
    conv2d_backward(conv, x, {}, dy, {{}, dw, {}}, room, Into::kReplace);
    conv2d_backward(conv, {}, {}, dy, {{}, {}, db}, room, Into::kReplace);
    CHECK(dx == whole.dx);
    CHECK(dw == whole.dw);
    CHECK(db == whole.db);
    conv2d_backward(conv, x, {}, dy, {{}, dw, db}, room, Into::kAdd);
    for (std::size_t i = 0; i < dw.size(); ++i) CHECK(dw[i] == Approx(2 * whole.dw[i]));
    for (std::size_t i = 0; i < db.size(); ++i) CHECK(db[i] == Approx(2 * whole.db[i]));
  }
}

TEST_CASE("a window knows at which places its elements are in the image") {
  int looked = 0;
  for (std::size_t code = 0; code < 5 * 3 * 5 * 3 * 8; ++code) {
    const Window window{code % 5 + 1, code / 5 % 3 + 1, code / 15 % 5, code / 75 % 3 + 1};
    const std::size_t length = code / 225 + 1;
    const std::size_t places = window.places(length);
    for (std::size_t k = 0; k < window.size && places > 0; ++k) {
      const auto [begin, end] = window.places_inside(k, length);
      for (std::size_t place = 0; place < places; ++place, ++looked) {
        const bool inside = window.source(place, k) < length;
        REQUIRE(inside == (place >= begin && place < end));
      }
    }
  }
  CHECK(looked > 10'000);
}

TEST_CASE("a convolution that does not fit is refused") {
  const ImageShape image{1, 3, 4, 4, ImageLayout::kChannelsFirst};
  CHECK_THROWS_WITH(require_fit({image, 4, 2, {3}, {3}}),
                    "2 groups do not divide a convolution of 3 channels into 4");
  CHECK_THROWS_WITH(require_fit({image, 4, 1, {5}, {3}}),
                    "a kernel of 5x3 does not fit an image of 4x4");
}

TEST_CASE("max-pooling is PyTorch's, exactly, ties and NaNs too") {
  for (const GoldenCase& golden : golden_cases("max_pool")) {
    const Window window{golden.count("kernel"), golden.count("stride"), golden.count("padding"),
                        golden.count("dilation")};
    const ImageShape shape{2, 3, golden.count("height"), golden.count("width"),
                           ImageLayout::kChannelsFirst};
    const MaxPool pool{shape, window, window};
    std::vector<float> y(pool.output().size());
    std::vector<std::int32_t> chosen(y.size());
    max_pool_forward(pool, golden["x"], y, chosen);
    golden.check("y", y, 0);
    CHECK(std::vector<std::int64_t>(chosen.begin(), chosen.end()) == golden.integers.at("chosen"));
    std::vector<float> dx(shape.size(), 3.0F);
    max_pool_backward(pool, golden["dy"], chosen, dx);
    golden.check("dx", dx, 1);

    const MaxPool other{last(shape), window, window};
    std::vector<float> y_last(y.size());
    max_pool_forward(other, channels_last(shape, golden["x"]), y_last, chosen);
    CHECK(worst_distance(y_last, channels_last(pool.output(), y)) == 0);
    std::vector<float> dx_last(dx.size());
    max_pool_backward(other, channels_last(pool.output(), golden["dy"]), chosen, dx_last);
    CHECK(dx_last == channels_last(shape, dx));
  }
}

TEST_CASE("a window of max-pooling that lies in the padding alone hands nothing back") {
  const Window window{2, 1, 1, 3};  // at its one place it looks at 2 and beyond, or before 0
  const MaxPool pool{{1, 1, 2, 2, ImageLayout::kChannelsFirst}, window, window};
  REQUIRE(pool.output().size() == 1);
  const std::vector<float> x{1, 2, 3, 4}, dy{5};
  std::vector<float> y(1), dx(4, 7.0F);
  std::vector<std::int32_t> chosen(1);
  max_pool_forward(pool, x, y, chosen);
  CHECK(chosen[0] == -1);
  max_pool_backward(pool, dy, chosen, dx);
  CHECK(dx == std::vector<float>(4, 0.0F));
}

TEST_CASE("the gradient of max-pooling is its slope") {
  const MaxPool pool{{1, 2, 6, 6, ImageLayout::kChannelsLast}, {3, 2, 1, 1}, {2, 2, 0, 1}};
  std::vector<float> x(pool.input.size());
  // All different by more than two steps, so that no difference crosses a kink.
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 29 % 72) / 8;
  std::vector<float> y(pool.output().size());
  std::vector<std::int32_t> chosen(y.size());
  const std::vector<float> dy = normal_values(y.size(), 71);
  max_pool_forward(pool, x, y, chosen);
  std::vector<float> dx(x.size());
  const std::vector<std::int32_t> before = chosen;
  max_pool_backward(pool, dy, before, dx);
  const auto loss = [&] {
    max_pool_forward(pool, x, y, chosen);
    return dot(y, dy);
  };
  check_gradient(x, loss, dx);
}

TEST_CASE("a pooling window that does not fit is refused") {
  const ImageShape shape{1, 1, 2, 2, ImageLayout::kChannelsFirst};
  std::vector<float> y;
  CHECK_THROWS_AS(max_pool_forward({shape, {3}, {3}}, std::vector<float>(4), y, {}), InputError);
  CHECK_THROWS_AS(max_pool_forward({shape, {2, 1, 2}, {2}}, std::vector<float>(4), y, {}),
                  InputError);
}

TEST_CASE("average pooling is PyTorch's, forward and backward, in both layouts") {
  for (const GoldenCase& golden : golden_cases("average_pool")) {
    const ImageShape shape{golden.count("n"), golden.count("c"), golden.count("height"),
                           golden.count("width"), ImageLayout::kChannelsFirst};
    std::vector<float> y(shape.batch * shape.channels);
    std::vector<float> dx(shape.size());
    average_pool_forward(shape, golden["x"], y);
    golden.check("y", y, 2);
    average_pool_backward(shape, golden["dy"], dx);
    golden.check("dx", dx, 1);

    std::vector<float> y_last(y.size());
    average_pool_forward(last(shape), channels_last(shape, golden["x"]), y_last);
    golden.check("y", y_last, 2);
    std::vector<float> dx_last(dx.size());
    average_pool_backward(last(shape), golden["dy"], dx_last);
    CHECK(dx_last == channels_last(shape, dx));
  }
}

TEST_CASE("the gradient of average pooling is its slope") {
  for (const ImageLayout layout : {ImageLayout::kChannelsFirst, ImageLayout::kChannelsLast}) {
    const ImageShape shape{2, 3, 3, 2, layout};
    std::vector<float> x = normal_values(shape.size(), 74);
    const std::vector<float> dy = normal_values(6, 75);
    std::vector<float> dx(x.size());
    average_pool_backward(shape, dy, dx);
    const auto loss = [&] {
      std::vector<float> y(6);
      average_pool_forward(shape, x, y);
      return dot(y, dy);
    };
    check_gradient(x, loss, dx);
  }
}

// The images of "shifted" have a mean of 20 standard deviations, which PyTorch folds into one
// factor and one shift: that puts it 14 units from FP64.
TEST_CASE("batch norm is PyTorch's in training and evaluation, its running moments too") {
  for (const GoldenCase& golden : golden_cases("batch_norm")) {
    const ImageShape shape{golden.count("n"), golden.count("c"), golden.count("height"),
                           golden.count("width"), ImageLayout::kChannelsFirst};
    const Mode mode = golden.name.ends_with("_train") ? Mode::kTrain : Mode::kEvaluate;
    const NormRun out = run(mode, shape, golden["x"], golden["gamma"], golden["beta"], golden["dy"],
                            golden["mean_before"], golden["variance_before"]);
    golden.check("y", out.y, 8);
    golden.check("mean_after", out.mean_after, 2);
    golden.check("variance_after", out.variance_after, 2);
    golden.check("dx", out.dx, 4);
    golden.check("dgamma", out.dgamma, 8);
    golden.check("dbeta", out.dbeta, 4);

    const NormRun other =
        run(mode, last(shape), channels_last(shape, golden["x"]), golden["gamma"], golden["beta"],
            channels_last(shape, golden["dy"]), golden["mean_before"], golden["variance_before"]);
    CHECK(other.y == channels_last(shape, out.y));
    CHECK(other.dx == channels_last(shape, out.dx));
  }
}

TEST_CASE("the gradients of batch norm are its slopes") {
  for (const Mode mode : {Mode::kTrain, Mode::kEvaluate}) {
    const ImageShape shape{3, 2, 2, 3, ImageLayout::kChannelsFirst};
    std::vector<float> x = normal_values(shape.size(), 81);
    std::vector<float> gamma = normal_values(2, 82);
    std::vector<float> beta = normal_values(2, 83);
    const std::vector<float> dy = normal_values(shape.size(), 84);
    const std::vector<float> mean = {0.25F, -0.5F};
    const std::vector<float> variance = {1.5F, 0.75F};
    const auto again = [&] { return run(mode, shape, x, gamma, beta, dy, mean, variance); };
    const NormRun out = again();
    const auto loss = [&] { return dot(again().y, dy); };
    check_gradient(x, loss, out.dx);
    check_gradient(gamma, loss, out.dgamma);
    check_gradient(beta, loss, out.dbeta);
  }
}

TEST_CASE("each gradient of batch norm can be computed alone") {
  for (const Mode mode : {Mode::kTrain, Mode::kEvaluate}) {
    const ImageShape shape{3, 18, 2, 3, ImageLayout::kChannelsLast};
    const std::vector<float> x = normal_values(shape.size(), 85);
    const std::vector<float> gamma = normal_values(18, 86);
    const std::vector<float> dy = normal_values(shape.size(), 87);
    const std::vector<float> ones(18, 1.0F);
    const NormRun whole = run(mode, shape, x, gamma, ones, dy, ones, ones);
    std::vector<float> dx(x.size());
    std::vector<float> dgamma(18);
    std::vector<float> dbeta(18);
    for (const NormGradients& one :
         {NormGradients{dx, {}, {}}, NormGradients{{}, dgamma, {}}, NormGradients{{}, {}, dbeta}}) {
      batch_norm_backward(mode, shape, x, gamma, dy, whole.mean, whole.rstd, one, Into::kReplace);
    }
    CHECK(dx == whole.dx);
    CHECK(dgamma == whole.dgamma);
    CHECK(dbeta == whole.dbeta);
  }
}

TEST_CASE("batch norm does not train on a single value") {
  std::vector<float> one(1);
  const ImageShape shape{1, 1, 1, 1, ImageLayout::kChannelsFirst};
  CHECK_THROWS_AS(batch_norm_train(shape, one, one, one, one, {one, one}, {one, one}), InputError);
}
