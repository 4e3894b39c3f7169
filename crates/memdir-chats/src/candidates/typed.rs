//! What a person typed, in sentences: without quotes, code, pasted logs and slash commands. Pure.

use memdir_core::internal::base::{steps, text::truncate_bytes};

/// Bytes of a message that are looked at: more is pasted.
const MESSAGE_BYTES: usize = 16 << 10;

/// Returns the sentences of a message, each with the mark that ends it.
pub(super) fn sentences(message: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in truncate_bytes(message, MESSAGE_BYTES).lines() {
        steps::count(line.len() + 1);
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        if is_code || line.is_empty() || line.starts_with(['>', '|', '/', '!', '$', '`', '<', '{', '}']) || is_pasted(line) {
            continue;
        }
        split(line.trim_start_matches(['-', '*', '•', '#', ' ']), &mut found);
    }
    found
}

/// Splits a line behind the marks that end sentences.
fn split<'t>(line: &'t str, found: &mut Vec<&'t str>) {
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let is_end = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            push(&line[start..end], found);
            start = end;
        }
    }
    push(&line[start..], found);
}

fn push<'t>(sentence: &'t str, found: &mut Vec<&'t str>) {
    let sentence = sentence.trim();
    if sentence.contains(char::is_alphanumeric) {
        found.push(sentence);
    }
}

/// Whether a line was pasted: a log, a trace, code.
fn is_pasted(line: &str) -> bool {
    const MARKS: &[&str] = &[
        " WARN ",
        " ERROR ",
        " INFO ",
        " DEBUG ",
        " panicked at ",
        "Traceback (most",
        "npm ERR!",
        "    at ",
        "error[E",
        "Exception in thread",
        ".rs:",
        ".py\", line",
    ];
    let is_stamped = line.len() > 10 && line.as_bytes()[..4].iter().all(u8::is_ascii_digit) && line.as_bytes()[4] == b'-';
    if is_stamped || line.starts_with('[') || MARKS.iter().any(|mark| line.contains(mark)) {
        return true;
    }
    let symbols =
        line.chars().filter(|c| matches!(c, '{' | '}' | '=' | ';' | '<' | '>' | '|' | '\\' | '_' | '$' | '*' | '&' | '[' | ']')).count();
    symbols * 8 > line.chars().count()
}

/// Whether a sentence is a question.
pub(super) fn is_question(sentence: &str) -> bool {
    let sentence = sentence.trim_end_matches(['"', '\'', ')', '”', ' ']);
    sentence.ends_with(['?', '？']) || sentence.starts_with('¿') || sentence.ends_with("か。") || sentence.ends_with("吗")
}

/// Words that introduce a sentence without changing what it says.
const FILLERS: &[&str] = &[
    "please",
    "also",
    "and",
    "ok",
    "okay",
    "oh",
    "so",
    "btw",
    "by the way",
    "one more thing",
    "important",
    "note",
    "hey",
    "again",
    "nice",
    "great",
    "thanks",
    "as i said",
    "i told you",
    "keep in line",
    "bitte",
    "und",
    "auch",
    "außerdem",
    "nochmal",
    "por favor",
    "y",
    "también",
    "además",
    "s'il te plaît",
    "et",
    "aussi",
    "per favore",
    "e",
    "inoltre",
    "também",
    "alsjeblieft",
    "en",
    "ook",
    "proszę",
    "i",
    "также",
    "и",
    "пожалуйста",
    "будь ласка",
    "lütfen",
    "ayrıca",
    "snälla",
    "och",
    "请",
    "請",
    "另外",
    "还有",
    "あと",
    "それと",
    "그리고",
];

/// Returns a sentence in lower case without the words that introduce it.
pub(super) fn without_fillers(sentence: &str) -> String {
    let lower = sentence.to_lowercase();
    let mut rest = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    loop {
        let behind = FILLERS.iter().find_map(|filler| {
            let behind = rest.strip_prefix(filler)?;
            let is_whole =
                filler.chars().next_back().is_some_and(is_cjk) || !behind.starts_with(|c: char| c.is_alphanumeric() || c == '\'');
            is_whole.then(|| behind.trim_start_matches([',', ':', ' ', '-', '，', '：', '、', '!', '.']))
        });
        match behind {
            Some(behind) if !behind.is_empty() => rest = behind,
            _ => return rest.to_owned(),
        }
    }
}

/// Whether a character belongs to a script that is written without spaces.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Returns the words of a text in lower case; of a script without spaces, pairs of characters.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    for c in text.chars().flat_map(char::to_lowercase) {
        steps::count(1);
        if is_cjk(c) {
            if let Some(before) = before {
                found.push([before, c].iter().collect());
            }
            before = Some(c);
            continue;
        }
        before = None;
        if c.is_alphanumeric() || (c == '\'' && !word.is_empty()) || c == '’' {
            word.push(if c == '’' { '\'' } else { c });
        } else if !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        found.push(word);
    }
    found
}

/// Words of rules: what is said for every time, against something, or instead of something.
const RULE_WORDS: &[&str] = &[
    "always",
    "never",
    "not",
    "don't",
    "dont",
    "doesn't",
    "no",
    "must",
    "mustn't",
    "should",
    "shouldn't",
    "only",
    "instead",
    "without",
    "prefer",
    "use",
    "avoid",
    "every",
    "alone",
    "stop",
    "immer",
    "nie",
    "niemals",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "nur",
    "statt",
    "stattdessen",
    "muss",
    "ohne",
    "siempre",
    "nunca",
    "no",
    "sin",
    "solo",
    "sólo",
    "debe",
    "toujours",
    "jamais",
    "pas",
    "sans",
    "seulement",
    "doit",
    "sempre",
    "mai",
    "non",
    "senza",
    "solo",
    "não",
    "nunca",
    "sem",
    "altijd",
    "nooit",
    "niet",
    "geen",
    "zawsze",
    "nigdy",
    "nie",
    "tylko",
    "всегда",
    "никогда",
    "не",
    "только",
    "нельзя",
    "завжди",
    "ніколи",
    "не",
    "тільки",
    "her",
    "zaman",
    "asla",
    "alltid",
    "aldrig",
    "inte",
    "bara",
    "항상",
    "절대",
    "반드시",
];

/// The same in scripts without spaces.
const RULE_PARTS: &[&str] =
    &["不要", "一律", "必须", "必須", "总是", "總是", "从不", "禁止", "不能", "只能", "必ず", "絶対", "ないで", "だけ", "常に", "마세요"];

/// Whether a sentence says a rule.
pub(super) fn has_rule_word(sentence: &str) -> bool {
    words(sentence).iter().any(|word| RULE_WORDS.contains(&word.as_str())) || RULE_PARTS.iter().any(|part| sentence.contains(part))
}

/// Beginnings of messages that let the work go on.
const GO_AHEAD: &[&str] = &[
    "continue",
    "go on",
    "go ahead",
    "proceed",
    "yes",
    "yep",
    "ok",
    "okay",
    "sure",
    "carry on",
    "keep going",
    "resume",
    "sorry",
    "oops",
    "my bad",
    "try again",
    "retry",
    "never mind",
    "nevermind",
    "fine",
    "good",
    "great",
    "perfect",
    "thanks",
    "thank you",
    "looks good",
    "lgtm",
    "one moment",
    "wait",
    "hold on",
    "weiter",
    "mach weiter",
    "ja",
    "gut",
    "danke",
    "sí",
    "si",
    "adelante",
    "continúa",
    "gracias",
    "oui",
    "vas-y",
    "merci",
    "d'accord",
    "да",
    "продолжай",
    "хорошо",
    "спасибо",
    "так",
    "avanti",
    "va bene",
    "grazie",
    "sim",
    "obrigado",
    "ga door",
    "kontynuuj",
    "tak",
    "devam",
    "tamam",
    "fortsätt",
    "tack",
    "继续",
    "好的",
    "好",
    "谢谢",
    "はい",
    "続けて",
    "ありがとう",
    "계속",
    "네",
];

/// Whether a message only lets the work go on, or thanks.
pub(super) fn is_go_ahead(message: &str) -> bool {
    let lower = message.trim().to_lowercase();
    let begins = GO_AHEAD.iter().any(|word| {
        lower
            .strip_prefix(word)
            .is_some_and(|rest| word.chars().next_back().is_some_and(is_cjk) || !rest.starts_with(char::is_alphanumeric))
    });
    begins && (words(message).len() <= 6 || !has_rule_word(message))
}

/// Whether a text says enough: three words, or six characters of a script without spaces.
pub(super) fn says_something(text: &str) -> bool {
    words(text).len() >= 3
}
