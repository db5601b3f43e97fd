// atc: turns ONNX models into offline models. All of the work is in run.h and npu_sim/compiler.
#include "apps/atc/run.h"

int main(int argc, char** argv) { return npustream::atc::Run({argv + 1, argv + argc}); }
