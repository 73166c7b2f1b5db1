// SPDX-License-Identifier: Apache-2.0
#include "capture/confine/sandbox.hpp"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace roce::capture {
namespace {

using Argument = scmp_arg_cmp;

// By name, as not every architecture has every call; those that it does not have are left out.
constexpr const char* always[] = {
    // open files and sockets
    "read",
    "readv",
    "pread64",
    "preadv",
    "preadv2",
    "write",
    "writev",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "lseek",
    "close",
    "close_range",
    "fcntl",
    "dup",
    "dup2",
    "dup3",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "ftruncate",
    "fallocate",
    "fadvise64",
    "fstat",
    "fstatfs",
    "getdents64",
    "flock",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "sendto",
    "sendmsg",
    "sendmmsg",
    "accept",
    "accept4",
    "shutdown",
    "getsockname",
    "getpeername",
    "getsockopt",
    "setsockopt",
    // files by name, for reading (opening: see below)
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "statfs",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "getcwd",
    // waiting
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "eventfd2",
    "signalfd4",
    "timerfd_create",
    "timerfd_settime",
    "timerfd_gettime",
    "pipe2",
    "nanosleep",
    "clock_nanosleep",
    "futex",
    "futex_waitv",
    "restart_syscall",
    // memory (executable memory: see below)
    "brk",
    "munmap",
    "mremap",
    "madvise",
    "mlock",
    "munlock",
    "membarrier",
    // threads and signals of this process
    "set_robust_list",
    "get_robust_list",
    "rseq",
    "set_tid_address",
    "gettid",
    "exit",
    "exit_group",
    "sched_yield",
    "sched_getaffinity",
    "sched_setaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "getcpu",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigpending",
    "rt_sigtimedwait",
    "rt_sigsuspend",
    "sigaltstack",
    "pause",
    // identity and time
    "getpid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getgroups",
    "getpgid",
    "getpgrp",
    "getsid",
    "getresuid",
    "getresgid",
    "capget",
    "uname",
    "sysinfo",
    "getrusage",
    "getrlimit",
    "times",
    "time",
    "gettimeofday",
    "clock_gettime",
    "clock_getres",
    "adjtimex",  // how wrong the clock may be; setting it needs a capability that is gone
    "clock_adjtime",
    "getrandom",
};

constexpr const char* to_write_files[] = {"rename",   "renameat", "renameat2", "unlink",   "unlinkat",
                                          "truncate", "umask",    "fchmod",    "fchmodat", "fchown"};

/// Never used by this program or its libraries: a call means an attack.
constexpr const char* never[] = {
    "execve",
    "execveat",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "mount",
    "umount2",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsmount",
    "pivot_root",
    "chroot",
    "setns",
    "unshare",
    "add_key",
    "request_key",
    "keyctl",
    "open_by_handle_at",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "setuid",
    "setgid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "setgroups",
    "setfsuid",
    "setfsgid",
    "iopl",
    "ioperm",
    "modify_ldt",
    "settimeofday",
    "clock_settime",
    "sethostname",
    "setdomainname",
};

constexpr unsigned long terminal_requests[] = {TCGETS,     TCSETS,    TCSETSW,  TCSETSF,
                                               TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO};
constexpr unsigned long network_requests[] = {0x8910 /* SIOCGIFNAME */,  0x8913 /* SIOCGIFFLAGS */,
                                              0x8921 /* SIOCGIFMTU */,   0x8927 /* SIOCGIFHWADDR */,
                                              0x8933 /* SIOCGIFINDEX */, 0x8946 /* SIOCETHTOOL */};
constexpr unsigned long rdma_verbs_ioctl = 0xc018'1b01;

constexpr int open_to_write = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

template <class Number>
std::uint64_t datum(Number number) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<Number>>(number));
}
Argument equals(unsigned index, std::uint64_t value) noexcept {
  return {index, SCMP_CMP_EQ, value, 0};
}
/// Compares the low 32 bits, as the kernel ignores the upper ones of an int argument.
Argument equals_int(unsigned index, std::uint64_t value) noexcept {
  return {index, SCMP_CMP_MASKED_EQ, 0xffff'ffff, value & 0xffff'ffff};
}
Argument masked(unsigned index, std::uint64_t mask, std::uint64_t value) noexcept {
  return {index, SCMP_CMP_MASKED_EQ, mask, value};
}

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM))) {
    if (context_ == nullptr) result_ = -ENOMEM;
  }

  void rule(std::uint32_t action, const char* name, const std::vector<Argument>& arguments = {}) {
    if (result_ != 0) return;
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) return;  // unknown to the library: EPERM
    const int result = seccomp_rule_add_array(context_.get(), action, number,
                                              static_cast<unsigned>(arguments.size()), arguments.data());
    if (result != 0 && result != -EDOM) result_ = result;
  }
  void allow(const char* name, const std::vector<Argument>& arguments = {}) {
    rule(SCMP_ACT_ALLOW, name, arguments);
  }
  template <std::size_t size>
  void allow(const char* const (&names)[size]) {
    for (const char* name : names) allow(name);
  }
  /// 0 or a negative errno.
  [[nodiscard]] int load(SandboxThreads threads) {
    const std::pair<scmp_filter_attr, std::uint32_t> attributes[] = {
        {SCMP_FLTATR_CTL_TSYNC, threads == SandboxThreads::all ? 1 : 0},
        {SCMP_FLTATR_CTL_NNP, 1},      // no_new_privs: needs no privilege
        {SCMP_FLTATR_CTL_OPTIMIZE, 2}  // binary tree, as every system call is filtered
    };
    for (const auto& [attribute, value] : attributes) {
      if (result_ == 0) result_ = seccomp_attr_set(context_.get(), attribute, value);
    }
    return result_ == 0 ? seccomp_load(context_.get()) : result_;
  }

 private:
  struct Release {
    void operator()(void* context) const noexcept { seccomp_release(context); }
  };
  std::unique_ptr<void, Release> context_;
  int result_ = 0;
};

void allow_opening(Filter& filter, SandboxFiles files) {
  // The flags of openat2 are in memory, which filters cannot read: ENOSYS, so that callers use openat.
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), "openat2");
  if (files == SandboxFiles::none) return;
  if (files == SandboxFiles::write) {
    filter.allow("open");
    filter.allow("openat");
    filter.allow(to_write_files);
    return;
  }
  filter.allow("open", {masked(1, datum(open_to_write), 0)});
  filter.allow("openat", {masked(2, datum(open_to_write), 0)});
}

void allow_memory(Filter& filter) {
  filter.allow("mmap", {masked(2, datum(PROT_EXEC), 0)});
  filter.allow("mprotect", {masked(2, datum(PROT_EXEC), 0)});
}

void allow_threads(Filter& filter) {
  // Threads, but no processes. The flags of clone3 are in memory, which filters cannot read: ENOSYS, so that
  // libc uses clone.
  constexpr std::uint64_t thread_flags = 0x0001'0000 | 0x0000'0100;  // CLONE_THREAD, CLONE_VM
  filter.allow("clone", {masked(0, thread_flags, thread_flags)});
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  const std::uint64_t own = datum(::getpid());
  for (const char* name : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"})
    filter.allow(name, {equals_int(0, own)});
  for (const int what : {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_SET_VMA})
    filter.allow("prctl", {equals_int(0, datum(what))});
  filter.allow("prlimit64", {equals(2, 0)});  // reading only
}

void allow_devices(Filter& filter, bool rdma) {
  for (const unsigned long request : terminal_requests) filter.allow("ioctl", {equals_int(1, request)});
  for (const unsigned long request : network_requests) filter.allow("ioctl", {equals_int(1, request)});
  if (rdma) filter.allow("ioctl", {equals_int(1, rdma_verbs_ioctl)});
}

void allow_sockets(Filter& filter, bool system_log) {
  if (!system_log) return;
  filter.allow("socket", {equals_int(0, datum(AF_UNIX))});
  filter.allow("connect");  // only AF_UNIX sockets can be created
}

}  // namespace

Expected<void> enter_sandbox(const SandboxOptions& options) {
  Filter filter;
  for (const char* name : never) filter.rule(SCMP_ACT_KILL_PROCESS, name);
  filter.allow(always);
  allow_opening(filter, options.files);
  allow_memory(filter);
  allow_threads(filter);
  allow_devices(filter, options.rdma);
  allow_sockets(filter, options.system_log);
  if (const int result = filter.load(options.threads); result != 0) {
    return tl::unexpected(Error{.kind = ErrorKind::unsupported,
                                .path = "sandbox",
                                .offset = std::nullopt,
                                .message = std::string("the kernel refuses the seccomp filter (") +
                                           std::strerror(-result) + "); --no-sandbox captures without one",
                                .system_errno = -result});
  }
  return {};
}

}  // namespace roce::capture
