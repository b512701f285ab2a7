import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  lstatSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { CodexError } from "../errors.ts";
import type { ProcessIdentity } from "./find-owned.ts";
import { SWEEP_LIMITS } from "./limits.ts";
import { type ProcessTable, processTable } from "./process-table.ts";

const identity = z.object({
  pid: z.int().min(2),
  /** Absent where the system does not tell. */
  start: z.string(),
  startOrder: z.number(),
});

const schema = z.object({
  version: z.literal(1),
  mark: z.uuid(),
  /** Pids of another namespace or another boot mean nothing here. */
  namespace: z.string(),
  owner: identity,
  /** Absent between the moment before the spawn and the moment after it. */
  child: identity.optional(),
  /** How many processes the system had made when this one was; says whether its pid may be another's by now. */
  forks: z.int().optional(),
});

/** Who owns which child, on disk, so that the next start finds the children of an owner that could not clean up. */
export type OwnerManifest = z.infer<typeof schema>;

/** The variable that moves the folder. */
export const OWNERS_VARIABLE = "CODEXKIT_OWNERS_DIR";

/** Where the manifests of this user are, unless told. */
export function ownersFolder(): string {
  const told = process.env[OWNERS_VARIABLE];
  if (told) return resolve(told);
  const user = process.getuid?.() ?? "user";
  return join(tmpdir(), `codexkit-${user}`, "owners");
}

/** One child's manifest, from before its spawn until it is gone. */
export class ManifestFile {
  readonly #folder: string;
  #manifest: OwnerManifest;

  /** Writes the manifest without a child: if this process is killed in the middle of the spawn, the mark still tells. */
  constructor(folder: string, mark: string, system: ProcessTable = processTable()) {
    this.#folder = folder;
    this.#manifest = {
      version: 1,
      mark,
      namespace: system.namespace(),
      owner: system.one(process.pid) ?? unknownStart(process.pid),
      forks: system.forks()?.made,
    };
    this.#write();
  }

  get path(): string {
    return join(this.#folder, `${this.#manifest.mark}.json`);
  }

  /** Adds the child, right after its spawn. */
  record(child: ProcessIdentity): void {
    this.#manifest = { ...this.#manifest, child };
    try {
      this.#write();
    } catch {
      // A full disk. The child runs already, and the manifest from before still finds it by its mark.
    }
  }

  /** The child is gone: so is its manifest, and with the last one the folder. */
  remove(): void {
    try {
      removeManifest(this.path);
    } catch {
      // A sweep removes it when this process is gone.
    }
  }

  #write(): void {
    writeManifest(this.#folder, this.#manifest);
  }
}

/** A process on a system that tells no start times. */
export function unknownStart(pid: number): ProcessIdentity {
  return { pid, start: "", startOrder: 0 };
}

/** Writes a whole manifest or none. */
export function writeManifest(folder: string, manifest: OwnerManifest): void {
  const path = join(folder, `${manifest.mark}.json`);
  const unfinished = `${path}.${process.pid}.tmp`;
  // Another process may remove the empty folder between the two steps.
  for (let attempt = 1; ; attempt++) {
    makeFolder(folder);
    try {
      writeFileSync(unfinished, JSON.stringify(manifest), { mode: 0o600, flag: "wx" });
      renameSync(unfinished, path);
      return;
    } catch (error) {
      rmSync(unfinished, { force: true });
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === 10) throw error;
    }
  }
}

/** Reads one; nothing when it is gone meanwhile, "corrupt" when it is not a manifest. */
export function readManifest(path: string): OwnerManifest | "corrupt" | undefined {
  try {
    const stat = lstatSync(path);
    if (!stat.isFile() || stat.size > SWEEP_LIMITS.manifestBytes) return "corrupt";
    const parsed = schema.safeParse(JSON.parse(readFileSync(path, "utf8")));
    return parsed.success ? parsed.data : "corrupt";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : "corrupt";
  }
}

/** Removes one, and the folder with it when it was the last. */
export function removeManifest(path: string): void {
  rmSync(path, { force: true, recursive: true });
  removeIfEmpty(dirname(path));
}

/** The files of a folder that can be trusted; none when there is no folder. */
export function listManifests(folder: string): string[] {
  if (!checkFolder(folder)) return [];
  return readdirSync(folder).map((name) => join(folder, name));
}

/** Takes the folder away when nothing is in it: no litter. */
export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
    // The parent is ours alone by its name; one that was told is not.
    if (process.env[OWNERS_VARIABLE] === undefined && folder === ownersFolder()) rmdirSync(dirname(folder));
  } catch {
    // Not empty, or gone already.
  }
}

function makeFolder(folder: string): void {
  if (checkFolder(folder)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkFolder(folder);
}

/**
 * A manifest says whom to kill, so only its owner may write there. The temp folder is open to all: another user could
 * have made the folder first, or have put a link in its place.
 */
function checkFolder(folder: string): boolean {
  const checked = folder === ownersFolder() ? [dirname(folder), folder] : [folder];
  for (const path of checked) {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    const uid = process.getuid?.();
    const wrong = stat.isSymbolicLink()
      ? "it is a symbolic link"
      : !stat.isDirectory()
        ? "it is not a folder"
        : uid !== undefined && stat.uid !== uid
          ? `it belongs to user ${stat.uid}`
          : uid !== undefined && (stat.mode & 0o022) !== 0
            ? "others may write to it"
            : undefined;
    if (wrong !== undefined) {
      throw new CodexError(
        "invalid_argument",
        `Will not keep track of processes in ${path}: ${wrong}. Remove it, or set ${OWNERS_VARIABLE} to a folder of your own.`,
      );
    }
  }
  return true;
}
