// Pad: constant, reflect or edge; attributes pads (begins, then ends; negative crops) and value.
#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// Index in the input along one axis for a result index, −1 for the constant.
int64_t SourceIndex(int64_t index, int64_t size, const std::string& mode) {
  if (index >= 0 && index < size) return index;
  if (mode == "edge") return std::clamp<int64_t>(index, 0, size - 1);
  if (mode == "wrap") return (index % size + size) % size;
  if (mode == "reflect") {
    if (size == 1) return 0;
    const int64_t period = 2 * (size - 1), inside = (index % period + period) % period;
    return inside < size ? inside : period - inside;
  }
  return -1;
}

class Pad final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
    const om::Dims& in = problem.inputs[0].dims;
    if (problem.inputs[0].type != problem.outputs[0].type) return Invalid("types differ");
    const auto pads = om::GetInts(*problem.node, "pads");
    if (pads.size() != in.size() * 2) return Invalid("pads has {} entries for rank {}", pads.size(), in.size());
    om::Dims expected = in;
    for (size_t axis = 0; axis < in.size(); ++axis) {
      for (const int64_t pad : {pads[axis], pads[axis + in.size()]}) {
        if (pad < -(int64_t{1} << 32) || pad > int64_t{1} << 32) return Invalid("pad of {}", pad);
        expected[axis] += pad;
      }
      if (in[axis] < 1) return Invalid("axis {} is empty", axis);
    }
    const std::string mode = om::GetString(*problem.node, "mode", "constant");
    if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
      return Unsupported("mode {}", mode);
    return RequireOutputDims(problem, 0, expected);
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    const om::Dims &in = problem.inputs[0].dims, &out = problem.outputs[0].dims;
    const auto pads = om::GetInts(*problem.node, "pads");
    const std::string mode = om::GetString(*problem.node, "mode", "constant");
    if (om::ElementCount(out) == 0) return MakeExecutor([](const Arguments&) {});
    const size_t element = om::SizeOf(problem.inputs[0].type);
    std::vector<std::byte> fill(element);
    const float value = om::GetFloat(*problem.node, "value", 0);
    if (problem.inputs[0].type == om::DataType::kFloat32) std::memcpy(fill.data(), &value, sizeof(value));
    // Axes at the end that get nothing move as one element.
    size_t axes = in.size();
    size_t block = element;
    while (axes > 1 && pads[axes - 1] == 0 && pads[axes - 1 + in.size()] == 0) block *= static_cast<size_t>(in[--axes]);
    Walk walk(std::move(fill), block);
    const auto strides = Strides(in);
    for (size_t axis = 0; axis < axes; ++axis) {
      walk.tables.emplace_back();
      for (int64_t i = 0; i < out[axis]; ++i) {
        const int64_t source = SourceIndex(i - pads[axis], in[axis], mode);
        walk.tables.back().push_back(source < 0 ? -1 : source * strides[axis] * static_cast<int64_t>(element));
      }
    }
    if (axes > 0) {
      walk.first = std::max<int64_t>(0, pads[axes - 1]);
      walk.last = std::min(out[axes - 1], in[axes - 1] + pads[axes - 1]);
    }
    return MakeExecutor([walk = std::move(walk)](const Arguments& a) {
      std::byte* to = a.outputs[0];
      walk.Run(0, a.inputs[0], to);
    });
  }

 private:
  struct Walk {
    Walk(std::vector<std::byte> element, size_t bytes) : fill(std::move(element)), block(bytes) {}

    // Per axis: byte offset in the input of every result index, −1 for the constant.
    std::vector<std::vector<int64_t>> tables;
    int64_t first = 0, last = 0;  // places of the last axis that lie side by side in the input
    std::vector<std::byte> fill;
    size_t block;  // bytes of a place

    // `from` is null inside the constant border.
    void Run(size_t axis, const std::byte* from, std::byte*& to) const {
      if (axis == tables.size()) return Put(from, 1, to);
      const std::vector<int64_t>& table = tables[axis];
      const auto places = static_cast<int64_t>(table.size());
      const bool innermost = axis + 1 == tables.size();
      for (int64_t i = 0; i < places; ++i) {
        const std::byte* source =
            from && table[static_cast<size_t>(i)] >= 0 ? from + table[static_cast<size_t>(i)] : nullptr;
        if (!innermost) {
          Run(axis + 1, source, to);
        } else if (source && i == first && last > first) {
          Put(source, static_cast<size_t>(last - first), to);
          i = last - 1;
        } else {
          Put(source, 1, to);
        }
      }
    }

    void Put(const std::byte* from, size_t places, std::byte*& to) const {
      const size_t bytes = places * block;
      if (from) {
        std::memcpy(to, from, bytes);
      } else {
        for (size_t i = 0; i < bytes; i += fill.size()) std::memcpy(to + i, fill.data(), fill.size());
      }
      to += bytes;
    }
  };
};

}  // namespace

const Kernel* PadKernel() {
  static const Pad kernel;
  return &kernel;
}

}  // namespace npustream::kernels
