const { readdirSync, readFileSync } = require("node:fs")

for (const name of readdirSync("src")) {
  if (!readFileSync(`src/${name}`, "utf8").startsWith("//")) {
    console.log(`src/${name}:1: error: a module starts with a comment that says its purpose`)
    process.exitCode = 1
  }
}
