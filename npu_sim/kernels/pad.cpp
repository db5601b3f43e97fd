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
    const size_t element = om::SizeOf(problem.inputs[0].type);
    std::vector<std::byte> fill(element);
    const float value = om::GetFloat(*problem.node, "value", 0);
    if (problem.inputs[0].type == om::DataType::kFloat32) std::memcpy(fill.data(), &value, sizeof(value));
    const auto strides = Strides(in);
    // Per axis: byte offset in the input of every result index, −1 for the constant.
    std::vector<std::vector<int64_t>> tables(out.size());
    for (size_t axis = 0; axis < out.size(); ++axis) {
      for (int64_t i = 0; i < out[axis]; ++i) {
        const int64_t source = SourceIndex(i - pads[axis], in[axis], mode);
        tables[axis].push_back(source < 0 ? -1 : source * strides[axis] * static_cast<int64_t>(element));
      }
    }
    if (tables.empty()) tables.push_back({0});
    if (om::ElementCount(out) == 0) return MakeExecutor([](const Arguments&) {});
    Row row(tables.back(), fill);
    tables.pop_back();
    return MakeExecutor([tables = std::move(tables), row = std::move(row)](const Arguments& a) {
      std::byte* to = a.outputs[0];
      Walk(tables, 0, a.inputs[0], row, to);
    });
  }

 private:
  // The last axis: stretches of neighbours, which are copied at once, and single elements.
  class Row {
   public:
    Row(const std::vector<int64_t>& offsets, const std::vector<std::byte>& fill) : element_(fill.size()) {
      for (const int64_t offset : offsets) {
        const auto element = static_cast<int64_t>(element_);
        Stretch* last = stretches_.empty() ? nullptr : &stretches_.back();
        const bool follows =
            last && (offset < 0 ? last->offset < 0 : last->offset >= 0 && last->offset + last->bytes == offset);
        if (follows) {
          last->bytes += element;
        } else {
          stretches_.push_back({offset, element});
        }
      }
      for (size_t i = 0; i < offsets.size(); ++i) constant_.insert(constant_.end(), fill.begin(), fill.end());
    }

    // `from` is null inside the constant border.
    void Copy(const std::byte* from, std::byte*& to) const {
      if (!from) {
        std::memcpy(to, constant_.data(), constant_.size());
        to += constant_.size();
        return;
      }
      for (const Stretch& stretch : stretches_) {
        std::memcpy(to, stretch.offset < 0 ? constant_.data() : from + stretch.offset,
                    static_cast<size_t>(stretch.bytes));
        to += stretch.bytes;
      }
    }

   private:
    struct Stretch {
      int64_t offset, bytes;
    };
    size_t element_;
    std::vector<Stretch> stretches_;
    std::vector<std::byte> constant_;  // a whole row of it
  };

  static void Walk(const std::vector<std::vector<int64_t>>& tables, size_t axis, const std::byte* from, const Row& row,
                   std::byte*& to) {
    if (axis == tables.size()) return row.Copy(from, to);
    for (const int64_t offset : tables[axis])
      Walk(tables, axis + 1, from && offset >= 0 ? from + offset : nullptr, row, to);
  }
};

}  // namespace

const Kernel* PadKernel() {
  static const Pad kernel;
  return &kernel;
}

}  // namespace npustream::kernels
