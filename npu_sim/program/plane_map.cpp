#include "npu_sim/program/plane_map.h"

#include <algorithm>
#include <cstring>

namespace npustream::program {
namespace {

constexpr int64_t kMaxPlanes = 1 << 16;

int64_t Product(const om::Dims& dims, size_t first, size_t last) {
  int64_t product = 1;
  for (size_t axis = first; axis < last; ++axis) product *= dims[axis];
  return product;
}

// The number of leading axes that count planes; the rest is one plane. The largest such number; nothing when the
// shape cuts planes.
std::optional<size_t> PlaneAxes(const om::Dims& dims, int64_t plane_size) {
  for (size_t axes = dims.size() + 1; axes-- > 0;) {
    if (Product(dims, axes, dims.size()) == plane_size) return axes;
  }
  return std::nullopt;
}

// A map of shape `dims` whose plane i (row-major over the leading axes) is plane pick(i) of `from`.
template <typename Pick>
PlaneMap Select(const PlaneMap& from, om::Dims dims, size_t axes, Pick pick) {
  PlaneMap map;
  map.plane_size = from.plane_size;
  map.dims = std::move(dims);
  const int64_t count = Product(map.dims, 0, axes);
  map.planes.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) map.planes.push_back(from.planes[static_cast<size_t>(pick(i))]);
  return map;
}

// Picks index table[k] along `axis`.
PlaneMap SelectAlong(const PlaneMap& from, om::Dims dims, size_t axes, size_t axis, const std::vector<int64_t>& table) {
  const int64_t inner = Product(from.dims, axis + 1, axes), size = from.dims[axis],
                taken = static_cast<int64_t>(table.size());
  PlaneMap map;
  map.plane_size = from.plane_size;
  map.dims = std::move(dims);
  const int64_t outer = Product(from.dims, 0, axis);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t k = 0; k < taken; ++k) {
      for (int64_t i = 0; i < inner; ++i)
        map.planes.push_back(from.planes[static_cast<size_t>((o * size + table[k]) * inner + i)]);
    }
  }
  return map;
}

using Maps = std::optional<std::vector<PlaneMap>>;

Maps ReshapePlanes(const om::Graph& graph, const om::Node& node, const PlaneMap& in) {
  const om::Dims& out = graph.tensors[node.outputs[0]].dims;
  if (!PlaneAxes(out, in.plane_size)) return std::nullopt;
  PlaneMap map = in;
  map.dims = out;
  return std::vector<PlaneMap>{std::move(map)};
}

Maps TransposePlanes(const om::Graph& graph, const om::Node& node, const PlaneMap& in) {
  const auto axes = PlaneAxes(in.dims, in.plane_size);
  const auto perm = om::GetInts(node, "perm");
  if (!axes || perm.size() != in.dims.size()) return std::nullopt;
  for (size_t axis = 0; axis < perm.size(); ++axis) {
    const bool stays = perm[axis] == static_cast<int64_t>(axis);
    if (axis >= *axes ? !stays : perm[axis] >= static_cast<int64_t>(*axes)) return std::nullopt;
  }
  const om::Dims& out = graph.tensors[node.outputs[0]].dims;
  std::vector<int64_t> strides(*axes);
  int64_t stride = 1;
  for (size_t axis = *axes; axis-- > 0;) {
    strides[axis] = stride;
    stride *= in.dims[axis];
  }
  return std::vector<PlaneMap>{Select(in, out, *axes, [&](int64_t i) {
    int64_t source = 0;
    for (size_t axis = *axes; axis-- > 0;) {
      source += i % out[axis] * strides[perm[axis]];
      i /= out[axis];
    }
    return source;
  })};
}

std::optional<size_t> PlaneAxis(const om::Node& node, const PlaneMap& in, int64_t axis_otherwise) {
  int64_t axis = om::GetInt(node, "axis", axis_otherwise);
  if (axis < 0) axis += static_cast<int64_t>(in.dims.size());
  const auto axes = PlaneAxes(in.dims, in.plane_size);
  if (!axes || axis < 0 || axis >= static_cast<int64_t>(*axes)) return std::nullopt;
  return static_cast<size_t>(axis);
}

Maps GatherPlanes(const om::Graph& graph, const om::Node& node, const PlaneMap& in) {
  const auto axis = PlaneAxis(node, in, 0);
  const om::Tensor& indices = graph.tensors[node.inputs[1]];
  if (!axis || !indices.is_constant()) return std::nullopt;
  std::vector<int64_t> table;
  for (int64_t i = 0; i < om::ElementCount(indices.dims); ++i) {
    int64_t index = 0;
    if (indices.type == om::DataType::kInt64) {
      std::memcpy(&index, indices.constant->data() + i * 8, 8);
    } else {
      int32_t small = 0;
      std::memcpy(&small, indices.constant->data() + i * 4, 4);
      index = small;
    }
    if (index < 0) index += in.dims[*axis];
    table.push_back(std::clamp<int64_t>(index, 0, in.dims[*axis] - 1));
  }
  return std::vector<PlaneMap>{
      SelectAlong(in, graph.tensors[node.outputs[0]].dims, *PlaneAxes(in.dims, in.plane_size), *axis, table)};
}

Maps SplitPlanes(const om::Graph& graph, const om::Node& node, const PlaneMap& in) {
  const auto axis = PlaneAxis(node, in, 0);
  if (!axis) return std::nullopt;
  std::vector<PlaneMap> maps;
  int64_t start = 0;
  for (const om::TensorId output : node.outputs) {
    const om::Dims& out = graph.tensors[output].dims;
    std::vector<int64_t> table(static_cast<size_t>(out[*axis]));
    for (int64_t& index : table) index = start++;
    maps.push_back(SelectAlong(in, out, *PlaneAxes(in.dims, in.plane_size), *axis, table));
  }
  return maps;
}

Maps SlicePlanes(const om::Graph& graph, const om::Node& node, const PlaneMap& in) {
  const auto axes_count = PlaneAxes(in.dims, in.plane_size);
  if (!axes_count) return std::nullopt;
  const auto starts = om::GetInts(node, "starts"), ends = om::GetInts(node, "ends");
  std::vector<int64_t> every(starts.size());
  for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<int64_t>(i);
  const auto axes = om::GetInts(node, "axes", every),
             steps = om::GetInts(node, "steps", std::vector<int64_t>(starts.size(), 1));
  const om::Dims& out = graph.tensors[node.outputs[0]].dims;
  PlaneMap map = in;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(in.dims.size()) : axes[i];
    const int64_t size = in.dims[axis];
    if (out[axis] == size && steps[i] == 1) continue;
    if (axis >= static_cast<int64_t>(*axes_count) || out[axis] == 0) return std::nullopt;
    const int64_t start =
        std::clamp<int64_t>(starts[i] < 0 ? starts[i] + size : starts[i], 0, steps[i] < 0 ? size - 1 : size);
    std::vector<int64_t> table;
    for (int64_t k = 0; k < out[axis]; ++k) table.push_back(start + k * steps[i]);
    om::Dims dims = map.dims;
    dims[axis] = out[axis];
    map = SelectAlong(map, dims, *axes_count, static_cast<size_t>(axis), table);
  }
  return std::vector<PlaneMap>{std::move(map)};
}

Maps ConcatPlanes(const om::Graph& graph, const om::Node& node, const std::vector<const PlaneMap*>& inputs) {
  const auto axis = PlaneAxis(node, *inputs[0], 0);
  if (!axis) return std::nullopt;
  PlaneMap map;
  map.plane_size = inputs[0]->plane_size;
  map.dims = graph.tensors[node.outputs[0]].dims;
  const int64_t outer = Product(map.dims, 0, *axis);
  for (const PlaneMap* in : inputs) {
    const bool fits = in->plane_size == map.plane_size && PlaneAxis(node, *in, 0) &&
                      static_cast<int64_t>(in->planes.size()) % outer == 0;
    if (!fits) return std::nullopt;
  }
  for (int64_t o = 0; o < outer; ++o) {
    for (const PlaneMap* in : inputs) {
      const auto run = static_cast<int64_t>(in->planes.size()) / outer;
      map.planes.insert(map.planes.end(), in->planes.begin() + o * run, in->planes.begin() + (o + 1) * run);
    }
  }
  return std::vector<PlaneMap>{std::move(map)};
}

}  // namespace

std::optional<PlaneMap> IdentityMap(const om::Tensor& tensor, om::TensorId id) {
  if (tensor.dims.size() < 3 || tensor.is_constant()) return std::nullopt;
  const int64_t count = tensor.dims[0] * tensor.dims[1];
  if (count < 1 || count > kMaxPlanes || om::ElementCount(tensor.dims) < 1) return std::nullopt;
  PlaneMap map;
  map.dims = tensor.dims;
  map.plane_size = om::ElementCount(tensor.dims) / count;
  for (int64_t i = 0; i < count; ++i) map.planes.push_back({id, i});
  return map;
}

Maps MovePlanes(const om::Graph& graph, const om::Node& node, const std::vector<const PlaneMap*>& inputs) {
  if (node.op == "Reshape") return ReshapePlanes(graph, node, *inputs[0]);
  if (node.op == "Transpose") return TransposePlanes(graph, node, *inputs[0]);
  if (node.op == "Gather") return GatherPlanes(graph, node, *inputs[0]);
  if (node.op == "Split") return SplitPlanes(graph, node, *inputs[0]);
  if (node.op == "Slice") return SlicePlanes(graph, node, *inputs[0]);
  if (node.op == "Concat") return ConcatPlanes(graph, node, inputs);
  return std::nullopt;
}

}  // namespace npustream::program
