import { chmodSync, existsSync, realpathSync, writeFileSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ChildSpec, NamespaceListeners } from "../process/child.ts";
import { leadsToProc } from "../files/proc-files.ts";
import type { DenialCheck } from "../process/managed-process.ts";
import type { NativePath } from "../wire/path-uri.ts";
import type { SandboxContext } from "../wire/sandbox-context.ts";
import { bwrapArgs } from "./bwrap-args.ts";
import { looksDenied } from "./denial.ts";
import { findBwrap, works } from "./find-bwrap.ts";
import type { ServerLimits } from "../limits.ts";
import { type HelperLease, HelperPool } from "./helper-pool.ts";
import { type MountPlan, planLinkRemoval, planMounts, type PlanOptions } from "./mount-plan.ts";
import { createNamelessFile } from "../process/nameless-file.ts";
import { Placeholders } from "./placeholders.ts";
import { planIdentity } from "./plan-identity.ts";
import { allowsEverywhere, type Policy, readPolicy, UNRESTRICTED } from "./policy.ts";
import { JOURNAL, type RuntimeFolder } from "./runtime-folder.ts";
import { SandboxedFiles } from "./sandboxed-files.ts";
import { offlineFilter, onlineFilter, proxiedFilter } from "./seccomp.ts";
import { PROGRAM_EXTENSION } from "../program-extension.ts";
import { policyRefusal } from "./policy-refusal.ts";

export interface Confined {
  readonly spec: ChildSpec;
  readonly sandboxType: "none" | "linuxSeccomp";
  readonly denied: DenialCheck | undefined;
  /** Disposed of when the process has closed. */
  readonly leftovers: Disposable | undefined;
}

export interface SandboxOptions {
  readonly folder: RuntimeFolder;
  readonly limits: ServerLimits;
  /** Path of bubblewrap. If undefined, it is searched for. If `null`, sandboxed requests are refused. */
  readonly bwrap: string | null | undefined;
  /** Why commands with a restricted disk may not have the network; undefined if they may. */
  readonly networkObjection: string | undefined;
}

/** Files needed to set up sandboxes. */
interface Tools {
  readonly bwrap: string;
  readonly filters: Readonly<Record<FilterName, string>>;
  readonly deniedFile: string;
}

type FilterName = "offline" | "online" | "proxied";

/**
 * The descriptor from which bubblewrap reads the seccomp program: the first after stdin, stdout and stderr.
 */
const FILTER_FD = "3";

/** The folder with the code of programs that run in a sandbox: `src` from source, `dist` when installed. */
const CODE = realpathSync(dirname(dirname(fileURLToPath(import.meta.url))));
const HELPER = join(CODE, "sandbox", `file-helper.${PROGRAM_EXTENSION}`);
const NODE = realpathSync(process.execPath);
const ENTRY = join(CODE, "network", `namespace-entry.${PROGRAM_EXTENSION}`);

/**
 * How often planning is repeated because a path that the plan relied on was created meanwhile, and the pause
 * in between.
 */
const PLAN_ATTEMPTS = 10;
const PLAN_RETRY_MS = 5;

/**
 * Runs processes and file operations in bubblewrap. Refuses requests that can't be sandboxed; never runs them
 * unsandboxed.
 */
export class Sandbox implements AsyncDisposable {
  readonly #options: SandboxOptions;
  readonly #placeholders: Placeholders;
  readonly #helpers: HelperPool;
  readonly #files = new DisposableStack();
  #found: Tools | undefined | "nothing";

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#placeholders = new Placeholders(join(options.folder.path, JOURNAL));
    this.#helpers = new HelperPool(options.limits);
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
   * Returns the same child inside its sandbox. With listeners, it has its own network namespace, regardless
   * of the context's network setting, and can reach only the proxies behind them.
   */
  async confine(spec: ChildSpec, context: SandboxContext, listeners?: NamespaceListeners): Promise<Confined> {
    const policy = listeners
      ? { ...(readPolicy(context) ?? UNRESTRICTED), network: false }
      : readPolicy(context);
    if (!policy) return { spec, sandboxType: "none", denied: undefined, leftovers: undefined };
    const { networkObjection } = this.#options;
    if (policy.network && networkObjection !== undefined) throw policyRefusal(networkObjection);
    const tools = this.#tools();
    const alwaysReadable = listeners ? ownFiles(policy) : [];
    const { plan, leftovers } = await this.#planWithPlaceholders(policy);
    const args = bwrapArgs(plan, { deniedFile: tools.deniedFile, hasPlaceholders: true, alwaysReadable });
    const filter = tools.filters[listeners ? "proxied" : policy.network ? "online" : "offline"];
    const command = [
      tools.bwrap,
      ...args,
      "--seccomp",
      FILTER_FD,
      ...(spec.arg0 === undefined || listeners ? [] : ["--argv0", spec.arg0]),
      "--chdir",
      spec.cwd,
      "--",
      ...(listeners ? [NODE, "--no-warnings", ENTRY, spec.arg0 ?? ""] : []),
      ...spec.argv,
    ];
    return {
      spec: {
        ...spec,
        argv: command as [string, ...string[]],
        arg0: undefined,
        extraFiles: [filter],
        listeners,
      },
      sandboxType: "linuxSeccomp",
      denied: looksDenied,
      leftovers,
    };
  }

  /** Whether a path, in any spelling, exists only as a mount point for a sandbox. */
  async isPhantom(path: string): Promise<boolean> {
    if (this.#placeholders.has(path)) return true;
    const folder = await realpath(dirname(path)).catch(() => undefined);
    return folder !== undefined && this.#placeholders.has(join(folder, basename(path)));
  }

  /** Whether a file operation in this context has to be done by a helper. */
  needsHelper(context: SandboxContext, access: "read" | "write"): boolean {
    const policy = readPolicy(context);
    return policy !== undefined && !allowsEverywhere(policy, access);
  }

  /** Whether this context restricts anything. */
  isRestricted(context: SandboxContext): boolean {
    return readPolicy(context) !== undefined;
  }

  /**
   * Returns the helper for a file operation in this context, or undefined if the operation needs none. Even
   * if everything may be read, `/proc` shows a sandbox only its own processes.
   */
  async files(
    context: SandboxContext,
    access: "read" | "write",
    path: NativePath,
  ): Promise<HelperLease | undefined> {
    const policy = readPolicy(context);
    if (!policy || (allowsEverywhere(policy, access) && !(await leadsToProc(path)))) return undefined;
    this.#tools();
    const plan = await planMounts({ ...policy, network: false }, this.#planOptions);
    return this.#lease(policy, plan, await planIdentity(plan));
  }

  /**
   * Returns a helper for the removal of a link because of which `files` refuses the context, for this
   * operation only. Undefined if the path is not a link, or if the context is not refused because of it.
   */
  async filesForLinkRemoval(context: SandboxContext, path: string): Promise<HelperLease | undefined> {
    const policy = readPolicy(context);
    const found = await lstat(path).catch(() => undefined);
    if (!policy || found?.isSymbolicLink() !== true) return undefined;
    const link = join(await realpath(dirname(path)), basename(path));
    const plan = await planLinkRemoval({ ...policy, network: false }, link, this.#planOptions);
    return this.#lease(policy, plan, undefined);
  }

  #lease(policy: Policy, plan: MountPlan, identity: string | undefined): Promise<HelperLease> {
    const { bwrap, deniedFile } = this.#tools();
    const alwaysReadable = ownFiles(policy);
    const { limits } = this.#options;
    return this.#helpers.lease(identity, (onIdle) => {
      const args = bwrapArgs(plan, { deniedFile, hasPlaceholders: false, alwaysReadable });
      const guarded = JSON.stringify(plan.missing.map(({ path }) => path));
      const node = [NODE, "--max-old-space-size=256", "--no-warnings", HELPER, guarded];
      return new SandboxedFiles(bwrap, [...args, "--chdir", "/", "--", ...node], { limits, onIdle });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#files.dispose();
    await this.#helpers[Symbol.asyncDispose]();
  }

  async #planWithPlaceholders(policy: Policy): Promise<{ plan: MountPlan; leftovers: Disposable }> {
    for (let attempt = 0; attempt < PLAN_ATTEMPTS; attempt += 1) {
      const plan = await planMounts(policy, this.#planOptions);
      const leftovers = this.#placeholders.use(plan.missing.map(({ path }) => path));
      if (leftovers) return { plan, leftovers };
      await delay(PLAN_RETRY_MS);
    }
    throw policyRefusal("Protected paths are being created and removed at the same time. Try again.");
  }

  get #planOptions(): PlanOptions {
    return { hiddenFolders: this.#options.folder.hiddenFolders(), limits: this.#options.limits };
  }

  /** Searched and tried once. Files that were removed from the runtime folder are created again. */
  #tools(): Tools {
    this.#found ??= this.#find() ?? "nothing";
    if (this.#found !== "nothing") {
      this.#options.folder.ensure();
      createDeniedFile(this.#found.deniedFile);
      return this.#found;
    }
    throw policyRefusal("No working bubblewrap was found.");
  }

  #find(): Tools | undefined {
    const { bwrap: configured, folder } = this.#options;
    const programs = { offline: offlineFilter(), online: onlineFilter(), proxied: proxiedFilter() };
    if (configured === null || process.platform !== "linux") return undefined;
    const { offline, online, proxied } = programs;
    if (!offline || !online || !proxied) return undefined;
    const bwrap = configured === undefined ? findBwrap() : works(configured) ? configured : undefined;
    if (bwrap === undefined) return undefined;
    const filter = (name: string, program: Buffer): string =>
      this.#files.use(createNamelessFile(join(folder.path, name), program)).path;
    return {
      bwrap,
      deniedFile: join(folder.path, "denied"),
      filters: {
        offline: filter("offline-filter", offline),
        online: filter("online-filter", online),
        proxied: filter("proxied-filter", proxied),
      },
    };
  }
}

function createDeniedFile(path: string): void {
  if (existsSync(path)) return;
  writeFileSync(path, "");
  chmodSync(path, 0);
}

/** Files that the server's own programs need if the disk is hidden: Node and their code, but not the folders around them. */
function ownFiles({ root, minimal }: Policy): readonly string[] {
  if (root !== "none") return [];
  if (minimal) return [NODE, CODE, join(dirname(CODE), "package.json")];
  throw policyRefusal("The libraries that the helper needs are not readable under this policy.");
}
