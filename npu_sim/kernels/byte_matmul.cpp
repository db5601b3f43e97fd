// ByteMatMul, an operator of the compiler's own: rows of quantised bytes times a constant matrix of signed bytes, summed
// in 32 bits, with a bias and an activation; the result is real numbers or bytes. Without VNNI's instructions oneDNN's sums of bytes would
// saturate: there the integers are multiplied as real numbers, which are exact up to 2^24.
#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/dnnl_support.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

using dnnl::memory;
using Descriptor = dnnl::matmul::primitive_desc;

struct Shape {
  int64_t rows = 0, inner = 0, columns = 0;
  bool transposed = false;  // the matrix is [columns, inner]
  bool bytes = false;       // multiplied as bytes

  size_t Sums() const { return static_cast<size_t>(rows * columns); }
  // Before the matrix, the packed constant has what is added to each column's sums.
  size_t HeadBytes() const { return (static_cast<size_t>(columns) * sizeof(int32_t) + 63) / 64 * 64; }
};

Status CheckMatrix(const TensorInfo& w, const Shape& s) {
  if (w.type != om::DataType::kInt8 || !w.is_constant || !w.quantization) return Unsupported("this right side");
  const om::Quantization& q = *w.quantization;
  if (std::any_of(q.zero_points.begin(), q.zero_points.end(), [](int32_t zero) { return zero != 0; }))
    return Unsupported("a right side with zero points");
  if (q.IsPerTensor()) return {};
  if (q.axis != (s.transposed ? 0 : 1) || static_cast<int64_t>(q.scales.size()) != s.columns)
    return Unsupported("scales that are not those of columns");
  return {};
}

Status CheckBias(const Problem& problem, const Shape& s) {
  if (IsAbsent(problem, 2)) return {};
  const TensorInfo& bias = problem.inputs[2];
  if (bias.dims != om::Dims{s.columns} || !bias.is_constant) return Unsupported("this bias");
  if (bias.type != om::DataType::kFloat32 && bias.type != om::DataType::kInt32) return Unsupported("this bias");
  return {};
}

Result<Shape> Read(const Problem& problem) {
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 3));
  const TensorInfo &x = problem.inputs[0], &w = problem.inputs[1], &y = problem.outputs[0];
  if (!IsByteTensor(x) || x.is_constant) return Unsupported("only uint8 with one scale is done");
  if (y.type != om::DataType::kFloat32 && !IsByteTensor(y)) return Unsupported("this result");
  if (x.dims.size() < 2 || w.dims.size() != 2) return Invalid("no matrices");
  Shape s;
  s.transposed = om::GetInt(*problem.node, "transB", 0) != 0;
  s.inner = w.dims[s.transposed ? 1 : 0], s.columns = w.dims[s.transposed ? 0 : 1];
  // More terms than that could overflow.
  constexpr int64_t kMostTerms = int64_t{1} << 16;
  if (s.inner < 1 || s.inner > kMostTerms || s.columns < 1 || s.columns > INT32_MAX || x.dims.back() != s.inner)
    return Invalid("{} times {}", DimsText(x.dims), DimsText(w.dims));
  s.rows = om::ElementCount(x.dims) / s.inner;
  if (s.rows < 1 || s.rows > INT32_MAX) return Unsupported("empty or huge matrix");
  s.bytes = problem.isa >= Isa::kAvx512Vnni;
  om::Dims expected = x.dims;
  expected.back() = s.columns;
  NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, expected));
  NPUSTREAM_RETURN_IF_ERROR(CheckMatrix(w, s));
  NPUSTREAM_RETURN_IF_ERROR(CheckBias(problem, s));
  return s;
}

memory::desc MatrixDesc(const Shape& s, memory::data_type type) {
  return memory::desc({s.inner, s.columns}, type,
                      s.transposed ? memory::dims{1, s.inner} : memory::dims{s.columns, 1});
}

Descriptor Describe(const Shape& s) {
  using Type = memory::data_type;
  const memory::desc x({s.rows, s.inner}, s.bytes ? Type::u8 : Type::f32, memory::dims{s.inner, 1});
  const memory::desc w({s.inner, s.columns}, s.bytes ? Type::s8 : Type::f32, memory::format_tag::any);
  const memory::desc y({s.rows, s.columns}, s.bytes ? Type::s32 : Type::f32, memory::dims{s.columns, 1});
  return DescribeProduct(x, w, y);
}

// In the scratch buffer: the sums, the left side as real numbers, oneDNN's own.
struct Scratch {
  size_t left, own, bytes;

  Scratch(const Shape& s, const Descriptor& d) {
    const auto align = [](size_t size) { return (size + 63) / 64 * 64; };
    left = align(s.Sums() * sizeof(float));
    own = left + (s.bytes ? 0 : align(static_cast<size_t>(s.rows * s.inner) * sizeof(float)));
    bytes = own + d.scratchpad_desc().get_size();
  }
};

// A damaged file's numbers wrap around.
int32_t WrappedSum(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

// −zero point of x · sum of a column, and a bias in steps of the products.
std::vector<int32_t> Offsets(const Shape& s, const Problem& problem) {
  const auto* w = reinterpret_cast<const int8_t*>(problem.inputs[1].constant.data());
  std::vector<int32_t> offsets(static_cast<size_t>(s.columns));
  for (int64_t k = 0; k < s.inner; ++k) {
    for (int64_t n = 0; n < s.columns; ++n)
      offsets[static_cast<size_t>(n)] += w[s.transposed ? n * s.inner + k : k * s.columns + n];
  }
  const int32_t zero = problem.inputs[0].quantization->zero_points[0];
  for (int32_t& offset : offsets) offset = static_cast<int32_t>(-int64_t{zero} * offset);
  if (IsAbsent(problem, 2) || problem.inputs[2].type != om::DataType::kInt32) return offsets;
  for (size_t n = 0; n < offsets.size(); ++n) {
    int32_t bias;
    std::memcpy(&bias, problem.inputs[2].constant.data() + n * sizeof(bias), sizeof(bias));
    offsets[n] = WrappedSum(offsets[n], bias);
  }
  return offsets;
}

om::Bytes Pack(const Shape& s, const Problem& problem, const Descriptor& d) {
  const std::vector<int32_t> offsets = Offsets(s, problem);
  om::Bytes packed(s.HeadBytes()), plain(problem.inputs[1].constant.begin(), problem.inputs[1].constant.end());
  std::memcpy(packed.data(), offsets.data(), offsets.size() * sizeof(int32_t));
  if (!s.bytes) {
    om::Bytes reals(plain.size() * sizeof(float));
    for (size_t i = 0; i < plain.size(); ++i) {
      const float value = static_cast<int8_t>(plain[i]);
      std::memcpy(reals.data() + i * sizeof(value), &value, sizeof(value));
    }
    plain = std::move(reals);
  }
  const auto type = s.bytes ? memory::data_type::s8 : memory::data_type::f32;
  const om::Bytes matrix = PackConstant(plain, MatrixDesc(s, type), d.weights_desc());
  packed.insert(packed.end(), matrix.begin(), matrix.end());
  return packed;
}

class ByteMatMulExecutor final : public Executor {
 public:
  ByteMatMulExecutor(const Descriptor& d, const Shape& s, const Activation& activation, const Problem& problem)
      : call_(CallProduct(d)),
        s_(s),
        scratch_(s, d),
        simd_(SimdFor(problem.isa)),
        activation_(activation),
        adds_reals_(!IsAbsent(problem, 2) && problem.inputs[2].type == om::DataType::kFloat32),
        to_bytes_(problem.outputs[0].type != om::DataType::kFloat32) {
    const om::Quantization &x = *problem.inputs[0].quantization, &w = *problem.inputs[1].quantization;
    for (int64_t n = 0; n < s.columns; ++n)
      scales_.push_back(x.scales[0] * w.scales[w.IsPerTensor() ? 0 : static_cast<size_t>(n)]);
    if (!to_bytes_) return;
    const om::Quantization& y = *problem.outputs[0].quantization;
    zero_ = static_cast<float>(y.zero_points[0]);
    // One factor makes steps of the result of the sums, unless something on real numbers comes between.
    const bool at_once = !adds_reals_ && activation_.op == UnaryOp::kIdentity;
    step_ = at_once ? 1 : y.scales[0];
    if (at_once) std::for_each(scales_.begin(), scales_.end(), [&](float& scale) { scale /= y.scales[0]; });
  }

  Status Run(const Arguments& a) override {
    const std::byte* x = a.inputs[0];
    if (!s_.bytes) {
      auto* reals = reinterpret_cast<float*>(a.scratch + scratch_.left);
      simd_.dequantize(In<uint8_t>(a, 0), reals, static_cast<size_t>(s_.rows * s_.inner), 1, 0);
      x = reinterpret_cast<const std::byte*>(reals);
    }
    call_.SetAddress(0, x);
    call_.SetAddress(1, a.inputs[1] + s_.HeadBytes());
    call_.SetAddress(2, a.scratch);
    call_.SetAddress(3, a.scratch + scratch_.own);
    NPUSTREAM_RETURN_IF_ERROR(call_.Execute());
    for (int64_t row = 0; row < s_.rows; ++row) Finish(a, row);
    return {};
  }

 private:
  void Finish(const Arguments& a, int64_t row) const {
    const auto columns = static_cast<size_t>(s_.columns);
    const auto first = static_cast<size_t>(row) * columns;
    auto* reals = reinterpret_cast<float*>(a.scratch) + first;
    const auto* sums = reinterpret_cast<const int32_t*>(a.scratch) + first;
    const auto* offsets = In<int32_t>(a, 1);
    float* y = to_bytes_ ? reals : Out<float>(a) + first;
    for (size_t n = 0; n < columns; ++n) {
      const int32_t sum = s_.bytes ? sums[n] : static_cast<int32_t>(reals[n]);
      y[n] = static_cast<float>(WrappedSum(sum, offsets[n])) * scales_[n];
    }
    if (adds_reals_) {
      for (size_t n = 0; n < columns; ++n) y[n] += In<float>(a, 2)[n];
    }
    if (activation_.op != UnaryOp::kIdentity)
      simd_.unary[static_cast<int>(activation_.op)](y, y, columns, activation_.a, activation_.b);
    if (to_bytes_) simd_.quantize(y, Out<uint8_t>(a) + first, columns, step_, zero_);
  }

  DnnlCall call_;
  Shape s_;
  Scratch scratch_;
  const SimdTable& simd_;
  Activation activation_;
  bool adds_reals_, to_bytes_;
  std::vector<float> scales_;
  float step_ = 1, zero_ = 0;
};

class ByteMatMul final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(FusedActivation(*problem.node).status());
    return Read(problem).status();
  }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const Shape s, Read(problem));
    return CatchDnnl([&] {
      const Descriptor d = Describe(s);
      Choice choice = PlainChoice(problem, std::string("oneDNN ") + d.impl_info_str());
      choice.packed[1] = Pack(s, problem, d);
      choice.scratch_bytes = Scratch(s, d).bytes;
      choice.on_dnnl = true;
      return choice;
    });
  }

  bool PacksInput(size_t input) const override { return input == 1; }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Shape s, Read(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    return Flatten(CatchDnnl([&]() -> Result<std::unique_ptr<Executor>> {
      const Descriptor d = Describe(s);
      if (problem.inputs[1].constant.size() != s.HeadBytes() + d.weights_desc().get_size())
        return Invalid("the packed matrix has another size");
      if (problem.scratch_bytes < Scratch(s, d).bytes) return Invalid("the scratch buffer is too small");
      return std::unique_ptr<Executor>(std::make_unique<ByteMatMulExecutor>(d, s, activation, problem));
    }));
  }
};

}  // namespace

const Kernel* ByteMatMulKernel() {
  static const ByteMatMul kernel;
  return &kernel;
}

}  // namespace npustream::kernels
