import { BoundedMap } from "@codexkit/rpc/async";
import { type CaptureDeps, captureOutput } from "../process/capture-output.ts";
import type { ChildSpec } from "../process/child.ts";
import type { ProcessGroups } from "../process/process-groups.ts";
import { replaceShell, type ShellSnapshot, takeSnapshot, withSnapshot } from "../process/shell-snapshot.ts";
import { bashReporter } from "../process/shell-state.ts";
import { EXEC_LIMITS, type ServerLimits } from "../limits.ts";
import type { StartParams } from "../wire/process-params.ts";
import { CODES, Refusal } from "../wire/refusal.ts";

type Snapshot = Promise<ShellSnapshot | undefined>;

/** Shells that a client may name. Codex's list. */
const KNOWN: ReadonlySet<string> = new Set(["bash", "zsh", "sh"]);

/** Options set by these environment variables would apply while the state is restored. */
const OPTIONS_IN_ENV = ["SHELLOPTS", "BASHOPTS"];

/** The shell snapshots of one session. They are kept only in memory and end with the session. */
export class SnapshotCache {
  readonly #groups: ProcessGroups;
  readonly #limits: ServerLimits;
  readonly #snapshots: BoundedMap<string, Snapshot>;
  #ended = false;

  constructor(groups: ProcessGroups, limits: ServerLimits) {
    this.#groups = groups;
    this.#limits = limits;
    this.#snapshots = new BoundedMap(limits.snapshots);
  }

  /** Called when the session ends. */
  end(): void {
    this.#ended = true;
    this.#snapshots.clear();
  }

  /** Throws if the snapshot of a request is not possible, before anything is started. */
  static check({ shellSnapshot, argv }: StartParams): void {
    if (!shellSnapshot) return;
    const { scopeId, shell } = shellSnapshot;
    const { snapshotScopeBytes } = EXEC_LIMITS;
    if (scopeId === "" || Buffer.byteLength(scopeId) > snapshotScopeBytes) {
      const message = `shell snapshot scope must be non-empty and at most ${snapshotScopeBytes} bytes`;
      throw new Refusal(CODES.invalidParams, message);
    }
    if (!isLogin(argv, shell.path) || KNOWN.has(shell.name)) return;
    throw new Refusal(CODES.invalidParams, `shell snapshots are unsupported for shell \`${shell.name}\``);
  }

  /**
   * Returns the child with the state of its login shell restored instead of computed again. Returns it
   * unchanged if that is not applicable or the state could not be captured.
   */
  async apply(
    spec: ChildSpec,
    params: StartParams,
    deps: Pick<CaptureDeps, "launcher" | "fifos">,
  ): Promise<ChildSpec> {
    const { shellSnapshot: asked, argv, cwd, envPolicy, sandbox, networkProxy } = params;
    // No snapshots are taken of zsh and sh: dash can't print its functions, and zsh has not been tried. They
    // start normally, which is also what a client gets if a capture fails.
    if (this.#ended || !asked || asked.shell.name !== "bash" || !isLogin(argv, asked.shell.path)) return spec;
    // With a leading dash in its name, the shell would be a login shell again.
    if (params.arg0?.startsWith("-") === true || OPTIONS_IN_ENV.some((name) => Object.hasOwn(spec.env, name)))
      return spec;
    const key = JSON.stringify([asked, cwd, envPolicy ?? null, sandbox ?? null, networkProxy?.proxy ?? null]);
    const snapshot = await this.#get(key, () => this.#capture(spec, params, deps));
    return snapshot ? withSnapshot(spec, argv, snapshot) : spec;
  }

  /**
   * Starts that arrive while a capture is running wait for it. A failure is cached too, because it may have
   * taken the full timeout.
   */
  #get(key: string, capture: () => Snapshot): Snapshot {
    const snapshot = this.#snapshots.get(key) ?? capture().catch(() => undefined);
    // Set even if it exists, which makes it the newest.
    this.#snapshots.set(key, snapshot);
    return snapshot;
  }

  /** Captures the state in the same sandbox and with the same environment as the command itself. */
  async #capture(
    spec: ChildSpec,
    { argv, envPolicy }: StartParams,
    deps: Pick<CaptureDeps, "launcher" | "fifos">,
  ): Snapshot {
    const { script, read } = bashReporter();
    const reporter = { ...spec, argv: replaceShell(spec.argv, argv, "-lc", script) };
    const state = await captureOutput(
      reporter,
      { ...deps, groups: this.#groups, limits: this.#limits },
      read,
    );
    // A shell that started while the session ended was not killed with the others.
    if (this.#ended) this.#groups.killAll();
    return state && takeSnapshot(state, spec.env, envPolicy);
  }
}

function isLogin([program, flag, script]: readonly string[], shellPath: string): boolean {
  return program === shellPath && flag === "-lc" && script !== undefined;
}
