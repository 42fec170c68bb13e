const http = require("node:http")
const { stayCents } = require("./rates")

http
  .createServer((request, response) => {
    const query = new URL(request.url, "http://localhost").searchParams
    const nights = query.getAll("night").map((day) => new Date(day))
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ cents: stayCents(nights) }))
  })
  .listen(8080)
