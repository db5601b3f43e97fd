// Any bytes as each of the small text files that users write: AIPP, calibration and its simplified form, fusion switches,
// model description, labels. What is wrong is a sentence that a terminal can show.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "apps/atc/fusion_switch.h"
#include "base/log.h"
#include "base/printable.h"
#include "npu_sim/compiler/aipp/aipp_file.h"
#include "npu_sim/compiler/quantize/calibration_conf.h"
#include "runtime/serving/model_description.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/random.h"

namespace npustream::fuzz {
namespace {

// A file in memory, for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    Require(fd_ >= 0 && write(fd_, content.data(), content.size()) == static_cast<ssize_t>(content.size()), "memory");
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return fmt::format("/proc/self/fd/{}", fd_); }

 private:
  int fd_;
};

void Expect(const Status& status) {
  if (status.ok()) return;
  Require(!status.message().empty() && Printable(status.message()) == status.message(), "a sentence can be shown",
          status.message().c_str());
  Require(status.code() != StatusCode::kInternal, "a file's fault is not the program's", status.message().c_str());
}

void Read(std::string_view text) {
  Expect(compiler::ParseAipp(text, "fuzz").status());
  compiler::CalibrationConf calibration;
  Expect(compiler::ParseCalibrationConf(text, "fuzz", calibration));
  Expect(compiler::ParseSimplifiedConf(text, "fuzz", calibration));
  const MemoryFile file(text);
  static_cast<void>(atc::ReadFusionSwitches(file.path()));
  Expect(serving::LoadModelDescription(file.path()).status());
  Expect(serving::LoadLabels(file.path()).status());
}

// Words, numbers and signs that mean something in one of the files.
constexpr std::string_view kTokens[] = {
    "{", "}", "[", "]", ":", ",", "\"", "'", "#", "\n", "  ", "- ", "&a ", "*a", "<<: ", "|", ">", "!!float ", "?", "---\n", "\t",
    "aipp_op", "aipp_mode", "static", "dynamic", "related_input_rank", "input_format", "YUV420SP_U8", "src_image_size_w", "crop",
    "matrix_r0c0", "mean_chn_0", "var_reci_chn_0", "true", "false", "on", "off", "ALL", "calibration", "input_data_dir",
    "input_shape", "config_file", "preprocess_info", "skip_layers", "batch_num", "name", "file", "labels", "decoder", "type", "mean",
    "std", "input", "threshold", "sha256", "-1", "0", "1e999", "nan", ".inf", "999999999999999999999", "-9223372036854775809",
    "0x7fffffff", "1.5", "\xff\xfe", "\xef\xbb\xbf", "\x1b[31m", std::string_view("\0", 1), "\r\n", "\xc2\x85", "\xed\xa0\x80"};

void Mutate(std::string& text, Random& random) {
  const auto place = [&] { return random.Below(text.size() + 1); };
  switch (random.Below(5)) {
    case 0: text.insert(place(), kTokens[random.Below(std::size(kTokens))]); return;
    case 1: text.erase(place(), random.Below(16)); return;
    case 2: {
      const size_t from = place();
      text.insert(place(), text.substr(from, random.Below(64)));
      return;
    }
    case 3: {
      // A word or number becomes another.
      const size_t from = text.find_first_of(" :\n", place());
      if (from == std::string::npos) return;
      const size_t end = std::min(text.find_first_of(" :\n", from + 1), text.size());
      text.replace(from + 1, end - from - 1, kTokens[random.Below(std::size(kTokens))]);
      return;
    }
    default:
      if (!text.empty()) text[random.Below(text.size())] = static_cast<char>(random.Bits());
  }
}

}  // namespace
}  // namespace npustream::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  npustream::SetLogLevel(npustream::LogLevel::kOff);
  npustream::fuzz::Read({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  npustream::fuzz::Random random(seed);
  if (random.OneIn(2)) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (size_t i = 1 + random.Below(3); i > 0; --i) npustream::fuzz::Mutate(text, random);
  if (text.size() > max_size) return size;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
