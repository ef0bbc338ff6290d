"""JUnit XML: one test suite a file, one failed test case a finding, so that CI systems show them as tests.

Only what the schema of Jenkins' xUnit plugin knows is written: it refuses whole reports for one other
attribute, such as `file` or `line`. The place is in the name of the case, and in the text of the failure.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from clmap_lsp.escaping import terminal
from clmap_lsp.findings import Severity
from clmap_lsp.report.model import CheckReport, FileReport

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold (section 2.2)."""


def render(report: CheckReport) -> str:
    """Return the document. A file without findings is one test that passed."""
    root = ElementTree.Element("testsuites", name="clmap-lsp")
    tests = failures = 0
    for file in report.files:
        suite = _suite(file)
        tests += int(suite.get("tests", "0"))
        failures += int(suite.get("failures", "0"))
        root.append(suite)
    root.set("tests", str(tests))
    root.set("failures", str(failures))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(file: FileReport) -> ElementTree.Element:
    name = _clean(file.path)
    suite = ElementTree.Element("testsuite", name=name)
    failed = [it for it in file.findings if it.severity is not Severity.HINT]
    for finding in failed:
        at = file.start(finding.span)
        title = f"{finding.code} {finding.name} at {at.row}:{at.column}"
        case = ElementTree.SubElement(suite, "testcase", name=title, classname=_clean(finding.span.path))
        failure = ElementTree.SubElement(
            case, "failure", type=finding.severity.value, message=_clean(finding.message)
        )
        failure.text = _clean(f"{finding.span.path}:{at.row}:{at.column}: {finding.code} {finding.message}")
    if file.error is not None:
        case = ElementTree.SubElement(suite, "testcase", name="read", classname=name)
        ElementTree.SubElement(case, "error", message=_clean(file.error))
    elif not failed:
        ElementTree.SubElement(suite, "testcase", name="no findings", classname=name)
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(failed)))
    suite.set("errors", "0" if file.error is None else "1")
    return suite


def _clean(text: str) -> str:
    """Return a text without what XML cannot hold, and what a terminal or a reader of the log would act on."""
    return "\n".join(_NOT_XML.sub("\ufffd", terminal(line)) for line in text.split("\n"))
