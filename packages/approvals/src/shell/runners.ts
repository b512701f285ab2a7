import { readOptions, type OptionSyntax } from "./options.ts";
import type { Inner, Unwrapper } from "./unwrap.ts";
import { derivedValue, UNKNOWN_VALUE, type Value } from "./value.ts";

/** Programs with other work of their own that can be told to run a command as well. */

const FIND_ACTIONS = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

const find: Unwrapper = (args) => {
  const inner: Inner[] = [];
  const starts = findStarts(args);
  const narrowed = args.some(({ text }) => /^-(?:i?name|i?path|i?regex|mtime|mmin|newer|empty)$/.test(text));
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
    const argv = words.flatMap((arg) => (arg.text.includes("{}") ? found(arg, starts, narrowed) : [arg]));
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
function found(arg: Value, starts: readonly Value[], narrowed: boolean): Value[] {
  const below = narrowed ? "/found" : "/*";
  return starts.map(({ text }) => ({
    text: arg.text.replaceAll("{}", text.replace(/\/$/, "") + below),
    plain: false,
    glob: !narrowed,
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
  long: ["--replace", "--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-lines", "--max-chars"],
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

const ssh: Unwrapper = (args) => {
  const options = readOptions(args, { short: "BbcDEeFIiJLlmOoPpQRSWw", stopsAtOperand: true });
  const proxy = (options.values.get("o") ?? []).filter(({ text }) =>
    /^(?:ProxyCommand|LocalCommand|KnownHostsCommand)\b/i.test(text),
  );
  const words = options.operands.slice(1);
  const inner: Inner[] = proxy.map(({ text }) => ({
    kind: "script",
    source: derivedValue(text.replace(/^\w+[\s=]+/, "")),
    shell: "posix",
  }));
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
  const argv = after[0]?.text === "--" ? after.slice(1) : after;
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

/** Whatever git is told to run: aliases with `!`, `bisect run`, `submodule foreach`, `rebase --exec`. */
const git: Unwrapper = (args) => {
  const outer = readOptions(args, {
    short: "Cc",
    long: ["--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix"],
    stopsAtOperand: true,
  });
  const inner: Inner[] = [];
  for (const setting of outer.values.get("c") ?? []) {
    const script = /^[^=]*=\s*!(.*)$/s.exec(setting.text)?.[1];
    if (script !== undefined)
      inner.push({ kind: "script", source: { ...setting, text: script }, shell: "posix" });
    else if (/^alias\./i.test(setting.text)) {
      inner.push({
        kind: "script",
        source: { ...setting, text: `git ${setting.text.replace(/^[^=]*=/, "")}` },
        shell: "posix",
      });
    } else if (
      /^(?:core\.(?:sshcommand|pager|editor|fsmonitor|hookspath|askpass|gitproxy)|diff\.external|.*\.(?:cmd|command|textconv|clean|smudge|process|driver|helper)|sequence\.editor|gpg\..*program|uploadpack\..*|pager\..*)=/i.test(
        setting.text,
      )
    ) {
      const text = setting.text.replace(/^[^=]*=/, "");
      if (text !== "" && text !== "cat" && text !== "true" && text !== "false")
        inner.push({ kind: "script", source: { ...setting, text }, shell: "posix" });
    }
  }
  const [verb, ...rest] = outer.operands;
  const words = verb?.text === "bisect" && rest[0]?.text === "run" ? rest.slice(1) : undefined;
  if (words !== undefined && words.length > 0) inner.push({ kind: "command", argv: words });
  if (verb?.text === "submodule" && rest[0]?.text === "foreach") {
    const line = rest.slice(1).filter(({ text }) => !/^--(?:recursive|quiet)$/.test(text));
    inner.push({
      kind: "script",
      source: derivedValue(line.map(({ text }) => text).join(" ")),
      shell: "posix",
    });
  }
  if (verb?.text === "rebase" || verb?.text === "difftool" || verb?.text === "filter-branch") {
    const options = readOptions(rest, {
      short: "x",
      long: ["--exec", "--extcmd", "--tree-filter", "--index-filter", "--msg-filter"],
    });
    for (const name of ["x", "--exec", "--extcmd", "--tree-filter", "--index-filter", "--msg-filter"]) {
      for (const source of options.values.get(name) ?? [])
        inner.push({ kind: "script", source, shell: "posix" });
    }
  }
  return { transparent: false, inner };
};

const tar: Unwrapper = (args) => {
  const options = readOptions(args, {
    short: "I",
    long: [
      "--to-command",
      "--use-compress-program",
      "--checkpoint-action",
      "--rsh-command",
      "--info-script",
      "--new-volume-script",
    ],
  });
  const sources = [
    "--to-command",
    "--use-compress-program",
    "--rsh-command",
    "--info-script",
    "--new-volume-script",
    "I",
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
  docker: container,
  podman: container,
  nerdctl: container,
  "docker-compose": (args, name) => container([derivedValue("compose"), ...args], name),
  kubectl: container,
  oc: container,
  npx,
  pnpx: npx,
  bunx: npx,
  npm: behind({ exec: CALL, x: CALL }),
  pnpm: behind({ exec: CALL, dlx: CALL }),
  yarn: behind({ exec: CALL, dlx: CALL }),
  bun: behind({ x: CALL }),
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
