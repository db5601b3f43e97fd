#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

Status OutputReshape(ImportContext& context, om::Dims dims) {
  return context.Output("Reshape", {context.InputId(0)}, {}, std::move(dims));
}

// 0 copies the input's dim (unless allowzero), −1 is what remains.
Result<om::Dims> ResolveShape(const ImportContext& context, om::Dims shape, bool zero_copies) {
  const om::Dims& x = context.Dims(0);
  const auto refuse = [&, wanted = shape] {
    return context.Error(fmt::format("[{}] cannot be reshaped to [{}]", fmt::join(x, ","), fmt::join(wanted, ",")));
  };
  int64_t known = 1;
  int open = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && zero_copies) {
      if (i >= x.size()) return refuse();
      shape[i] = x[i];
    }
    if (shape[i] == -1) {
      if (open >= 0) return refuse();
      open = static_cast<int>(i);
      continue;
    }
    if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known)) return refuse();
  }
  const int64_t count = om::ElementCount(x);
  if (open >= 0) {
    if (known == 0 || count % known != 0) return refuse();
    shape[static_cast<size_t>(open)] = count / known;
  } else if (known != count) {
    return refuse();
  }
  return shape;
}

}  // namespace

Status ImportReshape(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, context.ConstantInts(1, "the new shape"));
  NPUSTREAM_ASSIGN_OR_RETURN(om::Dims dims, ResolveShape(context, shape, context.Int("allowzero", 0) == 0));
  return OutputReshape(context, std::move(dims));
}

Status ImportFlatten(ImportContext& context) {
  const int64_t rank = context.Rank(0);
  int64_t axis = context.Int("axis", 1);
  if (axis < -rank || axis > rank) return context.Error(fmt::format("axis {} does not exist", axis));
  if (axis < 0) axis += rank;
  om::Dims dims = {1, 1};
  for (int64_t i = 0; i < rank; ++i) dims[i < axis ? 0 : 1] *= context.Dims(0)[static_cast<size_t>(i)];
  return OutputReshape(context, std::move(dims));
}

Status ImportSqueeze(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(auto axes, AxesArgument(context, 1, 13));
  const om::Dims& x = context.Dims(0);
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] == 1) axes->push_back(static_cast<int64_t>(i));
    }
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> dropped, NormaliseAxes(context, *axes, context.Rank(0)));
  om::Dims dims;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::binary_search(dropped.begin(), dropped.end(), static_cast<int64_t>(i))) {
      dims.push_back(x[i]);
    } else if (x[i] != 1) {
      return context.Error(fmt::format("axis {} of [{}] is not 1", i, fmt::join(x, ",")));
    }
  }
  return OutputReshape(context, std::move(dims));
}

Status ImportUnsqueeze(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const auto axes, AxesArgument(context, 1, 13));
  if (!axes) return context.Error("the list of axes is missing");
  const int64_t rank = context.Rank(0) + static_cast<int64_t>(axes->size());
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> added, NormaliseAxes(context, *axes, rank));
  om::Dims dims = context.Dims(0);
  for (const int64_t axis : added) dims.insert(dims.begin() + axis, 1);
  return OutputReshape(context, std::move(dims));
}

Status ImportIdentity(ImportContext& context) {
  return context.Output("Reshape", {context.InputId(0)}, {}, context.Dims(0));
}

Status ImportDropout(ImportContext& context) {
  if (context.HasInput(2)) {
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> training, context.ConstantInts(2, "training_mode"));
    if (!training.empty() && training[0] != 0) return context.Unsupported("the model is in training mode");
  }
  // Nothing is dropped.
  if (context.WantsOutput(1)) {
    const auto count = static_cast<size_t>(om::ElementCount(context.Dims(0)));
    om::Bytes all(count, std::byte{1});
    NPUSTREAM_RETURN_IF_ERROR(context.Bind(
        1, context.Constant({context.node().outputs[1], om::DataType::kBool, context.Dims(0),
                             std::make_shared<const om::Bytes>(std::move(all))})));
  }
  return ImportIdentity(context);
}

Status ImportExpand(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, context.ConstantInts(1, "the new shape"));
  const auto dims = BroadcastDims(context.Dims(0), shape);
  if (!dims || std::any_of(shape.begin(), shape.end(), [](int64_t dim) { return dim < 0; })) {
    return context.Error(
        fmt::format("[{}] cannot be expanded to [{}]", fmt::join(context.Dims(0), ","), fmt::join(shape, ",")));
  }
  return context.Output("Expand", {context.InputId(0)}, {}, *dims);
}

Status ImportTile(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats, context.ConstantInts(1, "the list of repeats"));
  om::Dims dims = context.Dims(0);
  if (repeats.size() != dims.size()) return context.Error("there is not one repeat per dimension");
  for (size_t i = 0; i < dims.size(); ++i) {
    if (repeats[i] < 0 || __builtin_mul_overflow(dims[i], repeats[i], &dims[i])) {
      return context.Error(fmt::format("the repeats [{}] are out of range", fmt::join(repeats, ",")));
    }
  }
  return context.Output("Tile", {context.InputId(0)}, {{"repeats", repeats}}, std::move(dims));
}

}  // namespace npustream::compiler
