#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an SPDX 2.3 document for Debian packages: sbom.py OUTPUT PACKAGE.deb... The packages, the libraries they depend
on, and those of which headers were compiled in, with the versions of this machine."""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

# Header-only libraries: no dependency of a package names them.
COMPILED_IN = ("libcli11-dev", "libexpected-dev", "robin-map-dev", "libtomlplusplus-dev", "nlohmann-json3-dev")


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def field(package, name):
    return output_of("dpkg-deb", "-f", package, name).strip()


def installed_version(name):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def identifier(name):
    return "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def entry(name, version):
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version or "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{name}" + (f"@{version}" if version else "")}]}


def main(output, packages):
    entries, relations = {}, []
    digests = hashlib.sha256()
    for package in packages:
        name = field(package, "Package")
        with open(package, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        digests.update(digest.encode())
        entries[name] = entry(name, field(package, "Version")) | {
            "packageFileName": os.path.basename(package), "licenseDeclared": "Apache-2.0",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}
        del entries[name]["externalRefs"]
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", name))
        needs = [re.split(r"[ (|:]", need.strip())[0] for need in field(package, "Depends").split(",")]
        for need in filter(None, needs):
            entries.setdefault(need, entry(need, installed_version(need)))
            relations.append((name, "DEPENDS_ON", need))
        for library in COMPILED_IN:
            version = installed_version(library)
            if version and "libstdc++6" in needs:  # else there is nothing compiled in the package
                entries.setdefault(library, entry(library, version))
                relations.append((name, "STATIC_LINK", library))
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "roceanalyze",
        "documentNamespace": "https://spdx.org/spdxdocs/roceanalyze-" + digests.hexdigest()[:32],
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: cli-packaging-sbom"]},
        "packages": [entries[name] for name in sorted(entries)],
        "relationships": [{"spdxElementId": a if a.startswith("SPDXRef") else identifier(a), "relationshipType": kind,
                           "relatedSpdxElement": identifier(b)} for a, kind, b in relations]}
    with open(output, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
