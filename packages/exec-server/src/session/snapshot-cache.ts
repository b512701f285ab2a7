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

/** The shells that a client may name. Codex's list. */
const KNOWN: ReadonlySet<string> = new Set(["bash", "zsh", "sh"]);

/** Options that come with the environment would hold while the state is brought back. */
const OPTIONS_IN_ENV = ["SHELLOPTS", "BASHOPTS"];

/** The shell states of one session. They are kept in memory alone and end with it. */
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

  /** The session is over. */
  end(): void {
    this.#ended = true;
    this.#snapshots.clear();
  }

  /** Throws when the request's snapshot can't be: before anything is started. */
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
   * The child with its login shell's state brought back instead of made anew; as it was when that does not fit or the
   * state could not be captured.
   */
  async apply(
    spec: ChildSpec,
    params: StartParams,
    deps: Pick<CaptureDeps, "launcher" | "fifos">,
  ): Promise<ChildSpec> {
    const { shellSnapshot: asked, argv, cwd, envPolicy, sandbox, networkProxy } = params;
    // Of zsh and sh the state is not taken: dash can't print its functions, and zsh was never tried. They start as they
    // always do, which is what a client gets whenever a capture fails.
    if (this.#ended || !asked || asked.shell.name !== "bash" || !isLogin(argv, asked.shell.path)) return spec;
    // By a name with a dash the shell would be a login shell again.
    if (params.arg0?.startsWith("-") === true || OPTIONS_IN_ENV.some((name) => Object.hasOwn(spec.env, name)))
      return spec;
    const key = JSON.stringify([asked, cwd, envPolicy ?? null, sandbox ?? null, networkProxy?.proxy ?? null]);
    const snapshot = await this.#get(key, () => this.#capture(spec, params, deps));
    return snapshot ? withSnapshot(spec, argv, snapshot) : spec;
  }

  /** Starts that come while a capture runs wait for it. A failure is kept too: it may have taken all its time. */
  #get(key: string, capture: () => Snapshot): Snapshot {
    const snapshot = this.#snapshots.get(key) ?? capture().catch(() => undefined);
    // Also if it is there: it becomes the newest.
    this.#snapshots.set(key, snapshot);
    return snapshot;
  }

  /** Inside the same sandbox, with the same environment, as the command itself. */
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
    // A shell that started while the session ended was not there to be killed with the others.
    if (this.#ended) this.#groups.killAll();
    return state && takeSnapshot(state, spec.env, envPolicy);
  }
}

function isLogin([program, flag, script]: readonly string[], shellPath: string): boolean {
  return program === shellPath && flag === "-lc" && script !== undefined;
}
