// Collects the functions of one instruction set. The last part of a table_*.cpp.
namespace npustream::kernels {
namespace {

SimdTable MakeTable() {
  SimdTable table = {};
  FillUnary(table);
  FillBinary(table);
  FillLayout(table);
  FillPool(table);
  FillAipp(table);
  FillRows(table);
  table.power = Power;
  return table;
}

}  // namespace
}  // namespace npustream::kernels
