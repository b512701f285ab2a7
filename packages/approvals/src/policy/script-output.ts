import type { Workspace } from "../files/workspace.ts";
import type { ParsedCall } from "../programs/declaration/parsed-call.ts";
import { outputOf, type Output } from "../programs/name-listers.ts";
import { INHERITED, type PlainCommand, type StandardInput } from "../shell/plain-script.ts";

/** What the commands of a script print, which others may read. Only found where a command depends on it: most don't. */
export class ScriptOutput {
  /** The standard input of the command that is judged. */
  input: StandardInput = INHERITED;
  readonly #workspace: Workspace;
  readonly #ended: (readonly [PlainCommand, ParsedCall | undefined])[] = [];
  #all: Output = "nothing";

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  add(command: PlainCommand, call: ParsedCall | undefined): void {
    this.#ended.push([command, call]);
  }

  /** Whether words that are only known at run time name nothing but files of the workspace. */
  hasOnlyNames(): boolean {
    return !/^(?:file|text)$/.test(this.input.kind) && /^(?:names|nothing)$/.test(this.ofAll());
  }

  ofAll(): Output {
    for (const [{ builtin, input, redirects, folders }, call] of this.#ended.splice(0)) {
      let own: Output = builtin === undefined || builtin.kind === "source" ? "anything" : "nothing";
      if (!folders.every((folder) => this.#workspace.holds(folder))) own = "anything";
      else if (builtin === undefined && call !== undefined)
        own = outputOf(call, input.kind === "pipe" && redirects.length === 0);
      if (this.#all === "nothing") this.#all = own;
      else if (own !== "nothing" && own !== this.#all) this.#all = "anything";
    }
    return this.#all;
  }
}
