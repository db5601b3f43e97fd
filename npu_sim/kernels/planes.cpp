// Planes, an operator of the lowering's own: every plane (one channel's picture) of the result is a plane of one of
// the inputs. A chain of channel shuffles, slices, splits and joins becomes one such step.
// Attributes: source (input of each result plane), plane (index of the plane in that input), plane_size (elements).
#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// Whether a tensor is one of images whose planes have `size` elements, so that it may be blocked.
bool HasChannels(const TensorInfo& tensor, int64_t size) {
  const om::Dims& dims = tensor.dims;
  const bool type = tensor.type == om::DataType::kFloat32 || tensor.type == om::DataType::kUInt8 ||
                    tensor.type == om::DataType::kBFloat16;
  return type && dims.size() >= 3 && dims[0] * dims[1] > 0 &&
         om::ElementCount(dims) == dims[0] * dims[1] * size;
}

// One group of the result: where each of its lanes comes from.
struct Part {
  size_t input;
  int64_t offset;  // elements from the input's start to the source's group
  LaneSource lanes;
};

class Planes final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 4096));
    const auto sources = om::GetInts(*problem.node, "source"), planes = om::GetInts(*problem.node, "plane");
    const int64_t size = om::GetInt(*problem.node, "plane_size", 0);
    const int64_t total = om::ElementCount(problem.outputs[0].dims);
    if (size < 1 || size > total || sources.size() != planes.size() ||
        static_cast<int64_t>(planes.size()) != total / size || total % size != 0) {
      return Invalid("{} planes of {} do not make {}", planes.size(), size, DimsText(problem.outputs[0].dims));
    }
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] < 0 || sources[i] >= static_cast<int64_t>(problem.inputs.size()))
        return Invalid("plane {} names input {}", i, sources[i]);
      const TensorInfo& input = problem.inputs[sources[i]];
      if (input.absent || input.type != problem.outputs[0].type) return Invalid("inputs of different types");
      const int64_t count = om::ElementCount(input.dims);
      if (planes[i] < 0 || planes[i] >= count / size || count % size != 0)
        return Invalid("plane {} is plane {} of {} elements", i, planes[i], count);
    }
    return {};
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, "plane copy");
    const int64_t size = om::GetInt(*problem.node, "plane_size", 0);
    int64_t blocked = 0, plain = 0;
    const bool few = problem.outputs[0].type == om::DataType::kFloat32 && IsFewChannels(problem.outputs[0], problem.isa);
    bool can_block = HasChannels(problem.outputs[0], size) && !few;
    for (const TensorInfo& input : problem.inputs) {
      can_block = can_block && HasChannels(input, size);
      (input.layout == om::Layout::kPlain ? plain : blocked) += om::ElementCount(input.dims);
    }
    if (can_block && blocked > plain) {
      const om::Layout layout = BlockedLayout(problem.isa);
      std::fill(choice.inputs.begin(), choice.inputs.end(), layout);
      choice.outputs[0] = layout;
      choice.implementation = std::string("lane gather ") + ToString(problem.isa);
    }
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    const om::Layout layout = problem.outputs[0].layout;
    const int64_t size = om::GetInt(*problem.node, "plane_size", 0);
    for (const TensorInfo& input : problem.inputs) {
      if (input.layout != layout) return Invalid("layouts differ");
      if (layout != om::Layout::kPlain && !HasChannels(input, size)) return Invalid("a blocked input has no channels");
    }
    if (layout == om::Layout::kPlain) return PreparePlain(problem, size);
    if (!HasChannels(problem.outputs[0], size)) return Invalid("a blocked result has no channels");
    // The lowering stores as bfloat16 only what is joined in place.
    if (problem.outputs[0].type == om::DataType::kBFloat16) return Unsupported("channels of bfloat16 one by one");
    return PrepareBlocked(problem, size);
  }

 private:
  static std::unique_ptr<Executor> PreparePlain(const Problem& problem, int64_t size) {
    struct Run {
      size_t input;
      int64_t from, count;
    };
    const auto sources = om::GetInts(*problem.node, "source"), planes = om::GetInts(*problem.node, "plane");
    std::vector<Run> runs;  // neighbouring planes are copied together
    for (size_t i = 0; i < planes.size(); ++i) {
      const auto input = static_cast<size_t>(sources[i]);
      const bool joins =
          !runs.empty() && runs.back().input == input && runs.back().from + runs.back().count == planes[i];
      if (joins) {
        ++runs.back().count;
      } else {
        runs.push_back({input, planes[i], 1});
      }
    }
    const size_t bytes = static_cast<size_t>(size) * om::SizeOf(problem.outputs[0].type);
    return MakeExecutor([runs = std::move(runs), bytes](const Arguments& a) {
      std::byte* to = a.outputs[0];
      for (const Run& run : runs) {
        std::memcpy(to, a.inputs[run.input] + run.from * static_cast<int64_t>(bytes),
                    static_cast<size_t>(run.count) * bytes);
        to += static_cast<size_t>(run.count) * bytes;
      }
    });
  }

  static std::vector<std::vector<Part>> GroupParts(const Problem& problem, int64_t size) {
    const om::Dims& out = problem.outputs[0].dims;
    const int64_t block = om::BlockOf(problem.outputs[0].layout);
    const int64_t groups = (out[1] + block - 1) / block;
    const auto sources = om::GetInts(*problem.node, "source"), planes = om::GetInts(*problem.node, "plane");
    std::vector<std::vector<Part>> parts(static_cast<size_t>(out[0] * groups));
    for (int64_t n = 0; n < out[0]; ++n) {
      for (int64_t c = 0; c < out[1]; ++c) {
        const int64_t source = sources[n * out[1] + c], plane = planes[n * out[1] + c];
        const int64_t in_channels = problem.inputs[source].dims[1], in_groups = (in_channels + block - 1) / block;
        const int64_t in_n = plane / in_channels, in_c = plane % in_channels;
        const int64_t offset = (in_n * in_groups + in_c / block) * size * block;
        auto& group = parts[n * groups + c / block];
        auto found = std::find_if(group.begin(), group.end(), [&](const Part& p) {
          return p.input == static_cast<size_t>(source) && p.offset == offset;
        });
        if (found == group.end()) found = group.insert(group.end(), Part{static_cast<size_t>(source), offset, {}});
        found->lanes.lanes[c % block] = static_cast<int32_t>(in_c % block);
        found->lanes.mask |= 1u << (c % block);
      }
    }
    return parts;
  }

  static std::unique_ptr<Executor> PrepareBlockedBytes(const Problem& problem, int64_t size) {
    const int64_t block = om::BlockOf(problem.outputs[0].layout);
    return MakeExecutor([=, parts = GroupParts(problem, size)](const Arguments& a) {
      uint8_t* to = Out<uint8_t>(a);
      for (const auto& group : parts) {
        for (const Part& part : group) {
          const uint8_t* from = In<uint8_t>(a, part.input) + part.offset;
          for (int64_t lane = 0; lane < block; ++lane) {
            if ((part.lanes.mask >> lane & 1) == 0) continue;
            const int64_t source = part.lanes.lanes[lane];
            for (int64_t p = 0; p < size; ++p) to[p * block + lane] = from[p * block + source];
          }
        }
        to += size * block;
      }
    });
  }

  static std::unique_ptr<Executor> PrepareBlocked(const Problem& problem, int64_t size) {
    if (problem.outputs[0].type == om::DataType::kUInt8) return PrepareBlockedBytes(problem, size);
    const auto gather = SimdFor(problem.isa).gather_lanes;
    const int64_t block = om::BlockOf(problem.outputs[0].layout);
    return MakeExecutor([=, parts = GroupParts(problem, size)](const Arguments& a) {
      LaneSource sources[16];
      float* to = Out<float>(a);
      for (const auto& group : parts) {
        for (size_t i = 0; i < group.size(); ++i) {
          sources[i] = group[i].lanes;
          sources[i].group = In<float>(a, group[i].input) + group[i].offset;
        }
        gather(sources, group.size(), to, static_cast<size_t>(size), static_cast<size_t>(block));
        to += size * block;
      }
    });
  }
};

}  // namespace

const Kernel* PlanesKernel() {
  static const Planes kernel;
  return &kernel;
}

}  // namespace npustream::kernels
