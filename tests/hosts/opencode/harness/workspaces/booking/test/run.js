const { nightCents, stayCents } = require("../src/rates")

const friday = new Date("2026-07-03")
const monday = new Date("2026-07-06")
const checks = [
  ["a weeknight costs 120.00", 12000, nightCents(monday)],
  ["a weekend night costs 25 % more", 15000, nightCents(friday)],
  ["a stay is the sum of its nights", 24000, stayCents([monday, monday])],
]

let failed = 0
for (const [name, expected, got] of checks) {
  const ok = expected === got
  if (!ok) failed += 1
  console.log(ok ? `ok   ${name}` : `FAIL src/rates.js: ${name}: expected ${expected}, got ${got}`)
}
console.log(`${checks.length - failed} passed, ${failed} failed`)
process.exitCode = failed ? 1 : 0
