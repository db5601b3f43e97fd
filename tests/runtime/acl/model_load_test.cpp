#include <algorithm>
#include <thread>

#include "tests/runtime/acl/acl_test.h"
#include "tests/runtime/acl/test_models.h"

namespace npustream::acl_test {
namespace {

class AclModelLoad : public AclTest {
 protected:
  // Loading the file gives `code` and a sentence that names the file and has `reason` in it.
  static void ExpectRefused(const std::string& path, aclError code, const std::string& reason) {
    uint32_t id = 0;
    EXPECT_EQ(aclmdlLoadFromFile(path.c_str(), &id), code);
    const std::string sentence = Sentence();
    EXPECT_NE(sentence.find(path), std::string::npos) << sentence;
    EXPECT_NE(sentence.find(reason), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    size_t work = 0, weights = 0;
    EXPECT_EQ(aclmdlQuerySize(path.c_str(), &work, &weights), code);
  }
  static size_t FreeBytes() {
    size_t free = 0, total = 0;
    EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    return free;
  }
};

TEST_F(AclModelLoad, AMissingFileIs145002) { ExpectRefused("no/such/model.om", 145002, "No such file"); }

TEST_F(AclModelLoad, AnEmptyFileIs145006) { ExpectRefused(WriteBytes("empty.om", {}), 145006, "empty"); }

TEST_F(AclModelLoad, AFileOfAnotherKindIs145000AndNamesTheKind) {
  const std::string onnx("\x08\x07\x12\x07pytorch\x1a\x03", 14);
  const std::string gguf("GGUF\x03\x00\x00\x00\x01\x02\x03\x04", 12);
  const std::string text("this is no model at all\n");
  ExpectRefused(WriteBytes("a.om", {onnx.begin(), onnx.end()}), 145000, "ONNX");
  ExpectRefused(WriteBytes("b.om", {gguf.begin(), gguf.end()}), 145000, "GGUF");
  ExpectRefused(WriteBytes("c.om", {text.begin(), text.end()}), 145000, "text");
}

TEST_F(AclModelLoad, ATruncatedFileIs145006) {
  const std::vector<char> whole = ReadBytes(WriteAddRelu());
  for (const size_t size : {size_t{4}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    ExpectRefused(WriteBytes("cut.om", {whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)}), 145006,
                  "truncated");
  }
}

TEST_F(AclModelLoad, AnAlteredFileIs545001) {
  std::vector<char> bytes = ReadBytes(WriteAddRelu());
  bytes[bytes.size() - 70] ^= 1;
  ExpectRefused(WriteBytes("altered.om", bytes), 545001, "altered");
}

TEST_F(AclModelLoad, AModelForAnotherChipIs507008WithTheRemedy) {
  const std::string path = WriteAddRelu("Ascend910B3");
  uint32_t id = 0;
  EXPECT_EQ(aclmdlLoadFromFile(path.c_str(), &id), 507008);
  const std::string sentence = Sentence();
  EXPECT_NE(sentence.find(path), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("--soc_version=Ascend310P3"), std::string::npos) << sentence;
}

TEST_F(AclModelLoad, FromMemoryIsToldTheSame) {
  std::vector<char> bytes = ReadBytes(WriteAddRelu());
  uint32_t id = 0;
  EXPECT_EQ(aclmdlLoadFromMem(nullptr, 10, &id), 100000);
  EXPECT_EQ(aclmdlLoadFromMem(bytes.data(), 0, &id), 145006);
  EXPECT_EQ(aclmdlLoadFromMem(bytes.data(), bytes.size() / 2, &id), 145006);
  EXPECT_EQ(aclmdlLoadFromMem("no model of any kind", 20, &id), 145000);
  EXPECT_EQ(aclmdlLoadFromMem(reinterpret_cast<void*>(0x1000), 20, &id), 107000);
  ASSERT_ACL_OK(aclmdlLoadFromMem(bytes.data(), bytes.size(), &id));
  bytes.clear();
  bytes.shrink_to_fit();  // the model keeps what it needs
  DeviceDataset input({16}), output({16});
  input.Write(0, {1, 0.25f, -3, 7});
  EXPECT_ACL_OK(aclmdlExecute(id, input.get(), output.get()));
  EXPECT_EQ(output.Read(0, 4), (std::vector<float>{1.5f, 0, 0, 7}));
  EXPECT_ACL_OK(aclmdlUnload(id));
}

TEST_F(AclModelLoad, UnloadGivesEverythingBack) {
  const std::string path = WriteAddRelu();
  const size_t before = FreeBytes();
  uint32_t id = 0;
  ASSERT_ACL_OK(aclmdlLoadFromFile(path.c_str(), &id));
  EXPECT_ACL_OK(aclmdlUnload(id));
  EXPECT_EQ(FreeBytes(), before);
  EXPECT_EQ(aclmdlUnload(id), 145003);
  uint32_t next = 0;
  ASSERT_ACL_OK(aclmdlLoadFromFile(path.c_str(), &next));
  EXPECT_NE(next, id);
  EXPECT_ACL_OK(aclmdlUnload(next));
}

TEST_F(AclModelLoad, TheMemoryMayBeTheCallers) {
  const std::string path = WriteAddRelu();
  size_t work_bytes = 0, weight_bytes = 0;
  ASSERT_ACL_OK(aclmdlQuerySize(path.c_str(), &work_bytes, &weight_bytes));
  void *work = nullptr, *weights = nullptr;
  ASSERT_ACL_OK(aclrtMalloc(&work, std::max<size_t>(work_bytes, 1), ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_ACL_OK(aclrtMalloc(&weights, std::max<size_t>(weight_bytes, 1), ACL_MEM_MALLOC_HUGE_FIRST));
  const size_t before = FreeBytes();
  uint32_t id = 0;
  ASSERT_ACL_OK(aclmdlLoadFromFileWithMem(path.c_str(), &id, work, work_bytes, weights, weight_bytes));
  EXPECT_EQ(FreeBytes(), before);
  DeviceDataset input({16}), output({16});
  input.Write(0, {0, 2, 0, 0});
  EXPECT_ACL_OK(aclmdlExecute(id, input.get(), output.get()));
  EXPECT_EQ(output.Read(0, 4), (std::vector<float>{0.5f, 1, 2, 0}));
  EXPECT_ACL_OK(aclmdlUnload(id));
  if (weight_bytes > 0) {
    EXPECT_EQ(aclmdlLoadFromFileWithMem(path.c_str(), &id, work, work_bytes, weights, weight_bytes - 1), 145000);
    std::vector<char> host(weight_bytes);
    EXPECT_EQ(aclmdlLoadFromFileWithMem(path.c_str(), &id, work, work_bytes, host.data(), weight_bytes), 107016);
  }
  EXPECT_ACL_OK(aclrtFree(work));
  EXPECT_ACL_OK(aclrtFree(weights));
}

TEST_F(AclModelLoad, NeedsAContext) {
  const std::string path = WriteAddRelu();
  std::thread([&] {
    uint32_t id = 0;
    EXPECT_EQ(aclmdlLoadFromFile(path.c_str(), &id), 107002);
    EXPECT_EQ(aclmdlUnload(1), 107002);
  }).join();
}

TEST_F(AclModelLoad, AModelBelongsToItsContextAndEndsWithIt) {
  const std::string path = WriteAddRelu();
  aclrtContext standard = nullptr, other = nullptr;
  uint32_t id = 0;
  ASSERT_ACL_OK(aclrtGetCurrentContext(&standard));
  ASSERT_ACL_OK(aclrtCreateContext(&other, 0));
  const size_t before = FreeBytes();
  ASSERT_ACL_OK(aclmdlLoadFromFile(path.c_str(), &id));
  ASSERT_ACL_OK(aclrtSetCurrentContext(standard));
  EXPECT_EQ(aclmdlUnload(id), 107004);
  DeviceDataset input({16}), output({16});
  EXPECT_EQ(aclmdlExecute(id, input.get(), output.get()), 107004);
  EXPECT_ACL_OK(aclrtDestroyContext(other));
  EXPECT_EQ(aclmdlUnload(id), 145003);
  EXPECT_EQ(FreeBytes(), before - 2 * 64);  // the two datasets
}

}  // namespace
}  // namespace npustream::acl_test
