//! Near misses of *remember*: the word is there, and nothing is asked to be remembered for good.

use super::{
    super::script::{Rng, ScriptCall, ScriptEnd, ScriptEpisode, ScriptStep},
    answered, filled,
};

/// Messages with the word in them that ask for nothing.
const NOT_REQUESTS: &[&str] = &[
    "Do you remember which port the {} used in ticket {n}?",
    "Remember when we changed the {} in ticket {n}? Was that before the release?",
    "remember the {} refactoring of ticket {n}?",
    "> Remember: the {} is frozen until ticket {n} is closed\n\nwhat does this comment mean?",
    "The customer wrote: \"Remember, I ordered two of {n} for the {}\", please find that order",
    "2026-01-03 12:00:{n} WARN remember: entry of {} expired\n2026-01-03 12:00:02 WARN remember: entry of {} expired",
    "```\nremember({}, {n})\n```\nwhy does this return null?",
    "Remember me on the login page of the {} does nothing since ticket {n}",
    "remember_token is null for {} users since {n}, look into it",
    "I can't remember why the {} has the special case for {n}",
    "The {} must remember the last {n} searches of a customer",
    "Ich kann mich nicht erinnern, warum {} den Sonderfall {n} hat",
    "Erinnerst du dich, warum {} den Sonderfall {n} hat?",
    "¿Recuerdas por qué {} usa el caso {n}?",
    "Je ne me souviens pas pourquoi {} traite le cas {n}",
    "Помнишь, зачем в {} нужен случай {n}?",
    "我不记得{}为什么需要{n}",
    "{}の{n}を覚えていますか？",
    "If I type remember, does the {} store anything for {n}?",
    "How would you write 'remember this' in the German texts of the {}, key {n}?",
    "No need to remember this, but {n} is the id of the {} I test with",
    "Don't remember this, it is only for today: {} runs as {n}",
    "Remembering the filters of the {} is what ticket {n} asks for",
    "Reminder emails of the {} are sent twice for order {n}",
];

/// Things that are named with the word, and work on them.
const NAMED: &[&str] = &[
    "Remember device toggle of the {} is ignored for account {n}.",
    "Remember sort order in the {} table: users asked for that in ticket {n}.",
    "Remember the scroll position of the {} when somebody returns from order {n}.",
    "Remember last filter should survive a reload of the {} page {n}.",
    "Make a note field in the {} form wide enough for {n} characters.",
    "Make a note editor for the {} with Markdown, ticket {n}.",
    "Keep in mind map view the {} nodes collapsed, see {n}.",
    "Save to memory card fails in the {} screen for model {n}.",
    "Add to memory pool of the {} a limit of {n} entries.",
    "Memorize button of the {} needs an icon, ticket {n}.",
    "Memorize the parsed {} per request, {n} calls are too many.",
    "Don't forget link on the {} page points to {n}.",
    "Never forget banner of the {} hides order {n}.",
    "Onthoud mijn keuze werkt niet in de {} van klant {n}.",
    "Merk dir Knopf im {} ist bei Auftrag {n} zu klein.",
    "Angemeldet bleiben merkt sich {} nicht, Fall {n}.",
    "Recuerda usuario es la casilla del {} que falla en {n}.",
    "Ricorda dispositivo non funziona nel {} per il cliente {n}.",
    "Lembrar senha não aparece no {} do pedido {n}.",
    "Zapamiętaj mnie nie działa w {} od zgłoszenia {n}.",
    "Запомнить устройство в {} не сохраняется после {n}.",
    "Запам'ятати пристрій у {} не працює для {n}.",
    "Beni hatırla kutusu {} sayfasında {n} için çalışmıyor.",
    "Unutma listesi {} ekranında {n} satır gösteriyor.",
    "Kom ihåg mig rutan i {} är trasig för {n}.",
    "记住我的选项在{}页面{n}上失效了，请修复。",
    "记住用户名的按钮在{}里没有反应，单号{n}。",
    "メモして保存ボタンが{}の{n}で押せません。",
    "覚えてログイン画面の{}が{n}で落ちます。",
    "기억하기 버튼이 {} 화면 {n}에서 동작하지 않습니다.",
];

/// What is asked for once, and ends with the task.
const ONE_TIME: &[&str] = &[
    "Don't forget to push when the {} is green, build {n}.",
    "Remember to close ticket {n} once the {} is fixed.",
    "Don't forget the changelog line for {n} in the {}.",
    "Remember to bump the {} version in this pull request {n}.",
    "Vergiss nicht, danach noch {} und {n} zu committen.",
    "Denk daran, am Ende den Zweig von {} für {n} zu löschen.",
    "No olvides cerrar el ticket {n} del {} cuando termines.",
    "N'oublie pas de pousser la branche {n} du {} à la fin.",
    "Non dimenticare di chiudere il ticket {n} del {}.",
    "Não esqueça de fechar o ticket {n} do {} no final.",
    "Vergeet niet om {n} te sluiten als {} klaar is.",
    "Nie zapomnij zamknąć zgłoszenia {n} dla {}.",
    "Не забудь закрыть задачу {n} по {} в конце.",
    "别忘了最后提交{}的{n}。",
    "最後に{}の{n}をコミットするのを忘れないで。",
    "Remember what I wrote about the {} in {n} and take that into account.",
    "Remember that page of the {} we looked at for {n}, show it again.",
    "Remember that customer from {n}, the {} lost the order.",
    "Remember those {} numbers from {n} and add them up.",
    "Remember all of the above about the {} and write a summary for {n}.",
    "Remember that yesterday the {} was down for {n} minutes.",
    "Recuerda que ayer el {} estuvo caído {n} minutos.",
    "Remember, I am only playing with the {} in sandbox {n}.",
    "Remember that you are still on the branch of {n} for the {}.",
];

/// A time is named, and then something that happens instead of a rule.
const REPORTS: &[&str] = &[
    "From now on every {} request ends with status {n}, please find out why.",
    "From now on the {} is slower than before, see trace {n}.",
    "Going forward the {} crashes as soon as order {n} is opened.",
    "Ab sofort zeigt {} bei Kunde {n} eine leere Seite.",
    "Ab jetzt dauert {} immer länger als {n} Sekunden.",
    "A partir de ahora el {} devuelve siempre {n} al guardar.",
    "Désormais le {} affiche toujours une page blanche pour {n}.",
    "D'ora in poi il {} mostra sempre l'errore {n}.",
    "A partir de agora o {} sempre trava no pedido {n}.",
    "Vanaf nu geeft de {} altijd fout {n}.",
    "Od teraz {} zawsze kończy się błędem {n}.",
    "Отныне {} всегда падает на заказе {n}.",
    "Bundan sonra {} sayfası hep {n} hatası veriyor.",
    "从现在开始{}总是报错{n}。",
    "I remember that the {} had a limit of {n} at the time.",
    "I keep in mind that {n} belongs to the {}, do not worry.",
    "I never forget that the {} broke release {n}.",
    "We remember that the {} used {n} before the move.",
    "Husk, the plugin of the {}, prints {n} warnings.",
    "Lembra, the tool of the {}, exits with {n}.",
    "The manual says: remember that the {} needs key {n}.",
    "She told me to remember that {} is number {n}.",
    "Suppose somebody types: remember that the {} uses {n}.",
];

/// Wishes that something is not kept.
const WISHES: &[&str] = &[
    "Remember nothing about the {} and account {n}, please.",
    "Please do not remember the {} password hint {n}.",
    "Remember not to store the {} id {n} anywhere.",
    "You don't have to remember that the {} uses {n}.",
    "Merk dir bitte nichts davon: {} läuft unter {n}.",
    "No recuerdes nada de esto: el {} usa {n}.",
    "Ne retiens rien de ceci : le {} utilise {n}.",
    "Не запоминай это: {} работает под {n}.",
    "不要记住这个：{}的编号是{n}。",
    "{}の{n}は覚えないでください。",
];

pub(super) fn episode(i: usize, rng: &mut Rng) -> ScriptEpisode {
    let steps = match i % 10 {
        // It was asked for, and saved.
        0 if i.is_multiple_of(20) => {
            let fact = filled("Remember that the {} uses the key {n}", rng);
            let save = ScriptCall::SaveMemory(fact.clone());
            vec![
                ScriptStep::person(fact),
                ScriptStep::Call(save, ScriptEnd::Ok("created notes/key".into())),
                ScriptStep::assistant("Saved."),
            ]
        }
        0 => {
            let fact = filled("Merke dir: {} läuft unter der Kennung {n}", rng);
            let path = "/home/ada/.claude/projects/-home-ada-shop/memory/ids.md";
            let save = ScriptCall::Write { path: path.into(), text: fact.clone() };
            vec![
                ScriptStep::person(fact),
                ScriptStep::Call(save, ScriptEnd::Ok("File created".into())),
                ScriptStep::assistant("Gespeichert."),
            ]
        }
        // Only the assistant and a tool say it.
        1 => {
            let note = filled("Remember: the {} is owned by Dora, see {n}", rng);
            vec![
                ScriptStep::person(filled("look at {} and order {n}", rng)),
                ScriptStep::shell("cat NOTES", &note),
                ScriptStep::assistant(note),
            ]
        }
        2 => answered(filled(WISHES[i / 10 % WISHES.len()], rng)),
        3 | 4 => answered(filled(NAMED[(i / 10 * 2 + i % 2) % NAMED.len()], rng)),
        5 | 6 => answered(filled(ONE_TIME[(i / 10 * 2 + i % 2) % ONE_TIME.len()], rng)),
        7 | 8 => answered(filled(REPORTS[(i / 10 * 2 + i % 2) % REPORTS.len()], rng)),
        _ => answered(filled(NOT_REQUESTS[(i / 10 * 2 + rng.below(3)) % NOT_REQUESTS.len()], rng)),
    };
    ScriptEpisode { is_remember: true, ..ScriptEpisode::new(steps) }
}
