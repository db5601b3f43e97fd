// Runs ONNX models with ONNX Runtime on pseudo-random tensors and writes inputs and outputs as raw little-endian values,
// for compare_ort. Usage: node run_ort.mjs OUTPUT_FOLDER MODEL.onnx…
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

function makeInputs(session, range) {
  const random = randomNumbers(20240607);
  const feeds = {};
  for (const input of session.inputMetadata) {
    if (input.type !== 'float32') throw new Error(`input ${input.name} is ${input.type}`);
    const dims = input.shape.map((dim) => (typeof dim === 'number' && dim > 0 ? dim : 1));
    const data = new Float32Array(dims.reduce((a, b) => a * b, 1));
    for (let i = 0; i < data.length; ++i) data[i] = range[0] + (range[1] - range[0]) * random.next().value;
    feeds[input.name] = new ort.Tensor('float32', data, dims);
  }
  return feeds;
}

function writeTensor(folder, file, tensor) {
  fs.writeFileSync(path.join(folder, file), Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength));
}

async function runCase(session, model, folder, range) {
  fs.mkdirSync(folder, {recursive: true});
  const feeds = makeInputs(session, range);
  const results = await session.run(feeds);
  const lines = [`model ${path.resolve(model)}`];
  session.inputNames.forEach((name, i) => {
    writeTensor(folder, `input_${i}.bin`, feeds[name]);
    lines.push(`input ${feeds[name].dims.join(',')} ${name}`);
  });
  session.outputNames.forEach((name, i) => {
    writeTensor(folder, `output_${i}.bin`, results[name]);
    lines.push(`output ${results[name].dims.join(',')} ${name}`);
  });
  fs.writeFileSync(path.join(folder, 'case.txt'), lines.join('\n') + '\n');
}

const [output, ...models] = process.argv.slice(2);
for (const model of models) {
  const session = await ort.InferenceSession.create(model, {logSeverityLevel: 3});
  for (const range of RANGES) {
    await runCase(session, model, path.join(output, `${path.basename(model, '.onnx')}_${range.join('_')}`), range);
  }
}
