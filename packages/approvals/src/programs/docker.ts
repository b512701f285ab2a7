import {
  declareProgram,
  flag,
  type CommandDeclaration,
  type OptionTable,
  value,
} from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";

const container = [action("container")];

/** A command that inspects or manages containers and images. */
function manages(options: OptionTable = {}): CommandDeclaration {
  return { options, operands: { rest: "data" }, effects: container };
}

/** Options of `run`, `create` and `exec` that give a container no rights over the host. */
const RUN_OPTIONS: OptionTable = {
  "-d, --detach": flag,
  "-e, --env": value("data"),
  "-h, --hostname": value("data"),
  "-i, --interactive": flag,
  "-l, --label": value("data"),
  "-m, --memory": value("number"),
  "-p, --publish": value("data"),
  "-t, --tty": flag,
  "-u, --user": value("data"),
  "-v, --volume": value("data"),
  "-w, --workdir": value("data"),
  "--cpus": value("number"),
  "--entrypoint": value("data"),
  "--env-file": value("read"),
  "--expose": value("data"),
  "--health-cmd": value("data"),
  "--init": flag,
  "--memory-swap": value("number"),
  "--name": value("data"),
  "--network": value(/^(?!host$|container:)[\w.-]+$/),
  "--platform": value("data"),
  "--pull": value(["always", "missing", "never"]),
  "--read-only": flag,
  "--restart": value("data"),
  "--rm": flag,
  "--shm-size": value("number"),
  "--stop-timeout": value("number"),
  "--tmpfs": value("data"),
};

const run: CommandDeclaration = {
  syntax: "posix",
  options: RUN_OPTIONS,
  operands: { rest: "data", atLeast: 1 },
  effects: container,
  examine: examineVolumes,
};

/** Judges the host folders that a container sees as read and, unless they are mounted read-only, as written. */
function examineVolumes({ options }: ParsedCall): readonly Effect[] | string {
  const effects: Effect[] = [];
  for (const { text } of options.get("-v") ?? []) {
    if (text === undefined) return "a volume is only known at run time";
    // `-v=a:b` is `-v a:b`.
    const [source = "", target, mode = ""] = text.replace(/^=/, "").split(":", 3);
    // A name without a slash is one of docker's own volumes.
    if (target === undefined || !/^[/.~]/.test(source)) continue;
    if (source.endsWith(".sock")) return "a socket of the host in a container gives it rights over the host";
    const path = { text: source };
    effects.push({ kind: "read", path });
    if (!mode.split(",").includes("ro")) effects.push({ kind: "write", path });
  }
  return effects;
}

const build: CommandDeclaration = {
  options: {
    "-f, --file": value("local-read"),
    "-q, --quiet": flag,
    "-t, --tag": value("data"),
    "--build-arg": value("data"),
    "--cache-from": value("data"),
    "--label": value("data"),
    "--load": flag,
    "--no-cache": flag,
    "--platform": value("data"),
    "--progress": value(["auto", "plain", "tty"]),
    "--pull": flag,
    "--target": value("data"),
  },
  operands: { rest: "local-read", atLeast: 1 },
  effects: [...container, action("project-code")],
};

const COMPOSE_OPTIONS: OptionTable = {
  "-f, --file": value("local-read"),
  "-p, --project-name": value("data"),
  "--env-file": value("read"),
  "--profile": value("data"),
};

/** A compose file is project code: it determines what runs and which files it sees. */
const composes = (options: OptionTable = {}, syntax: "gnu" | "posix" = "gnu"): CommandDeclaration => ({
  syntax,
  options,
  operands: { rest: "data" },
  effects: [...container, action("project-code")],
});

const compose: CommandDeclaration = {
  options: COMPOSE_OPTIONS,
  subcommands: {
    build: composes({ "--no-cache": flag, "--pull": flag, "-q, --quiet": flag }),
    config: composes({ "-q, --quiet": flag, "--services": flag }),
    down: composes({ "--remove-orphans": flag, "-t, --timeout": value("number") }),
    exec: composes(
      {
        "-T, --no-TTY": flag,
        "-e, --env": value("data"),
        "-i": flag,
        "-t": flag,
        "-u, --user": value("data"),
        "-w, --workdir": value("data"),
      },
      "posix",
    ),
    images: composes(),
    logs: composes({
      "-f, --follow": flag,
      "-n, --tail": value("data"),
      "-t, --timestamps": flag,
      "--no-color": flag,
      "--since": value("data"),
    }),
    ls: composes({ "-a, --all": flag }),
    port: composes(),
    ps: composes({ "-a, --all": flag, "-q, --quiet": flag, "--format": value("data"), "--services": flag }),
    pull: composes({ "-q, --quiet": flag }),
    restart: composes({ "-t, --timeout": value("number") }),
    run: composes(
      {
        "-T, --no-TTY": flag,
        "-d, --detach": flag,
        "-e, --env": value("data"),
        "--no-deps": flag,
        "--rm": flag,
        "-u, --user": value("data"),
        "-w, --workdir": value("data"),
      },
      "posix",
    ),
    start: composes(),
    stop: composes({ "-t, --timeout": value("number") }),
    top: composes(),
    up: composes({
      "-d, --detach": flag,
      "--build": flag,
      "--force-recreate": flag,
      "--no-deps": flag,
      "--pull": value(["always", "missing", "never"]),
      "--quiet-pull": flag,
      "--remove-orphans": flag,
      "--wait": flag,
      "--wait-timeout": value("number"),
    }),
    version: composes(),
  },
};

const LIST_OPTIONS: OptionTable = {
  "-a, --all": flag,
  "-f, --filter": value("data"),
  "-q, --quiet": flag,
  "--format": value("data"),
  "--no-trunc": flag,
};

const FORCE: OptionTable = { "-f, --force": flag };

export const docker = declareProgram({
  names: ["docker", "podman"],
  subcommands: {
    build,
    compose,
    container: {
      subcommands: { inspect: manages(), ls: manages(LIST_OPTIONS), logs: manages(), top: manages() },
    },
    diff: manages(),
    events: manages({ "--since": value("data"), "--until": value("data") }),
    exec: { ...run, options: RUN_OPTIONS },
    history: manages({ "--no-trunc": flag }),
    image: { subcommands: { inspect: manages(), ls: manages(LIST_OPTIONS), history: manages() } },
    images: manages(LIST_OPTIONS),
    info: manages(),
    inspect: manages({ "-f, --format": value("data"), "-s, --size": flag }),
    kill: manages({ "-s, --signal": value("data") }),
    logs: manages({
      "-f, --follow": flag,
      "-n, --tail": value("data"),
      "-t, --timestamps": flag,
      "--since": value("data"),
      "--until": value("data"),
    }),
    network: {
      subcommands: {
        create: manages({ "-d, --driver": value(["bridge"]) }),
        inspect: manages(),
        ls: manages(LIST_OPTIONS),
      },
    },
    pause: manages(),
    port: manages(),
    ps: manages({ ...LIST_OPTIONS, "-l, --latest": flag, "-n, --last": value("number"), "-s, --size": flag }),
    pull: {
      options: { "-q, --quiet": flag, "--platform": value("data") },
      operands: { rest: "data" },
      effects: [...container, action("remote-read")],
    },
    push: { operands: { rest: "data" }, effects: [action("remote-write")] },
    restart: manages({ "-t, --time": value("number") }),
    rm: manages(FORCE),
    rmi: manages(FORCE),
    run,
    start: manages(),
    stats: manages({ ...LIST_OPTIONS, "--no-stream": flag }),
    stop: manages({ "-t, --time": value("number") }),
    system: {
      subcommands: { df: manages({ "-v, --verbose": flag, "--format": value("data") }), info: manages() },
    },
    tag: manages(),
    top: manages(),
    unpause: manages(),
    version: manages({ "-f, --format": value("data") }),
    volume: { subcommands: { create: manages(), inspect: manages(), ls: manages(LIST_OPTIONS) } },
    wait: manages(),
  },
  options: { "--version, -v": flag },
});

export const dockerCompose = declareProgram({ names: ["docker-compose", "podman-compose"], ...compose });
