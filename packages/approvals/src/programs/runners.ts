import { readName } from "./program-names.ts";

/** Where a program that runs other programs has their names. */
export interface Runner {
  /** Its subcommand; none if the program itself runs the command. */
  readonly verb?: string;
  /** Operands before the command: an image, a container, a toolchain. */
  readonly operands?: number;
  /** Set if no operand is a command, but an argument may be code that has commands in it. */
  readonly onlyCode?: boolean;
}

const DIRECT: readonly Runner[] = [{}];
const runs = (...verbs: readonly string[]): readonly Runner[] => verbs.map((verb) => ({ verb }));
const COMPOSE: readonly Runner[] = [
  { verb: "exec", operands: 1 },
  { verb: "run", operands: 1 },
];
const CONTAINERS: readonly Runner[] = [
  ...COMPOSE,
  ...["container exec", "container run", "compose exec", "compose run"].map((verb) => ({
    verb,
    operands: 1,
  })),
];

/** Programs whose declarations don't say which of their operands is a command: for denials and questions alone. */
const RUNNERS: ReadonlyMap<string, readonly Runner[]> = new Map(
  Object.entries({
    asdf: runs("exec"),
    bash: DIRECT,
    bun: [...runs("x", "run"), {}],
    bundle: runs("exec"),
    bunx: DIRECT,
    concurrently: DIRECT,
    corepack: DIRECT,
    "cross-env": DIRECT,
    dash: DIRECT,
    docker: CONTAINERS,
    "docker-compose": COMPOSE,
    fnm: runs("exec"),
    gdb: DIRECT,
    hatch: runs("run"),
    hyperfine: DIRECT,
    kubectl: [{ verb: "exec", operands: 1 }],
    lldb: DIRECT,
    make: [{ onlyCode: true }],
    mise: runs("exec", "x"),
    nix: runs("develop", "run", "shell"),
    node: DIRECT,
    nodemon: DIRECT,
    npm: runs("exec"),
    npx: DIRECT,
    nvm: [
      { verb: "exec", operands: 1 },
      { verb: "run", operands: 1 },
    ],
    oc: [{ verb: "exec", operands: 1 }],
    pdm: runs("run"),
    perf: runs("record", "stat", "trace"),
    perl: DIRECT,
    php: DIRECT,
    pipenv: runs("run"),
    pipx: runs("run"),
    pnpm: [...runs("dlx", "exec"), {}],
    pnpx: DIRECT,
    podman: CONTAINERS,
    "podman-compose": COMPOSE,
    poetry: runs("run"),
    pyenv: runs("exec"),
    python: DIRECT,
    rbenv: runs("exec"),
    ruby: DIRECT,
    rustup: [{ verb: "run", operands: 1 }],
    sh: DIRECT,
    uv: [...runs("run", "tool run"), {}],
    uvx: DIRECT,
    valgrind: DIRECT,
    volta: runs("run"),
    yarn: [...runs("dlx", "exec", "run"), {}],
    zsh: DIRECT,
  }),
);

/** Where a program, by its name as written, has the commands that it runs. Undefined if it runs none. */
export function findRunners(program: string): readonly Runner[] | undefined {
  return RUNNERS.get(readName(program).main);
}
