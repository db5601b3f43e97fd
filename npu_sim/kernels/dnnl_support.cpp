#include "npu_sim/kernels/dnnl_support.h"

#include <omp.h>

#include <string>

namespace npustream::kernels {

using dnnl::memory;

const dnnl::engine& CpuEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

OneThread::OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
OneThread::~OneThread() { omp_set_num_threads(before_); }

memory::format_tag TagOf(om::Layout layout) {
  switch (layout) {
    case om::Layout::kPlain: return memory::format_tag::nchw;
    case om::Layout::kBlocked8: return memory::format_tag::nChw8c;
    case om::Layout::kBlocked16: return memory::format_tag::nChw16c;
    case om::Layout::kBlocked4: return memory::format_tag::nChw4c;
  }
  return memory::format_tag::undef;
}

std::optional<om::Layout> LayoutOf(const memory::desc& desc) {
  for (const om::Layout layout : {om::Layout::kPlain, om::Layout::kBlocked8, om::Layout::kBlocked16}) {
    if (desc == memory::desc(dnnl_version::DimsOf(desc), dnnl_version::TypeOf(desc), TagOf(layout))) return layout;
  }
  return std::nullopt;
}

om::Bytes PackConstant(std::span<const std::byte> plain, const memory::desc& from, const memory::desc& to) {
  om::Bytes packed(to.get_size());
  memory source(from, CpuEngine(), const_cast<std::byte*>(plain.data()));
  memory target(to, CpuEngine(), packed.data());
  dnnl::stream stream(CpuEngine());
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
  return packed;
}

DnnlCall::DnnlCall(dnnl::primitive primitive, const std::vector<std::pair<int, memory::desc>>& arguments)
    : stream_(CpuEngine()), primitive_(std::move(primitive)) {
  for (const auto& [name, desc] : arguments) {
    memories_.emplace_back(desc, CpuEngine(), nullptr);
    arguments_.push_back({name, memories_.back().get()});
  }
  addresses_.resize(arguments.size());
}

void DnnlCall::SetAddress(size_t argument, const void* address) {
  if (addresses_[argument] == address) return;
  addresses_[argument] = address;
  dnnl_version::SetAddress(memories_[argument].get(), const_cast<void*>(address), stream_.get());
}

Status DnnlCall::Execute() {
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
  if (status != dnnl_success)
    return Status(StatusCode::kInternal, "oneDNN: execution failed with status " + std::to_string(status));
  return {};
}

dnnl::matmul::primitive_desc DescribeProduct(const dnnl::memory::desc& x, const dnnl::memory::desc& w,
                                             const dnnl::memory::desc& y) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return dnnl_version::Describe<dnnl::matmul>(CpuEngine(), attributes, x, w, y);
}

DnnlCall CallProduct(const dnnl::matmul::primitive_desc& product) {
  return DnnlCall(dnnl::matmul(product), {{DNNL_ARG_SRC, product.src_desc()},
                                          {DNNL_ARG_WEIGHTS, product.weights_desc()},
                                          {DNNL_ARG_DST, product.dst_desc()},
                                          {DNNL_ARG_SCRATCHPAD, product.scratchpad_desc()}});
}

}  // namespace npustream::kernels
