#include "npu_sim/compiler/onnx/import_volume.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "npu_sim/compiler/ir/constants.h"

namespace npustream::compiler {
namespace {

// Tensors: x [N, C, D, H, W], weights [·, ·, depth, height, width], result [N, channels, output…].
class VolumeConv {
 public:
  VolumeConv(ImportContext& context, const char* op, const Window& window, int64_t group, int64_t channels)
      : context_(context),
        op_(op),
        transposed_(op_ == "ConvTranspose"),
        window_(window),
        group_(group),
        channels_(channels),
        x_(context.Dims(0)),
        type_(context.Input(0).type) {}

  Status Output() {
    NPUSTREAM_RETURN_IF_ERROR(EmitPlanes());
    // Groups of channels keep to themselves: there, one convolution for each place of the window in depth.
    const int64_t taps = window_.kernel[0], at_once = group_ == 1 ? taps : 1;
    om::TensorId sum = om::kNoTensor;
    for (int64_t tap = 0; tap < taps; tap += at_once) {
      NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId part, EmitPart(tap, at_once));
      if (sum == om::kNoTensor) {
        sum = part;
      } else {
        NPUSTREAM_ASSIGN_OR_RETURN(sum, context_.Emit("Add", {sum, part}, {}, type_, PictureDims()));
      }
    }
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId stacked,
                               EmitReshape(context_, sum, {x_[0], Depth(), channels_, Height(), Width()}));
    return context_.Output("Transpose", {stacked}, {{"perm", std::vector<int64_t>{0, 2, 1, 3, 4}}},
                           {x_[0], channels_, Depth(), Height(), Width()});
  }

 private:
  int64_t Depth() const { return window_.output[0]; }
  int64_t Height() const { return window_.output[1]; }
  int64_t Width() const { return window_.output[2]; }
  om::Dims PictureDims() const { return {x_[0] * Depth(), channels_, Height(), Width()}; }

  // The slice of the source that tap `tap` of the result's slice `slice` meets; nothing when there is none.
  std::optional<int64_t> SourceSlice(int64_t slice, int64_t tap) const {
    const int64_t stride = window_.strides[0], reach = tap * window_.dilations[0], pad = window_.pads[0];
    const int64_t place = transposed_ ? slice + pad - reach : slice * stride + reach - pad;
    if (place < 0 || (transposed_ && place % stride != 0)) return std::nullopt;
    const int64_t source = transposed_ ? place / stride : place;
    return source < x_[2] ? std::optional(source) : std::nullopt;
  }

  // The planes of all channels and slices [N · C · D, H, W], and one of zeros behind them where some tap meets nothing.
  Status EmitPlanes() {
    const om::Dims dims = {ZeroPlane(), x_[3], x_[4]};
    NPUSTREAM_ASSIGN_OR_RETURN(planes_, EmitReshape(context_, context_.InputId(0), dims));
    if (!MeetsNothing()) return {};
    const std::vector<int64_t> pads = {0, 0, 0, 1, 0, 0};
    NPUSTREAM_ASSIGN_OR_RETURN(
        planes_, context_.Emit("Pad", {planes_}, {{"pads", pads}, {"mode", "constant"}, {"value", 0.0f}}, type_,
                               {ZeroPlane() + 1, x_[3], x_[4]}));
    return {};
  }

  int64_t ZeroPlane() const { return x_[0] * x_[1] * x_[2]; }

  bool MeetsNothing() const {
    for (int64_t slice = 0; slice < Depth(); ++slice) {
      for (int64_t tap = 0; tap < window_.kernel[0]; ++tap) {
        if (!SourceSlice(slice, tap)) return true;
      }
    }
    return false;
  }

  // What `count` taps from `first` on add to the result, as pictures [N · depth, channels, height, width].
  Result<om::TensorId> EmitPart(int64_t first, int64_t count) {
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId pictures, EmitPictures(first, count));
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId weights, EmitWeights(first, count));
    std::vector<om::TensorId> inputs = {pictures, weights};
    if (first == 0 && context_.HasInput(2)) inputs.push_back(context_.InputId(2));
    const auto face = [](const std::vector<int64_t>& values) { return std::vector<int64_t>{values[1], values[2]}; };
    const om::Attributes attributes = {
        {"strides", face(window_.strides)},
        {"dilations", face(window_.dilations)},
        {"pads", std::vector<int64_t>{window_.pads[1], window_.pads[2], window_.pads[4], window_.pads[5]}},
        {"group", group_}};
    return context_.Emit(op_, std::move(inputs), attributes, type_, PictureDims());
  }

  // For every slice of the result the channels of those slices that its taps meet.
  Result<om::TensorId> EmitPictures(int64_t first, int64_t count) {
    std::vector<int64_t> sources;
    for (int64_t image = 0; image < x_[0]; ++image) {
      for (int64_t slice = 0; slice < Depth(); ++slice) {
        for (int64_t tap = first; tap < first + count; ++tap) {
          const std::optional<int64_t> source = SourceSlice(slice, tap);
          for (int64_t channel = image * x_[1]; channel < (image + 1) * x_[1]; ++channel)
            sources.push_back(source ? channel * x_[2] + *source : ZeroPlane());
        }
      }
    }
    const om::Dims dims = {x_[0] * Depth(), count * x_[1]};
    const om::TensorId places = context_.Constant(MakeInts(context_.node().name + ".planes", dims, sources));
    return context_.Emit("Gather", {planes_, places}, {{"axis", int64_t{0}}}, type_, {dims[0], dims[1], x_[3], x_[4]});
  }

  // The source's channels are the second axis of a Conv's weights, the first one of a ConvTranspose's.
  Result<om::TensorId> EmitWeights(int64_t first, int64_t count) {
    const om::Dims w = context_.Dims(1);
    om::TensorId taps = context_.InputId(1);
    if (count != w[2]) {
      const om::Attributes cut = {{"starts", std::vector<int64_t>{first}},
                                  {"ends", std::vector<int64_t>{first + count}},
                                  {"axes", std::vector<int64_t>{2}},
                                  {"steps", std::vector<int64_t>{1}}};
      NPUSTREAM_ASSIGN_OR_RETURN(taps,
                                 context_.EmitFolded("Slice", {taps}, cut, type_, {w[0], w[1], count, w[3], w[4]}));
    }
    NPUSTREAM_ASSIGN_OR_RETURN(
        const om::TensorId moved,
        EmitTranspose(context_, taps,
                      transposed_ ? std::vector<int64_t>{2, 0, 1, 3, 4} : std::vector<int64_t>{0, 2, 1, 3, 4}));
    return EmitReshape(
        context_, moved,
        transposed_ ? om::Dims{count * w[0], w[1], w[3], w[4]} : om::Dims{w[0], count * w[1], w[3], w[4]});
  }

  ImportContext& context_;
  const std::string op_;
  const bool transposed_;
  const Window& window_;
  const int64_t group_, channels_;
  const om::Dims x_;
  const om::DataType type_;
  om::TensorId planes_ = om::kNoTensor;
};

// A window of one place is a product of matrices over channels, whatever the shape of the volume.
bool IsPointwise(const Window& window) {
  const auto all = [](const std::vector<int64_t>& values, int64_t value) {
    return std::all_of(values.begin(), values.end(), [value](int64_t v) { return v == value; });
  };
  return all(window.kernel, 1) && all(window.strides, 1) && all(window.pads, 0);
}

Status OutputPointwise(ImportContext& context, int64_t group, int64_t channels) {
  const om::Dims x = context.Dims(0), w = context.Dims(1);
  const om::DataType type = context.Input(0).type;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId picture,
                             EmitReshape(context, context.InputId(0), {x[0], x[1], x[2], x[3] * x[4]}));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId weights, EmitReshape(context, context.InputId(1), {w[0], w[1], 1, 1}));
  std::vector<om::TensorId> inputs = {picture, weights};
  if (context.HasInput(2)) inputs.push_back(context.InputId(2));
  const om::Attributes attributes = {{"strides", std::vector<int64_t>{1, 1}},
                                     {"dilations", std::vector<int64_t>{1, 1}},
                                     {"pads", std::vector<int64_t>(4)},
                                     {"group", group}};
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId result, context.Emit("Conv", std::move(inputs), attributes, type,
                                                                     {x[0], channels, x[2], x[3] * x[4]}));
  return context.Output("Reshape", {result}, {}, {x[0], channels, x[2], x[3], x[4]});
}

}  // namespace

Status OutputVolumeConv(ImportContext& context, const char* op, const Window& window, int64_t group, int64_t channels) {
  // Far more than a network has; keeps the list of planes that meet within memory.
  constexpr int64_t kMostPlanes = 1 << 24;
  const om::Dims x = context.Dims(0);
  if (om::ElementCount(x) < 1 || window.output[0] > kMostPlanes / window.kernel[0] / x[0] / x[1])
    return context.Unsupported(fmt::format("a result of {} slices is too large", window.output[0]));
  const bool pointwise = std::string_view(op) == "Conv" && IsPointwise(window);
  return pointwise ? OutputPointwise(context, group, channels)
                   : VolumeConv(context, op, window, group, channels).Output();
}

}  // namespace npustream::compiler
