// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/observe/listen.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <utility>

#include "tools/softdat/address.h"
#include "tools/softdat/command_line.h"
#include "tools/softdat/observe/metrics.h"

namespace softdat::tools::observe {
namespace {

namespace asio = boost::asio;
// TCP, or what a unit of systemd names.
using Protocol = asio::generic::stream_protocol;
using Acceptor = asio::basic_socket_acceptor<Protocol>;
using Socket = Protocol::socket;
using Error = boost::system::error_code;

constexpr std::size_t kLongestRequest = 8192;
constexpr std::chrono::seconds kPatience{5};  // for a request, for an answer, and for each MiB of it
constexpr std::size_t kMebibyte = std::size_t{1} << 20;
constexpr std::size_t kMostSessions = 16;
constexpr int kFirstPassed = 3;  // SD_LISTEN_FDS_START

std::string answer(const char* status, const char* type, const std::string& body) {
  return fmt::format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status,
                     type, body.size(), body);
}

// `request` holds the first line at least.
std::string answer_to(const std::string& request, const std::function<std::string()>& make_text) {
  constexpr const char* kPlain = "text/plain; charset=utf-8";
  const std::string line = request.substr(0, request.find("\r\n"));
  const std::size_t method_end = line.find(' ');
  if (method_end == line.npos) return answer("400 Bad Request", kPlain, "A request is: GET /metrics HTTP/1.1\n");
  if (line.substr(0, method_end) != "GET") return answer("405 Method Not Allowed", kPlain, "Only GET.\n");
  const std::string target = line.substr(method_end + 1, line.find(' ', method_end + 1) - method_end - 1);
  const std::string path = target.substr(0, target.find('?'));
  if (path == "/metrics") {
    try {
      return answer("200 OK", kMetricsType, make_text());
    } catch (const std::exception& failure) {
      return answer("503 Service Unavailable", kPlain, fmt::format("{}\n", failure.what()));
    }
  }
  if (path == "/") return answer("200 OK", kPlain, "The counters are at /metrics.\n");
  return answer("404 Not Found", kPlain, "The counters are at /metrics.\n");
}

// One connection: a request, an answer, the end. Owned by the handlers that wait.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Socket socket, const std::function<std::string()>& make_text, std::size_t& sessions)
      : socket_(std::move(socket)), deadline_(socket_.get_executor()), make_text_(make_text), sessions_(sessions) {
    ++sessions_;
  }
  ~Session() { --sessions_; }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() {
    give(kPatience);
    asio::async_read_until(socket_, asio::dynamic_buffer(request_, kLongestRequest), "\r\n\r\n",
                           [self = shared_from_this()](const Error& error, std::size_t) {
                             if (error) return self->close();
                             self->reply();
                           });
  }

 private:
  // Time to send the request, and then to read the answer: a client that does neither is closed.
  void give(std::chrono::seconds time) {
    deadline_.expires_after(time);
    deadline_.async_wait([self = shared_from_this()](const Error& error) {
      if (!error) self->close();
    });
  }
  void reply() {
    answer_ = answer_to(request_, make_text_);
    give(kPatience + kPatience * (answer_.size() / kMebibyte));
    asio::async_write(socket_, asio::buffer(answer_),
                      [self = shared_from_this()](const Error&, std::size_t) { self->close(); });
  }
  void close() {
    Error ignored;
    deadline_.cancel(ignored);
    socket_.shutdown(Socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

  Socket socket_;
  asio::steady_timer deadline_;
  const std::function<std::string()>& make_text_;
  std::size_t& sessions_;
  std::string request_;
  std::string answer_;
};

class Server {
 public:
  explicit Server(const std::function<std::string()>& make_text)
      : make_text_(make_text), signals_(context_, SIGINT, SIGTERM) {
    signals_.async_wait([this](const Error& error, int) {
      if (!error) context_.stop();
    });
  }

  std::uint16_t listen_at(const ListenAddress& where) {
    const asio::ip::tcp::endpoint wanted(asio::ip::make_address(where.address), where.port);
    // Bound by a TCP acceptor, which sets SO_REUSEADDR, and then taken as a socket of any kind.
    asio::ip::tcp::acceptor acceptor(context_, wanted);
    const std::uint16_t port = acceptor.local_endpoint().port();
    const int family = wanted.protocol().family();
    add(acceptor.release(), Protocol(family, IPPROTO_TCP));
    return port;
  }
  void take_over(int socket) {
    int family = 0;
    socklen_t length = sizeof family;
    if (::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &length) != 0) {
      throw Failure(fmt::format("descriptor {} from LISTEN_FDS is no socket", socket));
    }
    add(socket, Protocol(family, 0));
  }
  void run() { context_.run(); }

 private:
  void add(int socket, Protocol protocol) {
    acceptors_.push_back(std::make_unique<Acceptor>(context_));
    acceptors_.back()->assign(protocol, socket);
    accept(*acceptors_.back());
  }
  // More than kMostSessions are closed at once; they have a time limit, so that there is room again.
  void accept(Acceptor& acceptor) {
    acceptor.async_accept([this, &acceptor](const Error& error, Socket socket) {
      if (!error && sessions_ < kMostSessions)
        std::make_shared<Session>(std::move(socket), make_text_, sessions_)->start();
      // Accepting at once would fail again without end, since the connection stays in the queue.
      if (error == asio::error::no_descriptors) return accept_later(acceptor);
      if (error != asio::error::operation_aborted) accept(acceptor);
    });
  }
  void accept_later(Acceptor& acceptor) {
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this, &acceptor](const Error& error) {
      if (!error) accept(acceptor);
    });
  }

  const std::function<std::string()>& make_text_;
  std::size_t sessions_ = 0;  // outlives the context, which may hold the last of them
  asio::io_context context_{1};
  asio::signal_set signals_;
  asio::steady_timer pause_{context_};
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
};

std::uint16_t read_port(const std::string& whole, const std::string& text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port > 65535) {
    throw UsageError(fmt::format("--listen \"{}\" is not [ADDRESS:]PORT, as 9470 or 127.0.0.1:9470", whole));
  }
  return static_cast<std::uint16_t>(port);
}

unsigned long number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
}

}  // namespace

ListenAddress read_listen_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  ListenAddress result;
  result.port = read_port(text, colon == text.npos ? text : text.substr(colon + 1));
  if (colon == text.npos) return result;
  std::string address = text.substr(0, colon);
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  }
  if (address == "localhost") address = "127.0.0.1";
  // Counters are their user's own, and this server asks nobody who it is.
  if (!is_loopback(address)) {
    throw UsageError(
        fmt::format("--listen \"{}\" is not at a loopback address; allowed: localhost, 127.0.0.1 and [::1]", text));
  }
  result.address = address;
  return result;
}

std::vector<int> passed_sockets() {
  // By sd_listen_fds(3) the variables are for that process alone, though a child may inherit them.
  if (number_of("LISTEN_PID") != static_cast<unsigned long>(::getpid())) return {};
  std::vector<int> result;
  for (unsigned long i = 0; i < std::min(number_of("LISTEN_FDS"), 16ul); ++i) {
    const int socket = kFirstPassed + static_cast<int>(i);
    static_cast<void>(::fcntl(socket, F_SETFD, FD_CLOEXEC));
    result.push_back(socket);
  }
  return result;
}

void serve(const ListenAddress& where, const std::function<std::string()>& make_text,
           const std::function<void(std::uint16_t)>& on_ready) {
  Server server(make_text);
  try {
    on_ready(server.listen_at(where));
  } catch (const boost::system::system_error& error) {
    throw Failure(fmt::format("cannot listen at {} port {}: {}", where.address, where.port, error.code().message()));
  }
  server.run();
}

void serve(const std::vector<int>& sockets, const std::function<std::string()>& make_text,
           const std::function<void(std::uint16_t)>& on_ready) {
  Server server(make_text);
  for (const int socket : sockets) server.take_over(socket);
  on_ready(0);
  server.run();
}

}  // namespace softdat::tools::observe
