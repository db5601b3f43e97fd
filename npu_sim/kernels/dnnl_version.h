#pragma once

#include <oneapi/dnnl/dnnl.hpp>

// All that differs between oneDNN 2 and 3 of what the kernels use.
namespace npustream::kernels::dnnl_version {

#if DNNL_VERSION_MAJOR >= 3

inline dnnl::memory::dims DimsOf(const dnnl::memory::desc& desc) { return desc.get_dims(); }
inline dnnl::memory::data_type TypeOf(const dnnl::memory::desc& desc) { return desc.get_data_type(); }

inline dnnl_status_t SetAddress(dnnl_memory_t memory, void* address, dnnl_stream_t) {
  return dnnl_memory_set_data_handle(memory, address);
}

inline void AppendActivation(dnnl::post_ops& post, dnnl::algorithm algorithm, float alpha, float beta) {
  post.append_eltwise(algorithm, alpha, beta);
}

// The descriptor of a primitive whose operation `arguments` describe.
template <typename Primitive, typename... Arguments>
typename Primitive::primitive_desc Describe(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                            const Arguments&... arguments) {
  return typename Primitive::primitive_desc(engine, arguments..., attributes);
}

#else

inline dnnl::memory::dims DimsOf(const dnnl::memory::desc& desc) { return desc.dims(); }
inline dnnl::memory::data_type TypeOf(const dnnl::memory::desc& desc) { return desc.data_type(); }

inline dnnl_status_t SetAddress(dnnl_memory_t memory, void* address, dnnl_stream_t stream) {
  return dnnl_memory_set_data_handle_v2(memory, address, stream);
}

inline void AppendActivation(dnnl::post_ops& post, dnnl::algorithm algorithm, float alpha, float beta) {
  post.append_eltwise(1, algorithm, alpha, beta);
}

template <typename Primitive, typename... Arguments>
typename Primitive::primitive_desc Describe(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                            const Arguments&... arguments) {
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), attributes, engine);
}

#endif

}  // namespace npustream::kernels::dnnl_version
