// Runs ONNX models with ONNX Runtime on pseudo-random tensors and writes inputs and outputs as raw little-endian values,
// for compare_ort. Usage: node run_ort.mjs OUTPUT_FOLDER MODEL.onnx[@INPUT:SHAPE[=VALUE];…]…
import {createRequire} from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const require = createRequire(process.cwd() + '/');
const ort = require('onnxruntime-node');

// Values that networks see: normalised pictures, and raw ones.
const RANGES = [[-1, 1], [0, 255]];

// xorshift32: the same numbers on every machine.
function* randomNumbers(seed) {
  let state = seed >>> 0;
  for (;;) {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    yield state / 4294967296;
  }
}

const ARRAYS = {float32: Float32Array, float16: Uint16Array, float64: Float64Array, int64: BigInt64Array,
  int32: Int32Array, int8: Int8Array, uint8: Uint8Array, bool: Uint8Array};

// "a:1,3,48,320;b:1=16000" → {a: {dims, value}, …}: the shapes of inputs, and values for those that must not be random.
function parseInputs(text) {
  const given = {};
  for (const part of text.split(';').filter(Boolean)) {
    const [, name, dims, value] = part.match(/^(.*):([0-9,]*)(?:=(.*))?$/);
    given[name] = {dims: dims.split(',').filter(Boolean).map(Number), value};
  }
  return given;
}

function toHalf(value) {
  const sign = value < 0 ? 0x8000 : 0, size = Math.abs(value);
  if (size < 2 ** -14) return sign | Math.round(size * 2 ** 24);
  const exponent = Math.floor(Math.log2(size));
  return sign | ((exponent + 15) * 1024 + Math.round((size / 2 ** exponent - 1) * 1024));
}

function element(type, value) {
  if (type === 'float16') return toHalf(value);
  if (type === 'int64') return BigInt(Math.floor(value));
  return type.startsWith('float') ? value : Math.floor(value);
}

// Integers are names of things (words, for example), and small ones exist in every model: below 2 where the range
// of real numbers is small, else below 100.
function makeInput(input, given, range, random) {
  const whole = !input.type.startsWith('float');
  const [low, high] = whole ? [0, range[1] > 1 && input.type !== 'bool' ? 100 : 2] : range;
  const dims = given?.dims ?? input.shape.map((dim) => (typeof dim === 'number' && dim > 0 ? dim : 1));
  const data = new ARRAYS[input.type](dims.reduce((a, b) => a * b, 1));
  for (let i = 0; i < data.length; ++i) {
    data[i] = element(input.type, given?.value === undefined ? low + (high - low) * random.next().value : Number(given.value));
  }
  return new ort.Tensor(input.type, data, dims);
}

function makeInputs(session, given, range) {
  const random = randomNumbers(20240607);
  const feeds = {};
  for (const input of session.inputMetadata) feeds[input.name] = makeInput(input, given[input.name], range, random);
  return feeds;
}

function writeTensor(folder, file, tensor) {
  fs.writeFileSync(path.join(folder, file), Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength));
}

async function runCase(session, model, given, folder, range) {
  fs.mkdirSync(folder, {recursive: true});
  const feeds = makeInputs(session, given, range);
  const results = await session.run(feeds);
  const lines = [`model ${path.resolve(model)}`];
  const write = (kind, tensor, i, name) => {
    writeTensor(folder, `${kind}_${i}.bin`, tensor);
    lines.push(`${kind} ${tensor.type} [${tensor.dims.join(',')}] ${name}`);
  };
  session.inputNames.forEach((name, i) => write('input', feeds[name], i, name));
  session.outputNames.forEach((name, i) => write('output', results[name], i, name));
  fs.writeFileSync(path.join(folder, 'case.txt'), lines.join('\n') + '\n');
}

const [output, ...models] = process.argv.slice(2);
for (const wanted of models) {
  const [model, inputs] = wanted.split('@');
  const session = await ort.InferenceSession.create(model, {logSeverityLevel: 3});
  for (const range of RANGES) {
    const folder = path.join(output, `${path.basename(model, '.onnx')}_${range.join('_')}`);
    await runCase(session, model, parseInputs(inputs ?? ''), folder, range);
  }
}
