//! A real identity provider on loopback: `tests/clients/provider.mjs`, which is npm's oidc-provider.

use crate::{home::Home, mcp_clients, web::HttpClient};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

/// The server that tokens are for.
pub(crate) const RESOURCE: &str = "https://memory.example.org";

/// A running provider.
pub(crate) struct IdentityProvider {
    child: Child,
    pub(crate) issuer: String,
}

impl IdentityProvider {
    pub(crate) fn start() -> IdentityProvider {
        IdentityProvider::start_with("127.0.0.1", &[])
    }

    /// Starts it under this host name, with the redirect URIs of the pages' client.
    pub(crate) fn start_with(host: &str, redirect_uris: &[&str]) -> IdentityProvider {
        let clients = mcp_clients::installed();
        let mut command = Command::new("node");
        command.arg(mcp_clients::root().join("tests/clients/provider.mjs")).args(redirect_uris).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("MEMDIR_TEST_CLIENTS", clients).env("PROVIDER_HOST", host);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let issuer = lines.find_map(|line| line.ok().filter(|line| line.starts_with("http://")));
        IdentityProvider { issuer: issuer.expect("the provider starts"), child }
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> String {
        let port = self.issuer.rsplit(':').next().unwrap();
        let reply = HttpClient::connect(format!("127.0.0.1:{port}").parse().unwrap()).request("POST", path, headers, body.as_bytes());
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.body
    }

    /// Gets a token with the credentials of a client.
    pub(crate) fn token(&self, client: &str, scope: &str, resource: &str) -> String {
        let encode = |text: &str| text.replace('/', "%2F").replace(':', "%3A").replace(' ', "+");
        let body = format!(
            "grant_type=client_credentials&client_id={}&client_secret={}&scope={}&resource={}",
            encode(client),
            encode(&format!("secret-of-{client}-0123456789")),
            encode(scope),
            encode(resource)
        );
        let answer = self.post("/token", &[("Content-Type", "application/x-www-form-urlencoded")], &body);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["access_token"].as_str().unwrap().to_owned()
    }

    /// Signs claims over those of a valid token, with a key of the provider or another.
    pub(crate) fn mint(&self, by: &str, header: Value, claims: &[(&str, Value)]) -> String {
        let now = jiff::Timestamp::now().as_second();
        let mut all = json!({ "iss": self.issuer, "aud": RESOURCE, "sub": "ada", "scope": "memdir:write", "exp": now + 600, "iat": now });
        for (name, value) in claims {
            all[*name] = value.clone();
        }
        self.post("/test/mint", &[], &json!({ "by": by, "header": header, "claims": all }).to_string())
    }

    /// Replaces all keys.
    pub(crate) fn rotate(&self) {
        self.post("/test/rotate", &[], "");
    }

    /// How often the keys were read.
    pub(crate) fn key_reads(&self) -> u32 {
        self.post("/test/requests", &[], "").parse().unwrap()
    }

    /// Configures a server that accepts its tokens.
    pub(crate) fn configure(&self, home: &Home, resource: &str, more: &str) {
        home.configure(&format!("[oauth]\nissuer = \"{}\"\nresource = \"{resource}\"\n{more}", self.issuer));
    }
}

impl Drop for IdentityProvider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
