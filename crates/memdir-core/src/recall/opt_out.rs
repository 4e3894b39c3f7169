//! "Ignore memory": a message that asks for an answer without memories gets none.

/// Phrases in languages that put the verb first, without the words between verb and noun.
const VERBS: &[&str] = &[
    "ignore", "disregard", "skip", "ignoriere", "ignorier", "ignora", "ignorez", "ignoriert", "negeer", "zignoruj", "ignoruj", "игнорируй",
    "игнорируйте",
];
const NOUNS: &[&str] = &[
    "memory", "memories", "memdir", "gedächtnis", "erinnerungen", "mémoire", "mémoires", "memoria", "memorias", "memorie", "memória",
    "memórias", "geheugen", "pamięć", "память",
];
/// Words that may be between verb and noun.
const BETWEEN: &[&str] = &[
    "my", "your", "the", "all", "any", "saved", "stored", "mein", "meine", "dein", "deine", "das", "die", "alle", "la", "les", "le", "ta",
    "tes", "ma", "mes", "toute", "ton", "tu", "tus", "mi", "las", "il", "tua", "le", "a", "as", "sua", "minha", "je", "mijn", "het",
    "свою", "мою", "всю",
];
/// Words that may follow the noun. Any other word makes it a phrase about something else: "ignore memory leaks".
const AFTER: &[&str] = &[
    "for", "in", "on", "and", "here", "now", "please", "this", "when", "completely", "entirely", "today", "bitte", "hier", "jetzt", "für",
    "bei", "und", "por", "para", "aquí", "y", "ici", "pour", "et", "s'il", "per", "e", "voor", "en", "пожалуйста", "в", "и",
];
/// Whole phrases of languages without spaces between words, or with the verb at the end.
const PHRASES: &[&str] = &[
    "记忆忽略", "忽略记忆", "忽略記憶", "忽略所有记忆", "忽略你的记忆", "不要使用记忆", "不要用记忆", "无视记忆", "メモリを無視",
    "メモリーを無視", "記憶を無視", "メモリを使わない", "記憶を使わない", "메모리를 무시", "메모리 무시", "기억을 무시", "기억은 무시",
];

/// Whether a message asks to be answered without memories.
pub(super) fn asks_for_none(message: &str) -> bool {
    let lower = message.to_lowercase();
    PHRASES.iter().any(|phrase| lower.contains(phrase)) || lower.split(['.', ',', ';', ':', '!', '?', '(', ')', '\n']).any(clause_asks)
}

fn clause_asks(clause: &str) -> bool {
    let words: Vec<&str> = clause.split_whitespace().collect();
    let without = |at: usize| {
        let negated = matches!(words.get(at..at + 2), Some(["don't" | "dont" | "never", "use"]))
            || matches!(words.get(at..at + 3), Some(["do", "not", "use"]));
        if negated { Some(at + if words[at] == "do" { 3 } else { 2 }) } else { VERBS.contains(&words[at]).then_some(at + 1) }
    };
    let asks = |at: usize| {
        let mut next = without(at)?;
        while words.get(next).is_some_and(|word| BETWEEN.contains(word)) {
            next += 1;
        }
        let noun = words.get(next).is_some_and(|word| NOUNS.contains(word));
        let after = words.get(next + 1).is_none_or(|word| AFTER.contains(word));
        (noun && after).then_some(())
    };
    (0..words.len()).any(|at| asks(at).is_some())
}

#[test]
fn an_opt_out_is_a_request_and_not_a_topic() {
    for yes in [
        "ignore memory",
        "Ignore your memory, how do I deploy?",
        "Please ignore all saved memories for this one: which port?",
        "don't use memory here",
        "Do not use your memory for this.",
        "Ignoriere dein Gedächtnis: wie deploye ich?",
        "ignora la memoria, ¿cómo despliego?",
        "メモリを無視して答えて",
        "请忽略记忆，怎么部署？",
    ] {
        assert!(asks_for_none(yes), "{yes}");
    }
    for no in [
        "ignore memory leaks in the worker tests",
        "Should we ignore memory pressure?",
        "don't use memory mapped files",
        "the memory is full",
        "skip the memory tests",
        "メモリが足りない",
        "",
    ] {
        assert!(!asks_for_none(no), "{no}");
    }
}
