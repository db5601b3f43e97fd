#pragma once

#include <memory>
#include <string>

#include <gst/gst.h>

#include "base/status.h"

namespace npustream::elements {

// Small things that every shell needs.

template <typename T>
struct GObjectUnref {
  void operator()(T* object) const { g_object_unref(object); }
};
struct CapsUnref {
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
};
using UniqueCaps = std::unique_ptr<GstCaps, CapsUnref>;

// Properties may be set from any thread while others read them.
class ObjectLock {
 public:
  explicit ObjectLock(gpointer object) : object_(object) { GST_OBJECT_LOCK(object_); }
  ~ObjectLock() { GST_OBJECT_UNLOCK(object_); }
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

 private:
  gpointer object_;
};

inline std::string StringOf(const GValue* value) {
  const gchar* text = g_value_get_string(value);
  return text == nullptr ? std::string() : std::string(text);
}

// Every property of ours can be read and written and has a static description.
constexpr GParamFlags kReadWrite =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
constexpr GParamFlags kReadWriteAnyTime =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
constexpr GParamFlags kReadOnly = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

// The bus message of a failure that stops the element.
void PostError(GstElement* element, const Status& status);
// Likewise for one that does not.
void PostWarning(GstElement* element, const Status& status);

// The name, without folder, of the file that a pad's data comes from; empty when upstream does not say or it is no
// file. What a network's URI looks like is its server's affair, and passwords stand anywhere in it.
std::string SourceNameOf(GstPad* sink_pad);

}  // namespace npustream::elements
