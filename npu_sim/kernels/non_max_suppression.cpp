// NonMaxSuppression: for every picture and class the best boxes that do not overlap a better one. The result has a fixed
// number of rows, (picture, class, box); those that are left over hold −1.
#include <algorithm>
#include <limits>
#include <numeric>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

struct NmsShape {
  int64_t pictures, boxes, classes, most, rows;
  float overlap, score;
  bool centred;  // boxes are centre and size, else two corners in any order
};

struct Corners {
  float x0, y0, x1, y1;
  float Area() const { return (x1 - x0) * (y1 - y0); }
};

Corners CornersOf(const float* box, bool centred) {
  if (centred) {
    const float half_w = box[2] / 2, half_h = box[3] / 2;
    return {box[0] - half_w, box[1] - half_h, box[0] + half_w, box[1] + half_h};
  }
  return {std::min(box[1], box[3]), std::min(box[0], box[2]), std::max(box[1], box[3]), std::max(box[0], box[2])};
}

// Whether the boxes' intersection over union is above `limit`.
bool Overlap(const Corners& a, const Corners& b, float limit) {
  const float w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0), h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (w <= 0 || h <= 0 || a.Area() <= 0 || b.Area() <= 0) return false;
  const float shared = w * h;
  return shared / (a.Area() + b.Area() - shared) > limit;
}

// One class of one picture: puts the boxes that are kept to the front of `order`, which takes an entry per box.
int64_t Select(const NmsShape& s, const float* boxes, const float* scores, int64_t* order) {
  int64_t* end = order;
  for (int64_t i = 0; i < s.boxes; ++i) {
    if (scores[i] > s.score) *end++ = i;
  }
  std::sort(order, end, [&](int64_t p, int64_t q) { return scores[p] != scores[q] ? scores[p] > scores[q] : p < q; });
  int64_t kept = 0;
  for (const int64_t* next = order; next < end && kept < s.most; ++next) {
    const Corners box = CornersOf(boxes + *next * 4, s.centred);
    const bool is_free = std::none_of(order, order + kept, [&](int64_t other) {
      return Overlap(box, CornersOf(boxes + other * 4, s.centred), s.overlap);
    });
    if (is_free) order[kept++] = *next;
  }
  return kept;
}

void RunNms(const NmsShape& s, const Arguments& a) {
  auto* const order = reinterpret_cast<int64_t*>(a.scratch);
  int64_t *y = Out<int64_t>(a), *const end = y + s.rows * 3;
  for (int64_t picture = 0; picture < s.pictures; ++picture) {
    for (int64_t c = 0; c < s.classes; ++c) {
      const int64_t kept = Select(s, In<float>(a, 0) + picture * s.boxes * 4,
                                  In<float>(a, 1) + (picture * s.classes + c) * s.boxes, order);
      for (int64_t i = 0; i < kept; ++i, y += 3) y[0] = picture, y[1] = c, y[2] = order[i];
    }
  }
  std::fill(y, end, -1);
}

class NonMaxSuppression final : public Kernel {
 public:
  Status Check(const Problem& problem) const override { return Read(problem).status(); }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const NmsShape s, Read(problem));
    Choice choice = PlainChoice(problem, "plain");
    choice.scratch_bytes = ScratchBytes(s);
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const NmsShape s, Read(problem));
    if (problem.scratch_bytes < ScratchBytes(s)) return Invalid("the scratch buffer is too small");
    return MakeExecutor([s](const Arguments& a) { RunNms(s, a); });
  }

 private:
  static size_t ScratchBytes(const NmsShape& s) { return static_cast<size_t>(s.boxes) * sizeof(int64_t); }

  static Result<NmsShape> Read(const Problem& problem) {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 2));
    const om::Dims &boxes = problem.inputs[0].dims, &scores = problem.inputs[1].dims;
    if (problem.inputs[0].type != om::DataType::kFloat32 || problem.inputs[1].type != om::DataType::kFloat32)
      return Unsupported("only float32 is done");
    if (problem.outputs[0].type != om::DataType::kInt64) return Invalid("a result that is not int64");
    if (boxes.size() != 3 || boxes[2] != 4 || scores.size() != 3 || scores[0] != boxes[0] || scores[2] != boxes[1])
      return Invalid("boxes {} and scores {}", DimsText(boxes), DimsText(scores));
    NmsShape s = {};
    s.pictures = boxes[0], s.boxes = boxes[1], s.classes = scores[1];
    s.most = std::min(om::GetInt(*problem.node, "max_output_boxes_per_class", 0), s.boxes);
    s.overlap = om::GetFloat(*problem.node, "iou_threshold", 0);
    s.score = om::GetFloat(*problem.node, "score_threshold", -std::numeric_limits<float>::infinity());
    s.centred = om::GetInt(*problem.node, "center_point_box", 0) != 0;
    if (s.most < 0) return Invalid("{} boxes per class", s.most);
    s.rows = s.pictures * s.classes * s.most;
    NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, {s.rows, 3}));
    return s;
  }
};

}  // namespace

const Kernel* NonMaxSuppressionKernel() {
  static const NonMaxSuppression kernel;
  return &kernel;
}

}  // namespace npustream::kernels
