#include "apps/atc/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "npu_sim/om/om_reader.h"
#include "tests/support/temporary_folder.h"

namespace npustream::atc {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

struct Finished {
  int exit_code = -1;
  std::string out, err;
};

Finished RunAtc(const std::vector<std::string>& arguments) {
  Finished finished;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  finished.exit_code = Run(arguments);
  finished.out = testing::internal::GetCapturedStdout();
  finished.err = testing::internal::GetCapturedStderr();
  return finished;
}

void AddValue(onnx::ValueInfoProto& value, const std::string& name, const std::vector<int64_t>& dims) {
  value.set_name(name);
  auto* type = value.mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t dim : dims) {
    auto* proto = type->mutable_shape()->add_dim();
    if (dim >= 0) proto->set_dim_value(dim);
    if (dim < 0) proto->set_dim_param("batch");
  }
}

// images [batch,3,8,8] → Relu → Sigmoid → scores
onnx::ModelProto SmallModel(int64_t batch, const char* second_op = "Sigmoid") {
  onnx::ModelProto model;
  model.set_ir_version(7);
  model.add_opset_import()->set_version(13);
  auto* graph = model.mutable_graph();
  AddValue(*graph->add_input(), "images", {batch, 3, 8, 8});
  AddValue(*graph->add_output(), "scores", {batch, 3, 8, 8});
  const char* ops[] = {"Relu", second_op};
  const char* tensors[] = {"images", "middle", "scores"};
  for (int i = 0; i < 2; ++i) {
    auto* node = graph->add_node();
    node->set_op_type(ops[i]);
    node->set_name(std::string("node") + std::to_string(i));
    node->add_input(tensors[i]);
    node->add_output(tensors[i + 1]);
  }
  return model;
}

class AtcTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& content) {
    const fs::path path = folder_.path() / name;
    EXPECT_TRUE(WriteFileAtomically(path, std::string_view(content)).ok());
    return path.string();
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }

  // A conversion of `model` to out.om, with more flags.
  Finished Convert(const std::string& model, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"--model=" + model, "--framework=5", "--output=" + Path("out"),
                                          "--soc_version=Ascend310P3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunAtc(arguments);
  }
  void ExpectFailure(const Finished& finished, const std::string& code, const std::string& message) {
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_THAT(finished.out,
                HasSubstr("ATC run failed, Please check the detail log, Try 'atc --help' for more information\n" +
                          code + ": "));
    EXPECT_THAT(finished.out, HasSubstr(message));
    EXPECT_FALSE(fs::exists(Path("out.om")));
  }

  const testing_support::TemporaryFolder folder_;
  const std::string model_ = Write("model.onnx", SmallModel(1).SerializeAsString());
  const std::string open_model_ = Write("open.onnx", SmallModel(-1).SerializeAsString());
};

TEST_F(AtcTest, AConversionSaysWhatTheVendorsToolSays) {
  const Finished finished = Convert(model_);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.out,
            "ATC start working now, please wait for a moment.\n...\nATC run success, welcome to the next use.\n");
  EXPECT_EQ(finished.err, "");
  const auto om = om::OmFile::Open(Path("out.om"));
  ASSERT_TRUE(om.ok()) << om.status().message();
  EXPECT_EQ((*om)->info().soc, "Ascend310P3");
  EXPECT_EQ((*om)->info().inputs[0].name, "images");
  EXPECT_EQ((*om)->info().inputs[0].dims, (om::Dims{1, 3, 8, 8}));
  EXPECT_THAT((*om)->info().command_line, StartsWith("atc --model="));
}

TEST_F(AtcTest, HelpListsTheFlags) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"}, {"-h"}}) {
    const Finished finished = RunAtc(arguments);
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_THAT(finished.out, HasSubstr("--soc_version"));
  }
}

TEST_F(AtcTest, AnUnknownFlagIsNamedOnStderrAndOnlyThere) {
  const Finished finished = Convert(model_, {"--input_shapes=images:1,3,8,8"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, StartsWith("E10003: unknown parameter '--input_shapes'"));
  EXPECT_EQ(finished.out,
            "ATC run failed, Please check the detail log, Try 'atc --help' for more information\n");
}

TEST_F(AtcTest, WeightsArePackedForTheCpusThatAreNamed) {
  const auto packed = [&](const std::string& value) {
    EXPECT_EQ(Convert(model_, {"--packed_weights=" + value}).exit_code, 0) << value;
    return RunAtc({"--mode=6", "--om=" + Path("out.om")}).out;
  };
  EXPECT_THAT(packed("amx;avx2"), HasSubstr("the file has avx2, amx\n"));
  EXPECT_THAT(packed("all"), HasSubstr("packed weights: those of the file; the file has baseline, avx2, avx512, avx512_vnni, amx\n"));
  EXPECT_THAT(packed("host"), HasSubstr("packed weights: those of the file; the file has "));
  EXPECT_THAT(packed("none"), HasSubstr("packed weights: made while loading, for this CPU; the file has none\n"));
  fs::remove(Path("out.om"));
  for (const char* value : {"sse41", "avx2,amx", "avx2;", "none;avx2"})
    ExpectFailure(Convert(model_, {std::string("--packed_weights=") + value}), "E10001", "is none of: host all none");
}

TEST_F(AtcTest, WithoutParametersNothingIsDone) {
  ExpectFailure(RunAtc({}), "E10007", "[--output]");
  EXPECT_EQ(RunAtc({"--help"}).exit_code, 0);
}

TEST_F(AtcTest, AnOutputNeedsAName) {
  fs::create_directory(Path("folder.om"));
  for (const std::string& output : {Path(""), Path("") + "/", Path(".om"), Path(".."), Path("."), Path("folder.om"),
                                    Path("folder"), Path("folder.om/")}) {
    ExpectFailure(Convert(model_, {"--output=" + output}), "E10001", "it names a folder, not a file");
  }
  EXPECT_TRUE(fs::is_empty(Path("folder.om")));
}

TEST_F(AtcTest, NeitherListMayHaveAnEmptyPart) {
  ExpectFailure(Convert(model_, {"--input_shape=images:1,3,8,8,"}), "E10002", "a dimension is missing");
  ExpectFailure(Convert(model_, {"--out_nodes=node0:0;"}), "E10016", "no such node");
  ExpectFailure(Convert(model_, {"--output_type=FP16;"}), "E10001", "FP32 FP16 UINT8 INT8");
}

TEST_F(AtcTest, GearsNeedAnOpenBatchOrABatchOfOne) {
  for (const std::string& model : {model_, open_model_}) {
    const Finished finished = Convert(model, {"--input_shape=images:-1,3,8,8", "--dynamic_batch_size", "1,2,4,8"});
    ASSERT_EQ(finished.exit_code, 0) << finished.out;
    const auto om = om::OmFile::Open(Path("out.om"));
    ASSERT_TRUE(om.ok());
    EXPECT_EQ((*om)->info().gears, (std::vector<int64_t>{1, 2, 4, 8}));
    EXPECT_EQ((*om)->info().inputs[0].dims, (om::Dims{-1, 3, 8, 8}));
    EXPECT_TRUE((*om)->plan_is_per_image(0));
    fs::remove(Path("out.om"));
  }
  ExpectFailure(Convert(open_model_), "E10001", "input 'images' has the open shape batch,3,8,8");
}

TEST_F(AtcTest, RequiredFlagsAreNamed) {
  ExpectFailure(RunAtc({"--framework=5"}), "E10007", "[--output]");
  ExpectFailure(RunAtc({"--framework=5", "--output=" + Path("out")}), "E10007", "[--model]");
  ExpectFailure(RunAtc({"--model=" + model_, "--output=" + Path("out")}), "E10007", "[--framework]");
  ExpectFailure(RunAtc({"--model=" + model_, "--framework=5", "--output=" + Path("out")}), "E10007", "[--soc_version]");
  ExpectFailure(RunAtc({"--mode=1", "--model=" + model_, "--framework=5"}), "E10007", "[--json]");
  ExpectFailure(RunAtc({"--mode=6"}), "E10007", "[--om]");
}

TEST_F(AtcTest, WrongValuesHaveTheirCodes) {
  ExpectFailure(Convert(model_, {"--framework=3"}), "E10001", "only 5 (ONNX)");
  ExpectFailure(Convert(model_, {"--soc_version=Ascend999"}), "E10001", "Ascend310P3");
  ExpectFailure(Convert(model_, {"--input_format=NHWC"}), "E10001", "NCHW or ND");
  ExpectFailure(Convert(model_, {"--input_shape=image:1,3,8,8"}), "E10016", "the model's inputs are: images");
  ExpectFailure(Convert(model_, {"--precision_mode=force_fp32", "--precision_mode_v2=fp16"}), "E10047", "exclude");
  ExpectFailure(Convert(model_, {"--out_nodes=nothing:0"}), "E10016", "no such node");
  ExpectFailure(Convert(model_, {"--output_type=FP64"}), "E10001", "FP32 FP16 UINT8 INT8");
  ExpectFailure(Convert(model_, {"--mode=5"}), "E10001", "does not support the mode");
}

TEST_F(AtcTest, APrecisionIsTakenAndBfloat16WithAWarningOnly) {
  for (const char* mode : {"--precision_mode=force_fp16", "--precision_mode=must_keep_origin_dtype",
                           "--precision_mode_v2=cube_fp16in_fp32out", "--precision_mode_v2=mixed_float16"}) {
    const Finished finished = Convert(model_, {mode});
    EXPECT_EQ(finished.exit_code, 0) << finished.out;
    EXPECT_EQ(finished.err, "");
  }
  const Finished finished = Convert(model_, {"--precision_mode=allow_fp32_to_bf16"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("the model computes in FP32"));
}

TEST_F(AtcTest, OperatorsKeepTheirPrecisionByNameAndByType) {
  const auto rounds = [&](const std::string& list) {
    const Finished finished = Convert(model_, {"--precision_mode=force_fp16", "--keep_dtype=" + Write("keep", list)});
    EXPECT_EQ(finished.exit_code, 0) << finished.out;
    const auto om = om::OmFile::Open(Path("out.om"));
    EXPECT_TRUE(om.ok());
    const om::Graph graph = (*om)->LoadGraph(0).value();
    return std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const om::Node& n) { return n.op == "RoundTo"; });
  };
  // Relu's operand and Sigmoid's result; Relu keeps halves what they are.
  EXPECT_EQ(rounds(""), 2);
  EXPECT_EQ(rounds("node1\n"), 1);
  EXPECT_EQ(rounds("OpType::Relu\r\n\nOpType::Sigmoid\n"), 0);
}

TEST_F(AtcTest, ListsForPrecisionAreChecked) {
  const std::string fp16 = "--precision_mode_v2=fp16", mixed = "--precision_mode_v2=mixed_float16";
  ExpectFailure(Convert(model_, {fp16, "--keep_dtype=" + Path("absent")}), "E13001", "absent");
  ExpectFailure(Convert(model_, {fp16, "--keep_dtype=" + Write("keep", "node0\nnode7\n")}), "E10001",
                "line 2: the model has no operator 'node7'");
  const auto modify = [&](const std::string& json) { return "--modify_mixlist=" + Write("mix.json", json); };
  ExpectFailure(Convert(model_, {fp16, modify("{}")}), "E10001", "only mixed precision");
  ExpectFailure(Convert(model_, {mixed, modify("[]")}), "E10001", "no JSON object");
  ExpectFailure(Convert(model_, {mixed, modify(R"({"black-list": []})")}), "E10001", "black-list is no object");
  ExpectFailure(Convert(model_, {mixed, modify(R"({"black-list": {"to-add": [1]}})")}), "E10001", "no list of names");
  ExpectFailure(
      Convert(model_, {mixed, modify(R"({"black-list": {"to-add": ["Relu"]}, "white-list": {"to-add": ["Relu"]}})")}),
      "E10001", "Relu is put on the black and on the white list");
  ExpectFailure(Convert(model_, {"--precision_mode_v2=mixed_hif8"}), "E10001", "no SoC");
  EXPECT_EQ(Convert(model_, {mixed, modify(R"({"black-list": {"to-add": ["Sigmoid"]}})")}).exit_code, 0);
}

TEST_F(AtcTest, BadModelFilesAreRefusedWithAReason) {
  ExpectFailure(Convert(Path("absent.onnx")), "E13001", "absent.onnx");
  ExpectFailure(Convert(Write("empty.onnx", "")), "E13005", "empty.onnx: not an ONNX model: the file is empty");
  ExpectFailure(Convert(Write("text.onnx", "hello, this is a text file\n")), "E13005", "not an ONNX model");
  const std::string whole = SmallModel(1).SerializeAsString();
  ExpectFailure(Convert(Write("half.onnx", whole.substr(0, whole.size() / 2))), "E13005", "not an ONNX model");
  onnx::ModelProto without_input = SmallModel(1);
  without_input.mutable_graph()->clear_input();
  ExpectFailure(Convert(Write("input.onnx", without_input.SerializeAsString())), "E16001", "no input");
}

TEST_F(AtcTest, AnElementTypeThatIsNotSupportedIsNamed) {
  onnx::ModelProto model = SmallModel(1);
  auto* type = model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::STRING);
  ExpectFailure(Convert(Write("string.onnx", model.SerializeAsString())), "E16002",
                "string.onnx: 'images' has element type STRING, which is not supported");
  type->set_elem_type(99);
  ExpectFailure(Convert(Write("99.onnx", model.SerializeAsString())), "E16002", "has element type 99, which");
}

TEST_F(AtcTest, EveryUnsupportedNodeIsNamedAtOnce) {
  onnx::ModelProto model = SmallModel(1, "Frobnicate");
  model.mutable_graph()->mutable_node(0)->set_op_type("Defenestrate");
  const Finished finished = Convert(Write("odd.onnx", model.SerializeAsString()));
  ExpectFailure(finished, "E16002", "'node0' (Defenestrate), 'node1' (Frobnicate)");
}

TEST_F(AtcTest, AFailureLeavesAnOlderFileAlone) {
  ASSERT_EQ(Convert(model_).exit_code, 0);
  const auto before = ReadTextFile(Path("out.om"));
  EXPECT_EQ(Convert(Write("bad.onnx", "no model")).exit_code, 1);
  EXPECT_EQ(*ReadTextFile(Path("out.om")), *before);
}

TEST_F(AtcTest, AnOutputThatCannotBeWrittenIsAnError) {
  const Finished finished =
      RunAtc({"--model=" + model_, "--framework=5", "--output=" + model_ + "/out", "--soc_version=Ascend310P3"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("E13004: "));
}

TEST_F(AtcTest, AippMakesTheInputAPicture) {
  const std::string config = Write("aipp.cfg",
                                   "aipp_op {\n aipp_mode: static\n input_format: YUV420SP_U8\n src_image_size_w: 8\n"
                                   " src_image_size_h: 8\n csc_switch: true\n}\n");
  const Finished finished = Convert(model_, {"--insert_op_conf=" + config});
  ASSERT_EQ(finished.exit_code, 0) << finished.out;
  const auto om = om::OmFile::Open(Path("out.om"));
  ASSERT_TRUE(om.ok());
  EXPECT_EQ((*om)->info().inputs[0].type, om::DataType::kUInt8);
  EXPECT_EQ((*om)->info().inputs[0].dims, (om::Dims{1, 12, 8, 1}));
  EXPECT_EQ((*om)->info().inputs[0].format, om::Format::kNhwc);
  ASSERT_EQ((*om)->info().aipp.size(), 1u);
  EXPECT_TRUE((*om)->info().aipp[0].csc_switch);
}

TEST_F(AtcTest, AippErrorsHaveOneCode) {
  ExpectFailure(Convert(model_, {"--insert_op_conf=" + Write("a.cfg", "aipp_op { aipp_mode: static }")}), "E10052",
                "a.cfg:1: input_format is required");
  ExpectFailure(Convert(model_, {"--insert_op_conf=" + Write("b.cfg", "aipp_op { aipp_mode: dynamic }")}), "E10052",
                "dynamic AIPP is not supported yet");
  ExpectFailure(Convert(model_, {"--insert_op_conf=" + Path("absent.cfg")}), "E13001", "absent.cfg");
}

TEST_F(AtcTest, BytesThatAreNoTextAreShownAsNumbersAndNotAllOfThem) {
  const std::string bytes = "\x1b[2J\xff" + std::string(5000, '\xfe');
  const Finished finished = Convert(model_, {"--insert_op_conf=" + Write("a.cfg", bytes)});
  ExpectFailure(finished, "E10052", "a.cfg:1: '\\x1b[2J\\xff\\xfe");
  EXPECT_LT(finished.out.size(), 500u);
}

TEST_F(AtcTest, OutputsCanBeChosenByNodeOrTensor) {
  for (const char* node : {"--out_nodes=node0:0", "--out_nodes=middle"}) {
    ASSERT_EQ(Convert(model_, {node, "--output_type=FP16"}).exit_code, 0);
    const auto om = om::OmFile::Open(Path("out.om"));
    ASSERT_TRUE(om.ok());
    EXPECT_EQ((*om)->info().outputs[0].name, "middle");
    EXPECT_EQ((*om)->info().outputs[0].type, om::DataType::kFloat16);
  }
}

TEST_F(AtcTest, SwitchedOffPassesAreReadFromBothForms) {
  EXPECT_EQ(
      Convert(model_, {"--fusion_switch_file=" + Write("a.cfg", "FuseSilu:off\nRequantFusionPass:off\n")}).exit_code,
      0);
  EXPECT_EQ(
      Convert(model_, {"--fusion_switch_file=" +
                       Write("b.cfg", R"({"Switch":{"GraphFusion":{"FuseSilu":"off"},"UBFusion":{"ALL":"off"}}})")})
          .exit_code,
      0);
  fs::remove(Path("out.om"));
  ExpectFailure(Convert(model_, {"--fusion_switch_file=" + Write("c.cfg", "FuseSilu:maybe\n")}), "E10001",
                "not on or off");
  ExpectFailure(Convert(model_, {"--fusion_switch_file=" + Write("d.cfg", "FuseSilu\n")}), "E10001", "line 1");
}

TEST_F(AtcTest, ModelsBecomeJson) {
  const Finished finished =
      RunAtc({"--mode=1", "--framework=5", "--model=" + open_model_, "--json=" + Path("model.json")});
  ASSERT_EQ(finished.exit_code, 0) << finished.out;
  const auto json = nlohmann::json::parse(*ReadTextFile(Path("model.json")), nullptr, false);
  const auto& input = json["graph"]["input"][0];
  EXPECT_EQ(input["name"], "images");
  EXPECT_EQ(input["shape"], nlohmann::json({-1, 3, 8, 8}));
  EXPECT_EQ(input["type"]["tensorType"]["elemType"], 1);
  EXPECT_EQ(input["type"]["tensorType"]["shape"]["dim"][0]["dimParam"], "batch");
  EXPECT_EQ(input["type"]["tensorType"]["shape"]["dim"][1]["dimValue"], "3");
  EXPECT_EQ(json["graph"]["output"][0]["name"], "scores");
  EXPECT_EQ(json["graph"]["node"][1]["opType"], "Sigmoid");

  ASSERT_EQ(Convert(model_).exit_code, 0);
  ASSERT_EQ(RunAtc({"--mode=1", "--om=" + Path("out.om"), "--json=" + Path("om.json")}).exit_code, 0);
  const auto om = nlohmann::json::parse(*ReadTextFile(Path("om.json")), nullptr, false);
  EXPECT_EQ(om["graph"][0]["node"][1]["type"], "Sigmoid");
  EXPECT_EQ(om["input"][0]["shape"], nlohmann::json({1, 3, 8, 8}));
}

TEST_F(AtcTest, AnOmTellsAboutItself) {
  ASSERT_EQ(Convert(model_).exit_code, 0);
  const Finished finished = RunAtc({"--mode=6", "--om=" + Path("out.om")});
  EXPECT_EQ(finished.exit_code, 0);
  for (const char* part : {"atc --model=", "soc_version[Ascend310P3]", "memory_size", "weight_size", "stream_num",
                           "event_num", "input[0]: images float32[1,3,8,8]"}) {
    EXPECT_THAT(finished.out, HasSubstr(part));
  }
  const Finished foreign = RunAtc({"--mode=6", "--om=" + model_});
  EXPECT_EQ(foreign.exit_code, 1);
  EXPECT_THAT(foreign.out, HasSubstr("model.onnx"));
}

TEST_F(AtcTest, APrecheckReportsWithoutWritingAModel) {
  const std::string report = "--check_report=" + Path("report.json");
  EXPECT_EQ(Convert(model_, {"--mode=3", report}).exit_code, 0);
  EXPECT_FALSE(fs::exists(Path("out.om")));
  EXPECT_EQ(nlohmann::json::parse(*ReadTextFile(Path("report.json")), nullptr, false)["result"], "success");
  EXPECT_EQ(Convert(Write("bad.onnx", "no model"), {"--mode=3", report}).exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(*ReadTextFile(Path("report.json")), nullptr, false)["error"]["code"], "E13005");
}

}  // namespace
}  // namespace npustream::atc
