// Plays calls of a client against the plugin: `node plugin_driver.mjs SCRIPT RESULTS`.
//
// SCRIPT is JSON: {plugin, log, speed, steps}. Time runs `speed` times as fast for the plugin: its timers and its
// clock. A step is [name, arguments…], see `steps` below. RESULTS gets what each step gave, as a JSON list.
import fs from "node:fs"
import { pathToFileURL } from "node:url"

const { plugin, log, speed, steps: script } = JSON.parse(fs.readFileSync(process.argv[2], "utf8"))
const realTimeout = globalThis.setTimeout
const realNow = performance.now.bind(performance)
let limits = []
globalThis.setTimeout = (what, ms, ...more) => { limits.push(ms); return realTimeout(what, ms / speed, ...more) }
performance.now = () => realNow() * speed

const { default: module } = await import(pathToFileURL(plugin))
const copies = [], begun = []
const sleep = (ms) => new Promise((resolve) => realTimeout(resolve, ms))
const childLog = () => {
  const lines = fs.existsSync(log) ? fs.readFileSync(log, "utf8").split("\n") : []
  return lines.slice(0, -1).map((line) => JSON.parse(line)) // the last one may still be on its way
}
const TODO = { id: "t", status: "pending", priority: "high" }
const todos = {
  answers: async ({ path }) => ({ data: [{ ...TODO, content: `first of ${path.id}` }] }),
  hangs: () => new Promise(() => {}),
  throws: () => { throw new Error("no todos") },
}

const toasts = []
const shown = {
  shows: async ({ body }) => { toasts.push(body) },
  hangs: () => new Promise(() => {}),
  rejects: async () => { throw new Error("no toast") },
  throws: () => { throw new Error("no toast") },
}

const call = async (copy, hook, input, output) => {
  limits = []
  const value = await copies[copy][hook](input, output)
  return { value, output, limits }
}

const steps = {
  /** Load the plugin for a directory. */
  async init(directory, options, todo = "answers", toast = "shows") {
    const client = { session: { todo: todos[todo] }, tui: shown[toast] && { showToast: shown[toast] } }
    limits = []
    copies.push(await module.server({ client, directory, worktree: directory }, options))
    return { hooks: Object.keys(copies.at(-1)), tools: Object.keys(copies.at(-1).tool ?? {}), limits }
  },
  /** Call a hook and wait for it. */
  call,
  /** The model calls a tool of ours. */
  use: (copy, name, args, context) => copies[copy].tool[name].execute(args, context),
  /** Call a hook and go on at once. */
  begin: (...args) => { begun.push(call(...args)) },
  /** Wait for all that has begun. */
  join: () => Promise.all(begun.splice(0)),
  /** Send an event many times, each with its number as the session's id. */
  flood(copy, type, count, padding) {
    for (let i = 0; i < count; i++) {
      const id = `${i}${"x".repeat(padding)}`
      copies[copy].event({ event: { type, properties: { sessionID: id, info: { id } } } })
    }
  },
  /** Wait until the children have written `count` log entries that hold `text`. */
  async logged(text, count) {
    const end = Date.now() + 20_000
    while (childLog().filter((entry) => JSON.stringify(entry).includes(text)).length < count) {
      if (Date.now() > end) throw new Error(`no ${count} × ${text} in the log`)
      await sleep(10)
    }
  },
  /** Kill the child that was started last, or send it another signal. */
  kill: (signal = "SIGKILL") => { process.kill(childLog().findLast((entry) => entry.started).started, signal) },
  /** Wait until that child is no more. */
  async gone() {
    const { started } = childLog().findLast((entry) => entry.started)
    for (const end = Date.now() + 20_000; Date.now() < end; await sleep(10)) {
      try { process.kill(started, 0) } catch { return }
    }
    throw new Error("the child lives on")
  },
  /** What the user was shown. */
  toasts: () => [...toasts],
  /** The timers that were set since the last call. */
  timers: () => limits,
  sleep,
}

const results = []
for (const [name, ...args] of script) results.push((await steps[name](...args)) ?? null)
fs.writeFileSync(process.argv[3], JSON.stringify(results))
