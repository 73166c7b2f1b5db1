// SPDX-License-Identifier: Apache-2.0
#include "capture/confine/broker.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>

namespace roce::capture {
namespace {

enum class Wish : std::uint32_t { open_input, place_output };

struct Request {
  Wish wish = Wish::open_input;
  std::uint32_t index = 0;
};

/// With a descriptor (SCM_RIGHTS) for an input that was opened.
struct Answer {
  bool done = false;
  ErrorKind kind = ErrorKind::not_readable;
  std::int32_t system_errno = 0;
  char path[512] = {};     // cut if longer: for a message
  char message[512] = {};  // ends with NUL
};

template <std::size_t size>
void copy_text(char (&to)[size], const std::string& from) noexcept {
  std::memcpy(to, from.data(), std::min(from.size(), size - 1));
}

bool send_answer(int socket, const Answer& answer, int descriptor) noexcept {
  Answer copy = answer;
  iovec part{&copy, sizeof copy};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof answer);
}

/// The answer to a request, and a descriptor if it has one (else -1). False if the broker is gone.
bool ask(int socket, const Request& request, Answer& answer, int& descriptor) noexcept {
  descriptor = -1;
  if (::send(socket, &request, sizeof request, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof request))
    return false;
  iovec part{&answer, sizeof answer};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof answer)) return false;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS)
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return true;
}

Answer open_input(const std::string& path, int& descriptor) noexcept {
  descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);  // never waits for a writer
  Answer answer;
  answer.done = descriptor >= 0;
  answer.system_errno = answer.done ? 0 : errno;
  return answer;
}

Answer place_output(PlacedOutput& output) {
  Answer answer;
  const auto placed = output.place();
  answer.done = placed.has_value();
  if (placed) return answer;
  answer.kind = placed.error().kind;
  answer.system_errno = placed.error().system_errno;
  copy_text(answer.path, placed.error().path);
  copy_text(answer.message, placed.error().message);
  return answer;
}

/// The other process: until the confined one is gone. Reads numbers only, so nothing is interpreted here
/// that a capture could have made.
[[noreturn]] void serve(int socket, const std::vector<std::string>& inputs,
                        const std::vector<PlacedOutput*>& outputs) {
  // Signals of a terminal go to both; what is to be removed is removed when the other one has ended.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP}) ::signal(number, SIG_IGN);
  // Standard input, output and error belong to the other one: who reads them waits for their end.
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (descriptor != socket) ::close(descriptor);
  }
  Request request;
  while (true) {
    const ssize_t got = ::recv(socket, &request, sizeof request, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof request)) break;
    Answer answer;
    int descriptor = -1;
    if (request.wish == Wish::open_input && request.index < inputs.size()) {
      answer = open_input(inputs[request.index], descriptor);
    } else if (request.wish == Wish::place_output && request.index < outputs.size()) {
      answer = place_output(*outputs[request.index]);
    }
    const bool sent = send_answer(socket, answer, descriptor);
    if (descriptor >= 0) ::close(descriptor);
    if (!sent) break;
  }
  for (PlacedOutput* output : outputs) output->discard();
  ::_exit(0);
}

}  // namespace

std::unique_ptr<Broker> Broker::start(std::vector<std::string> inputs, std::vector<PlacedOutput*> outputs) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    serve(ends[1], inputs, outputs);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return nullptr;
  }
  std::unique_ptr<Broker> broker(new Broker(ends[0]));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    outputs[i]->let_place([raw = broker.get(), i] { return raw->place(i); });
  return broker;
}

Broker::~Broker() {
  ::shutdown(socket_, SHUT_WR);
  char byte = 0;
  while (::read(socket_, &byte, 1) < 0 && errno == EINTR) {
  }
  ::close(socket_);
}

int Broker::open(std::size_t index) noexcept {
  Answer answer;
  int descriptor = -1;
  const Request request{Wish::open_input, static_cast<std::uint32_t>(index)};
  if (!ask(socket_, request, answer, descriptor)) {
    errno = EIO;
    return -1;
  }
  // What was opened could not be handed over: this process has no descriptor left.
  if (descriptor < 0) errno = answer.done ? EMFILE : answer.system_errno;
  return descriptor;
}

Expected<void> Broker::place(std::size_t index) {
  Answer answer;
  int descriptor = -1;
  const Request request{Wish::place_output, static_cast<std::uint32_t>(index)};
  Error error;
  error.kind = ErrorKind::not_writable;
  if (!ask(socket_, request, answer, descriptor)) {
    error.message = "the process that puts outputs in place is gone";
    return tl::unexpected<Error>(std::move(error));
  }
  if (answer.done) return {};
  error.kind = answer.kind;
  error.path = answer.path;
  error.message = answer.message;
  error.system_errno = answer.system_errno;
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace roce::capture
