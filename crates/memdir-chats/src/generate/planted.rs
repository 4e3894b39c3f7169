//! The episodes that are evidence for a candidate.

mod requests;

use super::{
    script::{Rng, ScriptCall, ScriptEnd, ScriptEpisode, ScriptStep},
    words::FILES,
};
use memdir_core::CandidateKind;
use requests::REQUESTS;

/// Returns the episodes of a planted candidate, each for a conversation of its own, and the words that prove that it was found.
pub(super) fn episodes(kind: CandidateKind, i: usize, rng: &mut Rng) -> (String, Vec<ScriptEpisode>) {
    match kind {
        CandidateKind::Remember => remember(i, rng),
        CandidateKind::Denied => denied(i, rng),
        CandidateKind::Repeat => repeat(i, rng),
        CandidateKind::Scar => scar(i, rng),
        _ => reverted(i, rng),
    }
}

fn remember(i: usize, rng: &mut Rng) -> (String, Vec<ScriptEpisode>) {
    // Every other request is in English, as in real transcripts; the others take turns.
    let language = if i.is_multiple_of(2) { 0 } else { 1 + i / 2 % (REQUESTS.len() - 1) };
    let (requests, facts) = REQUESTS[language];
    let fact = facts[i / 2 % facts.len()];
    let request = requests[(i / 2 + rng.below(3)) % requests.len()].replace("{}", fact);
    let text = match rng.below(4) {
        0 => format!("{request}. Then go on with the list."),
        1 => format!("Looks right.\n\n{request}"),
        _ => request,
    };
    let steps = vec![
        ScriptStep::person(text),
        ScriptStep::assistant("Understood, I will keep to that."),
        ScriptStep::shell("git diff --stat", " 1 file changed"),
    ];
    (fact.to_owned(), vec![ScriptEpisode { is_remember: true, ..ScriptEpisode::new(steps) }])
}

/// Commands and edits that are denied, each with reasons.
const DENIED: &[(&str, &[&str])] = &[
    (
        "git push --force origin main",
        &["No, never force-push to main, open a pull request instead", "stop, we do not rewrite main, use a branch"],
    ),
    ("npm install left-pad", &["we use pnpm in this repository, not npm", "no new dependencies without asking me first"]),
    ("rm -rf node_modules db/data", &["don't delete db/data, that is my local database", "nein, db/data darf nie gelöscht werden"]),
    (
        "docker compose down -v",
        &["do not remove the volumes, the seed takes an hour", "sin borrar los volúmenes, tardan una hora en crearse"],
    ),
    ("cargo update", &["leave the lock file alone, we pin versions until the release", "не трогай Cargo.lock до релиза"]),
    ("terraform apply -auto-approve", &["only plan here, apply runs in the pipeline", "apply 只能在流水线里运行，本地只做 plan"]),
    (
        "git commit -m wip",
        &["I commit myself, just leave the changes in the tree", "je fais les commits moi-même, laisse les fichiers modifiés"],
    ),
    ("psql shop_prod -c 'DELETE FROM carts'", &["never touch shop_prod from here, use the staging copy"]),
    (
        "edit:db/migrations/0004_carts.sql",
        &["never edit an applied migration, add a new one", "migrations that ran are frozen, write a new file"],
    ),
    ("edit:web/generated/client.ts", &["that file is generated, change the schema instead"]),
    ("npx create-react-app ui", &["No, we only use Vite for new packages", "bitte nicht, neue Pakete immer mit Vite anlegen"]),
    (
        "git stash drop",
        &[
            "Don't drop stashes, I keep my own work there",
            "no borres los stash, ahí guardo mi trabajo",
            "stash を消さないでください、作業が入っています",
        ],
    ),
    (
        "kubectl delete ns shop",
        &["you must never delete a namespace, scale it down instead", "il ne faut jamais supprimer un namespace, réduis les replicas"],
    ),
    (
        "python -m unittest",
        &["Use pytest rather than unittest in this repo", "测试要用 pytest，不要用 unittest", "używaj pytest zamiast unittest"],
    ),
    ("edit:deploy/values.yaml", &["production values belong to Dora, leave that file alone"]),
    (
        "edit:.github/workflows/ci.yml",
        &["don't touch the workflows, Dora maintains them", "die Workflows gehören Dora, bitte nicht ändern"],
    ),
];

fn denied(i: usize, rng: &mut Rng) -> (String, Vec<ScriptEpisode>) {
    let (action, reasons) = DENIED[i % DENIED.len()];
    let reason = rng.pick(reasons);
    let call = match action.strip_prefix("edit:") {
        Some(path) => ScriptCall::Edit { path: path.into(), old: "  value: 1".into(), new: format!("  value: {}", rng.below(900) + 2) },
        None => ScriptCall::Shell(action.into()),
    };
    // The reason comes as the next message, or with the rejection where the host has a field for it.
    let steps = match rng.below(4) {
        0 => vec![ScriptStep::Call(call, ScriptEnd::Denied(Some(reason.into()))), ScriptStep::assistant("Understood, I leave it.")],
        1 => vec![
            ScriptStep::Call(call, ScriptEnd::Interrupted),
            ScriptStep::person(reason),
            ScriptStep::assistant("Understood, I leave it."),
        ],
        _ => vec![
            ScriptStep::Call(call, ScriptEnd::Denied(None)),
            ScriptStep::person(reason),
            ScriptStep::assistant("Understood, I leave it."),
        ],
    };
    let asked =
        ScriptStep::person(rng.pick(&["please finish the rest of it", "carry on with the second part", "now the last item of the list"]));
    (reason.to_owned(), vec![ScriptEpisode::new([vec![asked], steps].concat())])
}

/// What a person says again in another conversation, in two wordings.
const REPEATS: &[&[&str]] = &[
    &["use pnpm here, not npm", "Please use pnpm here and not npm", "again: use pnpm here, not npm!"],
    &[
        "the tests need the docker database on port 5433",
        "the tests need the docker database, on port 5433",
        "Tests need the docker database on port 5433.",
    ],
    &["never import from the generated folder directly", "please never import directly from the generated folder"],
    &["comments in this project are in English, always", "Comments in this project are always in English"],
    &["the money type rounds half to even, keep it that way", "keep in line: the money type rounds half to even, keep it that way"],
    &["don't add a new crate for something this small", "do not add a new crate for something this small"],
    &["migrations go through Flyway, not through the ORM", "Migrations go through Flyway and not through the ORM, please"],
    &["wir schreiben Fehlermeldungen klein und ohne Punkt", "Wir schreiben Fehlermeldungen immer klein und ohne Punkt"],
    &["las fechas siempre van en UTC en la base de datos", "Las fechas van siempre en UTC en la base de datos"],
    &["les noms de colonnes restent en anglais partout", "les noms de colonnes restent en anglais, partout !"],
    &["сообщения коммитов пишем на английском языке", "Сообщения коммитов мы пишем на английском языке"],
    &["提交信息一律用英文书写不要用中文", "提交信息一律用英文书写，不要用中文"],
    &["コミットメッセージは必ず英語で書いてください", "コミットメッセージは、必ず英語で書いてください。"],
    &[
        "the linter runs with the strict profile in CI, run it the same way",
        "The linter runs with the strict profile in CI, so run it the same way",
    ],
    &["public functions of the sdk need a doc comment with an example", "Public functions in the sdk need a doc comment with an example"],
    &["only the release branch is deployed, so target that one", "Only the release branch is deployed so target that one."],
    &["I told you to use the shared logger, not print", "I already told you: use the shared logger, not print!"],
    &["Run the suite with make fast, not with cargo test.", "run the suite with make fast, not with cargo test please"],
    &["Prefer early returns over nested conditions.", "Please prefer early returns over nested conditions"],
    &["You must ask Dora before you change the ledger schema", "you must ask Dora before you change the ledger schemas!"],
    &["Benutze in diesem Projekt immer die Konstanten statt Zahlen", "Bitte benutze in diesem Projekt immer die Konstanten statt Zahlen."],
    &["No uses any en los tipos de la tienda", "no uses any en los tipos de la tienda, por favor"],
    &["Il faut toujours passer par le client partagé", "il faut toujours passer par le client partagé !"],
    &["Non usare mai numeri magici nei test", "non usare mai numeri magici nei test, per favore"],
    &["Не используй глобальные переменные в модулях", "Пожалуйста, не используй глобальные переменные в модулях"],
    &["이 프로젝트에서는 항상 pnpm을 사용해야 합니다", "이 프로젝트에서는 항상 pnpm을 사용해야 합니다!"],
];

fn repeat(i: usize, rng: &mut Rng) -> (String, Vec<ScriptEpisode>) {
    let wordings = REPEATS[i % REPEATS.len()];

    let evidence = evidence(wordings);
    let episode = |wording: &str, rng: &mut Rng| {
        let before = rng.pick(&["", "", "Nice. ", "That works now. "]);
        let steps = vec![ScriptStep::person(format!("{before}{wording}")), ScriptStep::assistant("I changed it accordingly.")];
        ScriptEpisode::new(steps)
    };
    let count = 2 + rng.below(2);
    let parts = (0..count).map(|n| episode(wordings[n % wordings.len()], rng)).collect();
    (evidence, parts)
}

/// Returns the longest run of characters that all wordings share: enough to recognize the sentence.
fn evidence(wordings: &[&str]) -> String {
    let lower: Vec<String> = wordings.iter().map(|wording| wording.to_lowercase()).collect();
    let chars: Vec<char> = lower[0].chars().collect();
    let mut best = String::new();
    for from in 0..chars.len() {
        for to in (from + best.chars().count() + 1)..=chars.len() {
            let part: String = chars[from..to].iter().collect();
            if !lower.iter().all(|wording| wording.contains(&part)) {
                break;
            }
            best = part;
        }
    }
    best
}

/// A command that fails, how, and the one that works instead.
const SCARS: &[(&str, i64, &str, &str)] = &[
    ("pytest {}", 4, "ERROR: DATABASE_URL is not set", "uv run pytest {}"),
    ("cargo test {}", 101, "error: feature `testing` is required", "cargo test --features testing {}"),
    ("npm test", 1, "npm error Missing script: \"test\"", "npm run test:unit"),
    ("python manage.py migrate", 1, "ModuleNotFoundError: No module named 'django'", "poetry run python manage.py migrate"),
    ("go test ./...", 1, "pattern ./...: directory prefix . does not contain main module", "go test -C services ./..."),
    ("docker-compose up db", 1, "no configuration file provided: not found", "docker-compose -f deploy/compose.yml up db"),
    ("make test", 2, "make: *** No rule to make target 'test'.  Stop.", "make -C services test"),
    ("terraform plan", 1, "Error: No value for required variable", "terraform plan -var-file=staging.tfvars"),
    ("bundle exec rspec {}", 1, "cannot load such file -- spec_helper", "RAILS_ENV=test bundle exec rspec {}"),
    ("gh pr create --fill", 1, "could not determine the base repository", "gh pr create --fill --repo kilo/shop"),
    ("psql shop", 2, "connection to server on socket failed", "psql -h localhost -p 5433 shop"),
    ("git pull", 128, "fatal: Need to specify how to reconcile divergent branches.", "git pull --rebase"),
    ("cargo run", 101, "error: `cargo run` could not determine which binary to run", "cargo run --bin shop"),
    ("python app.py", 1, "ModuleNotFoundError: No module named 'shop'", "PYTHONPATH=src python app.py"),
    ("alembic upgrade head", 255, "FAILED: No config file 'alembic.ini' found", "alembic -c db/alembic.ini upgrade head"),
    ("cargo test --nocapture", 1, "error: unexpected argument '--nocapture' found", "cargo test -- --nocapture"),
    (
        "grpcurl localhost:50051 list",
        1,
        "Failed to dial target host: tls: first record does not look like",
        "grpcurl -plaintext localhost:50051 list",
    ),
    ("docker build .", 1, "failed to read dockerfile: open Dockerfile: no such file", "docker build -f deploy/Dockerfile ."),
    ("ansible-playbook site.yml", 4, "provided hosts list is empty", "ansible-playbook -i inventory site.yml"),
    ("pnpm lint", 1, "None of the selected packages has a \"lint\" script", "pnpm -w lint"),
];

fn scar(i: usize, rng: &mut Rng) -> (String, Vec<ScriptEpisode>) {
    let (bad, status, error, good) = SCARS[i % SCARS.len()];
    let mut parts = Vec::new();
    for _ in 0..2 {
        let file = rng.pick(&["tests/cart.py", "checkout", "spec/total_spec.rb", "invoice"]);
        let mut steps =
            vec![ScriptStep::person(rng.pick(&["check that it still works", "does everything pass?", "verify the change please"]))];
        steps.push(ScriptStep::fails(&bad.replace("{}", file), status, error));
        if rng.below(2) == 0 {
            steps.push(ScriptStep::shell("ls", "Makefile\nsrc"));
        }
        steps.push(ScriptStep::shell(&good.replace("{}", file), "ok"));
        steps.push(ScriptStep::assistant("It passes now."));
        parts.push(ScriptEpisode::new(steps));
    }
    (good.replace(" {}", ""), parts)
}

const REVERTS: &[&str] = &[
    "no, put that back the way it was, the order of the fields matters",
    "undo that, the comment explained a real bug",
    "please revert this file, the limit is agreed with the supplier",
    "that is wrong, restore it: the timeout is long on purpose",
    "mach das rückgängig, die Reihenfolge ist Absicht",
    "deshaz eso, ese valor lo fija el cliente",
    "annule cette modification, ce fichier est partagé avec l'autre équipe",
    "верни как было, это значение задаёт поставщик",
    "元に戻して、この値は意図的です",
    "改回去，这个顺序是故意的",
    "revert it, I want the explicit loop there",
    "roll that back, we keep the old name for compatibility",
];

fn reverted(i: usize, rng: &mut Rng) -> (String, Vec<ScriptEpisode>) {
    let words = REVERTS[i % REVERTS.len()];
    let path = rng.pick(FILES);
    let number = rng.next() % 100_000;
    let (old, new) = (format!("timeout = {number}"), format!("timeout = {}", number + 7));
    let mut steps = vec![
        ScriptStep::person("tidy up the settings a little"),
        ScriptStep::edit(path, &old, &new),
        ScriptStep::assistant("I simplified it."),
    ];
    steps.push(ScriptStep::person(words));
    match rng.below(3) {
        0 => steps.push(ScriptStep::shell(&format!("git checkout -- {path}"), "")),
        1 => steps.push(ScriptStep::shell(&format!("git restore {path}"), "")),
        _ => steps.push(ScriptStep::edit(path, &new, &old)),
    }
    steps.push(ScriptStep::assistant("It is as it was."));
    (words.to_owned(), vec![ScriptEpisode::new(steps)])
}
