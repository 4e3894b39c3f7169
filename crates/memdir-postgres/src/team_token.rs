//! Tokens of a tenant. A token names its tenant, so that both layers of isolation apply to its lookup too: no table and no statement
//! sees the tokens of several tenants.

use memdir_core::{Result, internal::store::space};

/// Generates a token for a tenant: 256 random bits, then the name of the tenant.
pub(crate) fn generate(tenant: &str) -> Result<String> {
    let tenant: String = tenant.bytes().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{tenant}", space::new_token()?))
}

/// Returns the tenant that a token names, or `None` if the text is not a token.
pub fn tenant_of_token(token: &str) -> Option<String> {
    let (random, tenant) = token.trim().split_once('-')?;
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits = random.strip_prefix("mdt_")?;
    if digits.len() != 64 || !is_hex(digits) || tenant.is_empty() || tenant.len() % 2 != 0 || !is_hex(tenant) {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(&tenant[at..at + 2], 16).ok();
    let bytes = (0..tenant.len()).step_by(2).map(byte).collect::<Option<Vec<u8>>>()?;
    // PostgreSQL stores every character but this one.
    String::from_utf8(bytes).ok().filter(|tenant| !tenant.contains('\0'))
}
