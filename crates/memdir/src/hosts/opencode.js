// Written by memdir install; memdir uninstall opencode removes it.
import { spawn } from "node:child_process"

const program = "PROGRAM"
const before = ["BEFORE"]

// What memdir says at an event. Whatever goes wrong, it is silent: a memory must never stop the work.
const ask = (event, input) =>
  new Promise((resolve) => {
    const child = spawn(program, [...before, "hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"], timeout: 10000, windowsHide: true })
    let out = ""
    child.stdout.on("data", (data) => (out += data))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve(""))
    child.on("close", () => {
      try {
        resolve(JSON.parse(out).context ?? "")
      } catch {
        resolve("")
      }
    })
    child.stdin.end(JSON.stringify(input))
  })

export const Memdir = async ({ directory }) => {
  // The same words for a whole conversation, so that the provider's cache holds; asked again after compaction.
  const started = new Map()
  // What was said before a tool and not heard yet: the model hears it with the next result of a tool.
  const unheard = new Map()
  const base = (session) => ({ session_id: session, cwd: directory })
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const session = input?.sessionID ?? ""
      if (!started.has(session)) started.set(session, await ask("session-start", base(session)))
      const context = started.get(session)
      if (context) output.system.push(context)
    },
    "chat.message": async (input, output) => {
      const parts = output.parts ?? []
      const prompt = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")
      const context = prompt && (await ask("prompt", { ...base(input.sessionID), prompt }))
      const model = parts.find((part) => part.type === "text")
      if (context && model) parts.push({ ...model, id: `${model.id}m`, text: context, synthetic: true })
    },
    "tool.execute.before": async (input, output) => {
      const session = input?.sessionID ?? ""
      const context = await ask("before-tool", { ...base(session), tool_name: input?.tool, tool_input: output?.args ?? {} })
      if (context) unheard.set(session, [...(unheard.get(session) ?? []), context])
    },
    "tool.execute.after": async (input, output) => {
      const session = input?.sessionID ?? ""
      const said = unheard.get(session)
      if (!said || typeof output?.output !== "string") return
      unheard.delete(session)
      output.output += `\n\n${said.join("\n\n")}`
    },
    "experimental.session.compacting": async (input) => {
      started.delete(input?.sessionID ?? "")
      await ask("before-compaction", base(input?.sessionID ?? ""))
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") await ask("stop", base(event.properties.sessionID))
      if (event.type === "session.deleted") await ask("session-end", base(event.properties.info?.id ?? ""))
    },
  }
}
