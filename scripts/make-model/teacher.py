"""The source model in plain numpy: vectors of the corpus, and of every word piece alone.

usage: teacher.py MODEL_DIR CORPUS.json OUT.npz [TEXTS]        MODEL_DIR holds config.json, model.safetensors, tokenizer.json
"""

import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer

MAX_TOKENS = 96


class Teacher:
    def __init__(self, model_dir):
        root = Path(model_dir)
        config = json.loads((root / "config.json").read_text())
        self.layers = config["num_hidden_layers"]
        self.heads = config["num_attention_heads"]
        self.epsilon = config.get("layer_norm_eps", 1e-12)
        weights = load_file(root / "model.safetensors")
        self.w = {k.removeprefix("bert."): v.astype(np.float32) for k, v in weights.items() if v.dtype.kind == "f"}
        self.tokenizer = Tokenizer.from_file(str(root / "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.no_padding()

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def normed(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon)
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]

    def attend(self, x, layer, mask):
        batch, length, width = x.shape
        split = lambda y: y.reshape(batch, length, self.heads, -1).transpose(0, 2, 1, 3)
        q, k, v = (split(self.linear(x, f"{layer}.attention.self.{n}")) for n in ("query", "key", "value"))
        scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1]) + mask
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        return (scores @ v).transpose(0, 2, 1, 3).reshape(batch, length, width)

    def run(self, ids):
        """Unit vectors of lists of piece ids: the mean over the pieces."""
        length = max(map(len, ids))
        padded = np.zeros((len(ids), length), np.int64)
        real = np.zeros((len(ids), length), np.float32)
        for i, row in enumerate(ids):
            padded[i, : len(row)] = row
            real[i, : len(row)] = 1
        place = self.w["embeddings.position_embeddings.weight"][:length] + self.w["embeddings.token_type_embeddings.weight"][0]
        x = self.normed(self.w["embeddings.word_embeddings.weight"][padded] + place, "embeddings.LayerNorm")
        mask = (real[:, None, None, :] - 1) * 1e4
        for i in range(self.layers):
            layer = f"encoder.layer.{i}"
            y = self.linear(self.attend(x, layer, mask), f"{layer}.attention.output.dense")
            x = self.normed(x + y, f"{layer}.attention.output.LayerNorm")
            y = self.linear(x, f"{layer}.intermediate.dense")
            y = self.linear(0.5 * y * (1 + erf(y / np.sqrt(2, dtype=np.float32))), f"{layer}.output.dense")
            x = self.normed(x + y, f"{layer}.output.LayerNorm")
        mean = (x * real[..., None]).sum(1) / real.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def encode(self, ids, batch=64):
        """The same for many lists, those of like length together."""
        order = np.argsort([len(row) for row in ids], kind="stable")
        out = None
        for at in range(0, len(order), batch):
            some = order[at : at + batch]
            vectors = self.run([ids[i] for i in some])
            out = np.zeros((len(ids), vectors.shape[1]), np.float32) if out is None else out
            out[some] = vectors
            if at // batch % 50 == 0:
                print(f"{at} of {len(order)}", flush=True)
        return out


def main(model_dir, corpus_path, out_path, most="0"):
    teacher = Teacher(model_dir)
    texts = json.loads(Path(corpus_path).read_text())[: int(most) or None]
    encoded = [e.ids for e in teacher.tokenizer.encode_batch(texts)]
    first, last = encoded[0][0], encoded[0][-1]
    pieces = [[first, i, last] for i in range(teacher.tokenizer.get_vocab_size())]
    np.savez(out_path, texts=teacher.encode(encoded), pieces=teacher.encode(pieces, 256))


if __name__ == "__main__":
    main(*sys.argv[1:])
