//! *remember*: the person asked for it at the beginning of a sentence, and nothing was saved afterwards in that conversation.

use super::{
    SeenChat, TypedTurn, naming,
    typed::{is_cjk, is_question, says_something, sentences, without_fillers},
};
use crate::evidence::{CallEvidence, CallOutcome};
use memdir_core::{Candidate, CandidateKind};

/// How a request begins, by language. A mark of a script with spaces must be a whole word.
const REQUESTS: &[&str] = &[
    // English, German, Spanish, French
    "remember",
    "don't forget",
    "don’t forget",
    "do not forget",
    "never forget",
    "keep in mind",
    "make a note",
    "memorize",
    "save to memory",
    "save this to memory",
    "save in memory",
    "add to memory",
    "from now on",
    "for future reference",
    "merke dir",
    "merk dir",
    "merk's dir",
    "merk dir's",
    "vergiss nicht",
    "denk daran",
    "denke daran",
    "behalte im kopf",
    "ab jetzt",
    "ab sofort",
    "recuerda",
    "recuérdalo",
    "acuérdate",
    "acuerdate",
    "no olvides",
    "ten en cuenta",
    "ten presente",
    "a partir de ahora",
    "souviens-toi",
    "souviens toi",
    "rappelle-toi",
    "rappelle toi",
    "retiens",
    "n'oublie pas",
    "n’oublie pas",
    "garde en tête",
    "garde à l'esprit",
    "mémorise",
    "désormais",
    "à partir de maintenant",
    // Italian, Portuguese, Dutch, Polish
    "ricorda",
    "ricordati",
    "ricordatevi",
    "tieni a mente",
    "tieni presente",
    "non dimenticare",
    "d'ora in poi",
    "lembre-se",
    "lembra-te",
    "lembra",
    "lembre",
    "não esqueça",
    "não se esqueça",
    "não te esqueças",
    "tenha em mente",
    "a partir de agora",
    "onthoud",
    "onthou",
    "vergeet niet",
    "denk eraan",
    "vanaf nu",
    "zapamiętaj",
    "zapamietaj",
    "pamiętaj",
    "pamietaj",
    "nie zapomnij",
    "nie zapominaj",
    "miej na uwadze",
    "od teraz",
    // Russian, Ukrainian, Turkish, Swedish
    "запомни",
    "запомните",
    "помни",
    "не забудь",
    "не забывай",
    "имей в виду",
    "учти",
    "отныне",
    "запам'ятай",
    "запам’ятай",
    "запам'ятайте",
    "пам'ятай",
    "пам’ятай",
    "не забувай",
    "май на увазі",
    "відтепер",
    "unutma",
    "unutmayın",
    "hatırla",
    "aklında tut",
    "şunu hatırla",
    "bunu hatırla",
    "şunu unutma",
    "bunu unutma",
    "bundan sonra",
    "kom ihåg",
    "glöm inte",
    "kom ihag",
    "hädanefter",
    // Japanese, Chinese, Korean
    "覚えて",
    "記憶して",
    "忘れないで",
    "メモして",
    "记住",
    "記住",
    "牢记",
    "别忘了",
    "不要忘记",
    "從現在起",
    "从现在开始",
    "기억해",
    "잊지 마",
    "잊지마",
    // Arabic, Hindi, Danish and Norwegian
    "تذكر",
    "याद रखना",
    "याद रखो",
    "husk",
];

/// How a request ends, in languages with the verb at the end.
const ENDINGS: &[&str] = &[
    "覚えておいて",
    "覚えておいてください",
    "覚えてください",
    "記憶しておいて",
    "記憶してください",
    "忘れないで",
    "忘れないでください",
    "기억해",
    "기억해줘",
    "기억해 줘",
    "기억해 주세요",
    "기억해주세요",
    "기억해 둬",
    "기억해둬",
    "잊지 마",
    "잊지 마세요",
    "unutma",
    "aklında tut",
    "hatırla",
];

/// What follows the mark of a request if it is not one: "remember me", "remember when", 记住密码.
const NOT_REQUESTS: &[(&str, &[&str])] = &[
    ("remember", &["me", "when", "how", "why", "last time", "the time"]),
    ("记住", &["密码", "我", "了吗"]),
    ("記住", &["密碼", "我"]),
    ("覚えて", &["い", "る", "ま", "た"]),
    ("기억해", &["?"]),
];

/// Words between a request and what is to be remembered.
const CONNECTORS: &[&str] = &[
    "that",
    "this",
    "these",
    "it",
    "to",
    "the following",
    "dass",
    "daß",
    "das",
    "dies",
    "bitte",
    "que",
    "de que",
    "esto",
    "eso",
    "ça",
    "ceci",
    "bien",
    "che",
    "questo",
    "di",
    "isto",
    "disso",
    "dat",
    "dit",
    "że",
    "to",
    "что",
    "это",
    "що",
    "це",
    "att",
    "detta",
    "for me",
    "for later",
    "please",
    "おいてください",
    "おいて",
    "ください",
    "줘",
    "둬",
];

/// Returns the candidates of a conversation whose request is one of the turns behind `after`.
pub(super) fn find(chat: &SeenChat, after: u64) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (at, turn) in chat.turns.iter().enumerate().filter(|(_, turn)| turn.number > after) {
        let all = sentences(&turn.text);
        for (number, sentence) in all.iter().enumerate() {
            let Some(content) = requested(sentence) else { continue };
            if is_saved(chat, turn) {
                break;
            }
            let (words, content) = if says_something(&content) {
                ((*sentence).to_owned(), content)
            } else {
                // "Remember that": what it points to is the rest of the message, or the message before it.
                let others: Vec<&str> = all.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, text)| *text).collect();
                let before = || chat.turns[..at].last().map(|before| before.text.trim().to_owned());
                let pointed = if others.is_empty() { before() } else { Some(others.join(" ")) };
                match pointed.filter(|text| says_something(text) && !is_question(text)) {
                    Some(text) => (super::short_words(&turn.text), text),
                    None => continue,
                }
            };
            found.push(candidate(chat, turn, words, &content));
        }
    }
    found
}

fn candidate(chat: &SeenChat, turn: &TypedTurn, words: String, content: &str) -> Candidate {
    let key = naming::key("remember", content, "");
    let memory_type = naming::kind_of(content);
    Candidate {
        kind: CandidateKind::Remember,
        name: naming::name(naming::folder(memory_type), content, &key),
        memory_type,
        description: naming::description(content),
        text: format!(
            "{}\n",
            if says_something(&words) && !words.contains(content) { format!("{words}\n\n{content}") } else { words.clone() }
        ),
        when: None,
        words,
        turns: turn.cite.iter().cloned().collect(),
        sessions: vec![chat.session.clone()],
        at: turn.at,
        key,
        weight: 0.9,
    }
}

/// Returns what a sentence asks to remember; `None` if it asks for nothing.
fn requested(sentence: &str) -> Option<String> {
    if is_question(sentence) || sentence.starts_with(['"', '\'', '“', '«', '„', '「', '『']) {
        return None;
    }
    let text = without_fillers(sentence);
    for request in REQUESTS {
        let Some(rest) = text.strip_prefix(request) else { continue };
        // `remember_token`, `remember-me`, `remember(x)` are names of things.
        let is_word = request.chars().next_back().is_some_and(|c| is_cjk(c) || ('\u{ac00}'..='\u{d7a3}').contains(&c))
            || !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '(' | '.' | '\''));
        let behind = rest.trim_start_matches([' ', ',']);
        let is_other = NOT_REQUESTS.iter().any(|(mark, others)| {
            *mark == *request
                && others.iter().any(|other| {
                    behind.strip_prefix(other).is_some_and(|rest| other.chars().any(is_cjk) || !rest.starts_with(char::is_alphanumeric))
                })
        });
        // おいて continues a request and begins with none of the other forms.
        if is_word && !is_other {
            return Some(without_connectors(rest));
        }
    }
    let end = text.trim_end_matches(|c: char| !c.is_alphanumeric());
    ENDINGS.iter().find_map(|ending| end.strip_suffix(ending)).filter(|rest| !rest.trim().is_empty()).map(without_connectors)
}

/// Returns the rest of a request without the words that only connect it.
fn without_connectors(rest: &str) -> String {
    let mut rest = trimmed(rest);
    while let Some(behind) = CONNECTORS.iter().find_map(|word| {
        let behind = rest.strip_prefix(word)?;
        (word.chars().any(|c| is_cjk(c) || c > '\u{ac00}') || !behind.starts_with(char::is_alphanumeric)).then_some(behind)
    }) {
        rest = trimmed(behind);
    }
    rest.to_owned()
}

fn trimmed(text: &str) -> &str {
    text.trim().trim_start_matches([':', ',', '-', '–', '—', '：', '，', '、', '!', '.', ' ']).trim_end()
}

/// Whether something was saved in the turn of the request or after it.
fn is_saved(chat: &SeenChat, turn: &TypedTurn) -> bool {
    chat.calls.iter().any(|call| call.turn >= turn.number && saves_memory(call))
}

/// Whether a call saves a memory: with a tool for it, or by writing a file that agents load.
fn saves_memory(call: &CallEvidence) -> bool {
    if !matches!(call.outcome, CallOutcome::Succeeded | CallOutcome::Unknown) {
        return false;
    }
    const TOOLS: &[&str] = &[
        "memory_write",
        "memory_edit",
        "memory_append",
        "memory_log",
        "save_memory",
        "store_memory",
        "add_memory",
        "write_memory",
        "write_note",
        "edit_note",
        "create_entities",
        "add_observations",
        "remember",
    ];
    const FILES: &[&str] = &["memory.md", "claude.md", "claude.local.md", "agents.md", "gemini.md", "copilot-instructions.md"];
    const FOLDERS: &[&str] = &["/memory/", "/memories/", "/.memdir/", "/.cursor/rules/"];
    let tool = call.tool.to_lowercase();
    let is_file = |path: &String| {
        let path = path.to_lowercase();
        FILES.iter().any(|name| path == *name || path.ends_with(&format!("/{name}"))) || FOLDERS.iter().any(|folder| path.contains(folder))
    };
    TOOLS.iter().any(|name| tool.ends_with(name))
        || (call.edit.is_some() && call.paths.iter().any(is_file))
        || (call.program.as_deref() == Some("memdir")
            && call.command.as_deref().is_some_and(|line| line.contains(" write") || line.contains(" edit")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_recognized_at_the_beginning_of_a_sentence() {
        for (sentence, expected) in [
            ("Remember: the port is 5433", Some("the port is 5433")),
            ("Please remember that we never deploy on Fridays.", Some("we never deploy on fridays.")),
            ("Merk dir bitte, dass der Port 5433 ist", Some("der port 5433 ist")),
            ("覚えておいて：ポートは5433", Some("ポートは5433")),
            ("ポートは5433であることを覚えておいてください", Some("ポートは5433であることを")),
            ("请记住，端口是5433", Some("端口是5433")),
            ("가격은 원 단위로 저장한다는 것을 기억해 줘", Some("가격은 원 단위로 저장한다는 것을")),
            ("Remember that.", Some("")),
            ("remember_token is null", None),
            ("Remember me does nothing", None),
            ("Remember when we changed it", None),
            ("do you remember the port?", None),
            ("Remember the port?", None),
            ("I can't remember the port", None),
            ("Remembering filters is what the ticket asks for", None),
            ("ポートを覚えていますか？", None),
            ("记住密码的功能坏了", None),
            ("\"Remember, I ordered two\" wrote the customer", None),
        ] {
            assert_eq!(requested(sentence).as_deref(), expected, "{sentence}");
        }
    }
}
