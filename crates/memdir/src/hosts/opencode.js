// Written by memdir install; memdir uninstall opencode removes it.
import { spawn } from "node:child_process"

const program = "PROGRAM"
const before = ["BEFORE"]

// Returns what memdir has for an event, or nothing after any error: a memory must never block the agent.
const ask = (event, input) =>
  new Promise((resolve) => {
    const child = spawn(program, [...before, "hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"], timeout: 10000, windowsHide: true })
    let out = ""
    child.stdout.on("data", (data) => (out += data))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve({}))
    child.on("close", () => {
      try {
        resolve(JSON.parse(out))
      } catch {
        resolve({})
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
  const start = async (session) => {
    if (!started.has(session)) started.set(session, (await ask("session-start", base(session))).context)
    return started.get(session)
  }
  return {
    "experimental.chat.system.transform": async (input, output) => {
      // The request that makes a title gets no memory. Only its system prompt distinguishes it from others.
      if (/^\s*You are a title generator\b/.test(output.system[0] ?? "")) return
      const context = await start(input?.sessionID ?? "")
      if (context) output.system.push(context)
    },
    "chat.message": async (input, output) => {
      const parts = output.parts ?? []
      const prompt = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")
      if (!prompt) return
      const isFirst = !started.has(input.sessionID)
      const section = await start(input.sessionID)
      const { context } = await ask("prompt", { ...base(input.sessionID), prompt })
      const model = parts.find((part) => part.type === "text")
      // opencode makes the title from the first message, so what that one recalls goes to the section instead.
      if (context && isFirst) started.set(input.sessionID, [section, context].filter(Boolean).join("\n\n"))
      else if (context && model) parts.push({ ...model, id: `${model.id}m`, text: context, synthetic: true })
    },
    "tool.execute.before": async (input, output) => {
      const session = input?.sessionID ?? ""
      const { decision, context } = await ask("before-tool", { ...base(session), tool_name: input?.tool, tool_input: output?.args ?? {} })
      // The model reads the error as the result of the tool, which does not run.
      if (decision === "deny") throw new Error(context)
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
