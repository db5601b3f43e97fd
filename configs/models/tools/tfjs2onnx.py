#!/usr/bin/env python3
"""Convert NanoDet's TensorFlow.js GraphModel (model.json and its .bin) to ONNX with NCHW activations.

Every rank-4 activation is kept in NCHW, so the transposes which the TensorFlow graph is full of only change the meaning
of axes and vanish; weights are transposed here. Padding nodes become the padding of the convolution or pooling behind
them, an addition of a constant per channel becomes the convolution's bias, and weights stored as float16 or integers
become float32. Knows the operators that NanoDet has, and stops with a message at any other. Needs numpy and onnx.
"""
import argparse
import base64
import json
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PRODUCER = 'tfjs2onnx'
OPSET = 13
IR_VERSION = 7
NHWC_AXIS_IN_NCHW = [0, 2, 3, 1]
# Operators that can take in the padding of their input.
ABSORB_PADDING = ('Conv2D', 'MaxPool', 'Transpose')


def read_weights(path, manifest):
    """The weights by name, as float32, int32 or bool, from the files that the manifest lists beside `path`."""
    stored_types = {'float32': '<f4', 'int32': '<i4', 'bool': 'u1'}
    quantised_types = {'float16': '<f2', 'uint8': 'u1', 'uint16': '<u2'}
    final_types = {'float32': np.float32, 'int32': np.int32, 'bool': np.bool_}
    folder = os.path.dirname(path)
    weights = {}
    for group in manifest:
        content = b''
        for name in group['paths']:
            with open(os.path.join(folder, name), 'rb') as file:
                content += file.read()
        position = 0
        for entry in group['weights']:
            quantisation = entry.get('quantization')
            stored = np.dtype(quantised_types[quantisation['dtype']] if quantisation else stored_types[entry['dtype']])
            count = int(np.prod(entry['shape'])) if entry['shape'] else 1
            values = np.frombuffer(content, stored, count, position)
            position += count * stored.itemsize
            if quantisation and quantisation['dtype'] != 'float16':
                values = values.astype(np.float32) * np.float32(quantisation['scale']) + np.float32(quantisation['min'])
            weights[entry['name']] = values.astype(final_types[entry['dtype']]).reshape(entry['shape'])
        if position != len(content):
            raise SystemExit(f'weights: {position} of {len(content)} bytes used')
    return weights


def attributes_of(node):
    """A node's attributes as plain Python values."""
    result = {}
    for key, value in (node.get('attr') or {}).items():
        if 's' in value:
            result[key] = base64.b64decode(value['s']).decode()
        elif 'i' in value:
            result[key] = int(value['i'])
        elif 'b' in value:
            result[key] = bool(value['b'])
        elif 'f' in value:
            result[key] = float(value['f'])
        elif 'list' in value:
            result[key] = [int(item) for item in value['list'].get('i', [])]
    return result


def same_padding(size, kernel, stride, padding):
    """TensorFlow's output size and padding before and after along one axis."""
    if padding == 'VALID':
        return (size - kernel) // stride + 1, 0, 0
    output = -(-size // stride)
    total = max((output - 1) * stride + kernel - size, 0)
    return output, total // 2, total - total // 2


class Value:
    """A tensor on the way: its ONNX name, its shape in TensorFlow's order of axes, whether it is stored as NCHW, its
    content when it is constant, and spatial padding (top, left, bottom, right, value) that no node has applied yet."""

    def __init__(self, name, shape, nchw=False, content=None, padding=None):
        self.name = name
        self.shape = list(shape)
        self.nchw = nchw
        self.content = content
        self.padding = padding


def constant(content):
    return Value(None, content.shape, content=content)


class Converter:
    """Walks from the outputs back and emits a node after all of its inputs."""

    def __init__(self, graph, weights):
        self.tf_nodes = {node['name']: node for node in graph['node']}
        self.weights = weights
        self.nodes = []
        self.initializers = {}
        self.values = {}
        self.inputs = []

    def initializer(self, array, hint='c'):
        """The name of a constant; equal ones are stored once."""
        array = np.asarray(array)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.initializers:
            tensor = numpy_helper.from_array(array, f'{hint}_{len(self.initializers)}')
            tensor.doc_string = ''  # written out though empty; the embedded files have it, and come out byte for byte
            self.initializers[key] = tensor
        return self.initializers[key].name

    def emit(self, op, inputs, outputs, **attributes):
        outputs = [outputs] if isinstance(outputs, str) else outputs
        self.nodes.append(helper.make_node(op, inputs, outputs, name=outputs[0], **attributes))

    def value(self, reference, keep_padding=False):
        base, _, index = reference.partition(':')
        key = base if index in ('', '0') else reference
        if key not in self.values:
            self.convert(base)
        value = self.values[key]
        if value.padding and not keep_padding:
            raise SystemExit(f'{base}: padding in front of an operator that cannot take it in')
        return value

    def convert(self, name):
        node = self.tf_nodes[name]
        op = node['op']
        if op == 'Const':
            self.values[name] = constant(self.weights[name])
            return
        if op == 'Placeholder':
            shape = [max(1, int(dim['size'])) for dim in node['attr']['shape']['shape']['dim']]
            if shape[1] != 3:
                raise SystemExit(f'{name}: the input is not NCHW')
            self.inputs.append((name, shape))
            self.values[name] = Value(name, shape)
            return
        inputs = [item for item in node['input'] if not item.startswith('^')]
        if op == 'Add':  # may be the bias of the convolution before it, which then provides this value
            for item in inputs:
                if self.tf_nodes[item.split(':')[0]]['op'] == 'Conv2D':
                    self.value(item)
            if name in self.values:
                return
        handler = getattr(self, 'convert_' + op, None)
        if handler is None:
            raise SystemExit(f'{name}: operator {op} is not known')
        values = [self.value(item, op in ABSORB_PADDING) for item in inputs]
        self.values[name] = handler(name, values, attributes_of(node))

    def bias_behind(self, name):
        """The constant per channel that the only reader of `name` adds, and that reader's name."""
        readers = [node for node in self.tf_nodes.values()
                   if name in [item.split(':')[0] for item in node.get('input', [])]]
        if len(readers) != 1 or readers[0]['op'] != 'Add':
            return None, None
        constants = [item for item in readers[0]['input'] if self.tf_nodes[item.split(':')[0]]['op'] == 'Const']
        if len(constants) != 1 or self.weights[constants[0]].ndim != 1:
            return None, None
        return self.weights[constants[0]], readers[0]['name']

    def window(self, name, value, kernel, strides, padding, pad_value_fits):
        """Output height and width and the padding of a convolution or pooling, with what `value` still has to get."""
        height, top, bottom = same_padding(value.shape[1], kernel[0], strides[0], padding)
        width, left, right = same_padding(value.shape[2], kernel[1], strides[1], padding)
        if value.padding:
            if padding != 'VALID' or not pad_value_fits(value.padding[4]):
                raise SystemExit(f'{name}: padding')
            top, left, bottom, right = value.padding[:4]
        return height, width, [top, left, bottom, right]

    def convert_Conv2D(self, name, values, attributes):
        value, weights = values[0], values[1].content
        if attributes.get('data_format', 'NHWC') != 'NHWC' or not value.nchw:
            raise SystemExit(f'{name}: not a convolution over NHWC')
        kernel_height, kernel_width, group_channels, channels = weights.shape
        strides = attributes['strides'][1:3]
        height, width, pads = self.window(name, value, (kernel_height, kernel_width), strides, attributes['padding'],
                                          lambda pad: pad == 0)
        inputs = [value.name, self.initializer(np.ascontiguousarray(weights.transpose(3, 2, 0, 1)), 'w')]
        bias, adder = self.bias_behind(name)
        if bias is not None:
            inputs.append(self.initializer(bias.reshape(-1), 'b'))
        self.emit('Conv', inputs, name, kernel_shape=[kernel_height, kernel_width], strides=strides,
                  dilations=attributes.get('dilations', [1] * 4)[1:3], pads=pads,
                  group=value.shape[3] // group_channels)
        result = Value(name, [value.shape[0], height, width, channels], True)
        if adder:
            self.values[adder] = result
        return result

    def convert_MaxPool(self, name, values, attributes):
        value = values[0]
        kernel, strides = attributes['ksize'][1:3], attributes['strides'][1:3]
        height, width, pads = self.window(name, value, kernel, strides, attributes['padding'], lambda pad: pad < -1e30)
        self.emit('MaxPool', [value.name], name, kernel_shape=kernel, strides=strides, pads=pads)
        return Value(name, [value.shape[0], height, width, value.shape[3]], True)

    def convert_Add(self, name, values, attributes):
        if all(value.content is not None for value in values):
            return constant(values[0].content + values[1].content)
        if any(value.content is not None for value in values) or values[0].nchw != values[1].nchw:
            raise SystemExit(f'{name}: only two activations of one layout, or two constants, can be added')
        self.emit('Add', [value.name for value in values], name)
        return Value(name, np.broadcast_shapes(*[tuple(value.shape) for value in values]), values[0].nchw)

    convert_AddV2 = convert_Add

    def convert_ConcatV2(self, name, values, attributes):
        parts = values[:-1]
        axis = int(values[-1].content) % len(parts[0].shape)
        nchw = parts[0].nchw
        self.emit('Concat', [part.name for part in parts], name, axis=NHWC_AXIS_IN_NCHW[axis] if nchw else axis)
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return Value(name, shape, nchw)

    def convert_SplitV(self, name, values, attributes):
        value, axis = values[0], int(values[2].content) % len(values[0].shape)
        sizes = [int(size) for size in values[1].content]
        outputs = [name] + [f'{name}_{i}' for i in range(1, len(sizes))]
        self.emit('Split', [value.name, self.initializer(np.array(sizes, np.int64))], outputs,
                  axis=NHWC_AXIS_IN_NCHW[axis] if value.nchw else axis)
        for i, size in enumerate(sizes):
            shape = value.shape[:axis] + [size] + value.shape[axis + 1:]
            self.values[name if i == 0 else f'{name}:{i}'] = Value(outputs[i], shape, value.nchw)
        return self.values[name]

    def convert_ResizeBilinear(self, name, values, attributes):
        value = values[0]
        height, width = [int(size) for size in values[1].content]
        mode = 'asymmetric'
        if attributes.get('align_corners'):
            mode = 'align_corners'
        elif attributes.get('half_pixel_centers'):
            mode = 'half_pixel'
        scales = np.array([1, 1, height / value.shape[1], width / value.shape[2]], np.float32)
        self.emit('Resize', [value.name, '', self.initializer(scales)], name, mode='linear',
                  coordinate_transformation_mode=mode)
        return Value(name, [value.shape[0], height, width, value.shape[3]], True)

    def convert_Pad(self, name, values, attributes):
        value, pads = values[0], values[1].content.astype(int)
        pad_value = float(values[2].content) if len(values) > 2 else 0.0
        vertical, horizontal = (1, 2) if value.nchw else (2, 3)
        if len(value.shape) != 4 or any(pads[axis].any() for axis in range(4) if axis not in (vertical, horizontal)):
            raise SystemExit(f'{name}: padding of other than the spatial axes')
        shape = [size + int(pair.sum()) for size, pair in zip(value.shape, pads)]
        sides = (int(pads[vertical, 0]), int(pads[horizontal, 0]), int(pads[vertical, 1]), int(pads[horizontal, 1]))
        return Value(value.name, shape, value.nchw, padding=sides + (pad_value,) if any(sides) else None)

    convert_PadV2 = convert_Pad

    def convert_Transpose(self, name, values, attributes):
        value, order = values[0], [int(axis) for axis in values[1].content]
        shape = [value.shape[axis] for axis in order]
        stored_before, stored_after = {(0, 2, 3, 1): (False, True), (0, 3, 1, 2): (True, False)}.get(
            tuple(order), (None, None))
        if stored_before is not None and value.nchw == stored_before:  # only the meaning of the axes changes
            return Value(value.name, shape, stored_after, padding=value.padding)
        if value.padding or value.nchw:
            raise SystemExit(f'{name}: transposition')
        self.emit('Transpose', [value.name], name, perm=order)
        return Value(name, shape)

    def convert_Reshape(self, name, values, attributes):
        value = values[0]
        if value.nchw:
            raise SystemExit(f'{name}: reshaping of an activation that is not stored as it is meant')
        shape = [int(size) for size in values[1].content]
        total = int(np.prod(value.shape))
        full = [size if size != -1 else total // -int(np.prod(shape)) for size in shape]
        self.emit('Reshape', [value.name, self.initializer(np.array(shape, np.int64))], name)
        return Value(name, full)

    def convert_SparseToDense(self, name, values, attributes):
        indices, shape, items, default = [value.content for value in values]
        dense = np.full([int(size) for size in shape], default if default is not None else 0)
        for index, item in zip(indices.reshape(-1, dense.ndim), np.broadcast_to(items, len(indices))):
            dense[tuple(index)] = item
        return constant(dense)

    def convert_LeakyRelu(self, name, values, attributes):
        self.emit('LeakyRelu', [values[0].name], name, alpha=attributes.get('alpha', .2))
        return Value(name, values[0].shape, values[0].nchw)

    def convert_Sigmoid(self, name, values, attributes):
        self.emit('Sigmoid', [values[0].name], name)
        return Value(name, values[0].shape, values[0].nchw)

    def convert_Identity(self, name, values, attributes):
        return values[0]


def convert(source, names):
    """The ONNX model of the GraphModel at `source`; `names` maps TensorFlow's outputs and inputs to ONNX names."""
    with open(source, encoding='utf-8') as file:
        model = json.load(file)
    converter = Converter(model['modelTopology'], read_weights(source, model['weightsManifest']))
    outputs = [(converter.value(tf_name), name) for tf_name, name in names['outputs']]
    renamed = {value.name: name for value, name in outputs}
    renamed.update({name: names['inputs'].get(name, name) for name, _ in converter.inputs})
    for node in converter.nodes:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        node.output[:] = [renamed.get(name, name) for name in node.output]

    def port(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    graph = helper.make_graph(converter.nodes, os.path.basename(source).split('.')[0],
                              [port(renamed[name], shape) for name, shape in converter.inputs],
                              [port(name, value.shape) for value, name in outputs],
                              list(converter.initializers.values()))
    onnx_model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)], producer_name=PRODUCER)
    onnx_model.ir_version = IR_VERSION
    helper.set_model_props(onnx_model, {'generatedBy': model.get('generatedBy') or '',
                                        'convertedBy': model.get('convertedBy') or ''})
    onnx.checker.check_model(onnx_model)
    return onnx_model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('source', help='nanodet.json')
    parser.add_argument('target', help='the ONNX file to write')
    arguments = parser.parse_args()
    heads = ['cls8', 'cls16', 'cls32', 'reg8', 'reg16', 'reg32']
    tf_heads = ['Identity'] + [f'Identity_{i}' for i in range(1, len(heads))]
    names = {'outputs': list(zip(tf_heads, heads)), 'inputs': {'input_1': 'images'}}
    onnx.save(convert(arguments.source, names), arguments.target)
    print(arguments.target, os.path.getsize(arguments.target), 'bytes')


if __name__ == '__main__':
    main()
