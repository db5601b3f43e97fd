# Every third-party library the project links, found once.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(CURL REQUIRED)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

pkg_check_modules(GSTREAMER REQUIRED IMPORTED_TARGET
  gstreamer-1.0>=1.22 gstreamer-base-1.0 gstreamer-video-1.0 gstreamer-app-1.0 gstreamer-pbutils-1.0)
pkg_check_modules(GSTREAMER_CHECK REQUIRED IMPORTED_TARGET gstreamer-check-1.0)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(LIBAV REQUIRED IMPORTED_TARGET libavcodec libavformat libavutil libswscale)

find_program(NPUSTREAM_FLATC flatc REQUIRED)
if(NPUSTREAM_BUILD_TESTS)
  find_package(GTest REQUIRED)
  pkg_check_modules(GSTREAMER_RTSP_SERVER REQUIRED IMPORTED_TARGET gstreamer-rtsp-server-1.0)
endif()

# Debian's dnnl package configuration asks for OpenCL, which its library does not need to be linked.
find_library(NPUSTREAM_DNNL dnnl REQUIRED)
find_path(NPUSTREAM_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp REQUIRED)
add_library(DNNL::dnnl UNKNOWN IMPORTED)
set_target_properties(DNNL::dnnl PROPERTIES
  IMPORTED_LOCATION "${NPUSTREAM_DNNL}" INTERFACE_INCLUDE_DIRECTORIES "${NPUSTREAM_DNNL_INCLUDE}")

# The messages of ONNX files, without ONNX's operators. Debian's package configuration names targets of libraries that
# are not used; the generated headers need these two definitions.
find_library(NPUSTREAM_ONNX_PROTO onnx_proto REQUIRED)
find_path(NPUSTREAM_ONNX_INCLUDE onnx/onnx_pb.h REQUIRED)
add_library(ONNX::onnx_proto UNKNOWN IMPORTED)
set_target_properties(ONNX::onnx_proto PROPERTIES
  IMPORTED_LOCATION "${NPUSTREAM_ONNX_PROTO}" INTERFACE_INCLUDE_DIRECTORIES "${NPUSTREAM_ONNX_INCLUDE}"
  INTERFACE_COMPILE_DEFINITIONS "ONNX_NAMESPACE=onnx;ONNX_ML=1" INTERFACE_LINK_LIBRARIES protobuf::libprotobuf)

# OpenCV's own package configuration comes only with the whole of OpenCV; three modules are all that is used.
find_path(NPUSTREAM_OPENCV_INCLUDE opencv2/core.hpp PATH_SUFFIXES opencv4 REQUIRED)
foreach(module core imgproc imgcodecs)
  find_library(NPUSTREAM_OPENCV_${module} opencv_${module} REQUIRED)
  add_library(OpenCV::${module} UNKNOWN IMPORTED)
  set_target_properties(OpenCV::${module} PROPERTIES
    IMPORTED_LOCATION "${NPUSTREAM_OPENCV_${module}}" INTERFACE_INCLUDE_DIRECTORIES "${NPUSTREAM_OPENCV_INCLUDE}")
endforeach()
