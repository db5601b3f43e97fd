#!/usr/bin/env python3
"""Put preprocessing into the graph of an ONNX detector, and store its weights as 8-bit integers.

The model then takes raw pixels of 0 to 255, NCHW. --mean and --std put (x - mean) / std in front. --night puts an
exposure stage before that, which has no weights: 3x3 mean filter, white point at mean + 3 standard deviations, gamma
such that the picture's mean becomes 0.42; it is blended in below a mean of 70 and full below 30, so that a daylight
picture passes unchanged. --int8 stores the convolutions' weights as int8 per output channel behind DequantizeLinear.
Needs numpy and onnx.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import helper, numpy_helper

FULL_BELOW = 30.0        # mean brightness up to which the exposure stage acts fully
OFF_ABOVE = 70.0         # and from which it does nothing
TARGET_MEAN = 0.42       # of the picture after exposure, 0 to 1
WHITE_SIGMAS = 3.0       # the white point lies this many standard deviations above the mean
LEAST_GAMMA = 0.3


class Front:
    """Nodes and constants that are to stand in front of a graph."""

    def __init__(self):
        self.nodes = []
        self.constants = {}

    def constant(self, value, shape=()):
        array = np.asarray(value, np.float32).reshape(shape)
        key = (array.tobytes(), array.shape)
        if key not in self.constants:
            self.constants[key] = numpy_helper.from_array(array, f'fe_c{len(self.constants)}')
        return self.constants[key].name

    def emit(self, op, inputs, output, name=None, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=name or 'fe_' + output, **attributes))
        return output

    def mean(self, value, output):
        """Mean over height, width and channels."""
        pooled = self.emit('GlobalAveragePool', [value], output + '_c')
        return self.emit('ReduceMean', [pooled], output, axes=[1], keepdims=1)


def add_exposure(front, source, target):
    """The exposure stage from `source` to `target`."""
    constant, emit = front.constant, front.emit
    smooth = emit('AveragePool', [source], 'fe_s', kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1],
                  count_include_pad=0)
    mean = front.mean(smooth, 'fe_m')
    difference = emit('Sub', [smooth, mean], 'fe_d')
    variance = front.mean(emit('Mul', [difference, difference], 'fe_d2'), 'fe_v')
    spread = emit('Mul', [emit('Sqrt', [variance], 'fe_sd'), constant(WHITE_SIGMAS)], 'fe_ks')
    white = emit('Clip', [emit('Add', [mean, spread], 'fe_w0'), constant(1.0), constant(255.0)], 'fe_w')
    level = emit('Clip', [emit('Div', [smooth, white], 'fe_z0'), constant(1e-4), constant(1.0)], 'fe_z')
    level_mean = front.mean(level, 'fe_mz')
    # gamma = log(target) / log(mean), so that mean ** gamma = target.
    log_target = constant(np.log(TARGET_MEAN))
    log_mean = emit('Log', [emit('Clip', [level_mean, constant(1e-3), constant(.999)], 'fe_mzc')], 'fe_lg')
    gamma = emit('Clip', [emit('Div', [log_target, log_mean], 'fe_g0'), constant(LEAST_GAMMA), constant(1.0)], 'fe_g')
    exposed = emit('Mul', [emit('Pow', [level, gamma], 'fe_p'), constant(255.0)], 'fe_o')
    darkness = emit('Mul', [emit('Sub', [constant(OFF_ABOVE), mean], 'fe_a0'),
                            constant(1.0 / (OFF_ABOVE - FULL_BELOW))], 'fe_a1')
    share = emit('Clip', [darkness, constant(0.0), constant(1.0)], 'fe_a')
    change = emit('Mul', [share, emit('Sub', [exposed, source], 'fe_dx')], 'fe_adx')
    emit('Add', [source, change], target)


def add_normalisation(front, source, target, mean, std):
    shape = (1, 3, 1, 1)
    front.emit('Sub', [source, front.constant(mean, shape)], 'pp_s', name='pp_sub')
    front.emit('Mul', ['pp_s', front.constant([1 / value for value in std], shape)], target, name='pp_mul')


def quantise_weights(graph, front):
    """Replaces the weights of convolutions by integers, a scale per output channel and DequantizeLinear."""
    of_convolutions = {node.input[1] for node in graph.node if node.op_type == 'Conv'}
    for initializer in list(graph.initializer):
        name = initializer.name
        if name not in of_convolutions:
            continue
        weights = numpy_helper.to_array(initializer)
        scale = (np.abs(weights).reshape(len(weights), -1).max(1) / 127).clip(1e-12).astype(np.float32)
        integers = np.rint(weights / scale.reshape(-1, 1, 1, 1)).clip(-127, 127).astype(np.int8)
        graph.initializer.remove(initializer)
        graph.initializer.extend([numpy_helper.from_array(integers, name + '_q'),
                                  numpy_helper.from_array(scale, name + '_s'),
                                  numpy_helper.from_array(np.zeros(len(scale), np.int8), name + '_z')])
        front.emit('DequantizeLinear', [name + '_q', name + '_s', name + '_z'], name, name=name + '_dq', axis=0)


def build(model, night, mean, std, int8):
    """Changes the model in place."""
    graph = model.graph
    source = graph.input[0].name
    front, current = Front(), source
    if night:
        add_exposure(front, source, 'fe_y')
        current = 'fe_y'
    if mean:
        add_normalisation(front, current, 'pp_n', mean, std)
        current = 'pp_n'
    for node in graph.node:
        node.input[:] = [current if name == source else name for name in node.input]
    if int8:
        quantise_weights(graph, front)
    for position, node in enumerate(front.nodes):
        graph.node.insert(position, node)
    graph.initializer.extend(front.constants.values())
    onnx.checker.check_model(model)


def three_numbers(text):
    numbers = [float(item) for item in text.split(',')]
    if len(numbers) != 3:
        raise argparse.ArgumentTypeError(f'{text}: three numbers with commas between are expected')
    return numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('source', help='the ONNX file to read')
    parser.add_argument('target', help='the ONNX file to write')
    parser.add_argument('--night', action='store_true', help='put the exposure stage in front')
    parser.add_argument('--mean', type=three_numbers, help="in the model's order of channels: a,b,c")
    parser.add_argument('--std', type=three_numbers, help='likewise')
    parser.add_argument('--int8', action='store_true', help='store weights as 8-bit integers')
    arguments = parser.parse_args()
    if (arguments.mean is None) != (arguments.std is None):
        parser.error('--mean and --std belong together')
    model = onnx.load(arguments.source)
    build(model, arguments.night, arguments.mean, arguments.std, arguments.int8)
    onnx.save(model, arguments.target)
    print(arguments.target, os.path.getsize(arguments.target), 'bytes')


if __name__ == '__main__':
    main()
