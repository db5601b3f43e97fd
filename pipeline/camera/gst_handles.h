#pragma once

#include <gst/gst.h>

#include "base/unique_handle.h"

namespace npustream::pipeline {

using UniqueElement = UniqueHandle<GstElement, gst_object_unref>;
using UniqueObject = UniqueHandle<void, gst_object_unref>;
using UniquePad = UniqueHandle<GstPad, gst_object_unref>;
using UniqueBus = UniqueHandle<GstBus, gst_object_unref>;
using UniqueCaps = UniqueHandle<GstCaps, gst_caps_unref>;
using UniqueMessage = UniqueHandle<GstMessage, gst_message_unref>;
using UniqueSample = UniqueHandle<GstSample, gst_sample_unref>;
using UniqueError = UniqueHandle<GError, g_error_free>;
using UniqueText = UniqueHandle<gchar, g_free>;

}  // namespace npustream::pipeline
