// A hook that keeps its entries in a JSON file: read all, add one, write all beside it, put it in place.
// Without a lock and without a sync, as plugins of this kind are; two at once lose an entry.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"

const event = JSON.parse(readFileSync(0, "utf8"))
const store = process.argv[2]
const entries = existsSync(store) ? JSON.parse(readFileSync(store, "utf8")) : []
const { tool, args, exit } = event.data
entries.push({ session: event.session, tool, args, exit })
const beside = `${store}.${process.pid}`
writeFileSync(beside, JSON.stringify(entries.slice(-200)))
renameSync(beside, store)
