#include <algorithm>

#include <acl/acl_mdl.h>

#include "runtime/acl/error.h"
#include "runtime/acl/model.h"

namespace npustream::acl {
namespace {

aclAippInputFormat ToInputFormat(const std::string& name) {
  if (name == "XRGB8888_U8") return ACL_XRGB8888_U8;
  if (name == "RGB888_U8") return ACL_RGB888_U8;
  if (name == "YUV400_U8") return ACL_YUV400_U8;
  return ACL_YUV420SP_U8;
}

void FillGeometry(const om::AippConfig& config, aclAippInfo* info) {
  info->inputFormat = ToInputFormat(config.input_format);
  info->srcImageSizeW = config.src_image_size_w;
  info->srcImageSizeH = config.src_image_size_h;
  info->cropSwitch = config.crop;
  info->loadStartPosW = config.load_start_pos_w;
  info->loadStartPosH = config.load_start_pos_h;
  info->cropSizeW = config.crop_size_w;
  info->cropSizeH = config.crop_size_h;
  info->paddingSwitch = config.padding;
  info->leftPaddingSize = config.left_padding_size;
  info->rightPaddingSize = config.right_padding_size;
  info->topPaddingSize = config.top_padding_size;
  info->bottomPaddingSize = config.bottom_padding_size;
}

void FillColour(const om::AippConfig& config, aclAippInfo* info) {
  info->cscSwitch = config.csc_switch;
  info->rbuvSwapSwitch = config.rbuv_swap_switch;
  info->axSwapSwitch = config.ax_swap_switch;
  int32_t* const matrix[] = {&info->matrixR0C0, &info->matrixR0C1, &info->matrixR0C2,
                             &info->matrixR1C0, &info->matrixR1C1, &info->matrixR1C2,
                             &info->matrixR2C0, &info->matrixR2C1, &info->matrixR2C2};
  for (size_t index = 0; index < config.matrix.size(); ++index) *matrix[index] = config.matrix[index];
  int32_t* const output_bias[] = {&info->outputBias0, &info->outputBias1, &info->outputBias2};
  int32_t* const input_bias[] = {&info->inputBias0, &info->inputBias1, &info->inputBias2};
  for (size_t channel = 0; channel < 3; ++channel) {
    *output_bias[channel] = config.output_bias[channel];
    *input_bias[channel] = config.input_bias[channel];
  }
  int32_t* const mean[] = {&info->meanChn0, &info->meanChn1, &info->meanChn2, &info->meanChn3};
  float* const min[] = {&info->minChn0, &info->minChn1, &info->minChn2, &info->minChn3};
  float* const var_reci[] = {&info->varReciChn0, &info->varReciChn1, &info->varReciChn2, &info->varReciChn3};
  for (size_t channel = 0; channel < 4; ++channel) {
    *mean[channel] = config.mean_chn[channel];
    *min[channel] = config.min_chn[channel];
    *var_reci[channel] = config.var_reci_chn[channel];
  }
}

uint64_t ElementCount(const aclmdlIODims& dims) {
  uint64_t count = 1;
  for (size_t axis = 0; axis < dims.dimCount; ++axis) count *= static_cast<uint64_t>(dims.dims[axis]);
  return count;
}

// One entry for every gear.
void FillShapes(const ModelDescription& model, size_t input, aclAippInfo* info) {
  info->srcFormat = ACL_FORMAT_NHWC;
  info->srcDatatype = ACL_UINT8;
  info->srcDimNum = model.inputs[input].picture_dims.size();
  info->shapeCount = std::min<size_t>(model.info.gears.size(), ACL_MAX_SHAPE_COUNT);
  for (size_t gear = 0; gear < info->shapeCount; ++gear) {
    aclAippDims& shape = info->outDims[gear];
    const om::Dims& picture = model.info.gears[gear].inputs[input];
    FillDims(model.inputs[input].name, picture, &shape.srcDims);
    FillDims(model.inputs[input].name, model.NetworkDims(input, picture), &shape.aippOutdims);
    shape.srcSize = ElementCount(shape.srcDims);
    shape.aippOutSize = ElementCount(shape.aippOutdims) * sizeof(float);
  }
}

aclError FindInput(uint32_t model_id, size_t index, std::shared_ptr<const ModelDescription>* model) {
  const auto loaded = FindModel(model_id);
  if (loaded == nullptr) return NoModel(model_id);
  *model = loaded->description();
  if (index < (*model)->inputs.size()) return ACL_SUCCESS;
  return Fail(ACL_ERROR_INVALID_PARAM, "input {} of a model with {} was asked for", index, (*model)->inputs.size());
}

}  // namespace
}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face

aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo* aippInfo) {
  if (aippInfo == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the AIPP information was given");
  std::shared_ptr<const ModelDescription> model;
  if (const aclError error = FindInput(modelId, index, &model); error != ACL_SUCCESS) return error;
  const auto* config = model->StaticAipp(index);
  if (config == nullptr) {
    return Fail(ACL_ERROR_NOT_STATIC_AIPP, "input {} (\"{}\") has no static AIPP", index, model->inputs[index].name);
  }
  *aippInfo = {};
  FillGeometry(*config, aippInfo);
  FillColour(*config, aippInfo);
  FillShapes(*model, index, aippInfo);
  return ACL_SUCCESS;
}

aclError aclmdlGetAippType(uint32_t modelId, size_t index, aclmdlInputAippType* type,
                           size_t* dynamicAttachedDataIndex) {
  if (type == nullptr || dynamicAttachedDataIndex == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "places for the type and for an index are needed");
  }
  std::shared_ptr<const ModelDescription> model;
  if (const aclError error = FindInput(modelId, index, &model); error != ACL_SUCCESS) return error;
  *type = model->StaticAipp(index) != nullptr ? ACL_DATA_WITH_STATIC_AIPP : ACL_DATA_WITHOUT_AIPP;
  *dynamicAttachedDataIndex = ACL_INVALID_NODE_INDEX;
  return ACL_SUCCESS;
}
