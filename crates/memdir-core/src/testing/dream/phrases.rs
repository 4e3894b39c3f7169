//! The vocabulary of the generated store: what teams write down about services, tools, people and decisions.

/// Services. Memories about two of them share their wording and none of their facts.
pub(super) const SERVICES: &[&str] = &[
    "billing", "search", "ledger", "gateway", "mailer", "importer", "scheduler", "catalog", "checkout", "inventory", "payments",
    "notifier", "uploader", "reporting", "sessions", "profiles", "webhooks", "exporter", "archiver", "analytics",
];
pub(super) const PEOPLE: &[&str] = &["Ada", "Grace", "Linus", "Barbara", "Edsger", "Radia", "Ken", "Margaret", "Dennis", "Frances"];
pub(super) const TOOLS: &[&str] =
    &["Postgres", "Redis", "Kafka", "RabbitMQ", "Elasticsearch", "MinIO", "Vault", "Consul", "Nginx", "Caddy"];
pub(super) const ENVIRONMENTS: &[&str] = &["staging", "production"];

/// What is known about a service in one aspect. `{s}` is the service; `{n}`, `{p}`, `{t}` and `{f}` are a number, a person, a tool and a
/// file of the project. The first sentence has the fact that a contradiction changes.
pub(super) struct Aspect {
    pub(super) slug: &'static str,
    pub(super) title: &'static str,
    pub(super) sentences: &'static [&'static str],
    /// The first sentence of a later memory that contradicts the first sentence here.
    pub(super) contradiction: &'static str,
}

pub(super) const ASPECTS: &[Aspect] = &[
    Aspect {
        slug: "port",
        title: "Port of the {s} service",
        sentences: &[
            "The {s} service listens on port {n}.",
            "The load balancer forwards to it without TLS, because certificates end at the edge.",
            "Health checks use the same port under /healthz.",
        ],
        contradiction: "The {s} service listens on port {n}.",
    },
    Aspect {
        slug: "owner",
        title: "Who owns {s}",
        sentences: &[
            "The owner of {s} is {p}.",
            "Questions about its backlog go to the owner first, then to the channel #team-{s}.",
            "Reviews of its schema need a second person from the platform group.",
        ],
        contradiction: "The owner of {s} is {p}.",
    },
    Aspect {
        slug: "store",
        title: "Where {s} keeps its data",
        sentences: &[
            "The {s} database is {t}.",
            "Backups are taken every night and kept for {n} days.",
            "Restores were rehearsed with the whole team and took about an hour.",
        ],
        contradiction: "The {s} database is {t}.",
    },
    Aspect {
        slug: "deploy",
        title: "Deploying {s}",
        sentences: &[
            "Always run the {s} smoke tests before a deploy.",
            "The pipeline stops if the queue has more than {n} messages.",
            "Rolling back means re-running the previous tag, nothing else.",
        ],
        contradiction: "Never run the {s} smoke tests before a deploy.",
    },
    Aspect {
        slug: "timeout",
        title: "Timeouts of {s}",
        sentences: &[
            "The request timeout of {s} is {n} seconds.",
            "Clients retry twice with jitter and then give up.",
            "Longer timeouts hid a deadlock for weeks, so raise it only with a reason in the pull request.",
        ],
        contradiction: "The request timeout of {s} is {n} seconds.",
    },
    Aspect {
        slug: "config",
        title: "Configuration of {s}",
        sentences: &[
            "The settings of {s} are in `config/{s}-{n}.toml`.",
            "Secrets are not in it; the vault agent injects them at start.",
            "A changed key needs a restart, because nothing watches the file.",
        ],
        contradiction: "The settings of {s} are in `config/{s}-{n}.toml`.",
    },
    Aspect {
        slug: "style",
        title: "Code style in {s}",
        sentences: &[
            "In the {s} code we use tabs for indentation.",
            "The formatter runs in a commit hook, so style is never discussed in reviews.",
            "Generated code under gen/ is exempt.",
        ],
        contradiction: "In the {s} code we do not use tabs for indentation.",
    },
    Aspect {
        slug: "limits",
        title: "Rate limits of {s}",
        sentences: &[
            "The {s} rate limit is {n} requests per minute.",
            "Partners with a contract get a separate pool with its own counters.",
            "Rejected calls answer 429 with a Retry-After header.",
        ],
        contradiction: "The {s} rate limit is {n} requests per minute.",
    },
];

/// Facts of their own, each used once: memories on similar topics with different facts.
pub(super) const SINGLES: &[(&str, &str)] = &[
    ("answers", "Ada prefers short answers without emoji; she reads on a phone during her commute."),
    ("emails", "Grace wants long e-mails with every number, because she forwards them to the auditors."),
    ("friday", "No releases after Thursday noon: the on-call person is alone at the weekend."),
    ("rust-edition", "The compiler is pinned in rust-toolchain.toml; bump it in a pull request of its own."),
    ("node-version", "Node is pinned by .nvmrc and the container image; both must change together."),
    ("flaky", "The browser tests are flaky on macOS runners because of the font cache."),
    ("windows-tests", "On Windows the tests need long paths enabled, otherwise the checkout fails."),
    ("review", "Reviews wait for two approvals when a migration is part of the change."),
    ("naming", "Branches begin with the ticket number; the changelog is generated from them."),
    ("incidents", "Incident reports are blameless, written within two days, and linked from the runbook."),
];

/// Words and their replacements in a text that says the same again.
pub(super) const SYNONYMS: &[(&str, &str)] = &[
    (" because ", " since "),
    ("Always ", "Be sure to always "),
    (" before ", " ahead of "),
    (" nothing else", " and nothing more"),
    (" twice ", " two times "),
    (" whole ", " entire "),
    ("Backups are taken every night", "Backups run each night"),
    (" needs ", " requires "),
    (" needs a", " requires a"),
    (" use ", " use "),
    (" is never discussed", " never comes up"),
    ("Longer timeouts hid", "A longer timeout hid"),
    ("Rejected calls answer", "Calls that are rejected answer"),
];
