#include "npu_sim/compiler/onnx/live_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <string_view>

namespace npustream::compiler {
namespace {

Status Corrupt(std::string message) { return {StatusCode::kCorruptData, std::move(message)}; }

// Appends what `graph` reads and does not have.
void AddNamesAround(const OnnxGraph& graph, std::vector<std::string>& names) {
  std::set<std::string> own;
  for (const OnnxValue& input : graph.inputs) own.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) own.insert(name);
  for (const OnnxNode& node : graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  const auto add = [&](const std::string& name) {
    if (own.count(name) == 0) names.push_back(name);
  };
  for (const OnnxNode& node : graph.nodes) {
    for (const std::string& name : NamesReadBy(node)) add(name);
  }
  for (const OnnxValue& output : graph.outputs) add(output.name);
}

class Sorter {
 public:
  Sorter(const OnnxGraph& graph, const std::function<bool(const std::string&)>& is_around)
      : graph_(graph), is_around_(is_around), live_(graph.nodes.size()) {
    for (const OnnxNode& node : graph.nodes) reads_.push_back(NamesReadBy(node));
  }

  Result<std::vector<const OnnxNode*>> Run(const std::vector<std::string>& outputs) {
    NPUSTREAM_RETURN_IF_ERROR(FindProducers());
    NPUSTREAM_RETURN_IF_ERROR(MarkLive(outputs));
    return Sort();
  }

 private:
  bool IsGiven(const std::string& name) const { return given_.count(name) != 0; }

  Status FindProducers() {
    for (const OnnxValue& input : graph_.inputs) {
      if (!given_.insert(input.name).second) return Corrupt(fmt::format("two inputs are called '{}'", input.name));
    }
    for (const auto& [name, tensor] : graph_.initializers) given_.insert(name);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (const std::string& name : graph_.nodes[n].outputs) {
        if (name.empty()) continue;
        if (IsGiven(name) || !producers_.emplace(name, n).second) {
          return Corrupt(fmt::format("node '{}' ({}) writes '{}', which exists already", graph_.nodes[n].name,
                                     graph_.nodes[n].op, name));
        }
      }
    }
    return {};
  }

  // Walks from the outputs to what they need, without recursion: models may be deep.
  Status MarkLive(const std::vector<std::string>& outputs) {
    std::vector<size_t> pending;
    const auto need = [&](const std::string& name, const std::string& reader) -> Status {
      if (name.empty() || IsGiven(name)) return {};
      const auto producer = producers_.find(name);
      if (producer == producers_.end() && is_around_(name)) return {};
      if (producer == producers_.end()) return Corrupt(fmt::format("{} '{}', which nothing produces", reader, name));
      if (!live_[producer->second]) pending.push_back(producer->second);
      live_[producer->second] = true;
      return {};
    };
    for (const std::string& name : outputs) NPUSTREAM_RETURN_IF_ERROR(need(name, "the model's output is"));
    while (!pending.empty()) {
      const size_t n = pending.back();
      const OnnxNode& node = graph_.nodes[n];
      pending.pop_back();
      for (const std::string& name : reads_[n]) {
        NPUSTREAM_RETURN_IF_ERROR(need(name, fmt::format("node '{}' ({}) reads", node.name, node.op)));
      }
    }
    return {};
  }

  // Kahn's algorithm; among nodes that are ready the file's order decides.
  Result<std::vector<const OnnxNode*>> Sort() const {
    std::vector<std::vector<size_t>> readers(graph_.nodes.size());
    std::vector<size_t> waiting_for(graph_.nodes.size());
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    size_t live_count = 0;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!live_[n]) continue;
      ++live_count;
      for (const std::string& name : reads_[n]) {
        const auto producer = producers_.find(name);
        if (producer == producers_.end()) continue;
        readers[producer->second].push_back(n);
        ++waiting_for[n];
      }
      if (waiting_for[n] == 0) ready.push(n);
    }
    std::vector<const OnnxNode*> order;
    while (!ready.empty()) {
      const size_t n = ready.top();
      ready.pop();
      order.push_back(&graph_.nodes[n]);
      for (const size_t reader : readers[n]) {
        if (--waiting_for[reader] == 0) ready.push(reader);
      }
    }
    if (order.size() != live_count) return CycleError(waiting_for);
    return order;
  }

  Status CycleError(const std::vector<size_t>& waiting_for) const {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (live_[n] && waiting_for[n] > 0) {
        return Corrupt(fmt::format("node '{}' ({}) is part of a cycle or depends on one", graph_.nodes[n].name,
                                   graph_.nodes[n].op));
      }
    }
    return Corrupt("the nodes form a cycle");
  }

  const OnnxGraph& graph_;
  const std::function<bool(const std::string&)>& is_around_;
  std::vector<std::vector<std::string>> reads_;  // by node
  std::set<std::string> given_;
  std::map<std::string, size_t> producers_;
  std::vector<bool> live_;
};

}  // namespace

std::vector<std::string> NamesReadBy(const OnnxNode& node) {
  std::vector<std::string> names = node.inputs;
  for (const auto& [attribute, subgraph] : node.subgraphs) AddNamesAround(*subgraph, names);
  return names;
}

Result<std::vector<const OnnxNode*>> LiveNodesInOrder(const OnnxGraph& graph, const std::vector<std::string>& outputs,
                                                      const std::function<bool(const std::string&)>& is_around) {
  return Sorter(graph, is_around).Run(outputs);
}

}  // namespace npustream::compiler
