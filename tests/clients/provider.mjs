// An identity provider on loopback: npm's oidc-provider, with JWT access tokens for any resource.
//
//     provider.mjs [REDIRECT_URI]
//
// Prints its issuer. The clients `ada`, `bob` and `../bob` get tokens with their own credentials; `page` signs people in, with
// REDIRECT_URI. People sign in by their name. The paths below /test are for tests: `POST /test/mint` signs any claims, `POST
// /test/rotate` replaces the keys, and `GET /test/requests` counts how often the keys were read. The packages are found in
// MEMDIR_TEST_CLIENTS/node.

import { createServer } from "node:http";

const modules = `${process.env.MEMDIR_TEST_CLIENTS}/node/node_modules`;
const { Provider } = await import(`${modules}/oidc-provider/lib/index.js`);
const jose = await import(`${modules}/jose/dist/webapi/index.js`);

const SCOPES = "memdir:read memdir:write";
const GROUPS = { ada: ["engineering"], bob: ["finance"] };
let provider, handler, keys, issuer, keyReads = 0, rotations = 0;

async function makeKeys() {
  const all = [["RS256", "rsa"], ["ES256", "ec"], ["EdDSA", "ed"]].map(async ([alg, kid]) => {
    const { privateKey } = await jose.generateKeyPair(alg, { extractable: true });
    return { ...(await jose.exportJWK(privateKey)), alg, use: "sig", kid: `${kid}-${rotations}` };
  });
  return Promise.all(all);
}

async function start() {
  keys = await makeKeys();
  const machine = (client_id) => ({ client_id, client_secret: `secret-of-${client_id}-0123456789`, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] });
  const page = { client_id: "page", client_secret: "secret-of-page-0123456789", redirect_uris: process.argv.slice(2) };
  provider = new Provider(issuer, {
    clients: [machine("ada"), machine("bob"), machine("../bob"), ...(page.redirect_uris.length ? [page] : [])],
    jwks: { keys },
    scopes: ["openid", "offline_access", ...SCOPES.split(" ")],
    cookies: { keys: ["a key of the test"] },
    clientBasedCORS: () => true,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    extraTokenClaims: (_, token) => ({ groups: GROUPS[token.accountId ?? token.clientId] ?? [] }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    // Everyone consents to everything.
    async loadExistingGrant(ctx) {
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
      await consent(grant, ctx.oidc.params.resource);
      return grant;
    },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({ scope: SCOPES, audience: resource, accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } }),
      },
    },
  });
  provider.on("server_error", (_, error) => console.error(error));
  handler = provider.callback();
}

/// Permits everything that a client may ask for.
async function consent(grant, resources) {
  grant.addOIDCScope(`openid offline_access ${SCOPES}`);
  for (const resource of [resources ?? []].flat()) grant.addResourceScope(resource, SCOPES);
  return grant.save();
}

async function body(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

/// A person signs in by name.
async function interaction(request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === "consent") {
    const grant = new provider.Grant({ clientId: params.client_id, accountId: session.accountId });
    const grantId = await consent(grant, params.resource);
    await provider.interactionFinished(request, response, { consent: { grantId } }, { mergeWithLastSubmission: true });
    return;
  }
  if (request.method === "GET") {
    response.setHeader("content-type", "text/html");
    response.end('<!doctype html><title>Sign in</title><form method="post"><label>Name <input name="name"></label><button>Sign in</button></form>');
    return;
  }
  const accountId = new URLSearchParams(await body(request)).get("name");
  await provider.interactionFinished(request, response, { login: { accountId } });
}

/// Signs claims: with a key of the provider, with one that it does not have, or with none.
async function mint(request) {
  const { header, claims, by = "rsa" } = JSON.parse(await body(request));
  const plain = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  if (by === "none") return `${plain({ alg: "none", ...header })}.${plain(claims)}.`;
  const own = keys.find((key) => key.kid.startsWith(by));
  const { kty, n, e } = keys[0];
  if (by === "public") {
    // The public key as a shared secret.
    return new jose.SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: keys[0].kid, ...header }).sign(new TextEncoder().encode(JSON.stringify({ kty, n, e })));
  }
  const key = own ? await jose.importJWK(own, own.alg) : (await jose.generateKeyPair("RS256")).privateKey;
  return new jose.SignJWT(claims).setProtectedHeader({ alg: own?.alg ?? "RS256", kid: (own ?? keys[0]).kid, ...header }).sign(key, { crit: { x: true } });
}

const server = createServer(async (request, response) => {
  if (request.url === "/test/mint") return response.end(await mint(request));
  if (request.url === "/test/rotate") {
    rotations += 1;
    await start();
    return response.end("rotated");
  }
  if (request.url === "/test/requests") return response.end(String(keyReads));
  if (request.url.startsWith("/interaction/")) return interaction(request, response);
  if (request.url === "/jwks") keyReads += 1;
  handler(request, response);
});
server.listen(0, "127.0.0.1", async () => {
  issuer = `http://${process.env.PROVIDER_HOST ?? "127.0.0.1"}:${server.address().port}`;
  await start();
  console.log(issuer);
});
