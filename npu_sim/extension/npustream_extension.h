/* Custom operators and custom passes: what a shared library offers that atc and the runtime load. Plain C, so that it does
 * not matter which compiler made the library. See README.md in this folder, and example/.
 *
 * A library exports one function, `npustream_extension`. What it returns must stay valid until the process ends. */
#ifndef NPUSTREAM_EXTENSION_H_
#define NPUSTREAM_EXTENSION_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counted up when a structure of this file changes; a library of another version is not loaded. */
#define NPUSTREAM_EXTENSION_VERSION 1
#define NPUSTREAM_EXTENSION_MAX_RANK 8

/* Element types; the numbers are those of aclDataType. */
enum {
  NPUSTREAM_FLOAT32 = 0,
  NPUSTREAM_INT8 = 2,
  NPUSTREAM_INT32 = 3,
  NPUSTREAM_UINT8 = 4,
  NPUSTREAM_INT64 = 9,
  NPUSTREAM_BOOL = 12
};

/* A tensor in row-major order. */
typedef struct NpustreamTensor {
  const char* name;
  int32_t type;
  int32_t rank;
  int64_t dims[NPUSTREAM_EXTENSION_MAX_RANK];
  const void* data; /* of a constant; NULL for everything that is computed */
} NpustreamTensor;

/* A node's attributes. Absent ones, and those of another type, read as `otherwise`. */
typedef struct NpustreamAttributes {
  const void* handle;
  int64_t (*get_int)(const void* handle, const char* name, int64_t otherwise);
  float (*get_float)(const void* handle, const char* name, float otherwise);
  const char* (*get_string)(const void* handle, const char* name, const char* otherwise);
  /* The number of values; up to `capacity` of them are written. */
  size_t (*get_ints)(const void* handle, const char* name, int64_t* values, size_t capacity);
  size_t (*get_floats)(const void* handle, const char* name, float* values, size_t capacity);
} NpustreamAttributes;

/* Functions return NULL, or a sentence that says what is wrong (a string that stays valid). */
typedef struct NpustreamOperator {
  const char* domain; /* as in the ONNX file, never "" */
  const char* type;
  int32_t min_inputs, max_inputs, outputs;
  /* Checks inputs and attributes, and sets type, rank and dims of every output. Called while compiling and again when an
   * OM is loaded, which may be a damaged one. Inputs that were left out have rank -1. */
  const char* (*infer)(const NpustreamAttributes* attributes, const NpustreamTensor* inputs, int32_t input_count,
                       NpustreamTensor* outputs);
  /* Computes the outputs. Called by several threads at a time; must not keep anything. `input_data` is NULL where an input
   * was left out. */
  const char* (*run)(const NpustreamAttributes* attributes, const NpustreamTensor* inputs, const void* const* input_data,
                     int32_t input_count, const NpustreamTensor* outputs, void* const* output_data);
} NpustreamOperator;

/* The graph as a pass sees it. Nodes are counted from 0 in an order in which they can run, tensors by their own numbers; an
 * input that was left out is -1. A node's type is ONNX's for its newest operator set, with "domain." in front for others;
 * npu_sim/om/README.md lists what differs. Nodes that nobody reads any more are removed after the pass. */
typedef struct NpustreamGraph {
  void* handle;
  int32_t (*node_count)(void* handle);
  const char* (*node_type)(void* handle, int32_t node);
  int32_t (*input_count)(void* handle, int32_t node);
  int32_t (*input)(void* handle, int32_t node, int32_t index);
  int32_t (*output)(void* handle, int32_t node, int32_t index); /* -1 beyond the last */
  void (*attributes)(void* handle, int32_t node, NpustreamAttributes* attributes);
  void (*tensor)(void* handle, int32_t tensor, NpustreamTensor* result);
  int32_t (*producer)(void* handle, int32_t tensor);     /* the node that writes it, or -1 */
  int32_t (*reader_count)(void* handle, int32_t tensor); /* reads by nodes, and by the graph's outputs */
  /* Makes `node` another one that writes the same outputs: without attributes, with these inputs. */
  void (*replace_node)(void* handle, int32_t node, const char* type, const int32_t* inputs, int32_t input_count);
  void (*set_int)(void* handle, int32_t node, const char* name, int64_t value);
  void (*set_float)(void* handle, int32_t node, const char* name, float value);
  /* A new constant: its number. */
  int32_t (*add_constant)(void* handle, const NpustreamTensor* constant);
} NpustreamGraph;

typedef struct NpustreamPass {
  const char* name; /* --fusion_switch_file knows it by this */
  const char* (*run)(const NpustreamGraph* graph);
} NpustreamPass;

typedef struct NpustreamExtension {
  uint32_t version; /* NPUSTREAM_EXTENSION_VERSION */
  const NpustreamOperator* operators;
  size_t operator_count;
  const NpustreamPass* passes;
  size_t pass_count;
} NpustreamExtension;

const NpustreamExtension* npustream_extension(void);

#ifdef __cplusplus
}
#endif

#endif /* NPUSTREAM_EXTENSION_H_ */
