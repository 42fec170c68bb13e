// memfold plugin for OpenCode
const COMMANDS = [["memfold", "bridge"]]
// (Commands to try, in order. The installer replaces the line above; this file is its to write.)

// The plugin decides nothing about memory: it forwards a hook to the bridge as one JSON line, waits a bounded time and
// puts the answer where the client wants it. Without an answer it does nothing. It never throws, since an exception in
// a hook would end the user's turn, and never prints, since that would garble the terminal.
import { spawn } from "node:child_process"
import { randomBytes, randomUUID } from "node:crypto"

const HOOK_MS = 1500 // a hook holds the client no longer than this
const COMPACTED_MS = 500 // of which it waits for the announced end of a compaction
const TOOL_MS = 8000 // a call of one of our tools: the model waits for its result
const TODOS_MS = 300 // of which it waits for the client's todo list
const CLOSE_MS = 1000 // at the end: for the answers, and again for the child's exit
const KEPT_LINES = 500
const KEPT_BYTES = 8 << 20
const KEPT_SESSIONS = 500
const ANSWER_CHARS = 4 << 20
const TRIES = 3 // silent calls before a child is replaced; deaths at one line before the line is given up

/** The promise's value, or undefined when it takes longer. */
const within = (promise, ms) => {
  let timer
  const limit = new Promise((resolve) => { timer = setTimeout(resolve, ms) })
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer))
}

// One user per process, who is warned once, however many directories and copies of this file there are.
const user = (globalThis[Symbol.for("memfold.opencode.user")] ??= { warned: false })

/** A bridge that is started anew when it dies. `opening` gives the records that each child must get first. */
function connect(cwd, opening) {
  const env = { ...process.env, MEMFOLD_IN_HOOK: "1" } // our own child's hooks stay silent
  for (const name of ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT"]) delete env[name] // the project's
  const waiting = new Map() // what isn't answered, by id, in order: a successor gets it again
  let child, timer, drained, lastID = 0, bytes = 0, deaths = 0, unheard = 0, candidate = 0, closed = false

  const pausing = () => !child && deaths > COMMANDS.length
  const missing = () => unheard > COMMANDS.length // none of the commands starts a bridge
  const encode = (record) => JSON.stringify({ id: ++lastID, ...record }) + "\n"

  const forget = (id, entry, answer) => {
    waiting.delete(id)
    bytes -= entry.bytes
    entry.answer?.(answer)
    if (!waiting.size) drained?.()
  }

  const start = () => {
    timer = undefined
    const me = (child = { heard: false, silent: 0, since: performance.now(), rest: "" })
    const gone = () => lost(me)
    try {
      const [command, ...args] = COMMANDS[candidate % COMMANDS.length]
      me.process = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "ignore"] })
      const { stdin, stdout } = me.process
      for (const end of [me.process, stdin, stdout]) end.on("error", gone)
      me.process.on("exit", gone)
      stdout.setEncoding("utf8").on("data", (text) => read(me, text))
      for (const handle of [me.process, stdin, stdout]) handle.unref?.() // the client may exit without asking us
      write(opening().map(encode).join("") + [...waiting.values()].map((entry) => entry.text).join(""))
    } catch { gone() }
  }

  const write = (text) => {
    child.process.stdin.write(text)
    if (child.process.stdin.writableLength > 2 * KEPT_BYTES) lost(child) // it doesn't read
  }

  const lost = (me) => {
    if (me !== child) return
    child = undefined
    if (me.process?.exitCode === null) me.process.kill("SIGKILL")
    if (closed) return
    const [first] = waiting
    if (!me.heard) {
      candidate++ // perhaps it isn't installed (any more)
      unheard++
    } else if (first && ++first[1].deaths >= TRIES) forget(...first) // perhaps it dies of this very line
    deaths++
    const pause = pausing() ? Math.min(60, 2 ** (deaths - COMMANDS.length - 1)) : 0
    timer = setTimeout(start, 1000 * pause)
    timer.unref?.()
    if (pausing()) for (const entry of waiting.values()) entry.giveUp?.() // the lines stay
  }

  const read = (me, text) => {
    if (me !== child) return
    const lines = (me.rest + text).split("\n")
    me.rest = lines.pop()
    if (me.rest.length > ANSWER_CHARS) return lost(me)
    for (const line of lines) {
      let answer
      try { answer = JSON.parse(line) } catch {}
      const id = answer?.id
      if (id === null) continue // a line of ours that it couldn't read
      if (!Number.isInteger(id) || id < 1 || id > lastID) return lost(me) // this is no bridge
      me.heard = true
      if (missing()) user.warned = false
      unheard = 0
      me.silent = 0
      const entry = waiting.get(id)
      if (!entry) continue // of the opening, not the last of its group, or dropped meanwhile
      deaths = 0
      forget(id, entry, answer)
    }
  }

  /** Writes records at once and in one piece: they are answered, and sent again, together. */
  const send = (records, answer) => {
    if (closed) return void answer?.()
    const text = records.map(encode).join("")
    const entry = { text, bytes: Buffer.byteLength(text), deaths: 0, answer }
    if (entry.bytes > KEPT_BYTES) return void answer?.()
    waiting.set(lastID, entry)
    bytes += entry.bytes
    for (const [id, oldest] of waiting) {
      if (waiting.size <= KEPT_LINES && bytes <= KEPT_BYTES) break
      forget(id, oldest)
    }
    try { if (child) write(text) } catch { lost(child) }
    return entry
  }

  /** Sends records; the answer to the last, or undefined when none comes in time: then `late` gets it, if ever. */
  const call = async (records, ms, late) => {
    const asked = performance.now()
    let answered = false, over = pausing()
    const answer = new Promise((resolve) => {
      const entry = send(records, (value) => {
        answered = true
        if (over) late?.(value)
        resolve(value)
      })
      if (entry) entry.giveUp = resolve
    })
    if (over) return
    const value = await within(answer, ms)
    over = true
    if (answered || !child || asked < child.since) return value // calls that waited side by side count once
    child.since = performance.now()
    if (++child.silent >= TRIES) lost(child)
  }

  const close = async () => {
    if (waiting.size && !pausing()) await within(new Promise((resolve) => { drained = resolve }), CLOSE_MS)
    closed = true
    clearTimeout(timer)
    const me = child
    if (!me) return
    const exit = new Promise((resolve) => me.process.once("exit", resolve))
    me.process.stdin.end()
    await within(exit, CLOSE_MS)
    if (!me.heard) lost(me) // a bridge ends by itself; one that still waits for the disk must not lose what it holds
  }

  start()
  return { send, call, close, missing }
}

const left = (asked) => Math.max(0, HOOK_MS - (performance.now() - asked))
const record = (hook, fields) => ({ hook, t: Date.now() / 1000, pid: process.pid, ...fields })
const texts = (parts) =>
  parts.filter((part) => part.type === "text").map(({ type, text, synthetic }) => ({ type, text, synthetic }))
const created = (time) => time && { created: time.created }
/** Whether the client can take it: one that it can't would cost all hooks. */
const isTool = (one) =>
  [one?.name, one?.description].every((text) => typeof text === "string") &&
  typeof one.args === "object" && one.args !== null && Array.isArray(one.required)
const strings = (list) => list.filter((text) => typeof text === "string")
const guarded = (hook) => async (input, output) => { try { await hook(input, output) } catch {} }
const off = (value) => ["0", "false", "no", "off"].includes((value ?? "").trim().toLowerCase())

const server = async ({ client, directory, worktree }, options) => {
  if (off(process.env.MEMFOLD) || process.env.MEMFOLD_IN_HOOK || options?.enabled === false) return {}
  const served = (globalThis[Symbol.for("memfold.opencode")] ??= new Set())
  if (served.has(directory)) return {} // another copy of this file: a memory must not be taken in twice
  served.add(directory)

  const instance = randomUUID() // of the client: a child that replaces a dead one is no restart
  const sessions = new Map()
  let offered = [] // the tools that this client has taken; it takes none later
  const init = () => {
    // What is off the record stands in no ledger, so a successor must be told.
    const silent = [...sessions].filter(([, known]) => known.private).map(([id]) => id)
    const tools = offered.length > 0
    return record("init", { input: { directory, worktree, instance, options: options ?? {}, private: silent, tools } })
  }
  // A child knows from the heads which sessions are sub-agents or forks, so its successor needs them as well.
  const heads = () => [...sessions.values()].flatMap((known) => Object.values(known.heads))
  const bridge = connect(directory, () => [init(), ...heads()])

  const session = (id) => {
    const known = sessions.get(id) ?? { heads: {}, calls: new Map() }
    sessions.delete(id)
    sessions.set(id, known) // the one used last stands last
    if (sessions.size > KEPT_SESSIONS) sessions.delete(sessions.keys().next().value)
    return known
  }

  /** The announced end of a compaction: the client doesn't wait for its bus, so a prompt could overtake it. */
  const compacted = async (known) => { if (known.compaction) await within(known.compaction.end, COMPACTED_MS) }
  const settle = (known) => { known.compaction?.settle(); known.compaction = undefined }

  const event = (type, properties, id) => record("event", { event: { id, type, properties } })
  const head = ({ type, properties: { info } }) => {
    const known = session(info.id)
    const { id, parentID, version, time } = info
    const line = event(type, { sessionID: id, info: { id, parentID, version, time: created(time) } })
    if (JSON.stringify(known.heads[type]?.event) === JSON.stringify(line.event)) return // most only count tokens
    known.heads[type] = line
    bridge.send([line])
  }
  // The client doesn't wait for these: each must have sent its line before anything else can happen.
  const handlers = {
    "session.created": head,
    "session.updated": head,
    "session.deleted": ({ type, properties: { info } }) => {
      sessions.delete(info.id)
      bridge.send([event(type, { sessionID: info.id, info: { id: info.id } })])
    },
    "session.idle": ({ type, properties: { sessionID } }) => {
      settle(session(sessionID)) // a compaction that failed has no other end
      bridge.send([event(type, { sessionID })])
    },
    "session.compacted": ({ id, type, properties: { sessionID } }) => {
      const known = session(sessionID)
      const held = known.summary ? [known.summary.head, ...known.summary.texts.values()] : []
      known.summary = known.segments = known.late = undefined
      bridge.send([...held, event(type, { sessionID }, id)])
      settle(known)
    },
    "message.updated": ({ type, properties: { sessionID, info } }) => {
      const known = session(sessionID)
      const { id, role, mode, time } = info
      const summary = (role === "assistant" && (info.summary === true || mode === "compaction")) || undefined
      const line = event(type, { sessionID, info: { id, role, summary, mode, time: created(time) } })
      if (JSON.stringify(line.event) === known.message) return
      known.message = JSON.stringify(line.event)
      if (summary && known.summary?.id !== id) known.summary = { id, head: line, texts: new Map() }
      bridge.send([line])
    },
    "message.part.updated": ({ type: name, properties: { sessionID, part } }) => {
      const known = session(sessionID)
      const { id, messageID, type, tool, callID, state, tokens, text } = part
      const line = (fields) => event(name, { sessionID, part: { id, messageID, type, ...fields } })
      if (type === "step-finish") bridge.send([line({ tokens: { input: tokens?.input, cache: tokens?.cache } })])
      else if (type === "text" && known.summary?.id === messageID) known.summary.texts.set(id, line({ text }))
      else if (type === "tool" && state?.status === "error" && known.calls.has(callID)) {
        const { status, input, error } = state
        bridge.send([known.calls.get(callID), line({ tool, callID, state: { status, input, error } })])
        known.calls.delete(callID)
      }
    },
  }
  /** Shows the user a text, wherever the client shows such; nobody waits for it. */
  const notify = async (message, variant = "info") => {
    try { await client.tui.showToast({ body: { title: "memfold", message, variant } }) } catch {}
  }
  /** Says that a message is lost to memory; not when the starts fail, since the client may have no screen yet. */
  const warn = () => {
    if (!bridge.missing() || user.warned) return
    user.warned = true
    notify("memfold can't be started, so nothing is remembered. Try: memfold doctor", "warning")
  }
  const todos = async (sessionID) => {
    const answer = await within(client.session.todo({ path: { id: sessionID } }), TODOS_MS)
    return (answer?.data ?? []).map(({ content, status, priority }) => ({ content, status, priority }))
  }

  const tool = ({ name, description, args }) => ({
    description,
    args,
    execute: async (given, { sessionID, callID }) => {
      const silence = "memfold didn't answer. The call may still be stored; memory_read tells."
      try {
        const answer = await bridge.call([record("tool", { input: { tool: name, sessionID, callID, args: given } })], TOOL_MS)
        if (typeof answer?.result === "string") return answer.result
        return answer?.refused ? `Not stored: ${answer.refused}` : silence
      } catch { return silence }
    },
  })

  const answer = await bridge.call([record("tools", { input: {} })], HOOK_MS)
  if (Array.isArray(answer?.tools)) offered = answer.tools.filter(isTool)
  if (offered.length) bridge.send([record("tools", { input: { tools: true } })]) // else nobody is told about them

  return {
    tool: Object.fromEntries(offered.map((one) => [one.name, tool(one)])),

    // The client marks each argument as required, and a model would fill in all of them.
    "tool.definition": guarded(({ toolID }, output) => {
      const own = offered.find(({ name }) => name === toolID)
      if (own && output.jsonSchema) output.jsonSchema = { ...output.jsonSchema, required: own.required }
    }),

    event: guarded((input) => handlers[input.event.type]?.(input.event)),

    "command.execute.before": guarded(({ sessionID, command, arguments: words }, { parts }) => {
      const input = { sessionID, command, arguments: words }
      bridge.send([record("command.execute.before", { input, output: { parts: texts(parts) } })])
    }),

    "chat.message": guarded(async ({ sessionID }, { message, parts }) => {
      const asked = performance.now()
      const known = session(sessionID)
      await compacted(known)
      const { id, role, time } = message
      const output = { message: { id, role, time: created(time) }, parts: texts(parts) }
      const line = record("chat.message", { input: { sessionID }, output })
      const heard = (answer) => {
        if (answer) known.private = answer.private === true
        if (answer?.notice) notify(answer.notice)
      }
      // The bridge takes a part for given; one that came too late goes with the next message.
      const late = (answer) => {
        heard(answer)
        known.late = answer?.part ?? known.late
      }
      const answer = await bridge.call([line], left(asked), late)
      heard(answer)
      warn()
      const due = strings([known.late, answer?.part]).filter(Boolean)
      known.late = undefined
      if (!due.length) return
      // Parts are sorted by id: "zz" stands behind the user's own, which begin with a time in hexadecimal digits.
      const partID = `prt_zz${Date.now().toString(16).padStart(12, "0")}${randomBytes(6).toString("hex")}`
      parts.push({ id: partID, sessionID, messageID: id, type: "text", text: due.join("\n\n"), synthetic: true })
    }),

    // A result tells all about its call; only a failure needs to be known as a call of the model. It is sent with the
    // beginning, so that no kill can part the two, as a summary is with the end of its compaction.
    "tool.execute.before": guarded(({ tool, sessionID, callID }) => {
      const { calls } = session(sessionID)
      calls.set(callID, record("tool.execute.before", { input: { tool, sessionID, callID } }))
      if (calls.size > KEPT_LINES) calls.delete(calls.keys().next().value)
    }),

    "tool.execute.after": guarded(({ tool, sessionID, callID, args }, result) => {
      session(sessionID).calls.delete(callID)
      const { output, content, isError, metadata } = result
      const exit = metadata && "exit" in metadata ? { exit: metadata.exit } : undefined
      const said = Array.isArray(content) ? texts(content) : undefined
      const input = { tool, sessionID, callID, args }
      bridge.send([record("tool.execute.after", { input, output: { output, content: said, isError, metadata: exit } })])
    }),

    "experimental.chat.system.transform": guarded(async ({ sessionID }, output) => {
      if (!sessionID || !output.system[0]?.includes(directory)) return // a title or a compaction, no main step
      const asked = performance.now()
      const known = session(sessionID)
      await compacted(known)
      settle(known) // no main step runs while a session is compacted
      const line = record("experimental.chat.system.transform", { input: { sessionID } })
      const answer = await bridge.call([line], left(asked))
      if (Array.isArray(answer?.system)) known.segments = strings(answer.system)
      output.system.push(...(known.segments ?? [])) // the same bytes as before, when no answer comes
    }),

    "experimental.session.compacting": guarded(async ({ sessionID }, output) => {
      const asked = performance.now()
      const known = session(sessionID)
      settle(known)
      known.compaction = {}
      known.compaction.end = new Promise((resolve) => { known.compaction.settle = resolve })
      const input = { sessionID, todos: await todos(sessionID).catch(() => []) }
      const line = record("experimental.session.compacting", { input })
      const answer = await bridge.call([line], left(asked))
      if (Array.isArray(answer?.context)) output.context.push(...strings(answer.context))
    }),

    dispose: guarded(async () => {
      served.delete(directory) // at once: the next instance of this directory may come while this one still waits
      await bridge.close()
    }),
  }
}

export default { id: "memfold", server }
