#include <latch>
#include <thread>
#include <vector>

#include "npu_sim/device/device.h"
#include "tests/runtime/acl/acl_test.h"
#include "tests/runtime/acl/test_models.h"
#include "tests/support/allocation_counter.h"

namespace npustream::acl_test {
namespace {

using Floats = std::vector<float>;

class AclModelExecute : public AclTest {
 protected:
  void TearDown() override {
    if (id_ != 0) {
      EXPECT_ACL_OK(aclmdlUnload(id_));
    }
    AclTest::TearDown();
  }
  void Load(const std::string& path) { ASSERT_ACL_OK(aclmdlLoadFromFile(path.c_str(), &id_)); }
  static void Hold(void* latch) { static_cast<std::latch*>(latch)->wait(); }

  uint32_t id_ = 0;
};

TEST_F(AclModelExecute, GivesTheResultInTheBuffersOfTheDataset) {
  Load(WriteAddRelu());
  DeviceDataset input({16}), output({16});
  input.Write(0, {1, 0.25f, -3, 7});
  ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  EXPECT_EQ(output.Read(0, 4), (Floats{1.5f, 0, 0, 7}));
}

TEST_F(AclModelExecute, CopiesNothing) {
  Load(WriteAddRelu());
  DeviceDataset input({16}), output({16});
  const auto before = (*device::Device::Get(0))->counters();
  ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  const auto after = (*device::Device::Get(0))->counters();
  EXPECT_EQ(after.host_to_device, before.host_to_device);
  EXPECT_EQ(after.device_to_host, before.device_to_host);
  EXPECT_EQ(after.device_to_device, before.device_to_device);
}

TEST_F(AclModelExecute, AsyncRunsInTheOrderOfTheStreamAndTheDatasetsNeedNotLive) {
  Load(WriteAddRelu());
  aclrtStream stream = nullptr;
  ASSERT_ACL_OK(aclrtCreateStream(&stream));
  DeviceDataset input({16}), output({16});
  std::latch let_go(1);
  ASSERT_ACL_OK(aclrtLaunchHostFunc(stream, Hold, &let_go));
  ASSERT_ACL_OK(aclrtMemsetAsync(input.memory(0), 16, 0, 16, stream));
  {
    aclmdlDataset* datasets[] = {aclmdlCreateDataset(), aclmdlCreateDataset()};
    aclDataBuffer* buffers[] = {aclCreateDataBuffer(input.memory(0), 16), aclCreateDataBuffer(output.memory(0), 16)};
    for (int index : {0, 1}) ASSERT_ACL_OK(aclmdlAddDatasetBuffer(datasets[index], buffers[index]));
    ASSERT_ACL_OK(aclmdlExecuteAsync(id_, datasets[0], datasets[1], stream));
    for (int index : {0, 1}) {
      EXPECT_ACL_OK(aclDestroyDataBuffer(buffers[index]));
      EXPECT_ACL_OK(aclmdlDestroyDataset(datasets[index]));
    }
  }
  let_go.count_down();
  ASSERT_ACL_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(output.Read(0, 4), (Floats{0.5f, 0, 2, 0}));
  EXPECT_ACL_OK(aclrtDestroyStream(stream));
}

TEST_F(AclModelExecute, AModelIdDoesNotRunOnTwoStreamsAtOnce) {
  Load(WriteAddRelu());
  aclrtStream first = nullptr, second = nullptr;
  ASSERT_ACL_OK(aclrtCreateStream(&first));
  ASSERT_ACL_OK(aclrtCreateStream(&second));
  DeviceDataset input({16}), output({16});
  std::latch let_go(1);
  ASSERT_ACL_OK(aclrtLaunchHostFunc(first, Hold, &let_go));
  ASSERT_ACL_OK(aclmdlExecuteAsync(id_, input.get(), output.get(), first));
  ASSERT_ACL_OK(aclmdlExecuteAsync(id_, input.get(), output.get(), first));
  EXPECT_EQ(aclmdlExecuteAsync(id_, input.get(), output.get(), second), 107005);
  EXPECT_EQ(aclmdlExecute(id_, input.get(), output.get()), 107005);
  let_go.count_down();
  ASSERT_ACL_OK(aclrtSynchronizeStream(first));
  EXPECT_ACL_OK(aclmdlExecuteAsync(id_, input.get(), output.get(), second));
  ASSERT_ACL_OK(aclrtSynchronizeStream(second));
  EXPECT_ACL_OK(aclrtDestroyStream(first));
  EXPECT_ACL_OK(aclrtDestroyStream(second));
}

TEST_F(AclModelExecute, UnloadWaitsForTheRuns) {
  Load(WriteAddRelu());
  DeviceDataset input({16}), output({16});
  input.Write(0, {1, 1, 1, 1});
  for (int round = 0; round < 20; ++round) ASSERT_ACL_OK(aclmdlExecuteAsync(id_, input.get(), output.get(), nullptr));
  EXPECT_ACL_OK(aclmdlUnload(id_));
  id_ = 0;
  EXPECT_EQ(output.Read(0, 4), (Floats{1.5f, 0, 3, 1}));
  ASSERT_ACL_OK(aclrtSynchronizeStream(nullptr));
}

TEST_F(AclModelExecute, SynchronousRunsOfSeveralThreadsFollowEachOther) {
  Load(WriteAddRelu());
  aclrtContext context = nullptr;
  ASSERT_ACL_OK(aclrtGetCurrentContext(&context));
  const auto run = [&](float value) {
    ASSERT_ACL_OK(aclrtSetCurrentContext(context));
    DeviceDataset input({16}), output({16});
    for (int round = 0; round < 50; ++round) {
      input.Write(0, {value, value, value, value});
      ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
      ASSERT_EQ(output.Read(0, 1), (Floats{value + 0.5f}));
    }
  };
  std::thread other([&] { run(3); });
  run(5);
  other.join();
}

TEST_F(AclModelExecute, AnOutputWithoutMemoryIsGivenSome) {
  Load(WriteAddRelu());
  DeviceDataset input({16});
  input.Write(0, {1, 2, 3, 4});
  aclmdlDataset* output = aclmdlCreateDataset();
  aclDataBuffer* buffer = aclCreateDataBuffer(nullptr, 0);
  ASSERT_ACL_OK(aclmdlAddDatasetBuffer(output, buffer));
  ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output));
  ASSERT_EQ(aclGetDataBufferSizeV2(buffer), 16u);
  Floats values(4);
  ASSERT_ACL_OK(aclrtMemcpy(values.data(), 16, aclGetDataBufferAddr(buffer), 16, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(values, (Floats{1.5f, 1, 5, 4}));
  EXPECT_ACL_OK(aclrtFree(aclGetDataBufferAddr(buffer)));
  EXPECT_ACL_OK(aclDestroyDataBuffer(buffer));
  EXPECT_ACL_OK(aclmdlDestroyDataset(output));
}

TEST_F(AclModelExecute, WrongDatasetsAreToldApart) {
  Load(WriteAddRelu());
  DeviceDataset good({16}), small({15}), two({16, 16});
  EXPECT_EQ(aclmdlExecute(id_, small.get(), good.get()), 100017);
  EXPECT_NE(Sentence().find("\"x\") has 15 bytes, 16 are needed"), std::string::npos);
  EXPECT_EQ(aclmdlExecute(id_, two.get(), good.get()), 100017);
  EXPECT_EQ(aclmdlExecute(id_, good.get(), small.get()), 100018);
  EXPECT_EQ(aclmdlExecute(id_, good.get(), two.get()), 100018);
  EXPECT_EQ(aclmdlExecute(id_, nullptr, good.get()), 100000);
  EXPECT_EQ(aclmdlExecute(999999, good.get(), good.get()), 145003);
}

TEST_F(AclModelExecute, HostOrFreedMemoryIsRefused) {
  Load(WriteAddRelu());
  DeviceDataset output({16});
  Floats host(4);
  void* freed = nullptr;
  ASSERT_ACL_OK(aclrtMalloc(&freed, 16, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_ACL_OK(aclrtFree(freed));
  aclmdlDataset* input = aclmdlCreateDataset();
  aclDataBuffer* buffer = aclCreateDataBuffer(host.data(), 16);
  ASSERT_ACL_OK(aclmdlAddDatasetBuffer(input, buffer));
  EXPECT_EQ(aclmdlExecute(id_, input, output.get()), 107016);
  ASSERT_ACL_OK(aclUpdateDataBuffer(buffer, freed, 16));
  EXPECT_EQ(aclmdlExecute(id_, input, output.get()), 107000);
  ASSERT_ACL_OK(aclDestroyDataBuffer(buffer));
  EXPECT_EQ(aclmdlExecute(id_, input, output.get()), 100000);
  EXPECT_ACL_OK(aclmdlDestroyDataset(input));
}

TEST_F(AclModelExecute, TheBatchSelectsTheGear) {
  Load(WriteDynamicAddRelu());
  DeviceDataset input({4 * 16, 8}), output({4 * 16});
  input.Write(0, {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4});
  output.Write(0, Floats(16, -9));
  ASSERT_ACL_OK(aclmdlSetDynamicBatchSize(id_, input.get(), 1, 2));
  ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  EXPECT_EQ(output.Read(0, 16), (Floats{1.5f, 0, 3, 1, 2.5f, 1, 4, 2, -9, -9, -9, -9, -9, -9, -9, -9}));

  aclmdlDesc* description = aclmdlCreateDesc();
  aclmdlIODims dims;
  ASSERT_ACL_OK(aclmdlGetDesc(description, id_));
  ASSERT_ACL_OK(aclmdlGetCurOutputDims(description, 0, &dims));
  EXPECT_EQ(dims.dims[0], 2);
  EXPECT_ACL_OK(aclmdlDestroyDesc(description));
}

TEST_F(AclModelExecute, WithoutABatchTheLargestGearRuns) {
  Load(WriteDynamicAddRelu());
  DeviceDataset input({4 * 16, 8}), output({4 * 16});
  input.Write(0, Floats(16, 1));
  ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  EXPECT_EQ(output.Read(0, 16), (Floats{1.5f, 0, 3, 1, 1.5f, 0, 3, 1, 1.5f, 0, 3, 1, 1.5f, 0, 3, 1}));
  DeviceDataset one_image({16, 8});
  EXPECT_EQ(aclmdlExecute(id_, one_image.get(), output.get()), 100017);
  ASSERT_ACL_OK(aclmdlSetDynamicBatchSize(id_, one_image.get(), 1, 1));
  EXPECT_ACL_OK(aclmdlExecute(id_, one_image.get(), output.get()));
}

TEST_F(AclModelExecute, ABatchThatIsNoGearIs145013) {
  Load(WriteDynamicAddRelu());
  DeviceDataset input({4 * 16, 8}), no_gear({4 * 16}), short_gear({4 * 16, 4}), output({4 * 16});
  EXPECT_EQ(aclmdlSetDynamicBatchSize(id_, input.get(), 1, 3), 145013);
  EXPECT_EQ(aclmdlSetDynamicBatchSize(id_, input.get(), 1, 0), 145013);
  EXPECT_EQ(aclmdlSetDynamicBatchSize(id_, input.get(), 0, 2), 145011);
  EXPECT_EQ(aclmdlSetDynamicBatchSize(id_, no_gear.get(), 1, 2), 145011);
  EXPECT_EQ(aclmdlExecute(id_, short_gear.get(), output.get()), 145012);
  EXPECT_EQ(aclmdlSetDynamicBatchSize(id_, nullptr, 1, 2), 100000);
}

TEST_F(AclModelExecute, AfterARefusedBatchNothingRunsUntilAGearIsSet) {
  Load(WriteDynamicAddRelu());
  DeviceDataset input({4 * 16, 8}), output({4 * 16});
  for (const uint64_t refused : {0, 3, 5}) {
    EXPECT_EQ(aclmdlSetDynamicBatchSize(id_, input.get(), 1, refused), 145013);
    EXPECT_EQ(aclmdlExecute(id_, input.get(), output.get()), 145013);
    EXPECT_EQ(aclmdlExecuteAsync(id_, input.get(), output.get(), nullptr), 145013);
    ASSERT_ACL_OK(aclmdlSetDynamicBatchSize(id_, input.get(), 1, 2));
    EXPECT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  }
}

TEST_F(AclModelExecute, ImageSizesAndDimsAreOfModelsCompiledWithThem) {
  for (const std::string& model : {WriteAddRelu(), WriteDynamicAddRelu()}) {
    Load(model);
    DeviceDataset input({4 * 16, 8});
    aclmdlIODims dims = {};
    EXPECT_EQ(aclmdlSetDynamicHWSize(id_, input.get(), 1, 224, 224), 100019);
    EXPECT_NE(Sentence().find("--dynamic_image_size"), std::string::npos);
    EXPECT_EQ(aclmdlSetInputDynamicDims(id_, input.get(), 1, &dims), 100019);
    EXPECT_EQ(aclmdlSetInputDynamicDims(id_, input.get(), 1, nullptr), 100000);
    EXPECT_EQ(aclmdlSetDynamicHWSize(id_, nullptr, 1, 224, 224), 100000);
    EXPECT_EQ(aclmdlSetDynamicHWSize(999999, input.get(), 1, 224, 224), 145003);

    aclmdlDesc* description = aclmdlCreateDesc();
    aclmdlHW sizes = {7, {}};
    size_t gears = 7;
    EXPECT_EQ(aclmdlGetDynamicHW(description, -1, &sizes), 100000);  // empty
    ASSERT_ACL_OK(aclmdlGetDesc(description, id_));
    EXPECT_ACL_OK(aclmdlGetDynamicHW(description, -1, &sizes));
    EXPECT_EQ(sizes.hwCount, 0u);
    EXPECT_ACL_OK(aclmdlGetInputDynamicGearCount(description, -1, &gears));
    EXPECT_EQ(gears, 0u);
    EXPECT_EQ(aclmdlGetInputDynamicDims(description, -1, &dims, 1), 100019);
    EXPECT_ACL_OK(aclmdlDestroyDesc(description));
  }
}

TEST_F(AclModelExecute, TheImageSizeSelectsTheGear) {
  Load(WriteReluOfGears(true));
  aclmdlDesc* description = aclmdlCreateDesc();
  ASSERT_ACL_OK(aclmdlGetDesc(description, id_));
  const auto output_dims = [&] {
    aclmdlIODims dims = {};
    EXPECT_ACL_OK(aclmdlGetCurOutputDims(description, 0, &dims));
    return std::vector<int64_t>(dims.dims, dims.dims + dims.dimCount);
  };
  DeviceDataset input({16 * 4, 4, 16}), output({16 * 4});
  input.Write(0, {1, -2, 3, -4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  input.Write(1, {1});
  EXPECT_EQ(output_dims(), (std::vector<int64_t>{1, 1, 4, 4}));
  // To a smaller gear, to another one of the same size, and back to the largest.
  ASSERT_ACL_OK(aclmdlSetDynamicHWSize(id_, input.get(), 2, 1, 2));
  output.Write(0, Floats(16, -9));
  ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  EXPECT_EQ(output.Read(0, 3), (Floats{2, 0, -9}));
  EXPECT_EQ(output_dims(), (std::vector<int64_t>{1, 1, 1, 2}));
  ASSERT_ACL_OK(aclmdlSetDynamicHWSize(id_, input.get(), 2, 2, 1));
  ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  EXPECT_EQ(output_dims(), (std::vector<int64_t>{1, 1, 2, 1}));
  ASSERT_ACL_OK(aclmdlSetDynamicHWSize(id_, input.get(), 2, 4, 4));
  ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  EXPECT_EQ(output.Read(0, 16), (Floats{2, 0, 4, 0, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}));
  EXPECT_ACL_OK(aclmdlDestroyDesc(description));
}

TEST_F(AclModelExecute, AnImageSizeThatIsNoGearIs145013) {
  Load(WriteReluOfGears(true));
  DeviceDataset input({16 * 4, 4, 16}), no_choice({16 * 4, 4}), short_choice({16 * 4, 4, 8}), output({16 * 4});
  EXPECT_EQ(aclmdlSetDynamicHWSize(id_, input.get(), 2, 4, 2), 145013);
  EXPECT_NE(Sentence().find("4,2 is no gear"), std::string::npos);
  EXPECT_EQ(aclmdlExecute(id_, input.get(), output.get()), 145013);
  EXPECT_EQ(aclmdlSetDynamicHWSize(id_, input.get(), 2, uint64_t{1} << 63, 4), 145013);
  EXPECT_EQ(aclmdlSetDynamicHWSize(id_, input.get(), 0, 4, 4), 145011);
  EXPECT_EQ(aclmdlSetDynamicHWSize(id_, no_choice.get(), 2, 4, 4), 145011);
  EXPECT_EQ(aclmdlExecute(id_, short_choice.get(), output.get()), 145012);
  EXPECT_EQ(aclmdlSetDynamicBatchSize(id_, input.get(), 2, 1), 100019);
  ASSERT_ACL_OK(aclmdlSetDynamicHWSize(id_, input.get(), 2, 4, 4));
  EXPECT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  // The smaller picture's buffer is too small for the larger gear.
  DeviceDataset small({2 * 4, 4, 16});
  EXPECT_EQ(aclmdlExecute(id_, small.get(), output.get()), 100017);
  ASSERT_ACL_OK(aclmdlSetDynamicHWSize(id_, small.get(), 2, 1, 2));
  EXPECT_ACL_OK(aclmdlExecute(id_, small.get(), output.get()));
}

aclmdlIODims DimsOf(const std::vector<int64_t>& values) {
  aclmdlIODims dims = {};
  dims.dimCount = values.size();
  std::copy(values.begin(), values.end(), dims.dims);
  return dims;
}

TEST_F(AclModelExecute, TheDimsOfAllInputsSelectTheGear) {
  Load(WriteReluOfGears(false));
  DeviceDataset input({16 * 4, 4, 16}), output({16 * 4});
  input.Write(0, {1, -2, 3, -4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  input.Write(1, {-2});
  const aclmdlIODims small = DimsOf({1, 1, 1, 2, 1}), large = DimsOf({1, 1, 4, 4, 1});
  ASSERT_ACL_OK(aclmdlSetInputDynamicDims(id_, input.get(), 2, &small));
  output.Write(0, Floats(16, -9));
  ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  EXPECT_EQ(output.Read(0, 3), (Floats{0, 0, -9}));
  ASSERT_ACL_OK(aclmdlSetInputDynamicDims(id_, input.get(), 2, &large));
  ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  EXPECT_EQ(output.Read(0, 4), (Floats{0, 0, 1, 0}));
  EXPECT_EQ(output.Read(0, 16)[15], 14);
  // Each axis by itself is one of a gear, but not all together; then fewer dims, and another one that no gear changes.
  const aclmdlIODims mixed = DimsOf({1, 1, 4, 2, 1}), fewer = DimsOf({1, 1, 4, 4}), other = DimsOf({2, 1, 4, 4, 1});
  EXPECT_EQ(aclmdlSetInputDynamicDims(id_, input.get(), 2, &mixed), 145013);
  EXPECT_EQ(aclmdlExecute(id_, input.get(), output.get()), 145013);
  EXPECT_EQ(aclmdlSetInputDynamicDims(id_, input.get(), 2, &fewer), 145012);
  EXPECT_EQ(aclmdlSetInputDynamicDims(id_, input.get(), 2, &other), 145012);
  aclmdlIODims wild = large;
  wild.dimCount = size_t{1} << 40;
  EXPECT_EQ(aclmdlSetInputDynamicDims(id_, input.get(), 2, &wild), 145012);
  EXPECT_EQ(aclmdlSetInputDynamicDims(id_, input.get(), 1, &large), 145011);
  EXPECT_EQ(aclmdlSetDynamicHWSize(id_, input.get(), 2, 4, 4), 100019);
  ASSERT_ACL_OK(aclmdlSetInputDynamicDims(id_, input.get(), 2, &large));
  EXPECT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
}

TEST_F(AclModelExecute, SwitchingGearsTakesNoMemory) {
  Load(WriteReluOfGears(true));
  DeviceDataset input({16 * 4, 4, 16}), output({16 * 4});
  const auto run_all = [&] {
    for (const auto& [height, width] : {std::pair<uint64_t, uint64_t>{4, 4}, {1, 2}, {2, 1}}) {
      ASSERT_ACL_OK(aclmdlSetDynamicHWSize(id_, input.get(), 2, height, width));
      ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
    }
  };
  run_all();
  size_t free_before = 0, free_after = 0, total = 0;
  ASSERT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
  const uint64_t before = testing_support::AllocationCount();
  for (int round = 0; round < 20; ++round) run_all();
  if (testing_support::AllocationsAreCounted()) {
    EXPECT_EQ(testing_support::AllocationCount(), before);
  }
  ASSERT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
  EXPECT_EQ(free_before, free_after);
}

TEST_F(AclModelExecute, AFixedBatchCannotBeSet) {
  Load(WriteAddRelu());
  DeviceDataset input({16});
  EXPECT_EQ(aclmdlSetDynamicBatchSize(id_, input.get(), 0, 1), 100019);
}

TEST_F(AclModelExecute, AllocatesNothing) {
  if (!testing_support::AllocationsAreCounted()) GTEST_SKIP() << "the sanitizer brings its own malloc";
  Load(WriteDynamicAddRelu());
  DeviceDataset input({4 * 16, 8}), output({4 * 16});
  aclrtStream stream = nullptr;
  ASSERT_ACL_OK(aclrtCreateStream(&stream));
  const auto run_some = [&] {
    for (int round = 0; round < 20; ++round) {
      for (const uint64_t batch : {1, 2, 4}) {
        aclmdlSetDynamicBatchSize(id_, input.get(), 1, batch);
        EXPECT_ACL_OK(aclmdlExecuteAsync(id_, input.get(), output.get(), stream));
      }
    }
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
    EXPECT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  };
  // More runs at once than are measured below, however the threads are scheduled.
  std::latch let_go(1);
  ASSERT_ACL_OK(aclrtLaunchHostFunc(stream, Hold, &let_go));
  for (int round = 0; round < 100; ++round) ASSERT_ACL_OK(aclmdlExecuteAsync(id_, input.get(), output.get(), stream));
  let_go.count_down();
  run_some();

  uint64_t before = testing_support::AllocationCount();
  EXPECT_ACL_OK(aclDestroyDataBuffer(aclCreateDataBuffer(nullptr, 0)));
  EXPECT_GT(testing_support::AllocationCount(), before);  // the counter sees what the library does

  before = testing_support::AllocationCount();
  for (int round = 0; round < 5; ++round) run_some();
  EXPECT_EQ(testing_support::AllocationCount() - before, 0u);
  EXPECT_ACL_OK(aclrtDestroyStream(stream));
}

TEST_F(AclModelExecute, StaticAippTurnsThePictureIntoTheTensor) {
  Load(WriteAippModel());
  constexpr size_t kPictureBytes = 32 * 16 * 3 / 2;
  DeviceDataset input({kPictureBytes}), output({3 * 16 * 32 * sizeof(float)});
  std::vector<uint8_t> picture(kPictureBytes);
  for (size_t index = 0; index < picture.size(); ++index) picture[index] = static_cast<uint8_t>(index);
  ASSERT_ACL_OK(aclrtMemcpy(input.memory(0), kPictureBytes, picture.data(), kPictureBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  ASSERT_ACL_OK(aclmdlExecute(id_, input.get(), output.get()));
  const Floats values = output.Read(0, 3 * 16 * 32);
  // Pixel (x 5, y 3): luma 3·32 + 5 = 101; its chroma pair is (2, 1) at 512 + 32 + 4 = 548 and 549, that is 36 and 37.
  const size_t pixel = 3 * 32 + 5;
  EXPECT_EQ(values[pixel], 50.5f);
  EXPECT_EQ(values[512 + pixel], 18.0f);
  EXPECT_EQ(values[1024 + pixel], 17.0f);
}

}  // namespace
}  // namespace npustream::acl_test
