import { readName } from "./program-names.ts";

/** How a program runs other programs. */
export interface Runner {
  /** The subcommand. Undefined if the program itself runs the command. */
  readonly verb?: string;
  /** Set if no operand is a command, but an argument may be code that contains commands. */
  readonly onlyCode?: boolean;
}

const DIRECT: readonly Runner[] = [{}];
const runs = (...verbs: readonly string[]): readonly Runner[] => verbs.map((verb) => ({ verb }));
const CONTAINERS = runs("exec", "run");

/** Programs whose declarations don't specify which operand is a command. Used only for deny and ask rules. */
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
    "docker-compose": CONTAINERS,
    fnm: runs("exec"),
    gdb: DIRECT,
    hatch: runs("run"),
    hyperfine: DIRECT,
    kubectl: runs("exec"),
    lldb: DIRECT,
    make: [{ onlyCode: true }],
    mise: runs("exec", "x"),
    nix: runs("develop", "run", "shell"),
    node: DIRECT,
    nodemon: DIRECT,
    npm: runs("exec"),
    npx: DIRECT,
    nvm: runs("exec", "run"),
    oc: runs("exec"),
    pdm: runs("run"),
    perf: runs("record", "stat", "trace"),
    perl: DIRECT,
    php: DIRECT,
    pipenv: runs("run"),
    pipx: runs("run"),
    pnpm: [...runs("dlx", "exec"), {}],
    pnpx: DIRECT,
    podman: CONTAINERS,
    "podman-compose": CONTAINERS,
    poetry: runs("run"),
    pyenv: runs("exec"),
    python: DIRECT,
    rbenv: runs("exec"),
    ruby: DIRECT,
    rustup: runs("run"),
    sh: DIRECT,
    ssh: DIRECT,
    uv: [...runs("run", "tool run"), {}],
    uvx: DIRECT,
    valgrind: DIRECT,
    volta: runs("run"),
    yarn: [...runs("dlx", "exec", "run"), {}],
    zsh: DIRECT,
  }),
);

/** How a program, by its name as written, runs other programs. Empty if it runs none. */
export function findRunners(program: string): readonly Runner[] {
  return RUNNERS.get(readName(program).main) ?? [];
}
