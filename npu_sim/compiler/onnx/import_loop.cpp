// Loop and Scan, unrolled: how often they run must be known.
#include <fmt/format.h>

#include <limits>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

using Ids = std::vector<om::TensorId>;

// The body's results of one iteration, `count` of them.
Result<Ids> RunBody(ImportContext& context, const Ids& inputs, size_t count) {
  NPUSTREAM_RETURN_IF_ERROR(context.CountIteration());
  NPUSTREAM_ASSIGN_OR_RETURN(Ids results, context.Branch("body", inputs));
  if (results.size() == count) return results;
  return context.Error(fmt::format("its body has {} results, not {}", results.size(), count), StatusCode::kCorruptData);
}

// What the iterations gave, side by side along a new axis `axis`, as output `output`.
Status OutputStack(ImportContext& context, size_t output, const Ids& parts, int64_t axis_given) {
  if (!context.WantsOutput(output)) return {};
  if (parts.empty()) return context.Unsupported("it runs no iteration, so the shape of its results is not known");
  om::Dims dims = context.Tensor(parts[0]).dims;
  const om::DataType type = context.Tensor(parts[0]).type;
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(axis_given, static_cast<int64_t>(dims.size()) + 1));
  for (const om::TensorId part : parts) {
    if (context.Tensor(part).dims != dims || context.Tensor(part).type != type)
      return context.Unsupported("the results of its iterations have different shapes");
  }
  dims.insert(dims.begin() + axis, 1);
  Ids slices;
  for (const om::TensorId part : parts) {
    NPUSTREAM_ASSIGN_OR_RETURN(slices.emplace_back(), EmitReshape(context, part, dims));
  }
  dims[static_cast<size_t>(axis)] = static_cast<int64_t>(parts.size());
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId stack,
                             context.Emit("Concat", std::move(slices), {{"axis", axis}}, type, std::move(dims)));
  return context.Bind(output, stack);
}

// Whether a Loop goes on; its condition must be known before anything runs.
Result<bool> GoesOn(const ImportContext& context, om::TensorId condition) {
  if (condition == om::kNoTensor) return true;
  if (!context.Tensor(condition).is_constant()) return context.Unsupported("its condition must be constant");
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> value, ReadInts(context.Tensor(condition)));
  if (value.size() != 1) return context.Error("its condition is not a single value");
  return value[0] != 0;
}

Result<int64_t> TripCount(const ImportContext& context) {
  if (!context.HasInput(0)) return std::numeric_limits<int64_t>::max();
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> count, context.ConstantInts(0, "the number of iterations"));
  if (count.size() != 1) return context.Error("the number of iterations is not a single value");
  return count[0];
}

// The lists of a Scan, one entry per scanned tensor.
struct ScanLists {
  std::vector<int64_t> input_axes, input_directions, output_axes, output_directions;
};

Result<ScanLists> ReadScanLists(const ImportContext& context, size_t inputs, size_t outputs) {
  ScanLists lists;
  lists.input_axes = context.Ints("scan_input_axes", std::vector<int64_t>(inputs, 0));
  lists.input_directions = context.Ints("scan_input_directions", std::vector<int64_t>(inputs, 0));
  lists.output_axes = context.Ints("scan_output_axes", std::vector<int64_t>(outputs, 0));
  lists.output_directions = context.Ints("scan_output_directions", std::vector<int64_t>(outputs, 0));
  if (lists.input_axes.size() != inputs || lists.input_directions.size() != inputs ||
      lists.output_axes.size() != outputs || lists.output_directions.size() != outputs)
    return context.Error("there is not one axis and direction per scanned tensor");
  return lists;
}

// Slice `i` of an input along `axis`, without that axis.
Result<om::TensorId> EmitSlice(ImportContext& context, om::TensorId x, int64_t axis, int64_t i) {
  om::Dims dims = context.Tensor(x).dims;
  dims[static_cast<size_t>(axis)] = 1;
  const om::Attributes part = {{"starts", std::vector<int64_t>{i}},
                               {"ends", std::vector<int64_t>{i + 1}},
                               {"axes", std::vector<int64_t>{axis}},
                               {"steps", std::vector<int64_t>{1}}};
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId slice, context.Emit("Slice", {x}, part, context.Tensor(x).type, dims));
  dims.erase(dims.begin() + axis);
  return EmitReshape(context, slice, std::move(dims));
}

// How many slices the scanned inputs have, which begin at input `first`. The axes become counted from the front.
Result<int64_t> ScanLength(const ImportContext& context, size_t first, std::vector<int64_t>& axes) {
  int64_t length = -1;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!context.HasInput(first + i)) return context.Error(fmt::format("input {} is missing", first + i));
    NPUSTREAM_ASSIGN_OR_RETURN(axes[i], context.Axis(axes[i], context.Rank(first + i)));
    const int64_t own = context.Dims(first + i)[static_cast<size_t>(axes[i])];
    if (length >= 0 && own != length) return context.Error("its scanned inputs have different lengths");
    length = own;
  }
  return length;
}

}  // namespace

Status ImportLoop(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t trips, TripCount(context));
  om::TensorId condition = context.InputId(1);
  Ids carried;
  for (size_t i = 2; i < context.InputCount(); ++i) carried.push_back(context.InputId(i));
  const size_t outputs = context.node().outputs.size();
  if (outputs < carried.size()) return context.Error("it has fewer results than variables", StatusCode::kCorruptData);
  std::vector<Ids> scanned(outputs - carried.size());
  for (int64_t i = 0; i < trips; ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(const bool goes_on, GoesOn(context, condition));
    if (!goes_on) break;
    const std::byte yes{1};
    Ids inputs = {
        context.Constant(MakeInts(context.node().name + ".iteration", {}, {&i, 1})),
        context.Constant(
            {context.node().name + ".condition", om::DataType::kBool, {}, std::make_shared<const om::Bytes>(1, yes)})};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    NPUSTREAM_ASSIGN_OR_RETURN(const Ids results, RunBody(context, inputs, 1 + outputs));
    condition = results[0];
    for (size_t k = 0; k < carried.size(); ++k) carried[k] = results[1 + k];
    for (size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(results[1 + carried.size() + k]);
  }
  for (size_t k = 0; k < carried.size(); ++k) NPUSTREAM_RETURN_IF_ERROR(context.Bind(k, carried[k]));
  for (size_t k = 0; k < scanned.size(); ++k)
    NPUSTREAM_RETURN_IF_ERROR(OutputStack(context, carried.size() + k, scanned[k], 0));
  return {};
}

Status ImportScan(ImportContext& context) {
  if (context.opset() < 9) return context.Unsupported("Scan of operator set 8 is not supported");
  const int64_t given = context.Int("num_scan_inputs", 0);
  const size_t inputs = context.InputCount(), outputs = context.node().outputs.size();
  if (given < 1 || static_cast<uint64_t>(given) > inputs) return context.Error(fmt::format("{} scanned inputs", given));
  const size_t states = inputs - static_cast<size_t>(given);
  if (outputs < states) return context.Error("it has fewer results than variables", StatusCode::kCorruptData);
  NPUSTREAM_ASSIGN_OR_RETURN(ScanLists lists, ReadScanLists(context, static_cast<size_t>(given), outputs - states));
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t length, ScanLength(context, states, lists.input_axes));
  Ids carried;
  for (size_t i = 0; i < states; ++i) carried.push_back(context.InputId(i));
  std::vector<Ids> scanned(outputs - states);
  for (int64_t t = 0; t < length; ++t) {
    Ids values = carried;
    for (size_t i = 0; i < lists.input_axes.size(); ++i) {
      const int64_t place = lists.input_directions[i] != 0 ? length - 1 - t : t;
      NPUSTREAM_ASSIGN_OR_RETURN(values.emplace_back(),
                                 EmitSlice(context, context.InputId(states + i), lists.input_axes[i], place));
    }
    NPUSTREAM_ASSIGN_OR_RETURN(const Ids results, RunBody(context, values, outputs));
    carried.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(states));
    for (size_t k = 0; k < scanned.size(); ++k) {
      Ids& parts = scanned[k];
      parts.insert(lists.output_directions[k] != 0 ? parts.begin() : parts.end(), results[states + k]);
    }
  }
  for (size_t k = 0; k < states; ++k) NPUSTREAM_RETURN_IF_ERROR(context.Bind(k, carried[k]));
  for (size_t k = 0; k < scanned.size(); ++k)
    NPUSTREAM_RETURN_IF_ERROR(OutputStack(context, states + k, scanned[k], lists.output_axes[k]));
  return {};
}

}  // namespace npustream::compiler
