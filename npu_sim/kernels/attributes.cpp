#include "npu_sim/kernels/attributes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// In the order of om::Attribute's alternatives.
enum class Kind { kInt, kFloat, kText, kInts, kFloats };

// What an attribute may be, whichever operator has it. The bounds of integers hold for each of a list; `positive` are
// finite numbers above 0.
struct Entry {
  std::string_view name;
  Kind kind;
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  bool positive = false;
};

constexpr int64_t kMostRank = 8;
constexpr int64_t kMostSize = 1 << 20;               // of a window and its steps
constexpr int64_t kMostElements = int64_t{1} << 40;  // of a tensor
constexpr int64_t kMostInputs = 4096;

// Sorted by name. Aipp's fields have a table of their own (om/aipp_config.cpp).
constexpr Entry kTable[] = {
    {"activation", Kind::kText},
    {"activation_alpha", Kind::kFloat},
    {"activation_beta", Kind::kFloat},
    {"activations", Kind::kText},
    {"add_high", Kind::kInt, 0, 255},
    {"add_low", Kind::kInt, 0, 255},
    {"addend_first", Kind::kInt},
    {"align_corners", Kind::kInt},
    {"alpha", Kind::kFloat},
    {"alphas", Kind::kFloats},
    {"antialias", Kind::kInt},
    {"approximate", Kind::kText},
    {"axes", Kind::kInts, -kMostRank, kMostRank - 1},
    {"axis", Kind::kInt, -kMostRank, kMostRank - 1},
    {"batch_dims", Kind::kInt, 0, kMostRank},
    {"beta", Kind::kFloat},
    {"betas", Kind::kFloats},
    {"blocksize", Kind::kInt, 1, 4096},
    {"ceil_mode", Kind::kInt},
    {"center_point_box", Kind::kInt},
    {"clip", Kind::kFloat},
    {"compute_type", Kind::kText},
    {"coordinate_transformation_mode", Kind::kText},
    {"count_include_pad", Kind::kInt},
    {"cubic_coeff_a", Kind::kFloat},
    {"dilations", Kind::kInts, 1, kMostSize},
    {"direction", Kind::kText},
    {"ends", Kind::kInts},
    {"epsilon", Kind::kFloat},
    {"exclude_outside", Kind::kInt},
    {"exclusive", Kind::kInt},
    {"gamma", Kind::kFloat},
    {"group", Kind::kInt, 1, kMostSize},
    {"iou_threshold", Kind::kFloat},
    {"k_perm", Kind::kInts, 0, kMostRank - 1},
    {"keepdims", Kind::kInt},
    {"kernel_shape", Kind::kInts, 1, kMostSize},
    {"largest", Kind::kInt},
    {"linear_before_reset", Kind::kInt},
    {"max", Kind::kFloat},
    {"max_output_boxes_per_class", Kind::kInt, 0},
    {"min", Kind::kFloat},
    {"mode", Kind::kText},
    {"nearest_mode", Kind::kText},
    {"noop_with_empty_axes", Kind::kInt},
    {"padding_mode", Kind::kText},
    {"pads", Kind::kInts, -kMostElements, kMostElements},
    {"perm", Kind::kInts, 0, kMostRank - 1},
    {"plane", Kind::kInts, 0, kMostElements},
    {"plane_size", Kind::kInt, 1, kMostElements},
    {"q_perm", Kind::kInts, 0, kMostRank - 1},
    {"reduction", Kind::kText},
    {"repeats", Kind::kInts, 0, kMostElements},
    {"reverse", Kind::kInt},
    {"roi", Kind::kFloats},
    {"row_scale", Kind::kFloat, 0, 0, true},
    {"row_zero_point", Kind::kInt, 0, 255},
    {"sampling_ratio", Kind::kInt, 0, 4096},
    {"scale", Kind::kFloat},
    {"scales", Kind::kFloats},
    {"score_threshold", Kind::kFloat},
    {"select_last_index", Kind::kInt},
    {"source", Kind::kInts, 0, kMostInputs - 1},
    {"spatial_scale", Kind::kFloat},
    {"starts", Kind::kInts},
    {"steps", Kind::kInts, -kMostElements, kMostElements},
    {"storage_order", Kind::kInt, 0, 1},
    {"strides", Kind::kInts, 1, kMostSize},
    {"table_scale", Kind::kFloat, 0, 0, true},
    {"table_zero_point", Kind::kInt, 0, 255},
    {"to", Kind::kInt, 0, 127},
    {"transA", Kind::kInt},
    {"transB", Kind::kInt},
    {"v_perm", Kind::kInts, 0, kMostRank - 1},
    {"value", Kind::kFloat},
    {"y_perm", Kind::kInts, 0, kMostRank - 1},
};

constexpr bool IsSorted() {
  for (size_t i = 1; i < std::size(kTable); ++i) {
    if (!(kTable[i - 1].name < kTable[i].name)) return false;
  }
  return true;
}
static_assert(IsSorted());

const Entry* Find(std::string_view name) {
  const auto found = std::lower_bound(std::begin(kTable), std::end(kTable), name,
                                      [](const Entry& entry, std::string_view n) { return entry.name < n; });
  return found != std::end(kTable) && found->name == name ? found : nullptr;
}

bool Fits(const Entry& entry, const om::Attribute& attribute) {
  const auto inside = [&](int64_t value) { return value >= entry.low && value <= entry.high; };
  if (attribute.index() != static_cast<size_t>(entry.kind)) return false;
  switch (entry.kind) {
    case Kind::kInt: return inside(std::get<int64_t>(attribute));
    case Kind::kInts: {
      const auto& values = std::get<std::vector<int64_t>>(attribute);
      return std::all_of(values.begin(), values.end(), inside);
    }
    case Kind::kFloat: {
      const float value = std::get<float>(attribute);
      return !entry.positive || (std::isfinite(value) && value > 0);
    }
    default: return true;
  }
}

}  // namespace

Status CheckAttributes(const om::Node& node) {
  if (node.op == "Aipp" || node.op.find('.') != std::string::npos) return {};
  for (const auto& [name, attribute] : node.attributes) {
    const Entry* entry = Find(name);
    if (entry && !Fits(*entry, attribute)) return Invalid("its attribute '{}' is of another kind or out of range", name);
  }
  return {};
}

}  // namespace npustream::kernels
