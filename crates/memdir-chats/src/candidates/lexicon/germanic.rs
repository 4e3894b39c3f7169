//! German, Dutch, Swedish, and Danish with Norwegian.

use super::{EMPTY, LanguageWords};

pub(super) const GERMAN: LanguageWords = LanguageWords {
    common: &[
        "der", "die", "das", "den", "dem", "ein", "eine", "ist", "sind", "und", "nicht", "wir", "ich", "du", "es", "mit", "von", "zu",
        "im", "auf", "für", "merke", "merk", "dir", "immer", "nie", "niemals", "bitte", "kein", "keine", "nur", "dass", "auch", "noch",
        "werden", "wird", "bei", "statt", "oder", "muss", "soll", "ab", "jetzt", "denk", "daran", "aus", "diesem", "dieser", "benutze",
        "nutze", "man", "sich", "hier", "nein", "war", "ohne",
    ],
    openers: &[
        "bitte", "und", "auch", "außerdem", "nochmal", "noch einmal", "wichtig", "also", "übrigens", "ok", "okay", "ja", "nein", "hinweis",
        "wie gesagt", "ich habe dir gesagt", "stopp", "halt,",
    ],
    greetings: &["hallo", "hi", "hey", "liebe", "lieber"],
    polite: &["kannst du bitte", "könntest du bitte", "kannst du", "könntest du", "du sollst", "du solltest", "ich möchte, dass du"],
    requests: &[
        "merke dir", "merk dir", "merk's dir", "merk dir's", "merken sie sich", "merken", "vergiss nicht", "denk daran", "denke daran",
        "denk immer daran", "denken sie daran", "behalte im kopf", "erinnere dich daran", "erinnere dich", "beachte",
    ],
    from_now_on: &["ab jetzt", "ab sofort", "in zukunft", "künftig", "zukünftig", "von jetzt an", "von nun an"],
    that: &["dass", "daß"],
    pointers: &["bitte", "das", "dies", "dieses", "folgendes", "für später", "fürs nächste mal", "gut", "mal", "immer"],
    unremember: &[
        "merk dir bitte nichts", "merk dir nichts", "merke dir nichts", "merke dir bitte nichts", "merk dir das nicht",
        "merke dir das nicht", "du musst dir nicht merken", "du brauchst dir nicht zu merken", "nicht merken", "vergiss das",
    ],
    unsave: &[
        "merk dir nichts", "merke dir nichts", "merk dir bitte nichts", "merke dir bitte nichts", "speichere nichts", "speicher nichts",
        "nichts speichern", "nichts aus", "nichts von", "ist privat", "ist vertraulich", "nichts merken",
    ],
    conversation: &[
        "diesem gespräch", "dieses gespräch", "dieser unterhaltung", "diesem chat", "dieser chat", "dieser sitzung", "unserem gespräch",
    ],
    habits: &[
        "wir benutzen", "wir nutzen", "wir verwenden", "wir schreiben", "wir deployen", "wir speichern", "wir testen", "wir machen",
        "wir nehmen", "bei uns", "du darfst", "du musst", "du sollst", "ich will nicht", "ich möchte nicht", "unsere",
    ],
    imperatives: &[
        "immer", "nie", "niemals", "nur", "benutze", "benutz", "nutze", "nutz", "verwende", "nimm", "vermeide", "kein", "keine", "keinen",
        "nicht", "lass", "lasse", "bitte nicht", "ohne", "finger weg", "halte dich",
    ],
    forbids: &[],
    norms: &[
        "immer", "nie", "niemals", "muss", "müssen", "darf", "dürfen", "darfst", "soll", "sollen", "sollte", "nur", "überall",
        "in diesem projekt", "in diesem repository", "in diesem repo", "verboten", "pflicht", "ohne",
    ],
    lasting: &["immer", "nie", "niemals", "jedes mal", "jedem", "jeder", "jeden", "nur"],
    contrasts: &["statt", "stattdessen", "anstatt", "anstelle", "sondern", ", nicht", "und nicht", ", nie"],
    negations: &["nicht", "nie", "niemals", "kein", "keine", "keinen", "keiner", "keinem", "ohne", "nichts"],
    protected: &["gehört", "gehören", "generiert", "eingefroren", "gesperrt", "absicht", "absichtlich", "selbst", "in ruhe"],
    trouble: &[
        "fehler", "kaputt", "abgestürzt", "stürzt", "absturz", "geht nicht", "klappt nicht", "funktioniert nicht", "leer", "leere",
        "weiße", "weiß", "langsam", "länger", "falsch", "fehlt", "wenn ich", "ahnung", "404", "500", "erreichbar", "schlägt fehl",
        "fehlgeschlagen", "hängt", "bug", "zeigt", "kommt", "dauert",
    ],
    passing: &[
        "noch", "heute", "gestern", "morgen", "gerade", "vorerst", "erstmal", "erst mal", "im moment", "momentan", "diesmal", "dieses mal",
        "kurz", "diese aufgabe", "dieser aufgabe", "dieses ticket", "seit", "wieder", "am ende", "danach", "den plan", "einen plan",
        "letzte woche", "später", "wenn du fertig",
    ],
    context: &[
        "es", "ich", "das ist", "das war", "das geht", "das klappt", "das funktioniert", "das sieht", "dies ist", "so", "mein", "meine",
        "geht", "klappt", "funktioniert", "du hast", "du bist", "wir haben", "wir sind", "gleicher", "nichts",
    ],
    saying: &["sagt", "sagte", "schreibt", "schrieb", "steht", "laut", "meint", "behauptet", "hat gesagt", "angeblich"],
    retractions: &[
        "versehen", "versehentlich", "verklickt", "vertippt", "falsche taste", "mach es", "führe es", "nochmal ausführen", "aus versehen",
        "doch machen",
    ],
    later: &[
        "später", "erst", "zuerst", "noch nicht", "nicht jetzt", "warte", "moment", "übrigens", "vorher", "lass uns", "gleich", "morgen",
        "zeig mir", "sag mir", "gib mir", "erkläre", "erklär",
    ],
    tasks: &[
        "führe", "mach", "zeig", "schreib", "erkläre", "prüfe", "teste", "baue", "ändere", "füge", "behebe", "korrigiere", "weiter",
        "kannst", "erstelle", "lies", "schau", "starte", "lösche", "öffne",
    ],
    maybe: &["man könnte", "wir könnten", "vielleicht", "wenn", "falls", "angenommen", "ich glaube"],
    praise: &["danke", "super", "perfekt", "sehr schön", "sehr gut", "toll", "prima", "klasse", "wunderbar"],
    go_ahead: &["weiter", "mach weiter", "ja", "gut", "danke", "passt", "alles klar"],
    undo: &["rückgängig", "zurück", "falsch", "nicht", "wiederherstellen"],
    light: &[
        "der", "die", "das", "den", "dem", "ein", "eine", "bitte", "und", "wir", "immer", "im", "in", "zu", "es", "auch", "hier", "ist",
        "sind", "du", "ich", "mal",
    ],
    ..EMPTY
};

pub(super) const DUTCH: LanguageWords = LanguageWords {
    common: &[
        "de", "het", "een", "is", "niet", "wij", "we", "ik", "van", "voor", "met", "op", "dat", "onthoud", "altijd", "nooit", "geen",
        "vanaf", "nu", "wordt", "worden", "alleen", "maar", "ook", "nog", "steeds", "vergeet", "alsjeblieft", "gebruik", "gebruiken",
        "elke", "mijn", "blijft", "werkt", "als", "klaar", "te",
    ],
    openers: &["alsjeblieft", "graag", "en", "ook", "belangrijk", "ok", "nee", "stop"],
    greetings: &["hoi", "hallo", "hey"],
    polite: &["kun je", "kan je", "wil je", "zou je"],
    requests: &["onthoud", "onthou", "vergeet niet", "denk eraan", "denk erom", "houd er rekening mee"],
    from_now_on: &["vanaf nu", "voortaan", "in het vervolg"],
    that: &["dat"],
    pointers: &["dit", "dat", "het volgende", "goed", "alsjeblieft", "voor later"],
    unremember: &["onthoud niets", "onthoud dit niet", "onthoud dat niet", "je hoeft niet te onthouden"],
    unsave: &["onthoud niets", "bewaar niets", "sla niets op", "is privé"],
    conversation: &["dit gesprek", "deze chat", "deze sessie"],
    habits: &["we gebruiken", "wij gebruiken", "we schrijven", "wij schrijven", "we deployen", "je moet", "je mag"],
    imperatives: &["altijd", "nooit", "gebruik", "vermijd", "alleen", "geen", "niet", "laat", "zonder"],
    norms: &["altijd", "nooit", "moet", "moeten", "mag", "mogen", "alleen", "overal", "in dit project", "verplicht", "zonder"],
    lasting: &["altijd", "nooit", "elke", "iedere", "alleen"],
    contrasts: &["in plaats van", ", niet", "en niet", "liever dan"],
    negations: &["niet", "nooit", "geen", "zonder", "niets"],
    protected: &["hoort bij", "gegenereerd", "bevroren", "met opzet", "zelf", "met rust"],
    trouble: &["fout", "werkt niet", "kapot", "leeg", "traag", "crasht", "mislukt", "faalt", "bug", "geeft", "toont", "als ik"],
    passing: &[
        "nog", "steeds", "vandaag", "gisteren", "morgen", "nu nog", "voorlopig", "even", "deze taak", "dit ticket", "aan het eind",
        "klaar is", "weer",
    ],
    context: &["het", "dit", "dat is", "dat was", "ik", "er", "mijn", "je hebt"],
    saying: &["zegt", "zei", "schreef", "schrijft", "volgens"],
    retractions: &["per ongeluk", "verkeerde knop", "foutje", "doe het"],
    later: &["later", "eerst", "nog niet", "niet nu", "wacht", "trouwens", "straks", "laten we"],
    tasks: &["voer", "herstel", "toon", "schrijf", "maak", "test", "controleer", "voeg"],
    maybe: &["misschien", "we zouden", "als"],
    praise: &["dank", "bedankt", "top", "mooi", "perfect"],
    go_ahead: &["ga door", "ja", "bedankt", "prima"],
    undo: &["herstel", "terug", "ongedaan"],
    light: &["de", "het", "een", "en", "we", "wij", "is", "in", "te", "ook", "alsjeblieft", "altijd", "van"],
    ..EMPTY
};

pub(super) const SWEDISH: LanguageWords = LanguageWords {
    common: &[
        "det", "är", "och", "att", "en", "ett", "inte", "vi", "jag", "som", "för", "med", "på", "kom", "ihåg", "ihag", "glöm", "alltid",
        "aldrig", "bara", "använd", "använder", "i", "av", "till", "fortfarande", "mig", "före", "alla", "den",
    ],
    openers: &["snälla", "och", "också", "även", "viktigt", "ok", "nej", "stopp"],
    greetings: &["hej", "hallå"],
    polite: &["kan du", "skulle du kunna", "vill du"],
    requests: &["kom ihåg", "kom ihag", "glöm inte", "tänk på", "lägg på minnet"],
    from_now_on: &["hädanefter", "från och med nu", "framöver"],
    that: &["att"],
    pointers: &["det", "detta", "det här", "följande", "till senare"],
    unremember: &["kom inte ihåg", "du behöver inte komma ihåg", "glöm detta", "glöm det här"],
    unsave: &["spara inget", "spara ingenting", "är privat"],
    conversation: &["detta samtal", "det här samtalet", "den här konversationen", "den här chatten"],
    habits: &["vi använder", "vi skriver", "vi kör", "du måste", "du får"],
    imperatives: &["alltid", "aldrig", "använd", "undvik", "bara", "inga", "ingen", "inte", "rör inte", "lämna", "utan"],
    norms: &["alltid", "aldrig", "måste", "ska", "bör", "får inte", "endast", "bara", "överallt", "i det här projektet", "utan"],
    lasting: &["alltid", "aldrig", "varje", "bara"],
    contrasts: &["istället för", "i stället för", "istället", ", inte", "och inte"],
    negations: &["inte", "aldrig", "ingen", "inga", "inget", "utan", "ej"],
    protected: &["tillhör", "genererad", "fryst", "med flit", "själv", "ifred"],
    trouble: &["fel", "fungerar inte", "trasig", "tom", "långsam", "kraschar", "misslyckas", "bugg", "när jag", "visar"],
    passing: &[
        "än", "ännu", "fortfarande", "idag", "igår", "imorgon", "just nu", "tills vidare", "den här uppgiften", "när du är klar", "igen",
    ],
    context: &["det", "detta", "den", "jag", "min", "mitt", "du har"],
    saying: &["säger", "sa", "skrev", "skriver", "enligt"],
    retractions: &["av misstag", "fel knapp", "fel tangent", "kör den"],
    later: &["senare", "först", "inte än", "inte nu", "vänta", "förresten", "låt oss"],
    tasks: &["kör", "fixa", "visa", "skriv", "lägg", "testa", "skapa", "kolla"],
    maybe: &["kanske", "vi skulle kunna", "om"],
    praise: &["tack", "perfekt", "toppen", "bra"],
    go_ahead: &["fortsätt", "ja", "tack", "okej"],
    undo: &["ångra", "återställ", "tillbaka"],
    light: &["det", "en", "ett", "och", "att", "vi", "är", "i", "också", "snälla", "alltid", "den"],
    ..EMPTY
};

/// Danish and Norwegian.
pub(super) const DANISH: LanguageWords = LanguageWords {
    common: &[
        "husk", "at", "og", "er", "ikke", "vi", "det", "kun", "om", "jeg", "til", "af", "på", "altid", "aldrig", "glem", "bruger",
        "bruker", "når", "du", "i",
    ],
    openers: &["venligst", "og", "også", "ok", "nej", "nei"],
    greetings: &["hej", "hei"],
    polite: &["kan du", "vil du"],
    requests: &["husk", "glem ikke", "glem ikkje", "ikke glem"],
    from_now_on: &["fra nu af", "fra nå av", "fremover"],
    that: &["at"],
    pointers: &["det", "dette", "følgende"],
    unremember: &["husk intet", "husk ikke", "husk ingenting"],
    unsave: &["gem intet", "husk intet", "husk ingenting", "er privat"],
    conversation: &["denne samtale", "denne samtalen", "denne chat"],
    habits: &["vi bruger", "vi bruker", "vi skriver"],
    imperatives: &["altid", "alltid", "aldrig", "aldri", "brug", "bruk", "undgå", "unngå", "kun", "ikke"],
    norms: &["altid", "alltid", "aldrig", "aldri", "skal", "må", "kun", "overalt"],
    lasting: &["altid", "alltid", "aldrig", "aldri", "hver", "kun"],
    contrasts: &["i stedet for", "i stedet", ", ikke", "og ikke"],
    negations: &["ikke", "aldrig", "aldri", "ingen", "uden", "uten"],
    trouble: &["fejl", "feil", "virker ikke", "tom", "langsom"],
    passing: &["endnu", "ennå", "i dag", "i går", "i morgen", "lige nu", "når du", "stadig", "fortsatt"],
    context: &["det", "den", "jeg", "min"],
    saying: &["siger", "sier", "skrev", "ifølge"],
    light: &["det", "en", "et", "og", "at", "vi", "er", "i"],
    ..EMPTY
};
