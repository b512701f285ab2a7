import type { Workspace } from "../files/workspace.ts";
import type { ParsedCall } from "../programs/declaration/parsed-call.ts";
import { outputOf, type Output } from "../programs/name-listers.ts";
import { INHERITED, type PlainCommand, type StandardInput } from "../shell/plain-script.ts";

interface EndedCommand {
  readonly command: PlainCommand;
  readonly call: ParsedCall | undefined;
  output: Output | undefined;
}

/** What the commands of a script print, which others may read. Only found where a command depends on it: most don't. */
export class ScriptOutput {
  input: StandardInput = INHERITED;
  readonly #workspace: Workspace;
  readonly #ended: EndedCommand[] = [];

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  add(command: PlainCommand, call: ParsedCall | undefined): void {
    this.#ended.push({ command, call, output: undefined });
  }

  /** Whether words that are only known at run time name nothing but files of the workspace. */
  hasOnlyNames(): boolean {
    const { kind } = this.input;
    if (kind === "file" || kind === "text") return false;
    const all = this.ofAll();
    return all === "names" || all === "nothing";
  }

  ofAll(): Output {
    let all: Output = "nothing";
    for (const ended of this.#ended) {
      ended.output ??= this.#outputOf(ended);
      if (all === "nothing") all = ended.output;
      else if (ended.output !== "nothing" && ended.output !== all) return "anything";
    }
    return all;
  }

  #outputOf({ command: { builtin, input, redirects, folders }, call }: EndedCommand): Output {
    if (!folders.every((folder) => this.#workspace.holds(folder))) return "anything";
    if (builtin !== undefined) return builtin.kind === "source" ? "anything" : "nothing";
    return call === undefined ? "anything" : outputOf(call, input.kind === "pipe" && redirects.length === 0);
  }
}
