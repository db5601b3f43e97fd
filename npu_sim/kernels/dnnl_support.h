#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "npu_sim/kernels/dnnl_version.h"
#include "npu_sim/kernels/kernel.h"

// What the kernels on oneDNN share. oneDNN's C++ interface throws: every use outside Executor::Run stands inside
// CatchDnnl; Run uses the C functions.
namespace npustream::kernels {

const dnnl::engine& CpuEngine();

// oneDNN decides at creation for how many threads a primitive is made: one, as each AI core is one thread.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// The value of `function()`, or oneDNN's exception as a Status.
template <typename Function>
auto CatchDnnl(Function function) -> Result<decltype(function())> {
  try {
    const OneThread one_thread;
    return function();
  } catch (const dnnl::error& error) {
    return Status(StatusCode::kUnsupported, std::string("oneDNN: ") + error.what());
  } catch (const std::exception& error) {
    return Status(StatusCode::kInternal, std::string("oneDNN: ") + error.what());
  }
}

template <typename T>
Result<T> Flatten(Result<Result<T>> nested) {
  if (!nested.ok()) return nested.status();
  return std::move(nested).value();
}

dnnl::memory::format_tag TagOf(om::Layout layout);
// The layout of a four-dimensional descriptor; nothing when it is none of ours.
std::optional<om::Layout> LayoutOf(const dnnl::memory::desc& desc);

// Copies constants into the form that `desc` describes.
om::Bytes PackConstant(std::span<const std::byte> plain, const dnnl::memory::desc& from, const dnnl::memory::desc& to);

// A primitive with its memories; addresses are set before each run, and only when they changed.
class DnnlCall {
 public:
  // `arguments`: pairs of DNNL_ARG_… and descriptor.
  DnnlCall(dnnl::primitive primitive, const std::vector<std::pair<int, dnnl::memory::desc>>& arguments);
  void SetAddress(size_t argument, const void* address);
  Status Execute();

 private:
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;
  std::vector<const void*> addresses_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

// y = x · w with a scratch buffer of the caller's.
dnnl::matmul::primitive_desc DescribeProduct(const dnnl::memory::desc& x, const dnnl::memory::desc& w,
                                             const dnnl::memory::desc& y);
// Its arguments, in this order: x, w, y, scratch buffer.
DnnlCall CallProduct(const dnnl::matmul::primitive_desc& product);

}  // namespace npustream::kernels
