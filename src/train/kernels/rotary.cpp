#include "train/kernels/rotary.h"

#include "train/kernels/kernels.h"

namespace trainscope::train {
namespace {

using program::ElementType;
using program::Index;
using program::Operation;

// All heads share cosines and sines; halves lie apart (one_by_one.h).
constexpr const char* kByTable = "elementwise_kernel: mul";
constexpr const char* kNegated = "elementwise_kernel: neg";

class WrittenRotation {
 public:
  WrittenRotation(const program::Program& program, const Operation& whole,
                  const RotaryTables& tables, const NewBuffer& new_buffer)
      : all_(program, whole, new_buffer),
        f_(std::get<program::Rotate>(whole.function)),
        tables_(tables),
        from_(whole.reads[0]),
        to_(whole.writes[0]) {}

  std::vector<WrittenLaunch> launches() {
    if (f_.back) {
      backward();
    } else {
      forward();
    }
    return all_.finish({from_});
  }

 private:
  void forward() {
    const ElementType type = all_.type_of(from_), wide = all_.type_of(to_);
    const Index scaled =
        all_.pass({kByTable, "aten::mul"}, {from_, tables_.cosines}, make("times cosines", wide));
    const Index negated = make("second half, negated", type, f_.elements() / 2);
    all_.pass({kNegated, "aten::neg"}, {from_}, negated, 2 * all_.bytes_of(negated));
    const Index turned = make("halves exchanged", type);
    all_.pass({"CatArrayBatchedCopy", "aten::cat"}, {negated, from_}, turned,
              2 * all_.bytes_of(turned));
    const Index crossed =
        all_.pass({kByTable, "aten::mul"}, {turned, tables_.sines}, make("times sines", wide));
    all_.pass({"add", "aten::add"}, {scaled, crossed}, to_);
  }

  void backward() {
    const ElementType wide = all_.type_of(from_), type = all_.type_of(to_);
    const auto product = [&](Index table, const std::string& what) {
      const Index result = all_.pass({kByTable, "MulBackward0"}, {from_, table}, make(what, wide));
      if (type == wide) return result;
      return all_.pass({"cast", "autograd::engine"}, {result}, make(what + ", narrow", type));
    };
    const Index turned = product(tables_.sines, "of exchanged halves");
    const Index negated = make("of second half", type, f_.elements() / 2);
    all_.pass({kNegated, "NegBackward0"}, {turned}, negated, 2 * all_.bytes_of(negated));
    const Index second = padded(negated, "of second half, padded");
    const Index first = padded(turned, "of first half, padded");
    const Index both =
        all_.pass({"add", "autograd::engine"}, {second, first}, make("of both halves", type));
    const Index scaled = product(tables_.cosines, "of the product with cosines");
    all_.pass({"add", "autograd::engine"}, {both, scaled}, to_);
  }

  // slice_backward: zeros, into which a half is copied.
  Index padded(Index half, const std::string& what) {
    const Index whole = all_.pass({"fill", "SliceBackward0"}, {}, make(what, all_.type_of(to_)));
    all_.in_place({"elementwise_kernel: copy", "SliceBackward0", true}, {half}, whole,
                  f_.elements() / 2);
    return whole;
  }

  Index make(const std::string& what, ElementType type, std::int64_t elements = 0) {
    return all_.make(what, elements > 0 ? elements : f_.elements(), type);
  }

  WrittenPasses all_;
  const program::Rotate& f_;
  const RotaryTables& tables_;
  Index from_;
  Index to_;
};

class TableLaunches {
 public:
  TableLaunches(const program::Program& program, const NewBuffer& make)
      : program_(program), make_(make) {}

  Index add(const char* kernel, const char* framework, const std::vector<Index>& reads,
            const char* what, std::int64_t elements, ElementType type) {
    const Index to = make_(what, elements, type);
    double bytes = static_cast<double>(program_.buffers[to].bytes);
    for (const Index from : reads) bytes += static_cast<double>(program_.buffers[from].bytes);
    Operation one =
        pointwise(kernel, framework, program::OperationKind::kElementwise, elements, 1, bytes);
    one.reads = reads;
    one.writes = {to};
    all_.push_back(std::move(one));
    return to;
  }
  std::vector<Operation> take() { return std::move(all_); }

 private:
  const program::Program& program_;
  const NewBuffer& make_;
  std::vector<Operation> all_;
};

}  // namespace

std::vector<Operation> rotary_table_launches(const program::Program& program,
                                             const program::Rotate& f, ElementType type,
                                             const NewBuffer& make, RotaryTables& tables) {
  constexpr ElementType kWide = ElementType::kFp32;
  const std::int64_t length = f.length, all = f.length * f.width;
  TableLaunches launches(program, make);
  const Index places =
      launches.add("arange", "aten::arange", {}, "positions", length, ElementType::kInt64);
  const Index wide =
      launches.add("cast", "aten::to", {places}, "positions in float32", length, kWide);
  const Index half = launches.add("bmm", "aten::bmm", {wide}, "angles", all / 2, kWide);
  const Index angles =
      launches.add("CatArrayBatchedCopy", "aten::cat", {half}, "angles, twice", all, kWide);
  const auto table = [&](const char* kernel, const char* framework, const char* what) {
    const Index value = launches.add(kernel, framework, {angles}, what, all, kWide);
    const Index scaled = launches.add("mul", "aten::mul", {value}, what, all, kWide);
    return type == kWide ? scaled : launches.add("cast", "aten::to", {scaled}, what, all, type);
  };
  tables.cosines = table("cos", "aten::cos", "cosines");
  tables.sines = table("sin", "aten::sin", "sines");
  return launches.take();
}

std::vector<WrittenLaunch> written_rotation(const program::Program& program, const Operation& whole,
                                            const RotaryTables& tables,
                                            const NewBuffer& new_buffer) {
  return WrittenRotation(program, whole, tables, new_buffer).launches();
}

}  // namespace trainscope::train
