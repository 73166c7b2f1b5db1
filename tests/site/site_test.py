#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents as a site: built without a warning, every page of docs is in its table of contents, and every link in it leads somewhere.
Usage: site_test.py CHECKOUT; skipped (77) without mkdocs."""

import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

ROOT = os.path.abspath(sys.argv.pop(1))
BUILD = os.path.join(ROOT, "docs/site/build")


class Page(html.parser.HTMLParser):
    """What a page links to and what in it can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.pictures, self.words = [], set(), 0, ""
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.anchors.update(named[name] for name in ("id", "name") if name in named)
        self.pictures += tag == "img" and named.get("src", "").endswith(".png") and "assets" not in named["src"]
        self.links += [named[name] for name in ("href", "src") if named.get(name)]

    def handle_data(self, data):
        self.words += data


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.done = subprocess.run([BUILD, cls.folder.name], capture_output=True, text=True, check=False)
        cls.pages = {}
        for folder, _, names in os.walk(cls.folder.name):
            for name in names:
                if name.endswith(".html") and name != "404.html":
                    path = os.path.join(folder, name)
                    cls.pages[os.path.relpath(path, cls.folder.name)] = Page(path)

    def test_it_is_built_without_a_word(self):
        self.assertEqual((self.done.returncode, self.done.stderr + self.done.stdout), (0, ""))

    def test_every_document_is_in_the_contents(self):
        with open(os.path.join(ROOT, "docs/site/mkdocs.yml"), encoding="utf-8") as file:
            named = set(re.findall(r"[\w./-]+\.md", file.read()))
        documents = {os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, names in os.walk(os.path.join(ROOT, "docs"))
                     for name in names if name.endswith(".md")}
        self.assertEqual(documents - named, set())

    def test_links_lead_somewhere(self):
        wrong = []
        for name, page in self.pages.items():
            for link in page.links:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                target = os.path.normpath(os.path.join(os.path.dirname(name), urllib.parse.unquote(parts.path))) if parts.path else name
                if target == ".":
                    continue
                if not os.path.isfile(os.path.join(self.folder.name, target)):
                    wrong.append(f"{name}: {link}")
                elif parts.fragment and target in self.pages and parts.fragment not in self.pages[target].anchors:
                    wrong.append(f"{name}: {link}: no such heading")
        self.assertFalse(wrong, "\n" + "\n".join(sorted(wrong)))

    def test_it_has_what_a_reader_looks_for(self):
        self.assertGreaterEqual(self.pages["index.html"].pictures, 3)  # of the window
        self.assertIn("import roceanalyze", self.pages["docs/captures.html"].words)
        self.assertIn("46 of 3669 packets", self.pages["index.html"].words)
        with open(os.path.join(ROOT, "docs/findings/README.md"), encoding="utf-8") as file:
            findings = set(re.findall(r"\]\((\w+)\.md\)", file.read()))
        self.assertGreater(len(findings), 60)
        self.assertEqual({f"docs/findings/{name}.html" for name in findings} - set(self.pages), set())


if __name__ == "__main__":
    if shutil.which("mkdocs") is None:
        print("skipped: mkdocs is missing (apt install mkdocs-material)")
        sys.exit(77)
    unittest.main()
