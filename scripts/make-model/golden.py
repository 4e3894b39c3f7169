"""Writes the values the Rust embedder is compared with: texts, their word pieces by the `tokenizers` package, and their
vectors by numpy.

usage: golden.py MODEL.bin VOCAB.txt OUT.jsonl        needs: numpy, tokenizers
"""

import json
import random
import struct
import sys

import numpy as np
from tokenizers import BertWordPieceTokenizer

TEXTS = """How do we deploy the web server?
We deploy with `make release`, then restart the service.
Alice prefers tabs; Bob prefers spaces.
The database runs on port 5432 behind pgbouncer.
Never commit the .env file!
Meeting moved from Tuesday to Thursday, 14:30.
My sister's birthday is on March 3rd, 1987.
He has two cats, Miso and Udon, and one very old dog.
I'm allergic to peanuts, but not to almonds.
We're using HTTP/2 with TLS 1.3 and session resumption.
fn main() { println!("hello, {}", name); }
let x = vec![1, 2, 3].iter().map(|v| v * 2).sum::<i32>();
SELECT id, name FROM users WHERE created_at > now() - interval '7 days';
getUserName HTTP_2 src/db/pool.rs --dry-run E0502 0xdeadbeef
https://example.org/path?query=1&other=two#anchor
user@example.org wrote: "see RFC-2119, section 5"
ssh -i ~/.ssh/key -L 8080:localhost:80 host.example
A quick brown fox, a lazy dog, and an antidisestablishmentarianist.
supercalifragilisticexpialidocious pneumonoultramicroscopicsilicovolcanoconiosis
Embedding, tokenization, quantisation, normalising, unhappily.
I think we should postpone the migration until the tests are green
The build fails with: error[E0382]: borrow of moved value: `config`
TODO: rename the column, backfill it, then drop the old one
Ada likes short answers. She dislikes emoji in commit messages.
don't can't won't it's they'd we'll I've
rock'n'roll 'quoted' "double" `code` *bold* _under_ ~tilde~
(parentheses) [brackets] {braces} <angle> |pipe| \\backslash\\
$100 €50 £20 ¥3000 100% 3.14 1,000,000 -5 +7 =8
a b c d e f g h i j k l m n o p q r s t u v w x y z
UPPER lower MiXeD camelCase PascalCase snake_case kebab-case
x
!
...
--
Zürich, São Paulo, Kraków, Malmö, Reykjavík, Łódź
naïve café résumé jalapeño über Ångström façade
ÀÉÎÕÜ àéîõü ÇçÑñ ŠšŽž ßẞ ÆæŒœ ØøÐðÞþ
“curly quotes” ‘single’ — em dash – en dash … ellipsis • bullet
«guillemets» ‹single› „low“ ‚low‘ ¿qué? ¡hola!
x→y ⇒ z ∀∃∈∉ ≤≥≠≈ ±×÷ √∞ ½¼¾ ²³ °C µm №5 ™©®
今天天气很好。我们去公园吧！
東京タワーは高いです。カタカナとひらがな
한국어 문장입니다. 안녕하세요
Привет, мир! Как дела? Ёлка и ёж
مرحبا بالعالم، كيف حالك؟ السَّلَامُ
שלום עולם, מה שלומך? שָׁלוֹם
नमस्ते दुनिया, आप कैसे हैं?
สวัสดีชาวโลก ภาษาไทย
Γειά σου Κόσμε ΑΣ ΟΔΥΣΣΕΥΣ
Tiếng Việt có nhiều dấu: ế ộ ữ ặ
🎉🦀 emoji 👩‍💻 family 👨‍👩‍👧 flags 🇩🇪 skin 👍🏽
mixed 日本 and English 混在 text
e\u0301 o\u0308 n\u0303 combining, fi ﬂ ligatures, Ⅷ roman, ① circled
non\u00a0breaking\u2003em\u3000ideographic\u2028line\u200bzero\u00adsoft\ufeffbom
control\u0001\u0002chars\u007f and\u0085next\u000bvt\u000cff \ufffd replaced
İstanbul ıspanak ǅ ǆ ŉ ΐ
１２３ ｆｕｌｌｗｉｄｔｈ ＡＢＣ ，。！
豈 丽 \U0002f804 \U00020000\U0002a6d0 \U0002b920 㐀
\u037e \u1fef \u212b \u2126 \u00b4 \u00a8
a_b-c.d,e;f:g/h\\i|j?k!l@m#n$o%p^q&r*s(t)u=v+w<x>y~z`0
line one
""".split("\n")

TOPICS = """deployment rollback credentials kubernetes birthday allergy espresso marathon violin garden
refactoring parser latency throughput benchmark invoice holiday passport sourdough telescope""".split()
PATTERNS = [
    "What did we decide about {0} and {1}?",
    "Remember: the {0} must happen before the {1}, because of the {2}.",
    "**User:** my {0} is broken again. **Assistant:** try the {1}; if that fails, ask about {2}.",
    "## {0}\n\n- {1}: done\n- {2}: open, see notes/{0}.md",
]


def texts():
    rng = random.Random(11)
    out = list(TEXTS)
    for _ in range(70):
        out.append(rng.choice(PATTERNS).format(*rng.sample(TOPICS, 3)))
    blocks = [(0x20, 0x7E)] * 6 + [(0xA0, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x6FF), (0x900, 0x97F),
              (0xE00, 0xE5B), (0x1E00, 0x1EFF), (0x2000, 0x206F), (0x20A0, 0x20BF), (0x2190, 0x22FF), (0x3000, 0x30FF),
              (0x4E00, 0x4FFF), (0xAC00, 0xAFFF), (0x1F600, 0x1F64F)]
    for _ in range(70):
        word = lambda: "".join(chr(rng.randint(*rng.choice(blocks))) for _ in range(rng.randint(1, 9)))
        out.append(" ".join(word() for _ in range(rng.randint(1, 12))))
    out += ["many words and then some, " * 40, "x" * 100, "y" * 101, "ß" * 100, "\n\t\r ", "word " * 300]
    return out


def main(model_path, vocab_path, out_path):
    raw = open(model_path, "rb").read()
    dim, vocab = struct.unpack_from("<2I", raw, 12)
    scale = np.frombuffer(raw, "<f4", vocab, 56).astype(np.float64)
    rows = np.frombuffer(raw, np.int8, vocab * dim, 56 + 4 * vocab).reshape(vocab, dim).astype(np.float64)
    tokenizer = BertWordPieceTokenizer(vocab_path, lowercase=True)
    with open(out_path, "w", encoding="utf8") as out:
        for text in texts():
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            vector = (scale[ids, None] * rows[ids]).sum(0) if ids else np.zeros(dim)
            largest = np.abs(vector).max()
            row = np.round(vector * (127 / largest if largest else 0)).astype(np.int8)
            line = {"text": text, "pieces": ids, "row": row.tobytes().hex()}
            out.write(json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
