// RoiAlign (x, rois, batch_indices): the mean or the greatest of bilinear samples in each cell of a grid over each
// region.
#include <algorithm>
#include <cmath>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

constexpr int64_t kMostSamplingRatio = 1024;

struct Shape {
  int64_t images = 0, channels = 0, height = 0, width = 0, regions = 0, out_h = 0, out_w = 0, samples = 0;
  float scale = 1;
  bool half_pixel = true, greatest = false;
};

Result<Shape> Read(const Problem& problem) {
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 3, 3));
  const om::Dims &x = problem.inputs[0].dims, &rois = problem.inputs[1].dims, &y = problem.outputs[0].dims;
  for (const TensorInfo* tensor : {&problem.inputs[0], &problem.inputs[1], &problem.outputs[0]}) {
    if (tensor->type != om::DataType::kFloat32) return Unsupported("type {}", om::ToString(tensor->type));
  }
  if (problem.inputs[2].type != om::DataType::kInt64)
    return Unsupported("indices of type {}", om::ToString(problem.inputs[2].type));
  if (x.size() != 4 || rois.size() != 2 || rois[1] != 4 || problem.inputs[2].dims != om::Dims{rois[0]} || y.size() != 4)
    return Invalid("regions {} of {}", DimsText(rois), DimsText(x));
  Shape s;
  s.images = x[0], s.channels = x[1], s.height = x[2], s.width = x[3], s.regions = rois[0];
  s.out_h = y[2], s.out_w = y[3];
  if (om::ElementCount(x) < 1 || s.out_h < 1 || s.out_w < 1) return Invalid("an empty picture");
  s.samples = om::GetInt(*problem.node, "sampling_ratio", 0);
  if (s.samples < 0 || s.samples > kMostSamplingRatio) return Invalid("sampling_ratio of {}", s.samples);
  s.scale = om::GetFloat(*problem.node, "spatial_scale", 1);
  const std::string coordinates = om::GetString(*problem.node, "coordinate_transformation_mode", "half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return Unsupported("coordinate mode {}", coordinates);
  s.half_pixel = coordinates == "half_pixel";
  const std::string mode = om::GetString(*problem.node, "mode", "avg");
  if (mode != "avg" && mode != "max") return Unsupported("mode {}", mode);
  s.greatest = mode == "max";
  NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, {s.regions, s.channels, s.out_h, s.out_w}));
  return s;
}

// A region along one axis: where it begins, how long a cell is, how many samples a cell has.
struct Span {
  Span(float first, float last, const Shape& s, int64_t cells, int64_t pixels) {
    const float offset = s.half_pixel ? 0.5f : 0.0f;
    begin = first * s.scale - offset;
    float length = last * s.scale - offset - begin;
    if (!s.half_pixel) length = std::max(length, 1.0f);
    cell = length / static_cast<float>(cells);
    const float wanted = s.samples > 0 ? static_cast<float>(s.samples) : std::ceil(cell);
    // A region may be of any size, but no run may take forever.
    const int64_t most = std::max(4 * pixels + 16, s.samples);
    samples = wanted < static_cast<float>(most) ? static_cast<int64_t>(std::max(wanted, 0.0f)) : most;
  }
  float At(int64_t index, int64_t sample) const {
    return begin +
           cell * (static_cast<float>(index) + (static_cast<float>(sample) + 0.5f) / static_cast<float>(samples));
  }
  float begin, cell;
  int64_t samples;
};

// The two neighbours of a coordinate and their weights, which are zero beyond the picture's edge.
struct Neighbours {
  Neighbours(float x, int64_t size) {
    if (!(x >= -1.0f && x <= static_cast<float>(size))) return;
    const float inside = std::min(std::max(x, 0.0f), static_cast<float>(size - 1));
    low = static_cast<int64_t>(inside);
    high = std::min(low + 1, size - 1);
    high_weight = inside - static_cast<float>(low);
    low_weight = 1.0f - high_weight;
  }
  int64_t low = 0, high = 0;
  float low_weight = 0, high_weight = 0;
};

class Cell {
 public:
  explicit Cell(bool greatest) : greatest_(greatest) {}

  // The greatest of a sample's four weighted pixels counts, as in ONNX's tests and ONNX Runtime.
  void Add(const float* plane, int64_t width, const Neighbours& row, const Neighbours& column) {
    const float parts[4] = {plane[row.low * width + column.low] * row.low_weight * column.low_weight,
                            plane[row.low * width + column.high] * row.low_weight * column.high_weight,
                            plane[row.high * width + column.low] * row.high_weight * column.low_weight,
                            plane[row.high * width + column.high] * row.high_weight * column.high_weight};
    const float sample = greatest_ ? *std::max_element(parts, parts + 4) : parts[0] + parts[1] + parts[2] + parts[3];
    result_ = !greatest_ ? result_ + sample : count_ == 0 ? sample : std::max(result_, sample);
    ++count_;
  }
  float Result() const { return greatest_ || count_ == 0 ? result_ : result_ / static_cast<float>(count_); }

 private:
  bool greatest_;
  float result_ = 0;
  int64_t count_ = 0;
};

float CellValue(const Shape& s, const float* plane, const Span& rows, const Span& columns, int64_t h, int64_t w) {
  Cell cell(s.greatest);
  for (int64_t i = 0; i < rows.samples; ++i) {
    const Neighbours row(rows.At(h, i), s.height);
    for (int64_t j = 0; j < columns.samples; ++j) cell.Add(plane, s.width, row, Neighbours(columns.At(w, j), s.width));
  }
  return cell.Result();
}

class RoiAlign final : public Kernel {
 public:
  Status Check(const Problem& problem) const override { return Read(problem).status(); }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Shape s, Read(problem));
    return MakeExecutor([s](const Arguments& a) {
      float* y = Out<float>(a);
      for (int64_t r = 0; r < s.regions; ++r) {
        const float* roi = In<float>(a, 1) + r * 4;
        const Span columns(roi[0], roi[2], s, s.out_w, s.width), rows(roi[1], roi[3], s, s.out_h, s.height);
        const int64_t image = std::clamp<int64_t>(In<int64_t>(a, 2)[r], 0, s.images - 1);
        const float* plane = In<float>(a, 0) + image * s.channels * s.height * s.width;
        for (int64_t c = 0; c < s.channels; ++c, plane += s.height * s.width) {
          for (int64_t h = 0; h < s.out_h; ++h) {
            for (int64_t w = 0; w < s.out_w; ++w) *y++ = CellValue(s, plane, rows, columns, h, w);
          }
        }
      }
    });
  }
};

}  // namespace

const Kernel* RoiAlignKernel() {
  static const RoiAlign kernel;
  return &kernel;
}

}  // namespace npustream::kernels
