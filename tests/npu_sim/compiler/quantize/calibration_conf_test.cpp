#include "npu_sim/compiler/quantize/calibration_conf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/support/temporary_folder.h"

namespace npustream::compiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CalibrationConf, IsReadAsTheVendorWritesIt) {
  CalibrationConf conf;
  const Status status = ParseCalibrationConf(
      "enable_first_layer_quantization: true\n"
      "calibration:\n{\n"
      "    input_data_dir: ./a.bin,b.bin\n"
      "    input_shape: in:16,3,4,4;in:1:16,2\n"
      "    config_file: simple.cfg  # see below\n"
      "    infer_soc: Ascend310P3\n    infer_aicore_num: 10\n    infer_device_id: 0\n"
      "    infer_ip: 1.2.3.4\n    infer_port: 8000\n    log: info\n}\n",
      "c.cfg", conf);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(conf.calibrates);
  EXPECT_THAT(conf.data_files, ElementsAre("./a.bin", "b.bin"));
  EXPECT_EQ(conf.input_shapes.at("in"), (om::Dims{16, 3, 4, 4}));
  EXPECT_EQ(conf.input_shapes.at("in:1"), (om::Dims{16, 2}));
  EXPECT_EQ(conf.config_file, "simple.cfg");
  EXPECT_EQ(conf.options.method, RangeMethod::kLeastSquares);
}

TEST(CalibrationConf, HasFieldsOfOurOwn) {
  CalibrationConf conf;
  ASSERT_TRUE(ParseCalibrationConf("calibration {\nmethod: kl\npercentile: 99.9\nerror_limit: 0.05\nreport_file: \"r.json\"\n}",
                                   "c.cfg", conf)
                  .ok());
  EXPECT_EQ(conf.options.method, RangeMethod::kEntropy);
  EXPECT_EQ(conf.options.percentile, 99.9);
  EXPECT_EQ(conf.options.error_limit, 0.05);
  EXPECT_EQ(conf.report_file, "r.json");
}

TEST(CalibrationConf, TakesTheSimplifiedConfiguration) {
  CalibrationConf conf;
  const Status status = ParseSimplifiedConf(
      "batch_num: 2\nactivation_offset: true\njoint_quant: false\nskip_layers:\"conv1\"\nskip_layers: \"conv2\"\n"
      "skip_layer_types: \"Gemm\"\n"
      "common_config {\n  arq_quantize {\n    channel_wise: true\n  }\n  ifmr_quantize : {\n"
      "    max_percentile: 0.9995\n    search_step: 0.01\n  }\n}\n",
      "s.cfg", conf);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(conf.batches, 2);
  EXPECT_THAT(conf.options.real_nodes, ElementsAre("OpType::Gemm", "conv1", "conv2"));
  EXPECT_DOUBLE_EQ(conf.options.percentile, 99.95);
}

TEST(CalibrationConf, NamesFileAndLineOfAMistake) {
  const std::pair<const char*, const char*> cases[] = {
      {"nonsense: 1", "c.cfg:1: there is no field 'nonsense'"},
      {"calibration: {\ninput_data: x\n}", "c.cfg:2: there is no field 'calibration.input_data'"},
      {"calibration: {\ninput_shape: x:1,a\n}", "c.cfg:2: calibration.input_shape is 'x:1,a'"},
      {"calibration: {\npercentile: nan\n}", "c.cfg:2: calibration.percentile is 'nan'"},
      {"calibration: {\nmethod: best\n}", "c.cfg:2: calibration.method is 'best'"},
      {"calibration: {\n", "c.cfg:2: a block is not closed"},
      {"}", "c.cfg:1: a block is closed that was not opened"},
      {"calibration: yes", "c.cfg:1: calibration is 'yes', not a block"},
      {"enable_first_layer_quantization: 1", "c.cfg:1: enable_first_layer_quantization is '1', not true or false"},
      {"{", "c.cfg:1: '' is not of the form name: value"},
  };
  for (const auto& [text, expected] : cases) {
    CalibrationConf conf;
    const Status status = ParseCalibrationConf(text, "c.cfg", conf);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), HasSubstr(expected));
  }
}

TEST(CalibrationData, OfAFolderIsItsFilesInTheOrderOfTheirNames) {
  const testing_support::TemporaryFolder folder;
  CalibrationConf conf;
  conf.data_files = {folder.path()};
  EXPECT_THAT(ReadCalibrationData(conf).status().message(), HasSubstr("has no file of raw values"));
  for (const char* name : {"b.bin", "a.bin", "c.txt"})
    ASSERT_TRUE(WriteFileAtomically(folder.path() / name, std::string_view(name, 1)).ok());
  const auto data = ReadCalibrationData(conf);
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_THAT(data->inputs, ElementsAre(ElementsAre(std::byte{'a'}, std::byte{'b'})));
}

}  // namespace
}  // namespace npustream::compiler
