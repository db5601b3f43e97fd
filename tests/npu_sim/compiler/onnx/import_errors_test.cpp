// One small bad model per case: each is refused with a sentence that says what is wrong, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "npu_sim/compiler/onnx/import_model.h"
#include "tests/npu_sim/compiler/support/model_builder.h"

namespace npustream::compiler {
namespace {

using testing::HasSubstr;
using Ints = std::vector<int64_t>;

struct ErrorCase {
  const char* title;
  ModelBuilder model;
  StatusCode code;
  const char* message;  // a part of it
};

void PrintTo(const ErrorCase& error, std::ostream* out) { *out << error.title; }

ModelBuilder Conv(const om::Dims& x, const om::Dims& w, om::Attributes attributes = {}) {
  return ModelBuilder().Input("x", x).Weights("w", w).Node("Conv", {"x", "w"}, "y", std::move(attributes)).Output("y");
}

ModelBuilder Reshape(const om::Dims& x, const Ints& shape) {
  return ModelBuilder().Input("x", x).Ints("shape", shape).Node("Reshape", {"x", "shape"}, "y").Output("y");
}

ModelBuilder Unary(const char* op, const om::Dims& x, om::Attributes attributes = {}) {
  return ModelBuilder().Input("x", x).Node(op, {"x"}, "y", std::move(attributes)).Output("y");
}

ModelBuilder Einsum(const char* equation, const om::Dims& x) {
  return Unary("Einsum", x, {{"equation", std::string(equation)}});
}

// Of 4 steps, 2 rows, 3 values and a hidden state of 5.
ModelBuilder Recurrent(const char* op, om::Attributes attributes, const Ints& lengths = {}) {
  const int64_t columns = 5 * (op == std::string("LSTM") ? 4 : op == std::string("GRU") ? 3 : 1);
  ModelBuilder builder(14);
  builder.Input("x", {4, 2, 3}).Weights("w", {1, columns, 3}).Weights("r", {1, columns, 5});
  std::vector<std::string> inputs = {"x", "w", "r"};
  if (!lengths.empty()) {
    builder.Ints("lengths", lengths);
    inputs.insert(inputs.end(), {"", "lengths"});
  }
  return builder.Node(op, inputs, "y", std::move(attributes)).Output("y");
}

// One that adds x to itself; the number of iterations is an input of these dims, or left out when they are empty.
ModelBuilder Loop(const om::Dims& count, om::DataType type) {
  ModelBuilder body, builder;
  body.Input("i", {}).Input("go", {}).Input("v", {1}).Node("Add", {"v", "v"}, "w").Output("go").Output("w");
  builder.Input("x", {1});
  if (!count.empty()) builder.Input("count", count, type);
  builder.Node("Loop", {count.empty() ? "" : "count", "", "x"}, "y").Output("y");
  builder.model().graph.nodes.back().subgraphs = {
      {"body", std::make_shared<const OnnxGraph>(static_cast<const OnnxModel&>(body).graph)}};
  return builder;
}

std::vector<ErrorCase> Cases() {
  const auto kInvalid = StatusCode::kInvalidArgument;
  const auto kCorrupt = StatusCode::kCorruptData;
  const auto kUnsupported = StatusCode::kUnsupported;
  const auto kInvalidArgument = StatusCode::kInvalidArgument;
  const Ints kHuge = {int64_t{1} << 40, int64_t{1} << 40};
  return {
      {"cycle", ModelBuilder().Input("x", {1}).Node("Add", {"x", "b"}, "a").Node("Relu", {"a"}, "b").Output("b"),
       kCorrupt, "node 'Add_0' (Add) is part of a cycle"},
      {"missing_tensor", ModelBuilder().Input("x", {1}).Node("Add", {"x", "nowhere"}, "y").Output("y"), kCorrupt,
       "node 'Add_0' (Add) reads 'nowhere', which nothing produces"},
      {"missing_output", ModelBuilder().Input("x", {1}).Node("Relu", {"x"}, "y").Output("z"), kCorrupt,
       "output is 'z', which nothing produces"},
      {"no_output", ModelBuilder().Input("x", {1}).Node("Relu", {"x"}, "y"), kCorrupt, "no output"},
      {"written_twice", ModelBuilder().Input("x", {1}).Node("Relu", {"x"}, "y").Node("Abs", {"x"}, "y").Output("y"),
       kCorrupt, "node 'Abs_1' (Abs) writes 'y', which exists already"},
      {"input_twice", ModelBuilder().Input("x", {1}).Input("x", {1}).Node("Relu", {"x"}, "y").Output("y"), kCorrupt,
       "two inputs are called 'x'"},
      {"missing_input", ModelBuilder().Input("x", {1}).Node("Add", {"x"}, "y").Output("y"), kCorrupt,
       "input 1 is missing"},
      {"too_many_inputs", ModelBuilder().Input("x", {1}).Node("Relu", {"x", "x"}, "y").Output("y"), kCorrupt,
       "2 inputs are too many"},
      {"unsupported_operators",
       ModelBuilder()
           .Input("x", {1})
           .Node("Foo", {"x"}, "a")
           .Node("Relu", {"a"}, "b")
           .Node("Bar", {"b"}, "y")
           .Output("y"),
       kUnsupported, "2 nodes: 'Foo_0' (Foo), 'Bar_2' (Bar)"},
      {"opset_too_old", ModelBuilder(6).Input("x", {1}).Node("Relu", {"x"}, "y").Output("y"), kUnsupported,
       "operator set 6; supported are 7 to 21"},
      {"opset_too_new", ModelBuilder(99).Input("x", {1}).Node("Relu", {"x"}, "y").Output("y"), kUnsupported,
       "operator set 99"},
      {"open_shape", Unary("Relu", {-1, 3}), kInvalid, "input 'x' has the shape [batch,3]: fix it with --input_shape"},
      {"empty_input", Unary("Relu", {0, 3}), kInvalid, "has a dimension of 0"},
      {"huge_input", Unary("Relu", kHuge), kInvalid, "larger than any tensor may be"},
      {"rank_of_input", Unary("Relu", {1, 1, 1, 1, 1, 1, 1, 1, 1}), kInvalid, "more than 8 dimensions"},
      {"channels_of_conv", Conv({1, 3, 8, 8}, {4, 2, 3, 3}), kInvalid, "and 1 groups do not go together"},
      {"rank_of_conv", Conv({1, 3}, {4, 3}), kInvalid, "do not go together"},
      {"groups_of_conv", Conv({1, 3, 8, 8}, {4, 3, 3, 3}, {{"group", int64_t{0}}}), kInvalid, "0 groups"},
      {"window_larger_than_picture", Conv({1, 3, 2, 2}, {4, 3, 5, 5}), kInvalid,
       "does not fit into an input of [1,3,2,2]"},
      {"negative_pads", Conv({1, 3, 8, 8}, {4, 3, 3, 3}, {{"pads", Ints{-1, 0, 0, 0}}}), kInvalid,
       "pads [-1,0,0,0] is out of range"},
      {"strides_of_zero", Conv({1, 3, 8, 8}, {4, 3, 3, 3}, {{"strides", Ints{0, 1}}}), kInvalid,
       "strides [0,1] is out of"},
      {"too_few_strides", Conv({1, 3, 8, 8}, {4, 3, 3, 3}, {{"strides", Ints{1}}}), kInvalid, "strides has 1 values"},
      {"unknown_padding", Conv({1, 3, 8, 8}, {4, 3, 3, 3}, {{"auto_pad", std::string("MAYBE")}}), kInvalid, "'MAYBE'"},
      {"pool_without_kernel", Unary("MaxPool", {1, 3, 8, 8}), kInvalid, "kernel_shape has 0 values"},
      {"broadcast", ModelBuilder().Input("x", {2, 3}).Weights("w", {4}).Node("Add", {"x", "w"}, "y").Output("y"),
       kInvalid, "the shapes [2,3] and [4] do not fit together"},
      {"mixed_types", ModelBuilder().Input("x", {2}).Ints("i", {1, 2}).Node("Add", {"x", "i"}, "y").Output("y"),
       kInvalid, "different types, float32 and int64"},
      {"matrices", ModelBuilder().Input("x", {2, 3}).Weights("w", {4, 5}).Node("MatMul", {"x", "w"}, "y").Output("y"),
       kInvalid, "[2,3] and [4,5] cannot be multiplied"},
      {"gemm_of_vectors", ModelBuilder().Input("x", {2}).Weights("w", {2, 5}).Node("Gemm", {"x", "w"}, "y").Output("y"),
       kInvalid, "not matrices"},
      {"reshape_of_other_size", Reshape({2, 3}, {4, 2}), kInvalid, "[2,3] cannot be reshaped to [4,2]"},
      {"reshape_with_two_open", Reshape({2, 3}, {-1, -1}), kInvalid, "[2,3] cannot be reshaped to [-1,-1]"},
      {"reshape_to_negative", Reshape({2, 3}, {-2, 3}), kInvalid, "cannot be reshaped to [-2,3]"},
      {"reshape_overflow", Reshape({2, 3}, {int64_t{1} << 62, int64_t{1} << 62}), kInvalid, "cannot be reshaped"},
      {"reshape_to_computed",
       ModelBuilder()
           .Input("x", {2, 3})
           .Input("s", {2}, om::DataType::kInt64)
           .Node("Reshape", {"x", "s"}, "y")
           .Output("y"),
       kUnsupported, "the new shape must be constant"},
      {"perm", Unary("Transpose", {2, 3}, {{"perm", Ints{0, 0}}}), kInvalid, "perm [0,0] is no order of 2 dimensions"},
      {"axis", Unary("Softmax", {2, 3}, {{"axis", int64_t{2}}}), kInvalid, "axis 2 does not exist in 2 dimensions"},
      {"squeeze_of_a_long_axis",
       ModelBuilder().Input("x", {2, 3}).Ints("a", {1}).Node("Squeeze", {"x", "a"}, "y").Output("y"), kInvalid,
       "axis 1 of [2,3] is not 1"},
      {"concat",
       ModelBuilder()
           .Input("x", {2, 3})
           .Weights("w", {3, 3})
           .Node("Concat", {"x", "w"}, "y", {{"axis", int64_t{1}}})
           .Output("y"),
       kInvalid, "input 1 of shape [3,3] does not fit the first one, [2,3]"},
      {"split", ModelBuilder().Input("x", {5}).NodeOfMany("Split", {"x"}, {"y", "z"}).Output("y"), kInvalid,
       "5 cannot be split into 2 parts"},
      {"gather_beyond", ModelBuilder().Input("x", {5}).Ints("i", {5}).Node("Gather", {"x", "i"}, "y").Output("y"),
       kInvalid, "index 5 does not exist in 5 places"},
      {"slice_with_step_zero",
       ModelBuilder()
           .Input("x", {5})
           .Ints("s", {0})
           .Ints("e", {5})
           .Ints("a", {0})
           .Ints("t", {0})
           .Node("Slice", {"x", "s", "e", "a", "t"}, "y")
           .Output("y"),
       kInvalid, "a step is 0"},
      {"pad_too_large",
       ModelBuilder().Input("x", {5}).Ints("p", {0, int64_t{1} << 60}).Node("Pad", {"x", "p"}, "y").Output("y"),
       kInvalid, "a pad is out of range"},
      {"expand_bomb",
       ModelBuilder().Input("x", {1}).Ints("s", {1 << 20, 1 << 20}).Node("Expand", {"x", "s"}, "y").Output("y"),
       kInvalid, "larger than any tensor may be"},
      {"tile_overflow",
       ModelBuilder().Input("x", {8}).Ints("r", {int64_t{1} << 62}).Node("Tile", {"x", "r"}, "y").Output("y"), kInvalid,
       "out of range"},
      {"constant_bomb",
       ModelBuilder()
           .Ints("s", {1 << 15, 1 << 15})
           .Input("x", {1})
           .Node("ConstantOfShape", {"s"}, "c")
           .Node("Add", {"x", "c"}, "y")
           .Output("y"),
       kUnsupported, "a constant of [32768,32768] is too large"},
      {"zero_point_of_another_type",
       ModelBuilder()
           .Input("x", {4}, om::DataType::kInt8)
           .Floats("s", {}, {0.5f})
           .Ints("z", {200})
           .Node("DequantizeLinear", {"x", "s", "z"}, "y")
           .Output("y"),
       kInvalid, "a zero point of type int64 for int8"},
      {"constants_that_fill_memory",
       ModelBuilder()
           .Ints("s", {1 << 10, 1 << 15})
           .Input("x", {1})
           .Node("ConstantOfShape", {"s"}, "a")
           .Node("ConstantOfShape", {"s"}, "b")
           .Node("ConstantOfShape", {"s"}, "c")
           .Node("Sum", {"x", "a", "b", "c"}, "y")
           .Output("y"),
       kUnsupported, "the model's computed constants are too large"},
      {"endless_range",
       ModelBuilder()
           .Input("x", {1})
           .Floats("a", {}, {0})
           .Floats("b", {}, {1})
           .Floats("c", {}, {0})
           .Node("Range", {"a", "b", "c"}, "r")
           .Node("Add", {"x", "r"}, "y")
           .Output("y"),
       kInvalid, "the range"},
      {"resize_scale",
       ModelBuilder()
           .Input("x", {1, 1, 4, 4})
           .Floats("s", {4}, {1, 1, -2, 2})
           .Node("Resize", {"x", "", "s"}, "y")
           .Output("y"),
       kInvalid, "a scale is out of range"},
      {"resize_mode",
       ModelBuilder()
           .Input("x", {1, 1, 4, 4})
           .Floats("s", {4}, {1, 1, 2, 2})
           .Node("Resize", {"x", "", "s"}, "y", {{"mode", std::string("magic")}})
           .Output("y"),
       kUnsupported, "mode 'magic'"},
      {"training",
       ModelBuilder(15)
           .Input("x", {1, 1, 2})
           .Floats("ratio", {}, {0.5f})
           .Ints("training", {1})
           .Node("Dropout", {"x", "ratio", "training"}, "y")
           .Output("y"),
       kUnsupported, "training mode"},
      {"used_output_that_is_not_computed",
       ModelBuilder().Input("x", {1, 4}).NodeOfMany("Softmax", {"x"}, {"y", "i"}).Node("Abs", {"i"}, "z").Output("z"),
       kUnsupported, "its output 'i' is not supported"},
      {"only_a_second_output",
       ModelBuilder()
           .Input("x", {1, 4})
           .Floats("s", {}, {1})
           .NodeOfMany("QuantizeLinear", {"x", "s"}, {"", "y"})
           .Output("y"),
       kUnsupported, "output 'y' is not supported"},
      {"einsum_without_a_part_per_input", Einsum("ij,jk->ik", {2, 2}), kInvalid, "one part per input"},
      {"einsum_with_more_parts_than_inputs", Einsum("", {2}), kInvalid, "'' does not label the 1 axes of input 0"},
      {"einsum_of_another_rank", Einsum("ijk->k", {2, 2}), kInvalid, "'ijk' does not label the 2 axes of input 0"},
      {"einsum_of_two_sizes", Einsum("ii->i", {2, 3}), kInvalid, "label 'i' stands for 2 and for 3"},
      {"einsum_of_an_unknown_label", Einsum("ij->k", {2, 2}), kInvalid, "the equation's result 'k' is not possible"},
      {"einsum_of_odd_signs", Einsum("i$->i", {2, 2}), kInvalid, "'i$' is not understood"},
      {"recurrent_function", Recurrent("LSTM", {{"activations", std::string("Sigmoid,Tanh,Affine")}}), kUnsupported,
       "activation 'Affine' is not supported"},
      {"recurrent_functions", Recurrent("GRU", {{"activations", std::string("Sigmoid")}}), kInvalid,
       "1 activations do not suit 1 directions"},
      {"recurrent_direction", Recurrent("RNN", {{"direction", std::string("up")}}), kInvalid, "direction 'up'"},
      {"recurrent_coupled_gates", Recurrent("LSTM", {{"input_forget", int64_t{1}}}), kUnsupported, "coupled input"},
      {"recurrent_weights", Recurrent("GRU", {{"direction", std::string("bidirectional")}}), kInvalid,
       "do not go together"},
      {"recurrent_lengths", Recurrent("LSTM", {}, {4, 3}), kUnsupported, "sequence_lens [4,3] are not all 4"},
      {"unpool_of_no_window",
       ModelBuilder().Input("x", {1, 1, 2}).Ints("i", {0}).Node("MaxUnpool", {"x", "i"}, "y").Output("y"), kInvalid,
       "kernel_shape has 0 values"},
      {"one_hot_of_no_depth",
       ModelBuilder()
           .Input("x", {2})
           .Ints("d", {-1})
           .Floats("v", {2}, {0, 1})
           .Node("OneHot", {"x", "d", "v"}, "y")
           .Output("y"),
       kInvalid, "the depth is out of range"},
      {"places_that_are_not_known", Unary("NonZero", {2}), kUnsupported, "its input must be constant"},
      {"reversed_lengths",
       ModelBuilder().Input("x", {3, 1}).Ints("l", {4}).Node("ReverseSequence", {"x", "l"}, "y").Output("y"), kInvalid,
       "a length of 4 of 3 steps"},
      {"shift_to_nowhere",
       ModelBuilder().Input("x", {2}, om::DataType::kUInt8).Node("BitShift", {"x", "x"}, "y").Output("y"), kInvalid,
       "direction '' does not exist"},
      {"loop_of_an_unknown_count", Loop({1}, om::DataType::kInt64), kUnsupported,
       "the number of iterations must be constant"},
      {"loop_without_end", Loop({}, om::DataType::kInt64), kUnsupported, "more than 4096 iterations"},
      {"padding_wider_than_its_window",
       ModelBuilder()
           .Input("x", {1, 1, 8, 8})
           .Node("MaxPool", {"x"}, "y", {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{2, 0, 0, 0}}})
           .Output("y"),
       kInvalidArgument, "padding of 2 for a window of 2"},
      {"negative_scale",
       ModelBuilder()
           .Input("x", {1}, om::DataType::kUInt8)
           .Floats("s", {}, {-1})
           .Node("DequantizeLinear", {"x", "s"}, "y")
           .Output("y"),
       kInvalidArgument, "a scale of -1"},
      {"scale_without_axis",
       ModelBuilder()
           .Input("x", {1, 4})
           .Floats("s", {3}, {1, 1, 1})
           .Node("QuantizeLinear", {"x", "s"}, "y")
           .Output("y"),
       kInvalidArgument, "3 scales do not fit axis 1 of [1,4]"},
      {"computed_scales_that_do_not_fit",
       ModelBuilder().Input("x", {1, 4}).Input("s", {3}).Node("QuantizeLinear", {"x", "s"}, "y").Output("y"),
       kInvalidArgument, "3 scales do not fit axis 1 of [1,4]"},
  };
}

class ImportErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(ImportErrorTest, IsRefusedWithASentence) {
  const auto graph = ImportModel(GetParam().model, {});
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), GetParam().code) << graph.status().message();
  EXPECT_THAT(graph.status().message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(BadModels, ImportErrorTest, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<ErrorCase>& info) { return std::string(info.param.title); });

TEST(ImportErrorTest, ShapesOfOtherInputsAndRanksAreRefused) {
  const OnnxModel model = ModelBuilder().Input("x", {-1, 3}).Node("Relu", {"x"}, "y").Output("y");
  EXPECT_THAT(ImportModel(model, {{{"z", {1, 3}}, {"x", {1, 3}}}, {}}).status().message(),
              HasSubstr("no input 'z'; it has 'x'"));
  EXPECT_THAT(ImportModel(model, {{{"x", {1, 3, 3}}}, {}}).status().message(), HasSubstr("3 dimensions were given"));
  EXPECT_THAT(ImportModel(model, {{{"x", {-1, 3}}}, {}}).status().message(), HasSubstr("negative dimension"));
}

}  // namespace
}  // namespace npustream::compiler
