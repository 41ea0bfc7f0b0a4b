"""One line for a finding, the same for all findings of one fault: the exception and where it came from."""

import re

RAISED = re.compile(r'File "[^"]*?/(glassformer/[^"]+|fuzz/[^"]+)", line (\d+),? in (\S+)')
ERROR = re.compile(r"^(\w[\w.]*(?:Error|Exception|Exit|Interrupt))\b(.*)", re.MULTILINE)
STATUS = re.compile(r"exit status \d+|the process died \(status -?\d+\)|killed after \d+ s")
QUOTED = re.compile(r"'[^']{9,}'?")  # names and paths, which differ from case to case
LONG = 100  # letters of a message


def signature(words: str) -> str:
    r"""
    >>> signature('File "/a/src/glassformer/x.py", line 3, in read\nKeyError: 4')
    'KeyError: 4 at glassformer/x.py:3 (read)'
    """
    errors, said = ERROR.findall(words), STATUS.search(words)
    what = QUOTED.sub("'...'", "".join(errors[-1])[:LONG]) if errors else said[0] if said else ""
    frames = RAISED.findall(words)
    if not frames:
        return what
    file, line, function = frames[0] if "most recent call first" in words else frames[-1]
    return f"{what} at {file}:{line} ({function})".strip()
