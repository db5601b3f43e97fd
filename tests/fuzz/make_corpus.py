#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets into corpus/: small models that reach the importers with most to check."""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent / "corpus"
RANDOM = np.random.default_rng(1)


def weights(name, *dims):
    return numpy_helper.from_array(RANDOM.standard_normal(dims).astype(np.float32), name)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def scalar(name, value, kind):
    return numpy_helper.from_array(np.array(value, kind), name)


def save(name, nodes, dims, initializers, opset=13):
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="npustream")
    model.ir_version = 7
    onnx.save(model, FOLDER / f"{name}.onnx")


node = helper.make_node
save("conv", [
    node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), node("Relu", ["c"], ["r"]),
    node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
    node("Conv", ["p", "d"], ["e"], group=4), node("Sigmoid", ["e"], ["s"]), node("Mul", ["e", "s"], ["y"]),
], [1, 3, 8, 8], [weights("w", 4, 3, 3, 3), weights("d", 4, 1, 3, 3)])
save("shapes", [
    node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["g"]), node("Unsqueeze", ["g", "zero"], ["u"]),
    node("Concat", ["u", "minus"], ["t"], axis=0), node("Reshape", ["x", "t"], ["r"]),
    node("Slice", ["r", "zero", "five", "one"], ["l"]), node("Expand", ["l", "e"], ["y"]),
], [2, 3, 4], [numpy_helper.from_array(np.array(0, np.int64), "i"), ints("zero", 0), ints("minus", -1),
               ints("five", 5), ints("one", 1), ints("e", 2, 1, 5)])
save("matmul", [
    node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["a"]), node("Transpose", ["a"], ["t"], perm=[0, 2, 1]),
    node("MatMul", ["a", "t"], ["q"]), node("Softmax", ["q"], ["f"], axis=-1), node("ReduceMean", ["f"], ["y"], axes=[1]),
], [1, 4, 6], [weights("w", 6, 6), weights("b", 6)])
save("resize", [
    node("Resize", ["x", "", "k"], ["r"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    node("Pad", ["r", "p"], ["d"]), node("AveragePool", ["d"], ["a"], kernel_shape=[3, 3]),
    node("ConvTranspose", ["a", "w"], ["y"], strides=[2, 2]),
], [1, 2, 4, 4], [numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "k"), ints("p", 0, 0, 1, 1, 0, 0, 1, 1),
                  weights("w", 2, 3, 2, 2)])
save("quantised", [
    node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]),
    node("DequantizeLinear", ["w", "ws", "wz"], ["wd"]), node("Conv", ["d", "wd"], ["c"], pads=[1, 1, 1, 1]),
    node("QuantizeLinear", ["c", "s", "z"], ["cq"]), node("DequantizeLinear", ["cq", "s", "z"], ["y"]),
], [1, 4, 4, 4], [
    scalar("s", 0.05, np.float32), scalar("z", 128, np.uint8), scalar("ws", 0.02, np.float32), scalar("wz", 0, np.int8),
    numpy_helper.from_array(RANDOM.integers(-127, 127, (4, 4, 3, 3)).astype(np.int8), "w")])

# Everything that quantised nets become: bytes with a table, an addend, depthwise, a matrix of bytes, moves, the plain result.
def quantise(name, source):
    return [node("QuantizeLinear", [source, "s", "z"], [f"{name}_q"]), node("DequantizeLinear", [f"{name}_q", "s", "z"], [name])]


def int8(name, *dims):
    return numpy_helper.from_array(RANDOM.integers(-127, 127, dims).astype(np.int8), name)


scales = [scalar("s", 0.05, np.float32), scalar("z", 128, np.uint8), scalar("ws", 0.01, np.float32), scalar("wz", 0, np.int8)]
save("quantised_net", [
    *quantise("x0", "x"), node("DequantizeLinear", ["w1", "ws", "wz"], ["w1d"]),
    node("DequantizeLinear", ["w2", "ws", "wz"], ["w2d"]), node("DequantizeLinear", ["w3", "ws", "wz"], ["w3d"]),
    node("DequantizeLinear", ["w4", "ws", "wz"], ["w4d"]),
    node("Conv", ["x0", "w1d", "b1"], ["c1"], pads=[1, 1, 1, 1]), *quantise("c1q", "c1"),
    node("Sigmoid", ["c1q"], ["g1"]), *quantise("g1q", "g1"), node("Mul", ["c1q", "g1q"], ["m1"]), *quantise("m1q", "m1"),
    node("Conv", ["m1q", "w2d"], ["c2"], pads=[1, 1, 1, 1], group=16), node("Relu", ["c2"], ["r2"]), *quantise("c2q", "r2"),
    node("Conv", ["c2q", "w3d"], ["c3"]), *quantise("c3q", "c3"), node("Add", ["c3q", "m1q"], ["a3"]), *quantise("a3q", "a3"),
    node("MaxPool", ["a3q"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), *quantise("pq", "p"),
    node("Resize", ["pq", "", "k"], ["u"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    *quantise("uq", "u"), node("Concat", ["uq", "a3q"], ["j"], axis=1), *quantise("jq", "j"),
    node("Reshape", ["jq", "t"], ["f"]), node("MatMul", ["f", "w4d"], ["y"]),
], [1, 3, 4, 4], [
    *scales, int8("w1", 16, 3, 3, 3), weights("b1", 16), int8("w2", 16, 1, 3, 3), int8("w3", 16, 16, 1, 1), int8("w4", 512, 5),
    numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "k"), ints("t", 1, 512)])
save("attention", [
    node("MatMul", ["x", "wq"], ["q"]), node("MatMul", ["x", "wk"], ["k"]), node("MatMul", ["x", "wv"], ["v"]),
    node("Reshape", ["q", "heads"], ["q4"]), node("Reshape", ["k", "heads"], ["k4"]), node("Reshape", ["v", "heads"], ["v4"]),
    node("Transpose", ["q4"], ["qt"], perm=[0, 2, 1, 3]), node("Transpose", ["k4"], ["kt"], perm=[0, 2, 3, 1]),
    node("Transpose", ["v4"], ["vt"], perm=[0, 2, 1, 3]), node("MatMul", ["qt", "kt"], ["s0"]), node("Mul", ["s0", "scale"], ["s1"]),
    node("Softmax", ["s1"], ["p"], axis=-1), node("MatMul", ["p", "vt"], ["o"]), node("Transpose", ["o"], ["ot"], perm=[0, 2, 1, 3]),
    node("Reshape", ["ot", "flat"], ["of"]), node("Add", ["of", "x"], ["r"]), node("ReduceMean", ["r"], ["mean"], axes=[-1]),
    node("Sub", ["r", "mean"], ["d"]), node("Pow", ["d", "two"], ["d2"]), node("ReduceMean", ["d2"], ["var"], axes=[-1]),
    node("Add", ["var", "eps"], ["ve"]), node("Sqrt", ["ve"], ["sd"]), node("Div", ["d", "sd"], ["n"]),
    node("Mul", ["n", "gain"], ["ng"]), node("Add", ["ng", "shift"], ["y"]),
], [1, 6, 8], [
    weights("wq", 8, 8), weights("wk", 8, 8), weights("wv", 8, 8), ints("heads", 1, 6, 2, 4), ints("flat", 1, 6, 8),
    scalar("scale", 0.5, np.float32), scalar("two", 2, np.float32), scalar("eps", 1e-5, np.float32), weights("gain", 8),
    weights("shift", 8)])
save("pick", [
    node("TopK", ["x", "k"], ["v", "i"], axis=-1), node("GatherElements", ["x", "i"], ["g"], axis=-1),
    node("ArgMax", ["g"], ["a"], axis=1, keepdims=0), node("Gather", ["x", "a"], ["ga"], axis=0),
    node("Unsqueeze", ["a", "minus"], ["n"]), node("GatherND", ["x", "n"], ["nd"]),
    node("ScatterElements", ["x", "i", "v"], ["se"], axis=-1), node("ReduceMax", ["se"], ["m"], axes=[1]),
    node("Where", ["c", "se", "m"], ["w"]), node("Tile", ["w", "repeats"], ["t"]), node("Split", ["t"], ["t0", "t1"], axis=2),
    node("Sub", ["t0", "t1"], ["y"]),
], [4, 4, 4], [ints("k", 3), ints("minus", -1), ints("repeats", 1, 1, 2),
               numpy_helper.from_array(RANDOM.integers(0, 2, (4, 4, 4)).astype(bool), "c")])
save("boxes", [
    node("Slice", ["x", "zero", "four", "two"], ["b"]), node("Slice", ["x", "four", "end", "two"], ["c0"]),
    node("Transpose", ["c0"], ["c"], perm=[0, 2, 1]), node("NonMaxSuppression", ["b", "c", "most", "iou"], ["n"]),
    node("Cast", ["n"], ["f"], to=1), node("ReduceSum", ["f"], ["y"], keepdims=0),
], [1, 8, 6], [ints("zero", 0), ints("four", 4), ints("two", 2), ints("end", 6), ints("most", 3),
               numpy_helper.from_array(np.array([0.5], np.float32), "iou")])
save("mixed", [
    node("Conv", ["x", "w"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]),
    node("BatchNormalization", ["c", "gain", "shift", "mean", "var"], ["n"]), node("Sigmoid", ["n"], ["g"]),
    node("Mul", ["n", "g"], ["s"]), node("Conv", ["s", "p"], ["e"]), node("Add", ["e", "s"], ["r"]), node("Relu", ["r"], ["a"]),
    node("Split", ["a"], ["h0", "h1"], axis=1), node("Concat", ["h1", "h0"], ["j"], axis=1),
    node("DepthToSpace", ["j"], ["d"], blocksize=2), node("GlobalAveragePool", ["j"], ["m"]), node("Flatten", ["m"], ["f"]),
    node("Gemm", ["f", "v"], ["l"], transB=1), node("PRelu", ["l", "slope"], ["pr"]), node("Expand", ["pr", "shape"], ["x2"]),
    node("ReduceL2", ["d"], ["l2"], axes=[2, 3], keepdims=0), node("Add", ["x2", "l2"], ["y"]),
], [1, 3, 8, 8], [weights("w", 32, 3, 3, 3), weights("gain", 32), weights("shift", 32), weights("mean", 32),
                  numpy_helper.from_array(np.ones(32, np.float32), "var"), weights("p", 32, 32, 1, 1), weights("v", 8, 32),
                  weights("slope", 8), ints("shape", 1, 8)])
custom = helper.make_node("ScaledClip", ["x"], ["y"], domain="example", scale=2.0, limit=3.0)
model = helper.make_model(
    helper.make_graph([custom], "custom", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 5])],
                      [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]),
    opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("example", 1)], producer_name="npustream")
model.ir_version = 7
onnx.save(model, FOLDER / "custom.onnx")
