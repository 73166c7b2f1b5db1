# SPDX-License-Identifier: Apache-2.0
"""ClickHouse for tests, on the loopback, with all it writes below one folder: one server, or a cluster of two shards by two
replicas and the ZooKeeper they share. Debian's packages (clickhouse-server, zookeeper); SERVER and ZOOKEEPER are None without."""

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

SERVER = shutil.which("clickhouse-server") or shutil.which("clickhouse-server", path="/usr/sbin:/usr/bin")
JARS = ("/usr/share/java/zookeeper.jar", "/usr/share/java/slf4j-simple.jar")
ZOOKEEPER = shutil.which("java") if all(os.path.exists(jar) for jar in JARS) else None
SKIPPED = 77
PATIENCE = 60
WHY_SKIPPED = "skipped: clickhouse-server is missing (apt-get install --no-install-recommends clickhouse-server)"
WHY_NO_CLUSTER = "zookeeper is missing (apt-get install --no-install-recommends zookeeper)"
PASSWORD = "s3cret-w0rd"

# `yandex` is what the root element was called in 2018. A small pool merges nothing larger than 1 MiB unless the number of free
# entries is smaller still.
CONFIG = """<yandex><logger><level>warning</level><log>{home}/server.log</log><errorlog>{home}/error.log</errorlog></logger>
<listen_host>127.0.0.1</listen_host><http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
<interserver_http_port>{between}</interserver_http_port><interserver_http_host>127.0.0.1</interserver_http_host>{https}
<path>{home}/data/</path><tmp_path>{home}/tmp/</tmp_path><users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database><timezone>UTC</timezone>
<mark_cache_size>134217728</mark_cache_size><max_concurrent_queries>100</max_concurrent_queries>
<merge_tree><number_of_free_entries_in_pool_to_lower_max_size_of_merge>1</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
</merge_tree>{cluster}</yandex>"""
TLS = """<https_port>{port}</https_port><openSSL><server><certificateFile>{home}/cert.pem</certificateFile>
<privateKeyFile>{home}/key.pem</privateKeyFile><verificationMode>none</verificationMode><loadDefaultCAFile>true</loadDefaultCAFile>
<cacheSessions>true</cacheSessions><disableProtocols>sslv2,sslv3</disableProtocols></server></openSSL>"""
USERS = """<yandex><profiles><default><max_memory_usage>2000000000</max_memory_usage><background_pool_size>4</background_pool_size></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
</users>
<quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors><result_rows>0</result_rows><read_rows>0</read_rows>
<execution_time>0</execution_time></interval></default></quotas></yandex>"""


def free_ports(number):
    probes = [socket.socket() for _ in range(number)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def folder():
    """In memory, where there is room: a server of 2018 has a file for each column of each batch, and disks that discard what is
    removed take minutes for a hundred thousand of them."""
    memory = "/dev/shm"
    room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 << 30
    return tempfile.TemporaryDirectory(dir=memory if room else None)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


class Server:
    """One server; `cluster`: what it is part of, as XML; `users`: as `store schema --users xml` prints them, with PASSWORD."""

    def __init__(self, home, ports=None, cluster="<remote_servers/>", tls=False, users=None):
        os.makedirs(home)
        self.home = home
        self.process = None
        self.http, tcp, between, self.https = ports or free_ports(4)
        https = ""
        if tls:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                            "subjectAltName=IP:127.0.0.1", "-keyout", home + "/key.pem", "-out", home + "/cert.pem"],
                           check=True, stderr=subprocess.DEVNULL)
            https = TLS.format(port=self.https, home=home)
        write(home + "/config.xml", CONFIG.format(home=home, http=self.http, tcp=tcp, between=between, https=https, cluster=cluster))
        write(home + "/users.xml", USERS)
        if users:
            os.makedirs(home + "/users.d")
            write(home + "/users.d/roce.xml", users.replace("SHA256_OF_PASSWORD", hashlib.sha256(PASSWORD.encode()).hexdigest()))
        self.address = f"clickhouse://127.0.0.1:{self.http}/roce"

    def launch(self):
        self.process = subprocess.Popen([SERVER, f"--config-file={self.home}/config.xml"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, cwd=self.home)

    def wait(self):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.ask("SELECT 1")
                return
            except OSError:
                assert time.monotonic() < end, "clickhouse-server does not begin: " + self.home
                if self.process.poll() is not None:  # while it was away somebody's connection may have had its port
                    time.sleep(1)
                    self.launch()
                time.sleep(0.05)

    def start(self):
        self.launch()
        self.wait()

    def end(self, number=signal.SIGTERM):
        if self.process is not None:
            self.process.send_signal(number)
            try:
                self.process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def ask(self, sql, **settings):
        query = urllib.parse.urlencode(settings)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"http://127.0.0.1:{self.http}/?{query}", sql.encode(), timeout=PATIENCE) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{sql[:300]}: {error.read().decode()[:600]}") from error

    def number(self, sql):
        return int(self.ask(sql))


class Cluster:
    """Two shards by two replicas: servers[0] and [1] are shard 1."""

    def __init__(self, home):
        self.home = home
        self.zookeeper = None
        self.zookeeper_port, = free_ports(1)
        ports = free_ports(16)
        groups = [ports[4 * i:4 * i + 4] for i in range(4)]
        shards = "".join("<shard><internal_replication>true</internal_replication>" + "".join(
            f"<replica><host>127.0.0.1</host><port>{group[1]}</port></replica>" for group in pair) + "</shard>"
            for pair in (groups[:2], groups[2:]))
        self.servers = []
        for i, group in enumerate(groups):
            part = (f"<macros><shard>{i // 2 + 1}</shard><replica>r{i}</replica></macros><zookeeper><node><host>127.0.0.1</host>"
                    f"<port>{self.zookeeper_port}</port></node><session_timeout_ms>10000</session_timeout_ms></zookeeper>"
                    f"<distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl><remote_servers><fleet>{shards}</fleet>"
                    "</remote_servers>")
            self.servers.append(Server(f"{home}/s{i}", group, part))
        self.address = self.servers[0].address + "?cluster=fleet"

    def start(self):
        self.start_zookeeper()
        for server in self.servers:
            server.launch()
        for server in self.servers:
            server.wait()

    def start_zookeeper(self):
        folder = self.home + "/zk"
        os.makedirs(folder + "/data", exist_ok=True)
        write(folder + "/zoo.cfg", f"tickTime=2000\ndataDir={folder}/data\nclientPort={self.zookeeper_port}\nclientPortAddress=127.0.0.1\n"
              "maxClientCnxns=0\nadmin.enableServer=false\n4lw.commands.whitelist=srvr\n")
        self.zookeeper = subprocess.Popen([ZOOKEEPER, "-Xmx128m", "-XX:+UseSerialGC", "-Dzookeeper.jmx.log4j.disable=true",
                                           "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", ":".join(JARS),
                                           "org.apache.zookeeper.server.quorum.QuorumPeerMain", folder + "/zoo.cfg"],
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.zookeeper_port), timeout=2) as probe:
                    probe.sendall(b"srvr")
                    if b"Mode:" in probe.recv(4096):
                        break
            except OSError:
                pass
            assert self.zookeeper.poll() is None and time.monotonic() < end, "ZooKeeper does not begin"
            time.sleep(0.1)

    def end_zookeeper(self):
        if self.zookeeper is not None:
            self.zookeeper.terminate()
            self.zookeeper.wait(timeout=PATIENCE)
            self.zookeeper = None

    def end(self):
        for server in self.servers:
            server.end()
        self.end_zookeeper()
