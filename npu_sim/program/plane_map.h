#pragma once

#include <optional>
#include <vector>

#include "npu_sim/om/graph.h"

namespace npustream::program {

// A tensor described as planes (runs of `plane_size` elements) of other tensors: what channel shuffles, slices, splits
// and joins do to pictures without looking at a pixel.
struct PlaneMap {
  struct Plane {
    om::TensorId source;
    int64_t index;  // of the plane in its source
    bool operator==(const Plane&) const = default;
  };
  std::vector<Plane> planes;
  int64_t plane_size = 1;
  om::Dims dims;  // of the tensor described
};

// The tensor `id` as its own planes: the last axes from the third on are the plane. Nothing for ranks below 3, for
// empty tensors and for more planes than would be worth it.
std::optional<PlaneMap> IdentityMap(const om::Tensor& tensor, om::TensorId id);

// What a node makes of its inputs' planes: the map of each output, or nothing when it is no such operator or cuts
// through planes. `inputs` are the maps of the node's inputs (for Gather the first only).
std::optional<std::vector<PlaneMap>> MovePlanes(const om::Graph& graph, const om::Node& node,
                                                const std::vector<const PlaneMap*>& inputs);

}  // namespace npustream::program
