import { chmodSync, realpathSync, writeFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ChildSpec, Doors } from "../process/child.ts";
import type { DenialCheck } from "../process/managed-process.ts";
import { CODES } from "../wire/codes.ts";
import { Refusal } from "../wire/refusal.ts";
import type { SandboxContext } from "../wire/sandbox-context.ts";
import { bwrapArgs } from "./bwrap-args.ts";
import { looksDenied } from "./denial.ts";
import { findBwrap, works } from "./find-bwrap.ts";
import { type HelperLease, HelperPool } from "./helper-pool.ts";
import { type MountPlan, planMounts } from "./mount-plan.ts";
import { Placeholders } from "./placeholders.ts";
import { planIdentity } from "./plan-identity.ts";
import { allowsEverywhere, type Policy, readPolicy, UNRESTRICTED } from "./policy.ts";
import { JOURNAL, type RuntimeFolder } from "./runtime-folder.ts";
import { SandboxedFiles } from "./sandboxed-files.ts";
import { offlineFilter, onlineFilter, proxiedFilter } from "./seccomp.ts";

export interface Confined {
  readonly spec: ChildSpec;
  readonly sandboxType: "none" | "linuxSeccomp";
  readonly denied: DenialCheck | undefined;
  /** To be disposed of when the process is over. */
  readonly leftovers: Disposable | undefined;
}

export interface SandboxOptions {
  readonly folder: Pick<RuntimeFolder, "path" | "shared">;
  /** The bubblewrap to use; found if undefined. `null`: sandboxed requests are refused. */
  readonly bwrap: string | null | undefined;
  /** Why commands with a restricted disk may not have the network; undefined if they may. */
  readonly networkObjection: string | undefined;
}

/** The files that sandboxes are made with. */
interface Tools {
  readonly bwrap: string;
  readonly filters: Readonly<Record<FilterName, string>>;
  readonly deniedFile: string;
}

type FilterName = "offline" | "online" | "proxied";

/** The fd on which bubblewrap finds the seccomp program: the first behind stdin, stdout and stderr. */
const FILTER_FD = "3";

/** Where the code of programs in a sandbox is: `src` from source, `dist` when installed. */
const CODE = realpathSync(dirname(dirname(fileURLToPath(import.meta.url))));
const EXTENSION = import.meta.url.endsWith(".ts") ? "ts" : "js";
const HELPER = join(CODE, "sandbox", `file-helper.${EXTENSION}`);
const NODE = realpathSync(process.execPath);
const ENTRY = join(CODE, "network", `namespace-entry.${EXTENSION}`);

/** How often a plan is made anew because someone created a path that it relied on, and the pause before that. */
const PLAN_ATTEMPTS = 10;
const PLAN_RETRY_MS = 5;

/** Confines processes and file operations with bubblewrap. What can't be confined is refused, never run without. */
export class Sandbox implements AsyncDisposable {
  readonly #options: SandboxOptions;
  readonly #placeholders: Placeholders;
  readonly #helpers = new HelperPool();
  #found: Tools | undefined | "nothing";

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#placeholders = new Placeholders(join(options.folder.path, JOURNAL));
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
  async confine(spec: ChildSpec, context: SandboxContext, doors?: Doors): Promise<Confined> {
    const policy = doors ? { ...(readPolicy(context) ?? UNRESTRICTED), network: false } : readPolicy(context);
    if (!policy) return { spec, sandboxType: "none", denied: undefined, leftovers: undefined };
    const { networkObjection } = this.#options;
    if (policy.network && networkObjection !== undefined) throw refused(networkObjection);
    const tools = this.#tools();
    const alwaysReadable = doors ? ownFiles(policy) : [];
    const { plan, leftovers } = await this.#planWithPlaceholders(policy);
    const args = bwrapArgs(plan, { deniedFile: tools.deniedFile, hasPlaceholders: true, alwaysReadable });
    const filter = tools.filters[doors ? "proxied" : policy.network ? "online" : "offline"];
    const command = [
      tools.bwrap,
      ...args,
      "--seccomp",
      FILTER_FD,
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
        extraFiles: [filter],
        doors,
      },
      sandboxType: "linuxSeccomp",
      denied: looksDenied,
      leftovers,
    };
  }

  /** Whether a path exists only because a sandbox needed something to mount on. However it is spelled. */
  async isPhantom(path: string): Promise<boolean> {
    if (this.#placeholders.has(path)) return true;
    const folder = await realpath(dirname(path)).catch(() => undefined);
    return folder !== undefined && this.#placeholders.has(join(folder, basename(path)));
  }

  /** Whether a file operation under this context has to be done by a helper. */
  needsHelper(context: SandboxContext, access: "read" | "write"): boolean {
    const policy = readPolicy(context);
    return policy !== undefined && !allowsEverywhere(policy, access);
  }

  /** The helper for a file operation under this context; undefined if the operation needs none. */
  async files(context: SandboxContext, access: "read" | "write"): Promise<HelperLease | undefined> {
    const policy = readPolicy(context);
    if (!policy || allowsEverywhere(policy, access)) return undefined;
    const { bwrap, deniedFile } = this.#tools();
    const alwaysReadable = ownFiles(policy);
    const plan = await planMounts({ ...policy, network: false }, this.#options.folder.shared);
    return this.#helpers.lease(await planIdentity(plan), (onIdle) => {
      const args = bwrapArgs(plan, { deniedFile, hasPlaceholders: false, alwaysReadable });
      const guarded = JSON.stringify(plan.missing.map(({ path }) => path));
      const node = [NODE, "--max-old-space-size=256", "--no-warnings", HELPER, guarded];
      return new SandboxedFiles(bwrap, [...args, "--chdir", "/", "--", ...node], onIdle);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#helpers[Symbol.asyncDispose]();
  }

  async #planWithPlaceholders(policy: Policy): Promise<{ plan: MountPlan; leftovers: Disposable }> {
    for (let attempt = 0; attempt < PLAN_ATTEMPTS; attempt += 1) {
      const plan = await planMounts(policy, this.#options.folder.shared);
      const leftovers = this.#placeholders.use(plan.missing.map(({ path }) => path));
      if (leftovers) return { plan, leftovers };
      await delay(PLAN_RETRY_MS);
    }
    throw refused("protected paths are being created and removed at the same time; try again");
  }

  /** Found and tried once, when the first sandbox is asked for. */
  #tools(): Tools {
    this.#found ??= this.#find() ?? "nothing";
    if (this.#found !== "nothing") return this.#found;
    throw refused("there is no bubblewrap that works here");
  }

  #find(): Tools | undefined {
    const { bwrap: configured, folder } = this.#options;
    const programs = { offline: offlineFilter(), online: onlineFilter(), proxied: proxiedFilter() };
    if (configured === null || process.platform !== "linux") return undefined;
    const { offline, online, proxied } = programs;
    if (!offline || !online || !proxied) return undefined;
    const bwrap = configured === undefined ? findBwrap() : works(configured) ? configured : undefined;
    if (bwrap === undefined) return undefined;
    const write = (name: string, bytes: Buffer): string => {
      const path = join(folder.path, name);
      writeFileSync(path, bytes);
      return path;
    };
    const deniedFile = write("denied", Buffer.alloc(0));
    chmodSync(deniedFile, 0);
    return {
      bwrap,
      deniedFile,
      filters: {
        offline: write("offline-filter", offline),
        online: write("online-filter", online),
        proxied: write("proxied-filter", proxied),
      },
    };
  }
}

/** On a disk that is hidden our programs need themselves: their own file and their own code, not what lies beside them. */
function ownFiles({ root, minimal }: Policy): readonly string[] {
  if (root !== "none") return [];
  if (minimal) return [NODE, CODE, join(dirname(CODE), "package.json")];
  throw refused("the helper's own libraries are not readable");
}

function refused(message: string): Refusal {
  return new Refusal(CODES.invalidParams, `sandbox cannot be enforced: ${message}`);
}
