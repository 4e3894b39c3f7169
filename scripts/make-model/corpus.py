"""Collects short English texts to learn from. Use sources under permissive licences only, and no evaluation data.

usage: corpus.py OUT.json [--wordnet DIR] [--chatterbot DIR] [--rust DIR] [--python DIR] [--text DIR] [--jargon FILE]
"""

import argparse
import gzip
import json
import random
import re
from pathlib import Path

# Texts taken of each source at most: about the share each had in the model that ships.
CAPS = {"wordnet": 45_000, "rust": 16_000, "python": 6_000, "chatterbot": 12_000, "text": 12_000, "jargon": 3_000}
NAMES = "Anna Ben Carol David Emma Frank Grace Henry Irene Jack Karen Liam Maria Nick Olivia Peter user assistant".split()
rng = random.Random(7)


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def is_prose(text):
    if not 15 < len(text) < 1200:
        return False
    plain = sum(c.isalpha() or c == " " for c in text) > 0.72 * len(text)
    return plain and sum(ord(c) > 127 for c in text) < 4


def runs(paragraph, most=4):
    """Cuts a paragraph into runs of one to `most` sentences."""
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z\"'])", squeeze(paragraph))
    at = 0
    while at < len(sentences):
        count = rng.randint(1, most)
        yield " ".join(sentences[at : at + count])
        at += count


def paragraphs(text):
    for paragraph in re.split(r"\n\s*\n", text):
        yield from runs(paragraph)


def read(path, limit=None):
    return path.read_text(encoding="utf8", errors="ignore")[:limit]


def wordnet(root):
    """Glosses, with and without their words, and the examples in them."""
    for path in sorted(root.glob("data.*")):
        for line in path.read_text(encoding="latin1").splitlines():
            if line.startswith("  ") or "|" not in line:
                continue
            head, gloss = line.split("|", 1)
            fields = head.split()
            words = [fields[4 + 2 * i].replace("_", " ") for i in range(int(fields[3], 16))]
            meaning = re.split(r';\s*"', gloss.strip())[0].strip()
            yield rng.choice([f"{words[0]}: {meaning}", meaning, f"{', '.join(words[:3])} - {meaning}"])
            yield from re.findall(r'"([^"]{15,})"', gloss)


def rust(root):
    """READMEs and doc comments of crates."""
    for path in sorted(root.rglob("*.md")):
        text = re.sub(r"```.*?```", "", read(path, 60_000), flags=re.S)
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
        text = re.sub(r"<[^>]+>|https?://\S+", "", text)
        for block in re.split(r"\n\s*\n|\n(?=[-*] )", text):
            yield from runs(re.sub(r"^[#>*\-\s]+", "", block))
    for path in sorted(root.rglob("src/**/*.rs")):
        for block in re.findall(r"(?:^[ \t]*//[/!] ?.*\n)+", read(path), re.M):
            block = re.sub(r"^[ \t]*//[/!] ?", "", block, flags=re.M)
            block = re.sub(r"```.*?```", "", block, flags=re.S)
            yield from paragraphs(re.sub(r"\[`?([^\]`]*)`?\](\([^)]*\))?", r"\1", block))


def python(root):
    for path in sorted(root.rglob("*.py")):
        for docstring in re.findall(r'"""(.*?)"""', read(path), re.S):
            yield from paragraphs(docstring)


def chatterbot(root):
    """Questions, answers, and both together."""
    for path in sorted(root.rglob("english/*.yml")):
        question = ""
        for line in read(path).splitlines():
            if asked := re.match(r"\s*- - (.*)", line):
                question = squeeze(asked[1]).strip("'\"")
                yield question
            elif answered := re.match(r"\s{2,}- (.*)", line):
                answer = squeeze(answered[1]).strip("'\"")
                yield answer
                yield f"{question} {answer}"


def text(root):
    for path in sorted(root.rglob("*.txt")):
        yield from paragraphs(read(path))


def jargon(path):
    yield from paragraphs(re.sub(r"[{}]", "", gzip.open(path, "rt", errors="ignore").read()))


def spoken(texts):
    """Some lines get a speaker in front, as chat logs have."""
    return (f"{rng.choice(NAMES)}: {t}" if rng.random() < 0.4 else t for t in texts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    for source in CAPS:
        parser.add_argument(f"--{source}", type=Path)
    args = parser.parse_args()
    corpus = []
    for source, cap in CAPS.items():
        if (where := getattr(args, source)) is None:
            continue
        texts = globals()[source](where)
        if source in ("chatterbot", "text"):
            texts = spoken(texts)
        texts = sorted({t for t in texts if is_prose(t)})
        rng.shuffle(texts)
        print(source, len(texts), "->", min(cap, len(texts)))
        corpus += texts[:cap]
    rng.shuffle(corpus)
    Path(args.out).write_text(json.dumps(corpus))


if __name__ == "__main__":
    main()
