import { chmodSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXEC_LIMITS } from "../limits.ts";
import type { ChildSpec } from "../process/child.ts";
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
import { networkFilter } from "./seccomp.ts";

export interface Confined {
  readonly spec: ChildSpec;
  readonly sandboxType: "none" | "linuxSeccomp";
  readonly denied: DenialCheck | undefined;
  /** To be disposed of when the process is over. */
  readonly leftovers: Disposable | undefined;
}

interface WarmHelper {
  readonly files: SandboxedFiles;
  readonly leftovers: Disposable;
  idle: NodeJS.Timeout | undefined;
}

/** The fd on which bubblewrap finds the seccomp program: the first behind stdin, stdout and stderr. */
const FILTER_FD = "3";

/** Where the helper's code is: `src` from source, `dist` when installed. */
const CODE = realpathSync(dirname(dirname(fileURLToPath(import.meta.url))));
const HELPER = join(CODE, "sandbox", import.meta.url.endsWith(".ts") ? "file-helper.ts" : "file-helper.js");

/** Confines processes and file operations with bubblewrap. What can't be confined is refused, never run without. */
export class Sandbox implements AsyncDisposable {
  readonly #folder: string;
  readonly #configured: string | null | undefined;
  readonly #made = new MadeFolders();
  readonly #helpers = new Map<string, WarmHelper>();
  #found: { bwrap: string; filter: string; deniedFile: string } | undefined | "nothing";

  constructor(folder: string, bwrap: string | null | undefined) {
    this.#folder = folder;
    this.#configured = bwrap;
  }

  get capabilities(): Readonly<Record<string, boolean>> {
    return { sandboxedFileStreaming: true, fileWriteStreaming: true };
  }

  /** The same child inside its sandbox. */
  confine(spec: ChildSpec, context: SandboxContext): Confined {
    const policy = readPolicy(context);
    if (!policy) return { spec, sandboxType: "none", denied: undefined, leftovers: undefined };
    const { bwrap, filter, deniedFile } = this.#tools();
    const { args, madeFolders } = bwrapPlan(policy, {
      deniedFile,
      keepsMade: (path) => this.#made.isOurs(path),
    });
    const filtered = !policy.network;
    const command = [
      bwrap,
      ...args,
      ...(filtered ? ["--seccomp", FILTER_FD] : []),
      ...(spec.arg0 === undefined ? [] : ["--argv0", spec.arg0]),
      "--chdir",
      spec.cwd,
      "--",
      ...spec.argv,
    ];
    return {
      spec: {
        ...spec,
        argv: command as [string, ...string[]],
        arg0: undefined,
        extraFiles: filtered ? [filter] : [],
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
    if (policy.root === "none" && !policy.minimal) {
      throw new Refusal(
        CODES.invalidParams,
        "sandbox cannot be enforced: the helper's own libraries are not readable",
      );
    }
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
    const node = realpathSync(process.execPath);
    const { args, madeFolders } = bwrapPlan(
      { ...policy, network: false },
      {
        deniedFile,
        keepsMade: (path) => this.#made.isOurs(path),
        // On a disk that is hidden the helper needs itself: its own file and its own code, not what lies beside them.
        alwaysReadable: policy.root === "none" ? [node, CODE, join(dirname(CODE), "package.json")] : [],
      },
    );
    const command = [
      ...args,
      "--chdir",
      "/",
      "--",
      node,
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
  #tools(): { bwrap: string; filter: string; deniedFile: string } {
    this.#found ??= this.#find() ?? "nothing";
    if (this.#found !== "nothing") return this.#found;
    throw new Refusal(
      CODES.invalidParams,
      "sandbox cannot be enforced: there is no bubblewrap that works here",
    );
  }

  #find(): { bwrap: string; filter: string; deniedFile: string } | undefined {
    const program = networkFilter();
    if (this.#configured === null || process.platform !== "linux" || !program) return undefined;
    const bwrap =
      this.#configured === undefined ? findBwrap() : works(this.#configured) ? this.#configured : undefined;
    if (bwrap === undefined) return undefined;
    const filter = join(this.#folder, "network-filter");
    const deniedFile = join(this.#folder, "denied");
    writeFileSync(filter, program);
    writeFileSync(deniedFile, "");
    chmodSync(deniedFile, 0);
    return { bwrap, filter, deniedFile };
  }
}

/** A disk that may be read whole, or written whole, needs no helper for that. */
function mayGoDirect({ root, grants }: Policy, access: "read" | "write"): boolean {
  if (root === "none") return false;
  if (access === "write" && root !== "write") return false;
  return grants.every((grant) => grant.access === "write" || (access === "read" && grant.access === "read"));
}
