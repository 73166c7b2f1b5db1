# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shared by the run scripts (source it, do not run it): finds what is missing, installs it from
# Debian, configures and builds build/<preset>. Everything it says goes to standard error, and
# nothing when there is nothing to do.
#
# The caller sets `root` (the checkout), may set `preset`, and may add rows to `packages` before
# calling `setup_install`.

set -euo pipefail
: "${root:?}" "${preset:=release}"

# The status when the machine could not be set up or the program not be built. Outside the range
# of roceanalyze itself (0-4), as env(1) and timeout(1) do it.
readonly setup_failed=125

# One row: Debian package | how to see that it is there | what it is for.
# command:NAME an executable, header:PATH something to #include, python:MODULE, file:PATTERN.
# A "?" after the kind: pleasant to have, installed along with others, never required.
packages='
g++              | command:c++             | compiles (C++20, g++ 12 or newer)
cmake            | command:cmake           | configures the build
ninja-build      | command:ninja           | runs the build
pkg-config       | command:pkg-config      | finds libraries
ccache           | command?:ccache         | makes later builds fast
libfmt-dev       | header:fmt/core.h       | formats text
libexpected-dev  | header:tl/expected.hpp  | results that may be errors
libcli11-dev     | header:CLI/CLI.hpp      | reads the command line
robin-map-dev    | header:tsl/robin_map.h  | hash tables of flows
libtomlplusplus-dev | header:toml++/toml.h | reads policies
nlohmann-json3-dev | header:nlohmann/json.hpp | reads snapshots of hosts
libre2-dev       | header:re2/re2.h        | regular expressions of filters
libisal-dev      | header:isa-l/crc.h      | fast CRC for the ICRC
zlib1g-dev       | header:zlib.h           | reads .gz captures
libzstd-dev      | header:zstd.h           | reads .zst captures
liblz4-dev       | header:lz4frame.h       | reads .lz4 captures
libibverbs-dev   | header:infiniband/verbs.h | captures RDMA devices (its library is loaded only then)
prometheus-cpp-dev | header:prometheus/exposer.h | serves metrics
libpcap-dev      | header:pcap/pcap.h      | captures on network interfaces
libseccomp-dev   | header:seccomp.h        | confines who reads packets
libsqlite3-dev   | header:sqlite3.h        | stores and exports in SQLite
libcurl4-openssl-dev | header:curl/curl.h  | speaks to ClickHouse (its library is loaded only then)
'

# What the window needs besides.
# shellcheck disable=SC2034 # used by the scripts that source this
gui_packages='
qt6-base-dev        | header:qt6/QtWidgets/QMainWindow | the window
libqcustomplot-dev  | header:qcustomplot.h             | plots
libqt6svg6-dev      | header:qt6/QtSvg/QSvgGenerator   | saves graphs as SVG
'

# What packages need besides.
# shellcheck disable=SC2034 # used by the scripts that source this
package_packages='
dpkg-dev            | command:dpkg-shlibdeps     | dependencies of packages
file                | command:file               | dependencies of packages
python3             | command:python3            | lists what is in packages (SPDX)
'

me=$(readlink -f -- "$0")
me=${me#"$root"/}

# What the tests need besides, and builds that contain them.
# shellcheck disable=SC2034 # used by the scripts that source this
test_packages='
libgtest-dev        | header:gtest/gtest.h       | unit tests
python3             | command:python3            | tests of the program as a whole
python3-scapy       | python:scapy               | second opinion on the ICRC
python3-jsonschema  | python:jsonschema          | second opinion on JSON and its schemas
tshark              | command:tshark             | second opinion on every field
zstd                | command:zstd               | makes compressed captures in tests
lz4                 | command:lz4                | makes compressed captures in tests
prometheus          | command:promtool           | second opinion on metrics
influxdb            | command:influxd            | second opinion on exported points
systemd             | command:systemd-analyze    | checks the unit of the service
iproute2            | command:ip                 | makes networks in tests
tcpdump             | command:tcpdump            | second opinion on capture filters
desktop-file-utils  | command:desktop-file-validate | checks the entry of the window for desktops
appstream           | command:appstreamcli       | checks its description
libxml2-utils       | command:xmllint            | checks its icon and types of files
shared-mime-info    | command:update-mime-database | reads these types
mandoc              | command:mandoc             | checks manual pages
zsh                 | command?:zsh               | tries completion
mkdocs-material     | command?:mkdocs            | builds the documents as a site
fish                | command?:fish              | tries completion
'

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "$me: $*"
  exit "$setup_failed"
}

trim() {
  local text=$1
  text="${text#"${text%%[![:space:]]*}"}"
  printf '%s' "${text%"${text##*[![:space:]]}"}"
}

# Headers that the compiler does not find, one a line. Without a compiler: a look into the usual places.
missing_headers() {
  local header
  if command -v "${CXX:-c++}" >/dev/null; then
    for header; do
      printf '#if !__has_include(<%s>)\nroce_missing %s\n#endif\n' "$header" "$header"
    done | "${CXX:-c++}" -E -P -x c++ - 2>/dev/null | sed -n 's/^roce_missing //p' | tr -d ' '
  else
    for header; do
      [[ -e /usr/include/$header || -e /usr/local/include/$header ]] || printf '%s\n' "$header"
    done
  fi
}

# Modules that Python lacks, one a line. Debian's own Python is asked before another in the PATH,
# for Debian's packages belong to it; the tests choose in the same way (tests/CMakeLists.txt).
missing_modules() {
  local python=/usr/bin/python3
  [[ -x $python ]] || python=python3
  if command -v "$python" >/dev/null; then
    "$python" -c 'import importlib.util, sys
for name in sys.argv[1:]:
    if importlib.util.find_spec(name) is None:
        print(name)' "$@"
  else
    printf '%s\n' "$@"
  fi
}

# Fills `missing` and `missing_optional` with rows "package|probe|purpose".
find_missing() {
  local package probe purpose kind thing absent
  local -a headers=() modules=()
  while IFS='|' read -r package probe purpose; do
    probe=$(trim "$probe")
    case $probe in
      header:*) headers+=("${probe#*:}") ;;
      python:*) modules+=("${probe#*:}") ;;
    esac
  done <<<"$packages"
  local absent_headers=' ' absent_modules=' '
  ((${#headers[@]} == 0)) || absent_headers=" $(missing_headers "${headers[@]}" | tr '\n' ' ')"
  ((${#modules[@]} == 0)) || absent_modules=" $(missing_modules "${modules[@]}" | tr '\n' ' ')"

  missing=() missing_optional=()
  while IFS='|' read -r package probe purpose; do
    package=$(trim "$package") probe=$(trim "$probe") purpose=$(trim "$purpose")
    [[ -n $package ]] || continue
    kind=${probe%%:*} thing=${probe#*:} absent=no
    case ${kind%\?} in
      command) command -v "$thing" >/dev/null || absent=yes ;;
      header) [[ $absent_headers != *" $thing "* ]] || absent=yes ;;
      python) [[ $absent_modules != *" $thing "* ]] || absent=yes ;;
      file) compgen -G "$thing" >/dev/null || absent=yes ;;
      *) fail "unknown probe '$probe' in the package table" ;;
    esac
    [[ $absent == yes ]] || continue
    if [[ $kind == *\? ]]; then
      missing_optional+=("$package|$kind $thing|$purpose")
    else
      missing+=("$package|$kind $thing|$purpose")
    fi
  done <<<"$packages"
}

list_missing() {
  local row package probe purpose
  for row; do
    IFS='|' read -r package probe purpose <<<"$row"
    say "$(printf '  %-18s %s (looked for the %s)' "$package" "$purpose" "${probe/\?/}")"
  done
}

# apt-get as root, without questions. Standard input stays untouched: it may be a capture.
apt_get() {
  local -a command=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 "$@")
  if ((EUID == 0)); then
    "${command[@]}" </dev/null >&2 9>&-
  elif [[ -t 0 && -t 2 ]]; then
    sudo "${command[@]}" >&2 9>&- # sudo may ask for the password
  else
    sudo -n "${command[@]}" </dev/null >&2 9>&-
  fi
}

# Installs what the table names and the machine lacks; fails with the list if that cannot be.
setup_install() {
  local row try
  local -a names=()
  find_missing
  ((${#missing[@]} > 0)) || return 0

  if ! command -v apt-get >/dev/null; then
    say "$me: these are missing, and there is no apt-get here to install them:"
    list_missing "${missing[@]}"
    fail "install them with this machine's own means (names are those of Debian 12) and run again"
  fi
  for row in "${missing[@]}" ${missing_optional[@]+"${missing_optional[@]}"}; do
    names+=("${row%%|*}")
  done
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    say "$me: these are missing:"
    list_missing "${missing[@]}"
    fail "neither root nor sudo here; as root: apt-get install --no-install-recommends ${names[*]}"
  fi

  say "Installing from Debian what is missing here:"
  list_missing "${missing[@]}" ${missing_optional[@]+"${missing_optional[@]}"}
  for try in 1 2; do
    apt_get update || say "apt-get update failed; trying with the package lists that are there"
    if apt_get install --no-install-recommends "${names[@]}"; then
      break
    elif ((try == 2)); then
      fail "apt-get could not install: ${names[*]} (its messages are above)"
    fi
    say "Trying once more."
  done
  hash -r
  find_missing
  if ((${#missing[@]} > 0)); then
    say "$me: installed, but still not found:"
    list_missing "${missing[@]}"
    fail "cannot build without them"
  fi
}

# One set-up at a time in this checkout; descriptor 9 holds the lock until setup_unlock.
setup_lock() {
  mkdir -p -- "$root/build" 2>/dev/null || fail "cannot create $root/build"
  { exec 9>>"$root/build/.lock"; } 2>/dev/null || fail "cannot write to $root/build"
  command -v flock >/dev/null || return 0
  if ! flock -n 9; then
    say "Waiting for another run in $root to finish its build."
    flock 9
  fi
}

setup_unlock() { exec 9>&-; }

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt" 2>/dev/null; }

configure() {
  say "Configuring in $build"
  cmake -S "$root" --preset "$preset" "$@" </dev/null >"$log" 2>&1 9>&-
}

# Configures build/<preset> unless that is done already, from this very folder and with the values
# given: NAME=VALUE (booleans), or NAME?=VALUE for one that matters only when it is done anew.
setup_configure() {
  build=$root/build/$preset
  log=$root/build/$preset.log
  local pair fresh=yes
  if [[ -e $build && ! -w $build ]]; then
    fail "cannot write to $build (made by another user?)"
  fi
  # A checkout that was moved or copied carries a cache of the old place, which CMake refuses.
  if [[ -e $build/CMakeCache.txt && "$(cached CMAKE_HOME_DIRECTORY)" != "$root" ]]; then
    say "The build in $build was configured elsewhere: starting afresh."
    rm -rf -- "$build"
  fi
  [[ -e $build/build.ninja ]] || fresh=no
  for pair; do
    [[ $pair == *'?='* || "$(cached "${pair%%=*}")" == "${pair#*=}" ]] || fresh=no
  done
  [[ $fresh == no ]] || return 0
  set -- "${@/'?='/=}"
  if ! configure "${@/#/-D}"; then
    # What an older cache remembers may be the reason.
    rm -rf -- "$build"
    configure "${@/#/-D}" || build_failed "configuring"
  fi
}

build_failed() {
  tail -n 40 -- "$log" >&2 || true
  fail "$1 failed; the whole log is $log"
}

# Progress for people: one line that changes on a terminal, plain lines otherwise, nothing at all
# when there was nothing to build.
show_progress() {
  local line width=${COLUMNS:-80} open=no
  while IFS= read -r line; do
    case $line in
      'ninja: '* | *'Re-checking globbed directories'*) ;;
      \[*)
        if [[ -t 2 ]]; then
          printf '\r\033[K%s' "${line:0:width-1}" >&2
          open=yes
        else
          say "$line"
        fi
        ;;
    esac
  done
  [[ $open == no ]] || printf '\r\033[K' >&2
}

# Builds the targets named, or "all".
setup_build() {
  ninja -C "$build" "$@" </dev/null 2>&1 9>&- | tee -- "$log" | show_progress ||
    build_failed "building"
}
