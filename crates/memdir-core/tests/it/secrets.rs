//! Secrets: every rule finds its token, no rule finds what only looks like one, and no value is ever returned.
//! Tokens are composed of parts, so that this file contains none.

mod corpus;

use memdir_core::{
    Allow,
    internal::secrets::{self, SecretFinding, SecretSeverity},
};
use std::{collections::BTreeSet, fs, path::Path};

const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const AGE: &str = "023456789ACDEFGHJKLMNPQRSTUVWXYZ";

/// A made-up random text, the same at every run.
fn random(alphabet: &str, length: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64 ^ length as u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        letters[(state >> 33) as usize % letters.len()]
    };
    (0..length).map(|_| next()).collect()
}

/// A made-up UUID.
fn uuid() -> String {
    format!("{}-{}-{}-{}-{}", random(HEX, 8), random(HEX, 4), random(HEX, 4), random(HEX, 4), random(HEX, 12))
}

/// Encodes a text in base64.
fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let encode = |three: &[u8]| {
        let bits = three.iter().chain(&[0, 0]).take(3).fold(0usize, |bits, byte| bits << 8 | usize::from(*byte));
        (0..4).map(|n| if n > three.len() { '=' } else { DIGITS[bits >> (18 - 6 * n) & 63] as char }).collect::<String>()
    };
    text.as_bytes().chunks(3).map(encode).collect()
}

/// One or more tokens for every rule: the text before the random part, the random part, the text after it.
fn tokens() -> Vec<(&'static str, String, String, String)> {
    let row = |rule, before: &str, part: String, after: &str| (rule, before.to_owned(), part, after.to_owned());
    let alnum = |length| random(ALNUM, length);
    let hex = |length| random(HEX, length);
    let dashes = "-".repeat(5);
    vec![
        row(
            "private-key",
            &format!("{dashes}BEGIN RSA PRIVATE KEY{dashes}\n"),
            alnum(64),
            &format!("\n{dashes}END RSA PRIVATE KEY{dashes}"),
        ),
        row("private-key", &format!("{dashes}BEGIN PRIVATE KEY{dashes}\\n"), alnum(64), ""),
        row("private-key", &format!("{dashes}BEGIN PGP PRIVATE KEY BLOCK{dashes}\nVersion: 1\n\n"), alnum(64), ""),
        row("putty-key", "Private-Lines: 14\n", alnum(64), ""),
        row("encoded-private-key", "client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt", alnum(64), ""),
        row("json-web-key", "{\"kty\":\"EC\",\"crv\":\"P-256\",\"d\":\"", alnum(43), "\"}"),
        row("wallet-key", "private_key=0x", hex(64), ""),
        row("age-key", "AGE-SECRET-KEY-1", random(AGE, 58), ""),
        row("jwt", &format!("eyJ{}.eyJ{}.", alnum(20), alnum(40)), alnum(43), ""),
        row("aws-access-key", "AKIA", random(UPPER, 16), ""),
        row("aws-access-key", "ASIA", random(UPPER, 16), ""),
        row("aws-access-key", "AKIA", random(&LETTERS[..26], 16), ""),
        row("aws-secret-key", "aws_secret_access_key = ", alnum(40), ""),
        row("aws-secret-key", "\"SecretAccessKey\": \"", alnum(40), "\""),
        row("aws-bedrock-key", "ABSK", alnum(128), ""),
        row("google-api-key", "AIza", alnum(35), ""),
        row("google-oauth", "GOCSPX-", alnum(28), ""),
        row("google-oauth", "ya29.", alnum(120), ""),
        row("google-oauth", "1//0", alnum(60), ""),
        row("azure-signature", "https://acme.blob.core.windows.net/x?sv=2024-11-04&sig=", alnum(43), "%3D"),
        row("azure-devops-token", "", alnum(76), "AZDOa1B2"),
        row("cloud-token", "nfp_", alnum(40), ""),
        row("azure-storage-key", "EndpointSuffix=core;AccountKey=", alnum(86), "=="),
        row("azure-client-secret", &format!("{}8Q~", alnum(3)), alnum(34), ""),
        row("alibaba-key", "LTAI", alnum(20), ""),
        row("digitalocean-token", "dop_v1_", hex(64), ""),
        row("cloudflare-key", &format!("v1.0-{}-", hex(24)), hex(146), ""),
        row("heroku-key", "HRKU-AA", alnum(58), ""),
        row("fly-token", "FlyV1 fm2_", alnum(120), ""),
        row("hashicorp-token", "hvs.", alnum(95), ""),
        row("hashicorp-token", &format!("{}.atlasv1.", alnum(14)), alnum(67), ""),
        row("databricks-token", "dapi", hex(32), ""),
        row("doppler-token", "dp.pt.", alnum(43), ""),
        row("pulumi-token", "pul-", hex(40), ""),
        row("planetscale-token", "pscale_tkn_", alnum(43), ""),
        row("supabase-key", "sbp_", hex(40), ""),
        row("supabase-key", "sb_secret_", alnum(31), ""),
        row("tailscale-key", "tskey-auth-", alnum(12), &format!("-{}", alnum(32))),
        row("onepassword-token", "ops_eyJ", alnum(300), ""),
        row("github-token", "ghp_", alnum(36), ""),
        row("github-token", "ghs_", alnum(36), ""),
        row("github-token", "ghp_", random(LETTERS, 36), ""),
        row("github-fine-grained-token", &format!("github_pat_{}_", alnum(22)), alnum(59), ""),
        row("gitlab-token", "glpat-", alnum(20), ""),
        row("atlassian-token", "ATATT3", alnum(186), ""),
        row("atlassian-token", "ATBB", alnum(32), ""),
        row("gitlab-token", "GR1348941", alnum(20), ""),
        row("ci-token", "sqp_", hex(40), ""),
        row("registry-token", "oy2", random(LOWER, 43), ""),
        row("npmrc-credentials", "//registry.npmjs.org/:_authToken=", alnum(36), ""),
        row("docker-auth", "{\"auths\":{\"r\":{\"auth\":\"", base64(&format!("ada:{}", alnum(20))), "\"}}}"),
        row("npm-token", "npm_", alnum(36), ""),
        row("pypi-token", "pypi-AgE", alnum(160), ""),
        row("rubygems-token", "rubygems_", hex(48), ""),
        row("crates-io-token", "cio", alnum(32), ""),
        row("docker-token", "dckr_pat_", alnum(27), ""),
        row("anthropic-key", "sk-ant-api03-", alnum(95), ""),
        row("openai-key", "sk-proj-", alnum(120), ""),
        row("openai-key", "sk-", alnum(20), &format!("T3BlbkFJ{}", alnum(20))),
        row("openrouter-key", "sk-or-v1-", hex(64), ""),
        row("model-key", "sk-", hex(32), ""),
        row("model-key", "sk-", alnum(48), ""),
        row("model-service-key", "nvapi-", alnum(64), ""),
        row("groq-key", "gsk_", alnum(52), ""),
        row("xai-key", "xai-", alnum(80), ""),
        row("perplexity-key", "pplx-", alnum(48), ""),
        row("replicate-token", "r8_", alnum(37), ""),
        row("huggingface-token", "hf_", alnum(34), ""),
        row("huggingface-token", "hf_", random(LETTERS, 34), ""),
        row("slack-token", "xoxb-2049182040-", alnum(36), ""),
        row("slack-token", "xapp-1-A02BC3DE4-2049182040-", hex(64), ""),
        row("slack-token", "xapp-1-A02BC3DE4F5-2049182040601-", alnum(64), ""),
        row("slack-token", "xapp-1-A02BC3DE4F5-", alnum(40), ""),
        row("slack-webhook", "https://hooks.slack.com/services/T02BC3DE4/B05FG6HI7/", alnum(24), ""),
        row("discord-webhook", "https://discord.com/api/webhooks/204918204060817035/", alnum(68), ""),
        row(
            "teams-webhook",
            &format!("https://acme.webhook.office.com/webhookb2/{}/IncomingWebhook/", hex(73)),
            hex(32),
            &format!("/{}", hex(36)),
        ),
        row("discord-token", "MTA0OTE4MjA0MDYwODE3MDM1.GxYz12.", alnum(38), ""),
        row("chat-token", "syt_YWRh_", alnum(20), "_1a2B3c"),
        row("telegram-token", "204918204:AA", alnum(33), ""),
        row("twilio-key", "SK", hex(32), ""),
        row("sendgrid-key", &format!("SG.{}.", alnum(22)), alnum(43), ""),
        row("mail-key", "key-", hex(32), ""),
        row("mail-key", "", hex(32), "-us12"),
        row("stripe-key", "sk_live_", alnum(24), ""),
        row("stripe-key", "rk_test_", alnum(99), ""),
        row("stripe-key", "whsec_", alnum(32), ""),
        row("payment-key", "access-production-", uuid(), ""),
        row("square-token", "sq0atp-", alnum(22), ""),
        row("shopify-token", "shpat_", hex(32), ""),
        row("grafana-token", "glsa_", alnum(32), &format!("_{}", hex(8))),
        row("newrelic-key", "NRAK-", random(UPPER, 27), ""),
        row("sentry-token", "sntryu_", hex(64), ""),
        row("dynatrace-token", &format!("dt0c01.{}.", random(UPPER, 24)), random(UPPER, 64), ""),
        row("linear-key", "lin_api_", alnum(40), ""),
        row("notion-token", "ntn_", alnum(46), ""),
        row("workspace-token", "figd_", alnum(40), ""),
        row("workspace-token", &format!("pat{}.", alnum(14)), hex(64), ""),
        row("workspace-token", &format!("PMAK-{}-", hex(24)), hex(34), ""),
        row("business-token", "pat-na1-", uuid(), ""),
        row("telemetry-token", "phx_", alnum(43), ""),
        row("mapbox-token", &format!("sk.eyJ{}.", alnum(60)), alnum(22), ""),
        row("memdir-token", "mdt_", hex(64), ""),
        row("url-password", "postgres://ada:", alnum(12), "@db.internal:5432/shop"),
        row("url-password", "mongodb+srv://ada:", alnum(9), "@cluster0.mongodb.net/"),
        row("url-password", "https://ada:", alnum(20), "@git.internal/repo.git"),
        row("url-password", "redis://:", alnum(20), "@cache.internal:6379"),
        row("dsn-password", "Server=db.internal;Database=shop;User Id=ada;Password=", alnum(12), ";"),
        row("keyword-password", "host=db.internal user=ada password=", alnum(12), " dbname=shop"),
        row("keyword-password", "psql 'password=", alnum(9), " host=db.internal port=5432'"),
        row("query-password", "jdbc:postgresql://db.internal/shop?user=ada&password=", alnum(12), "&ssl=true"),
        row("query-password", "jdbc:sqlserver://db.internal:1433;databaseName=shop;user=ada;password=", alnum(12), ";"),
        row("query-password", "postgresql://db.internal/shop?password=", alnum(9), ""),
        row("netrc-password", "machine api.internal login ada password ", alnum(14), ""),
        row("pgpass-password", "db.internal:5432:shop:ada:", alnum(12), ""),
        row("curl-password", "curl -s -u ada:", alnum(14), " https://api.internal/x"),
        row("command-password", "mysql -u root -p", alnum(16), " shop"),
        row("command-password", "mysqldump --single-transaction -p'", alnum(16), "' shop"),
        row("command-password", "sshpass -p ", alnum(16), " ssh ada@web.internal"),
        row("kubeconfig-certificate", "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0t", alnum(64), ""),
        row("authorization-header", "Authorization: Bearer ", alnum(40), ""),
        row("assigned-secret", "API_KEY=", alnum(32), ""),
        row("assigned-secret", "SECRET_KEY=", alnum(40), ""),
        row("assigned-secret", "client_secret: \"", alnum(40), "\""),
        row("assigned-secret", "DB_PASSWORD = '", alnum(14), "'"),
    ]
}

fn names(findings: &[SecretFinding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn every_rule_finds_its_token_and_nothing_else_does() {
    let mut seen = BTreeSet::new();
    for (rule, before, part, after) in tokens() {
        let text = format!("# Deploy\n\nThe key is {before}{part}{after} since May.\n");
        let findings = secrets::scan(&text);
        assert_eq!(names(&findings), [rule], "{text}");
        let finding = &findings[0];
        assert_eq!(finding.line, 3, "{rule}");
        assert!(text[finding.span.clone()].contains(&part), "{rule}: the span leaves a part of the value outside");
        seen.insert(rule);
    }
    let all: BTreeSet<_> = secrets::rules().map(|(name, ..)| name).collect();
    assert_eq!(seen, all, "every rule has a token here");
}

#[test]
fn named_shapes_refuse_and_suspicions_warn() {
    let warns: Vec<_> = secrets::rules().filter(|(_, severity, _)| *severity == SecretSeverity::Warn).map(|(name, ..)| name).collect();
    assert_eq!(warns, ["kubeconfig-certificate", "authorization-header", "assigned-secret"]);
}

/// A token whose random part is a placeholder, too short or cut off is not found, for every rule.
#[test]
fn no_rule_reports_a_placeholder_as_a_token() {
    for (rule, before, part, after) in tokens() {
        let length = part.len();
        let short: String = part.chars().take(3).collect();
        let stand_ins = [
            "x".repeat(length),
            "X".repeat(length),
            "0".repeat(length),
            "*".repeat(length),
            "...".to_owned(),
            "…".to_owned(),
            format!("{short}..."),
            format!("{short}…"),
            format!("<{rule}>"),
            "${SECRET}".to_owned(),
            "{{ secret }}".to_owned(),
            "YOUR_TOKEN_HERE".to_owned(),
            String::new(),
        ];
        for stand_in in stand_ins {
            let text = format!("Put {before}{stand_in}{after} there.\n");
            assert_eq!(names(&secrets::scan(&text)), Vec::<&str>::new(), "{rule}: {text}");
        }
    }
}

#[test]
fn near_misses_are_not_reported() {
    let hex = |length| random(HEX, length);
    let alnum = |length| random(ALNUM, length);
    let dashes = "-".repeat(5);
    let quiet = [
        format!("commit {} and blob {}", hex(40), hex(64)),
        format!("api_key_hash: {}", hex(64)),
        format!("token = {}-{}-{}-{}-{}", hex(8), hex(4), hex(4), hex(4), hex(12)),
        format!("\"integrity\": \"sha512-{}==\"", alnum(86)),
        format!("\"key\": \"sha256-{}=\"", alnum(43)),
        format!("AKIA{} is the id the manuals print", "IOSFODNN7EXAMPLE"),
        format!("aws_secret_access_key = {}{}", "wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY"),
        format!("the file begins with {dashes}BEGIN RSA PRIVATE KEY{dashes} and must stay out of git"),
        format!("{dashes}BEGIN PUBLIC KEY{dashes}\n{}\n{dashes}END PUBLIC KEY{dashes}", alnum(64)),
        format!("{dashes}BEGIN CERTIFICATE{dashes}\n{}\n{dashes}END CERTIFICATE{dashes}", alnum(64)),
        "postgres://user:password@localhost/shop".to_owned(),
        "postgres://postgres:postgres@db:5432/shop".to_owned(),
        "postgres://${USER}:${PASSWORD}@db.internal/shop".to_owned(),
        "https://user:<token>@git.internal/x".to_owned(),
        "see https://docs.rs/regex/1.0:2 and mail ada@example.com".to_owned(),
        "ssh://git@git.internal:2222/repo.git".to_owned(),
        "password: the one in the vault, never here".to_owned(),
        "PASSWORD=changeme".to_owned(),
        "token: process.env.GITHUB_TOKEN".to_owned(),
        "const token = getSessionTokenFromStorage();".to_owned(),
        "secretKey: config.authentication.secretKey".to_owned(),
        "api_key: str | None = os.environ.get('API_KEY')".to_owned(),
        "primary key: user_account_id_2024_v2".to_owned(),
        "monkey = /usr/local/share/Something1".to_owned(),
        "TOKEN=$(gh auth token)".to_owned(),
        "Authorization: Bearer $TOKEN".to_owned(),
        "Authorization: Bearer <access-token-of-the-user>".to_owned(),
        "the prefix ghp_ marks a personal token, sk-ant- an Anthropic one, xoxb- a bot".to_owned(),
        "risk-averse task-force disk-usage sk-learn npm_config_registry hf_hub_download re_compile_pattern".to_owned(),
        "max_tokens: 4096, tokenizer: cl100k_base, secret_santa: true".to_owned(),
        "model key: claude-sonnet-4-5-20250929".to_owned(),
        format!("eyJ{} is the head of a JWT", "hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"),
        "Path=/usr/bin;Pwd=/home".to_owned(),
        "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 and glpat-tokens-are-rotated-every-quarter-by-Ada".to_owned(),
        "xoxb-Token-goes-here-in-the-settings, npm_configuseragentwithoutanythingelse".to_owned(),
        "host=db user=ada password=ada dbname=shop, or password=${PGPASSWORD} host=db".to_owned(),
        "jdbc:postgresql://db/shop?user=ada&password=changeme".to_owned(),
        "call connect(host=h, user=u, password=os.environ['PW'])".to_owned(),
        "user=deploy host=web password=ask-ops".to_owned(),
        "host=web-1 user=ci; password=disabled for user login".to_owned(),
        "Server=db;User Id=ci;Password=In_Vault, ask.".to_owned(),
        "xapp-1-tokens are for sockets, xapp-1-A02BC3DE4F5-goes-here-in-the-settings".to_owned(),
        "2024:AAAA and 12:AA".to_owned(),
    ];
    for text in quiet {
        assert_eq!(names(&secrets::scan(&text)), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn a_password_for_this_machine_only_warns() {
    let text = format!("DATABASE_URL=postgres://ada:{}@localhost:5432/shop", random(ALNUM, 12));
    let findings = secrets::scan(&text);
    assert_eq!(
        findings.iter().map(|finding| (finding.rule, finding.severity)).collect::<Vec<_>>(),
        [("url-password", SecretSeverity::Warn)]
    );
    let text = format!("host=localhost user=ada password={} dbname=shop", random(ALNUM, 12));
    assert_eq!(secrets::scan(&text)[0].severity, SecretSeverity::Warn);
}

#[test]
fn a_password_of_letters_that_are_not_words_is_still_refused() {
    for text in ["host=web user=ci password=xkqzvbnm", "host=web user=ci password=aQeRaTyo", "Server=db;User Id=ci;Password=hunter2;"] {
        assert_eq!(secrets::scan(text).iter().map(|finding| finding.severity).collect::<Vec<_>>(), [SecretSeverity::Refuse], "{text}");
    }
}

#[test]
fn only_text_that_a_change_adds_is_scanned() {
    let (first, second) = (format!("ghp_{}", random(ALNUM, 36)), format!("npm_{}", random(ALNUM, 36)));
    let old = format!("one\n{first}\nlast\n");
    assert_eq!(secrets::added(&old, &format!("moved\nand\n{first}\n")), []);
    assert_eq!(secrets::added(&old, "gone\n"), []);
    let findings = secrets::added(&old, &format!("one\n{first}\nlast\n{second}\n"));
    assert_eq!(findings.iter().map(|finding| (finding.rule, finding.line)).collect::<Vec<_>>(), [("npm-token", 4)]);
    let (head, tail) = first.split_at(20);
    assert_eq!(names(&secrets::added(&format!("{head}\n{tail}\n"), &old)), ["github-token"], "joining two halves adds the token");
}

#[test]
fn redaction_hides_every_refused_value_and_keeps_the_lines() {
    for (rule, before, part, after) in tokens() {
        let text = format!("a\nkey {before}{part}{after} end\nb é\n");
        let redacted = secrets::redact(&text);
        let refused = secrets::scan(&text).iter().any(|finding| finding.severity == SecretSeverity::Refuse);
        assert_eq!(refused, redacted.contains(&format!("[secret: {rule}]")), "{redacted}");
        assert_eq!(refused, !redacted.contains(&part), "{redacted}");
        assert_eq!(text.lines().count(), redacted.lines().count(), "{redacted}");
        assert!(redacted.starts_with("a\nkey ") && redacted.ends_with("\nb é\n"), "{redacted}");
        assert_eq!(secrets::redact(&redacted), redacted, "redacting twice changes nothing");
    }
    let plain = "nothing secret here";
    assert!(matches!(secrets::redact(plain), std::borrow::Cow::Borrowed(same) if same == plain));
}

#[test]
fn a_person_may_allow_a_rule_or_a_value() {
    let text = format!("ghp_{} and npm_{}", random(ALNUM, 36), random(ALNUM, 36));
    let by_rule = Allow::new(&["github-token".into()], &[]).unwrap();
    assert_eq!(names(&by_rule.filter(&text, secrets::scan(&text))), ["npm-token"]);
    let by_value = Allow::new(&[], &["^npm_".into()]).unwrap();
    assert_eq!(names(&by_value.filter(&text, secrets::scan(&text))), ["github-token"]);
    assert_eq!(Allow::new(&["gihub-token".into()], &[]).unwrap_err(), "unknown secret rule \"gihub-token\"");
    assert!(Allow::new(&[], &["(".into()]).is_err());
}

#[test]
fn several_secrets_on_one_line_and_across_lines_are_separate_findings() {
    let text = format!("ghp_{a}, ghp_{b}\n\nSK\nnpm_{a}\r\n", a = random(ALNUM, 36), b = random(ALNUM, 37));
    let found: Vec<_> = secrets::scan(&text).iter().map(|finding| (finding.rule, finding.line)).collect();
    assert_eq!(found, [("github-token", 1), ("github-token", 1), ("npm-token", 4)]);
}

/// Real memories of real projects. A refusal here is either a true secret, listed with its reason, or a bug.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn no_real_memory_is_refused() {
    const LISTED: &[(&str, &str, &str)] = &[];
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/memory-files");
    let Ok(projects) = fs::read_dir(&corpus) else {
        eprintln!("skipped: no corpus beside the workspace");
        return;
    };
    let files = projects.flatten().filter_map(|project| fs::read_dir(project.path()).ok()).flatten().flatten();
    let mut refused = Vec::new();
    for file in files {
        let text = String::from_utf8_lossy(&fs::read(file.path()).unwrap()).into_owned();
        let name = file.file_name().to_string_lossy().into_owned();
        for finding in secrets::scan(&text) {
            let listed = LISTED.iter().any(|(listed, rule, _)| *listed == name && *rule == finding.rule);
            if !listed {
                refused.push((name.clone(), finding.rule, finding.line, finding.severity));
            }
        }
    }
    assert_eq!(refused, [], "the corpus holds neither refusals nor warnings");
}

mod properties {
    use super::{random, secrets};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn spans_are_in_order_within_the_text_and_lines_true(text in "(?s).{0,200}", at in 0usize..200) {
            let token = format!(" ghp_{} ", random(super::ALNUM, 36));
            let at = text.char_indices().map(|(index, _)| index).nth(at).unwrap_or(text.len());
            let text = format!("{}{token}{}", &text[..at], &text[at..]);
            let findings = secrets::scan(&text);
            prop_assert!(findings.iter().any(|finding| finding.rule == "github-token"));
            let mut end = 0;
            for finding in &findings {
                prop_assert!(finding.span.start >= end && text.is_char_boundary(finding.span.start) && text.is_char_boundary(finding.span.end));
                prop_assert_eq!(finding.line as usize, 1 + text[..finding.span.start].matches('\n').count());
                end = finding.span.end;
            }
        }
    }
}

mod verbs {
    use super::{ALNUM, Allow, random};
    use crate::operations::{Home, path};
    use memdir_core::{Delete, Edit, Error, Needle, UndoTarget, Write, WriteMode};
    use std::fs;

    fn token() -> String {
        format!("ghp_{}", random(ALNUM, 36))
    }

    fn secret(error: &Error) -> (String, u64) {
        match error {
            Error::Secret { rule, line } => (rule.clone(), *line),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_change_that_adds_a_secret_is_refused_without_its_value() {
        let home = Home::new();
        let memdir = home.open();
        let refused = memdir.write(&Write::create(path("a"), format!("one\n{}\n", token()))).unwrap_err();
        assert_eq!(secret(&refused), ("github-token".into(), 2));
        assert!(!format!("{refused} {refused:?} {}", refused.hint()).contains(&token()), "the value is never echoed");
        assert_eq!(home.file("a.md"), "(No such file or directory (os error 2))");
        memdir.write(&Write::create(path("a"), "one\n")).unwrap();
        let append = memdir.write(&Write::create(path("a"), token()).mode(WriteMode::Append)).unwrap_err();
        assert_eq!(secret(&append), ("github-token".into(), 2));
        let edit =
            Edit { path: path("a"), needle: Needle::Literal("one".into()), with: token(), all: false, expect: None, final_newline: true };
        assert_eq!(secret(&memdir.edit(&edit).unwrap_err()), ("github-token".into(), 1));
        let described = Write { description: Some(token()), ..Write::create(path("b"), "x") };
        assert_eq!(secret(&memdir.write(&described).unwrap_err()).0, "github-token");
        assert_eq!(secret(&memdir.log("", &token()).unwrap_err()).0, "github-token");
        assert_eq!(home.file("a.md"), "one\n");
    }

    #[test]
    fn a_secret_is_not_accepted_as_a_name() {
        let home = Home::new();
        let memdir = home.open();
        let refused = memdir.write(&Write::create(path(&format!("notes/{}", token())), "x\n")).unwrap_err();
        assert_eq!(refused.to_string(), "name: it looks like a secret (github-token); use another name");
        assert!(!format!("{refused:?} {}", refused.hint()).contains(&token()));
        assert!(!home.dir.path().join("memory/notes").exists(), "nothing was made");
        let allowing = memdir.with_allow_list(Allow::new(&["github-token".into()], &[]).unwrap());
        allowing.write(&Write::create(path(&token()), "x\n")).unwrap();
        memdir.write(&Write::create(path(&token()), "y\n").mode(WriteMode::Replace)).unwrap();
    }

    #[test]
    fn an_existing_secret_does_not_block_a_change() {
        let home = Home::new();
        let memdir = home.open();
        memdir.write(&Write::create(path("first"), "x\n")).unwrap();
        fs::write(home.dir.path().join("memory/old.md"), format!("key {}\n", token())).unwrap();
        memdir.write(&Write::create(path("old"), "more\n").mode(WriteMode::Append)).unwrap();
        memdir.rename(&path("old"), &path("moved")).unwrap();
        memdir.delete(&Delete { path: path("moved"), expect: None }).unwrap();
        memdir.undo(&UndoTarget::Mine).unwrap();
        assert_eq!(home.file("moved.md"), format!("key {}\nmore\n", token()));
    }

    #[test]
    fn a_suspected_secret_is_reported_and_may_be_allowed() {
        let home = Home::new();
        let memdir = home.open();
        let saved = memdir.write(&Write::create(path("a"), format!("API_KEY={}\n", random(ALNUM, 32)))).unwrap();
        assert_eq!(
            saved.notes,
            ["line 1 may contain a secret (assigned-secret); if so, replace the secret with a note of where it is stored"]
        );
        let allowing = memdir.with_allow_list(Allow::new(&["github-token".into()], &[]).unwrap());
        allowing.write(&Write::create(path("b"), token())).unwrap();
        assert!(memdir.write(&Write::create(path("c"), token())).is_err(), "the other caller is not allowed");
    }
}

mod shown {
    use super::{ALNUM, random};
    use crate::{operations::path, support};
    use memdir_core::{
        LineRange, Read, Recall, RecallBudget, Search,
        internal::recall::{self, RecallCandidate},
    };
    use serde_json::json;

    fn token() -> String {
        format!("ghp_{}", random(ALNUM, 36))
    }

    /// A memory that another program wrote with a secret in its title, description, heading and text.
    fn memory() -> String {
        let token = token();
        format!(
            "---\nname: Deploy {token}\ndescription: use {token} to deploy\npinned: true\n---\n\n# Token {token}\n\nThe deploy token is {token}.\n"
        )
    }

    #[test]
    fn injected_text_is_redacted() {
        let desk = support::native();
        desk.put("deploy.md", &memory());
        let memdir = &desk.caller.memdir;
        let hit = memdir.search(&Search::new("deploy token")).unwrap().hits.remove(0);
        let recalled = memdir.recall(&Recall { message: Some("deploy token"), ..Recall::default() }).unwrap();
        memdir.repair(true).unwrap();
        let entrypoint = desk.file("MEMORY.md").unwrap();
        assert!(hit.masked && entrypoint.contains("(deploy.md)"), "{entrypoint}");
        for text in [hit.text, hit.headings.join(" > "), recalled.text, entrypoint] {
            assert!(text.contains("secret: github-token") && !text.contains(&token()), "{text}");
        }
    }

    #[test]
    fn the_notes_around_a_recalled_memory_are_redacted() {
        let candidate = RecallCandidate {
            name: "deploy",
            text: "text".into(),
            why: Some(format!("the command matches \"{}\"", token())),
            gone: vec![format!("src/{}", token())],
            missing: vec![format!("{}, which does not occur in any tracked file", token())],
            ..RecallCandidate::default()
        };
        let recalled = recall::fit(&[candidate], RecallBudget::default());
        assert_eq!(recalled.text.matches("[secret: github-token]").count(), 3, "{}", recalled.text);
        assert!(!recalled.text.contains(&token()), "{}", recalled.text);
    }

    #[test]
    fn what_may_be_written_back_stays_byte_for_byte() {
        let desk = support::native();
        desk.put("deploy.md", &memory());
        let memdir = &desk.caller.memdir;
        assert_eq!(memdir.read(&Read::all(path("deploy"))).unwrap().content, memory());
        let lines = Some(LineRange { first: 7, last: Some(9) });
        let part = memdir.read(&Read { lines, ..Read::all(path("deploy")) }).unwrap().content;
        assert_eq!(part, format!("# Token {0}\n\nThe deploy token is {0}.\n", token()));
        for (tool, arguments) in [("memory_read", json!({ "name": "deploy" })), ("memory_get", json!({ "path": "deploy.md" }))] {
            let text = desk.text(tool, arguments);
            assert!(text.contains(&token()) && !text.contains("[secret:"), "{tool}: {text}");
        }
    }
}

/// What is kept without a review has no password of a command, even one that is a word.
#[test]
fn passwords_of_commands_are_redacted_strictly() {
    for (command, expected) in [
        ("mysql -u root -phunter shop", "mysql -u root -p[secret: command-password] shop"),
        ("mysqldump -p'two words' shop", "mysqldump -p'[secret: command-password]' shop"),
        ("sshpass -p hunter ssh web", "sshpass -p [secret: command-password] ssh web"),
        ("unzip -o -P hunter a.zip -d out", "unzip -o -P [secret: command-password] a.zip -d out"),
        ("7z x -phunter a.7z", "7z x -p[secret: command-password] a.7z"),
        ("openssl enc -aes-256-cbc -k hunter -in a", "openssl enc -aes-256-cbc -k [secret: command-password] -in a"),
        ("smbclient -U ada%hunter //files/x", "smbclient -U ada%[secret: command-password] //files/x"),
        ("echo hunter | sudo -S apt update", "echo [secret: command-password] | sudo -S apt update"),
        ("PGPASSWORD=hunter psql -h db", "PGPASSWORD=[secret: command-password] psql -h db"),
        ("MYSQL_PWD=\"hunter\" mysql", "MYSQL_PWD=\"[secret: command-password]\" mysql"),
        ("curl -s -u ada:hunter https://api.internal", "curl -s -u ada:[secret: command-password] https://api.internal"),
        ("http --auth ada:hunter api.internal", "http --auth ada:[secret: command-password] api.internal"),
        ("tool --db-password=hunter run", "tool --db-password=[secret: command-password] run"),
        ("docker login -u ada -p hunter hub", "docker login -u ada -p [secret: command-password] hub"),
        ("redis-cli -h cache -a hunter ping", "redis-cli -h cache -a [secret: command-password] ping"),
        ("mongosh -u ada -p hunter shop", "mongosh -u ada -p [secret: command-password] shop"),
        ("sqlcmd -S db -U ada -P hunter", "sqlcmd -S db -U ada -P [secret: command-password]"),
        ("openssl rsa -passin pass:hunter -in k", "openssl rsa -passin pass:[secret: command-password] -in k"),
        ("mysql -pa shop && mysql -pb shop", "mysql -p[secret: command-password] shop && mysql -p[secret: command-password] shop"),
    ] {
        assert_eq!(secrets::redact_strict(command), expected);
        assert_eq!(secrets::redact_strict(expected), expected, "redacting twice changes nothing");
    }
    for harmless in [
        "mysql -u root -p shop; mkdir -pv x",
        "mysqldump -p$MYSQL_PASSWORD shop; sshpass -p \"$PASS\" ssh web",
        "PGPASSWORD=$(vault read x) psql",
        "curl -u ada https://api.internal:8080/x; curl -u ada:$TOKEN https://x",
        "docker run -p 8080:80 web",
        "tool --password=${DB_PASSWORD} --passwords",
        "PWD=/home/ada OLDPWD=/tmp make",
    ] {
        assert_eq!(secrets::redact_strict(harmless), harmless);
    }
}
