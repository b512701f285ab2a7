import { chmodSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXEC_LIMITS } from "../limits.ts";
import type { ChildSpec, Doors } from "../process/child.ts";
import type { DenialCheck } from "../process/managed-process.ts";
import { CODES } from "../wire/codes.ts";
import { Refusal } from "../wire/refusal.ts";
import type { SandboxContext } from "../wire/sandbox-context.ts";
import { bwrapPlan } from "./bwrap-args.ts";
import { looksDenied } from "./denial.ts";
import { findBwrap, works } from "./find-bwrap.ts";
import { MadeFolders } from "./made-folders.ts";
import { type Policy, readPolicy } from "./policy.ts";
import { SandboxedFiles } from "./sandboxed-files.ts";
import { networkFilter, proxiedFilter } from "./seccomp.ts";

export interface Confined {
  readonly spec: ChildSpec;
  readonly sandboxType: "none" | "linuxSeccomp";
  readonly denied: DenialCheck | undefined;
  /** To be disposed of when the process is over. */
  readonly leftovers: Disposable | undefined;
}

/** What sandboxes are made of. */
interface Tools {
  readonly bwrap: string;
  readonly filter: string;
  readonly proxiedFilter: string;
  readonly deniedFile: string;
}

interface WarmHelper {
  readonly files: SandboxedFiles;
  readonly leftovers: Disposable;
  idle: NodeJS.Timeout | undefined;
}

/** The fd on which bubblewrap finds the seccomp program: the first behind stdin, stdout and stderr. */
const FILTER_FD = "3";

/** Where the code of programs in a sandbox is: `src` from source, `dist` when installed. */
const CODE = realpathSync(dirname(dirname(fileURLToPath(import.meta.url))));
const EXTENSION = import.meta.url.endsWith(".ts") ? "ts" : "js";
const HELPER = join(CODE, "sandbox", `file-helper.${EXTENSION}`);
const NODE = realpathSync(process.execPath);
const ENTRY = join(CODE, "network", `namespace-entry.${EXTENSION}`);

/** The whole disk, and no network. */
const OPEN_DISK: Policy = { root: "write", minimal: true, grants: [], network: false };

/** Confines processes and file operations with bubblewrap. What can't be confined is refused, never run without. */
export class Sandbox implements AsyncDisposable {
  /** Of the server: the pipes of every process are in it, and no process should reach those of another. */
  readonly #folder: string;
  readonly #configured: string | null | undefined;
  readonly #made = new MadeFolders();
  readonly #helpers = new Map<string, WarmHelper>();
  #found: Tools | undefined | "nothing";

  constructor(folder: string, bwrap: string | null | undefined) {
    this.#folder = folder;
    this.#configured = bwrap;
  }

  /** Whether a working bubblewrap was found. Without one, sandboxed requests are refused. */
  get isUsable(): boolean {
    this.#found ??= this.#find() ?? "nothing";
    return this.#found !== "nothing";
  }

  get capabilities(): Readonly<Record<string, boolean>> {
    const { isUsable } = this;
    return {
      sandboxedFileStreaming: true,
      fileWriteStreaming: true,
      networkProxyLaunch: isUsable,
      networkProxyReviewDomains: isUsable,
    };
  }

  /**
   * The same child inside its sandbox. With doors it is alone in a network of its own, whatever the context says of the
   * network, and reaches nothing but who answers at the doors.
   */
  confine(spec: ChildSpec, context: SandboxContext, doors?: Doors): Confined {
    const policy = doors ? { ...(readPolicy(context) ?? OPEN_DISK), network: false } : readPolicy(context);
    if (!policy) return { spec, sandboxType: "none", denied: undefined, leftovers: undefined };
    const tools = this.#tools();
    const { args, madeFolders } = bwrapPlan(policy, {
      deniedFile: tools.deniedFile,
      hiddenFolder: this.#folder,
      keepsMade: (path) => this.#made.isOurs(path),
      alwaysReadable: doors ? ownFiles(policy) : [],
    });
    const filter = doors ? tools.proxiedFilter : policy.network ? undefined : tools.filter;
    const command = [
      tools.bwrap,
      ...args,
      ...(filter === undefined ? [] : ["--seccomp", FILTER_FD]),
      ...(spec.arg0 === undefined || doors ? [] : ["--argv0", spec.arg0]),
      "--chdir",
      spec.cwd,
      "--",
      ...(doors ? [NODE, "--no-warnings", ENTRY, spec.arg0 ?? ""] : []),
      ...spec.argv,
    ];
    return {
      spec: {
        ...spec,
        argv: command as [string, ...string[]],
        arg0: undefined,
        extraFiles: filter === undefined ? [] : [filter],
        doors,
      },
      sandboxType: "linuxSeccomp",
      denied: looksDenied,
      leftovers: this.#made.use(madeFolders),
    };
  }

  /** Whether a path exists only because a sandbox needed something to mount on: nobody else should see it. */
  isPhantom(path: string): boolean {
    return this.#made.isOurs(path);
  }

  /** The helper for file operations under this context; undefined when they need none. */
  files(context: SandboxContext, access: "read" | "write"): SandboxedFiles | undefined {
    const policy = readPolicy(context);
    if (!policy || mayGoDirect(policy, access)) return undefined;
    const key = JSON.stringify({ ...policy, network: false });
    const warm = this.#helpers.get(key);
    if (warm && !warm.files.isDead) {
      this.#keepWarm(key, warm);
      return warm.files;
    }
    return this.#startHelper(key, policy);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#helpers.keys()].map((key) => this.#stop(key)));
  }

  #startHelper(key: string, policy: Policy): SandboxedFiles {
    const { bwrap, deniedFile } = this.#tools();
    const { args, madeFolders } = bwrapPlan(
      { ...policy, network: false },
      {
        deniedFile,
        hiddenFolder: this.#folder,
        keepsMade: (path) => this.#made.isOurs(path),
        alwaysReadable: ownFiles(policy),
      },
    );
    const command = [
      ...args,
      "--chdir",
      "/",
      "--",
      NODE,
      "--max-old-space-size=256",
      "--no-warnings",
      HELPER,
    ];
    const helper: WarmHelper = {
      files: new SandboxedFiles(bwrap, command),
      leftovers: this.#made.use(madeFolders),
      idle: undefined,
    };
    const [oldest] = this.#helpers.keys();
    if (this.#helpers.size >= EXEC_LIMITS.sandboxHelpers && oldest !== undefined) void this.#stop(oldest);
    this.#keepWarm(key, helper);
    return helper.files;
  }

  #keepWarm(key: string, helper: WarmHelper): void {
    clearTimeout(helper.idle);
    // Last in the map: the one that was not used for longest is first.
    this.#helpers.delete(key);
    this.#helpers.set(key, helper);
    helper.idle = setTimeout(() => {
      if (helper.files.isBusy) this.#keepWarm(key, helper);
      else void this.#stop(key);
    }, EXEC_LIMITS.sandboxHelperIdleMs);
    helper.idle.unref();
  }

  async #stop(key: string): Promise<void> {
    const helper = this.#helpers.get(key);
    this.#helpers.delete(key);
    clearTimeout(helper?.idle);
    await helper?.files[Symbol.asyncDispose]();
    helper?.leftovers[Symbol.dispose]();
  }

  /** Found and tried once, when the first sandbox is asked for. */
  #tools(): Tools {
    this.#found ??= this.#find() ?? "nothing";
    if (this.#found !== "nothing") return this.#found;
    throw new Refusal(
      CODES.invalidParams,
      "sandbox cannot be enforced: there is no bubblewrap that works here",
    );
  }

  #find(): Tools | undefined {
    const [program, proxiedProgram] = [networkFilter(), proxiedFilter()];
    if (this.#configured === null || process.platform !== "linux" || !program || !proxiedProgram)
      return undefined;
    const bwrap =
      this.#configured === undefined ? findBwrap() : works(this.#configured) ? this.#configured : undefined;
    if (bwrap === undefined) return undefined;
    const filter = join(this.#folder, "network-filter");
    const proxied = join(this.#folder, "proxied-filter");
    const deniedFile = join(this.#folder, "denied");
    writeFileSync(filter, program);
    writeFileSync(proxied, proxiedProgram);
    writeFileSync(deniedFile, "");
    chmodSync(deniedFile, 0);
    return { bwrap, filter, proxiedFilter: proxied, deniedFile };
  }
}

/** On a disk that is hidden our programs need themselves: their own file and their own code, not what lies beside them. */
function ownFiles({ root, minimal }: Policy): readonly string[] {
  if (root !== "none") return [];
  if (minimal) return [NODE, CODE, join(dirname(CODE), "package.json")];
  throw new Refusal(
    CODES.invalidParams,
    "sandbox cannot be enforced: the helper's own libraries are not readable",
  );
}

/** A disk that may be read whole, or written whole, needs no helper for that. */
function mayGoDirect({ root, grants }: Policy, access: "read" | "write"): boolean {
  if (root === "none") return false;
  if (access === "write" && root !== "write") return false;
  return grants.every((grant) => grant.access === "write" || (access === "read" && grant.access === "read"));
}
