#include "npu_sim/kernels/byte_conv.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "npu_sim/kernels/amx_conv.h"
#include "npu_sim/kernels/byte_binary.h"
#include "npu_sim/kernels/conv_driver.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

constexpr int64_t kDepth = 4;
// An optional table of 256 bytes, through which the result goes; attributes table_scale and table_zero_point say what its
// places stand for.
constexpr size_t kTableInput = 4;
// An optional tensor of bytes that is added, as ByteAdd does it, to the bytes so far. Attributes row_scale and
// row_zero_point say what those stand for, add_low and add_high hold the sum; addend_first: the addend is the first
// operand (which decides how the sum is rounded).
constexpr size_t kAddendInput = 5;
// Groups of channels must be whole on every instruction set, as an OM is lowered anew on another CPU.
constexpr int64_t kWidestBlock = 16;
// Pixels of a depthwise convolution whose sums become results before the next ones: of a part of a row, or of several
// rows. A multiple of 8.
constexpr int64_t kDepthwisePixels = 64;

om::Layout SourceLayout(const ConvShape& s, Isa isa) {
  return s.groups == 1 && s.ic <= om::BlockOf(om::Layout::kBlocked4) ? om::Layout::kBlocked4 : BlockedLayout(isa);
}

bool IsOnTiles(const ConvShape& s, Isa isa) { return isa == Isa::kAmx && !s.IsDepthwise(); }

// How a dense convolution is cut.
ConvCut CutBytes(const ConvShape& s, Isa isa) { return CutConv(s, SourceLayout(s, isa), isa, kDepth); }

// Whether the bias is int32 in steps of the products (source scale · weight scale), as integer models have it.
bool HasWholeBias(const ConvShape& s, const Problem& problem) {
  if (!s.has_bias || problem.inputs[2].type != om::DataType::kInt32 || !problem.inputs[2].is_constant) return false;
  const om::Quantization *bias = problem.inputs[2].quantization, &x = *problem.inputs[0].quantization,
                         &w = *problem.inputs[1].quantization;
  if (bias == nullptr) return false;
  for (int64_t c = 0; c < s.oc; ++c) {
    const auto of = [&](const auto& values) { return values[values.size() == 1 ? 0 : static_cast<size_t>(c)]; };
    const float step = x.scales[0] * of(w.scales);
    if (of(bias->zero_points) != 0 || std::fabs(of(bias->scales) - step) > 1e-5f * step) return false;
  }
  return true;
}

bool IsReal(const Problem& problem) { return problem.outputs[0].type == om::DataType::kFloat32; }

// How a depthwise convolution's taps are gathered into quads.
struct DepthwiseCut {
  int64_t block;
  bool pairs;             // neighbouring pixels share a vector
  int64_t quads;          // per kernel row
  int64_t vectors;        // in a line
  int64_t lines;          // source rows that are kept

  DepthwiseCut(const ConvShape& s, Isa isa)
      : block(om::BlockOf(BlockedLayout(isa))),
        pairs(s.stride_w == 1 && s.dilation_w == 1),
        quads(pairs ? (s.kw + 1 + 3) / 4 : (s.kw + 3) / 4),
        vectors(pairs ? (s.ow + 1) / 2 + 2 * (quads - 1) : s.ow * quads),
        lines((s.kh - 1) * s.dilation_h + 1) {}

  int64_t members() const { return pairs ? 2 : 1; }
  int64_t LineBytes() const { return vectors * 4 * block; }
  int64_t GroupWeights(const ConvShape& s) const { return s.kh * quads * members() * block * 4; }
  size_t SumBytes() const { return static_cast<size_t>(kDepthwisePixels * block) * sizeof(int32_t); }
  size_t Scratch() const { return SumBytes() + static_cast<size_t>(lines * LineBytes()); }
};

// The packed constant: weights, then for every result channel (padding ones included) an int32 that takes the source's
// zero point out of the sum, a scale and a bias.
struct Packed {
  int64_t weights, channels;

  Packed(const ConvShape& s, Isa isa) {
    if (s.IsDepthwise()) {
      const DepthwiseCut cut(s, isa);
      const int64_t groups = GroupsOf(s.oc, cut.block);
      weights = groups * cut.GroupWeights(s);
      channels = groups * cut.block;
    } else if (IsOnTiles(s, isa)) {
      const AmxCut cut(s, SourceLayout(s, isa), 1);
      weights = cut.Weights(s);
      channels = cut.Channels(s);
    } else {
      const ConvCut cut = CutBytes(s, isa);
      weights = cut.Weights(s);
      channels = cut.Channels(s);
    }
  }
  size_t Bytes() const { return static_cast<size_t>(weights + channels * 3 * 4); }
  const int8_t* Weights(const std::byte* base) const { return reinterpret_cast<const int8_t*>(base); }
  const int32_t* Corrections(const std::byte* base) const { return reinterpret_cast<const int32_t*>(base + weights); }
  const float* Scales(const std::byte* base) const { return reinterpret_cast<const float*>(base + weights) + channels; }
  const float* Biases(const std::byte* base) const { return Scales(base) + channels; }
};

om::Quantization QuantizationOf(const Problem& problem, const char* scale, const char* zero_point) {
  return {{om::GetFloat(*problem.node, scale, 1)}, {static_cast<int32_t>(om::GetInt(*problem.node, zero_point, 0))}};
}

om::Quantization BytesOfRows(const Problem& problem) { return QuantizationOf(problem, "row_scale", "row_zero_point"); }

// What the bytes that the sums become stand for: the places of a table, what is added to, or those of the result.
om::Quantization BytesOfSums(const Problem& problem) {
  if (!IsAbsent(problem, kTableInput)) return QuantizationOf(problem, "table_scale", "table_zero_point");
  return IsAbsent(problem, kAddendInput) ? *problem.outputs[0].quantization : BytesOfRows(problem);
}

// What is done to bytes once a row of them is complete.
struct RowEnding {
  decltype(SimdTable::look_up) look_up = nullptr;
  decltype(SimdTable::byte_add) add = nullptr;
  ByteBinary sum = {};
  bool addend_first = false;

  explicit RowEnding(const Problem& problem) {
    const SimdTable& simd = SimdFor(problem.isa);
    if (!IsAbsent(problem, kTableInput)) look_up = simd.look_up;
    if (IsAbsent(problem, kAddendInput)) return;
    add = simd.byte_add;
    addend_first = om::GetInt(*problem.node, "addend_first", 0) != 0;
    const om::Quantization row = BytesOfRows(problem), &addend = *problem.inputs[kAddendInput].quantization;
    const auto limit = [&](const char* name, int64_t otherwise) {
      return static_cast<float>(om::GetInt(*problem.node, name, otherwise));
    };
    sum = ByteSum(addend_first ? addend : row, addend_first ? row : addend, *problem.outputs[0].quantization,
                  {limit("add_low", 0), limit("add_high", 255)});
  }

  // `row` becomes what is written; `addend` is as many bytes.
  void End(uint8_t* row, int64_t bytes, const uint8_t* table, const uint8_t* addend) const {
    const auto n = static_cast<size_t>(bytes);
    if (look_up) look_up(row, row, n, table);
    if (!add) return;
    ByteBinary operands = sum;
    operands.x = addend_first ? addend : row, operands.y = addend_first ? row : addend;
    operands.z = row, operands.n = n;
    add(operands);
  }
};

// The part of ByteFinish that is the same for all tiles, and what is folded into scales and biases.
struct Requantization {
  ByteFinish finish = {};
  void (*function)(const ByteFinish&) = nullptr;
  float steps = 1, fold_bias = 0;  // scale' = scale / steps, bias' = bias / steps + fold_bias

  Requantization(const ConvShape& s, const Activation& activation, const Problem& problem) {
    const SimdTable& simd = SimdFor(problem.isa);
    finish.a = activation.a, finish.b = activation.b;
    finish.low = 0, finish.high = 255, finish.inverse_scale = 1;
    function = IsReal(problem) ? simd.real_finish : simd.byte_finish[static_cast<int>(UnaryOp::kIdentity)];
    if (!IsReal(problem)) {
      const om::Quantization y = BytesOfSums(problem);
      const float scale = y.scales[0];
      const auto zero = static_cast<float>(y.zero_points[0]);
      finish.zero_point = zero;
      if (const auto limits = LimitsOf(activation, y)) {
        steps = scale;
        finish.low = limits->low, finish.high = limits->high;
      } else {
        finish.inverse_scale = 1 / scale;
        function = simd.byte_finish[static_cast<int>(activation.op)];
      }
    }
    if (s.has_residual) {
      const om::Quantization& residual = *problem.inputs[3].quantization;
      finish.residual_scale = residual.scales[0] / steps;
      fold_bias -= finish.residual_scale * static_cast<float>(residual.zero_points[0]);
    }
  }
};

// Turns sums into the result of one image's group.
class ByteSink {
 public:
  ByteSink(const Requantization& requantization, const RowActivation* real, const RowEnding* ending, int32_t* sums,
           int64_t block, int64_t group_stride, const uint8_t* table)
      : finish_(requantization.finish),
        function_(requantization.function),
        real_(real),
        ending_(ending),
        sums_(sums),
        block_(block),
        table_(table) {
    finish_.y_group_stride = group_stride;
  }

  // What the sums of an image's group become.
  void Place(const float* scale, const float* bias, const uint8_t* residual, const uint8_t* addend, uint8_t* y,
             float* real_y) {
    scale_ = scale, bias_ = bias, residual_ = residual, addend_ = addend, y_ = y, real_y_ = real_y;
  }

  int32_t* Target(int64_t, int64_t) const { return sums_; }
  int64_t GroupStride(int64_t width) const { return width * block_; }
  const int32_t* Residual(int64_t) const { return nullptr; }
  void EndTile(int64_t at, int64_t group, int64_t groups, int64_t width, const int32_t* sums) {
    EndTile(at, group, groups, width, sums, width * block_);
  }
  void EndTile(int64_t at, int64_t group, int64_t groups, int64_t width, const int32_t* sums, int64_t sum_group_stride) {
    ByteFinish& f = finish_;
    f.sums = sums, f.sum_group_stride = sum_group_stride;
    f.scale = scale_ + group * block_, f.bias = bias_ + group * block_;
    f.residual = residual_ ? residual_ + at : nullptr;
    f.y = y_ + at;
    f.real_y = real_y_ ? real_y_ + at : nullptr;
    f.groups = groups, f.pixels = width;
    function_(f);
    for (int64_t g = 0; real_y_ && g < groups; ++g)
      real_->Activate(f.real_y + g * f.y_group_stride, width * block_);
  }
  void EndRow(int64_t at, int64_t, int64_t groups, int64_t pixels) const {
    if (!ending_->look_up && !ending_->add) return;
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t row = at + g * finish_.y_group_stride;
      ending_->End(y_ + row, pixels * block_, table_, addend_ ? addend_ + row : nullptr);
    }
  }

 private:
  ByteFinish finish_;
  void (*function_)(const ByteFinish&);
  const RowActivation* real_;
  const RowEnding* ending_;
  int32_t* sums_;
  int64_t block_;
  const uint8_t* table_;
  const float *scale_ = nullptr, *bias_ = nullptr;
  const uint8_t *residual_ = nullptr, *addend_ = nullptr;
  uint8_t* y_ = nullptr;
  float* real_y_ = nullptr;
};

// What both kinds of executor keep.
struct Common {
  ConvShape s;
  Packed packed;
  Requantization requantization;
  RowActivation real_ending;
  RowEnding ending;
  bool real;
  uint8_t zero_point;  // of the source

  Common(const ConvShape& shape, const Activation& activation, const Problem& problem)
      : s(shape),
        packed(shape, problem.isa),
        requantization(shape, activation, problem),
        real_ending(activation, problem),
        ending(problem),
        real(IsReal(problem)),
        zero_point(static_cast<uint8_t>(problem.inputs[0].quantization->zero_points[0])) {}

  ByteSink MakeSink(const Arguments& a, int64_t block, int64_t group_stride) const {
    return ByteSink(requantization, &real_ending, &ending, reinterpret_cast<int32_t*>(a.scratch), block, group_stride,
                    ending.look_up ? In<uint8_t>(a, kTableInput) : nullptr);
  }

  // Points the sink to the result from element `at` on, whose first channel is `channel`.
  void Place(ByteSink& sink, const Arguments& a, int64_t at, int64_t channel) const {
    const std::byte* constant = a.inputs[1];
    sink.Place(packed.Scales(constant) + channel, packed.Biases(constant) + channel,
               s.has_residual ? In<uint8_t>(a, 3) + at : nullptr,
               ending.add ? In<uint8_t>(a, kAddendInput) + at : nullptr, Out<uint8_t>(a) + at,
               real ? Out<float>(a) + at : nullptr);
  }
  // Calls run(source, weights, corrections, sink) for every image's convolution group, of a convolution that is cut so.
  template <typename Cut, typename Function>
  void ForEachGroup(const Arguments& a, const Cut& cut, int64_t block, Function run) const {
    const int64_t in_step = cut.in_groups * cut.in_block * s.ih * s.iw, channels = cut.out_groups * block,
                  out_step = channels * s.oh * s.ow, weight_step = cut.Weights(s) / s.groups;
    ByteSink sink = MakeSink(a, block, s.oh * s.ow * block);
    for (int64_t i = 0; i < s.n * s.groups; ++i) {
      const int64_t g = i % s.groups;
      Place(sink, a, i * out_step, g * channels);
      run(In<uint8_t>(a, 0) + i * in_step, packed.Weights(a.inputs[1]) + g * weight_step,
          packed.Corrections(a.inputs[1]) + g * channels, sink);
    }
    Finish(a);
  }
  void Finish(const Arguments& a) const {
    if (real) real_ending.Finish(Out<float>(a));
  }
};

class DenseExecutor final : public Executor {
 public:
  DenseExecutor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : c_(s, activation, problem),
        driver_(s, CutBytes(s, problem.isa), SimdFor(problem.isa).byte_conv,
                c_.zero_point) {}

  static size_t SumBytes(const ConvCut& cut) {
    return static_cast<size_t>(kMaxTileGroups * kMaxTilePixels * cut.block) * sizeof(int32_t);
  }

  Status Run(const Arguments& a) override {
    auto* const copies = reinterpret_cast<uint8_t*>(a.scratch + SumBytes(driver_.cut()));
    c_.ForEachGroup(a, driver_.cut(), driver_.cut().block,
                    [&](const uint8_t* x, const int8_t* w, const int32_t* corrections, ByteSink& sink) {
                      driver_.Run({x, w, corrections}, copies, sink);
                    });
    return {};
  }

 private:
  Common c_;
  ConvDriver<uint8_t, int8_t, int32_t> driver_;
};

// The same on tiles.
class TiledExecutor final : public Executor {
 public:
  TiledExecutor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : c_(s, activation, problem), driver_(s, SourceLayout(s, problem.isa), SimdFor(problem.isa), SimdFor(problem.isa).byte_block, c_.zero_point) {}

  static constexpr size_t kSumBytes = 2 * kMostBlockPixels * AmxCut::kBlock * sizeof(int32_t);

  Status Run(const Arguments& a) override {
    c_.ForEachGroup(a, driver_.cut(), AmxCut::kBlock,
                    [&](const uint8_t* x, const int8_t* w, const int32_t* corrections, ByteSink& sink) {
                      driver_.Run({x, reinterpret_cast<const std::byte*>(w), corrections},
                                  reinterpret_cast<int32_t*>(a.scratch), a.scratch + kSumBytes, sink);
                    });
    return {};
  }

 private:
  Common c_;
  AmxDriver<uint8_t, int32_t> driver_;
};

class DepthwiseExecutor final : public Executor {
 public:
  DepthwiseExecutor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : c_(s, activation, problem),
        cut_(s, problem.isa),
        simd_(&SimdFor(problem.isa)),
        rows_(static_cast<size_t>(s.kh)),
        segment_rows_(static_cast<size_t>(s.kh)) {}

  Status Run(const Arguments& a) override {
    const ConvShape& s = c_.s;
    const int64_t groups = GroupsOf(s.oc, cut_.block);
    ByteSink sink = c_.MakeSink(a, cut_.block, 0);
    auto* const lines = reinterpret_cast<uint8_t*>(a.scratch + cut_.SumBytes());
    for (int64_t i = 0; i < s.n * groups; ++i) {
      const int64_t group = i % groups;
      c_.Place(sink, a, i * s.oh * s.ow * cut_.block, group * cut_.block);
      RunGroup(In<uint8_t>(a, 0) + i * s.ih * s.iw * cut_.block,
               c_.packed.Weights(a.inputs[1]) + group * cut_.GroupWeights(s),
               c_.packed.Corrections(a.inputs[1]) + group * cut_.block, lines, sink);
    }
    c_.Finish(a);
    return {};
  }

 private:
  void RunGroup(const uint8_t* x, const int8_t* w, const int32_t* corrections, uint8_t* lines, ByteSink& sink) {
    const ConvShape& s = c_.s;
    int64_t filled = 0;  // source rows with padding that lie in lines, or did
    Pending pending = {};
    for (int64_t oh = 0; oh < s.oh; ++oh) {
      for (const int64_t end = oh * s.stride_h + cut_.lines; filled < end; ++filled)
        FillLine(x, filled - s.pad_top, lines + filled % cut_.lines * cut_.LineBytes());
      for (int64_t k = 0; k < s.kh; ++k) {
        rows_[static_cast<size_t>(k)] =
            lines + (oh * s.stride_h + k * s.dilation_h) % cut_.lines * cut_.LineBytes();
      }
      RunRow(oh * s.ow, w, corrections, pending, sink);
    }
    Finish(pending, sink);
  }

  // The vectors of source row `row`; outside the picture is the zero point.
  void FillLine(const uint8_t* x, int64_t row, uint8_t* line) const {
    const ConvShape& s = c_.s;
    if (row < 0 || row >= s.ih) {
      std::memset(line, c_.zero_point, static_cast<size_t>(cut_.LineBytes()));
      return;
    }
    const int64_t vector = 4 * cut_.block;
    FourPixelRow r = {};
    r.row = x + row * s.iw * cut_.block, r.pixels = s.iw, r.outside = c_.zero_point;
    r.dilation = s.dilation_w;
    if (cut_.pairs) {
      r.first = -s.pad_left, r.step = 2;
      r.to = line, r.vectors = cut_.vectors, r.to_step = vector;
      return simd_->four_pixels(r);
    }
    r.step = s.stride_w, r.vectors = s.ow, r.to_step = cut_.quads * vector;
    for (int64_t quad = 0; quad < cut_.quads; ++quad) {
      r.first = quad * 4 * s.dilation_w - s.pad_left, r.to = line + quad * vector;
      simd_->four_pixels(r);
    }
  }

  // Pixels whose sums wait to become results, one after another.
  struct Pending {
    int64_t first, count;
  };

  // The row of the result that starts at pixel `at`.
  void RunRow(int64_t at, const int8_t* w, const int32_t* corrections, Pending& pending, ByteSink& sink) {
    const ConvShape& s = c_.s;
    ByteDepthwiseRow row = {};
    row.lines = segment_rows_.data();
    row.w = w, row.bias = corrections;
    row.kh = s.kh, row.quads = cut_.quads, row.pairs = cut_.pairs;
    const int64_t step = (cut_.pairs ? 1 : cut_.quads) * 4 * cut_.block;
    for (int64_t first = 0; first < s.ow; first += row.pixels) {
      for (size_t k = 0; k < rows_.size(); ++k) segment_rows_[k] = rows_[k] + first / cut_.members() * step;
      row.pixels = std::min(kDepthwisePixels, s.ow - first);
      // A pair's second pixel may be written beyond the row.
      if (pending.count + row.pixels + 1 > kDepthwisePixels) Finish(pending, sink);
      if (pending.count == 0) pending.first = at + first;
      row.sums = sink.Target(0, kDepthwisePixels) + pending.count * cut_.block;
      simd_->byte_depthwise(row);
      pending.count += row.pixels;
    }
  }

  void Finish(Pending& pending, ByteSink& sink) const {
    const int64_t at = pending.first * cut_.block;
    sink.EndTile(at, 0, 1, pending.count, sink.Target(0, kDepthwisePixels));
    sink.EndRow(at, 0, 1, pending.count);
    pending.count = 0;
  }

  Common c_;
  DepthwiseCut cut_;
  const SimdTable* simd_;
  std::vector<const uint8_t*> rows_, segment_rows_;
};

size_t ScratchBytes(const ConvShape& s, Isa isa) {
  if (s.IsDepthwise()) return DepthwiseCut(s, isa).Scratch();
  if (IsOnTiles(s, isa)) return TiledExecutor::kSumBytes + static_cast<size_t>(AmxCut(s, SourceLayout(s, isa), 1).Scratch());
  const ConvCut cut = CutBytes(s, isa);
  return DenseExecutor::SumBytes(cut) + static_cast<size_t>(cut.Scratch(s));
}

// What the sums may come to in steps of the result's bytes, beside the bias.
double LargestSteps(const ConvShape& s, const Problem& problem) {
  const std::vector<float>& scales = problem.inputs[1].quantization->scales;
  const double products = static_cast<double>(s.ic / s.groups * s.kh * s.kw) * 255 * 128;
  double steps = products * problem.inputs[0].quantization->scales[0] * *std::max_element(scales.begin(), scales.end());
  if (s.has_residual) steps += 255.0 * problem.inputs[3].quantization->scales[0];
  if (s.has_bias && !HasWholeBias(s, problem)) {
    const auto* bias = reinterpret_cast<const float*>(problem.inputs[2].constant.data());
    for (int64_t c = 0; c < s.oc; ++c) steps = std::max(steps, steps + std::fabs(static_cast<double>(bias[c])));
  }
  return steps / BytesOfSums(problem).scales[0];
}

// [group of channels][kh][quad][pair member][lane][4]
void PackDepthwise(const ConvShape& s, const DepthwiseCut& cut, const int8_t* plain, int8_t* to) {
  for (int64_t group = 0; group * cut.block < s.oc; ++group) {
    for (int64_t kh = 0; kh < s.kh; ++kh) {
      for (int64_t quad = 0; quad < cut.quads; ++quad) {
        for (int64_t member = 0; member < cut.members(); ++member) {
          for (int64_t c = group * cut.block; c < (group + 1) * cut.block; ++c) {
            for (int64_t i = 0; i < 4; ++i) {
              const int64_t kw = 4 * quad + i - member;
              *to++ = c < s.oc && kw >= 0 && kw < s.kw ? plain[(c * s.kh + kh) * s.kw + kw] : int8_t{0};
            }
          }
        }
      }
    }
  }
}

// Scales, biases and corrections of result channel `c` of the convolution go to entry `at`.
class ChannelPacker {
 public:
  ChannelPacker(const ConvShape& s, const Activation& activation, const Problem& problem, const Packed& packed,
                std::byte* base)
      : s_(s), problem_(problem), fold_(s, activation, problem) {
    corrections_ = const_cast<int32_t*>(packed.Corrections(base));
    scales_ = const_cast<float*>(packed.Scales(base));
    biases_ = const_cast<float*>(packed.Biases(base));
  }

  void Pack(int64_t c, int64_t at) {
    const om::Quantization &x = *problem_.inputs[0].quantization, &w = *problem_.inputs[1].quantization;
    const auto* weights = reinterpret_cast<const int8_t*>(problem_.inputs[1].constant.data());
    const int64_t per_channel = s_.ic / s_.groups * s_.kh * s_.kw;
    int32_t sum = 0;
    for (int64_t i = 0; i < per_channel; ++i) sum += weights[c * per_channel + i];
    int32_t in_steps = 0;
    float real = 0;
    if (s_.has_bias) {
      const bool whole = HasWholeBias(s_, problem_);
      std::memcpy(whole ? static_cast<void*>(&in_steps) : &real, problem_.inputs[2].constant.data() + c * 4, 4);
    }
    corrections_[at] = Wrapping(in_steps, x.zero_points[0] * sum, std::minus<>());
    const float scale = x.scales[0] * w.scales[w.IsPerTensor() ? 0 : static_cast<size_t>(c)];
    scales_[at] = scale / fold_.steps;
    biases_[at] = real / fold_.steps + fold_.fold_bias;
  }

 private:
  const ConvShape& s_;
  const Problem& problem_;
  Requantization fold_;
  int32_t* corrections_;
  float *scales_, *biases_;
};

}  // namespace

bool IsByteConv(const Problem& problem) { return problem.inputs[0].type == om::DataType::kUInt8; }

Status CheckByteConv(const ConvShape& s, const Activation& activation, const Problem& problem) {
  const TensorInfo& w = problem.inputs[1];
  if (!IsByteTensor(problem.inputs[0])) return Unsupported("integers without one scale");
  if (w.type != om::DataType::kInt8 || !w.quantization) return Unsupported("weights are not quantised to int8");
  const om::Quantization& q = *w.quantization;
  if (std::any_of(q.zero_points.begin(), q.zero_points.end(), [](int32_t zero) { return zero != 0; }))
    return Unsupported("weights with a zero point");
  if (!q.IsPerTensor() && (q.axis != 0 || static_cast<int64_t>(q.scales.size()) != s.oc))
    return Unsupported("weight scales are not per result channel");
  if (s.has_bias && !HasWholeBias(s, problem) &&
      (problem.inputs[2].type != om::DataType::kFloat32 || !problem.inputs[2].is_constant))
    return Unsupported("the bias is neither constant float32 nor int32 in steps of the products");
  if (s.has_residual && !IsByteTensor(problem.inputs[3]))
    return Unsupported("the residual is not quantised to uint8");
  if (!IsReal(problem) && !IsByteTensor(problem.outputs[0]))
    return Unsupported("the result is neither float32 nor quantised to uint8");
  if (!SimdFor(problem.isa).byte_finish[static_cast<int>(activation.op)] && !IsReal(problem))
    return Unsupported("this activation on bytes");
  if (!IsAbsent(problem, kTableInput)) {
    const TensorInfo& table = problem.inputs[kTableInput];
    if (table.type != om::DataType::kUInt8 || !table.is_constant || om::ElementCount(table.dims) != 256)
      return Invalid("the table is not 256 constant bytes");
    if (IsReal(problem)) return Invalid("a table for real numbers");
  }
  if (!IsAbsent(problem, kAddendInput)) {
    const TensorInfo& addend = problem.inputs[kAddendInput];
    if (IsReal(problem) || !IsByteTensor(addend) || addend.is_constant)
      return Invalid("an addend that is not of bytes");
    if (addend.dims != problem.outputs[0].dims) return Invalid("the addend is {}", DimsText(addend.dims));
  }
  const int64_t ic = s.ic / s.groups, oc = s.oc / s.groups;
  const bool blocks = s.groups == 1 || s.IsDepthwise() || (ic % kWidestBlock == 0 && oc % kWidestBlock == 0);
  if (!blocks) return Unsupported("{} groups of {} and {} channels on bytes", s.groups, ic, oc);
  // Offsets into the source are 32 bits wide.
  if (s.ic * (s.ih + s.pad_top + s.pad_bottom) > INT32_MAX / (s.iw + s.pad_left + s.pad_right + kWidestBlock))
    return Unsupported("so large a picture");
  if (ScratchBytes(s, problem.isa) > static_cast<size_t>(kMostScratch)) return Unsupported("so wide a window");
  // The results must fit 32 bits before they are held in a byte.
  if (!IsReal(problem) && LargestSteps(s, problem) >= static_cast<double>(1 << 30))
    return Unsupported("a result whose scale is so much smaller than its operands'");
  // A sum of so many products fits 32 bits.
  if (ic * s.kh * s.kw > INT32_MAX / (255 * 128)) return Unsupported("so many products in a sum");
  return {};
}

Result<Choice> ChooseByteConv(const ConvShape& s, const Activation& activation, const Problem& problem) {
  const om::Layout blocked = BlockedLayout(problem.isa);
  Choice choice =
      PlainChoice(problem, std::string(s.IsDepthwise() ? "depthwise bytes " : "bytes ") + ToString(problem.isa));
  choice.inputs[0] = SourceLayout(s, problem.isa);
  choice.outputs[0] = blocked;
  if (s.has_residual) {
    choice.inputs[3] = blocked;
    if (!IsReal(problem)) choice.in_place_input = 3;
  }
  if (!IsAbsent(problem, kAddendInput)) choice.inputs[kAddendInput] = blocked;
  const Packed packed(s, problem.isa);
  om::Bytes bytes(packed.Bytes());
  ChannelPacker channels(s, activation, problem, packed, bytes.data());
  const auto* plain = reinterpret_cast<const int8_t*>(problem.inputs[1].constant.data());
  auto* weights = reinterpret_cast<int8_t*>(bytes.data());
  if (s.IsDepthwise()) {
    const DepthwiseCut cut(s, problem.isa);
    PackDepthwise(s, cut, plain, weights);
    for (int64_t c = 0; c < s.oc; ++c) channels.Pack(c, c);
  } else if (IsOnTiles(s, problem.isa)) {
    const AmxCut cut(s, SourceLayout(s, problem.isa), 1);
    PackAmx(s, cut, plain, weights);
    const int64_t oc = s.oc / s.groups;
    for (int64_t c = 0; c < s.oc; ++c) channels.Pack(c, c / oc * cut.out_groups * AmxCut::kBlock + c % oc);
  } else {
    const ConvCut cut = CutBytes(s, problem.isa);
    PackDense(s, cut, plain, weights);
    const int64_t oc = s.oc / s.groups;
    for (int64_t c = 0; c < s.oc; ++c) channels.Pack(c, c / oc * cut.out_groups * cut.block + c % oc);
  }
  choice.scratch_bytes = ScratchBytes(s, problem.isa);
  choice.packed[1] = std::move(bytes);
  return choice;
}

Result<std::unique_ptr<Executor>> PrepareByteConv(const ConvShape& s, const Activation& activation,
                                                  const Problem& problem) {
  const om::Layout blocked = BlockedLayout(problem.isa);
  const bool layouts = problem.inputs[0].layout == SourceLayout(s, problem.isa) &&
                       problem.outputs[0].layout == blocked && (!s.has_residual || problem.inputs[3].layout == blocked) &&
                       (IsAbsent(problem, kAddendInput) || problem.inputs[kAddendInput].layout == blocked);
  if (!layouts) return Invalid("layouts do not fit");
  if (problem.inputs[1].constant.size() != Packed(s, problem.isa).Bytes())
    return Invalid("packed weights have another size");
  if (problem.scratch_bytes < ScratchBytes(s, problem.isa)) return Invalid("the scratch buffer is too small");
  if (s.IsDepthwise()) return std::unique_ptr<Executor>(std::make_unique<DepthwiseExecutor>(s, activation, problem));
  if (IsOnTiles(s, problem.isa))
    return std::unique_ptr<Executor>(std::make_unique<TiledExecutor>(s, activation, problem));
  return std::unique_ptr<Executor>(std::make_unique<DenseExecutor>(s, activation, problem));
}

}  // namespace npustream::kernels
