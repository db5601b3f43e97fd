// What programs for a card usually do, in the ways in which they do it: models from a file, from memory, into memory of
// their own; synchronous and asynchronous runs; callbacks on a thread of their own; events; the descriptions.
// usage: samples MODEL.om, of y = relu(x + [0.5, -1, 2, 0]) for x [1, 4]. Prints what it finds.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"

#define CHECK(call)                                                                             \
  do {                                                                                          \
    const aclError error_ = (call);                                                             \
    if (error_ != ACL_SUCCESS) {                                                                \
      const char* why_ = aclGetRecentErrMsg();                                                  \
      std::fprintf(stderr, "%s: %d %s\n", #call, error_, why_ != nullptr ? why_ : "no reason"); \
      std::exit(1);                                                                             \
    }                                                                                           \
  } while (false)

namespace {

constexpr size_t kBytes = 4 * sizeof(float);
const float kInput[4] = {1, 0.25f, -3, 7};

struct Io {
  void* device = nullptr;
  aclmdlDataset* dataset = aclmdlCreateDataset();

  Io() {
    CHECK(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtMemset(device, kBytes, 0, kBytes));
    CHECK(aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(device, kBytes)));
  }
  ~Io() {
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
      aclDataBuffer* buffer = aclmdlGetDatasetBuffer(dataset, i);
      CHECK(aclrtFree(aclGetDataBufferAddr(buffer)));
      CHECK(aclDestroyDataBuffer(buffer));
    }
    CHECK(aclmdlDestroyDataset(dataset));
  }
};

void PrintOutput(const char* how, const Io& output) {
  float y[4];
  CHECK(aclrtMemcpy(y, kBytes, output.device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  std::printf("%s: %g %g %g %g\n", how, y[0], y[1], y[2], y[3]);
}

void RunAndUnload(const char* how, uint32_t model) {
  Io input, output;
  CHECK(aclrtMemcpy(input.device, kBytes, kInput, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK(aclmdlExecute(model, input.dataset, output.dataset));
  PrintOutput(how, output);
  CHECK(aclmdlUnload(model));
}

void LoadInAllWays(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  uint32_t model = 0;
  CHECK(aclmdlLoadFromFile(path, &model));
  RunAndUnload("from a file", model);
  CHECK(aclmdlLoadFromMem(bytes.data(), bytes.size(), &model));
  RunAndUnload("from memory", model);

  size_t work_size = 0, weight_size = 0;
  void *work = nullptr, *weights = nullptr;
  CHECK(aclmdlQuerySize(path, &work_size, &weight_size));
  if (work_size != 0) CHECK(aclrtMalloc(&work, work_size, ACL_MEM_MALLOC_HUGE_FIRST));
  if (weight_size != 0) CHECK(aclrtMalloc(&weights, weight_size, ACL_MEM_MALLOC_HUGE_ONLY));
  CHECK(aclmdlLoadFromFileWithMem(path, &model, work, work_size, weights, weight_size));
  RunAndUnload("into own memory", model);
  CHECK(aclmdlLoadFromMemWithMem(bytes.data(), bytes.size(), &model, work, work_size, weights, weight_size));
  RunAndUnload("from memory into own memory", model);
  if (work != nullptr) CHECK(aclrtFree(work));
  if (weights != nullptr) CHECK(aclrtFree(weights));
}

void PrintDims(const char* what, const aclmdlIODims& dims) {
  std::printf("%s \"%s\":", what, dims.name);
  for (size_t i = 0; i < dims.dimCount; ++i) std::printf(" %ld", static_cast<long>(dims.dims[i]));
  std::printf("\n");
}

void Describe(uint32_t model) {
  aclmdlDesc* description = aclmdlCreateDesc();
  CHECK(aclmdlGetDesc(description, model));
  std::printf("%zu input, %zu output\n", aclmdlGetNumInputs(description), aclmdlGetNumOutputs(description));
  aclmdlIODims dims;
  CHECK(aclmdlGetInputDims(description, 0, &dims));
  PrintDims("input", dims);
  CHECK(aclmdlGetInputDimsV2(description, 0, &dims));
  PrintDims("input", dims);
  CHECK(aclmdlGetOutputDims(description, 0, &dims));
  PrintDims("output", dims);
  CHECK(aclmdlGetCurOutputDims(description, 0, &dims));
  PrintDims("output", dims);
  size_t input = 9, output = 9;
  CHECK(aclmdlGetInputIndexByName(description, "x", &input));
  CHECK(aclmdlGetOutputIndexByName(description, "y", &output));
  std::printf("x is %zu of %zu bytes, y is %zu of %zu bytes\n", input, aclmdlGetInputSizeByIndex(description, input),
              output, aclmdlGetOutputSizeByIndex(description, output));
  std::printf("type %d, bytes of one %zu, format %d\n", aclmdlGetInputDataType(description, 0),
              aclDataTypeSize(aclmdlGetOutputDataType(description, 0)), aclmdlGetInputFormat(description, 0));
  aclmdlBatch batch;
  aclmdlHW sizes;
  CHECK(aclmdlGetDynamicBatch(description, &batch));
  CHECK(aclmdlGetDynamicHW(description, static_cast<size_t>(-1), &sizes));
  std::printf("%zu gears, %zu image sizes\n", batch.batchCount, sizes.hwCount);
  CHECK(aclmdlDestroyDesc(description));
}

std::atomic<bool> g_stop{false};
std::atomic<int> g_called{0};

void CountCall(void* number) { g_called += *static_cast<int*>(number); }

void ServeCallbacks(aclrtContext context) {
  CHECK(aclrtSetCurrentContext(context));
  while (!g_stop) (void)aclrtProcessReport(100);
}

void RunAsynchronously(uint32_t model, aclrtContext context) {
  aclrtStream stream = nullptr, other = nullptr;
  aclrtEvent begin = nullptr, end = nullptr, copied = nullptr;
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtCreateStream(&other));
  CHECK(aclrtCreateEvent(&begin));
  CHECK(aclrtCreateEvent(&end));
  CHECK(aclrtCreateEventWithFlag(&copied, ACL_EVENT_SYNC));
  std::thread callbacks(ServeCallbacks, context);
  const auto thread_id = static_cast<uint64_t>(callbacks.native_handle());
  CHECK(aclrtSubscribeReport(thread_id, stream));
  {
    Io input, output;
    void* host = nullptr;
    int one = 1;
    CHECK(aclrtMallocHost(&host, kBytes));
    std::memcpy(host, kInput, kBytes);
    CHECK(aclrtMemcpyAsync(input.device, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, other));
    CHECK(aclrtRecordEvent(copied, other));
    CHECK(aclrtStreamWaitEvent(stream, copied));
    CHECK(aclrtResetEvent(copied, stream));
    CHECK(aclrtRecordEvent(begin, stream));
    CHECK(aclmdlExecuteAsync(model, input.dataset, output.dataset, stream));
    CHECK(aclrtLaunchCallback(CountCall, &one, ACL_CALLBACK_BLOCK, stream));
    CHECK(aclrtRecordEvent(end, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtSynchronizeEvent(end));
    float ms = -1;
    CHECK(aclrtEventElapsedTime(&ms, begin, end));
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    CHECK(aclrtQueryEventStatus(end, &status));
    PrintOutput("asynchronously", output);
    std::printf("time passed: %s, happened: %d, callbacks: %d\n", ms >= 0 ? "yes" : "no", status, g_called.load());
    CHECK(aclrtFreeHost(host));
  }
  CHECK(aclrtUnSubscribeReport(thread_id, stream));
  g_stop = true;
  callbacks.join();
  for (aclrtEvent event : {begin, end, copied}) CHECK(aclrtDestroyEvent(event));
  CHECK(aclrtDestroyStream(other));
  CHECK(aclrtDestroyStream(stream));
}

void Values() {
  const int64_t shape[] = {2, 3, 4};
  aclTensorDesc* tensor = aclCreateTensorDesc(ACL_FLOAT16, 3, shape, ACL_FORMAT_ND);
  aclSetTensorDescName(tensor, "tensor");
  int64_t dim = 0;
  CHECK(aclGetTensorDescDimV2(tensor, 2, &dim));
  std::printf("%s: %zu elements, %zu bytes, %zu dims, the last %ld\n", aclGetTensorDescName(tensor),
              aclGetTensorDescElementCount(tensor), aclGetTensorDescSize(tensor), aclGetTensorDescNumDims(tensor),
              static_cast<long>(dim));
  aclDestroyTensorDesc(tensor);
  std::printf("half of 1.5: %#x, back: %g\n", aclFloatToFloat16(1.5f), aclFloat16ToFloat(aclFloatToFloat16(1.5f)));
}

void Device() {
  uint32_t devices = 0;
  int32_t device = -1;
  size_t free = 0, total = 0;
  aclrtRunMode mode = ACL_DEVICE;
  CHECK(aclrtGetDeviceCount(&devices));
  CHECK(aclrtGetDevice(&device));
  CHECK(aclrtGetMemInfo(ACL_DDR_MEM, &free, &total));
  CHECK(aclrtGetRunMode(&mode));
  std::printf("%s, device %d, run mode %d, memory: %s\n", aclrtGetSocName(), device, mode,
              devices > 0 && free > 0 && free <= total ? "yes" : "no");
  ACL_APP_LOG(ACL_INFO, "the device is %d", device);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  CHECK(aclInit(""));
  CHECK(aclrtSetDevice(0));
  aclrtContext context = nullptr;
  CHECK(aclrtCreateContext(&context, 0));
  Device();
  LoadInAllWays(argv[1]);
  uint32_t model = 0;
  CHECK(aclmdlLoadFromFile(argv[1], &model));
  Describe(model);
  RunAsynchronously(model, context);
  CHECK(aclmdlUnload(model));
  Values();
  CHECK(aclrtDestroyContext(context));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
