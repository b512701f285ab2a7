// An npm registry on loopback. It serves this repository's tarballs, and every other package as it is installed here. npm
// resolves version ranges as usual, but an installation needs no network and can't change overnight.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { root } from "./published-packages.ts";

export interface LocalRegistry extends AsyncDisposable {
  readonly url: string;
}

interface Version {
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly tarball: () => Promise<Buffer>;
}

type Versions = Map<string, Version>;

/** Codex's platform packages are hundreds of megabytes. Consumers are installed without them, as on an unsupported platform. */
const isTooLarge = (name: string, version: string): boolean =>
  name === "@openai/codex" && version.includes("-");

export async function startLocalRegistry(tarballs: Readonly<Record<string, string>>): Promise<LocalRegistry> {
  const packages = installedPackages();
  for (const [folder, file] of Object.entries(tarballs)) {
    const manifest = readManifest(folder);
    const versions: Versions = new Map([
      [manifest.version, { manifest, tarball: async () => readFileSync(file) }],
    ]);
    packages.set(manifest.name, versions);
  }
  const server = createServer((request, response) => {
    answer(packages, request.url ?? "/", `http://${request.headers.host ?? ""}`, response).catch(
      (error: unknown) => {
        response.writeHead(500).end(String(error));
      },
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(
  packages: ReadonlyMap<string, Versions>,
  url: string,
  origin: string,
  response: ServerResponse,
): Promise<void> {
  const [name = "", version] = decodeURIComponent(url.slice(1)).split("/-/");
  const versions = packages.get(name);
  if (!versions) {
    response.writeHead(404, { "content-type": "application/json" }).end('{"error":"not found"}');
  } else if (version === undefined) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(packument(name, versions, origin)));
  } else {
    const tarball = await versions.get(version.replace(/\.tgz$/, ""))?.tarball();
    response.writeHead(tarball ? 200 : 404).end(tarball);
  }
}

function packument(name: string, versions: Versions, origin: string): object {
  return {
    name,
    "dist-tags": { latest: [...versions.keys()].toSorted(newestFirst)[0] },
    versions: Object.fromEntries(
      [...versions].map(([version, { manifest }]) => [
        version,
        {
          ...manifest,
          dist: { tarball: `${origin}/${name.replace("/", "%2f")}/-/${version}.tgz` },
        },
      ]),
    ),
  };
}

function newestFirst(one: string, other: string): number {
  return other.localeCompare(one, "en", { numeric: true });
}

/** The packages in the lockfile that are installed. */
function installedPackages(): Map<string, Versions> {
  const lockfile = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { link?: boolean }>;
  };
  const found = new Map<string, Versions>();
  for (const [path, { link }] of Object.entries(lockfile.packages)) {
    const folder = join(root, path);
    if (link || !path.includes("node_modules/") || !existsSync(join(folder, "package.json"))) continue;
    const manifest = readManifest(folder);
    if (isTooLarge(manifest.name, manifest.version)) continue;
    const versions = found.get(manifest.name) ?? new Map();
    versions.set(manifest.version, { manifest, tarball: async () => packInstalled(folder) });
    found.set(manifest.name, versions);
  }
  return found;
}

function readManifest(folder: string): { name: string; version: string } & Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** npm accepts any name for the top folder of a tarball. */
async function packInstalled(folder: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    execFile(
      "tar",
      ["-c", "--exclude", `${basename(folder)}/node_modules`, "-C", dirname(folder), basename(folder)],
      { encoding: "buffer", maxBuffer: 512 * 1024 * 1024 },
      (error, stdout) => {
        if (error) reject(error);
        else resolve(gzipSync(stdout, { level: constants.Z_NO_COMPRESSION }));
      },
    );
  });
}
