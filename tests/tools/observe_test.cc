// SPDX-License-Identifier: BSD-2-Clause
// The reader of counters, with owners that are honest, hostile, stopped and dying.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "base/counter_file.h"
#include "base/process_start.h"
#include "tools/softdat/observe/json.h"
#include "tools/softdat/observe/metrics.h"
#include "tools/softdat/observe/names.h"
#include "tools/softdat/observe/scan.h"
#include "tools/softdat/observe/table.h"

namespace softdat::tools::observe {
namespace {

using base::CounterFile;
using base::RecordKind;

base::EpRecord endpoint(std::uint64_t id, std::uint64_t sends) {
  base::EpRecord ep{};
  ep.id = id;
  ep.state = 9;
  ep.sums.transfers[0] = {sends, 8 * sends};
  base::set_text(ep.remote, "127.0.0.1");
  return ep;
}

base::ProcessRecord process(std::uint64_t sends) {
  base::ProcessRecord record{};
  record.sums.transfers[0] = {sends, 8 * sends};
  return record;
}

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void publish(CounterFile& file, std::uint64_t sends) {
  file.begin();
  file.add(RecordKind::kEp, endpoint(0x1000, sends));
  file.add(RecordKind::kEp, endpoint(0x2000, 2 * sends));
  file.add(RecordKind::kProcess, process(3 * sends));
  file.publish(now_ns(), 200'000'000);
}

Owner self() {
  return {.pid = static_cast<std::uint32_t>(::getpid()), .start = base::read_process_start("/proc/self/stat").value()};
}

// Our own file, as a reader opens it.
int open_own() {
  for (int fd = 3; fd < 1024; ++fd) {
    char target[64];
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    if (length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == base::kCounterFileLink) return fd;
  }
  return -1;
}

// A child of ours that runs `body` and then waits to be killed. Holds no counters of this process.
template <typename Body>
class Child {
 public:
  explicit Child(Body body) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      body();
      static_cast<void>(::write(ready[1], "x", 1));
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
  }
  ~Child() { end(); }
  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

// A file of that name and content, as a hostile process of the user may make it.
int make_file(const void* content, std::size_t length, int flags = MFD_ALLOW_SEALING) {
  const int fd = ::memfd_create(base::kCounterFileName, static_cast<unsigned>(flags));
  if (length > 0 && ::write(fd, content, length) != static_cast<ssize_t>(length)) ::_exit(1);
  return fd;
}

TEST(CounterFile, IsSealedAgainstItsPeers) {
  CounterFile file;
  ASSERT_TRUE(file.open());
  const int fd = open_own();
  ASSERT_GE(fd, 0);
  EXPECT_NE(::ftruncate(fd, 0), 0);
  EXPECT_NE(::ftruncate(fd, 1 << 30), 0);
  // On Linux before 5.1 others could still write; only readers would see that.
  if ((::fcntl(fd, F_GET_SEALS) & 0x0010) != 0) {
    EXPECT_LT(::pwrite(fd, "x", 1, 0), 0);
  }
}

TEST(CounterFile, ShowsTheLastSnapshotWhole) {
  CounterFile file;
  ASSERT_TRUE(file.open());
  EXPECT_FALSE(read_counters(open_own(), self())) << "nothing is published";
  for (std::uint64_t sends = 1; sends < 5; ++sends) {
    publish(file, sends);
    const auto snapshot = read_counters(open_own(), self());
    ASSERT_TRUE(snapshot);
    EXPECT_EQ(snapshot->eps.size(), 2u);
    EXPECT_EQ(snapshot->sums.transfers[0].number, 3 * sends);
  }
}

TEST(CounterFile, WhatIsBegunAndNotPublishedIsNotSeen) {
  CounterFile file;
  ASSERT_TRUE(file.open());
  publish(file, 7);
  file.begin();
  for (int i = 0; i < 100; ++i) file.add(RecordKind::kEp, endpoint(1, 9));
  const auto snapshot = read_counters(open_own(), self());
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->sums.transfers[0].number, 21u);
}

TEST(CounterFile, WhatHasNoRoomIsCountedAndTheSumsStay) {
  CounterFile file;
  ASSERT_TRUE(file.open());
  file.begin();
  const std::size_t many = base::kHalfBytes / sizeof(base::EpRecord) + 10;
  for (std::size_t i = 0; i < many; ++i) file.add(RecordKind::kEp, endpoint(i, 1));
  file.add(RecordKind::kProcess, process(many));
  file.publish(now_ns(), 1);
  const auto snapshot = read_counters(open_own(), self());
  ASSERT_TRUE(snapshot);
  EXPECT_GT(snapshot->head.left_out, 0u);
  EXPECT_EQ(snapshot->eps.size() + snapshot->head.left_out, many);
  EXPECT_EQ(snapshot->sums.transfers[0].number, many);
}

// Two threads instead of two processes; the writer never waits for the reader.
TEST(CounterFile, AReaderNeverSeesAMixture) {
  CounterFile file;
  ASSERT_TRUE(file.open());
  publish(file, 1);
  const int fd = open_own();
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    for (std::uint64_t sends = 2; !is_over; ++sends) {
      publish(file, sends);
      if (sends % 16 == 0) std::this_thread::yield();
    }
  });
  std::size_t seen = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto snapshot = read_counters(fd, self());
    if (!snapshot) continue;  // overtaken again and again
    ++seen;
    const std::uint64_t sends = snapshot->eps[0].sums.transfers[0].number;
    EXPECT_EQ(snapshot->eps[1].sums.transfers[0].number, 2 * sends);
    EXPECT_EQ(snapshot->sums.transfers[0].number, 3 * sends);
  }
  is_over = true;
  writer.join();
  EXPECT_TRUE(read_counters(fd, self()));
  std::printf("whole snapshots: %zu of 2000\n", seen);
}

TEST(Scanner, FindsAProcessAndForgetsItWhenItIsKilled) {
  Child child([] {
    auto* const file = new CounterFile;
    if (!file->open()) ::_exit(1);
    publish(*file, 5);
  });
  Scanner scanner;
  auto found = scanner.scan(child.pid());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pid, child.pid());
  EXPECT_EQ(found[0].snapshot.sums.transfers[0].number, 15u);
  EXPECT_FALSE(found[0].program.empty());
  child.end();
  EXPECT_TRUE(scanner.scan(child.pid()).empty());
}

TEST(Scanner, ReadsAStoppedProcess) {
  Child child([] {
    auto* const file = new CounterFile;
    if (!file->open()) ::_exit(1);
    publish(*file, 5);
    file->begin();  // and is stopped in the middle
    file->add(RecordKind::kEp, endpoint(1, 1));
  });
  ::kill(child.pid(), SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(child.pid(), &status, WUNTRACED), child.pid());
  const auto found = Scanner().scan(child.pid());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].snapshot.eps.size(), 2u);
}

// Its counters are its parent's.
TEST(Scanner, DoesNotTakeAChildForItsParent) {
  CounterFile file;
  ASSERT_TRUE(file.open());
  publish(file, 5);
  const int copy = ::dup(open_own());  // which a child keeps, other than the file's own
  const Child child([] {});
  EXPECT_TRUE(Scanner().scan(child.pid()).empty());
  ::close(copy);
}

TEST(Scanner, RefusesFilesThatLie) {
  struct Lie {
    const char* what;
    base::CounterFileHeader header;
    base::SnapshotHead head;
    bool is_found = false;
  };
  // The child adds its own number and start.
  const base::CounterFileHeader good{.magic = base::kCounterFileMagic,
                                     .version = base::kCounterFileVersion,
                                     .pid = 0,
                                     .half_bytes = base::kHalfBytes,
                                     .start = 0,
                                     .generation = 2};
  const base::SnapshotHead empty{2, sizeof(base::SnapshotHead), 0, 0, 0, 0};
  std::vector<Lie> lies(9, {"", good, empty});
  lies[0].what = "magic", lies[0].header.magic = 1;
  lies[1].what = "version", lies[1].header.version = 99;
  lies[2].what = "half bytes", lies[2].header.half_bytes = ~std::uint64_t{0};
  lies[3].what = "no generation", lies[3].header.generation = 0;
  lies[4].what = "another generation", lies[4].head.generation = 7;
  lies[5].what = "endless", lies[5].head.bytes = ~std::uint64_t{0};
  lies[6].what = "another process", lies[6].header.pid = 1;
  lies[7].what = "the process that had the number before", lies[7].header.start = ~std::uint64_t{0};
  lies[8].what = "the truth", lies[8].is_found = true;
  for (const Lie& lie : lies) {
    const Child child([&] {
      std::vector<char> bytes(base::kHalvesAt + sizeof lie.head);
      base::CounterFileHeader header = lie.header;
      header.pid += self().pid;
      header.start += self().start;
      std::memcpy(bytes.data(), &header, sizeof header);
      std::memcpy(bytes.data() + base::kHalvesAt, &lie.head, sizeof lie.head);
      static_cast<void>(make_file(bytes.data(), bytes.size()));
    });
    EXPECT_EQ(Scanner().scan(child.pid()).size(), lie.is_found ? 1u : 0u) << lie.what;
  }
}

TEST(Scanner, IsNotHarmedByAFileThatIsCutAndGrownUnderIt) {
  Child child([] {
    const int fd = make_file("", 0);
    const Owner parent = self();
    if (::fork() != 0) return;
    std::vector<char> bytes(base::kHalvesAt + 4096, 'x');
    base::CounterFileHeader header{.magic = base::kCounterFileMagic,
                                   .version = base::kCounterFileVersion,
                                   .pid = parent.pid,
                                   .half_bytes = base::kHalfBytes,
                                   .start = parent.start,
                                   .generation = 2};
    std::memcpy(bytes.data(), &header, sizeof header);
    // Ends with its parent, which the test kills.
    while (::getppid() == static_cast<pid_t>(header.pid)) {
      static_cast<void>(::pwrite(fd, bytes.data(), bytes.size(), 0));
      static_cast<void>(::ftruncate(fd, 100));
      static_cast<void>(::ftruncate(fd, 1 << 26));
    }
    ::_exit(0);
  });
  Scanner scanner;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(scanner.scan(child.pid()).empty());
}

// Bytes that this process has read so far.
std::uint64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t number = 0;
  file >> name >> number;
  EXPECT_EQ(name, "rchar:");
  return number;
}

// Each is a whole snapshot but for its end, so that the reader looks through all of it.
TEST(Scanner, IsNotKeptBusyByManyFiles) {
  const Child child([] {
    std::vector<char> bytes(base::kHalvesAt + sizeof(base::SnapshotHead));
    const base::CounterFileHeader header{.magic = base::kCounterFileMagic,
                                         .version = base::kCounterFileVersion,
                                         .pid = self().pid,
                                         .half_bytes = base::kHalfBytes,
                                         .start = self().start,
                                         .generation = 2};
    const base::SnapshotHead head{1, base::kHalfBytes, 0, 0, 0, 0};
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + base::kHalvesAt, &head, sizeof head);
    for (int i = 0; i < 200; ++i) {
      const int file = make_file(bytes.data(), bytes.size());
      if (::ftruncate(file, base::kHalvesAt + 2 * base::kHalfBytes) != 0) ::_exit(1);
    }
  });
  const std::uint64_t before = bytes_read();
  EXPECT_TRUE(Scanner().scan(child.pid()).empty());
  const std::uint64_t read = bytes_read() - before;
  EXPECT_GT(read, base::kHalfBytes) << "the files are refused at once";
  EXPECT_LT(read, 20 * base::kHalfBytes);
}

TEST(Scanner, SkipsHugePagesAndEmptyFiles) {
  const Child child([] {
    static_cast<void>(make_file("", 0));
    static_cast<void>(::memfd_create(base::kCounterFileName, MFD_HUGETLB));
  });
  EXPECT_TRUE(Scanner().scan(child.pid()).empty());
}

TEST(Scanner, IsNotHarmedByProcessesThatDieMeanwhile) {
  Scanner scanner;
  for (int i = 0; i < 30; ++i) {
    Child child([] {
      auto* const file = new CounterFile;
      if (!file->open()) ::_exit(1);
      publish(*file, 5);
    });
    std::thread killer([&] { child.end(); });
    static_cast<void>(scanner.scan());
    killer.join();
  }
}

TEST(Decode, SurvivesAnyBytes) {
  std::mt19937 random(4711);
  std::vector<std::byte> bytes(8192);
  std::size_t understood = 0;
  for (int round = 0; round < 20'000; ++round) {
    for (std::byte& each : bytes) each = static_cast<std::byte>(random());
    // Enough sense that the records are reached.
    const base::SnapshotHead head{1, bytes.size() - random() % 64, 5, 0, 0, 0};
    std::memcpy(bytes.data(), &head, sizeof head);
    std::size_t at = sizeof head;
    while (at + sizeof(base::RecordHead) < bytes.size()) {
      const std::uint32_t sizes[] = {sizeof(base::EpRecord), sizeof(base::EvdRecord), sizeof(base::FailureRecord), 24};
      const base::RecordHead record{static_cast<std::uint32_t>(random() % 9), sizes[random() % 4] + 8};
      std::memcpy(bytes.data() + at, &record, sizeof record);
      at += record.bytes;
    }
    if (const auto snapshot = decode(bytes)) ++understood;
  }
  std::printf("understood: %zu\n", understood);
}

// What goes to a terminal, to JSON and to Prometheus.
TEST(Output, HasNoControlCharactersOfAnOwner) {
  Process hostile;
  hostile.pid = 1;
  hostile.program = printable("\x1b]0;owned\x07\"\\\xff");
  base::EpRecord ep{};
  ep.state = 12345;
  ep.remote.fill('\x1b');  // without an end
  hostile.snapshot.eps.push_back(ep);
  base::FailureRecord failure{};
  failure.text.fill('\n');
  hostile.snapshot.failures.push_back(failure);
  base::IaRecord ia{};
  ia.name.fill('"');
  hostile.snapshot.ias.push_back(ia);
  std::string all = to_json({hostile}) + to_metrics({hostile}, true);
  for (const std::string& line : lines_of(process_table({hostile}, {}))) all += line;
  for (const std::string& line : lines_of(endpoint_table(hostile, {}))) all += line;
  for (const std::string& line : endpoint_lines(hostile, 0)) all += line;
  EXPECT_TRUE(
      std::all_of(all.begin(), all.end(), [](char each) { return each == '\n' || (each >= ' ' && each <= '~'); }));
}

TEST(Tables, SortFilterAndAlign) {
  Process process;
  process.pid = 12;
  process.program = "server";
  for (std::uint64_t i = 1; i <= 3; ++i) process.snapshot.eps.push_back(endpoint(i, 10 * i));
  process.snapshot.eps[1].state = 11;
  Process before = process;
  process.snapshot.head.published_ns = 2'000'000'000;
  process.snapshot.eps[2].sums.transfers[0].number += 100;
  Table table = endpoint_table(process, {before});
  ASSERT_EQ(table.rows.size(), 3u);
  sort_rows(table, 4, false);
  EXPECT_EQ(table.rows[0].endpoint, 3u);
  EXPECT_EQ(table.rows[0].cells[4].value, 50);  // a second
  sort_rows(table, 0, true);
  EXPECT_EQ(table.rows[0].endpoint, 3u);
  filter_rows(table, "DISCON");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].endpoint, 2u);
  const std::vector<std::string> lines = lines_of(table);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].size(), lines[1].size());
}

// Another process may have got the number.
TEST(Tables, CompareAProcessWithItselfAlone) {
  Process now;
  now.pid = 12;
  now.start = 100;
  now.snapshot.eps.push_back(endpoint(1, 30));
  now.snapshot.sums = now.snapshot.eps[0].sums;
  now.snapshot.head.published_ns = 2'000'000'000;
  Process before = now;
  before.snapshot.head.published_ns = 1'000'000'000;
  before.snapshot.eps[0].sums.transfers[0].number = before.snapshot.sums.transfers[0].number = 10;
  constexpr std::size_t kRate = 4;
  EXPECT_EQ(process_table({now}, {before}).rows[0].cells[kRate].value, 20);
  EXPECT_EQ(endpoint_table(now, {before}).rows[0].cells[kRate].value, 20);
  before.start = 99;
  EXPECT_EQ(process_table({now}, {before}).rows[0].cells[kRate].value, 0);
  EXPECT_EQ(endpoint_table(now, {before}).rows[0].cells[kRate].value, 0);
}

TEST(Tables, NumbersAndTimesAreShort) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(999), "999");
  EXPECT_EQ(short_number(1000), "1.00k");
  EXPECT_EQ(short_number(123456), "123k");
  EXPECT_EQ(short_number(1e18), "1.00E");
  EXPECT_EQ(short_number(1.8e19), "18.0E");
  EXPECT_EQ(short_time(59.9), "59s");
  EXPECT_EQ(short_time(185), "3m05s");
  EXPECT_EQ(short_time(7500), "2h05m");
  EXPECT_EQ(short_time(1e30), "11574d01h");
}

TEST(Metrics, AreDeclaredOnceAndTogether) {
  Process process;
  process.pid = 12;
  process.program = "server";
  process.snapshot.eps.push_back(endpoint(1, 10));
  process.snapshot.evds.push_back({});
  process.snapshot.srqs.push_back({});
  process.snapshot.ias.push_back({});
  const std::string text = to_metrics({process, process}, true);
  std::set<std::string> declared;
  std::string current;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("# HELP ")) continue;
    if (line.starts_with("# TYPE ")) {
      current = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(declared.insert(current).second) << current;
      continue;
    }
    EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), current) << line;
  }
  EXPECT_TRUE(declared.contains("softdat_endpoint_operations_total"));
  EXPECT_EQ(to_metrics({process}, false).find("softdat_endpoint_operations_total"), std::string::npos);
}

// As of an RDMA device, which counts what is posted and no more.
TEST(Output, SaysWhatADeviceDoesNotCount) {
  Process process;
  process.snapshot.eps.push_back(endpoint(1, 10));
  process.snapshot.eps.push_back(endpoint(2, 10));
  process.snapshot.eps[1].send_capacity = 4;
  const auto json = nlohmann::json::parse(to_json({process}));
  const auto& endpoints = json["processes"][0]["endpoints"];
  for (const char* const name : {"failed_requests", "failed_receives", "rnr_waits", "resends", "connect_retries"}) {
    EXPECT_TRUE(endpoints[0][name].is_null()) << name;
    EXPECT_FALSE(endpoints[1][name].is_null()) << name;
  }
  EXPECT_TRUE(endpoints[0]["send_queue"]["high_water"].is_null());
  EXPECT_TRUE(endpoints[0]["recv_queue"]["capacity"].is_null());
  EXPECT_EQ(endpoints[1]["send_queue"]["capacity"], 4);
  EXPECT_EQ(endpoints[0]["operations"]["send"], 10);
  const std::string metrics = to_metrics({process}, true);
  EXPECT_EQ(metrics.find("softdat_endpoint_high_water{pid=\"0\",program=\"\",ep=\"0x1\""), std::string::npos);
  EXPECT_NE(metrics.find("softdat_endpoint_high_water{pid=\"0\",program=\"\",ep=\"0x2\""), std::string::npos)
      << metrics;
}

}  // namespace
}  // namespace softdat::tools::observe
