//! Near misses of *repeat*: what people type again and again without a rule in it, and pairs that contradict each other.

use super::{
    super::{
        script::{Rng, ScriptEpisode},
        words::PARTS,
    },
    answered, number,
};

/// Messages that users type in many conversations and that are not worth saving.
const BOILERPLATE: &[&str] = &[
    "continue",
    "go on",
    "run the tests",
    "run the tests again please",
    "fix the lint errors and commit",
    "commit and push",
    "looks good, commit it with a short message",
    "thanks, that looks good to me",
    "yes, do it like that",
    "please review the changes you made",
    "explain what this function does step by step",
    "show me the diff before you commit anything else",
    "write unit tests for the new code",
    "update the changelog and the readme",
    "what is the status of the build?",
    "why does the build fail on macOS and not on Linux?",
    "weiter so, mach bitte mit dem nächsten Punkt weiter",
    "bitte führe alle Tests noch einmal aus",
    "ejecuta las pruebas y arregla lo que falle",
    "lance les tests et corrige les erreurs",
    "继续",
    "请运行所有测试并修复错误",
    "テストを実行して結果を見せて",
    "/review the last change on this branch",
];

/// Status, complaints, praise, modes, error texts and quotes.
const NO_RULES: &[&str] = &[
    // Complaints and status.
    "The page is still blank and the console shows nothing.",
    "That did not help, I get the very same message.",
    "This is not what the ticket asks for, read it once more.",
    "It only works on the second try, never on the first.",
    "No, you changed the wrong file again.",
    "The pipeline has been failing since last night.",
    "Nothing happens when I press the button, no error either.",
    "The tests always time out on my machine.",
    "The cache is never cleared when I log out.",
    "The server must be down, I cannot reach it.",
    "I don't understand why you removed that line.",
    "I have no idea what this is supposed to do.",
    "We are not getting anywhere with this approach.",
    "My connection is bad today, so keep it short.",
    "I only have ten minutes before my train leaves.",
    "Ich sehe immer nur eine weiße Seite ohne Meldung.",
    "Das ist nicht, was ich wollte, lies es noch einmal.",
    "Es klappt noch nicht, die Seite bleibt leer.",
    "Todavía no funciona, la pantalla sigue en blanco.",
    "Eso no es lo que pedí, léelo otra vez.",
    "Ce n'est pas ce que j'ai demandé, relis le ticket.",
    "La page reste toujours blanche, sans aucun message.",
    "Non funziona ancora, la pagina resta sempre vuota.",
    "Ainda não funciona, a página continua sempre vazia.",
    "Het werkt nog steeds niet, de pagina blijft leeg.",
    "Nadal nie działa, strona jest zawsze pusta.",
    "Всё ещё не работает, страница всегда пустая.",
    "Все ще не працює, сторінка завжди порожня.",
    "Hâlâ çalışmıyor, sayfa her zaman boş geliyor.",
    "Det fungerar fortfarande inte, sidan är alltid tom.",
    "还是没有反应，页面总是空白的",
    "まだ表示されません、画面は常に真っ白です",
    "아직도 안 됩니다, 화면이 항상 비어 있습니다",
    // Praise and thanks.
    "Perfect, that is exactly what I wanted, no changes needed.",
    "Wow, you never cease to amaze me, great job.",
    "Sehr schön, genau so habe ich es mir immer gewünscht.",
    // Modes and instructions for this moment.
    "Do not edit any files yet, only tell me what you found.",
    "Only answer with the plan for now, no code.",
    "Take your time and think hard about this one.",
    "For this task you must not touch anything but the readme.",
    "Stop after the first step and wait for me.",
    "Just analyze it, don't change anything at the moment.",
    "Ändere noch nichts, zeig mir nur den Plan.",
    "Todavía no cambies nada, solo dame un plan.",
    "Ne change rien pour l'instant, donne-moi seulement un plan.",
    "Пока ничего не меняй, только покажи план.",
    "先不要改代码，只给我一个计划",
    "まだ何も変更しないで、計画だけ見せてください",
    // Error texts that were pasted.
    "ReferenceError: process is not defined at module evaluation",
    "error: failed to push some refs, updates were rejected because the remote contains work",
    "warning: LF will be replaced by CRLF the next time Git touches it",
    "ERROR: you must use the --legacy flag, refusing to continue without it",
    "panic: runtime error: invalid memory address or nil pointer dereference",
    "ValueError: dictionary update sequence must always be of length two",
    "Uncaught SyntaxError: Unexpected token, you should use a module loader",
    // Quotes and what others say.
    "'Always squash before merging' stands in the guide of the other team.",
    "“Never deploy on a Friday” is printed on his mug.",
    "The style guide says that you should never use tabs.",
    "My boss told me we must always ship on Mondays.",
    "According to the docs, one must never call it twice.",
    "The linter complains: always use const instead of let.",
    "In der Anleitung steht, man soll nie direkt auf main pushen.",
    "Según la guía, siempre hay que usar la rama develop.",
    "D'après le guide, il faut toujours utiliser la branche develop.",
    "文档里说必须先运行脚本",
];

/// Sentences that differ only in what matters.
const SIMILAR: &[&str] = &[
    "the timeout of the {} is {n} milliseconds in production",
    "ticket {n} belongs to the {} and has to be finished first",
    "use the {} client for order {n}, not the default one",
    "the {} of customer {n} must never be merged with others",
];

/// Pairs of rules that contradict each other.
const CONTRADICTIONS: &[(&str, &str)] = &[
    ("You may push to the shared branch without asking.", "You mayn't push to the shared branch without asking."),
    ("You should mock the payment gateway in tests.", "You shouldn't mock the payment gateway in tests."),
    ("We do allow direct writes to the ledger table.", "We don't allow direct writes to the ledger table."),
    ("Always store the amounts of refunds as floats.", "Never store the amounts of refunds as floats."),
    ("Use yarn instead of bun in the web folder.", "Use bun instead of yarn in the web folder."),
    ("Always branch from trunk, never from next.", "Always branch from next, never from trunk."),
    ("Use tabs for the indentation of all stylesheets.", "Use spaces for the indentation of all stylesheets."),
    ("Only Carla may change the settings of the firewall.", "Only Diego may change the settings of the firewall."),
    ("Use kebab-case for the names of all routes.", "Use PascalCase for the names of all routes."),
    ("Always run the formatter before the linter.", "Always run the linter before the formatter."),
    ("Always copy the data from staging to the mirror.", "Always copy the data from the mirror to staging."),
    ("Always open pull requests with a description.", "Always open pull requests without a description."),
    ("Benutze immer yarn in diesem Repository.", "Benutze niemals yarn in diesem Repository."),
    ("Wir schreiben Tests immer mit Mocks.", "Wir schreiben Tests immer ohne Mocks."),
    ("Usa siempre comillas dobles en los textos.", "No uses nunca comillas dobles en los textos."),
    ("Utilise toujours les guillemets doubles ici.", "N'utilise jamais les guillemets doubles ici."),
    ("Всегда используй двойные кавычки в текстах.", "Никогда не используй двойные кавычки в текстах."),
    ("提交信息必须使用英文书写", "提交信息不要使用英文书写"),
    ("変数の名前は必ず英語で付けてください", "変数の名前は英語で付けないでください"),
];

pub(super) fn episodes(i: usize, rng: &mut Rng) -> Vec<ScriptEpisode> {
    let one = |text: String| ScriptEpisode::new(answered(text));
    match i % 10 {
        0 => {
            let text = BOILERPLATE[(i / 10 + rng.below(3)) % BOILERPLATE.len()];
            (0..2 + rng.below(2)).map(|_| one(text.to_owned())).collect()
        }
        1 => {
            let template = rng.pick(SIMILAR);
            let mut filled = || template.replace("{}", rng.pick(PARTS)).replace("{n}", &number(rng).to_string());
            let texts = [filled(), filled()];
            texts.into_iter().map(one).collect()
        }
        2 => {
            let (part, n) = (rng.pick(PARTS), number(rng));
            let text = match rng.below(3) {
                0 => format!("thread 'main' panicked at src/{part}.rs:{n}: called `Option::unwrap()` on a `None` value"),
                1 => format!("```\nlet {part} = always_use({n}, never(\"import\"));\n```"),
                _ => format!("> always use the {part} wrapper for {n}, never the raw one\n\nis that comment in the guide still right?"),
            };
            (0..2).map(|_| one(text.clone())).collect()
        }
        // The same sentence twice in one conversation, and the assistant's in all.
        3 => {
            let text = format!("always pass the request id {} to the {} wrapper", number(rng), rng.pick(PARTS));
            vec![ScriptEpisode::new([answered(text.clone()), answered(text)].concat())]
        }
        // A rule that is written in two conversations, one of which is not to be remembered.
        4 if i % 20 == 4 => {
            let text = format!("never show the id {} of the {} to customers", number(rng), rng.pick(PARTS));
            let wish = rng.pick(&["Do not remember anything of this conversation.", "Merk dir nichts von diesem Gespräch, bitte."]);
            let private = ScriptEpisode::new([answered(text.clone()), answered(wish.to_owned())].concat());
            vec![one(text), ScriptEpisode { is_alone: true, ..private }]
        }
        4 | 5 => {
            let (first, second) = CONTRADICTIONS[(i / 10 * 2 + i % 2) % CONTRADICTIONS.len()];
            [first, second].map(str::to_owned).into_iter().map(one).collect()
        }
        _ => {
            let text = NO_RULES[(i / 10 * 4 + i % 4) % NO_RULES.len()];
            (0..2 + rng.below(2)).map(|_| one(text.to_owned())).collect()
        }
    }
}
