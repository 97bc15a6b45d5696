#!/usr/bin/env python3
"""english.py - the measurable part of plain English: how sentences of comments open, and how long sentences are.

Reads the C comments, string literals, comments of scripts, Markdown, and texts of YAML that Git knows. Prints one line per
offence, FILE:LINE: what, and the beginning of the sentence; exit status 1 if there is any.
With --count, prints for each folder how many comments and sentences there are, how many offend, and the mean length instead.

A sentence ends at a full stop, a question mark or an exclamation mark that white space follows; so do an item of a list, a
cell of a table, a heading and an empty line. A comment of a struct's field, or one of several comments below one another, is a
text of its own.
"""

import collections
import pathlib
import re
import subprocess
import sys

WORDS_MOST = 35
OPENINGS = re.compile(r"(What|Whether|Of|Those|Who|Whose|Whom|That)\b")
FIELDS = re.compile(r"\{(?:[^{}\n]|\n(?!\s*\n))*\}")

# Generated from the experiments' files, whose texts are read themselves; measured pages of a reference run.
GENERATED = ("docs/experiments/", "docs/EXPERIMENTS.md", "results/reference")


def blocks_of_c(text):
    """(line, text, is a comment) of each comment and each run of string literals."""
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
    run, run_line, end = [], 0, 0
    for match in token.finditer(text):
        word, line = match.group(), text.count("\n", 0, match.start()) + 1
        between = text[end : match.start()]
        end = match.end()
        kind = "comment" if word[0] == "/" else "string" if word[0] == '"' else "char"
        goes_on = run and run[0][0] == kind and not between.strip() and between.count("\n") <= 1
        if kind == "comment" and word.startswith("/*"):
            goes_on = False
        if run and not goes_on:
            yield run_line, "\n".join(w for _, w in run), run[0][0] == "comment"
            run = []
        if kind == "char":
            continue
        if not run:
            run_line = line
        if kind == "string":
            body = word[1:-1].replace("\\n", "\n\n").replace('\\"', '"').replace("\\v", "\n\n")
            if run:
                run[-1] = (kind, run[-1][1] + body)
            else:
                run.append((kind, body))
        elif word.startswith("//"):
            run.append((kind, word[2:].lstrip("/").strip()))
        else:
            run.append((kind, "\n".join(row.strip().lstrip("*").rstrip() for row in word[2:-2].split("\n"))))
    if run:
        yield run_line, "\n".join(w for _, w in run), run[0][0] == "comment"


def blocks_of_script(text):
    """(line, text, is a comment) of each run of comments that begin a line."""
    run, start = [], 0
    for number, row in enumerate(text.split("\n") + [""], 1):
        if re.match(r"\s*#(?!!)", row):
            if not run:
                start = number
            run.append(row.strip().lstrip("#").rstrip())
        elif run:
            yield start, "\n".join(run), True
            run = []


def blocks_of_markdown(text):
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m.group().count("\n"), text, flags=re.S | re.M)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    yield 1, text, False


def blocks_of_yaml(text):
    yield from blocks_of_script(text)
    text = re.sub(r"\bexactly: .*", "exactly:", text)  # what a workload prints, no sentences
    for match in re.finditer(r"^( *)(?:- )?[\w-]+: *[>|]?-?\n?((?:.*\n?)(?:\1 +.*\n|\n)*)", text, re.M):
        yield text.count("\n", 0, match.start()) + 1, match.group(2), False


def sentences(text):
    """(offset, sentence) of a text; headings, items, table cells and empty lines part sentences."""
    # Fields in braces, as of JSON or of a style sheet, are data.
    while FIELDS.search(text):
        text = FIELDS.sub(lambda m: re.sub(r"[^\n]", "=", m.group()), text)
    # Layout ends a sentence: an item, a row of a table, a heading, an indented block, an empty line.
    text = re.sub(r"\n[ \t]*(?=[-*+] |\d+[.)] |\||#)", lambda m: "\0" + m.group()[1:], text)
    text = re.sub(r"\n[ \t]*\n", lambda m: "\0" + " " * (len(m.group()) - 1), text)
    text = re.sub(r"\n(?= {3,})", "\0", text)
    text = re.sub(r" \| |\|$", lambda m: "\0" + " " * (len(m.group()) - 1), text)
    start = 0
    for part in re.split(r"(\0|[.!?][\"'`)*]*(?=\s))", text):
        sentence = part
        if sentence.strip():
            yield start, sentence
        start += len(part)


def words(sentence):
    """A number or a name of signs only is none."""
    return [w for w in sentence.split() if re.search(r"[^\W\d_]", w)]


def main():
    counting = "--count" in sys.argv[1:]
    only = [a for a in sys.argv[1:] if not a.startswith("-")]
    files = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    offences, table = [], collections.defaultdict(collections.Counter)
    for name in files:
        if not name or name.startswith(GENERATED) or (only and not name.startswith(tuple(only))):
            continue
        path = pathlib.Path(name)
        suffix = path.suffix or path.name
        reader = {
            ".c": blocks_of_c, ".h": blocks_of_c, ".cc": blocks_of_c, ".cpp": blocks_of_c, ".S": blocks_of_c,
            ".sh": blocks_of_script, ".py": blocks_of_script, ".gp": blocks_of_script, ".awk": blocks_of_script,
            "Makefile": blocks_of_script, ".md": blocks_of_markdown, ".yaml": blocks_of_yaml,
        }.get(suffix)
        if not reader or not path.is_file():
            continue
        folder = "/".join(path.parts[:2]) if path.parts[0] in ("harness", "sched_variants", "tests") else path.parts[0]
        count = table[folder]
        for line, text, comment in reader(path.read_text(errors="replace")):
            count["comments"] += comment
            for offset, sentence in sentences(text):
                length = len(words(sentence))
                first = " ".join(sentence.split())
                at = line + text.count("\n", 0, offset + len(sentence) - len(sentence.lstrip()))
                asks = text[offset + len(sentence) :].startswith("?")
                if comment and not asks and OPENINGS.match(first):
                    count["openings"] += 1
                    offences.append((name, at, f"opens with {first.split()[0]}: {first[:70]}"))
                if length < 3:
                    continue
                count["sentences"] += 1
                count["words"] += length
                if length > WORDS_MOST:
                    count["long"] += 1
                    offences.append((name, at, f"a sentence of {length} words, {WORDS_MOST} at most: {first[:70]}"))
    if counting:
        print(f"{'':28}{'comments':>9}{'openings':>9}{'sentences':>10}{'long':>6}{'mean':>6}")
        for folder, c in sorted(table.items()):
            mean = c["words"] / max(1, c["sentences"])
            print(f"{folder:28}{c['comments']:9}{c['openings']:9}{c['sentences']:10}{c['long']:6}{mean:6.1f}")
        return 0
    for name, line, what in sorted(offences):
        print(f"{name}:{line}: {what}")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
