#pragma once

// Included by the .cpp of a meta only; see payload_meta.h.
#include <memory>

#include "elements/meta/payload_meta.h"

namespace npustream::elements {

template <typename Traits>
gboolean InitPayloadMeta(GstMeta* meta, gpointer, GstBuffer*) {
  std::construct_at(&reinterpret_cast<PayloadMeta<Traits>*>(meta)->payload);
  return TRUE;
}

template <typename Traits>
void FreePayloadMeta(GstMeta* meta, GstBuffer*) {
  std::destroy_at(&reinterpret_cast<PayloadMeta<Traits>*>(meta)->payload);
}

template <typename Traits>
gboolean TransformPayloadMeta(GstBuffer* destination, GstMeta* meta, GstBuffer*, GQuark type, gpointer data) {
  typename Traits::Payload payload = reinterpret_cast<PayloadMeta<Traits>*>(meta)->payload;
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) {
    if (!Traits::Scale(payload, *static_cast<const GstVideoMetaTransform*>(data))) return FALSE;
  } else if (!GST_META_TRANSFORM_IS_COPY(type)) {
    return FALSE;
  }
  PayloadMeta<Traits>::Add(destination, std::move(payload));
  return TRUE;
}

template <typename Traits>
GType PayloadMeta<Traits>::Api() {
  static const GType type = gst_meta_api_type_register(Traits::kApiName, const_cast<const gchar**>(Traits::Tags()));
  return type;
}

template <typename Traits>
const GstMetaInfo* PayloadMeta<Traits>::Info() {
  static const GstMetaInfo* const info =
      gst_meta_register(Api(), Traits::kName, sizeof(PayloadMeta), InitPayloadMeta<Traits>, FreePayloadMeta<Traits>,
                        TransformPayloadMeta<Traits>);
  return info;
}

template <typename Traits>
PayloadMeta<Traits>* PayloadMeta<Traits>::Add(GstBuffer* buffer, Payload payload) {
  auto* meta = reinterpret_cast<PayloadMeta*>(gst_buffer_add_meta(buffer, Info(), nullptr));
  meta->payload = std::move(payload);
  return meta;
}

template <typename Traits>
typename PayloadMeta<Traits>::Payload* PayloadMeta<Traits>::Get(GstBuffer* buffer) {
  GstMeta* meta = gst_buffer_get_meta(buffer, Api());
  return meta == nullptr ? nullptr : &reinterpret_cast<PayloadMeta*>(meta)->payload;
}

template <typename Traits>
void PayloadMeta<Traits>::RemoveAll(GstBuffer* buffer) {
  while (GstMeta* meta = gst_buffer_get_meta(buffer, Api())) gst_buffer_remove_meta(buffer, meta);
}

}  // namespace npustream::elements
