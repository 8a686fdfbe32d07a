// Lines of a listing in a narrow place.
#include "program/wrapped_line.h"

#include <catch2/catch.hpp>
#include <string>

using namespace trainscope;

namespace {

using Rows = std::vector<std::string_view>;

Rows rows(std::string_view line, std::size_t columns) {
  return program::wrapped(line, columns).rows;
}

}  // namespace

TEST_CASE("a line that fits stays whole") {
  CHECK(rows("loss.backward()", 40) == Rows{"loss.backward()"});
  CHECK(rows("loss.backward()", 15) == Rows{"loss.backward()"});
  CHECK(rows("", 40) == Rows{""});
}

TEST_CASE("a long line goes on after a comma, and no row begins with one") {
  CHECK(rows("x = x.to(device, non_blocking=True)", 30) ==
        Rows{"x = x.to(device, ", "non_blocking=True)"});
  const std::string_view adam = "optimizer = torch.optim.Adam(model.parameters(), lr=0.003)";
  CHECK(rows(adam, 50) == Rows{"optimizer = torch.optim.Adam(model.parameters(), ", "lr=0.003)"});
  // One column too few for the comma.
  CHECK(rows(adam, 47) == Rows{"optimizer = torch.optim.Adam(", "model.parameters(), lr=0.003)"});
}

TEST_CASE("a line is broken in as few brackets as it can be") {
  CHECK(rows("loss = F.cross_entropy(out.flatten(0, 1), y.flatten())", 40) ==
        Rows{"loss = F.cross_entropy(", "out.flatten(0, 1), y.flatten())"});
  CHECK(rows("    *(m for _ in range(15) for m in (nn.Linear(32, 32), nn.ReLU())),", 52) ==
        Rows{"    *(m for _ in range(15) for m in ", "(nn.Linear(32, 32), nn.ReLU())),"});
  CHECK(rows("    optimizer.zero_grad(set_to_none=True)", 38) ==
        Rows{"    optimizer.zero_grad(", "set_to_none=True)"});
}

TEST_CASE("a comment behind code goes below before it is cut") {
  CHECK(rows("    pin_memory=False, sampler=sampler)  # of each rank", 44) ==
        Rows{"    pin_memory=False, sampler=sampler)  ", "# of each rank"});
  CHECK(rows("# each rank runs all of this, on its own GPU", 36) ==
        Rows{"# each rank runs all of this, on its ", "own GPU"});
}

TEST_CASE("what goes on is set in by four more than its line, and no further than half way") {
  CHECK(program::wrapped("x = x.to(device, non_blocking=True)", 30).indent == 4);
  CHECK(program::wrapped("    x = x.to(device, non_blocking=True)", 30).indent == 8);
  CHECK(program::wrapped("                    pin_memory=False, x)", 30).indent == 15);
}

TEST_CASE("no row is wider than its place, and together they are the line") {
  const std::string line =
      "    schedule = ScheduleGPipe(stage, n_microbatches=8, loss_fn=lambda out, y: "
      "F.cross_entropy(out.flatten(0, 1), y.flatten()))  # of all";
  for (std::size_t columns = 12; columns < 140; ++columns) {
    CAPTURE(columns);
    const program::WrappedLine wrapped = program::wrapped(line, columns);
    std::string all;
    for (std::size_t i = 0; i < wrapped.rows.size(); ++i) {
      std::string_view row = wrapped.rows[i];
      all += row;
      while (row.ends_with(' ')) row.remove_suffix(1);
      CHECK(row.size() + (i == 0 ? 0 : wrapped.indent) <= columns);
      CHECK_FALSE(row.empty());
    }
    CHECK(all == line);
  }
  CHECK(rows("abcdefghijklmnopqrst", 12).front().size() == 12);  // nowhere to cut
}

TEST_CASE("brackets that hold nothing are no place to go on") {
  CHECK(program::breaks_in_brackets("f(x.g(), h(1))") == std::vector<std::size_t>{2, 11});
  CHECK(program::breaks_in_brackets("print(\"a (b)\")") == std::vector<std::size_t>{6});
}
