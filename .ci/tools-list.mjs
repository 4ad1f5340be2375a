// Asks an MCP server that talks over stdio for its tools and prints the raw
// tools/list results of all pages, merged into one: {"tools": [...]}; with --raw,
// the answers as they came, one a line.
// Usage: node .ci/tools-list.mjs [--raw] COMMAND [ARG ...]
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const given = process.argv.slice(2);
const raw = given[0] === "--raw";
const [command, ...args] = raw ? given.slice(1) : given;
const server = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
const deadline = setTimeout(() => fail("no answer in 120 s"), 120_000);
const waiting = new Map();
let nextId = 0;

function fail(why) {
  console.error(`tools-list: ${command} ${args.join(" ")}: ${why}`);
  server.kill();
  process.exit(3);
}

function request(method, params) {
  const id = ++nextId;
  server.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  return new Promise((resolve) => waiting.set(id, resolve));
}

server.on("error", (err) => fail(err.message));
server.on("exit", (code) => waiting.size > 0 && fail(`server exited with ${code}`));
createInterface({ input: server.stdout }).on("line", (line) => {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return; // some servers greet on stdout
  }
  const resolve = waiting.get(message.id);
  waiting.delete(message.id);
  resolve?.({ ...message, line });
});

const hello = await request("initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "toolgauge-ci", version: "1" },
});
if (hello.error) fail(hello.error.message);
server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
const tools = [];
const lines = [];
let cursor;
do {
  const page = await request("tools/list", cursor ? { cursor } : {});
  if (page.error) fail(page.error.message);
  tools.push(...page.result.tools);
  lines.push(page.line);
  cursor = page.result.nextCursor;
} while (cursor);
clearTimeout(deadline);
console.log(raw ? lines.join("\n") : JSON.stringify({ tools }, null, 2));
waiting.clear();
server.kill();
