#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keys of all JSON documents with their types and units, kept with their versions in schemas/NAME.txt beside this script:
who changes keys raises the version by the rules of docs/schema.md. Usage: schemas_test.py ROCEANALYZE SAMPLES [--update]
--update rewrites what is kept, if versions were raised as they must: read the difference before committing it."""

import difflib
import json
import os
import re
import subprocess
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schemas")


def output(program, *words):
    return subprocess.run([program, *words], check=True, capture_output=True, timeout=60).stdout.decode()


def type_text(schema):
    """"integer", "string or null", "number or list of number" of what has no keys of its own."""
    if "anyOf" in schema:
        return " or ".join(type_text(each) for each in schema["anyOf"])
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    text = " or ".join(types)
    if "enum" in schema:
        text += " of " + ", ".join(str(value) for value in schema["enum"] if value is not None)
    if types[0] == "array":
        text += " of " + type_text(schema["items"])
    elif types[0] == "object":
        text += " of " + type_text(schema["additionalProperties"])
    return text


def reached(name, definitions):
    """The object and all objects in it."""
    found, waiting = {}, [name]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found[each] = definitions[each]
            waiting += re.findall(r'"#/\$defs/(\w+)"', json.dumps(definitions[each]))
    return found


def lines_of(schema, definitions, path, report):
    """A line for each key: "capture.files[].packets: integer, packets". Objects that the report has stand there."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        target = definitions[name]
        if name in report and reached(name, definitions) == reached(name, report):
            yield f"{path}: {name}, as in the report"
            return
        for key, value in target["properties"].items():
            yield from lines_of(value, definitions, path + "." + key + ("" if key in target["required"] else "?"),
                                report)
        return
    choices = schema.get("anyOf", [])
    if len(choices) > 1 and all("$ref" in each for each in choices):
        for each in choices:
            yield from lines_of(each, definitions, path + "<" + each["$ref"].removeprefix("#/$defs/") + ">", report)
        return
    if any("$ref" in each for each in choices):
        yield path + ": object or null"
        yield from lines_of(next(each for each in choices if "$ref" in each), definitions, path, report)
        return
    inside = schema.get("items") if schema.get("type") == "array" else schema.get("additionalProperties")
    if isinstance(inside, dict) and "$ref" in inside:
        yield from lines_of(inside, definitions, path + ("[]" if schema["type"] == "array" else "{}"), report)
        return
    yield path + ": " + type_text(schema) + (", " + schema["x-unit"] if "x-unit" in schema else "")


def kept_text(schema, report):
    root = {key: schema[key] for key in ("$ref", "anyOf", "type", "items") if key in schema}
    lines = [line.removeprefix(".") for line in lines_of(root, schema["$defs"], "", report)]
    return "version " + schema["x-version"] + "\n" + "".join(line + "\n" for line in lines)


def version_of(text):
    major, minor = text.split("\n", 1)[0].removeprefix("version ").split(".")
    return int(major), int(minor)


def wrong_version(kept, now):
    """What the rules of docs/schema.md say against the change; None: nothing."""
    before, after = set(kept.splitlines()[1:]), set(now.splitlines()[1:])
    (major, minor), (new_major, new_minor) = version_of(kept), version_of(now)
    if before - after and new_major <= major:
        return f"keys were removed or changed: raise the first number of version {major}.{minor} (cli/schema/documents.cpp)"
    if after - before and (new_major, new_minor) <= (major, minor):
        return f"keys were added: raise the second number of version {major}.{minor} (cli/schema/documents.cpp)"
    if before == after and (new_major, new_minor) != (major, minor):
        return f"version {major}.{minor} was changed, and no key"
    return None


def main():
    # The rules hold.
    old = "version 1.4\na: integer\nb: integer, ns\n"
    assert wrong_version(old, old) is None
    assert wrong_version(old, old + "c: string\n") and wrong_version(old, old.replace("ns", "us"))
    assert wrong_version(old, (old + "c: string\n").replace("1.4", "1.5")) is None
    assert wrong_version(old, old.replace("ns", "us").replace("1.4", "1.5"))
    assert wrong_version(old, old.replace("ns", "us").replace("1.4", "2.0")) is None
    assert wrong_version(old, old.replace("1.4", "1.5"))

    program, update = os.path.abspath(sys.argv[1]), "--update" in sys.argv[3:]
    names = [line.split()[0] for line in output(program, "schema").splitlines()[1:]]
    report = json.loads(output(program, "schema", "report"))["$defs"]
    failed = 0
    kept_names = {name[:-len(".txt")] for name in os.listdir(HERE)}
    if not update and kept_names != set(names):
        failed += 1
        print("documents:", sorted(kept_names ^ set(names)), "are kept or written, not both")
    for name in names:
        now = kept_text(json.loads(output(program, "schema", name)), {} if name == "report" else report)
        path = os.path.join(HERE, name + ".txt")
        if not os.path.exists(path):
            kept = None
        else:
            with open(path, encoding="utf-8") as file:
                kept = file.read()
        if kept == now:
            continue
        wrong = wrong_version(kept, now) if kept is not None else None
        if update and wrong is None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(now)
            continue
        failed += 1
        sys.stdout.writelines(difflib.unified_diff((kept or "").splitlines(True), now.splitlines(True),
                                                   f"schemas/{name}.txt", "now", n=1))
        print(f"{name}: {wrong or 'to be kept with --update'}")
    print(f"{len(names)} documents, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
