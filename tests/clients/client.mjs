// Drives a memdir server with the official TypeScript SDKs: `v1` is @modelcontextprotocol/sdk, which begins with an
// `initialize` handshake; `v2` is @modelcontextprotocol/client, pinned to 2026-07-28, without handshake or session.
//
//     client.mjs v1|v2 stdio COMMAND [ARGUMENT...]
//     client.mjs v1|v2 http URL
//
// Reads a story, a JSON list of steps, from standard input and prints what came back. The packages are found in
// MEMDIR_TEST_CLIENTS/node.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const WAIT = 30_000;
const require = createRequire(`${process.env.MEMDIR_TEST_CLIENTS}/node/package.json`);
const [version, kind, ...rest] = process.argv.slice(2);
const modern = version === "v2";

function load() {
  if (modern) {
    return { ...require("@modelcontextprotocol/client"), ...require("@modelcontextprotocol/client/stdio") };
  }
  return {
    ...require("@modelcontextprotocol/sdk/client/index.js"),
    ...require("@modelcontextprotocol/sdk/client/stdio.js"),
    ...require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    ...require("@modelcontextprotocol/sdk/types.js"),
  };
}

const sdk = load();
const info = { name: "typescript", version: "1.0.0" };
const client = modern ? new sdk.Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } }) : new sdk.Client(info);

function transport() {
  if (kind === "stdio") {
    return new sdk.StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env, stderr: "inherit" });
  }
  const token = process.env.CLIENT_TOKEN;
  const requestInit = token ? { headers: { Authorization: `Bearer ${token}` } } : {};
  return new sdk.StreamableHTTPClientTransport(new URL(rest[0]), { requestInit });
}

const waiting = [];
function heard(method) {
  for (const wake of waiting) wake(method);
}

function wait(methods) {
  const wanted = new Set(methods);
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`still waiting for ${[...wanted]}`)), WAIT);
    waiting.push((method) => {
      wanted.delete(method);
      if (wanted.size === 0) {
        clearTimeout(timer);
        done("heard");
      }
    });
  });
}

const UPDATED = "notifications/resources/updated";
const LIST = "notifications/resources/list_changed";
const steps = {
  server: async () => ({ name: client.getServerVersion().name, instructions: client.getInstructions() ?? null }),
  tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
  call: async (step) => {
    const result = await client.callTool({ name: step.name, arguments: step.arguments ?? {} });
    const text = result.content.map((block) => block.text).join("");
    return { text, structured: result.structuredContent ?? null, isError: result.isError === true };
  },
  resources: async () => (await client.listResources()).resources.map((resource) => resource.uri),
  templates: async () => (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate),
  read: async (step) => (await client.readResource({ uri: step.uri })).contents.map((content) => content.text),
  prompts: async () => (await client.listPrompts()).prompts.map((prompt) => prompt.name),
  prompt: async (step) => {
    const result = await client.getPrompt({ name: step.name, arguments: step.arguments ?? {} });
    return result.messages.map((message) => message.content.text);
  },
  complete: async (step) => {
    const ref = { type: "ref/prompt", name: step.prompt };
    return (await client.complete({ ref, argument: { name: step.argument, value: step.value } })).completion.values;
  },
  watch: async (step) => {
    const news = wait([UPDATED, LIST]);
    let listening;
    if (modern) {
      listening = await client.listen({ resourcesListChanged: true, resourceSubscriptions: [step.uri] });
    } else {
      await client.subscribeResource({ uri: step.uri });
    }
    await run(step.then);
    const notified = await news;
    await listening?.close?.();
    return notified;
  },
};

async function run(step) {
  try {
    return await steps[step.do](step);
  } catch (error) {
    if (typeof error.code !== "number") throw error;
    return { code: error.code, message: error.message.replace(/^MCP error -?\d+: /, "") };
  }
}

for (const method of [UPDATED, LIST]) {
  if (modern) {
    client.setNotificationHandler(method, async () => heard(method));
  } else {
    const schema = method === UPDATED ? sdk.ResourceUpdatedNotificationSchema : sdk.ResourceListChangedNotificationSchema;
    client.setNotificationHandler(schema, async () => heard(method));
  }
}
await client.connect(transport());
const results = [];
for (const step of JSON.parse(readFileSync(0, "utf8"))) results.push(await run(step));
console.log(JSON.stringify(results));
await client.close();
