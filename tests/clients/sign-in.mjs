// The official TypeScript client finds the identity provider by itself, registers, signs a person in, and calls a tool.
//
//     sign-in.mjs v1|v2 URL PERSON
//
// Prints what the client asked for and got, as JSON. The packages are found in MEMDIR_TEST_CLIENTS/node.

import { createRequire } from "node:module";

const require = createRequire(`${process.env.MEMDIR_TEST_CLIENTS}/node/package.json`);
const [version, url, person] = process.argv.slice(2);
const sdk = version === "v2" ? require("@modelcontextprotocol/client") : {
  ...require("@modelcontextprotocol/sdk/client/index.js"),
  ...require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
};

const kept = {};
const seen = {};
const authProvider = {
  redirectUrl: "http://127.0.0.1:9/signed-in",
  clientMetadata: { client_name: "test", redirect_uris: ["http://127.0.0.1:9/signed-in"], token_endpoint_auth_method: "none", grant_types: ["authorization_code"], response_types: ["code"] },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: (to) => { kept.to = to; },
};

/// Signs in as a browser would, and returns the answer of the provider.
async function signIn(to) {
  const cookies = new Map();
  for (let step = 0; step < 10; step += 1) {
    if (to.href.startsWith(authProvider.redirectUrl)) return to.searchParams;
    const isForm = to.pathname.startsWith("/interaction/");
    const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
    const form = { method: "POST", body: new URLSearchParams({ name: person }) };
    const answer = await fetch(to, { redirect: "manual", headers, ...(isForm ? form : {}) });
    for (const cookie of answer.headers.getSetCookie()) {
      const [name, value] = cookie.split(";")[0].split("=");
      cookies.set(name, value);
    }
    if (!answer.headers.get("location")) throw new Error(`${to}: ${answer.status} ${await answer.text()}`);
    to = new URL(answer.headers.get("location"), to);
  }
  throw new Error("too many redirects");
}

async function connected() {
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), { authProvider });
  const client = new sdk.Client({ name: "typescript", version: "1.0.0" });
  try {
    await client.connect(transport);
  } catch (error) {
    if (!kept.to || kept.tokens) throw error;
    Object.assign(seen, { scope: kept.to.searchParams.get("scope"), resource: kept.to.searchParams.get("resource"), challenge: kept.to.searchParams.get("code_challenge_method") });
    const answer = await signIn(kept.to);
    await transport.finishAuth(answer.get("code"), answer.get("iss"));
    return connected();
  }
  return client;
}

const client = await connected();
const wrote = await client.callTool({ name: "memory_write", arguments: { path: `user/${person}`, content: `A note of ${person}.` } });
const read = await client.callTool({ name: "memory_read", arguments: {} });
console.log(JSON.stringify({ ...seen, wrote: wrote.content[0].text.split(" ")[0], read: read.content[0].text.includes(`user/${person}`) }));
await client.close();
