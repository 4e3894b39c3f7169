//! Turkish, Arabic and Hindi; and the requests of a few more languages.

use super::{EMPTY, LanguageWords};

pub(super) const TURKISH: LanguageWords = LanguageWords {
    common: &[
        "bir", "ve", "bu", "için", "de", "da", "ile", "her", "zaman", "unutma", "hatırla", "şunu", "bunu", "lütfen", "asla", "sadece",
        "kullan", "olarak", "değil", "günü", "günleri", "çok", "daha", "sonra", "bundan", "beni", "hâlâ",
    ],
    openers: &["lütfen", "ayrıca", "ve", "önemli", "tamam", "hayır", "evet"],
    greetings: &["merhaba", "selam", "hey"],
    requests: &[
        "unutma", "unutmayın", "hatırla", "hatırlayın", "şunu hatırla", "bunu hatırla", "şunu unutma", "bunu unutma", "aklında tut",
        "şunu aklında tut",
    ],
    from_now_on: &["bundan sonra", "artık", "şu andan itibaren"],
    that: &["ki"],
    pointers: &["bunu", "şunu", "lütfen"],
    unremember: &["hatırlama", "bunu hatırlama", "aklında tutma"],
    unsave: &["hiçbir şeyi kaydetme", "kaydetme"],
    conversation: &["bu konuşma", "bu konuşmayı", "bu konuşmadan", "bu sohbet", "bu sohbetten"],
    habits: &["biz"],
    imperatives: &["her zaman", "asla", "sadece", "hep", "kullanma"],
    norms: &["her zaman", "asla", "sadece", "gerekir", "zorunda", "yasak", "kullanma", "kullanmayın", "bu projede"],
    lasting: &["her zaman", "asla", "her"],
    contrasts: &["yerine", ", değil", "değil"],
    negations: &["değil", "asla", "yok", "kullanma", "hiç", "olmadan"],
    protected: &["üretilmiş", "donduruldu", "bilerek", "kendim"],
    trouble: &["hata", "hatası", "çalışmıyor", "boş", "yavaş", "bozuk", "çöküyor", "404", "500", "kayboluyor", "gösteriyor", "veriyor"],
    passing: &["bugün", "dün", "yarın", "henüz", "hâlâ", "hala", "şimdilik", "bu sefer", "bu görev", "yine", "tekrar", "plan"],
    context: &["bu", "o", "ben", "benim"],
    saying: &["diyor", "dedi", "yazdı", "göre"],
    retractions: &["yanlışlıkla", "yanlış tuş"],
    later: &["sonra", "önce", "henüz değil", "şimdi değil", "bekle", "bu arada"],
    tasks: &["çalıştır", "düzelt", "ekle", "göster", "yaz"],
    maybe: &["belki", "eğer"],
    praise: &["teşekkürler", "harika", "mükemmel"],
    go_ahead: &["devam", "tamam", "evet"],
    undo: &["geri", "al"],
    light: &["bir", "ve", "bu", "lütfen", "de", "da", "her", "zaman"],
    ..EMPTY
};

pub(super) const ARABIC: LanguageWords = LanguageWords {
    common: &["أن", "أننا", "في", "من", "على", "لا", "هو", "هي", "تذكر", "هنا", "دائما", "أبدا", "إلى", "مع", "هذا", "يعمل"],
    openers: &["من فضلك", "أيضا", "مهم"],
    requests: &["تذكر", "تذكري", "لا تنس", "احفظ في الذاكرة"],
    that: &["أن", "أننا", "أنه", "أنك", "بأن"],
    pointers: &["هذا", "ذلك", "دائما"],
    unremember: &["لا تتذكر", "لا تحفظ"],
    unsave: &["لا تحفظ"],
    conversation: &["هذه المحادثة"],
    imperatives: &["دائما", "استخدم", "لا تستخدم", "أبدا"],
    norms: &["دائما", "أبدا", "يجب", "ممنوع"],
    contrasts: &["بدلا من", "وليس"],
    negations: &["لا", "ليس", "وليس", "أبدا", "بدون", "ممنوع"],
    trouble: &["خطأ", "لا يعمل", "معطل"],
    passing: &["اليوم", "أمس", "غدا", "الآن", "بعد"],
    ..EMPTY
};

pub(super) const HINDI: LanguageWords = LanguageWords {
    common: &["है", "हैं", "कि", "में", "का", "की", "के", "को", "से", "हम", "याद", "रखें", "रखना", "रखो", "नहीं", "हमेशा", "यह"],
    openers: &["कृपया", "और", "भी"],
    requests: &["याद रखें", "याद रखना", "याद रखो", "याद रखिए", "मत भूलना"],
    that: &["कि"],
    pointers: &["यह", "इसे"],
    unremember: &["याद मत रखना", "याद न रखें"],
    imperatives: &["हमेशा", "कभी नहीं"],
    norms: &["हमेशा", "कभी", "चाहिए", "केवल"],
    contrasts: &["के बजाय", "की जगह"],
    negations: &["नहीं", "मत", "न", "बिना"],
    trouble: &["त्रुटि", "काम नहीं"],
    passing: &["आज", "कल", "अभी"],
    ..EMPTY
};

pub(super) const VIETNAMESE: LanguageWords = LanguageWords {
    common: &["rằng", "chúng", "ta", "là", "của", "và", "nhớ", "hãy", "không", "dùng", "các"],
    openers: &["xin", "hãy", "làm ơn"],
    requests: &["nhớ", "ghi nhớ", "đừng quên"],
    that: &["rằng", "là"],
    ..EMPTY
};

pub(super) const INDONESIAN: LanguageWords = LanguageWords {
    common: &["bahwa", "kita", "yang", "di", "dan", "ingat", "tidak", "selalu", "memakai", "ini", "untuk"],
    openers: &["tolong", "mohon", "juga"],
    requests: &["ingat", "ingatlah", "jangan lupa"],
    that: &["bahwa"],
    ..EMPTY
};

pub(super) const FINNISH: LanguageWords = LanguageWords {
    common: &["että", "on", "ja", "ei", "muista", "käytämme", "aina", "älä", "se"],
    openers: &["ja", "myös"],
    requests: &["muista", "älä unohda"],
    that: &["että"],
    ..EMPTY
};

pub(super) const GREEK: LanguageWords = LanguageWords {
    common: &["ότι", "το", "και", "να", "δεν", "θυμήσου", "είναι", "η", "ο", "χρησιμοποιούμε", "πως"],
    openers: &["παρακαλώ", "και"],
    requests: &["θυμήσου", "να θυμάσαι", "μην ξεχνάς"],
    that: &["ότι", "πως"],
    ..EMPTY
};
