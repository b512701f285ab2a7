// Writes src/generated from the pinned @openai/codex: its types, and the method tables derived from them.
// Does nothing if src/generated was written from this release by this generator.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { pairResults } from "./pair-results.ts";
import { printTables } from "./print-tables.ts";
import { readUnion, type UnionArm } from "./read-unions.ts";
import { rewriteTypes } from "./rewrite-types.ts";

const generatedFolder = join(import.meta.dirname, "../src/generated");
const stampFile = join(generatedFolder, ".stamp");

const codexManifest = createRequire(import.meta.url).resolve("@openai/codex/package.json");
const { version, bin } = JSON.parse(readFileSync(codexManifest, "utf8")) as {
  version: string;
  bin: { codex: string };
};

const stamp = `${version} ${hashOfGenerator()}`;
if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) process.exit(0);

const work = mkdtempSync(join(tmpdir(), "codexkit-protocol-"));
try {
  const all = generate("all", ["--experimental"]);
  const stable = generate("stable", []);
  const tables = tablesOf(all, stable);
  // Done last, because a release that can't be processed must leave the old types unchanged.
  rmSync(generatedFolder, { recursive: true, force: true });
  copyTypes(all, generatedFolder);
  writeFileSync(join(generatedFolder, "tables.ts"), tables);
  writeFileSync(stampFile, stamp);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function generate(name: string, flags: string[]): string {
  const out = join(work, name);
  execFileSync(
    process.execPath,
    [join(dirname(codexManifest), bin.codex), "app-server", "generate-ts", ...flags, "--out", out],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  return out;
}

function copyTypes(from: string, to: string): void {
  for (const file of typeFiles(from)) {
    const target = join(to, file);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, rewriteTypes(readFileSync(join(from, file), "utf8")));
  }
}

function tablesOf(all: string, stable: string): string {
  const files = new Map(
    // The root folder's types come last and replace v2 types with the same name, because the unions import them.
    typeFiles(all)
      .toSorted((a, b) => b.split("/").length - a.split("/").length)
      .map((file) => [file.replace(/^.*\//, "").replace(/\.ts$/, ""), `./${file}`]),
  );
  const clientArms = unionIn(all, "ClientRequest");
  const stableMethods = new Set(unionIn(stable, "ClientRequest").map(({ method }) => method));
  const responses = [...files.keys()].filter((name) => name.endsWith("Response"));
  const { sentByClient, sentByServer } = splitResponses(responses, unionIn(all, "ServerRequest"));
  return printTables(
    {
      codexVersion: version,
      clientRequests: pairResults(clientArms, sentByServer),
      serverRequests: pairResults(unionIn(all, "ServerRequest"), sentByClient, {}),
      serverNotifications: unionIn(all, "ServerNotification"),
      clientNotifications: unionIn(all, "ClientNotification"),
      experimentalMethods: new Set(
        clientArms.map(({ method }) => method).filter((method) => !stableMethods.has(method)),
      ),
    },
    (type) => {
      const file = files.get(type);
      if (file === undefined) throw new Error(`No generated file declares ${type}`);
      return file;
    },
  );
}

function unionIn(folder: string, name: string): UnionArm[] {
  return readUnion(name, readFileSync(join(folder, `${name}.ts`), "utf8"));
}

/** Separates the responses that clients send from those that the server sends. */
function splitResponses(
  responses: readonly string[],
  serverRequests: readonly UnionArm[],
): { sentByClient: Set<string>; sentByServer: Set<string> } {
  const answered = new Set(serverRequests.map(({ params }) => params?.replace(/Params$/, "Response")));
  return {
    sentByClient: new Set(responses.filter((name) => answered.has(name))),
    sentByServer: new Set(responses.filter((name) => !answered.has(name))),
  };
}

function typeFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
}

function hashOfGenerator(): string {
  const hash = createHash("sha256");
  for (const file of readdirSync(import.meta.dirname).toSorted()) {
    hash.update(readFileSync(join(import.meta.dirname, file)));
  }
  return hash.digest("hex");
}
