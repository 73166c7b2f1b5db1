#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` gives the desktop, judged by the desktop's own tools.
Usage: desktop_test.py BUILD_FOLDER PROJECT_VERSION"""

import configparser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

VERSION = sys.argv.pop()
BUILD = sys.argv.pop()
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def tool(test, *command):
    if shutil.which(command[0]) is None:
        test.skipTest(f"no {command[0]} here")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    test.assertEqual(done.returncode, 0, done.stdout + done.stderr)
    return done.stdout + done.stderr


class Desktop(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.folder.name], check=True, capture_output=True, timeout=300)
        cls.share = os.path.join(cls.folder.name, "share")
        cls.entry_path = os.path.join(cls.share, "applications", "roceanalyze-gui.desktop")
        cls.entry = configparser.ConfigParser(interpolation=None)
        cls.entry.optionxform = str
        cls.entry.read(cls.entry_path, encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, *parts):
        return os.path.join(self.share, *parts)

    def test_programs_are_installed_and_run(self):
        for name in ("roceanalyze", "roceanalyze-gui"):
            done = subprocess.run([os.path.join(self.folder.name, "bin", name), "--version"], capture_output=True, text=True, timeout=60,
                                  check=True)
            self.assertIn(VERSION, done.stdout)

    def test_entry(self):
        self.assertEqual(tool(self, "desktop-file-validate", self.entry_path), "")
        main = self.entry["Desktop Entry"]
        self.assertEqual(main["Exec"].split(), ["roceanalyze-gui", "%F"])
        self.assertTrue(os.path.isfile(self.path("icons", "hicolor", "scalable", "apps", main["Icon"] + ".svg")))

    def test_description(self):
        path = self.path("metainfo", "roceanalyze-gui.metainfo.xml")
        tool(self, "appstreamcli", "validate", "--no-net", path)
        root = ElementTree.parse(path).getroot()
        self.assertEqual(root.find("launchable").text, os.path.basename(self.entry_path))
        self.assertEqual(root.find("releases/release").get("version"), VERSION)
        entry = self.entry["Desktop Entry"]
        self.assertEqual({t.text for t in root.findall("provides/mediatype")}, set(entry["MimeType"].strip(";").split(";")))

    def test_types(self):
        path = self.path("mime", "packages", "roceanalyze.xml")
        tool(self, "xmllint", "--noout", path)
        kinds = {kind.get("type"): {glob.get("pattern") for glob in kind.findall(f"{MIME}glob")}
                 for kind in ElementTree.parse(path).getroot().findall(f"{MIME}mime-type")}
        self.assertEqual(set(kinds), set(self.entry["Desktop Entry"]["MimeType"].strip(";").split(";")))
        self.assertIn("*.pcap.zst", kinds["application/x-compressed-pcap"])
        tool(self, "update-mime-database", self.path("mime"))
        with open(self.path("mime", "globs2"), encoding="utf-8") as file:
            globs = file.read()
        for kind, patterns in kinds.items():
            for pattern in patterns:
                self.assertRegex(globs, rf"(?m)^\d+:{re.escape(kind)}:{re.escape(pattern)}$")

    def test_icon(self):
        path = self.path("icons", "hicolor", "scalable", "apps", "roceanalyze.svg")
        tool(self, "xmllint", "--noout", path)
        root = ElementTree.parse(path).getroot()
        self.assertEqual(root.get("viewBox"), "0 0 128 128")
        self.assertFalse([e for e in root.iter() if e.tag.endswith("}image") or e.get("href")])


if __name__ == "__main__":
    unittest.main()
