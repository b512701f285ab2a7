import type { Places } from "../files/places.ts";
import { cautioned, type Finding } from "../finding.ts";
import { describeCommand } from "../programs/describe.ts";
import type { Effect } from "../programs/effect.ts";
import { shellKind } from "../shell/interpreters.ts";
import { programName, type Invocation } from "../shell/invocation.ts";
import { readSource } from "../shell/read-source.ts";
import type { Value } from "../shell/value.ts";
import { inspect, isChecked } from "./inspect.ts";

/** Words that a refused command line can't do without; everything else need not be parsed. */
const SUSPICIOUS =
  /(?:^|[\s;&|(!/="'])(?:rm|dd|shred|find|mv|sudo|doas|su|mkfs\S*|git|curl|wget|chmod|chown|kill|pkill|killall|nc|ncat|socat|tee|crontab|reboot|shutdown|bash|sh|zsh)\s/;

/**
 * A program that is not read here may run the words behind it, as `env` does, or one of them as a command line, as
 * `just -c` does. If those would be refused by themselves, that is worth a question. Programs that only read or write
 * files are left alone: `rg "sudo rm"` is a search.
 */
export function mayRunRefused(
  invocation: Invocation,
  effects: readonly Effect[],
  places: Places,
): Finding | undefined {
  const unknown = effects.some(({ kind }) => kind === "unknown");
  if (!unknown && !effects.some(({ kind }) => kind === "run" || kind === "install" || kind === "process"))
    return undefined;
  const { argv, assignments } = invocation;
  const tail = refusedTail(invocation, unknown, places);
  if (tail !== undefined) return tail;
  for (const [index, value] of argv.entries()) {
    // Nearly all words are single ones, and not looked at any further.
    if (index === 0 || !value.text.includes(" ") || PROSE.test(argv[index - 1]?.text ?? "")) continue;
    const refused = refusedText(value, invocation, places);
    if (refused !== undefined) return refused;
  }
  for (const { value } of assignments) {
    const refused = refusedText(value, invocation, places);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** Options whose value is text for people or a pattern: the name of a test may well be `refuses rm -rf /`. */
const PROSE =
  /^(?:-[tkmgn]|-run|--(?:grep|test-name-pattern|testNamePattern|message|filter|title|body|name|description|notes))$/;

function refusedTail(invocation: Invocation, unknown: boolean, places: Places): Finding | undefined {
  const { argv } = invocation;
  for (let at = 1; at < Math.min(argv.length, 16); at += 1) {
    const name = programName(argv[at]);
    // `shellcheck -s bash` is known to run no shell, and `npm run kill` to be a script of the project's own.
    if (unknown && shellKind(name) !== undefined) return cautioned("may-run", `may run a shell: ${name}`);
    if (!isChecked(name) || (!unknown && at + 1 === argv.length)) continue;
    const inner = { ...invocation, argv: argv.slice(at), name, findings: [], redirects: [], assignments: [] };
    const refused = inspect(inner, [], places).find(
      ({ level, rule }) => level === "deny" && (unknown || !NEEDS_NO_WORDS.has(rule)),
    );
    if (refused !== undefined) return cautioned("may-run", `may run ${name}: ${refused.reason}`);
  }
  return undefined;
}

/** Rules that look at the name alone, which for `npm i mount` is just a word. */
const NEEDS_NO_WORDS = new Set(["privilege", "system-damage", "persistence", "disk-write"]);

function refusedText({ text }: Value, { cwds }: Invocation, places: Places): Finding | undefined {
  // Longer texts are data; a single word was looked at with those behind it.
  if (text.length > 1024 || !text.includes(" ") || !SUSPICIOUS.test(text)) return undefined;
  for (const source of [text, text.replace(/^[^=]*=/, "")]) {
    for (const inner of readSource(source, places).invocations) {
      // It may start where the outer command stands, and a `cd` inside it leads on from there.
      const refused = [inner, { ...inner, cwds }]
        .flatMap((seen) => inspect(seen, describeCommand(seen, places), places))
        .find(({ level }) => level === "deny");
      if (refused !== undefined) return cautioned("may-run", `may run ${inner.name}: ${refused.reason}`);
    }
  }
  return undefined;
}
