// VPC calls that change values or surroundings, not geometry.
#include <cmath>

#include "dvpp/api/descriptions.h"
#include "dvpp/api/picture_access.h"

using npustream::acl::Fail;
using namespace npustream::dvpp;  // NOLINT: the file holds nothing but C functions

aclError acldvppVpcEqualizeHistAsync(const acldvppChannelDesc *channelDesc, const acldvppPicDesc *inputDesc,
                                     acldvppPicDesc *outputDesc, const acldvppLutMap *lutMap, aclrtStream stream) {
  PictureView source;
  PictureView target;
  aclError error = CheckChannel(__func__, channelDesc);
  if (error == ACL_SUCCESS) error = ViewPicture(__func__, inputDesc, &source);
  if (error == ACL_SUCCESS) error = ViewPicture(__func__, outputDesc, &target);
  if (error == ACL_SUCCESS && lutMap == nullptr) {
    error = Fail(ACL_ERROR_INVALID_PARAM, "{}: the table is null", __func__);
  }
  if (error != ACL_SUCCESS) return error;
  if (source.format != target.format || source.width != target.width || source.height != target.height) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: input and output differ in pixel format or size", __func__);
  }
  return SubmitMedia(stream, [source, target, tables = lutMap->tables] { return LookUp(source, tables, target); });
}

aclError acldvppVpcMakeBorderAsync(const acldvppChannelDesc *channelDesc, const acldvppPicDesc *inputDesc,
                                   acldvppPicDesc *outputDesc, const acldvppBorderConfig *borderConfig,
                                   aclrtStream stream) {
  PictureView source;
  PictureView target;
  aclError error = CheckChannel(__func__, channelDesc);
  if (error == ACL_SUCCESS) error = ViewPicture(__func__, inputDesc, &source);
  if (error == ACL_SUCCESS) error = ViewPicture(__func__, outputDesc, &target);
  if (error == ACL_SUCCESS && borderConfig == nullptr) {
    error = Fail(ACL_ERROR_INVALID_PARAM, "{}: the border is null", __func__);
  }
  if (error != ACL_SUCCESS) return error;
  const uint64_t width = uint64_t{borderConfig->left} + borderConfig->right + source.width;
  const uint64_t height = uint64_t{borderConfig->top} + borderConfig->bottom + source.height;
  if (width != static_cast<uint64_t>(target.width) || height != static_cast<uint64_t>(target.height)) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: the output is not the input plus the border", __func__);
  }
  Border border{borderConfig->type, static_cast<int>(borderConfig->left), static_cast<int>(borderConfig->right),
                static_cast<int>(borderConfig->top), static_cast<int>(borderConfig->bottom), {}};
  for (size_t i = 0; i < border.value.size(); ++i) {
    const double value = borderConfig->value[i];
    if (!(value >= 0 && value <= 255)) {
      return Fail(ACL_ERROR_INVALID_PARAM, "{}: the border's value {} is not within 0 and 255", __func__, value);
    }
    border.value[i] = static_cast<uint8_t>(std::lround(value));
  }
  return SubmitMedia(stream, [source, border, target] { return MakeBorder(source, border, target); });
}
