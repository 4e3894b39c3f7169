//! Requests to remember, in fifteen languages and a few more.

/// What introduces a fact, and facts, by language.
pub(super) const REQUESTS: &[(&[&str], &[&str])] = &[
    (
        &[
            "Remember: {}", "Please remember that {}", "remember that {}", "Also, remember this: {}", "Don't forget: {}",
            "Keep in mind that {}", "Hi Claude, please remember that {}", "Codex, remember: {}", "Could you remember that {}?",
            "I'd like you to remember that {}", "Pls remember that {}", "FYI, keep in mind that {}", "You should remember that {}",
            "Don't forget that {}", "Remember this for later: {}",
        ],
        &[
            "the staging database listens on port 5433",
            "invoices are numbered per year and per country",
            "Dora owns the payment gateway, ask her before changing it",
            "we release on Tuesdays and never on Fridays",
            "all prices are stored in cents as integers",
            "the nightly import takes the feed from the sftp server of Kilo",
            "DATABASE_URL wins over the file config/Local.toml",
        ],
    ),
    (
        &[
            "Merke dir: {}", "Merk dir bitte, dass {}", "Bitte merke dir: {}", "Merken Sie sich bitte: {}", "Denk immer daran: {}",
            "Hallo Claude, merk dir: {}", "Bitte merken: {}",
        ],
        &[
            "die Testdatenbank heißt shop_test",
            "Rechnungen werden nie gelöscht, nur storniert",
            "Deployments laufen über den Branch release",
        ],
    ),
    (
        &["Recuerda que {}", "Por favor, recuerda: {}", "Acuérdate de que {}", "Recuerde que {}", "Ten en cuenta que {}"],
        &["los precios llevan el IVA incluido", "el servidor de pruebas se apaga a las ocho", "las fechas se guardan siempre en UTC"],
    ),
    (
        &[
            "Souviens-toi que {}", "Retiens bien : {}", "N'oublie pas que {}", "Souvenez-vous que {}", "Retenez que {}",
            "Garde en tête que {}",
        ],
        &["les migrations passent par Flyway", "le port de recette est le 8443", "les libellés viennent du fichier messages.fr"],
    ),
    (
        &["Ricorda che {}", "Ricordati: {}", "Per favore ricordati che {}", "Tieni presente che {}"],
        &["il listino cambia ogni primo del mese", "i resi vanno approvati da Marta"],
    ),
    (
        &["Lembre-se de que {}", "Lembra que {}", "Por favor, lembre-se: {}", "Não se esqueça de que {}"],
        &["os pedidos antigos ficam no arquivo frio", "o cliente Kilo usa outra moeda"],
    ),
    (
        &["Onthoud dat {}", "Onthoud: {}", "Onthoud alsjeblieft dat {}"],
        &["de testomgeving elke nacht wordt geleegd", "wij geen ORM gebruiken in de importer"],
    ),
    (
        &["Zapamiętaj: {}", "Pamiętaj, że {}", "Proszę zapamiętaj, że {}"],
        &["faktury wystawia moduł billing", "testy integracyjne wymagają Dockera"],
    ),
    (
        &["Запомни: {}", "Запомни, что {}", "Запомните, пожалуйста: {}", "Имей в виду, что {}"],
        &["деплой идёт только через ветку release", "цены храним в копейках"],
    ),
    (
        &["Запам'ятай: {}", "Запам'ятай, що {}", "Майте на увазі, що {}"],
        &["тестова база живе на порту 5433", "звіти надсилає сервіс mailer"],
    ),
    (&["Unutma: {}", "Şunu hatırla: {}", "Lütfen unutma: {}"], &["fiyatlar kuruş olarak saklanır", "yayın sadece salı günleri yapılır"]),
    (&["Kom ihåg att {}", "Kom ihåg: {}", "Glöm inte att {}"], &["priserna lagras i ören", "vi kör migreringar före klockan sju"]),
    (
        &["覚えておいて：{}", "{}ことを覚えておいてください", "覚えて: {}", "{}ことを覚えておいてね。"],
        &["ステージングのポートは5433である", "請求書は国ごとに番号を付ける"],
    ),
    (&["记住：{}", "请记住，{}", "記住：{}", "请你记住：{}", "记得{}"], &["测试数据库的端口是5433", "价格一律以分为单位保存"]),
    (&["기억해: {}", "{}는 것을 기억해 줘", "기억해 주세요: {}"], &["스테이징 포트는 5433이라", "가격은 항상 원 단위로 저장한다"]),
    (&["تذكر أن {}", "تذكّر: {}"], &["الأسعار محفوظة بالسنتات", "منفذ الاختبار هو 5433"]),
    (&["याद रखें कि {}", "याद रखना: {}"], &["कीमतें पैसे में रखी जाती हैं", "टेस्ट पोर्ट 5433 है"]),
    (&["Husk at {}", "Husk: {}"], &["priserne gemmes i øre", "vi udgiver kun om tirsdagen"]),
];
