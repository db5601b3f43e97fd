#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "elements/memory/picture_copy.h"

namespace npustream::elements {

// What npuupload and npudownload have in common.

// `caps` with every structure in memory:NPU, or in host memory; a new reference.
GstCaps* CapsOnDevice(const GstCaps* caps);
GstCaps* CapsOnHost(const GstCaps* caps);
// `caps`, restricted to `filter` (may be null) in its order; takes `caps`.
GstCaps* FilterCaps(GstCaps* caps, GstCaps* filter);

// The planes of a mapped frame.
HostPicture HostPictureOf(GstVideoFrame* frame);

// GstBaseTransform's get_unit_size for raw video.
gboolean VideoUnitSize(GstBaseTransform* transform, GstCaps* caps, gsize* size);
// Its transform_size: a frame's bytes follow from its caps alone, whatever strides the other side has.
gboolean VideoTransformSize(GstBaseTransform* transform, GstPadDirection direction, GstCaps* caps, gsize size,
                            GstCaps* other_caps, gsize* other_size);
// Its transform_meta: everything goes on to the copy except what describes the old memory.
gboolean KeepMeta(GstBaseTransform* transform, GstBuffer* out, GstMeta* meta, GstBuffer* in);

}  // namespace npustream::elements
