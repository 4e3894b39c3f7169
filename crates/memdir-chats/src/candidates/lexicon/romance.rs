//! Spanish, French, Italian and Portuguese.

use super::{EMPTY, LanguageWords};

pub(super) const SPANISH: LanguageWords = LanguageWords {
    common: &[
        "el", "la", "los", "las", "un", "una", "es", "son", "que", "de", "del", "y", "no", "en", "con", "por", "para", "se", "lo",
        "recuerda", "recuerde", "siempre", "nunca", "usa", "usamos", "este", "esta", "sin", "solo", "sólo", "ahora", "favor", "acuérdate",
        "al", "su", "mi", "como", "más", "eso", "está", "nada", "uses", "hay",
    ],
    openers: &["por favor", "y", "también", "además", "importante", "ok", "vale", "sí", "no,", "oye", "ya te dije", "ya te dije que"],
    greetings: &["hola", "oye", "hey"],
    polite: &["puedes", "podrías", "quiero que", "debes"],
    requests: &[
        "recuerda", "recuérdalo", "recuerde", "recuerden", "acuérdate", "acuerdate", "acuérdese", "no olvides", "no te olvides",
        "no olvide", "ten en cuenta", "tenga en cuenta", "ten presente", "anota", "memoriza",
    ],
    from_now_on: &["a partir de ahora", "de ahora en adelante", "desde ahora", "en el futuro"],
    that: &["que", "de que"],
    pointers: &["esto", "eso", "lo siguiente", "bien", "por favor", "para luego", "siempre"],
    unremember: &[
        "no recuerdes", "no lo recuerdes", "no memorices", "recuerda no", "no hace falta que recuerdes", "olvida esto", "no recuerde",
    ],
    unsave: &["no guardes nada", "no guarde nada", "no recuerdes nada", "no almacenes nada", "es privada", "es privado", "nada de"],
    conversation: &["esta conversación", "este chat", "esta sesión", "nuestra conversación"],
    habits: &["usamos", "nosotros usamos", "debes", "tienes que", "no debes", "puedes", "no puedes", "nuestro", "nuestra", "hay que"],
    imperatives: &["siempre", "nunca", "usa", "use", "utiliza", "evita", "solo", "sólo", "prefiere", "deja", "sin", "jamás", "nada de"],
    forbids: &[("no", &["es", "as", "uses", "éis"]), ("no lo", &["es", "as"]), ("no la", &["es", "as"])],
    norms: &[
        "siempre", "nunca", "debe", "deben", "debes", "tiene que", "tienen que", "hay que", "solo se", "sólo se", "en todas partes",
        "en este proyecto", "en este repositorio", "prohibido", "obligatorio", "sin preguntar",
    ],
    lasting: &["siempre", "nunca", "cada", "todas las veces", "solo"],
    contrasts: &["en lugar de", "en vez de", ", no", "y no", "sino"],
    negations: &["no", "nunca", "jamás", "sin", "ningún", "ninguna", "nada", "tampoco"],
    protected: &["pertenece", "pertenecen", "generado", "congelado", "a propósito", "yo mismo", "yo misma", "en paz"],
    trouble: &[
        "error", "falla", "fallan", "falló", "roto", "rota", "no funciona", "sin funcionar", "vacío", "vacía", "blanco", "lento", "caído",
        "caída", "404", "500", "cuando guardo", "cuando yo", "se cuelga", "bug", "devuelve", "muestra", "sale", "mal",
    ],
    passing: &[
        "hoy", "ayer", "mañana", "todavía", "aún", "por ahora", "de momento", "por el momento", "esta vez", "esta tarea", "este ticket",
        "sigue", "otra vez", "cuando termines", "al final", "un plan", "el plan", "la semana pasada", "de nuevo",
    ],
    context: &["eso", "esto", "ya", "yo", "me", "mi", "tú", "estoy", "tengo", "te", "le"],
    saying: &["dice", "dijo", "escribió", "escribe", "según", "afirma", "pone"],
    retractions: &["me equivoqué", "por error", "sin querer", "tecla equivocada", "hazlo", "ejecútalo", "otra vez", "adelante"],
    later: &[
        "luego", "más tarde", "después", "primero", "todavía no", "aún no", "ahora no", "espera", "por cierto", "antes", "mañana",
        "vamos a",
    ],
    tasks: &[
        "ejecuta", "arregla", "añade", "muestra", "escribe", "explica", "revisa", "haz", "crea", "puedes", "corrige", "muéstrame", "mira",
        "dime", "lee",
    ],
    maybe: &["se podría", "podríamos", "quizás", "tal vez", "si", "supongamos"],
    praise: &["gracias", "perfecto", "genial", "muy bien", "estupendo", "excelente"],
    go_ahead: &["sí", "si", "adelante", "continúa", "gracias", "vale", "sigue"],
    undo: &["deshaz", "deshacer", "revierte", "vuelve", "restaura", "no"],
    light: &["el", "la", "los", "las", "un", "una", "y", "por", "favor", "en", "de", "del", "siempre", "es", "son", "que", "se"],
    ..EMPTY
};

pub(super) const FRENCH: LanguageWords = LanguageWords {
    common: &[
        "le", "la", "les", "un", "une", "des", "du", "de", "et", "est", "sont", "que", "ne", "pas", "nous", "vous", "je", "il", "en",
        "dans", "pour", "avec", "sur", "par", "ce", "cette", "ça", "souviens-toi", "rappelle-toi", "retiens", "toujours", "jamais",
        "utilise", "n'oublie", "n'utilise", "désormais", "rien", "faut", "tu", "à", "au", "aux", "plus", "qui", "souvenez-vous",
        "rappelez-vous", "retenez", "ceci", "mon", "ma", "c'est", "n'est", "sans",
    ],
    openers: &[
        "s'il te plaît", "s'il vous plaît", "stp", "svp", "et", "aussi", "important", "ok", "oui", "non,", "alors", "merci de",
        "je t'ai dit", "je t'ai déjà dit",
    ],
    greetings: &["salut", "bonjour", "hé", "coucou"],
    polite: &["peux-tu", "pourrais-tu", "pouvez-vous", "tu peux", "tu dois", "je veux que tu"],
    requests: &[
        "souviens-toi", "souviens toi", "souvenez-vous", "rappelle-toi", "rappelle toi", "rappelez-vous", "retiens", "retenez",
        "n'oublie pas", "n'oubliez pas", "garde en tête", "garde à l'esprit", "gardez en tête", "mémorise", "note",
    ],
    from_now_on: &["désormais", "à partir de maintenant", "dorénavant", "à l'avenir"],
    that: &["que", "qu'", "bien que"],
    pointers: &["ça", "ceci", "cela", "bien", "s'il te plaît", "ce qui suit", "pour plus tard", "toujours"],
    unremember: &[
        "ne retiens rien", "ne retiens pas", "ne mémorise pas", "ne mémorise rien", "ne te souviens pas", "oublie ça", "oublie ceci",
        "pas besoin de retenir",
    ],
    unsave: &["ne garde rien", "ne sauvegarde rien", "n'enregistre rien", "ne retiens rien", "ne mémorise rien", "est privée", "est privé"],
    conversation: &["cette conversation", "cette discussion", "ce chat", "cette session"],
    habits: &[
        "nous utilisons", "on utilise", "nous n'utilisons", "on n'utilise", "tu dois", "tu peux", "vous devez", "il faut", "il ne faut",
        "notre", "nos",
    ],
    imperatives: &["toujours", "jamais", "utilise", "utilisez", "évite", "préfère", "seulement", "uniquement", "laisse", "sans", "pas de"],
    forbids: &[("ne", &[]), ("n'utilise", &[]), ("n'ajoute", &[]), ("n'efface", &[]), ("n'édite", &[])],
    norms: &[
        "toujours", "jamais", "doit", "doivent", "dois", "il faut", "ne faut", "seulement", "uniquement", "partout", "dans ce projet",
        "dans ce dépôt", "interdit", "obligatoire", "sans demander",
    ],
    lasting: &["toujours", "jamais", "chaque", "seulement"],
    contrasts: &["au lieu de", "au lieu du", "plutôt que", ", pas", "et pas", "et non"],
    negations: &["ne", "pas", "jamais", "sans", "rien", "aucun", "aucune", "non", "n'utilise", "n'ajoute"],
    protected: &["appartient", "appartiennent", "généré", "gelé", "exprès", "moi-même", "tranquille"],
    trouble: &[
        "erreur", "échoue", "échec", "cassé", "ne marche", "ne fonctionne", "vide", "blanche", "lent", "plante", "404", "500", "quand je",
        "bug", "affiche", "renvoie",
    ],
    passing: &[
        "aujourd'hui", "hier", "demain", "encore", "toujours pas", "pour l'instant", "pour le moment", "cette fois", "cette tâche",
        "ce ticket", "à la fin", "un plan", "le plan", "la semaine dernière", "quand tu auras",
    ],
    context: &["ça", "c'est", "ce", "cela", "je", "j'ai", "il ne", "elle", "mon", "ma", "tu as", "même"],
    saying: &["dit que", "a dit", "écrit", "a écrit", "selon", "d'après", "prétend"],
    retractions: &["par erreur", "mauvaise touche", "mauvais bouton", "sans faire exprès", "relance", "fais-le", "vas-y"],
    later: &["plus tard", "d'abord", "pas encore", "pas maintenant", "attends", "au fait", "avant", "demain", "après"],
    tasks: &["lance", "corrige", "ajoute", "montre", "écris", "explique", "vérifie", "fais", "crée", "peux", "relance", "lis", "regarde"],
    maybe: &["on pourrait", "peut-être", "si", "supposons"],
    praise: &["merci", "parfait", "super", "génial", "très bien", "excellent"],
    go_ahead: &["oui", "vas-y", "merci", "d'accord", "continue"],
    undo: &["annule", "remets", "reviens", "rétablis", "pas"],
    light: &[
        "le", "la", "les", "un", "une", "des", "du", "de", "et", "en", "nous", "est", "sont", "que", "toujours", "il", "te", "plaît",
        "s'il", "on",
    ],
    ..EMPTY
};

pub(super) const ITALIAN: LanguageWords = LanguageWords {
    common: &[
        "il", "lo", "la", "i", "gli", "le", "un", "una", "è", "sono", "che", "di", "del", "e", "non", "per", "con", "ricorda", "ricordati",
        "sempre", "mai", "usa", "usare", "usiamo", "solo", "nel", "nei", "da", "della", "ogni", "senza", "favore", "tieni", "presente",
        "d'ora", "poi", "questo", "questa", "si", "vanno", "al",
    ],
    openers: &["per favore", "e", "anche", "inoltre", "importante", "ok", "sì", "no,"],
    greetings: &["ciao", "ehi", "salve"],
    polite: &["puoi", "potresti", "voglio che tu", "devi"],
    requests: &[
        "ricorda", "ricordati", "ricordatevi", "ricordi", "tieni a mente", "tieni presente", "tenga presente", "non dimenticare",
        "non dimenticarti", "memorizza",
    ],
    from_now_on: &["d'ora in poi", "da ora in poi", "da adesso in poi", "in futuro"],
    that: &["che"],
    pointers: &["questo", "bene", "quanto segue", "per dopo", "sempre"],
    unremember: &["non ricordare", "non ricordarti", "non memorizzare", "ricorda di non", "dimentica questo"],
    unsave: &["non salvare nulla", "non salvare niente", "non ricordare nulla", "è privata", "è privato"],
    conversation: &["questa conversazione", "questa chat", "questa sessione"],
    habits: &["usiamo", "noi usiamo", "devi", "non devi", "bisogna", "si deve"],
    imperatives: &["sempre", "mai", "usa", "evita", "solo", "preferisci", "lascia", "senza", "niente"],
    forbids: &[("non", &["re", "rlo", "rla", "te"])],
    norms: &[
        "sempre", "mai", "deve", "devono", "bisogna", "ovunque", "in questo progetto", "vietato", "obbligatorio", "solo da", "solo con",
        "solo su",
    ],
    lasting: &["sempre", "mai", "ogni"],
    contrasts: &["invece di", "invece", "anziché", "al posto di", ", non", "e non"],
    negations: &["non", "mai", "senza", "nessun", "nessuna", "niente", "nulla"],
    protected: &["appartiene", "generato", "congelato", "apposta", "io stesso", "in pace"],
    trouble: &[
        "errore", "fallisce", "rotto", "non funziona", "vuota", "vuoto", "lento", "bianca", "404", "500", "quando io", "bug", "mostra",
        "va in crash",
    ],
    passing: &[
        "oggi", "ieri", "domani", "ancora", "per ora", "al momento", "questa volta", "questo compito", "questo ticket", "alla fine",
        "un piano", "di nuovo",
    ],
    context: &["questo", "quello", "io", "ho", "è", "mio", "mia", "hai"],
    saying: &["dice", "ha detto", "ha scritto", "secondo"],
    retractions: &["per sbaglio", "per errore", "tasto sbagliato", "fallo", "vai avanti"],
    later: &["più tardi", "dopo", "prima", "non ancora", "non ora", "aspetta", "comunque", "domani", "a proposito"],
    tasks: &["esegui", "correggi", "aggiungi", "mostra", "scrivi", "fai", "crea", "controlla", "spiega"],
    maybe: &["si potrebbe", "forse", "se"],
    praise: &["grazie", "perfetto", "ottimo", "bravo"],
    go_ahead: &["avanti", "va bene", "grazie", "sì", "continua"],
    undo: &["annulla", "ripristina", "non"],
    light: &["il", "lo", "la", "i", "gli", "le", "un", "una", "e", "di", "del", "per", "favore", "in", "sempre", "è", "sono", "che"],
    ..EMPTY
};

pub(super) const PORTUGUESE: LanguageWords = LanguageWords {
    common: &[
        "o", "a", "os", "as", "um", "uma", "é", "são", "que", "do", "da", "e", "não", "em", "no", "na", "com", "para", "por", "lembre-se",
        "lembra", "lembre", "sempre", "nunca", "use", "usamos", "só", "este", "esta", "sem", "agora", "esqueça", "favor", "ficam", "mas",
        "se", "ainda",
    ],
    openers: &["por favor", "e", "também", "além disso", "importante", "ok", "sim", "não,"],
    greetings: &["olá", "oi", "ei"],
    polite: &["podes", "pode", "você pode", "poderia", "quero que", "deves"],
    requests: &[
        "lembre-se", "lembra-te", "lembra", "lembre", "lembrem-se", "não esqueça", "não se esqueça", "não te esqueças", "não esqueças",
        "tenha em mente", "tem em mente", "memorize", "anote",
    ],
    from_now_on: &["a partir de agora", "de agora em diante", "daqui em diante", "daqui para a frente"],
    that: &["que", "de que"],
    pointers: &["isto", "isso", "disso", "disto", "o seguinte", "bem", "sempre"],
    unremember: &["não lembre", "não se lembre", "não memorize", "lembre-se de não", "não precisa lembrar", "esqueça isso", "esquece isto"],
    unsave: &["não guarde nada", "não salve nada", "não guardes nada", "é privada", "é privado", "não lembre de nada"],
    conversation: &["esta conversa", "desta conversa", "dessa conversa", "este chat", "deste chat"],
    habits: &["usamos", "nós usamos", "você deve", "você pode", "não pode", "é preciso"],
    imperatives: &[
        "sempre", "nunca", "use", "usa", "utilize", "evite", "evita", "só", "somente", "apenas", "deixe", "deixa", "sem", "jamais",
    ],
    forbids: &[("não", &["e", "es", "as", "em"])],
    norms: &[
        "sempre", "nunca", "deve", "devem", "tem que", "têm que", "em todo lugar", "neste projeto", "neste repositório", "proibido",
        "obrigatório", "só pode", "apenas por",
    ],
    lasting: &["sempre", "nunca", "cada", "toda vez"],
    contrasts: &["em vez de", "ao invés de", "no lugar de", ", não", "e não"],
    negations: &["não", "nunca", "jamais", "sem", "nenhum", "nenhuma", "nada"],
    protected: &["pertence", "gerado", "congelado", "de propósito", "eu mesmo", "em paz"],
    trouble: &[
        "erro", "falha", "quebrado", "não funciona", "vazia", "vazio", "lento", "trava", "404", "500", "quando eu", "bug", "mostra", "caiu",
    ],
    passing: &[
        "hoje", "ontem", "amanhã", "ainda", "por enquanto", "no momento", "desta vez", "esta tarefa", "este ticket", "no final",
        "um plano", "de novo",
    ],
    context: &["isso", "isto", "eu", "meu", "minha", "você fez"],
    saying: &["diz", "disse", "escreveu", "segundo", "de acordo com"],
    retractions: &["por engano", "sem querer", "tecla errada", "faça isso", "execute de novo"],
    later: &["mais tarde", "depois", "primeiro", "ainda não", "agora não", "espere", "espera", "aliás", "antes", "amanhã"],
    tasks: &["execute", "corrija", "adicione", "mostre", "escreva", "faça", "crie", "explique", "verifique"],
    maybe: &["poderíamos", "talvez", "se"],
    praise: &["obrigado", "obrigada", "perfeito", "ótimo", "muito bem"],
    go_ahead: &["sim", "obrigado", "continue", "tudo bem"],
    undo: &["desfaça", "desfaz", "reverte", "volte", "não"],
    light: &["o", "a", "os", "as", "um", "uma", "e", "de", "do", "da", "em", "no", "na", "por", "favor", "sempre", "que"],
    ..EMPTY
};
