// Aipp: a uint8 picture becomes the network's input, real numbers or bytes that stand for them. Order of work as the vendor documents it: channel swap →
// crop → colour conversion → (in − mean − min) · var_reci → padding.
#include <algorithm>
#include <optional>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"
#include "npu_sim/om/aipp_config.h"

namespace npustream::kernels {
namespace {

enum class Source { kNv12, kRgb, kXrgb, kGrey };

Source SourceOf(const om::AippConfig& config) {
  if (config.input_format == "YUV420SP_U8") return Source::kNv12;
  if (config.input_format == "RGB888_U8") return Source::kRgb;
  if (config.input_format == "XRGB8888_U8") return Source::kXrgb;
  return Source::kGrey;
}

// Where the crop's content lands in one plane of the result; sizes in pixels.
struct Geometry {
  int64_t crop_x, crop_y, width, height;     // in the source
  int64_t left, top, out_width, out_height;  // in the result
};

Geometry GeometryOf(const om::AippConfig& c, const om::Dims& out) {
  Geometry g = {};
  g.out_height = out[2], g.out_width = out[3];
  if (c.padding) g.left = c.left_padding_size, g.top = c.top_padding_size;
  const int64_t pad_w = c.padding ? c.left_padding_size + c.right_padding_size : 0;
  const int64_t pad_h = c.padding ? c.top_padding_size + c.bottom_padding_size : 0;
  g.width = c.src_image_size_w, g.height = c.src_image_size_h;
  if (c.crop) {
    g.crop_x = c.load_start_pos_w, g.crop_y = c.load_start_pos_h;
    g.width = c.crop_size_w > 0 ? c.crop_size_w : g.out_width - pad_w;
    g.height = c.crop_size_h > 0 ? c.crop_size_h : g.out_height - pad_h;
  }
  return g;
}

Result<om::AippConfig> Read(const Problem& problem) {
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::AippConfig c, om::AippFromAttributes(*problem.node));
  const TensorInfo &in = problem.inputs[0], &out = problem.outputs[0];
  if (in.type != om::DataType::kUInt8 || (out.type != om::DataType::kFloat32 && !IsByteTensor(out)))
    return Invalid("AIPP turns uint8 into float32 or quantised uint8");
  if (c.aipp_mode != "static") return Unsupported("AIPP mode {}", c.aipp_mode);
  const Source source = SourceOf(c);
  const int64_t channels = source == Source::kGrey ? 1 : 3;
  if (out.dims.size() != 4 || in.dims.size() != 4 || (out.dims[1] != channels && out.dims[1] != 1))
    return Invalid("the result is {}", DimsText(out.dims));
  if (in.dims != om::AippInputDims(c, out.dims[0])) return Invalid("the picture is {}", DimsText(in.dims));
  if (source == Source::kNv12 && (c.src_image_size_w % 2 != 0 || c.src_image_size_h % 2 != 0))
    return Invalid("a 4:2:0 picture of odd size");
  const Geometry g = GeometryOf(c, out.dims);
  const int64_t pad_w = c.padding ? c.left_padding_size + c.right_padding_size : 0;
  const int64_t pad_h = c.padding ? c.top_padding_size + c.bottom_padding_size : 0;
  const bool fits = g.width > 0 && g.height > 0 && g.crop_x + g.width <= c.src_image_size_w &&
                    g.crop_y + g.height <= c.src_image_size_h && g.width + pad_w == g.out_width &&
                    g.height + pad_h == g.out_height;
  if (!fits) return Invalid("crop and padding do not make {}", DimsText(out.dims));
  if (source == Source::kNv12 && (g.crop_x % 2 != 0 || g.crop_y % 2 != 0))
    return Invalid("a 4:2:0 picture is cropped at an odd place");
  return c;
}

AippRow RowOf(const om::AippConfig& c) {
  AippRow row = {};
  std::copy(c.matrix.begin(), c.matrix.end(), row.matrix);
  row.csc = c.csc_switch;
  const Source source = SourceOf(c);
  // From YUV the input's bias is taken off, from RGB the output's is put on.
  for (int i = 0; i < 3; ++i) {
    row.input_bias[i] = source == Source::kNv12 ? c.input_bias[i] : 0;
    row.output_bias[i] = source == Source::kNv12 ? 0 : c.output_bias[i];
    row.offset[i] = c.mean_chn[i];
    row.minimum[i] = c.min_chn[i];
    row.scale[i] = c.var_reci_chn[i];
  }
  return row;
}

// Channels of a pixel of bytes, of which a convolution reads the first three at once.
constexpr int64_t kPixelBytes = 4;

// In the scratch buffer: a row's channels as they are read, as real numbers, and as bytes.
struct Scratch {
  size_t reals, bytes, end;

  Scratch(const om::AippConfig& c, const om::Dims& out) {
    const auto align = [](int64_t size) { return static_cast<size_t>((size + 63) / 64 * 64); };
    reals = align(c.src_image_size_w * 3);
    bytes = reals + align(out[3] * 3 * static_cast<int64_t>(sizeof(float)));
    end = bytes + align(out[3] * 3);
  }
};

class AippExecutor final : public Executor {
 public:
  AippExecutor(const om::AippConfig& c, const TensorInfo& out, Isa isa)
      : config_(c),
        source_(SourceOf(c)),
        g_(GeometryOf(c, out.dims)),
        images_(out.dims[0]),
        channels_(out.dims[1]),
        row_(RowOf(c)),
        scratch_(c, out.dims),
        simd_(SimdFor(isa)) {
    if (out.type != om::DataType::kFloat32) quantization_ = *out.quantization;
  }

  Status Run(const Arguments& a) override {
    const int64_t in_bytes = om::ElementCount(om::AippInputDims(config_, 1));
    const int64_t plane = g_.out_width * g_.out_height;
    for (int64_t n = 0; n < images_; ++n) {
      const uint8_t* picture = In<uint8_t>(a, 0) + n * in_bytes;
      if (quantization_) {
        RunBytes(picture, Out<uint8_t>(a) + n * kPixelBytes * plane, a.scratch);
        continue;
      }
      float* result = Out<float>(a) + n * channels_ * plane;
      if (config_.padding) std::fill_n(result, channels_ * plane, config_.padding_value);
      for (int64_t y = 0; y < g_.height; ++y) {
        float* rows[3] = {};
        for (int64_t c = 0; c < channels_; ++c) rows[c] = result + c * plane + (g_.top + y) * g_.out_width + g_.left;
        DoRow(picture, g_.crop_y + y, rows, reinterpret_cast<uint8_t*>(a.scratch));
      }
    }
    return {};
  }

 private:
  void RunBytes(const uint8_t* picture, uint8_t* result, std::byte* scratch) const {
    auto* const reals = reinterpret_cast<float*>(scratch + scratch_.reals);
    auto* const bytes = reinterpret_cast<uint8_t*>(scratch + scratch_.bytes);
    const auto quantize = [&](const float* from, uint8_t* to, int64_t count) {
      simd_.quantize(from, to, static_cast<size_t>(count), quantization_->scales[0],
                     static_cast<float>(quantization_->zero_points[0]));
    };
    if (config_.padding) {
      quantize(&config_.padding_value, bytes, 1);
      std::fill_n(result, kPixelBytes * g_.out_width * g_.out_height, bytes[0]);
    }
    for (int64_t y = 0; y < g_.height; ++y) {
      float* rows[3] = {};
      for (int64_t c = 0; c < channels_; ++c) rows[c] = reals + c * g_.width;
      DoRow(picture, g_.crop_y + y, rows, reinterpret_cast<uint8_t*>(scratch));
      quantize(reals, bytes, channels_ * g_.width);
      const uint8_t* const planes[3] = {bytes, bytes + (channels_ > 1 ? g_.width : 0),
                                        bytes + (channels_ > 1 ? 2 * g_.width : 0)};
      simd_.interleave(planes, result + ((g_.top + y) * g_.out_width + g_.left) * kPixelBytes,
                       static_cast<size_t>(g_.width));
    }
  }

  void DoRow(const uint8_t* picture, int64_t y, float* const rows[3], uint8_t* scratch) const {
    const int64_t stride = config_.src_image_size_w, x = g_.crop_x;
    const auto n = static_cast<size_t>(g_.width);
    if (source_ == Source::kNv12) {
      const uint8_t* chroma = picture + stride * config_.src_image_size_h + y / 2 * stride;
      return simd_.aipp_nv12_row(picture + y * stride + x, chroma + x, config_.rbuv_swap_switch, rows, n, row_);
    }
    if (source_ == Source::kGrey) {
      const uint8_t* const channels[3] = {picture + y * stride + x, nullptr, nullptr};
      return simd_.aipp_row(channels, rows, n, row_);
    }
    // Packed pixels are taken apart first. Byte order: R G B [A], with ax_swap A first, with rbuv_swap B before R.
    const int64_t bytes = source_ == Source::kRgb ? 3 : 4;
    const int64_t first = source_ == Source::kXrgb && config_.ax_swap_switch ? 1 : 0;
    const uint8_t* pixels = picture + (y * stride + x) * bytes + first;
    const uint8_t* channels[3];
    for (int64_t c = 0; c < 3; ++c) {
      uint8_t* to = scratch + c * g_.width;
      const uint8_t* from = pixels + (config_.rbuv_swap_switch ? 2 - c : c);
      for (int64_t i = 0; i < g_.width; ++i) to[i] = from[i * bytes];
      channels[c] = to;
    }
    simd_.aipp_row(channels, rows, n, row_);
  }

  om::AippConfig config_;
  Source source_;
  Geometry g_;
  int64_t images_, channels_;
  AippRow row_;
  Scratch scratch_;
  std::optional<om::Quantization> quantization_;  // of bytes
  const SimdTable& simd_;
};

om::Layout LayoutOf(const TensorInfo& out) {
  return out.type == om::DataType::kFloat32 ? om::Layout::kPlain : om::Layout::kBlocked4;
}

class Aipp final : public Kernel {
 public:
  Status Check(const Problem& problem) const override { return Read(problem).status(); }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const om::AippConfig c, Read(problem));
    Choice choice = PlainChoice(problem, std::string("vector ") + ToString(problem.isa));
    choice.outputs[0] = LayoutOf(problem.outputs[0]);
    choice.scratch_bytes = Scratch(c, problem.outputs[0].dims).end;
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const om::AippConfig c, Read(problem));
    if (problem.inputs[0].layout != om::Layout::kPlain || problem.outputs[0].layout != LayoutOf(problem.outputs[0]))
      return Invalid("layouts do not fit");
    if (problem.scratch_bytes < Scratch(c, problem.outputs[0].dims).end) return Invalid("the scratch buffer is too small");
    return std::unique_ptr<Executor>(std::make_unique<AippExecutor>(c, problem.outputs[0], problem.isa));
  }
};

}  // namespace

const Kernel* AippKernel() {
  static const Aipp kernel;
  return &kernel;
}

}  // namespace npustream::kernels
