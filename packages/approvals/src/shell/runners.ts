import { readOptions, type OptionSyntax } from "./options.ts";
import type { Inner, Unwrapper } from "./unwrap.ts";
import { git } from "./git-runner.ts";
import { derivedValue, plainValue, UNKNOWN_VALUE, type Value } from "./value.ts";

/** Programs with other work of their own that can be told to run a command as well. */

const FIND_ACTIONS = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

const find: Unwrapper = (args) => {
  const inner: Inner[] = [];
  const starts = findStarts(args);
  const narrowed = args.some(({ text }) => /^-(?:i?name|i?path|i?regex|mtime|mmin|newer|empty)$/.test(text));
  const named = args.find((_, index) => /^-i?name$/.test(args[index - 1]?.text ?? ""))?.text ?? "";
  const below = narrowed ? `/${/^[\w.-]+$/.test(named) ? named : "found"}` : "/*";
  for (let at = 0; at < args.length; at += 1) {
    if (!FIND_ACTIONS.has(args[at]?.text ?? "")) continue;
    let end = at + 1;
    while (
      end < args.length &&
      args[end]?.text !== ";" &&
      !(args[end]?.text === "+" && args[end - 1]?.text === "{}")
    )
      end += 1;
    const words = args.slice(at + 1, end);
    // A file that is found lies below where the search starts: that is what the command is told to work on.
    const argv = words.flatMap((arg) => (arg.text.includes("{}") ? found(arg, starts, below) : [arg]));
    if (argv.length > 0) inner.push({ kind: "command", argv });
    // Not every find replaces `{}` inside a longer word: there it may be meant for a command further in.
    if (words.some(({ text }) => text.includes("{}") && text !== "{}"))
      inner.push({ kind: "command", argv: words });
    at = end;
  }
  return { transparent: false, inner };
};

/** The folders that `find` searches: the words before the first test. */
export function findStarts(args: readonly Value[]): readonly Value[] {
  const starts: Value[] = [];
  for (const arg of args) {
    if (/^-[HLPO]|^-D$/.test(arg.text)) continue;
    if (/^[-(!]/.test(arg.text)) break;
    starts.push(arg);
  }
  return starts.length === 0 ? [derivedValue(".")] : starts;
}

/** A search that is narrowed by a name finds something below the folder; any other may find everything in it. */
function found(arg: Value, starts: readonly Value[], below: string): Value[] {
  return starts.map(({ text }) => ({
    text: arg.text.replaceAll("{}", text.replace(/\/$/, "") + below),
    plain: false,
    glob: below === "/*",
    splits: false,
  }));
}

const fd: Unwrapper = (args) => {
  const at = args.findIndex(({ text }) => /^(?:-x|-X|--exec|--exec-batch)$/.test(text));
  if (at === -1) return { transparent: false, inner: [] };
  const argv = args.slice(at + 1).map((arg) => (arg.text === "{}" ? UNKNOWN_VALUE : arg));
  return { transparent: false, inner: [{ kind: "command", argv: [...argv, UNKNOWN_VALUE] }] };
};

const XARGS: OptionSyntax = {
  short: "IaEdLnPs",
  long: ["--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-lines", "--max-chars"],
  stopsAtOperand: true,
};

/** `xargs` and `parallel`: the words that come from stdin are added by the reader of the script, who knows stdin. */
const xargs: Unwrapper = (args) => {
  const options = readOptions(args, XARGS);
  if (options.operands.length === 0) return { transparent: true, inner: [] };
  return { transparent: true, inner: [{ kind: "command", argv: options.operands }] };
};

const parallel: Unwrapper = (args) => {
  const options = readOptions(args, {
    short: "jIaSNnPLd",
    long: [
      "--jobs",
      "--arg-file",
      "--colsep",
      "--joblog",
      "--results",
      "--delay",
      "--timeout",
      "--retries",
      "--sshlogin",
      "--max-args",
    ],
    stopsAtOperand: true,
  });
  const colons = options.operands.findIndex(({ text }) => /^:{3,4}\+?$/.test(text));
  const template = colons === -1 ? options.operands : options.operands.slice(0, colons);
  const inputs =
    colons === -1 ? [] : options.operands.slice(colons + 1).filter(({ text }) => !text.startsWith(":::"));
  if (template.length === 0) {
    // Without a command, each input is a command line itself.
    if (inputs.length === 0)
      return { transparent: true, inner: [{ kind: "stdin", shell: "posix", what: "parallel" }] };
    return { transparent: true, inner: inputs.map((source) => ({ kind: "script", source, shell: "posix" })) };
  }
  const line = template.map(({ text }) => text).join(" ");
  const fill = inputs.length === 0 ? ["\u0000"] : inputs.map(({ text }) => text);
  return {
    transparent: true,
    inner: fill.slice(0, 16).map((text) => {
      const source = line.includes("{}") ? line.replaceAll("{}", text) : `${line} ${text}`;
      return { kind: "script", source: derivedValue(source), shell: "posix" };
    }),
  };
};

/** `-o ProxyCommand=…`, which ssh, scp and sftp share. */
function sshOptions(values: readonly Value[] = []): Inner[] {
  return values
    .filter(({ text }) => /^(?:ProxyCommand|LocalCommand|KnownHostsCommand)\b/i.test(text))
    .map(({ text }) => ({
      kind: "script",
      source: derivedValue(text.replace(/^\w+[\s=]+/, "")),
      shell: "posix",
    }));
}

/** `scp -S program`, `sftp -D server`. */
const sshCopy: Unwrapper = (args, name) => {
  const options = readOptions(args, { short: name === "scp" ? "cDFiJloPSX" : "BbcDFiJloPRSsX" });
  const programs = [...(options.values.get("S") ?? []), ...(options.values.get("D") ?? [])];
  return {
    transparent: false,
    inner: [
      ...sshOptions(options.values.get("o")),
      ...programs.map((source): Inner => ({ kind: "script", source, shell: "posix" })),
    ],
  };
};

const ssh: Unwrapper = (args) => {
  const options = readOptions(args, { short: "BbcDEeFIiJLlmOoPpQRSWw", stopsAtOperand: true });
  const words = options.operands.slice(1);
  const inner = sshOptions(options.values.get("o"));
  if (words.length > 0)
    inner.push({
      kind: "script",
      source: derivedValue(words.map(({ text }) => text).join(" ")),
      shell: "posix",
    });
  return { transparent: false, inner };
};

/** `docker run image command…`, `docker exec container command…`, `kubectl exec pod -- command…`. */
const container: Unwrapper = (args) => {
  const options = readOptions(args, {
    stopsAtOperand: true,
    short: "Hcln",
    long: ["--context", "--namespace", "--kubeconfig", "--host"],
  });
  let [verb, ...rest] = options.operands;
  if (verb?.text === "compose" || verb?.text === "container") {
    const nested = readOptions(rest, {
      stopsAtOperand: true,
      short: "fp",
      long: ["--file", "--project-name", "--profile", "--env-file"],
    });
    [verb, ...rest] = nested.operands;
  }
  if (verb?.text !== "exec" && verb?.text !== "run") return { transparent: false, inner: [] };
  const inside = readOptions(rest, {
    stopsAtOperand: true,
    short: "epuvwlacmhn",
    long: [
      "--env",
      "--env-file",
      "--name",
      "--network",
      "--publish",
      "--user",
      "--volume",
      "--workdir",
      "--mount",
      "--entrypoint",
      "--platform",
      "--memory",
      "--cpus",
      "--label",
      "--add-host",
      "--hostname",
      "--gpus",
      "--index",
      "--container",
      "--namespace",
      "--image",
    ],
  });
  const after = inside.operands.slice(1);
  const words = after[0]?.text === "--" ? after.slice(1) : after;
  const argv = [...(inside.values.get("--entrypoint") ?? []).filter(({ text }) => text !== ""), ...words];
  return { transparent: false, inner: argv.length === 0 ? [] : [{ kind: "command", argv }] };
};

/** `npx pkg args`, `pnpm exec x`, `uv run x`, `bundle exec x`: the rest is a command of the project's own tools. */
function behind(words: Readonly<Record<string, OptionSyntax>>): Unwrapper {
  return (args) => {
    const outer = readOptions(args, {
      stopsAtOperand: true,
      short: "CFw",
      long: ["--dir", "--filter", "--workspace", "--cwd", "--prefix", "--directory"],
    });
    const [verb, ...rest] = outer.operands;
    const syntax = words[verb?.text ?? ""];
    if (syntax === undefined) return { transparent: false, inner: [] };
    const options = readOptions(rest, { ...syntax, stopsAtOperand: true });
    const line = options.values.get("c")?.[0] ?? options.values.get("--call")?.[0];
    if (line !== undefined)
      return { transparent: false, inner: [{ kind: "script", source: line, shell: "posix" }] };
    return {
      transparent: false,
      inner: options.operands.length === 0 ? [] : [{ kind: "command", argv: options.operands }],
    };
  };
}

/** `npm pkg set scripts.x="…"` writes a command line that the next `npm run` takes. */
function npmScripts(args: readonly Value[]): ReturnType<Unwrapper> {
  if (args[0]?.text !== "pkg" || args[1]?.text !== "set") return undefined;
  const inner = args.flatMap((arg): Inner[] => {
    const line = /^scripts(?:\.[^=]*|\[[^=]*)=(.*)$/s.exec(arg.text)?.[1];
    return line === undefined ? [] : [{ kind: "script", source: { ...arg, text: line }, shell: "posix" }];
  });
  return { transparent: false, inner };
}

const CALL: OptionSyntax = { short: "cpw", long: ["--call", "--package", "--workspace"] };

const npx: Unwrapper = (args) => {
  const options = readOptions(args, { ...CALL, stopsAtOperand: true });
  const line = options.values.get("c")?.[0] ?? options.values.get("--call")?.[0];
  if (line !== undefined)
    return { transparent: false, inner: [{ kind: "script", source: line, shell: "posix" }] };
  return {
    transparent: false,
    inner: options.operands.length === 0 ? [] : [{ kind: "command", argv: options.operands }],
  };
};

const tar: Unwrapper = (args) => {
  const options = readOptions(args, {
    short: "IF",
    long: [
      "--to-command",
      "--use-compress-program",
      "--checkpoint-action",
      "--rsh-command",
      "--rmt-command",
      "--info-script",
      "--new-volume-script",
    ],
  });
  // In the old style without a dash the values follow in the order of the letters: not worth telling apart.
  if (/^[a-zA-Z]*[IF][a-zA-Z]*$/.test(args[0]?.text ?? ""))
    return { transparent: false, inner: [{ kind: "opaque", what: "tar with a program of its own" }] };
  const sources = [
    "--to-command",
    "--use-compress-program",
    "--rsh-command",
    "--rmt-command",
    "--info-script",
    "--new-volume-script",
    "I",
    "F",
  ].flatMap((name) => options.values.get(name) ?? []);
  const actions = (options.values.get("--checkpoint-action") ?? []).flatMap((value) =>
    value.text.startsWith("exec=") ? [{ ...value, text: value.text.slice(5) }] : [],
  );
  return {
    transparent: false,
    inner: [...sources, ...actions].map((source) => ({ kind: "script", source, shell: "posix" })),
  };
};

const rsync: Unwrapper = (args) => {
  const options = readOptions(args, { short: "e", long: ["--rsh", "--rsync-path"] });
  const sources = ["e", "--rsh", "--rsync-path"].flatMap((name) => options.values.get(name) ?? []);
  return { transparent: false, inner: sources.map((source) => ({ kind: "script", source, shell: "posix" })) };
};

export const RUNNERS: Readonly<Record<string, Unwrapper>> = {
  find,
  gfind: find,
  fd,
  fdfind: fd,
  xargs,
  gxargs: xargs,
  parallel,
  ssh,
  autossh: ssh,
  scp: sshCopy,
  sftp: sshCopy,
  hub: (args) => ({ transparent: true, inner: [{ kind: "command", argv: [plainValue("git"), ...args] }] }),
  docker: container,
  podman: container,
  nerdctl: container,
  "docker-compose": (args, name) => container([derivedValue("compose"), ...args], name),
  kubectl: container,
  oc: container,
  npx,
  pnpx: npx,
  bunx: npx,
  npm: (args, name) => npmScripts(args) ?? behind({ exec: CALL, x: CALL })(args, name),
  pnpm: behind({ exec: CALL, dlx: CALL }),
  yarn: behind({ exec: CALL, dlx: CALL }),
  bun: (args, name) =>
    args[0]?.text === "exec" && args[1] !== undefined
      ? { transparent: false, inner: [{ kind: "script", source: args[1], shell: "posix" }] }
      : behind({ x: CALL })(args, name),
  uv: behind({
    run: {
      short: "pm",
      long: [
        "--python",
        "--with",
        "--group",
        "--extra",
        "--env-file",
        "--project",
        "--directory",
        "--package",
      ],
    },
  }),
  uvx: npx,
  poetry: behind({ run: {} }),
  pipenv: behind({ run: {} }),
  pdm: behind({ run: {} }),
  rye: behind({ run: {} }),
  hatch: behind({ run: {} }),
  pipx: behind({ run: { long: ["--spec"] } }),
  conda: behind({ run: { short: "np", long: ["--name", "--prefix", "--cwd"] } }),
  bundle: behind({ exec: {} }),
  rbenv: behind({ exec: {} }),
  pyenv: behind({ exec: {} }),
  asdf: behind({ exec: {} }),
  mise: behind({ exec: {}, x: {} }),
  volta: behind({ run: {} }),
  direnv: (args) => ({
    transparent: false,
    inner: args[0]?.text === "exec" && args.length > 2 ? [{ kind: "command", argv: args.slice(2) }] : [],
  }),
  git,
  tar,
  gtar: tar,
  bsdtar: tar,
  rsync,
};
