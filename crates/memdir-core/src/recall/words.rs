//! Words that say little about the topic: everyday words, polite words, function words. In a small memory such a word may be rare without being significant: how
//! common a word is in the language cannot be learnt from fifty notes. English only; in other languages rarity alone decides.

use super::typo;
#[cfg(test)]
use crate::search::analysis::Analyser;
use crate::search::analysis::{self, Word};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Words of conversation, politeness, time, number and requests, and the few that every coding task has. Stop words are not
/// among them, because they are not looked up at all.
const WORDS: &str = "\
    able above absolutely accept according across act actual actually add added adding address after afternoon afterwards \
    again against ago agree ahead alive all allow allowed almost alone along already alright also although always among \
    amount another answer anybody anyhow anymore anyone anything anyway anywhere apart app appear appreciate area argument \
    around array ask asked asking assume attention available away back bad barely based basic basically because become \
    before begin beginning behind believe below beside best better between beyond big bit blue book both bottom bought break \
    brief briefly bring broken brother brought bug busy buy bye call called came cannot care careful carefully carry case \
    catch cause certain certainly chance change changed changes check checked choice choose class clean clear clearly clever \
    close code coffee cold colleague come comes coming comment common compare complete completely confirm confused consider \
    contain continue convert cool correct correctly couple course cover create created curious current currently cut daily \
    dark day days deal decide deep definitely describe detail details difference different difficult direction directly \
    discuss display done doubt down draw drop during each earlier early easier easily easy eat edit effect either else empty \
    end ending enough ensure entire error especially etc even evening ever every everybody everyone everything everywhere \
    exact exactly example excellent except excuse exist expect expected explain explanation extra face fact fair fairly \
    family far fast favorite fear feature feel feeling few figure file files final finally find fine finish finished first \
    fit five fix fixed folks follow following food forget forgive form forward found four free friend friendly full fun \
    function further future gave general generally get gets getting give given glad go goes going gone good got great green \
    grow guess guy guys half hand handle happen happened happens happy hard hardly hate hear heard heart hello help helper \
    helpful helps here hey hi high hmm hold home honestly hope hour hours house however hundred hurry idea ideas imagine \
    immediately implement important improve include including indeed inside instead interest interested interesting \
    introduce issue job jump just keep keeps kept kind kindly knew know known lack large last late lately later latest laugh \
    learn least leave led left less let lets level life light like likely line lines list listen little live load long \
    longer look looked looking looks loop lose lost lot lots loud love lovely low lunch madam made main mainly make makes \
    making man manage many matter maybe mean means meant meet mention mentioned message met method middle mind minute \
    minutes miss missing mistake modify moment money month months more morning most mostly move much name named near nearly \
    necessary need needed needs neither never new next nice night nine no nobody noisy none noon nope nor normal not note \
    notes nothing notice now number object obvious obviously off often oh ok okay old once one ones only open opinion option \
    order original other others otherwise out output outside over overall own page paper paragraph parameter part parts past \
    pattern people perfect perhaps person phone picture piece place plain plan play please plus point points poor possible \
    possibly practice prefer pretty previous probably problem proceed project promise properly provide pull push put \
    question questions quick quickly quiet quite rather read reads ready real really reason recent recently recommend red \
    refactor regarding related relax remain remember remind remove rename repeat replace reply request rest result results \
    return returns review rewrite right room rule rules run running runs sad safe said same save saw say saying says school \
    second see seem seems seen send sense sent sentence sentences separate series seven several shape share short show shown \
    shows side similar simple simplest simply since sir sister sit situation six size skip sky sleep slow small smart \
    solution solve somebody somehow someone something sometimes somewhere soon sorry sort sound sounds speak specific spend \
    spent stand start started starting stay step steps still stop stopped story straight string stuff stupid style suggest \
    suggestion sum summarise summarize summary super suppose sure surely surprise take taken takes taking talk talked task \
    tea teach tell ten terrible test tests text thank thanks themselves thing things think third thought thoughts three \
    through throw tidy till time times tiny tired today together told tomorrow tonight took top total totally touch toward \
    translate tried trivial trouble true truly trust try trying turn turned turns twelve twice two type typing ugly under \
    understand understood unfortunately unit unless unrelated unsure until up update updates upon urgent use used useful \
    user uses using usual usually value variable various very via view visit wait walk want wanted wants warm waste watch \
    water way ways wear weather week weekend weeks welcome well went whatever whatsoever whenever wherever whether white \
    whole wide window wish within without woman wonder wonderful word words work worked working works world worry worse \
    worst worth write writing written wrong wrote yeah year years yep yes yesterday yet young yourself";

/// Function words of German, French, Spanish, Italian and Portuguese, which would otherwise count as rare as a name. Without those
/// that mean something in English, are a command or an abbreviation (dir, ci, io). Then the stems of "don't" and the like.
const FILLERS: &str = "\
    aber als auch auf aus bei beim dann darf dass dein dem der dich doch durch ein eine einem einen einer eines er \
    etwas euer für gibt habe haben ich ihm ihn ihnen ihr im ist kann kein keine können mein meine mich mir mit müssen \
    nach nicht noch nur oder ohne schon sein sich sie sind soll sollen sondern über um und uns unser unter vom von vor \
    wann warum weil welche welcher welches wenn wer werden wie wieder wir wird wurde zu zum zur zwischen afin ainsi \
    alors aucun aussi autre aux avec avez avoir avons ce cela ces cet cette ceux combien comme dans de depuis dois \
    doit donc dont elles en et être eux faire faut ils je la le les leur leurs lors lui mais moi même notre nous ont \
    où parce peut peux pourquoi quand que quel quelle quelles quels qui quoi sa sont sur tes tous toute toutes très tu \
    une vos votre vous algo antes aunque aquí cada como con contra cual cuál cuando cuándo cuánto del desde donde \
    dónde el ella ellos entre esa ese eso está están esto estos fue hace hacer hasta hay las los más mis muy nada \
    nosotros para pero por porque puede puedo qué quién quien según ser sí su sus también tiene todo todos una uno \
    unos usted y alla anche che chi dalla degli della delle di gli loro nella perché più quale quando quanto questo \
    quindi sono sul sulla tra tutti tutto aos ela ele eles essa eu foi isso isto já mas meu minha muito não nem nós \
    numa pode posso quais qual quem seu sua são também você vocês ain aren couldn didn doesn don hadn hasn haven isn \
    mustn needn shouldn wasn weren won wouldn";

/// Words of a request that name no topic. They weigh nothing and are not counted.
const POLITE: &str = "\
    actually afaik after again ah ahead already alright also anything anyway anyways apparently appreciate appreciated \
    asap away aye back basically before bit bro btw buddy can cant cheers cool could coz cuz did do does doesnt done dont \
    dude dunno everything fine first folks frankly fyi get gimme git give go gonna good got gotta grateful great guess \
    guys haha hello help here hey hi hm hmm honestly huh iirc im imho imo indeed isnt ive just kind kinda kindly last \
    later lemme let lets like literally little lol lot made make makes many mate may maybe might more most much must nah \
    need next nice no nope now obviously oh ok okay one oops perfect perhaps please pls plz quick quickly really right \
    should show simply since somehow something soon sorry sorta still sure tbh tell thank thanks thats then there thing \
    things think tho though thx time today too totally two ugh uh um until urgently us very wanna want way well welp whats \
    when wheres while will wondering wont would wow yeah yep yes yo yup";

/// Words of every programming task, which are everyday words too.
const PROGRAMMING: &str = "\
    add answer api app arg argument arguments array bool bug bugs build builds button call calls change changes check class \
    classes clean client close code codes column comment comments constant convert create data debug default delete dict diff \
    directory docstring each empty error errors every example exception explain extract fail failed fails false field file \
    files fix fixed fixes flag float folder format func function functions handle helper hide idea implement import info \
    input instead int issue issues item items job jobs key keys line lines list lists load log logging logs loop loops \
    message messages method methods missing model models module move name names new none null number object objects old open \
    option options other output own package page param parameter parameters passed path please print private project public \
    queries query question read refactor remove rename replace repo repository request response result results return returns \
    revert row rows run runs same save script server set show simple simpler snippet sort split stack start static step stop \
    string strings sure table task tasks test tests text trace true type types undo unknown update use used user users uses \
    using value values var variable variables version view void warning work worked working works write wrong";

/// The stems of all lists, one a line, each with the letters of its lists: they are not stemmed again by every process. Generated and checked by a test.
const STEMS: &str = include_str!("word-stems.txt");
const LIST_EVERYDAY: u8 = 1;
const POLITENESS: u8 = 2;
const FILLER: u8 = 4;
/// The letter of each list in [`STEMS`].
const LETTERS: [(char, u8); 3] = [('e', LIST_EVERYDAY), ('p', POLITENESS), ('f', FILLER)];

/// The lists that each stem is in.
static LISTS: LazyLock<FxHashMap<&'static str, u8>> = LazyLock::new(|| {
    let list = |letter: char| LETTERS.iter().filter(|(of_list, _)| *of_list == letter).fold(0, |all, (_, list)| all | list);
    let lists = |letters: &str| letters.chars().fold(0, |all, letter| all | list(letter));
    STEMS.lines().filter_map(|line| line.split_once(' ')).map(|(stem, letters)| (stem, lists(letters))).collect()
});

/// The forms of which a mistyped word may be a typo, by their length, so that it does not count as a rare word.
static WRITTEN: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
    let mut by_length: Vec<Vec<&str>> = Vec::new();
    let listed = [WORDS, PROGRAMMING, POLITE, FILLERS].into_iter().flat_map(str::split_whitespace);
    for word in listed.chain(analysis::STOP_WORDS.iter().copied()) {
        if by_length.len() <= word.len() {
            by_length.resize(word.len() + 1, Vec::new());
        }
        by_length[word.len()].push(word);
    }
    by_length
});

fn is_in(list: u8, stem: &str) -> bool {
    LISTS.get(stem).is_some_and(|lists| lists & list != 0)
}

/// Whether a stem belongs to a function word of a language other than English.
pub(super) fn is_filler(stem: &str) -> bool {
    is_in(FILLER, stem)
}

/// Whether a stem is a number of at most two digits: these count things or number lines, and mean nothing alone.
pub(super) fn is_small_number(stem: &str) -> bool {
    stem.len() <= 2 && stem.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a stem belongs to an everyday word.
pub(super) fn is_everyday(stem: &str) -> bool {
    is_in(LIST_EVERYDAY, stem)
}

/// Whether a word can say what a message is about: not a stop word, function word, polite word, number of two digits or single letter.
pub(super) fn is_telling(word: &Word) -> bool {
    let is_letter = word.stem.len() == 1;
    !word.stop && !is_letter && !is_small_number(&word.stem) && !is_in(POLITENESS | FILLER, &word.stem)
}

/// Whether a word, as written in lower case, is one slip away from a word that says nothing about the topic.
pub(super) fn is_mistyped_common_word(written: &str) -> bool {
    let lengths = written.len().saturating_sub(1)..=written.len() + 1;
    lengths.filter_map(|length| WRITTEN.get(length)).flatten().any(|known| typo::is_one_slip(written, known))
}

/// The stems of the lists are those that the analyser makes of them now. With UPDATE_DOCS=1 the file is written.
#[test]
#[expect(clippy::disallowed_methods, reason = "writes a generated file of the sources if asked to")]
fn the_stems_are_up_to_date() {
    let mut analyser = Analyser::default();
    let mut stems: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    for ((letter, _), lists) in LETTERS.into_iter().zip([vec![WORDS, PROGRAMMING], vec![POLITE], vec![FILLERS]]) {
        for word in lists.into_iter().flat_map(|list| analyser.split_words(list)) {
            let letters = stems.entry(word.stem).or_default();
            if !letters.contains(letter) {
                letters.push(letter);
            }
        }
    }
    let made: String = stems.iter().map(|(stem, letters)| format!("{stem} {letters}\n")).collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/recall/word-stems.txt"), &made).unwrap();
    }
    assert_eq!(STEMS, made, "run this test with UPDATE_DOCS=1 to write the file again");
}

#[test]
fn small_talk_is_everyday_and_topics_are_not() {
    let mut analyser = Analyser::default();
    let mut topics = |text: &str| {
        analyser
            .split_words(text)
            .into_iter()
            .filter(|word| !word.stop && !is_everyday(&word.stem))
            .map(|word| word.stem)
            .collect::<Vec<_>>()
    };
    assert_eq!(topics("Yes, please continue; that looks good, thanks a lot for the help so far!"), [""; 0]);
    assert_eq!(topics("Could you take a look at the staging database when you have some time?"), ["stage", "databas"]);
    let mut content =
        |text: &str| analyser.split_words(text).into_iter().map(|word| word.stem).filter(|stem| !is_filler(stem)).collect::<Vec<_>>();
    assert_eq!(content("Darf ich eine Rechnung in der Datenbank ändern?"), ["rechnung", "in", "datenbank", "andern"]);
    assert_eq!(content("don't retry 429 more than 3 times"), ["t", "retri", "429", "more", "than", "3", "time"]);
    assert_eq!(["3", "17", "429", "x1", ""].map(is_small_number), [true, true, false, false, true]);
}
