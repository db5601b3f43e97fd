#include "apps/atc/om_info.h"
#include "base/standard_streams.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "npu_sim/om/om_reader.h"
#include "npu_sim/program/model_report.h"

namespace npustream::atc {
namespace {

void PrintPorts(const char* title, const std::vector<om::PortInfo>& ports) {
  for (size_t i = 0; i < ports.size(); ++i) {
    Print(stdout, "{}[{}]: {} {}[{}]\n", title, i, ports[i].name, om::ToString(ports[i].type),
          fmt::join(ports[i].dims, ","));
  }
}

}  // namespace

Check PrintOmInfo(const std::filesystem::path& path) {
  const auto opened = om::OmFile::Open(path);
  if (!opened.ok()) return FileFailure(opened.status());
  const om::OmFile& file = **opened;
  const om::OmInfo& info = file.info();
  const om::OmSizes& sizes = file.sizes();
  const auto report = program::ReportModel(file);
  Print(stdout, "============ Display Model Info start ============\n");
  Print(stdout, "Original Atc command line: {}\n", info.command_line);
  Print(stdout, "system info: atc_version[{}], soc_version[{}], framework_type[5], name[{}]\n", info.toolkit_version,
        info.soc, info.name);
  Print(stdout, "resource info: memory_size [{} B], weight_size [{} B], stream_num [1], event_num [0]\n", report.ok() ? report->memory.work_bytes : 0,
        sizes.weight_bytes);
  Print(stdout, "om info: modeldef_size [{} B], weight_data_size [{} B], header_size [{} B], file_size [{} B]\n",
        sizes.metadata_bytes, sizes.weight_bytes, sizes.header_bytes, sizes.file_bytes);
  Print(stdout, "node info: node_num [{}], batch [{}]\n", sizes.node_count, fmt::join(info.gears, ","));
  PrintPorts("input", info.inputs);
  PrintPorts("output", info.outputs);
  if (!report.ok()) return ModelFailure(report.status());
  Print(stdout, "{}", program::ToText(*report));
  Print(stdout, "============ Display Model Info end   ============\n");
  return std::nullopt;
}

}  // namespace npustream::atc
