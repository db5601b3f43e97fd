#include "dvpp/api/access.h"
#include "dvpp/api/descriptions.h"
#include "dvpp/api/picture_access.h"
#include "dvpp/vpc/crop_resize_paste.h"

using npustream::acl::Fail;
using namespace npustream::dvpp;  // NOLINT: the file holds nothing but C functions

namespace {

// One crop, resize and paste; null areas mean the whole picture.
struct VpcJob {
  const acldvppPicDesc *input;
  const acldvppPicDesc *output;
  const acldvppRoiConfig *crop;
  const acldvppRoiConfig *paste;
};

struct CheckedJob {
  PictureView source;
  PictureView target;
  Rectangle crop;
  Rectangle paste;
};

aclError AreaOf(const char *function, const acldvppRoiConfig *roi, const PictureView &picture, Rectangle *area) {
  if (roi == nullptr) {
    *area = {0, 0, picture.width, picture.height};
    return ACL_SUCCESS;
  }
  if (roi->left > roi->right || roi->top > roi->bottom || roi->right >= static_cast<uint32_t>(picture.width) ||
      roi->bottom >= static_cast<uint32_t>(picture.height)) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: the area {}–{} × {}–{} is not inside {}x{}", function, roi->left,
                roi->right, roi->top, roi->bottom, picture.width, picture.height);
  }
  *area = {static_cast<int>(roi->left), static_cast<int>(roi->top), static_cast<int>(roi->right - roi->left + 1),
           static_cast<int>(roi->bottom - roi->top + 1)};
  return ACL_SUCCESS;
}

aclError CheckJob(const char *function, const VpcJob &job, CheckedJob *checked) {
  aclError error = ViewPicture(function, job.input, &checked->source);
  if (error == ACL_SUCCESS) error = ViewPicture(function, job.output, &checked->target);
  if (error == ACL_SUCCESS) error = AreaOf(function, job.crop, checked->source, &checked->crop);
  if (error == ACL_SUCCESS) error = AreaOf(function, job.paste, checked->target, &checked->paste);
  if (error != ACL_SUCCESS) return error;
  if (checked->source.format != checked->target.format) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: input and output differ in pixel format", function);
  }
  const FormatLayout layout = LayoutOf(checked->target.format);
  if (checked->paste.left % 16 != 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: the paste area's left edge {} is not a multiple of 16", function,
                checked->paste.left);
  }
  if ((checked->paste.top & layout.chroma_shift_y) != 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: the paste area's top edge {} is odd", function, checked->paste.top);
  }
  return ACL_SUCCESS;
}

aclError InterpolationOf(const char *function, const acldvppResizeConfig *config, Interpolation *interpolation) {
  if (config == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "{}: the resize configuration is null", function);
  if (config->interpolation > 2) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: no interpolation {}", function, config->interpolation);
  }
  *interpolation = config->interpolation == 2 ? Interpolation::kNearest : Interpolation::kBilinear;
  return ACL_SUCCESS;
}

aclError RunJob(const char *function, const acldvppChannelDesc *channel, const VpcJob &job, Interpolation interpolation,
                aclrtStream stream) {
  CheckedJob checked;
  aclError error = CheckChannel(function, channel);
  if (error == ACL_SUCCESS) error = CheckJob(function, job, &checked);
  if (error != ACL_SUCCESS) return error;
  return SubmitMedia(stream, [checked, interpolation] {
    return CropResizePaste(checked.source, checked.crop, checked.target, checked.paste, interpolation);
  });
}

aclError RequireArea(const char *function, const acldvppRoiConfig *area) {
  return area != nullptr ? ACL_SUCCESS : Fail(ACL_ERROR_INVALID_PARAM, "{}: an area is null", function);
}

// A batch: all jobs are checked before the first is handed in.
struct BatchCall {
  const char *function;
  acldvppChannelDesc *channel;
  acldvppBatchPicDesc *sources;
  const uint32_t *roi_counts;
  uint32_t size;
  acldvppBatchPicDesc *targets;
  acldvppRoiConfig **crops;
  acldvppRoiConfig **pastes;  // null: the whole target
};

aclError CheckBatch(const BatchCall &call, std::vector<CheckedJob> *jobs) {
  if (call.sources == nullptr || call.targets == nullptr || call.roi_counts == nullptr || call.crops == nullptr ||
      call.size == 0 || call.size > call.sources->pictures.size()) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: an argument is null, or the batch has not {} pictures", call.function,
                call.size);
  }
  for (uint32_t source = 0; source < call.size; ++source) {
    for (uint32_t roi = 0; roi < call.roi_counts[source]; ++roi) {
      const size_t i = jobs->size();
      if (i >= call.targets->pictures.size()) {
        return Fail(ACL_ERROR_INVALID_PARAM, "{}: more areas than output pictures", call.function);
      }
      const VpcJob job{&call.sources->pictures[source], &call.targets->pictures[i], call.crops[i],
                       call.pastes == nullptr ? nullptr : call.pastes[i]};
      aclError error = RequireArea(call.function, job.crop);
      if (error == ACL_SUCCESS && call.pastes != nullptr) error = RequireArea(call.function, job.paste);
      CheckedJob checked;
      if (error == ACL_SUCCESS) error = CheckJob(call.function, job, &checked);
      if (error != ACL_SUCCESS) return error;
      jobs->push_back(checked);
    }
  }
  return ACL_SUCCESS;
}

aclError RunBatch(const BatchCall &call, Interpolation interpolation, aclrtStream stream) {
  std::vector<CheckedJob> jobs;
  aclError error = CheckChannel(call.function, call.channel);
  if (error == ACL_SUCCESS) error = CheckBatch(call, &jobs);
  if (error != ACL_SUCCESS) return error;
  return SubmitMedia(stream, [jobs = std::move(jobs), interpolation] {
    for (const CheckedJob &job : jobs) {
      NPUSTREAM_RETURN_IF_ERROR(CropResizePaste(job.source, job.crop, job.target, job.paste, interpolation));
    }
    return npustream::Status();
  });
}

}  // namespace

aclError acldvppVpcResizeAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc, acldvppPicDesc *outputDesc,
                               acldvppResizeConfig *resizeConfig, aclrtStream stream) {
  Interpolation interpolation;
  const aclError error = InterpolationOf(__func__, resizeConfig, &interpolation);
  if (error != ACL_SUCCESS) return error;
  return RunJob(__func__, channelDesc, {inputDesc, outputDesc, nullptr, nullptr}, interpolation, stream);
}

aclError acldvppVpcCropAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc, acldvppPicDesc *outputDesc,
                             acldvppRoiConfig *cropArea, aclrtStream stream) {
  const aclError error = RequireArea(__func__, cropArea);
  if (error != ACL_SUCCESS) return error;
  return RunJob(__func__, channelDesc, {inputDesc, outputDesc, cropArea, nullptr}, Interpolation::kBilinear, stream);
}

aclError acldvppVpcCropResizeAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                   acldvppPicDesc *outputDesc, acldvppRoiConfig *cropArea,
                                   acldvppResizeConfig *resizeConfig, aclrtStream stream) {
  Interpolation interpolation;
  aclError error = InterpolationOf(__func__, resizeConfig, &interpolation);
  if (error == ACL_SUCCESS) error = RequireArea(__func__, cropArea);
  if (error != ACL_SUCCESS) return error;
  return RunJob(__func__, channelDesc, {inputDesc, outputDesc, cropArea, nullptr}, interpolation, stream);
}

aclError acldvppVpcCropAndPasteAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                     acldvppPicDesc *outputDesc, acldvppRoiConfig *cropArea,
                                     acldvppRoiConfig *pasteArea, aclrtStream stream) {
  aclError error = RequireArea(__func__, cropArea);
  if (error == ACL_SUCCESS) error = RequireArea(__func__, pasteArea);
  if (error != ACL_SUCCESS) return error;
  return RunJob(__func__, channelDesc, {inputDesc, outputDesc, cropArea, pasteArea}, Interpolation::kBilinear, stream);
}

aclError acldvppVpcCropResizePasteAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                        acldvppPicDesc *outputDesc, acldvppRoiConfig *cropArea,
                                        acldvppRoiConfig *pasteArea, acldvppResizeConfig *resizeConfig,
                                        aclrtStream stream) {
  Interpolation interpolation;
  aclError error = InterpolationOf(__func__, resizeConfig, &interpolation);
  if (error == ACL_SUCCESS) error = RequireArea(__func__, cropArea);
  if (error == ACL_SUCCESS) error = RequireArea(__func__, pasteArea);
  if (error != ACL_SUCCESS) return error;
  return RunJob(__func__, channelDesc, {inputDesc, outputDesc, cropArea, pasteArea}, interpolation, stream);
}

aclError acldvppVpcBatchCropAsync(acldvppChannelDesc *channelDesc, acldvppBatchPicDesc *srcBatchPicDescs,
                                  uint32_t *roiNums, uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs,
                                  acldvppRoiConfig *cropAreas[], aclrtStream stream) {
  return RunBatch({__func__, channelDesc, srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas, nullptr},
                  Interpolation::kBilinear, stream);
}

aclError acldvppVpcBatchCropResizeAsync(acldvppChannelDesc *channelDesc, acldvppBatchPicDesc *srcBatchPicDescs,
                                        uint32_t *roiNums, uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs,
                                        acldvppRoiConfig *cropAreas[], acldvppResizeConfig *resizeConfig,
                                        aclrtStream stream) {
  Interpolation interpolation;
  const aclError error = InterpolationOf(__func__, resizeConfig, &interpolation);
  if (error != ACL_SUCCESS) return error;
  return RunBatch({__func__, channelDesc, srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas, nullptr},
                  interpolation, stream);
}

aclError acldvppVpcBatchCropAndPasteAsync(acldvppChannelDesc *channelDesc, acldvppBatchPicDesc *srcBatchPicDescs,
                                          uint32_t *roiNums, uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs,
                                          acldvppRoiConfig *cropAreas[], acldvppRoiConfig *pasteAreas[],
                                          aclrtStream stream) {
  if (pasteAreas == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "{}: the paste areas are null", __func__);
  return RunBatch({__func__, channelDesc, srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas, pasteAreas},
                  Interpolation::kBilinear, stream);
}

aclError acldvppVpcBatchCropResizePasteAsync(acldvppChannelDesc *channelDesc, acldvppBatchPicDesc *srcBatchPicDescs,
                                             uint32_t *roiNums, uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs,
                                             acldvppRoiConfig *cropAreas[], acldvppRoiConfig *pasteAreas[],
                                             acldvppResizeConfig *resizeConfig, aclrtStream stream) {
  Interpolation interpolation;
  const aclError error = InterpolationOf(__func__, resizeConfig, &interpolation);
  if (error != ACL_SUCCESS) return error;
  if (pasteAreas == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "{}: the paste areas are null", __func__);
  return RunBatch({__func__, channelDesc, srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas, pasteAreas},
                  interpolation, stream);
}
