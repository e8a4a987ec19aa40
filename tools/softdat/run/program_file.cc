// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/program_file.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace softdat::tools::run {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Dynamic = ElfW(Dyn);

// More of either is no program.
constexpr std::size_t kMostSegments = 1024;
constexpr std::size_t kMostDynamic = 65536;

constexpr int kNativeMachine =
#if defined(__x86_64__)
    EM_X86_64;
#elif defined(__aarch64__)
    EM_AARCH64;
#else
    EM_NONE;
#endif

bool is_executable_file(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// A reader of an ELF file of our own word size and byte order. Whatever lies beyond the file reads as nothing.
class ElfReader {
 public:
  explicit ElfReader(const std::string& path) : file_(path, std::ios::binary) {}

  template <typename Value>
  bool read(std::uint64_t offset, Value* values, std::size_t count = 1) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(values), static_cast<std::streamsize>(sizeof(Value) * count));
    return file_.good();
  }

  std::string read_text(std::uint64_t offset) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    std::string text;
    std::getline(file_, text, '\0');
    return text;
  }

 private:
  std::ifstream file_;
};

std::vector<Segment> read_segments(ElfReader& reader, const Header& header) {
  std::vector<Segment> segments(std::min<std::size_t>(header.e_phnum, kMostSegments));
  if (header.e_phentsize != sizeof(Segment) || !reader.read(header.e_phoff, segments.data(), segments.size()))
    return {};
  return segments;
}

std::uint64_t to_offset(const std::vector<Segment>& segments, std::uint64_t address) {
  for (const Segment& segment : segments) {
    const bool is_inside =
        segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz;
    if (is_inside) return address - segment.p_vaddr + segment.p_offset;
  }
  return 0;
}

void read_dynamic(ElfReader& reader, const std::vector<Segment>& segments, const Segment& dynamic,
                  ProgramFile& program) {
  std::vector<Dynamic> entries(std::min<std::size_t>(dynamic.p_filesz / sizeof(Dynamic), kMostDynamic));
  if (!reader.read(dynamic.p_offset, entries.data(), entries.size())) return;
  const auto find = [&](auto tag) {
    return std::find_if(entries.begin(), entries.end(), [&](const Dynamic& entry) { return entry.d_tag == tag; });
  };
  const auto table = find(DT_STRTAB);
  if (table == entries.end()) return;
  // DT_STRTAB is an address as linked, and strings are read by their place in the file.
  const std::uint64_t texts = to_offset(segments, table->d_un.d_ptr);
  if (texts == 0) return;
  for (const Dynamic& entry : entries) {
    if (entry.d_tag == DT_NEEDED) program.needed.push_back(reader.read_text(texts + entry.d_un.d_val));
  }
  const auto rpath = find(DT_RPATH);
  // The loader ignores DT_RPATH beside DT_RUNPATH, which comes after LD_LIBRARY_PATH (ld.so(8)).
  if (rpath != entries.end() && find(DT_RUNPATH) == entries.end()) {
    program.rpath = reader.read_text(texts + rpath->d_un.d_val);
  }
}

void read_elf(ElfReader& reader, ProgramFile& program) {
  Header header;
  program.is_foreign = !reader.read(0, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
                       header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != kNativeMachine;
  if (program.is_foreign) return;
  const std::vector<Segment> segments = read_segments(reader, header);
  for (const Segment& segment : segments) {
    if (segment.p_type == PT_INTERP) program.loader = reader.read_text(segment.p_offset);
    if (segment.p_type == PT_DYNAMIC) read_dynamic(reader, segments, segment, program);
  }
  // Without an interpreter (PT_INTERP) no loader runs, and no shared library comes in.
  program.is_static = program.loader.empty();
}

bool is_privileged(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return false;
  // In these cases the kernel sets AT_SECURE, and the loader ignores LD_LIBRARY_PATH and LD_PRELOAD.
  const bool changes_user = (found.st_mode & S_ISUID) != 0 && found.st_uid != ::geteuid();
  const bool changes_group = (found.st_mode & S_ISGID) != 0 && found.st_gid != ::getegid();
  const bool has_capabilities = ::geteuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  return changes_user || changes_group || has_capabilities;
}

}  // namespace

std::optional<std::string> find_program(const std::string& word) {
  if (word.find('/') != word.npos) return is_executable_file(word) ? std::optional(word) : std::nullopt;
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "/bin:/usr/bin" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string candidate = (directory.empty() ? "." : directory) + '/' + word;
    if (is_executable_file(candidate)) return candidate;
  }
  return std::nullopt;
}

ProgramFile inspect_program(const std::string& path) {
  ProgramFile program;
  program.path = path;
  program.is_privileged = is_privileged(path);
  ElfReader reader(path);
  char magic[SELFMAG];
  program.is_elf = reader.read(0, magic, SELFMAG) && std::memcmp(magic, ELFMAG, SELFMAG) == 0;
  if (program.is_elf) read_elf(reader, program);
  return program;
}

std::vector<std::string> dat_libraries(const ProgramFile& program) {
  std::vector<std::string> found;
  for (const std::string& library : program.needed) {
    const std::string name = library.substr(library.rfind('/') + 1);
    const bool is_dat = name.starts_with("libdat.so") || name.starts_with("libdat2.so") || name.starts_with("libdapl");
    if (is_dat) found.push_back(library);
  }
  return found;
}

}  // namespace softdat::tools::run
