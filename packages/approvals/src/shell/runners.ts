import { rsync, tar } from "./runners/archives.ts";
import { container } from "./runners/container.ts";
import { fd, find } from "./runners/find.ts";
import { git } from "./runners/git.ts";
import { behind, CALL, npmScripts, npx } from "./runners/package-tools.ts";
import { ssh, sshCopy } from "./runners/ssh.ts";
import { parallel, xargs } from "./runners/xargs.ts";
import type { Unwrapper } from "./unwrap.ts";
import { derivedValue, plainValue } from "./value.ts";

/** Programs with other work of their own that can be told to run a command as well. */
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
