import { isInside, parentOf } from "../files/path.ts";
import type { Location, Workspace } from "../files/workspace.ts";
import { readEndpoint } from "../network/endpoint.ts";
import type { Effect } from "../programs/declaration/effect.ts";
import type { Word } from "../programs/declaration/word.ts";
import type { TreeReading } from "../programs/tree-readers.ts";
import type { WorkBudget } from "../shell/work-budget.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import { evaluateEndpoint } from "./evaluate-network.ts";
import { notUnderstoodVerdict, pickStricter, type Verdict } from "./evaluation.ts";
import { type FileAccess, hasReadDenials, judgeKind, judgeRead, judgeWrite } from "./judge-path.ts";
import type { ScriptChanges } from "./script-changes.ts";
import { judgePattern, judgeTree } from "./unnamed-files.ts";

/** The effects that run another command, which is judged separately. */
export type InnerEffect = Extract<Effect, { readonly kind: "command" | "shell" | "stdin-code" }>;
export type OwnEffect = Exclude<Effect, InnerEffect>;

type JudgeLocation = (path: string, location: Location) => Verdict;

/** Judges single effects of commands, in view of what earlier commands of the script changed. */
export class EffectJudge {
  readonly #budget: WorkBudget;
  readonly #workspace: Workspace;
  readonly #policy: CompiledPolicy;
  readonly #changes: ScriptChanges;
  readonly #judgeRead: JudgeLocation;
  readonly #judgeEntered: JudgeLocation;
  readonly #judgeChange: JudgeLocation;
  readonly #judgeMode: JudgeLocation;
  readonly #judgeDeletion: JudgeLocation;
  readonly #judgeExecution: JudgeLocation;

  constructor(workspace: Workspace, policy: CompiledPolicy, changes: ScriptChanges, budget: WorkBudget) {
    this.#budget = budget;
    this.#workspace = workspace;
    this.#policy = policy;
    this.#changes = changes;
    this.#judgeRead = (path, location) => judgeRead(path, location, workspace, policy);
    this.#judgeEntered = (path, location) =>
      changes.isRelinked(location) ? this.#stale(path) : judgeRead(path, location, workspace, policy);
    const judgeAccess =
      (access: "update" | "mode" | "delete"): JudgeLocation =>
      (path, location) => {
        const verdict = judgeWrite(path, location, workspace, policy, access);
        return verdict.decision === "allow" && changes.isRelinked(location) ? this.#stale(path) : verdict;
      };
    this.#judgeChange = judgeAccess("update");
    this.#judgeMode = judgeAccess("mode");
    this.#judgeDeletion = judgeAccess("delete");
    this.#judgeExecution = (path, location) => {
      const read = judgeRead(path, location, workspace, policy);
      if (read.matched !== undefined && read.decision !== "allow") return read;
      if (!this.#isInWorkspace(location))
        return judgeKind("writeOutside", policy, `runs ${path}, outside the workspace`);
      return changes.isRelinked(location) ? this.#stale(path) : judgeKind("project-code", policy);
    };
  }

  /** Whether words that are only known at run time name nothing but files of the workspace. */
  unknownIsListed = false;

  judge(effect: OwnEffect, folder: string): Verdict {
    switch (effect.kind) {
      case "read":
        if (effect.path.text === undefined && this.unknownIsListed && !hasReadDenials(this.#policy))
          return judgeKind("read", this.#policy);
        return this.#judgePaths(effect.path, folder, "read", this.#judgeRead);
      case "enter":
        return this.#judgePaths(effect.path, folder, "read", this.#judgeEntered);
      case "write":
        return this.#judgePaths(
          effect.path,
          folder,
          "update",
          effect.changesMode === true ? this.#judgeMode : this.#judgeChange,
        );
      case "delete":
        return effect.isRecursive
          ? this.#judgeTreeDeletion(effect.path, folder)
          : this.#judgePaths(effect.path, folder, "delete", this.#judgeDeletion);
      case "link":
        return this.#judgeLink(effect, folder);
      case "connect": {
        const { text } = effect.target;
        const endpoint = text === undefined ? undefined : readEndpoint(text);
        return evaluateEndpoint(endpoint, effect.sends, this.#policy);
      }
      case "execute":
        return this.#judgePaths(effect.path, folder, "read", this.#judgeExecution);
      case "inline-code":
        return judgeKind("project-code", this.#policy);
      case "action":
        return this.#judgeAction(effect.action, folder);
    }
  }

  /** Project code, installs and git act on the project that they run in. */
  #judgeAction(action: Extract<Effect, { kind: "action" }>["action"], folder: string): Verdict {
    const isProject = action === "project-code" || action === "install" || action.startsWith("git-");
    if (isProject) {
      const { real } = this.#workspace.locate(folder);
      if (real === undefined || !this.#workspace.inWorkspace(real))
        return judgeKind("writeOutside", this.#policy, `acts on ${real ?? folder}, outside the workspace`);
    }
    return judgeKind(action, this.#policy);
  }

  #judgePaths({ text, isGlob }: Word, folder: string, access: FileAccess, judge: JudgeLocation): Verdict {
    if (text === undefined || !this.#budget.addPath(text.length)) return judgeUnknown(judge);
    const absolute = this.#workspace.absolute(text, folder);
    if (isGlob !== true) return judge(absolute, this.#workspace.locate(absolute));
    const existing = this.#workspace.candidatesOf(absolute);
    if (existing === null) return judgeUnknown(judge);
    let worst: Verdict | undefined;
    for (const path of existing ?? []) worst = pickStricter(worst, judge(path, this.#workspace.locate(path)));
    // Judged by the pattern: what was not looked up, what an earlier command may have created, and the name that a shell
    // leaves as it is if nothing matches.
    const isTree = text.includes("**");
    if (existing === undefined || this.#changes.hasWritten || (existing.length === 0 && !isTree)) {
      worst = pickStricter(worst, judge(absolute, this.#workspace.locate(absolute, true)));
      worst = pickStricter(worst, judgePattern(absolute, access, this.#policy) ?? NO_EFFECT);
    }
    return worst ?? NO_EFFECT;
  }

  /** The files in a folder that a call reads as a whole. */
  judgeTree({ text }: Word, folder: string, reading: TreeReading): Verdict {
    const absolute = this.#workspace.absolute(text ?? "", folder);
    const { real = absolute } = this.#workspace.locate(absolute);
    const ruled = judgeTree(real, reading, this.#workspace, this.#policy);
    if (ruled !== undefined) return ruled;
    return reading === "all" && isInside(real, this.#workspace.home)
      ? judgeKind("credentials", this.#policy, `reads all of ${real}, which holds credentials`)
      : NO_EFFECT;
  }

  #judgeTreeDeletion(path: Word, folder: string): Verdict {
    if (this.#emptiesWorkspace(path, folder))
      return judgeKind("writeOutside", this.#policy, "deletes everything in the workspace");
    return this.#judgePaths(path, folder, "delete", (name, location) => {
      const { real, entry } = location;
      for (const tree of [real, entry]) {
        if (tree !== undefined && this.#workspace.isPrecious(tree))
          return { decision: "deny", rule: "safety/delete-root", reason: `deletes ${tree}` };
      }
      return real !== undefined && this.#workspace.holdsWorkspace(real)
        ? judgeKind("writeOutside", this.#policy, `deletes ${real} with its repository and settings`)
        : this.#judgeDeletion(name, location);
    });
  }

  /** `rm -rf *` in a root of the workspace, or above it. */
  #emptiesWorkspace({ text = "", isGlob }: Word, folder: string): boolean {
    if (isGlob !== true || !/(?:^|\/)[*?]+\/?$/.test(text)) return false;
    const { real } = this.#workspace.locate(parentOf(this.#workspace.absolute(text, folder)));
    return real === undefined || this.#workspace.holdsWorkspace(real);
  }

  /** A link out of the workspace would let later writes pass for writes in the workspace. */
  #judgeLink({ path, target }: Extract<Effect, { kind: "link" }>, folder: string): Verdict {
    const judgeTarget: JudgeLocation = (name, location) =>
      location.real !== undefined && this.#workspace.inWorkspace(location.real)
        ? this.#judgeChange(name, location)
        : judgeKind("writeOutside", this.#policy, `links to ${name}, outside the workspace`);
    const own = this.#judgePaths(path, folder, "update", this.#judgeChange);
    const parent = parentOf(this.#workspace.absolute(path.text ?? "", folder));
    return pickStricter(
      pickStricter(own, this.#judgePaths(target, folder, "update", judgeTarget)),
      this.#judgePaths(target, parent, "update", judgeTarget),
    );
  }

  #isInWorkspace({ real, entry }: Location): boolean {
    return (
      real !== undefined &&
      entry !== undefined &&
      this.#workspace.inWorkspace(real) &&
      this.#workspace.inWorkspace(entry)
    );
  }

  #stale(path: string): Verdict {
    return notUnderstoodVerdict(
      `an earlier command of the script may change where ${path} leads`,
      this.#policy,
    );
  }
}

export const NO_EFFECT: Verdict = { decision: "allow", rule: "nothing", reason: "has no effect" };

/** A file whose name is only known at run time may be any file. */
function judgeUnknown(judge: JudgeLocation): Verdict {
  return judge("a file", { real: undefined, entry: undefined });
}
