#!/usr/bin/env python3
"""Adds up test results: names what was skipped (and why) and what failed, and prints `N passed, N failed, N skipped`.

usage: summary.py FILE...
FILE is ctest's JUnit output, or a list of checks: lines `passed|failed|skipped<TAB>name[<TAB>reason]`. Beside NAME.xml
there may be a folder NAME.cases with GoogleTest's own reports, PROGRAM.xml each: then the cases of that program count in
place of the one line that ctest has for it, and one failure more where the program failed and no case did.
Exit status 1 if anything failed or nothing passed.
"""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


def skip_reason(case):
    """What the test said: the line after GoogleTest's place of the skip, or one that starts with `skipped`."""
    lines = [line.strip() for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if re.search(r": Skipped$", line) and number + 1 < len(lines):
            return lines[number + 1]
        if line.lower().startswith("skipped"):
            return re.sub(r"^skipped:?\s*", "", line, flags=re.IGNORECASE)
    return ""


def from_googletest(path, program_failed):
    failed = False
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None:
            failed = True
            yield "failed", name, ""
        elif skipped is not None or case.get("result") in ("skipped", "suppressed"):
            text = (skipped.text or "").strip().splitlines() if skipped is not None else []
            yield "skipped", name, text[-1] if text else ""
        else:
            yield "passed", name, ""
    if program_failed and not failed:
        yield "failed", os.path.basename(path)[: -len(".xml")], "the program failed, none of its cases did"


def from_junit(path):
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = re.sub(r"\s*# GetParam\(\).*", "", case.get("name"))
        cases = os.path.join(path[: -len(".xml")] + ".cases", name + ".xml")
        if os.path.exists(cases):
            yield from from_googletest(cases, case.find("failure") is not None or case.get("status") != "run")
            continue
        if case.find("failure") is not None or case.get("status") == "fail":
            yield "failed", name, ""
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            # A test that ctest could not start is a failure, not a skip.
            message = case.find("skipped").get("message", "") if case.find("skipped") is not None else ""
            broken = "SKIP" not in message and case.get("status") == "notrun"
            yield ("failed" if broken else "skipped"), name, message if broken else skip_reason(case)
        else:
            yield "passed", name, ""


def from_list(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            state, name, *reason = line.rstrip("\n").split("\t")
            yield state, name, reason[0] if reason else ""


def main():
    count = {"passed": 0, "failed": 0, "skipped": 0}
    lines = {"failed": [], "skipped": []}
    for path in sys.argv[1:]:
        for state, name, reason in from_junit(path) if path.endswith(".xml") else from_list(path):
            count[state] += 1
            if state != "passed":
                lines[state].append(f"{state}: {name}" + (f" ({reason})" if reason else ""))
    # Failures last: where only the end of the output is kept, they are in it.
    for line in lines["skipped"] + lines["failed"]:
        print(line)
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
