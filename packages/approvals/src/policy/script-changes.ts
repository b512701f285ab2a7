import { isInside } from "../files/path.ts";
import type { Location, Workspace } from "../files/workspace.ts";
import type { Effect } from "../programs/declaration/effect.ts";
import type { Word } from "../programs/declaration/word.ts";

/** A path where a link may now be, or below which links may be. */
interface Relinked {
  readonly path: string;
  readonly isLink: boolean;
}

/** What the earlier commands of a script may have changed, so that path facts from before the script no longer hold. */
export class ScriptChanges {
  /** Whether files may have been created: what patterns match may have changed. */
  hasWritten = false;
  readonly #workspace: Workspace;
  readonly #relinked: Relinked[] = [];

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Links, copies and moves change where later paths lead; anything that writes changes what patterns match. */
  record(effects: readonly Effect[], folder: string): void {
    for (const effect of effects) {
      if (effect.kind === "read" || effect.kind === "enter" || effect.kind === "connect") continue;
      this.hasWritten = true;
      if (effect.kind === "link") this.#relink(effect.path, true, folder);
      else if (effect.kind === "write") this.#recordCopy(effect.path, effects, folder);
    }
  }

  /** A command that reads or moves other files may copy links along with them. */
  #recordCopy(target: Word, effects: readonly Effect[], folder: string): void {
    const sources: Word[] = [];
    for (const effect of effects)
      if ((effect.kind === "read" || effect.kind === "delete") && effect.path !== target)
        sources.push(effect.path);
    if (sources.length === 0) return;
    const mayCopyLink = sources.some((source) => this.#mayBeLink(source, folder));
    this.#relink(target, mayCopyLink, folder);
  }

  #mayBeLink({ text, isGlob }: Word, folder: string): boolean {
    if (text === undefined) return true;
    const { real, entry } = this.#workspace.locate(this.#workspace.absolute(text, folder), isGlob);
    return real === undefined || real !== entry;
  }

  #relink({ text, isGlob }: Word, isLink: boolean, folder: string): void {
    const { real, entry } = this.#workspace.locate(this.#workspace.absolute(text ?? "/", folder), isGlob);
    for (const path of new Set([real, entry]))
      this.#relinked.push({ path: withoutPattern(path ?? "/"), isLink });
  }

  /** Whether a location may lead elsewhere by now. */
  isRelinked({ real, entry }: Location): boolean {
    if (this.#relinked.length === 0) return false;
    return [real, entry].some(
      (path) =>
        path === undefined ||
        this.#relinked.some(
          (changed) => isInside(changed.path, path) && (changed.isLink || path !== changed.path),
        ),
    );
  }
}

function withoutPattern(path: string): string {
  const wild = path.search(/[*?[]/);
  if (wild === -1) return path;
  return path.slice(0, path.lastIndexOf("/", wild)) || "/";
}
