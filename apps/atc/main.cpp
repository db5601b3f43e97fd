// atc: turns ONNX models into offline models. All of the work is in run.h and npu_sim/compiler.
#include "apps/atc/run.h"
#include "base/standard_streams.h"

int main(int argc, char** argv) {
  npustream::ClaimStandardStreams();
  const int exit_code = npustream::atc::Run({argv + 1, argv + argc});
  return npustream::FlushStandardOutput() || exit_code != 0 ? exit_code : 1;
}
