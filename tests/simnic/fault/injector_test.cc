// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/injector.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "tests/simnic/fault/fault_world.h"

namespace softdat::simnic::testing {
namespace {

using fault::Counts;
using fault::Point;

// Which of the first messages of a connection a plan hits.
std::string hits(const Injector& injector, std::uint32_t endpoint = 1, std::uint64_t messages = 64) {
  std::string found;
  Counts counts;
  for (std::uint64_t i = 1; i <= messages; ++i) {
    const Point point{.op = base::FaultOp::kSend, .endpoint = endpoint, .connection = 1, .number = i, .size = 8};
    if (!injector->decide(point, counts).empty()) found += std::to_string(i) + ' ';
  }
  return found;
}

TEST(InjectorTest, CountsSelect) {
  const LogFile log;
  EXPECT_EQ(hits(make_injector("drop-connection nth=3", "p", log)), "3 ");
  EXPECT_EQ(hits(make_injector("drop-connection every=20", "p", log)), "20 40 60 ");
  EXPECT_EQ(hits(make_injector("drop-connection every=20 times=2", "p", log)), "20 40 ");
  EXPECT_EQ(hits(make_injector("drop-connection times=1", "p", log)), "1 ");
  EXPECT_EQ(hits(make_injector("drop-connection number=9", "p", log)), "9 ");
}

TEST(InjectorTest, NamesAndSizesSelect) {
  const LogFile log;
  EXPECT_EQ(hits(make_injector("drop-connection times=1 endpoint=2", "p", log)), "");
  EXPECT_EQ(hits(make_injector("drop-connection times=1 endpoint=2", "p", log), 2), "1 ");
  EXPECT_EQ(hits(make_injector("drop-connection times=1 process=p ia=sim0", "p", log)), "1 ");
  EXPECT_EQ(hits(make_injector("drop-connection process=q", "p", log)), "");
  EXPECT_EQ(hits(make_injector("drop-connection ia=sim1", "p", log)), "");
  EXPECT_EQ(hits(make_injector("drop-connection op=write", "p", log)), "");
  EXPECT_EQ(hits(make_injector("drop-connection times=1 min-size=8 max-size=8", "p", log)), "1 ");
  EXPECT_EQ(hits(make_injector("drop-connection min-size=9", "p", log)), "");
}

TEST(InjectorTest, AProbabilityIsDecidedBySeedAndNames) {
  const LogFile log;
  const auto with_seed = [&](int seed, const char* process) {
    return make_injector("seed=" + std::to_string(seed) + "; drop-connection probability=0.25", process, log);
  };
  const std::string first = hits(with_seed(1, "p"));
  EXPECT_EQ(hits(with_seed(1, "p")), first);
  EXPECT_NE(hits(with_seed(2, "p")), first);
  EXPECT_NE(hits(with_seed(1, "q")), first);
  EXPECT_NE(hits(with_seed(1, "p"), 2), first);
  Counts counts;
  const Injector injector = with_seed(1, "p");
  int fired = 0;
  for (std::uint64_t i = 1; i <= 10000; ++i) {
    const Point point{.op = base::FaultOp::kSend, .endpoint = 1, .connection = 1, .number = i};
    fired += injector->decide(point, counts).empty() ? 0 : 1;
  }
  EXPECT_GT(fired, 2200);
  EXPECT_LT(fired, 2800);
  EXPECT_EQ(hits(make_injector("drop-connection probability=0", "p", log)), "");
}

TEST(InjectorTest, TheLogIsAPlanThatHitsTheSame) {
  const LogFile log;
  const Injector random = make_injector("seed=5; corrupt-payload probability=0.3 at=1 bit=2", "p", log);
  Counts counts;
  for (std::uint64_t i = 1; i <= 64; ++i) {
    const Point point{.op = base::FaultOp::kSend, .endpoint = 1, .connection = 1, .number = i, .size = 8};
    for (const base::FaultRule* rule : random->decide(point, counts)) random->note(*rule, point);
  }
  const LogFile unused;
  EXPECT_EQ(hits(make_injector(log.text(), "p", unused)), hits(random));
  EXPECT_EQ(hits(make_injector(log.text(), "p", unused), 2), "") << "it names the endpoint";
}

// How a program takes the number of the log's descriptor: closefrom(3) and open(2).
void take_number(int number, const LogFile& file) {
  ::close(number);
  ASSERT_EQ(::open(file.path().c_str(), O_WRONLY | O_CLOEXEC), number);
}

// Whatever a Journal opens next gets this number.
int next_number() {
  const int number = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  ::close(number);
  return number;
}

TEST(JournalTest, AFileThatGotItsNumberIsLeftAlone) {
  const LogFile log, others;
  const int number = next_number();
  fault::Journal journal(log.path());
  journal.add("one");
  take_number(number, others);
  journal.add("two");
  EXPECT_EQ(log.text(), "one\ntwo\n");
  EXPECT_EQ(others.text(), "");
  ::close(number);
}

TEST(JournalTest, AChildOfForkAddsToTheLogAndToNoFileOfItsOwn) {
  const LogFile log, others;
  const int number = next_number();
  fault::Journal journal(log.path());
  const ::pid_t child = ::fork();
  if (child == 0) {
    take_number(number, others);
    journal.add("child");
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  journal.add("parent");
  EXPECT_EQ(log.text(), "child\nparent\n");
  EXPECT_EQ(others.text(), "");
}

}  // namespace
}  // namespace softdat::simnic::testing
