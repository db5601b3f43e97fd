// Outside of aclInit … aclFinalize every function that reaches the runtime says ACL_ERROR_UNINITIALIZE, whatever live
// handles it is given; the functions are those of the headers, so that none can be forgotten.
#include <pthread.h>

#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/runtime/acl/acl_test.h"
#include "tests/runtime/acl/test_models.h"

namespace npustream::acl_test {
namespace {

// Beginning and end, the last failure, numbers, and values that belong to no device: buffers, datasets, descriptions.
const std::set<std::string> kNeedNoRuntime = {"aclInit",
                                              "aclFinalize",
                                              "aclrtGetVersion",
                                              "aclrtGetSocName",
                                              "aclGetRecentErrMsg",
                                              "aclrtGetLastError",
                                              "aclrtPeekAtLastError",
                                              "aclAppLog",
                                              "aclDataTypeSize",
                                              "aclFloat16ToFloat",
                                              "aclFloatToFloat16",
                                              "aclCreateDataBuffer",
                                              "aclDestroyDataBuffer",
                                              "aclUpdateDataBuffer",
                                              "aclGetDataBufferAddr",
                                              "aclGetDataBufferSize",
                                              "aclGetDataBufferSizeV2",
                                              "aclCreateTensorDesc",
                                              "aclDestroyTensorDesc",
                                              "aclGetTensorDescType",
                                              "aclGetTensorDescFormat",
                                              "aclGetTensorDescSize",
                                              "aclGetTensorDescElementCount",
                                              "aclGetTensorDescNumDims",
                                              "aclGetTensorDescDim",
                                              "aclGetTensorDescDimV2",
                                              "aclSetTensorDescName",
                                              "aclGetTensorDescName",
                                              "aclSetTensorFormat",
                                              "aclSetTensorShape",
                                              "aclmdlCreateDataset",
                                              "aclmdlDestroyDataset",
                                              "aclmdlAddDatasetBuffer",
                                              "aclmdlGetDatasetNumBuffers",
                                              "aclmdlGetDatasetBuffer",
                                              "aclmdlCreateDesc",
                                              "aclmdlDestroyDesc",
                                              "aclmdlGetNumInputs",
                                              "aclmdlGetNumOutputs",
                                              "aclmdlGetInputSizeByIndex",
                                              "aclmdlGetOutputSizeByIndex",
                                              "aclmdlGetInputNameByIndex",
                                              "aclmdlGetOutputNameByIndex",
                                              "aclmdlGetInputFormat",
                                              "aclmdlGetOutputFormat",
                                              "aclmdlGetInputDataType",
                                              "aclmdlGetOutputDataType",
                                              "aclmdlGetInputIndexByName",
                                              "aclmdlGetOutputIndexByName",
                                              "aclmdlGetInputDims",
                                              "aclmdlGetInputDimsV2",
                                              "aclmdlGetOutputDims",
                                              "aclmdlGetCurOutputDims",
                                              "aclmdlGetDynamicBatch",
                                              "aclmdlGetDynamicHW",
                                              "aclmdlGetInputDynamicGearCount",
                                              "aclmdlGetInputDynamicDims"};

std::set<std::string> DeclaredFunctions() {
  std::set<std::string> names;
  const std::regex declaration(R"(ACL_FUNC_VISIBILITY\s[^;(]*?\b(acl\w+)\()");
  for (const char* header : {"acl", "acl_base", "acl_rt", "acl_mdl", "acl_op"}) {
    const auto text = ReadTextFile(std::string(NPUSTREAM_SOURCE_DIR "/runtime/acl/include/acl/") + header + ".h");
    EXPECT_TRUE(text.ok()) << text.status().message();
    for (std::sregex_iterator match(text->begin(), text->end(), declaration), end; match != end; ++match) {
      names.insert((*match)[1]);
    }
  }
  return names;
}

void Nothing(void*) {}

class AclUninitialized : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_ACL_OK(aclrtCreateContext(&context_, 0));
    ASSERT_ACL_OK(aclrtCreateStream(&stream_));
    ASSERT_ACL_OK(aclrtCreateEvent(&event_));
    ASSERT_ACL_OK(aclrtMalloc(&device_, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL_OK(aclrtMallocHost(&host_, 64));
    ASSERT_ACL_OK(aclmdlLoadFromFile(path_.c_str(), &model_));
    ASSERT_ACL_OK(aclrtSubscribeReport(pthread_self(), stream_));
    description_ = aclmdlCreateDesc();
    ASSERT_ACL_OK(aclFinalize());
  }
  void TearDown() override {
    ASSERT_ACL_OK(aclInit(nullptr));
    EXPECT_ACL_OK(aclrtFree(device_));
    EXPECT_ACL_OK(aclrtFreeHost(host_));
    EXPECT_ACL_OK(aclmdlDestroyDesc(description_));
    EXPECT_ACL_OK(aclrtDestroyContext(context_));
    AclTest::TearDown();
  }

  using Calls = std::map<std::string, std::function<aclError()>>;
  Calls DeviceCalls() {
    return {
        {"aclrtSetDevice", [] { return aclrtSetDevice(0); }},
        {"aclrtResetDevice", [] { return aclrtResetDevice(0); }},
        {"aclrtResetDeviceForce", [] { return aclrtResetDeviceForce(0); }},
        {"aclrtGetDevice", [this] { return aclrtGetDevice(&int_); }},
        {"aclGetDeviceCapability",
         [] { return aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, std::make_unique<int64_t>().get()); }},
        {"aclrtGetDeviceCount", [this] { return aclrtGetDeviceCount(&count_); }},
        {"aclrtQueryDeviceStatus",
         [] { return aclrtQueryDeviceStatus(0, std::make_unique<aclrtDeviceStatus>().get()); }},
        {"aclrtGetRunMode", [] { return aclrtGetRunMode(std::make_unique<aclrtRunMode>().get()); }},
        {"aclrtSynchronizeDevice", [] { return aclrtSynchronizeDevice(); }},
        {"aclrtSynchronizeDeviceWithTimeout", [] { return aclrtSynchronizeDeviceWithTimeout(1); }},
        {"aclrtSetTsDevice", [] { return aclrtSetTsDevice(ACL_TS_ID_AICORE); }},
        {"aclrtCreateContext", [this] { return aclrtCreateContext(&place_, 0); }},
        {"aclrtDestroyContext", [this] { return aclrtDestroyContext(context_); }},
        {"aclrtSetCurrentContext", [this] { return aclrtSetCurrentContext(context_); }},
        {"aclrtGetCurrentContext", [this] { return aclrtGetCurrentContext(&place_); }},
        {"aclrtCtxGetCurrentDefaultStream", [this] { return aclrtCtxGetCurrentDefaultStream(&place_); }},
    };
  }
  Calls StreamCalls() {
    return {
        {"aclrtCreateStream", [this] { return aclrtCreateStream(&place_); }},
        {"aclrtCreateStreamWithConfig", [this] { return aclrtCreateStreamWithConfig(&place_, 0, 0); }},
        {"aclrtDestroyStream", [this] { return aclrtDestroyStream(stream_); }},
        {"aclrtDestroyStreamForce", [this] { return aclrtDestroyStreamForce(stream_); }},
        {"aclrtSynchronizeStream", [this] { return aclrtSynchronizeStream(stream_); }},
        {"aclrtSynchronizeStreamWithTimeout", [this] { return aclrtSynchronizeStreamWithTimeout(stream_, 1); }},
        {"aclrtStreamQuery", [this] { return aclrtStreamQuery(stream_, std::make_unique<aclrtStreamStatus>().get()); }},
        {"aclrtStreamGetId", [this] { return aclrtStreamGetId(stream_, &int_); }},
        {"aclrtGetStreamAvailableNum", [this] { return aclrtGetStreamAvailableNum(&count_); }},
        {"aclrtCreateEvent", [this] { return aclrtCreateEvent(&place_); }},
        {"aclrtCreateEventWithFlag", [this] { return aclrtCreateEventWithFlag(&place_, ACL_EVENT_SYNC); }},
        {"aclrtCreateEventExWithFlag", [this] { return aclrtCreateEventExWithFlag(&place_, ACL_EVENT_SYNC); }},
        {"aclrtDestroyEvent", [this] { return aclrtDestroyEvent(event_); }},
        {"aclrtRecordEvent", [this] { return aclrtRecordEvent(event_, stream_); }},
        {"aclrtResetEvent", [this] { return aclrtResetEvent(event_, stream_); }},
        {"aclrtQueryEvent", [this] { return aclrtQueryEvent(event_, std::make_unique<aclrtEventStatus>().get()); }},
        {"aclrtQueryEventStatus",
         [this] { return aclrtQueryEventStatus(event_, std::make_unique<aclrtEventRecordedStatus>().get()); }},
        {"aclrtSynchronizeEvent", [this] { return aclrtSynchronizeEvent(event_); }},
        {"aclrtSynchronizeEventWithTimeout", [this] { return aclrtSynchronizeEventWithTimeout(event_, 1); }},
        {"aclrtStreamWaitEvent", [this] { return aclrtStreamWaitEvent(stream_, event_); }},
        {"aclrtEventElapsedTime",
         [this] { return aclrtEventElapsedTime(std::make_unique<float>().get(), event_, event_); }},
        {"aclrtEventGetTimestamp",
         [this] { return aclrtEventGetTimestamp(event_, std::make_unique<uint64_t>().get()); }},
        {"aclrtSubscribeReport", [this] { return aclrtSubscribeReport(pthread_self(), nullptr); }},
        {"aclrtUnSubscribeReport", [this] { return aclrtUnSubscribeReport(pthread_self(), stream_); }},
        {"aclrtProcessReport", [] { return aclrtProcessReport(1); }},
        {"aclrtLaunchCallback",
         [this] { return aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_NO_BLOCK, stream_); }},
        {"aclrtLaunchHostFunc", [this] { return aclrtLaunchHostFunc(stream_, Nothing, nullptr); }},
    };
  }
  Calls MemoryCalls() {
    return {
        {"aclrtMalloc", [this] { return aclrtMalloc(&place_, 8, ACL_MEM_MALLOC_HUGE_FIRST); }},
        {"aclrtMallocAlign32", [this] { return aclrtMallocAlign32(&place_, 8, ACL_MEM_MALLOC_HUGE_FIRST); }},
        {"aclrtMallocCached", [this] { return aclrtMallocCached(&place_, 8, ACL_MEM_MALLOC_HUGE_FIRST); }},
        {"aclrtFree", [this] { return aclrtFree(device_); }},
        {"aclrtMallocHost", [this] { return aclrtMallocHost(&place_, 8); }},
        {"aclrtFreeHost", [this] { return aclrtFreeHost(host_); }},
        {"aclrtMemFlush", [this] { return aclrtMemFlush(device_, 8); }},
        {"aclrtMemInvalidate", [this] { return aclrtMemInvalidate(device_, 8); }},
        {"aclrtMemset", [this] { return aclrtMemset(device_, 8, 0, 8); }},
        {"aclrtMemsetAsync", [this] { return aclrtMemsetAsync(device_, 8, 0, 8, stream_); }},
        {"aclrtMemcpy", [this] { return aclrtMemcpy(device_, 8, host_, 8, ACL_MEMCPY_HOST_TO_DEVICE); }},
        {"aclrtMemcpyAsync",
         [this] { return aclrtMemcpyAsync(device_, 8, host_, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream_); }},
        {"aclrtMemcpy2d", [this] { return aclrtMemcpy2d(device_, 2, host_, 2, 2, 2, ACL_MEMCPY_HOST_TO_DEVICE); }},
        {"aclrtMemcpy2dAsync",
         [this] { return aclrtMemcpy2dAsync(device_, 2, host_, 2, 2, 2, ACL_MEMCPY_HOST_TO_DEVICE, stream_); }},
        {"aclrtGetMemInfo", [this] { return aclrtGetMemInfo(ACL_HBM_MEM, &sizes_[0], &sizes_[1]); }},
    };
  }
  Calls ModelCalls() {
    const auto load = [this](auto function) {
      return [this, function] { return function(&count_, bytes_.data(), bytes_.size()); };
    };
    return {
        {"aclmdlLoadFromFile", [this] { return aclmdlLoadFromFile(path_.c_str(), &count_); }},
        {"aclmdlLoadFromFileWithMem",
         [this] { return aclmdlLoadFromFileWithMem(path_.c_str(), &count_, nullptr, 0, nullptr, 0); }},
        {"aclmdlLoadFromMem",
         load([](uint32_t* id, const void* data, size_t size) { return aclmdlLoadFromMem(data, size, id); })},
        {"aclmdlLoadFromMemWithMem", load([](uint32_t* id, const void* data, size_t size) {
           return aclmdlLoadFromMemWithMem(data, size, id, nullptr, 0, nullptr, 0);
         })},
        {"aclmdlUnload", [this] { return aclmdlUnload(model_); }},
        {"aclmdlQuerySize", [this] { return aclmdlQuerySize(path_.c_str(), &sizes_[0], &sizes_[1]); }},
        {"aclmdlQuerySizeFromMem",
         [this] { return aclmdlQuerySizeFromMem(bytes_.data(), bytes_.size(), &sizes_[0], &sizes_[1]); }},
        {"aclmdlGetDesc", [this] { return aclmdlGetDesc(description_, model_); }},
        {"aclmdlGetFirstAippInfo",
         [this] { return aclmdlGetFirstAippInfo(model_, 0, std::make_unique<aclAippInfo>().get()); }},
        {"aclmdlGetAippType",
         [this] { return aclmdlGetAippType(model_, 0, std::make_unique<aclmdlInputAippType>().get(), &sizes_[0]); }},
        {"aclmdlExecute", [this] { return aclmdlExecute(model_, nullptr, nullptr); }},
        {"aclmdlExecuteAsync", [this] { return aclmdlExecuteAsync(model_, nullptr, nullptr, stream_); }},
        {"aclmdlSetDynamicBatchSize", [this] { return aclmdlSetDynamicBatchSize(model_, nullptr, 0, 1); }},
        {"aclmdlSetDynamicHWSize", [this] { return aclmdlSetDynamicHWSize(model_, nullptr, 0, 1, 1); }},
        {"aclmdlSetInputDynamicDims",
         [this] { return aclmdlSetInputDynamicDims(model_, nullptr, 0, std::make_unique<aclmdlIODims>().get()); }},
    };
  }

  const std::string path_ = WriteAddRelu();
  const std::vector<char> bytes_ = ReadBytes(path_);
  aclrtContext context_ = nullptr;
  aclrtStream stream_ = nullptr;
  aclrtEvent event_ = nullptr;
  void* device_ = nullptr;
  void* host_ = nullptr;
  uint32_t model_ = 0;
  aclmdlDesc* description_ = nullptr;
  // Where the calls would write.
  void* place_ = nullptr;
  int32_t int_ = 0;
  uint32_t count_ = 0;
  size_t sizes_[2] = {};
};

TEST_F(AclUninitialized, EveryCallThatNeedsTheRuntimeSaysSo) {
  Calls calls = DeviceCalls();
  calls.merge(StreamCalls());
  calls.merge(MemoryCalls());
  calls.merge(ModelCalls());
  for (const std::string& name : DeclaredFunctions()) {
    if (kNeedNoRuntime.count(name) != 0) continue;
    ASSERT_EQ(calls.count(name), 1u) << name << " is declared, but not tried here";
  }
  for (const auto& [name, call] : calls) EXPECT_EQ(call(), 100001) << name;
}

}  // namespace
}  // namespace npustream::acl_test
