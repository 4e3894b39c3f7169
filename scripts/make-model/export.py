"""Writes the model file: rows in eight bits, each with a scale of its own.

usage: export.py ROWS.npy VOCAB.txt OUT.bin

Layout, little endian:  0 magic "MSTATIC2"   8 u32 version 2   12 u32 dimensions   16 u32 pieces
                       20 u32 flags (1: uncased word pieces, 2: no marks around the text)
                       24 sha256 of the vocabulary   56 f32 scale of each piece
                       then the rows, one byte per number; then f16 length of each row, for explaining
"""

import hashlib
import struct
import sys
from pathlib import Path

import numpy as np


def main(rows_path, vocab_path, out_path):
    rows = np.load(rows_path).astype(np.float32)
    vocab = Path(vocab_path).read_bytes()
    pieces, dim = rows.shape
    assert pieces == len(vocab.splitlines()), "rows and vocabulary do not fit"
    rows /= np.median(np.linalg.norm(rows, axis=1))
    scale = (np.abs(rows).max(1).clip(1e-9) / 127).astype("<f4")
    small = np.round(rows / scale[:, None]).clip(-127, 127).astype(np.int8)
    length = np.linalg.norm(small * scale[:, None], axis=1).astype("<f2")
    head = b"MSTATIC2" + struct.pack("<4I", 2, dim, pieces, 3) + hashlib.sha256(vocab).digest()
    data = head + scale.tobytes() + small.tobytes() + length.tobytes()
    Path(out_path).write_bytes(data)
    print(len(data), hashlib.sha256(data).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])
