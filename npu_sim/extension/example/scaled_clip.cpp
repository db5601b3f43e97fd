// An extension library with one operator, ScaledClip of the domain "example": y = x · scale, held in [−limit, limit]; and one
// pass, ExampleFuseScaledClip, which makes one of Mul by a constant and Clip.
#include <algorithm>
#include <cstring>

#include "npustream_extension.h"

namespace {

const char* InferScaledClip(const NpustreamAttributes* attributes, const NpustreamTensor* inputs, int32_t,
                            NpustreamTensor* outputs) {
  if (inputs[0].rank < 0 || inputs[0].type != NPUSTREAM_FLOAT32) return "its input is not float32";
  if (!(attributes->get_float(attributes->handle, "limit", 1) > 0)) return "limit must be above 0";
  outputs[0] = inputs[0];
  return nullptr;
}

const char* RunScaledClip(const NpustreamAttributes* attributes, const NpustreamTensor* inputs,
                          const void* const* input_data, int32_t, const NpustreamTensor*, void* const* output_data) {
  const float scale = attributes->get_float(attributes->handle, "scale", 1);
  const float limit = attributes->get_float(attributes->handle, "limit", 1);
  int64_t count = 1;
  for (int32_t axis = 0; axis < inputs[0].rank; ++axis) count *= inputs[0].dims[axis];
  const float* x = static_cast<const float*>(input_data[0]);
  float* y = static_cast<float*>(output_data[0]);
  for (int64_t i = 0; i < count; ++i) y[i] = std::clamp(x[i] * scale, -limit, limit);
  return nullptr;
}

bool IsNode(const NpustreamGraph* graph, int32_t node, const char* type) {
  return node >= 0 && std::strcmp(graph->node_type(graph->handle, node), type) == 0;
}

// Clip(x · c, −limit, limit), where nobody else reads the product.
const char* FuseScaledClip(const NpustreamGraph* graph) {
  void* const handle = graph->handle;
  for (int32_t clip = 0; clip < graph->node_count(handle); ++clip) {
    if (!IsNode(graph, clip, "Clip")) continue;
    NpustreamAttributes attributes;
    graph->attributes(handle, clip, &attributes);
    const float limit = attributes.get_float(attributes.handle, "max", -1);
    if (!(limit > 0) || attributes.get_float(attributes.handle, "min", 0) != -limit) continue;
    const int32_t product = graph->input(handle, clip, 0), mul = graph->producer(handle, product);
    if (!IsNode(graph, mul, "Mul") || graph->reader_count(handle, product) != 1) continue;
    const int32_t x = graph->input(handle, mul, 0);
    NpustreamTensor tensor, factor;
    graph->tensor(handle, x, &tensor);
    graph->tensor(handle, graph->input(handle, mul, 1), &factor);
    if (factor.data == nullptr || factor.rank != 0 || factor.type != NPUSTREAM_FLOAT32 || tensor.data != nullptr) continue;
    graph->replace_node(handle, clip, "example.ScaledClip", &x, 1);
    graph->set_float(handle, clip, "scale", *static_cast<const float*>(factor.data));
    graph->set_float(handle, clip, "limit", limit);
  }
  return nullptr;
}

const NpustreamOperator kOperators[] = {{"example", "ScaledClip", 1, 1, 1, InferScaledClip, RunScaledClip}};
const NpustreamPass kPasses[] = {{"ExampleFuseScaledClip", FuseScaledClip}};
const NpustreamExtension kExtension = {NPUSTREAM_EXTENSION_VERSION, kOperators, 1, kPasses, 1};

}  // namespace

extern "C" const NpustreamExtension* npustream_extension(void) { return &kExtension; }
