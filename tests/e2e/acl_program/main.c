/* An AscendCL program in plain C as one writes it from the vendor's documentation: y = relu(x + [0.5, -1, 2, 0]).
   usage: acl_program MODEL.om; prints the four results. */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

#define CHECK(call)                                                                \
  do {                                                                             \
    aclError error_ = (call);                                                      \
    if (error_ != ACL_SUCCESS) {                                                   \
      const char* why_ = aclGetRecentErrMsg();                                     \
      fprintf(stderr, "%s: %d %s\n", #call, (int)error_, why_ != NULL ? why_ : ""); \
      return 1;                                                                    \
    }                                                                              \
  } while (0)

static aclmdlDataset* WrapInDataset(void* memory, size_t bytes) {
  aclmdlDataset* dataset = aclmdlCreateDataset();
  aclDataBuffer* buffer = aclCreateDataBuffer(memory, bytes);
  if (dataset == NULL || buffer == NULL || aclmdlAddDatasetBuffer(dataset, buffer) != ACL_SUCCESS) exit(1);
  return dataset;
}

static void DestroyDataset(aclmdlDataset* dataset) {
  for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
    aclDestroyDataBuffer(aclmdlGetDatasetBuffer(dataset, i));
  }
  aclmdlDestroyDataset(dataset);
}

int main(int argc, char** argv) {
  const float x[4] = {1, 0.25f, -3, 7};
  float y[4];
  aclrtContext context;
  aclrtStream stream;
  aclrtRunMode run_mode;
  uint32_t model;
  void *input, *output;
  if (argc != 2) return 2;

  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateContext(&context, 0));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtGetRunMode(&run_mode));
  CHECK(aclmdlLoadFromFile(argv[1], &model));
  aclmdlDesc* description = aclmdlCreateDesc();
  CHECK(aclmdlGetDesc(description, model));
  if (aclmdlGetNumInputs(description) != 1 || aclmdlGetInputSizeByIndex(description, 0) != sizeof x ||
      aclmdlGetOutputSizeByIndex(description, 0) != sizeof y) {
    return 1;
  }

  CHECK(aclrtMalloc(&input, sizeof x, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMalloc(&output, sizeof y, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemcpy(input, sizeof x, x, sizeof x,
                    run_mode == ACL_HOST ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_DEVICE));
  aclmdlDataset* inputs = WrapInDataset(input, sizeof x);
  aclmdlDataset* outputs = WrapInDataset(output, sizeof y);
  CHECK(aclmdlExecuteAsync(model, inputs, outputs, stream));
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtMemcpy(y, sizeof y, output, sizeof y, ACL_MEMCPY_DEVICE_TO_HOST));
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);

  DestroyDataset(inputs);
  DestroyDataset(outputs);
  CHECK(aclrtFree(input));
  CHECK(aclrtFree(output));
  CHECK(aclmdlDestroyDesc(description));
  CHECK(aclmdlUnload(model));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtDestroyContext(context));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
