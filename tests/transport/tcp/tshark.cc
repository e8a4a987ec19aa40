// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/tcp/tshark.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace softdat::transport::tcp {
namespace {

enum class Kind { kNumber, kHex, kBytes };

struct Field {
  const char* name;
  Kind kind;
};

constexpr Field kFields[] = {
    {"iwarp_mpa.marker_flag", Kind::kNumber},
    {"iwarp_mpa.crc_flag", Kind::kNumber},
    {"iwarp_mpa.rej_flag", Kind::kNumber},
    {"iwarp_mpa.res", Kind::kHex},
    {"iwarp_mpa.rev", Kind::kNumber},
    {"iwarp_mpa.pdlength", Kind::kNumber},
    {"iwarp_mpa.privatedata", Kind::kBytes},
    {"iwarp_mpa.ulpdulength", Kind::kNumber},
    {"iwarp_ddp.tagged_flag", Kind::kNumber},
    {"iwarp_ddp.last_flag", Kind::kNumber},
    {"iwarp_ddp.dv", Kind::kNumber},
    {"iwarp_rdma.version", Kind::kNumber},
    {"iwarp_rdma.opcode", Kind::kHex},
    {"iwarp_ddp.stag", Kind::kHex},
    {"iwarp_ddp.tagged_offset", Kind::kHex},
    {"iwarp_rdma.inval_stag", Kind::kHex},
    {"iwarp_ddp.qn", Kind::kNumber},
    {"iwarp_ddp.msn", Kind::kNumber},
    {"iwarp_ddp.mo", Kind::kNumber},
    {"iwarp_rdma.sinkstag", Kind::kHex},
    {"iwarp_rdma.sinkto", Kind::kHex},
    {"iwarp_rdma.rdmardsz", Kind::kNumber},
    {"iwarp_rdma.srcstag", Kind::kHex},
    {"iwarp_rdma.srcto", Kind::kHex},
    {"iwarp_rdma.atomic.opcode", Kind::kNumber},
    {"iwarp_rdma.atomic.request_identifier", Kind::kNumber},
    {"iwarp_rdma.atomic.remote_stag", Kind::kHex},
    {"iwarp_rdma.atomic.remote_tagged_offset", Kind::kHex},
    {"iwarp_rdma.atomic.add_data", Kind::kNumber},
    {"iwarp_rdma.atomic.add_mask", Kind::kHex},
    {"iwarp_rdma.atomic.swap_data", Kind::kNumber},
    {"iwarp_rdma.atomic.swap_mask", Kind::kHex},
    {"iwarp_rdma.atomic.compare_data", Kind::kNumber},
    {"iwarp_rdma.atomic.compare_mask", Kind::kHex},
    {"iwarp_rdma.atomic.original_request_identifier", Kind::kNumber},
    {"iwarp_rdma.atomic.original_remote_data_value", Kind::kNumber},
    {"iwarp_rdma.term_layer", Kind::kNumber},
    {"iwarp_rdma.term_etype_rdma", Kind::kNumber},
    {"iwarp_rdma.term_etype_ddp", Kind::kNumber},
    {"iwarp_rdma.term_etype_llp", Kind::kNumber},
    {"iwarp_rdma.term_errcode_rdma", Kind::kHex},
    {"iwarp_rdma.term_errcode_ddp_tagged", Kind::kHex},
    {"iwarp_rdma.term_errcode_ddp_untagged", Kind::kHex},
    {"iwarp_rdma.term_errcode_llp", Kind::kHex},
    {"iwarp_rdma.term_errcode", Kind::kHex},
    {"iwarp_rdma.term_hdrct_m", Kind::kNumber},
    {"iwarp_rdma.hdrct_d", Kind::kNumber},
    {"iwarp_rdma.hdrct_r", Kind::kNumber},
    {"iwarp_rdma.term_ddp_seg_len", Kind::kBytes},
    {"iwarp_rdma.term_ddp_h", Kind::kBytes},
    {"iwarp_rdma.term_rdma_h", Kind::kBytes},
    {"iwarp_mpa.crc_check", Kind::kHex},
};

// Versions print booleans, leading zeros and bytes in different ways.
std::string plain(const Field& field, std::string value) {
  if (field.kind == Kind::kBytes) {
    std::erase(value, ':');
    return value;
  }
  if (value == "True") return "1";
  if (value == "False") return "0";
  const unsigned long long number = std::strtoull(value.c_str(), nullptr, 0);
  char text[32];
  std::snprintf(text, sizeof text, field.kind == Kind::kHex ? "0x%llx" : "%llu", number);
  return text;
}

std::string short_name(const std::string& name) {
  return name.substr(name.find('.') + 1);
}

// tcp.stream, tcp.dstport and the fields of the table, with bars between.
std::string line_of(const std::string& row, int server_port) {
  std::istringstream values(row);
  std::string stream, port, value;
  std::getline(values, stream, '|');
  std::getline(values, port, '|');
  std::string line = stream + (std::atoi(port.c_str()) == server_port ? " >" : " <");
  const std::size_t empty = line.size();
  for (const Field& field : kFields) {
    if (!std::getline(values, value, '|')) break;
    if (!value.empty()) line += " " + short_name(field.name) + "=" + plain(field, value);
  }
  return line.size() == empty ? std::string() : line;
}

}  // namespace

std::string run(const std::string& command) {
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
  ::pclose(pipe);
  return output;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

bool has_tshark() {
  return !run("tshark --version 2>/dev/null").empty();
}

std::string dissect(const std::string& path, const std::string& arguments) {
  return run("tshark -n --disable-protocol rpcordma -r '" + path + "' " + arguments + " 2>/dev/null");
}

std::vector<std::string> dissected_frames(const std::string& path) {
  constexpr int kServerPort = 7174;
  std::string arguments = "-T fields -E separator='|' -E occurrence=a -E aggregator=, -e tcp.stream -e tcp.dstport";
  for (const Field& field : kFields) arguments += std::string(" -e ") + field.name;
  std::vector<std::string> frames;
  std::istringstream rows(dissect(path, arguments));
  for (std::string row; std::getline(rows, row);) {
    const std::string line = line_of(row, kServerPort);
    if (!line.empty()) frames.push_back(line);
  }
  return frames;
}

}  // namespace softdat::transport::tcp
