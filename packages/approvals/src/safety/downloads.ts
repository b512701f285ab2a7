import { cautioned, denied, type Finding } from "../finding.ts";
import { runsAddress } from "../shell/escapes.ts";
import { shellKind } from "../shell/interpreters.ts";
import type { Invocation } from "../shell/invocation.ts";
import { TAINT } from "../shell/invocation.ts";
import { readOptions } from "../shell/options.ts";
import { isDownloader } from "../shell/taint.ts";
import type { Value } from "../shell/value.ts";

/** Languages: the first word that is no option is what they run; what follows are data. */
const LANGUAGE = /^(?:python[\d.]*|node|perl|ruby|php|lua|rscript|tsx|ts-node|julia|osascript|tclsh|elixir)$/;

/** Programs that run, load or install the files they are told. */
const LOADERS =
  /^(?:source|\.|java|go|deno|bun|uv|pip3?|pipx|npm|pnpm|yarn|npx|dpkg|rpm|gem|installer|msiexec|ansible-playbook|wasmtime|wasmer)$/;

/** Files that a program takes from the folder it runs in, without being told. */
const IMPLICIT: readonly [RegExp, RegExp][] = [
  [/^(?:gnu)?makefile$/i, /^g?make$/],
  [/^package\.json$/, /^(?:npm|pnpm|yarn|bun|npx)$/],
  [/^cmakelists\.txt$/i, /^cmake$/],
  [/^justfile$/i, /^just$/],
  [/^rakefile$/i, /^rake$/],
  [/^(?:cargo\.toml|build\.rs)$/i, /^cargo$/],
  [/^(?:setup\.py|pyproject\.toml|conftest\.py)$/, /^(?:pip3?|uv|poetry|pytest|tox)$/],
  [/^build\.gradle(?:\.kts)?$/, /^gradlew?$/],
  [/^dockerfile$|^(?:docker-)?compose\.ya?ml$/i, /^(?:docker|podman|docker-compose)$/],
  [/^\.envrc$/, /^direnv$/],
];

/** A file that is fetched and then run, in two or more steps of one script. */
export function inspectDownloads(
  invocations: readonly Invocation[],
): { invocation: Invocation; finding: Finding } | undefined {
  const fetched = new Set<string>();
  let unpacked = false;
  for (const invocation of invocations) {
    const { name, argv, feed } = invocation;
    if (runsAddress(name, argv.slice(1)))
      return { invocation, finding: cautioned("download-to-shell", `${name} runs what it downloads`) };
    if (fetched.size > 0) {
      const used = wordsRun(invocation).find(
        (word) => fetched.has(baseName(word.text)) || (word.glob && shellKind(name) !== undefined),
      );
      const implied = [...fetched].find((file) =>
        IMPLICIT.some(([pattern, program]) => pattern.test(file) && program.test(name)),
      );
      if (used !== undefined || implied !== undefined)
        return {
          invocation,
          finding: denied(
            "download-to-shell",
            `runs ${used?.text ?? implied ?? ""}, which it has just downloaded`,
          ),
        };
    }
    if (
      unpacked &&
      /^(?:\.\.?\/|[\w.-]+\/)/.test((shellKind(name) === undefined ? argv[0] : argv[1])?.text ?? "")
    )
      return {
        invocation,
        finding: cautioned(
          "download-to-shell",
          "runs something out of an archive that it has just downloaded",
        ),
      };
    const downloaded = (feed & TAINT.download) !== 0;
    if (/^(?:tar|gtar|bsdtar|unzip|7z|cpio)$/.test(name))
      unpacked ||= downloaded || argv.some(({ text }) => fetched.has(baseName(text)));
    if (isDownloader(name) || downloaded) for (const file of written(invocation)) fetched.add(file);
    else if (
      /^(?:cp|mv|ln|install|cat|dd)$/.test(name) &&
      argv.some(({ text }) => fetched.has(baseName(text)))
    )
      for (const file of [...written(invocation), baseName(argv.at(-1)?.text ?? "")]) fetched.add(file);
    fetched.delete("");
    fetched.delete("-");
    fetched.delete("null");
  }
  return undefined;
}

/** The words of a command that name something it runs. */
function wordsRun({ name, argv }: Invocation): readonly Value[] {
  const args = argv.slice(1);
  const program = argv.slice(0, 1);
  if (shellKind(name) !== undefined || LOADERS.test(name)) return [...program, ...args];
  if (LANGUAGE.test(name)) {
    const script = args.findIndex(({ text }) => !text.startsWith("-") && /[./]/.test(text));
    return [...program, ...args.slice(0, script === -1 ? args.length : script + 1)];
  }
  if (/^(?:[gmn]?awk|g?sed|g?make|just|ninja|cmake|psql|sqlite3|gdb)$/.test(name)) {
    const options = readOptions(args, { short: "fPx", long: ["--file", "--makefile"] });
    return [
      ...program,
      ...["f", "P", "x", "--file", "--makefile"].flatMap((key) => options.values.get(key) ?? []),
    ];
  }
  return program;
}

function written({ name, argv, redirects }: Invocation): string[] {
  const keys = ["o", "O", "--output", "--output-document", "-outfile", "-OutFile"];
  const options = readOptions(argv.slice(1), {
    short: "oO",
    long: keys.filter((key) => key.startsWith("-")),
  });
  const files = keys.flatMap((key) => options.values.get(key) ?? []).map(({ text }) => text);
  if (name === "tee" || name === "sponge") files.push(...options.operands.map(({ text }) => text));
  for (const { text } of argv.slice(1)) {
    if (name === "dd" && text.startsWith("of=")) files.push(text.slice(3));
    if (/^[a-z]+:\/\//i.test(text)) files.push(text.replace(/[?#].*$/, ""));
  }
  for (const { mode, target } of redirects) if (mode === "write") files.push(target.text);
  return files.map(baseName);
}

function baseName(text: string): string {
  return text.slice(text.lastIndexOf("/") + 1);
}
