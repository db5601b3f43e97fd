#pragma once

#include <memory>

#include <gst/gst.h>
#include <gst/video/video.h>

namespace npustream::elements {

// A GstMeta that carries a C++ value. Traits (one struct per meta, in its own header) give
//   using Payload; static constexpr const char* kApiName, *kName; static const gchar* const* Tags();
//   static bool Scale(Payload&, const GstVideoMetaTransform&): what becomes of it when the frame is scaled; false:
//   dropped.
// Copies of a buffer get a copy of the value. Functions are defined in payload_meta_impl.h and instantiated once, in
// the library npustream_gst, because a meta must be registered once in a process.
template <typename Traits>
struct PayloadMeta {
  using Payload = typename Traits::Payload;
  GstMeta meta;
  Payload payload;

  static GType Api();
  static const GstMetaInfo* Info();
  // Attaches `payload`; the buffer must be writable.
  static PayloadMeta* Add(GstBuffer* buffer, Payload payload);
  // The first one, or null.
  static Payload* Get(GstBuffer* buffer);
  // Detaches all of them.
  static void RemoveAll(GstBuffer* buffer);
};

// Calls `visit(Payload&)` for every meta of this kind until it returns false.
template <typename Meta, typename Visit>
void ForEachPayload(GstBuffer* buffer, Visit visit) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, Meta::Api())) {
    if (!visit(reinterpret_cast<Meta*>(meta)->payload)) return;
  }
}

}  // namespace npustream::elements
