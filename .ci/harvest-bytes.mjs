// Compares a harvested corpus with what its servers say when tools-list.mjs asks
// them: every tool, byte for byte, and no other.
// Usage: node .ci/harvest-bytes.mjs MCP_JSON CORPUS
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [config, corpus] = process.argv.slice(2);
const entries = JSON.parse(readFileSync(config, "utf8")).mcpServers;
const { servers } = JSON.parse(readFileSync(join(corpus, "harvest.json"), "utf8"));
const script = new URL("tools-list.mjs", import.meta.url).pathname;
let compared = 0;
let differ = 0;

for (const { server, file, tools } of servers) {
  if (!file) continue;
  const { command, args, env } = entries[server];
  const answers = execFileSync("node", [script, "--raw", command, ...args], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    maxBuffer: 1 << 26,
  });
  // The tools of a card file stand between its brackets, a comma and a line break apart.
  const text = readFileSync(join(corpus, file), "utf8");
  const inner = text.slice(text.indexOf('"listed": [') + 11, text.lastIndexOf("\n  ]"));
  const listed = inner.split("\n    ").slice(1).map((line) => line.replace(/,$/, ""));
  const bytes = listed.reduce((sum, tool) => sum + Buffer.byteLength(tool), 0);
  const said = answers.trimEnd().split("\n").flatMap((line) => JSON.parse(line).result.tools);
  // The same bytes, and in the same place: not one tool twice and another not at all.
  const same = listed.length === tools && said.length === tools &&
    listed.every((tool, i) => answers.includes(tool) && JSON.stringify(JSON.parse(tool)) === JSON.stringify(said[i]));
  compared += tools;
  if (!same) {
    differ++;
    console.error(`harvest-bytes: ${server}: the harvest and the answer of the server differ`);
  } else {
    console.log(`${server}: ${tools} tools, ${bytes} bytes, the same`);
  }
}
console.log(`tools compared: ${compared}; servers that differ: ${differ}`);
process.exit(differ > 0 ? 1 : 0);
