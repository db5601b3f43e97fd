// LSTM, GRU and RNN (x, w, r, [b], [initial_h], [initial_c], [p]), in one direction or two. What the inputs of all
// steps contribute is one product of matrices; each step adds that of the state before it.
#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"
#include "npu_sim/kernels/tile_product.h"

namespace npustream::kernels {
namespace {

enum Input { kX, kW, kR, kB, kInitialH, kInitialC, kP };

constexpr int64_t kMaxSize = 1 << 24;
// Groups of columns in a tile of the product with the state, which has few rows: enough sums to keep the CPU busy.
constexpr int64_t kStateTileGroups = 4;

struct Shape {
  enum Kind { kLstm, kGru, kRnn } kind = kLstm;
  int64_t steps = 0, rows = 0, in = 0, hidden = 0, directions = 1, gates = 4;
  bool reverse = false;                 // the only direction
  bool linear_before_reset = false;     // GRU
  float clip = 0;                       // 0: none
  std::vector<Activation> activations;  // [direction][function]

  int64_t Columns() const { return gates * hidden; }
  // Functions of one direction.
  size_t Functions() const { return kind == kLstm ? 3 : kind == kGru ? 2 : 1; }
  bool IsReverse(int64_t direction) const { return reverse || direction == 1; }
  // The last gate of such a GRU is multiplied with another state than the ones before it.
  bool HasSecondProduct() const { return kind == kGru && !linear_before_reset; }
};

Result<Activation> ReadActivation(const std::string& name, float alpha, float beta) {
  om::Node node;
  node.attributes = {{"activation", name}, {"activation_alpha", alpha}, {"activation_beta", beta}};
  return FusedActivation(node);
}

Status ReadActivations(const om::Node& node, Shape& s) {
  const std::string names = om::GetString(node, "activations", "");
  const auto alphas = om::GetFloats(node, "alphas"), betas = om::GetFloats(node, "betas");
  const size_t count = s.Functions() * static_cast<size_t>(s.directions);
  if (alphas.size() != count || betas.size() != count) return Invalid("not {} parameters of activations", count);
  size_t begin = 0;
  for (size_t i = 0; i < count; ++i) {
    if (begin > names.size()) return Invalid("not {} activations", count);
    const size_t end = std::min(names.find(',', begin), names.size());
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation,
                               ReadActivation(names.substr(begin, end - begin), alphas[i], betas[i]));
    s.activations.push_back(activation);
    begin = end + 1;
  }
  return {};
}

Status RequireInput(const Problem& problem, size_t input, const om::Dims& dims) {
  if (IsAbsent(problem, input) || problem.inputs[input].dims == dims) return {};
  return Invalid("input {} is {}, expected {}", input, DimsText(problem.inputs[input].dims), DimsText(dims));
}

Status ReadKind(const om::Node& node, Shape& s) {
  s.kind = node.op == "LSTM" ? Shape::kLstm : node.op == "GRU" ? Shape::kGru : Shape::kRnn;
  s.gates = s.kind == Shape::kLstm ? 4 : s.kind == Shape::kGru ? 3 : 1;
  s.linear_before_reset = om::GetInt(node, "linear_before_reset", 0) != 0;
  s.clip = om::GetFloat(node, "clip", 0);
  if (!(s.clip >= 0)) return Invalid("clip of {}", s.clip);
  const std::string direction = om::GetString(node, "direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return Invalid("direction '{}'", direction);
  s.reverse = direction == "reverse";
  s.directions = direction == "bidirectional" ? 2 : 1;
  return {};
}

Result<Shape> Read(const Problem& problem) {
  Shape s;
  NPUSTREAM_RETURN_IF_ERROR(ReadKind(*problem.node, s));
  const bool lstm = s.kind == Shape::kLstm;
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 3, lstm ? 7 : 5, lstm ? 3 : 2));
  NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
  const om::Dims &x = problem.inputs[kX].dims, &r = problem.inputs[kR].dims;
  if (x.size() != 3 || r.size() != 3) return Invalid("inputs of ranks {} and {}", x.size(), r.size());
  s.steps = x[0], s.rows = x[1], s.in = x[2], s.hidden = r[2];
  for (const int64_t size : {s.steps, s.rows, s.in, s.hidden}) {
    if (size < 1 || size > kMaxSize) return Invalid("size {}", size);
  }
  if (s.steps * s.rows > kMaxSize || s.in * s.Columns() > int64_t{1} << 31)
    return Invalid("{} steps of {}", s.steps, s.rows);
  const om::Dims state = {s.directions, s.rows, s.hidden};
  NPUSTREAM_RETURN_IF_ERROR(RequireInput(problem, kW, {s.directions, s.Columns(), s.in}));
  NPUSTREAM_RETURN_IF_ERROR(RequireInput(problem, kR, {s.directions, s.Columns(), s.hidden}));
  NPUSTREAM_RETURN_IF_ERROR(RequireInput(problem, kB, {s.directions, 2 * s.Columns()}));
  NPUSTREAM_RETURN_IF_ERROR(RequireInput(problem, kInitialH, state));
  NPUSTREAM_RETURN_IF_ERROR(RequireInput(problem, kInitialC, state));
  NPUSTREAM_RETURN_IF_ERROR(RequireInput(problem, kP, {s.directions, 3 * s.hidden}));
  if (!problem.inputs[kW].is_constant || !problem.inputs[kR].is_constant)
    return Unsupported("weights are not constant");
  NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, {s.steps, s.directions, s.rows, s.hidden}));
  for (size_t i = 1; i < problem.outputs.size(); ++i) NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, i, state));
  NPUSTREAM_RETURN_IF_ERROR(ReadActivations(*problem.node, s));
  return s;
}

// The products of one direction, and where in the scratch buffer their results are.
struct Products {
  Products(const Shape& s, Isa isa)
      : input(isa, s.in, s.Columns()),
        state(isa, s.hidden, s.Columns() - (s.HasSecondProduct() ? s.hidden : 0), kStateTileGroups),
        second(isa, s.hidden, s.hidden, kStateTileGroups),
        has_second(s.HasSecondProduct()) {
    const int64_t cells = s.rows * s.hidden;
    gates = s.steps * s.rows * s.Columns();
    cell = gates + s.rows * s.Columns();
    spare = cell + cells;
    zeros = spare + cells;
    bias = zeros + cells;
    tiles = (bias + s.Columns() + 15) / 16 * 16;
  }

  size_t InputBytes() const { return input.PackedBytes(); }
  size_t StateBytes() const { return state.PackedBytes() + (has_second ? second.PackedBytes() : 0); }
  size_t ScratchBytes() const {
    return static_cast<size_t>(tiles) * sizeof(float) +
           std::max({input.ScratchBytes(), state.ScratchBytes(), second.ScratchBytes()});
  }

  TileProduct input, state, second;
  bool has_second;
  // Floats from the scratch buffer's begin; what the inputs of all steps contribute comes first.
  int64_t gates, cell, spare, zeros, bias, tiles;
};

// y = x · wᵀ, so the rows of a weight matrix are the columns of the product's right side.
void Pack(const TileProduct& product, const float* rows, int64_t depth, std::byte* packed) {
  product.Pack(rows, 1, depth, reinterpret_cast<float*>(packed));
}

om::Bytes PackInput(const Shape& s, const Products& products, const float* w) {
  om::Bytes packed(products.InputBytes() * static_cast<size_t>(s.directions));
  for (int64_t d = 0; d < s.directions; ++d) {
    Pack(products.input, w + d * s.Columns() * s.in, s.in,
         packed.data() + static_cast<size_t>(d) * products.InputBytes());
  }
  return packed;
}

om::Bytes PackState(const Shape& s, const Products& products, const float* r) {
  om::Bytes packed(products.StateBytes() * static_cast<size_t>(s.directions));
  for (int64_t d = 0; d < s.directions; ++d) {
    const float* rows = r + d * s.Columns() * s.hidden;
    std::byte* to = packed.data() + static_cast<size_t>(d) * products.StateBytes();
    Pack(products.state, rows, s.hidden, to);
    if (!products.has_second) continue;
    Pack(products.second, rows + 2 * s.hidden * s.hidden, s.hidden, to + products.state.PackedBytes());
  }
  return packed;
}

class RecurrentExecutor final : public Executor {
 public:
  RecurrentExecutor(Shape shape, const Problem& problem)
      : s_(std::move(shape)),
        products_(s_, problem.isa),
        simd_(SimdFor(problem.isa)),
        has_b_(!IsAbsent(problem, kB)),
        has_h_(!IsAbsent(problem, kInitialH)),
        has_c_(!IsAbsent(problem, kInitialC)),
        has_p_(!IsAbsent(problem, kP)) {}

  Status Run(const Arguments& a) override {
    for (int64_t d = 0; d < s_.directions; ++d) RunDirection(a, d);
    return {};
  }

 private:
  // What one step of a direction works with.
  struct Step {
    const float* inputs;  // what they contribute: [row][gate][hidden]
    const float* before;  // the state: [row][hidden]
    float* after;
    float* gates;
    float* cell;  // LSTM: [row][hidden]
    float* spare;
    float* tiles;
    const float* packed;
    const float* recurrent_bias;  // GRU's last gate, or null
    const float* peepholes;       // or null
    const Activation* functions;
  };

  void RunDirection(const Arguments& a, int64_t d) {
    float* const scratch = reinterpret_cast<float*>(a.scratch);
    const int64_t columns = s_.Columns(), cells = s_.rows * s_.hidden;
    Step step = {};
    step.gates = scratch + products_.gates, step.cell = scratch + products_.cell;
    step.spare = scratch + products_.spare, step.tiles = scratch + products_.tiles;
    products_.input.Run(In<float>(a, kX), s_.in, s_.steps * s_.rows,
                        In<float>(a, kW) + d * static_cast<int64_t>(products_.InputBytes() / sizeof(float)), step.tiles,
                        scratch, columns);
    if (has_b_) AddBias(In<float>(a, kB) + d * 2 * columns, scratch + products_.bias, scratch);
    step.packed = In<float>(a, kR) + d * static_cast<int64_t>(products_.StateBytes() / sizeof(float));
    step.functions = s_.activations.data() + static_cast<size_t>(d) * s_.Functions();
    if (has_p_) step.peepholes = In<float>(a, kP) + d * 3 * s_.hidden;
    if (has_b_ && s_.linear_before_reset)
      step.recurrent_bias = In<float>(a, kB) + (d * 2 + 1) * columns + 2 * s_.hidden;
    std::fill_n(scratch + products_.zeros, cells, 0.0f);
    step.before = has_h_ ? In<float>(a, kInitialH) + d * cells : scratch + products_.zeros;
    if (s_.kind == Shape::kLstm)
      std::copy_n(has_c_ ? In<float>(a, kInitialC) + d * cells : scratch + products_.zeros, cells, step.cell);
    for (int64_t i = 0; i < s_.steps; ++i) {
      const int64_t t = s_.IsReverse(d) ? s_.steps - 1 - i : i;
      step.inputs = scratch + t * s_.rows * columns;
      step.after = Out<float>(a) + (t * s_.directions + d) * cells;
      RunStep(step);
      step.before = step.after;
    }
    std::copy_n(step.after, cells, Out<float>(a, 1) + d * cells);
    if (s_.kind == Shape::kLstm) std::copy_n(step.cell, cells, Out<float>(a, 2) + d * cells);
  }

  // The biases of inputs and state are added at once, but that of a state that is scaled before it is added.
  void AddBias(const float* given, float* bias, float* inputs) const {
    const int64_t columns = s_.Columns();
    const bool apart = s_.kind == Shape::kGru && s_.linear_before_reset;
    std::copy_n(given, columns, bias);
    Add(bias, given + columns, bias, columns - (apart ? s_.hidden : 0));
    for (int64_t row = 0; row < s_.steps * s_.rows; ++row)
      Add(inputs + row * columns, bias, inputs + row * columns, columns);
  }

  void RunStep(const Step& step) const {
    const int64_t columns = s_.Columns(), h = s_.hidden;
    products_.state.Run(step.before, h, s_.rows, step.packed, step.tiles, step.gates, columns);
    if (s_.kind == Shape::kGru) return RunGru(step);
    for (int64_t n = 0; n < s_.rows; ++n) {
      float* const gates = step.gates + n * columns;
      Add(gates, step.inputs + n * columns, gates, columns);
      if (s_.kind == Shape::kLstm) {
        Lstm(step, gates, step.cell + n * h, step.after + n * h);
      } else {
        Activate(step.functions[0], gates, step.after + n * h, h);
      }
    }
  }

  // The gates of one row: input, output, forget, cell.
  void Lstm(const Step& step, float* gates, float* cell, float* after) const {
    const int64_t h = s_.hidden;
    float *const input = gates, *const output = gates + h, *const forget = gates + 2 * h, *const next = gates + 3 * h;
    const float* p = step.peepholes;
    if (p) {
      AddProduct(p, cell, input, step.spare);
      AddProduct(p + 2 * h, cell, forget, step.spare);
      Activate(step.functions[0], input, input, h);
      Activate(step.functions[0], forget, forget, h);
    } else {
      Activate(step.functions[0], gates, gates, 3 * h);
    }
    Activate(step.functions[1], next, next, h);
    Multiply(forget, cell, cell, h);
    Multiply(input, next, next, h);
    Add(cell, next, cell, h);
    if (p) {
      AddProduct(p + h, cell, output, step.spare);
      Activate(step.functions[0], output, output, h);
    }
    Apply(step.functions[2], cell, next, h);
    Multiply(output, next, after, h);
  }

  // The gates of a row: update, reset, state.
  void RunGru(const Step& step) const {
    const int64_t columns = s_.Columns(), h = s_.hidden;
    for (int64_t n = 0; n < s_.rows; ++n) {
      float *const gates = step.gates + n * columns, *const reset = gates + h, *const next = gates + 2 * h;
      Add(gates, step.inputs + n * columns, gates, 2 * h);
      Activate(step.functions[0], gates, gates, 2 * h);
      if (products_.has_second) {
        Multiply(reset, step.before + n * h, step.spare + n * h, h);
      } else {
        if (step.recurrent_bias) Add(next, step.recurrent_bias, next, h);
        Multiply(reset, next, next, h);
      }
    }
    if (products_.has_second) {
      const float* packed = step.packed + products_.state.PackedBytes() / sizeof(float);
      products_.second.Run(step.spare, h, s_.rows, packed, step.tiles, step.gates + 2 * h, columns);
    }
    for (int64_t n = 0; n < s_.rows; ++n) {
      float *const update = step.gates + n * columns, *const next = update + 2 * h, *const spare = step.spare + n * h;
      Add(next, step.inputs + n * columns + 2 * h, next, h);
      Activate(step.functions[1], next, next, h);
      simd_.binary[static_cast<int>(BinaryOp::kSub)](step.before + n * h, next, spare, static_cast<size_t>(h));
      Multiply(update, spare, spare, h);
      Add(next, spare, step.after + n * h, h);
    }
  }

  void Add(const float* x, const float* y, float* z, int64_t n) const {
    simd_.binary[static_cast<int>(BinaryOp::kAdd)](x, y, z, static_cast<size_t>(n));
  }
  void Multiply(const float* x, const float* y, float* z, int64_t n) const {
    simd_.binary[static_cast<int>(BinaryOp::kMul)](x, y, z, static_cast<size_t>(n));
  }
  void AddProduct(const float* x, const float* y, float* sum, float* spare) const {
    Multiply(x, y, spare, s_.hidden);
    Add(sum, spare, sum, s_.hidden);
  }
  void Apply(const Activation& f, const float* x, float* y, int64_t n) const {
    simd_.unary[static_cast<int>(f.op)](x, y, static_cast<size_t>(n), f.a, f.b);
  }
  // The function of a gate, whose argument is held within the clip.
  void Activate(const Activation& f, float* x, float* y, int64_t n) const {
    if (s_.clip > 0) Apply({UnaryOp::kClip, -s_.clip, s_.clip}, x, x, n);
    Apply(f, x, y, n);
  }

  Shape s_;
  Products products_;
  const SimdTable& simd_;
  bool has_b_, has_h_, has_c_, has_p_;
};

class Recurrent final : public Kernel {
 public:
  Status Check(const Problem& problem) const override { return Read(problem).status(); }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const Shape s, Read(problem));
    const Products products(s, problem.isa);
    Choice choice = PlainChoice(problem, std::string("tiled ") + ToString(problem.isa));
    choice.packed[kW] = PackInput(s, products, reinterpret_cast<const float*>(problem.inputs[kW].constant.data()));
    choice.packed[kR] = PackState(s, products, reinterpret_cast<const float*>(problem.inputs[kR].constant.data()));
    choice.scratch_bytes = products.ScratchBytes();
    return choice;
  }

  bool PacksInput(size_t input) const override { return input == kW || input == kR; }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(Shape s, Read(problem));
    const Products products(s, problem.isa);
    const auto directions = static_cast<size_t>(s.directions);
    if (problem.inputs[kW].constant.size() != products.InputBytes() * directions ||
        problem.inputs[kR].constant.size() != products.StateBytes() * directions)
      return Invalid("packed weights have another size");
    if (problem.scratch_bytes < products.ScratchBytes()) return Invalid("the scratch buffer is too small");
    return std::unique_ptr<Executor>(std::make_unique<RecurrentExecutor>(std::move(s), problem));
  }
};

}  // namespace

const Kernel* RecurrentKernel() {
  static const Recurrent kernel;
  return &kernel;
}

}  // namespace npustream::kernels
