// GatherElements and GatherND; ScatterElements and ScatterND, their counterparts. Indices that are computed are clamped
// into their axis, as no run may fail.
#include <algorithm>
#include <cstring>
#include <functional>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

int64_t InAxis(int64_t index, int64_t size) { return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1); }

int64_t IndexAt(const Arguments& a, bool wide, int64_t i) {
  return wide ? In<int64_t>(a, 1)[i] : In<int32_t>(a, 1)[i];
}

Status CheckIndices(const Problem& problem) {
  const TensorInfo& indices = problem.inputs[1];
  if (indices.type != om::DataType::kInt64 && indices.type != om::DataType::kInt32)
    return Unsupported("indices of type {}", om::ToString(indices.type));
  if (problem.outputs[0].type != problem.inputs[0].type) return Invalid("types differ");
  for (const int64_t dim : problem.inputs[0].dims) {
    if (dim < 1) return Invalid("an axis of {}", dim);
  }
  return {};
}

// Where element i of the indices of GatherElements or ScatterElements points to in the data.
class ElementPlaces {
 public:
  ElementPlaces(const Problem& problem, int64_t axis)
      : data_(Strides(problem.inputs[0].dims)),
        indices_(Strides(problem.inputs[1].dims)),
        axis_(static_cast<size_t>(axis)),
        axis_size_(problem.inputs[0].dims[axis_]),
        wide_(problem.inputs[1].type == om::DataType::kInt64) {}

  int64_t Of(const Arguments& a, int64_t i) const {
    int64_t place = 0, rest = i;
    for (size_t k = 0; k < data_.size(); ++k) {
      const int64_t at = rest / indices_[k];
      rest -= at * indices_[k];
      place += (k == axis_ ? InAxis(IndexAt(a, wide_, i), axis_size_) : at) * data_[k];
    }
    return place;
  }

 private:
  std::vector<int64_t> data_, indices_;
  size_t axis_;
  int64_t axis_size_;
  bool wide_;
};

// The indices have the data's rank and, beside the axis, no more places than the data.
Status CheckElements(const Problem& problem, int64_t axis) {
  const om::Dims &data = problem.inputs[0].dims, &indices = problem.inputs[1].dims;
  if (indices.size() != data.size()) return Invalid("indices of rank {} for rank {}", indices.size(), data.size());
  for (size_t k = 0; k < data.size(); ++k) {
    if (static_cast<int64_t>(k) != axis && indices[k] > data[k])
      return Invalid("indices {} reach beyond {}", DimsText(indices), DimsText(data));
  }
  return {};
}

// How the last axis of the indices of GatherND or ScatterND addresses slices of the data behind `batch` common axes.
struct SlicePlaces {
  std::vector<int64_t> sizes, strides;  // of the axes that are indexed; strides in slices
  int64_t depth = 0, count = 0;         // indices per slice; slices per batch
  int64_t batches = 1, batch_slices = 1;
  size_t slice = 1;  // elements
  bool wide = false;

  int64_t Of(const Arguments& a, int64_t batch, int64_t i) const {
    int64_t place = batch * batch_slices;
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t index = IndexAt(a, wide, (batch * count + i) * depth + k);
      place += InAxis(index, sizes[static_cast<size_t>(k)]) * strides[static_cast<size_t>(k)];
    }
    return place;
  }
};

Result<SlicePlaces> ReadSlices(const Problem& problem, int64_t batch) {
  const om::Dims &data = problem.inputs[0].dims, &indices = problem.inputs[1].dims;
  if (indices.empty() || batch < 0 || batch >= static_cast<int64_t>(std::min(data.size(), indices.size())))
    return Invalid("batch_dims of {}", batch);
  SlicePlaces places;
  places.depth = indices.back();
  places.wide = problem.inputs[1].type == om::DataType::kInt64;
  if (places.depth < 1 || batch + places.depth > static_cast<int64_t>(data.size()))
    return Invalid("{} indices into {}", places.depth, DimsText(data));
  if (!std::equal(data.begin(), data.begin() + batch, indices.begin()))
    return Invalid("{} and {} differ in their first {} axes", DimsText(data), DimsText(indices), batch);
  places.batches = om::ElementCount(om::Dims(data.begin(), data.begin() + batch));
  places.count = om::ElementCount(om::Dims(indices.begin() + batch, indices.end() - 1));
  places.sizes.assign(data.begin() + batch, data.begin() + batch + places.depth);
  places.strides = Strides(places.sizes);
  places.batch_slices = om::ElementCount(places.sizes);
  places.slice =
      static_cast<size_t>(om::ElementCount(om::Dims(data.begin() + batch + places.depth, data.end())));
  return places;
}

om::Dims SlicedDims(const Problem& problem, int64_t batch) {
  const om::Dims &data = problem.inputs[0].dims, &indices = problem.inputs[1].dims;
  om::Dims dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), data.begin() + batch + indices.back(), data.end());
  return dims;
}

class GatherElements final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 2));
    NPUSTREAM_RETURN_IF_ERROR(CheckIndices(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(
        const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", 0), problem.inputs[0].dims.size()));
    NPUSTREAM_RETURN_IF_ERROR(CheckElements(problem, axis));
    return RequireOutputDims(problem, 0, problem.inputs[1].dims);
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(
        const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", 0), problem.inputs[0].dims.size()));
    return MakeExecutor([places = ElementPlaces(problem, axis), count = om::ElementCount(problem.inputs[1].dims),
                         bytes = om::SizeOf(problem.inputs[0].type)](const Arguments& a) {
      const auto step = static_cast<int64_t>(bytes);
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(a.outputs[0] + i * step, a.inputs[0] + places.Of(a, i) * step, bytes);
    });
  }
};

class GatherNd final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 2));
    NPUSTREAM_RETURN_IF_ERROR(CheckIndices(problem));
    const int64_t batch = om::GetInt(*problem.node, "batch_dims", 0);
    NPUSTREAM_RETURN_IF_ERROR(ReadSlices(problem, batch).status());
    return RequireOutputDims(problem, 0, SlicedDims(problem, batch));
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const SlicePlaces places,
                               ReadSlices(problem, om::GetInt(*problem.node, "batch_dims", 0)));
    return MakeExecutor([places, bytes = places.slice * om::SizeOf(problem.inputs[0].type)](const Arguments& a) {
      std::byte* to = a.outputs[0];
      for (int64_t batch = 0; batch < places.batches; ++batch) {
        for (int64_t i = 0; i < places.count; ++i, to += bytes)
          std::memcpy(to, a.inputs[0] + places.Of(a, batch, i) * static_cast<int64_t>(bytes), bytes);
      }
    });
  }
};

// What becomes of an element that is scattered to twice.
enum class Reduction { kNone, kAdd, kMul, kMin, kMax };

Result<Reduction> ReadReduction(const Problem& problem) {
  const std::string name = om::GetString(*problem.node, "reduction", "none");
  if (name == "none") return Reduction::kNone;
  if (problem.inputs[0].type != om::DataType::kFloat32 && problem.inputs[0].type != om::DataType::kInt64)
    return Unsupported("reduction '{}' of type {}", name, om::ToString(problem.inputs[0].type));
  if (name == "add") return Reduction::kAdd;
  if (name == "mul") return Reduction::kMul;
  if (name == "min") return Reduction::kMin;
  if (name == "max") return Reduction::kMax;
  return Invalid("reduction '{}'", name);
}

template <typename T>
T Reduce(Reduction reduction, T old, T update) {
  switch (reduction) {
    case Reduction::kAdd: return Wrapping(old, update, std::plus<>());
    case Reduction::kMul: return Wrapping(old, update, std::multiplies<>());
    case Reduction::kMin: return std::min(old, update);
    case Reduction::kMax: return std::max(old, update);
    default: return update;
  }
}

// Puts `count` elements of the updates into the result.
void Put(Reduction reduction, om::DataType type, const std::byte* updates, std::byte* to, size_t count) {
  if (reduction == Reduction::kNone) {
    std::memcpy(to, updates, count * om::SizeOf(type));
  } else if (type == om::DataType::kFloat32) {
    const auto* from = reinterpret_cast<const float*>(updates);
    auto* y = reinterpret_cast<float*>(to);
    for (size_t i = 0; i < count; ++i) y[i] = Reduce(reduction, y[i], from[i]);
  } else {
    const auto* from = reinterpret_cast<const int64_t*>(updates);
    auto* y = reinterpret_cast<int64_t*>(to);
    for (size_t i = 0; i < count; ++i) y[i] = Reduce(reduction, y[i], from[i]);
  }
}

class Scatter final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 3, 3));
    NPUSTREAM_RETURN_IF_ERROR(CheckIndices(problem));
    NPUSTREAM_RETURN_IF_ERROR(ReadReduction(problem).status());
    const TensorInfo& updates = problem.inputs[2];
    if (updates.type != problem.inputs[0].type) return Invalid("types differ");
    om::Dims expected = problem.inputs[1].dims;
    if (IsNd(problem)) {
      NPUSTREAM_RETURN_IF_ERROR(ReadSlices(problem, 0).status());
      expected = SlicedDims(problem, 0);
    } else {
      NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(problem));
      NPUSTREAM_RETURN_IF_ERROR(CheckElements(problem, axis));
    }
    if (updates.dims != expected)
      return Invalid("updates are {}, expected {}", DimsText(updates.dims), DimsText(expected));
    return RequireOutputDims(problem, 0, problem.inputs[0].dims);
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, "plain");
    choice.in_place_input = 0;
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Reduction reduction, ReadReduction(problem));
    const om::DataType type = problem.inputs[0].type;
    const size_t total = problem.outputs[0].Bytes(), bytes = om::SizeOf(type);
    const auto copy = [total](const Arguments& a) {
      if (a.outputs[0] != a.inputs[0]) std::memcpy(a.outputs[0], a.inputs[0], total);
    };
    if (!IsNd(problem)) {
      NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(problem));
      return MakeExecutor([=, places = ElementPlaces(problem, axis),
                           count = om::ElementCount(problem.inputs[1].dims)](const Arguments& a) {
        copy(a);
        const auto step = static_cast<int64_t>(bytes);
        for (int64_t i = 0; i < count; ++i)
          Put(reduction, type, a.inputs[2] + i * step, a.outputs[0] + places.Of(a, i) * step, 1);
      });
    }
    NPUSTREAM_ASSIGN_OR_RETURN(const SlicePlaces places, ReadSlices(problem, 0));
    return MakeExecutor([=](const Arguments& a) {
      copy(a);
      const auto step = static_cast<int64_t>(places.slice * bytes);
      for (int64_t i = 0; i < places.count; ++i)
        Put(reduction, type, a.inputs[2] + i * step, a.outputs[0] + places.Of(a, 0, i) * step, places.slice);
    });
  }

 private:
  static bool IsNd(const Problem& problem) { return problem.node->op == "ScatterND"; }
  static Result<int64_t> AxisOf(const Problem& problem) {
    return NormalAxis(om::GetInt(*problem.node, "axis", 0), problem.inputs[0].dims.size());
  }
};

}  // namespace

const Kernel* GatherElementsKernel() {
  static const GatherElements kernel;
  return &kernel;
}
const Kernel* GatherNdKernel() {
  static const GatherNd kernel;
  return &kernel;
}
const Kernel* ScatterKernel() {
  static const Scatter kernel;
  return &kernel;
}

}  // namespace npustream::kernels
