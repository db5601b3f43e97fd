// Attention (q, k, v, [mask]): y = softmax(scale · q · kᵀ + mask) · v for every head, without ever holding all scores: they
// live in scratch for a band of query rows. The tensors stand in memory as the projections around them have them:
// Transpose(q, q_perm) is [batch, heads, rows, depth], and so on, and y is Transpose([batch, heads, rows, depth], y_perm).
// Tensors of a lower rank lack axes in front.
#include <algorithm>
#include <array>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"
#include "npu_sim/kernels/tile_product.h"

namespace npustream::kernels {
namespace {

constexpr size_t kRank = 4;

// A tensor seen as [batch, heads, rows, columns].
struct View {
  std::array<int64_t, kRank> dims = {1, 1, 1, 1}, strides = {0, 0, 0, 0};

  int64_t Offset(int64_t batch, int64_t head) const { return batch * strides[0] + head * strides[1]; }
};

Result<std::vector<int64_t>> ReadPerm(const om::Node& node, const char* name, size_t rank) {
  std::vector<int64_t> in_order(rank);
  for (size_t i = 0; i < rank; ++i) in_order[i] = static_cast<int64_t>(i);
  std::vector<int64_t> perm = om::GetInts(node, name, in_order);
  if (!std::is_permutation(perm.begin(), perm.end(), in_order.begin(), in_order.end()))
    return Invalid("{} is no order of {} axes", name, rank);
  return perm;
}

// Axis i of the view is axis perm[i] of the tensor.
View MakeView(const om::Dims& dims, const std::vector<int64_t>& perm) {
  const std::vector<int64_t> strides = Strides(dims);
  View view;
  for (size_t i = 0; i < dims.size(); ++i) {
    view.dims[kRank - dims.size() + i] = dims[static_cast<size_t>(perm[i])];
    view.strides[kRank - dims.size() + i] = strides[static_cast<size_t>(perm[i])];
  }
  return view;
}

// What the node's tensors say, all sides checked against each other.
struct Shape {
  View q, k, v, y;
  std::optional<View> mask;  // strides are 0 where it repeats
  int64_t batch, heads, rows, keys, depth, value_depth;
};

Result<View> ReadView(const Problem& problem, const TensorInfo& tensor, const char* name) {
  if (tensor.dims.size() < 2 || tensor.dims.size() > kRank) return Invalid("{} of rank {}", name, tensor.dims.size());
  NPUSTREAM_ASSIGN_OR_RETURN(const auto perm, ReadPerm(*problem.node, name, tensor.dims.size()));
  return MakeView(tensor.dims, perm);
}

Result<View> ReadResult(const Problem& problem) {
  const om::Dims& dims = problem.outputs[0].dims;
  if (dims.size() < 2 || dims.size() > kRank) return Invalid("a result of rank {}", dims.size());
  NPUSTREAM_ASSIGN_OR_RETURN(const auto perm, ReadPerm(*problem.node, "y_perm", dims.size()));
  std::vector<int64_t> back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return MakeView(dims, back);
}

Result<View> ReadMask(const om::Dims& dims, const std::array<int64_t, kRank>& scores) {
  if (dims.empty() || dims.size() > kRank) return Invalid("a mask of rank {}", dims.size());
  std::vector<int64_t> in_order(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) in_order[i] = static_cast<int64_t>(i);
  View mask = MakeView(dims, in_order);
  for (size_t i = 0; i < kRank; ++i) {
    if (mask.dims[i] == 1 && i + 1 < kRank) mask.strides[i] = 0;
    else if (mask.dims[i] != scores[i]) return Invalid("a mask of {} does not fit the scores", DimsText(dims));
  }
  return mask;
}

Result<Shape> ReadShape(const Problem& problem) {
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 3, 4));
  NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
  Shape s = {};
  NPUSTREAM_ASSIGN_OR_RETURN(s.q, ReadView(problem, problem.inputs[0], "q_perm"));
  NPUSTREAM_ASSIGN_OR_RETURN(s.k, ReadView(problem, problem.inputs[1], "k_perm"));
  NPUSTREAM_ASSIGN_OR_RETURN(s.v, ReadView(problem, problem.inputs[2], "v_perm"));
  NPUSTREAM_ASSIGN_OR_RETURN(s.y, ReadResult(problem));
  s.batch = s.q.dims[0], s.heads = s.q.dims[1], s.rows = s.q.dims[2], s.depth = s.q.dims[3];
  s.keys = s.k.dims[2], s.value_depth = s.v.dims[3];
  using D = std::array<int64_t, kRank>;
  if (s.k.dims != D{s.batch, s.heads, s.keys, s.depth} || s.v.dims != D{s.batch, s.heads, s.keys, s.value_depth} ||
      s.y.dims != D{s.batch, s.heads, s.rows, s.value_depth})
    return Invalid("q {}, k {}, v {} and the result {} do not fit each other", DimsText(problem.inputs[0].dims),
                   DimsText(problem.inputs[1].dims), DimsText(problem.inputs[2].dims),
                   DimsText(problem.outputs[0].dims));
  if (s.q.strides[3] != 1 || s.y.strides[3] != 1) return Unsupported("the depth of q or of the result is not last");
  for (const int64_t size : {s.batch, s.heads, s.rows, s.keys, s.depth, s.value_depth}) {
    if (size < 1 || size > INT32_MAX / 64) return Unsupported("an empty or huge tensor");
  }
  if (IsAbsent(problem, 3)) return s;
  NPUSTREAM_ASSIGN_OR_RETURN(s.mask, ReadMask(problem.inputs[3].dims, {s.batch, s.heads, s.rows, s.keys}));
  return s;
}

size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// How the scratch buffer is cut.
struct Cut {
  TileProduct scores, values;
  int64_t band;  // query rows whose scores are held at once
  size_t packed_k, packed_v, score_bytes, product_bytes;

  Cut(const Shape& s, Isa isa) : scores(isa, s.depth, s.keys), values(isa, s.keys, s.value_depth) {
    constexpr int64_t kBandFloats = 32768;
    band = std::clamp<int64_t>(kBandFloats / s.keys, 14, 56);
    packed_k = Aligned(scores.PackedBytes());
    packed_v = Aligned(values.PackedBytes());
    score_bytes = Aligned(static_cast<size_t>(band * s.keys) * sizeof(float));
    product_bytes = Aligned(std::max(scores.ScratchBytes(), values.ScratchBytes()));
  }
  size_t ScratchBytes() const { return packed_k + packed_v + score_bytes + product_bytes; }
};

class AttentionExecutor final : public Executor {
 public:
  AttentionExecutor(const Shape& shape, const Problem& problem)
      : shape_(shape),
        cut_(shape, problem.isa),
        simd_(SimdFor(problem.isa)),
        scale_(om::GetFloat(*problem.node, "scale", 1)) {}

  Status Run(const Arguments& a) override {
    for (int64_t batch = 0; batch < shape_.batch; ++batch) {
      for (int64_t head = 0; head < shape_.heads; ++head) RunHead(a, batch, head);
    }
    return {};
  }

 private:
  void RunHead(const Arguments& a, int64_t batch, int64_t head) const {
    const Shape& s = shape_;
    auto* packed_k = reinterpret_cast<float*>(a.scratch);
    auto* packed_v = reinterpret_cast<float*>(a.scratch + cut_.packed_k);
    auto* scores = reinterpret_cast<float*>(a.scratch + cut_.packed_k + cut_.packed_v);
    auto* product = reinterpret_cast<float*>(a.scratch + cut_.packed_k + cut_.packed_v + cut_.score_bytes);
    cut_.scores.Pack(In<float>(a, 1) + s.k.Offset(batch, head), s.k.strides[3], s.k.strides[2], packed_k);
    if (scale_ != 1) {
      simd_.binary_scalar[static_cast<int>(BinaryOp::kMul)](packed_k, scale_, packed_k,
                                                            cut_.scores.PackedBytes() / sizeof(float), false);
    }
    cut_.values.Pack(In<float>(a, 2) + s.v.Offset(batch, head), s.v.strides[2], s.v.strides[3], packed_v);
    const float* q = In<float>(a, 0) + s.q.Offset(batch, head);
    float* y = Out<float>(a) + s.y.Offset(batch, head);
    for (int64_t row = 0; row < s.rows; row += cut_.band) {
      const int64_t count = std::min(cut_.band, s.rows - row);
      cut_.scores.Run(q + row * s.q.strides[2], s.q.strides[2], count, packed_k, product, scores, s.keys);
      if (s.mask) AddMask(In<float>(a, 3) + s.mask->Offset(batch, head) + row * s.mask->strides[2], scores, count);
      for (int64_t r = 0; r < count; ++r)
        simd_.softmax_row(scores + r * s.keys, scores + r * s.keys, static_cast<size_t>(s.keys));
      cut_.values.Run(scores, s.keys, count, packed_v, product, y + row * s.y.strides[2], s.y.strides[2]);
    }
  }

  void AddMask(const float* mask, float* scores, int64_t rows) const {
    const auto add = simd_.binary[static_cast<int>(BinaryOp::kAdd)];
    for (int64_t r = 0; r < rows; ++r) {
      float* row = scores + r * shape_.keys;
      add(row, mask + r * shape_.mask->strides[2], row, static_cast<size_t>(shape_.keys));
    }
  }

  Shape shape_;
  Cut cut_;
  const SimdTable& simd_;
  float scale_;
};

class Attention final : public Kernel {
 public:
  Status Check(const Problem& problem) const override { return ReadShape(problem).status(); }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const Shape shape, ReadShape(problem));
    Choice choice = PlainChoice(problem, std::string("tiled ") + ToString(problem.isa));
    choice.scratch_bytes = Cut(shape, problem.isa).ScratchBytes();
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Shape shape, ReadShape(problem));
    if (problem.scratch_bytes < Cut(shape, problem.isa).ScratchBytes())
      return Invalid("the scratch buffer is too small");
    return std::unique_ptr<Executor>(std::make_unique<AttentionExecutor>(shape, problem));
  }
};

}  // namespace

const Kernel* AttentionKernel() {
  static const Attention kernel;
  return &kernel;
}

}  // namespace npustream::kernels
