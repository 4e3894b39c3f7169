// Written by memdir install; memdir uninstall opencode removes it.
import { spawn } from "node:child_process"

const program = "PROGRAM"
const before = ["BEFORE"]

// Returns the text that memdir has for an event, or "" after any error: a memory must never block the agent.
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
  // The text of a session start is kept for the whole conversation, so that the prompt cache stays valid; it is read again after compaction.
  const started = new Map()
  // Text for tools that have not returned yet: the model reads it with the next result of a tool.
  const pending = new Map()
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
      if (context) pending.set(session, [...(pending.get(session) ?? []), context])
    },
    "tool.execute.after": async (input, output) => {
      const session = input?.sessionID ?? ""
      const texts = pending.get(session)
      if (!texts || typeof output?.output !== "string") return
      pending.delete(session)
      output.output += `\n\n${texts.join("\n\n")}`
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
