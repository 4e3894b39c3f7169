//! Recognises what looks like a secret but is not: placeholders, digests, identifiers, names of variables.

use super::SecretSeverity;
use crate::base::text::truncate_bytes;
use regex::Captures;

/// The Shannon entropy in bits per character: near 4 for hex digits, near 5 for a random token.
pub(super) fn entropy(value: &str) -> f32 {
    let mut counts = [0u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let total = value.len().max(1) as f32;
    let bits = |count: u32| {
        let share = count as f32 / total;
        -share * share.log2()
    };
    counts.iter().filter(|&&count| count > 0).map(|&count| bits(count)).sum()
}

/// The beginning of a value that is examined for the words of a placeholder.
const PLACEHOLDER_BYTES: usize = 256;

/// Whether the value declares itself to be a placeholder.
pub(super) fn is_placeholder(value: &str) -> bool {
    const MARKERS: &[&str] = &[
        "example", "placeholder", "your", "redacted", "changeme", "change-me", "change_me", "dummy", "xxxx", "****", "...", "…", "insert",
        "<", "${", "{{", "$(", "12345678", "01234567", "abcdefgh", "deadbeef", "9876543",
    ];
    /// The signature of the sample token in explanations of JWT.
    const JWT_SAMPLE: &str = "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV";
    // The words are at the beginning; further on, a long random text has each of them by chance.
    let lower = truncate_bytes(value, PLACEHOLDER_BYTES).to_ascii_lowercase();
    MARKERS.iter().any(|word| lower.contains(word)) || value.contains(JWT_SAMPLE) || has_run(value, 7)
}

/// Whether one character is repeated `length` times in a row, which happens in examples but not in random tokens.
fn has_run(value: &str, length: usize) -> bool {
    value.as_bytes().windows(length).any(|run| run.iter().all(|byte| *byte == run[0]))
}

/// A password in a URL. A placeholder or the user's own name is not a secret; one for the local machine only warns.
pub(super) fn url_password(captures: &Captures<'_>, value: &str) -> Option<SecretSeverity> {
    let part = |name: &str| captures.name(name).map_or("", |part| part.as_str());
    if is_placeholder_password(value) || value == part("user") {
        return None;
    }
    Some(if is_local(part("host")) { SecretSeverity::Warn } else { SecretSeverity::Refuse })
}

/// A password in a connection string. Such strings are also written by hand, with words that say where the password is.
pub(super) fn dsn_password(captures: &Captures<'_>, value: &str) -> Option<SecretSeverity> {
    if is_plain_words(value) { None } else { url_password(captures, value) }
}

/// A user and a password in base64, as in an HTTP header and in configurations of Docker and npm.
pub(super) fn basic_credentials(_: &Captures<'_>, value: &str) -> Option<SecretSeverity> {
    let (mut bits, mut pending, mut decoded) = (0u32, 0, Vec::new());
    for byte in value.bytes().take(64) {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(six);
        pending += 6;
        if pending >= 8 {
            pending -= 8;
            decoded.push((bits >> pending) as u8);
        }
    }
    let is_pair = decoded.contains(&b':') && decoded.iter().all(|byte| matches!(byte, b' '..=b'~'));
    is_pair.then_some(SecretSeverity::Refuse)
}

/// Whether a value consists of words only, such as `ask-ops` and `disabled`.
fn is_plain_words(value: &str) -> bool {
    let is_word = |run: &str| {
        let inner = run.get(1..).unwrap_or_default();
        word_like(run) && (inner.bytes().all(|byte| byte.is_ascii_lowercase()) || run.bytes().all(|byte| byte.is_ascii_uppercase()))
    };
    value
        .trim_end_matches(['.', ',', ')', ':', '!', '?'])
        .split(['-', '_'])
        .all(|run| run.bytes().all(|byte| byte.is_ascii_alphabetic()) && is_word(run))
}

/// Whether a password is a placeholder.
fn is_placeholder_password(value: &str) -> bool {
    const PLACEHOLDERS: &[&str] = &[
        "pass", "passwd", "password", "pwd", "pw", "secret", "token", "root", "admin", "user", "test", "postgres", "guest", "mysql",
        "redis", "mongo", "local", "dev", "development", "key", "api_key", "apikey", "credentials", "mypassword", "mysecret", "default",
        "demo",
    ];
    let lower = value.to_ascii_lowercase();
    PLACEHOLDERS.contains(&lower.as_str()) || lower.contains("password") || value.starts_with(['$', '%', '[', '{', ':'])
}

/// Whether a host is the local machine or an example.
fn is_local(host: &str) -> bool {
    let names = ["localhost", "127.", "0.0.0.0", "[::1]", "host.docker.internal", "example."];
    names.iter().any(|name| host.starts_with(name)) || host.contains("example.")
}

/// A password in a keyword string. Without a host or database beside it, it is an ordinary assignment.
pub(super) fn keyword_password(captures: &Captures<'_>, value: &str) -> Option<SecretSeverity> {
    let part = |name: &str| captures.name(name).map_or("", |part| part.as_str());
    let pairs: Vec<(&str, &str)> = part("before")
        .split_ascii_whitespace()
        .chain(part("after").split_ascii_whitespace())
        .filter_map(|pair| pair.split_once('='))
        .collect();
    let given = |key: &str| pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    let host = given("host").or_else(|| given("hostaddr"));
    if host.is_none() && given("dbname").is_none() {
        return None;
    }
    if is_placeholder_password(value) || given("user") == Some(value) || is_code(value) || is_plain_words(value) {
        return None;
    }
    Some(if is_local(host.unwrap_or("localhost")) { SecretSeverity::Warn } else { SecretSeverity::Refuse })
}

/// Whether a token without digits is random: random letters form one long run with two adjacent capitals; joined words do not.
pub(super) fn is_random_letters(value: &str) -> bool {
    let longest = value.split(|c: char| !c.is_ascii_alphabetic()).map(str::len).max().unwrap_or(0);
    longest >= 16 && value.as_bytes().windows(2).any(|pair| pair.iter().all(u8::is_ascii_uppercase))
}

/// Base64 of forty characters that is not a digest in hex.
pub(super) fn not_hex(_: &Captures<'_>, value: &str) -> Option<SecretSeverity> {
    (!is_hex(value)).then_some(SecretSeverity::Refuse)
}

/// A value assigned to something called a secret: long and mixed, and not an identifier, path, digest, UUID or call.
pub(super) fn assigned(captures: &Captures<'_>, value: &str) -> Option<SecretSeverity> {
    let has = |test: fn(&char) -> bool| value.chars().any(|c| test(&c));
    let classes =
        [has(char::is_ascii_lowercase), has(char::is_ascii_uppercase), has(char::is_ascii_digit), has(|c| "!@#$%^&*+=?~".contains(*c))];
    let kinds = classes.iter().filter(|class| **class).count();
    let digit = classes[2];
    let password = captures.name("pw").is_some();
    let enough = if password { value.len() >= 8 } else { value.len() >= 20 && entropy(value) >= 3.7 };
    (digit && kinds >= 3 && enough && !is_ordinary(value)).then_some(SecretSeverity::Warn)
}

fn is_ordinary(value: &str) -> bool {
    let integrity = ["sha256-", "sha384-", "sha512-", "sha1-", "sha256:", "sha512:", "blake3:", "md5:"];
    is_hex(value)
        || is_uuid(value)
        || integrity.iter().any(|prefix| value.starts_with(prefix))
        || is_code(value)
        || value.starts_with(['/', '.', '~', '@', '$', '%', '[', '{', '('])
        || value.contains("::")
        || value.contains("()")
        || value.contains(".md")
        || is_words(value)
}

/// Whether a value is code that fetches the secret.
fn is_code(value: &str) -> bool {
    const CODE: &[&str] =
        &["process.env", "os.environ", "env.", "secrets.", "config.", "self.", "this.", "std::", "func", "new ", "http://", "https://"];
    CODE.iter().any(|prefix| value.starts_with(prefix))
}

/// Whether a value is words joined by `_`, `-`, `.`, `/` or camel case, such as names of variables, files and models: each run of
/// letters is pronounceable, with short numbers in between.
fn is_words(value: &str) -> bool {
    let mut runs = value.split(|c: char| !c.is_ascii_alphabetic()).filter(|run| !run.is_empty());
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    digits * 4 <= value.len() && runs.all(|run| run.len() <= 2 || word_like(run))
}

fn word_like(run: &str) -> bool {
    let bytes = run.as_bytes();
    let turns = bytes.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    let vowels = bytes.iter().filter(|byte| b"aeiouyAEIOUY".contains(byte)).count();
    turns * 4 <= run.len() && vowels * 5 >= run.len()
}

fn is_hex(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_uuid(value: &str) -> bool {
    let parts: Vec<&str> = value.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(|part| is_hex(part))
}
