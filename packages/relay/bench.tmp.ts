import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { tempFolder } from "@codexkit/testing";
import { authorize, dataFrame, RawSocket, register } from "./test/raw-ends.ts";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
const folder = await tempFolder("b");
const child = spawn(process.execPath, ["--conditions=codexkit:source", ...(process.env.FLAGS?.split(" ") ?? []), ...(process.env.PROF ? ["--cpu-prof", "--cpu-prof-dir=/tmp/prof"] : []), "test/registry-program.ts", "serve", "--store", folder.path, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise<string>(r => child.stdout!.once("data", d => r(String(d).trim())));
const admin = readFileSync(folder.path + "/admin-token", "utf8").trim();
const tok = async (scopes: string[]) => (await (await fetch(url + "/admin/tokens", { method: "POST", headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" }, body: JSON.stringify({ name: "x", scopes }) })).json() as any).token;
const et = await tok(["execute"]), ct = await tok(["connect"]);
const cpu = () => { const f = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]!.split(" "); return (Number(f[11]) + Number(f[12])) * 10; };
const ucpu = () => { const f = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]!.split(" "); return Number(f[11]) * 10; };
const zero = { generateMask: process.env.ZERO ? (m: Buffer) => { m.fill(0); } : undefined } as any;
const ex = new WebSocket((await register(url, et)).url, { perMessageDeflate: false, ...zero });
await new Promise(r => ex.once("open", r)); await delay(200);
const h = new WebSocket((await authorize(url, ct)).url, { perMessageDeflate: false, ...zero });
await new Promise(r => h.once("open", r));
const id = "55136d95-6700-4781-bd0b-01d4ce43cd3f";
h.send(dataFrame(id, "x")); await new Promise(r => ex.once("message", r));
for (const [size, total] of JSON.parse(process.env.CASES ?? "[[61440,500e6],[61440,500e6],[1000,50e6],[100,10e6]]")) {
  const n = Math.floor(total / size);
  const frame = dataFrame(id, Buffer.alloc(size, 1));
  let got = 0; const done = new Promise<void>(r => { h.removeAllListeners("message"); h.on("message", () => { if (++got === n) r(); }); });
  const c0 = cpu(), u0 = ucpu(), t0 = performance.now(), own0 = process.cpuUsage();
  let sent = 0;
  const pump = () => { while (sent < n && ex.bufferedAmount < 2e6) { sent++; ex.send(Buffer.from(frame)); } if (sent < n) setImmediate(pump); };
  pump(); await done;
  const own = process.cpuUsage(own0);
  const s = (performance.now() - t0) / 1000;
  console.log(`${size} B: ${(total / 1e6 / s).toFixed(0)} MB/s, ${(n / s / 1000).toFixed(0)} k frames/s; rendezvous cpu ${cpu() - c0} (user ${ucpu() - u0}) ms per ${total / 1e6} MB; client cpu ${((own.user + own.system) / 1000).toFixed(0)}`);
}
// rtt
ex.on("message", (d: Buffer) => ex.send(d));
h.removeAllListeners("message");
const rtts: number[] = [];
for (let i = 0; i < 2000; i++) { const t = performance.now(); h.send(dataFrame(id, "ping")); await new Promise(r => h.once("message", r)); rtts.push(performance.now() - t); }
rtts.sort((a, b) => a - b); console.log("rtt p50", rtts[1000]!.toFixed(3), "p99", rtts[1980]!.toFixed(3));
ex.terminate(); h.terminate();
child.kill("SIGTERM"); await new Promise(r => child.once("exit", r)); await folder[Symbol.asyncDispose]();
