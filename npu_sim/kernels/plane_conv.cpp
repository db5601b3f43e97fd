#include "npu_sim/kernels/plane_conv.h"

#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// Source rows with their padding that are worked on at a time.
constexpr int64_t kBandBytes = 256 * 1024;
// More than that for a single row of results is left to others.
constexpr int64_t kMostBandFloats = 16 * 1024 * 1024;
// The widest vector; lines end on it, so that tiles may read whole ones.
constexpr int64_t kMostLanes = 16;

int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// How the source is cut into bands of rows. Sizes in floats and rows.
struct Cut {
  int64_t line, band_rows, in_rows;

  explicit Cut(const ConvShape& s) {
    line = RoundUp(s.ow, kMostLanes) + RoundUp((s.kw - 1) * s.dilation_w, kMostLanes);
    const int64_t reach = (s.kh - 1) * s.dilation_h + 1, row = s.ic * line * static_cast<int64_t>(sizeof(float));
    band_rows = std::clamp<int64_t>((kBandBytes / row - reach) / s.stride_h + 1, 1, s.oh);
    in_rows = (band_rows - 1) * s.stride_h + reach;
  }
  int64_t Floats(const ConvShape& s) const { return s.ic * in_rows * line; }
};

int64_t Taps(const ConvShape& s) { return s.ic * s.kh * s.kw; }
size_t PackedBytes(const ConvShape& s) { return static_cast<size_t>((Taps(s) + 1) * s.oc) * sizeof(float); }

class PlaneExecutor final : public Executor {
 public:
  PlaneExecutor(const ConvShape& s, const Activation& activation, const Problem& problem)
      : s_(s), cut_(s), row_(SimdFor(problem.isa).plane_conv[s.oc - 1]), ending_(activation, problem) {
    for (int64_t c = 0; c < s.ic; ++c) {
      for (int64_t kh = 0; kh < s.kh; ++kh) {
        for (int64_t kw = 0; kw < s.kw; ++kw)
          offsets_.push_back(
              static_cast<int32_t>((c * cut_.in_rows + kh * s.dilation_h) * cut_.line + kw * s.dilation_w));
      }
    }
  }

  Status Run(const Arguments& a) override {
    auto* const band = reinterpret_cast<float*>(a.scratch);
    const int64_t plane = s_.oh * s_.ow;
    for (int64_t n = 0; n < s_.n; ++n) {
      const int64_t at = n * s_.oc * plane;
      for (int64_t first = 0; first < s_.oh; first += cut_.band_rows) {
        const int64_t end = std::min(s_.oh, first + cut_.band_rows);
        CopyBand(In<float>(a, 0) + n * s_.ic * s_.ih * s_.iw, first * s_.stride_h - s_.pad_top, band);
        RunBand(a, band, at, first, end);
        for (int64_t c = 0; c < s_.oc; ++c)
          ending_.Activate(Out<float>(a) + at + c * plane + first * s_.ow, (end - first) * s_.ow);
      }
    }
    return {};
  }

 private:
  void RunBand(const Arguments& a, const float* band, int64_t at, int64_t first, int64_t end) const {
    PlaneConvRow row = {};
    row.offsets = offsets_.data(), row.taps = static_cast<int64_t>(offsets_.size());
    row.w = In<float>(a, 1), row.bias = row.w + row.taps * s_.oc;
    row.y_plane_stride = s_.oh * s_.ow, row.pixels = s_.ow;
    for (int64_t oh = first; oh < end; ++oh) {
      row.x = band + (oh - first) * s_.stride_h * cut_.line;
      row.y = Out<float>(a) + at + oh * s_.ow;
      row.residual = s_.has_residual ? In<float>(a, 3) + at + oh * s_.ow : nullptr;
      row_(row);
    }
  }

  // Source rows from `top` on with zeros around.
  void CopyBand(const float* x, int64_t top, float* to) const {
    const int64_t inside = std::min(s_.iw, cut_.line - s_.pad_left);
    for (int64_t c = 0; c < s_.ic; ++c) {
      for (int64_t r = top; r < top + cut_.in_rows; ++r, to += cut_.line) {
        if (r < 0 || r >= s_.ih || inside <= 0) {
          std::fill_n(to, cut_.line, 0.0f);
          continue;
        }
        std::fill_n(to, s_.pad_left, 0.0f);
        std::memcpy(to + s_.pad_left, x + (c * s_.ih + r) * s_.iw, static_cast<size_t>(inside) * sizeof(float));
        std::fill_n(to + s_.pad_left + inside, cut_.line - s_.pad_left - inside, 0.0f);
      }
    }
  }

  ConvShape s_;
  Cut cut_;
  void (*row_)(const PlaneConvRow&);
  RowActivation ending_;
  std::vector<int32_t> offsets_;
};

}  // namespace

bool CanPlaneConv(const ConvShape& s, const Problem& problem) {
  if (problem.isa == Isa::kBaseline || problem.inputs[0].layout != om::Layout::kPlain) return false;
  if (s.has_bias && !problem.inputs[2].is_constant) return false;
  return s.groups == 1 && s.stride_w == 1 && IsFewChannels(problem.outputs[0], problem.isa) &&
         s.pad_left < Cut(s).line && Cut(s).Floats(s) <= kMostBandFloats;
}

Result<Choice> ChoosePlaneConv(const ConvShape& s, const Problem& problem) {
  Choice choice = PlainChoice(problem, std::string("planes ") + ToString(problem.isa));
  if (s.has_residual) choice.in_place_input = 3;
  om::Bytes packed(PackedBytes(s));
  auto* to = reinterpret_cast<float*>(packed.data());
  const auto* weights = reinterpret_cast<const float*>(problem.inputs[1].constant.data());
  const int64_t taps = Taps(s);
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t o = 0; o < s.oc; ++o) *to++ = weights[o * taps + tap];
  }
  if (s.has_bias) std::memcpy(to, problem.inputs[2].constant.data(), static_cast<size_t>(s.oc) * sizeof(float));
  choice.packed[1] = std::move(packed);
  choice.scratch_bytes = static_cast<size_t>(Cut(s).Floats(s)) * sizeof(float);
  return choice;
}

Result<std::unique_ptr<Executor>> PreparePlaneConv(const ConvShape& s, const Activation& activation,
                                                   const Problem& problem) {
  if (problem.outputs[0].layout != om::Layout::kPlain ||
      (s.has_residual && problem.inputs[3].layout != om::Layout::kPlain))
    return Invalid("layouts do not fit");
  if (problem.inputs[1].constant.size() != PackedBytes(s)) return Invalid("packed weights have another size");
  if (problem.scratch_bytes < static_cast<size_t>(Cut(s).Floats(s)) * sizeof(float))
    return Invalid("the scratch buffer is too small");
  return std::unique_ptr<Executor>(std::make_unique<PlaneExecutor>(s, activation, problem));
}

}  // namespace npustream::kernels
