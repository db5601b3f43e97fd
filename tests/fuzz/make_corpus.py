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
