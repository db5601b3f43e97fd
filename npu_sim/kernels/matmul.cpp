// MatMul and Gemm. A constant right side is packed for the convolution tiles of simd.h, a row of the left side being a
// pixel; all others run on oneDNN's matmul.
#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/broadcast.h"
#include "npu_sim/kernels/dnnl_support.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"
#include "npu_sim/kernels/tile_product.h"

namespace npustream::kernels {
namespace {

using dnnl::memory;
constexpr auto kF32 = memory::data_type::f32;

// Both sides with the batch axes of the result in front; 1 where a side repeats.
struct Shape {
  memory::dims a, b, y, a_strides, b_strides;
  bool b_is_packed = false;
  float alpha = 1, beta = 1;
};

memory::dims DenseStrides(const memory::dims& dims) { return Strides(om::Dims(dims.begin(), dims.end())); }

Result<Shape> ReadGemm(const Problem& problem) {
  const om::Dims &a = problem.inputs[0].dims, &b = problem.inputs[1].dims, &y = problem.outputs[0].dims;
  if (a.size() != 2 || b.size() != 2 || y.size() != 2) return Invalid("Gemm of ranks {} and {}", a.size(), b.size());
  const bool trans_a = om::GetInt(*problem.node, "transA", 0) != 0,
             trans_b = om::GetInt(*problem.node, "transB", 0) != 0;
  Shape s;
  s.a = trans_a ? memory::dims{a[1], a[0]} : memory::dims{a[0], a[1]};
  s.b = trans_b ? memory::dims{b[1], b[0]} : memory::dims{b[0], b[1]};
  s.a_strides = trans_a ? memory::dims{1, a[1]} : memory::dims{a[1], 1};
  s.b_strides = trans_b ? memory::dims{1, b[1]} : memory::dims{b[1], 1};
  s.y = {y[0], y[1]};
  s.alpha = om::GetFloat(*problem.node, "alpha", 1);
  s.beta = om::GetFloat(*problem.node, "beta", 1);
  return s;
}

Result<Shape> ReadMatMul(const Problem& problem) {
  om::Dims a = problem.inputs[0].dims, b = problem.inputs[1].dims, y = problem.outputs[0].dims;
  if (a.empty() || b.empty()) return Invalid("MatMul of a scalar");
  if (b.size() == 1) {
    b.push_back(1);
    y.push_back(1);
  }
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
    y.insert(y.end() - 1, 1);
  }
  const size_t rank = std::max({a.size(), b.size(), size_t{2}});
  if (y.size() != rank || rank > 6) return Invalid("the result is {}", DimsText(problem.outputs[0].dims));
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  Shape s;
  s.a.assign(a.begin(), a.end());
  s.b.assign(b.begin(), b.end());
  s.y.assign(y.begin(), y.end());
  // A right side without batch: all rows of the left side are one matrix.
  const bool single = std::all_of(b.begin(), b.end() - 2, [](int64_t dim) { return dim == 1; });
  if (single) {
    const int64_t k = a[rank - 1], rows = om::ElementCount(om::Dims(a.begin(), a.end() - 1));
    if (om::ElementCount(om::Dims(y.begin(), y.end() - 1)) != rows)
      return Invalid("the result is {}", DimsText(problem.outputs[0].dims));
    s.a = {rows, k};
    s.b = {b[rank - 2], b[rank - 1]};
    s.y = {rows, y[rank - 1]};
  }
  s.a_strides = DenseStrides(s.a);
  s.b_strides = DenseStrides(s.b);
  return s;
}

Result<Shape> Read(const Problem& problem) {
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 3));
  NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
  NPUSTREAM_ASSIGN_OR_RETURN(Shape s, problem.node->op == "Gemm" ? ReadGemm(problem) : ReadMatMul(problem));
  const size_t rank = s.y.size();
  bool fits = s.a[rank - 1] == s.b[rank - 2] && s.y[rank - 2] == s.a[rank - 2] && s.y[rank - 1] == s.b[rank - 1];
  for (size_t axis = 0; axis + 2 < rank; ++axis) {
    fits = fits && (s.a[axis] == s.b[axis] || s.a[axis] == 1 || s.b[axis] == 1) &&
           s.y[axis] == (s.a[axis] == 1 ? s.b[axis] : s.a[axis]);
  }
  if (!fits)
    return Invalid("{} times {} is not {}", DimsText(problem.inputs[0].dims), DimsText(problem.inputs[1].dims),
                   DimsText(problem.outputs[0].dims));
  for (const memory::dims* dims : {&s.a, &s.b}) {
    if (std::any_of(dims->begin(), dims->end(), [](int64_t dim) { return dim < 1 || dim > INT32_MAX; }))
      return Unsupported("empty or huge matrix");
  }
  s.b_is_packed = problem.inputs[1].is_constant;
  const bool scaled = s.alpha != 1 || (s.beta != 1 && !IsAbsent(problem, 2));
  if (scaled && problem.node->op != "Gemm") return Invalid("MatMul with alpha or beta");
  if (!IsAbsent(problem, 2))
    NPUSTREAM_RETURN_IF_ERROR(
        Broadcast::Check(problem.outputs[0].dims, problem.inputs[2].dims, problem.outputs[0].dims));
  return s;
}

using Descriptor = dnnl::matmul::primitive_desc;

Descriptor Describe(const Shape& s) {
  const memory::desc a(s.a, kF32, s.a_strides), y(s.y, kF32, DenseStrides(s.y));
  const memory::desc b =
      s.b_is_packed ? memory::desc(s.b, kF32, memory::format_tag::any) : memory::desc(s.b, kF32, s.b_strides);
  return DescribeProduct(a, b, y);
}

// What follows the product: alpha, the bias with beta, the activation.
class Finish {
 public:
  Finish(const Shape& s, const Activation& activation, const Problem& problem)
      : activation_(activation),
        activate_(SimdFor(problem.isa).unary[static_cast<int>(activation.op)]),
        add_(SimdFor(problem.isa).binary[static_cast<int>(BinaryOp::kAdd)]),
        count_(StoredCount(problem.outputs[0])),
        alpha_(s.alpha),
        beta_(s.beta) {
    if (!IsAbsent(problem, 2)) bias_.emplace(problem.outputs[0].dims, problem.inputs[2].dims, problem.outputs[0].dims);
  }

  void Run(const Arguments& a) const {
    float* const y = Out<float>(a);
    if (alpha_ != 1) {
      for (size_t i = 0; i < count_; ++i) y[i] *= alpha_;
    }
    if (bias_) AddBias(In<float>(a, 2), y);
    if (activation_.op != UnaryOp::kIdentity) activate_(y, y, count_, activation_.a, activation_.b);
  }

 private:
  void AddBias(const float* bias, float* y) const {
    bias_->ForEachRow([&](int64_t i, int64_t j, int64_t, const Broadcast::Row& row) {
      if (row.y_stride == 1 && row.x_stride == 1 && beta_ == 1)
        return add_(y + i, bias + j, y + i, static_cast<size_t>(row.count));
      for (int64_t n = 0; n < row.count; ++n) y[i + n * row.x_stride] += beta_ * bias[j + n * row.y_stride];
    });
  }

  Activation activation_;
  SimdTable::Unary activate_;
  SimdTable::Binary add_;
  size_t count_;
  float alpha_, beta_;
  std::optional<Broadcast> bias_;
};

class DnnlExecutor final : public Executor {
 public:
  DnnlExecutor(const Descriptor& d, const Shape& s, const Activation& activation, const Problem& problem)
      : call_(CallProduct(d)),
        finish_(s, activation, problem) {}

  Status Run(const Arguments& a) override {
    call_.SetAddress(0, a.inputs[0]);
    call_.SetAddress(1, a.inputs[1]);
    call_.SetAddress(2, a.outputs[0]);
    call_.SetAddress(3, a.scratch);
    NPUSTREAM_RETURN_IF_ERROR(call_.Execute());
    finish_.Run(a);
    return {};
  }

 private:
  DnnlCall call_;
  Finish finish_;
};

// Whether the tiles do it: a constant right side, one matrix, rows of the left side in memory order.
bool CanTile(const Shape& s, const Problem& problem) {
  return problem.isa != Isa::kBaseline && s.b_is_packed && s.y.size() == 2 && s.a_strides[1] == 1 &&
         s.b[0] <= INT32_MAX / 64;
}

class TiledExecutor final : public Executor {
 public:
  TiledExecutor(const Shape& s, const Activation& activation, const Problem& problem)
      : product_(problem.isa, s.b[0], s.b[1]),
        rows_(s.y[0]),
        inner_(s.b[0]),
        columns_(s.b[1]),
        finish_(s, activation, problem) {}

  Status Run(const Arguments& a) override {
    product_.Run(In<float>(a, 0), inner_, rows_, In<float>(a, 1), reinterpret_cast<float*>(a.scratch), Out<float>(a),
                 columns_);
    finish_.Run(a);
    return {};
  }

 private:
  TileProduct product_;
  int64_t rows_, inner_, columns_;
  Finish finish_;
};

class MatMul final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(FusedActivation(*problem.node).status());
    return Read(problem).status();
  }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const Shape s, Read(problem));
    if (CanTile(s, problem)) {
      const TileProduct product(problem.isa, s.b[0], s.b[1]);
      Choice choice = PlainChoice(problem, std::string("tiled ") + ToString(problem.isa));
      om::Bytes packed(product.PackedBytes());
      product.Pack(reinterpret_cast<const float*>(problem.inputs[1].constant.data()), s.b_strides[0], s.b_strides[1],
                   reinterpret_cast<float*>(packed.data()));
      choice.packed[1] = std::move(packed);
      choice.scratch_bytes = product.ScratchBytes();
      return choice;
    }
    return CatchDnnl([&] {
      const Descriptor d = Describe(s);
      Choice choice = PlainChoice(problem, std::string("oneDNN ") + d.impl_info_str());
      if (s.b_is_packed)
        choice.packed[1] =
            PackConstant(problem.inputs[1].constant, memory::desc(s.b, kF32, s.b_strides), d.weights_desc());
      choice.scratch_bytes = d.scratchpad_desc().get_size();
      choice.on_dnnl = true;
      return choice;
    });
  }

  bool PacksInput(size_t input) const override { return input == 1; }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Shape s, Read(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    if (CanTile(s, problem)) {
      const TileProduct product(problem.isa, s.b[0], s.b[1]);
      if (problem.inputs[1].constant.size() != product.PackedBytes()) return Invalid("the packed matrix has another size");
      if (problem.scratch_bytes < product.ScratchBytes()) return Invalid("the scratch buffer is too small");
      return std::unique_ptr<Executor>(std::make_unique<TiledExecutor>(s, activation, problem));
    }
    return Flatten(CatchDnnl([&]() -> Result<std::unique_ptr<Executor>> {
      const Descriptor d = Describe(s);
      if (s.b_is_packed && problem.inputs[1].constant.size() != d.weights_desc().get_size())
        return Invalid("the packed matrix has another size");
      if (problem.scratch_bytes < d.scratchpad_desc().get_size()) return Invalid("the scratch buffer is too small");
      return std::unique_ptr<Executor>(std::make_unique<DnnlExecutor>(d, s, activation, problem));
    }));
  }
};

}  // namespace

const Kernel* MatMulKernel() {
  static const MatMul kernel;
  return &kernel;
}

}  // namespace npustream::kernels
