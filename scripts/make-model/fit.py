"""Fits one vector per word piece, so that the direction of a text's sum is that of the teacher's vector.

usage: fit.py MODEL_DIR CORPUS.json TEACHER.npz OUT.npy        the length of a row is the learned weight of its piece
"""

import json
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from tokenizers import Tokenizer

DIM, EPOCHS, BATCH, RATE = 256, 12, 768, 0.02
# How strongly rows are pulled back to where they began, divided by the texts a piece is in.
PULL = 3e-3
# Frequency at which a piece begins with half its weight.
COMMON = 1e-3
# Texts that are not learned from but measured with.
HELD_OUT = 2000


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-9)


def count_pieces(model_dir, texts):
    """A row per text: how often each piece is in it."""
    tokenizer = Tokenizer.from_file(str(Path(model_dir) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # As many as the teacher sees, without its two marks.
    ids = [e.ids[:94] for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
    ends = np.cumsum([0] + [len(row) for row in ids])
    ones = np.ones(ends[-1], np.float32)
    counts = sparse.csr_matrix((ones, np.concatenate(ids).astype(np.int32), ends), (len(ids), tokenizer.get_vocab_size()))
    counts.sum_duplicates()
    return counts


def start(counts, pieces, texts):
    """The teacher's vectors of single pieces, reduced by PCA of its text vectors and weighted by frequency."""
    centred = texts - texts.mean(0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :DIM]
    rows = (pieces - pieces.mean(0)) @ axes
    rows /= np.linalg.norm(rows, axis=1).mean()
    frequency = np.asarray(counts.sum(0)).ravel() / counts.sum()
    return (rows * (COMMON / (COMMON + frequency))[:, None]).astype(np.float32), unit(centred @ axes)


def fit(counts, begin, target):
    rows, spread = begin.copy(), np.maximum(np.asarray((counts > 0).sum(0)).ravel(), 1)
    first, second = np.zeros_like(rows), np.zeros_like(rows)
    rng = np.random.default_rng(1)
    held = min(HELD_OUT, counts.shape[0] // 10)
    learn = np.arange(held, counts.shape[0])
    batch = min(BATCH, len(learn))
    steps, step = EPOCHS * (len(learn) // batch), 0
    for epoch in range(EPOCHS):
        order = rng.permutation(learn)
        for at in range(0, len(order) - batch + 1, batch):
            step += 1
            some = order[at : at + batch]
            present, place = np.unique(counts[some].indices, return_inverse=True)
            local = sparse.csr_matrix((counts[some].data, place.astype(np.int32), counts[some].indptr), (batch, len(present)))
            old = rows[present]
            sums = local @ old
            length = np.linalg.norm(sums, axis=1, keepdims=True).clip(1e-6)
            found = sums / length
            wanted = target[some]
            slope = local.T @ (((found * wanted).sum(1, keepdims=True) * found - wanted) / length) / batch
            slope += PULL * (old - begin[present]) / spread[present, None]
            first[present] = 0.9 * first[present] + 0.1 * slope
            second[present] = 0.99 * second[present] + 0.01 * (slope * slope).mean(1, keepdims=True)
            rate = RATE * min(1, step / 100) * 0.5 * (1 + np.cos(np.pi * step / steps))
            rows[present] = old - rate * first[present] / (np.sqrt(second[present]) + 1e-9)
        cosine = (unit(counts[:held] @ rows) * target[:held]).sum(1).mean()
        print(f"epoch {epoch + 1}: cosine with the teacher {cosine:.4f} on {held} texts not learned from", flush=True)
    return rows


def main(model_dir, corpus_path, teacher_path, out_path):
    teacher = np.load(teacher_path)
    texts = json.loads(Path(corpus_path).read_text())[: len(teacher["texts"])]
    counts = count_pieces(model_dir, texts)
    some = np.flatnonzero(np.diff(counts.indptr) > 1)
    counts, vectors = counts[some], teacher["texts"][some]
    begin, target = start(counts, teacher["pieces"], vectors)
    np.save(out_path, fit(counts, begin, target))


if __name__ == "__main__":
    main(*sys.argv[1:])
