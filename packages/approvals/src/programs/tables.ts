import type { EffectKind } from "./effect.ts";

type Simple = Exclude<EffectKind, "write" | "writeOutside" | "network" | "credentials">;

/** Programs that do one kind of thing whatever their arguments are. */
const WHOLE: readonly [Simple, string][] = [
  [
    "read",
    "command builtin xargs parallel col ls ll cat head tail grep egrep fgrep rg ag ack wc sort uniq cut tr diff colordiff delta cmp comm file stat du df pwd echo printf which whereis type date whoami id groups uname arch hostname test [ true false : tree exa eza less more bat batcat jq gron column nl tac rev fold fmt paste join expand unexpand basename dirname realpath readlink seq sleep md5sum sha1sum sha256sum sha512sum shasum md5 cksum b2sum strings hexdump xxd od nm objdump readelf otool size ldd ps pgrep uptime free vmstat lscpu lsblk nproc getconf locale tput clear man info help apropos whatis tldr expr bc dc cal let read mapfile readarray local declare typeset export readonly unset set shopt shift return exit break continue wait jobs getopts hash umask ulimit times cd pushd popd dirs pwd history fc bind complete compgen tokei cloc scc scan-build numfmt iconv look zcat zgrep zless xzcat bzcat gzcat sw_vers system_profiler lsb_release printenv env locate mdfind gtop glances top htop lsof pstree w who last tty stty logname factor tsort pr base64 base32 identify ffprobe sysctl crontab mount select-string get-childitem get-content get-location test-path get-item measure-object select-object sort-object where-object format-table format-list out-string write-output write-host get-command get-process get-help get-date dir findstr ver where tasklist difft hexyl dust duf procs git-delta nix-instantiate rustup-which cargo-tree go-version terraform-docs wl-paste pbpaste semgrep-docs dpkg-query rpm-query sqlformat",
  ],
  [
    "run",
    "ctags fzf exiftool pdftotext make gmake cmake ctest ninja meson bazel bazelisk buck buck2 pants scons autoconf automake autoreconf configure libtool gcc g++ cc c++ clang clang++ clang-format clang-tidy cppcheck ld ar ranlib strip rustc rustfmt clippy-driver javac java jar javadoc kotlinc kotlin scalac sbt mvn mvnw gradle gradlew ant dotnet msbuild csc fsc swift swiftc xcodebuild xcrun zig ocaml ocamlc ocamlfind dune opam-exec ghc cabal stack elixirc iex mix rebar3 erlc erl nim nimble crystal shards dart flutter tsc tsgo tsx ts-node esbuild swc babel webpack webpack-cli rollup rolldown vite vitest jest mocha ava tap karma cypress playwright wdio nyc c8 eslint oxlint oxfmt prettier biome dprint standard xo stylelint markdownlint markdownlint-cli2 commitlint lint-staged husky knip madge depcheck turbo nx lerna moon rush parcel next nuxt astro remix gatsby ng vue-cli-service svelte-kit svelte-check storybook expo react-native metro wrangler vercel-build serve http-server live-server json-server nodemon pm2-dev tsup unbuild tshy microbundle typedoc jsdoc api-extractor changeset pytest py.test tox nox mypy pyright basedpyright ruff black isort flake8 pylint pycodestyle pydocstyle bandit coverage sphinx-build mkdocs pre-commit alembic django-admin flask uvicorn gunicorn hypercorn celery streamlit jupyter ipython rake rspec rubocop standardrb minitest rails cucumber jekyll sorbet srb steep phpunit pest phpstan psalm php-cs-fixer pint artisan golangci-lint staticcheck gofmt gofumpt goimports govulncheck mockgen gotestsum air ginkgo buf protoc protoc-gen-go sqlc templ wire shellcheck shfmt bats hadolint yamllint actionlint tflint tfsec checkov ansible-lint helm-docs vale codespell typos cspell editorconfig-checker lefthook just task mage invoke fab doit gdb lldb strace ltrace wasm-pack wasm-bindgen wasm-opt emcc trunk cross maturin uvx-run graphviz dot mermaid mmdc pandoc pdflatex xelatex latexmk tectonic asciidoctor hugo zola mdbook gendiff graphql-codegen openapi-generator openapi-generator-cli swagger-cli redocly spectral orval prisma drizzle-kit knex sequelize typeorm sea-orm-cli diesel sqlx goose migrate flyway liquibase psql sqlite3 mysql duckdb redis-cli mongosh foundry forge cast anvil hardhat truffle slither solc anchor source . node python python3 ruby perl php deno bun lua julia rscript sh bash zsh nix-build cachix devenv colcon roslaunch west idf.py platformio pio arduino-cli svgo imagemin convert magick ffmpeg sips optipng rsvg-convert",
  ],
  [
    "install",
    "pip-compile pip-sync conan vcpkg pod carthage bower jspm hex cpan cpanm luarocks opam nvm fnm volta n asdf mise rbenv pyenv rustup sdk jenv goenv corepack nodenv proto",
  ],
  [
    "process",
    "kill pkill killall lsof fuser renice ss netstat ifconfig ip arp systemctl journalctl dmesg docker podman docker-compose nerdctl colima minikube kind k3d open xdg-open wait disown bg fg tmux screen pm2 supervisorctl launchctl adb emulator simctl",
  ],
];

export const SIMPLE_PROGRAMS: ReadonlyMap<string, Simple> = new Map(
  WHOLE.flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind] as const)),
);

type Verbs = Partial<Record<Simple, string>>;

/** Programs whose first word says what they do. What is not listed is unknown; `*` stands for every other word. */
const BY_VERB: Readonly<Record<string, Verbs>> = {
  npm: {
    run: "test t tst run run-script rum start stop restart exec x rebuild prune-dry explore",
    install:
      "install i in ci add update up upgrade uninstall remove rm un dedupe ddp link init create audit install-test it install-ci-test cit outdated fund prune pkg version shrinkwrap",
    read: "ls list ll la why explain view info show v search bin root prefix config get help doctor ping whoami pack -v --version query completion cache sbom",
    publish: "publish dist-tag team org",
  },
  npx: { run: "*" },
  pnpx: { run: "*" },
  bunx: { run: "*" },
  uvx: { run: "*" },
  pnpm: {
    install:
      "install i add update up upgrade remove rm uninstall un dedupe import fetch link prune rebuild rb audit outdated init create setup env self-update patch patch-commit approve-builds dlx",
    run: "run test t start exec recursive -r --filter -F --recursive build lint dev typecheck format check deploy",
    read: "list ls ll why view info show root bin store config help --version -v licenses pack cat-file",
    publish: "publish",
  },
  yarn: {
    install:
      "install add up upgrade remove dedupe set link import plugin audit outdated init create dlx upgrade-interactive --frozen-lockfile --immutable",
    run: "run test start exec workspace workspaces build lint dev format typecheck node constraints check",
    read: "list why info config bin cache --version -v help pack",
    publish: "publish npm",
  },
  bun: {
    install: "install i add remove rm update link create init pm outdated upgrade patch",
    run: "run test x build dev start exec repl lint --watch --hot",
    publish: "publish",
  },
  deno: {
    run: "run test task check lint fmt bench compile bundle doc serve",
    install: "install add remove cache init upgrade outdated",
    read: "info types --version help",
    publish: "publish deploy",
  },
  cargo: {
    run: "build b check c test t run r bench clippy fmt fix doc rustc rustdoc nextest expand miri llvm-cov tarpaulin make xtask watch hack udeps machete deny audit outdated semver-checks insta leptos sqlx",
    install:
      "add remove rm update install uninstall fetch vendor init new generate-lockfile upgrade binstall",
    read: "tree metadata search locate-project pkgid version --version --list read-manifest verify-project help clean package info",
    publish: "publish owner login",
  },
  go: {
    run: "build test run vet fmt generate tool fix work",
    install: "get install mod",
    read: "list doc env version help bug clean telemetry",
  },
  pip: {
    install: "install download uninstall wheel",
    read: "list show freeze check search index inspect config --version cache help debug hash",
  },
  pip3: {
    install: "install download uninstall wheel",
    read: "list show freeze check search index inspect config --version cache help debug hash",
  },
  uv: {
    install: "add remove sync lock pip venv tool init python self",
    run: "run build export",
    read: "tree version --version cache help",
    publish: "publish",
  },
  poetry: {
    install: "install add remove update lock init new env self",
    run: "run build check shell",
    read: "show version config --version search about",
    publish: "publish",
  },
  pipenv: { install: "install uninstall update lock sync", run: "run check", read: "graph --version --venv" },
  pdm: {
    install: "install add remove update lock sync init",
    run: "run build",
    read: "list info show",
    publish: "publish",
  },
  hatch: { run: "run test build fmt shell env", read: "version status", publish: "publish" },
  rye: { install: "sync add remove init", run: "run build test lint fmt", publish: "publish" },
  conda: {
    install: "install create update remove env activate deactivate",
    read: "list info search config",
    run: "run build",
  },
  mamba: { install: "install create update remove env activate", read: "list info search" },
  pipx: { install: "install upgrade uninstall inject", run: "run", read: "list" },
  bundle: {
    install: "install update add remove lock init outdated config",
    run: "exec",
    read: "list show info check",
  },
  gem: {
    install: "install update uninstall",
    read: "list search info env which",
    publish: "push yank owner",
  },
  composer: {
    install: "install update require remove dump-autoload create-project init",
    run: "run run-script exec test",
    read: "show why validate outdated --version audit",
  },
  brew: {
    install: "install upgrade update uninstall reinstall tap bundle cleanup",
    read: "list info search deps outdated config doctor --version leaves --prefix",
    process: "services",
  },
  dotnet: {
    run: "build test run format watch publish pack clean msbuild",
    install: "restore add remove tool new nuget workload",
    read: "list --info --version sln",
  },
  flutter: {
    run: "test run build analyze format clean",
    install: "pub create upgrade",
    read: "doctor devices --version",
  },
  dart: { run: "run test analyze format compile fix", install: "pub create", read: "--version info" },
  mix: {
    run: "test compile format credo dialyzer phx.server run ecto.migrate ecto.create ecto.gen.migration phx.gen.schema",
    install: "deps.get deps.update local.hex deps.compile",
    read: "help deps deps.tree",
    publish: "hex.publish",
  },
  terraform: {
    run: "fmt validate plan console test graph",
    install: "init get providers",
    read: "show output version state",
  },
  tofu: { run: "fmt validate plan", install: "init", read: "show output version" },
  helm: {
    run: "lint template package dependency test",
    read: "list ls status get history show search version env",
    install: "repo pull",
  },
  kubectl: {
    read: "get describe logs explain version api-resources api-versions cluster-info config top diff",
  },
  kustomize: { run: "build edit", read: "version" },
  docker: {
    process:
      "build buildx ps images logs inspect stats top start stop restart pause unpause rename rm rmi kill wait port diff history network volume context info version --version compose image container tag save load export create cp events attach run exec",
    install: "pull search",
    publish: "push login logout",
  },
  podman: { process: "build ps images logs inspect start stop restart run exec", install: "pull" },
  "docker-compose": { process: "*" },
  gh: {
    read: "api pr issue run repo release workflow status search auth browse label gist project cache ruleset --version help",
  },
  glab: { read: "mr issue ci repo release --version" },
  aws: { read: "--version help" },
  gcloud: { read: "version info --version config" },
  vercel: { run: "dev build", read: "ls inspect whoami --version", publish: "deploy --prod" },
  wrangler: { run: "dev types", read: "whoami tail --version", publish: "deploy publish" },
  nix: { run: "build develop run flake fmt shell eval log", read: "search show-config path-info --version" },
  apt: { read: "list search show policy --version" },
  "apt-get": { read: "--version" },
  "apt-cache": { read: "*" },
  dpkg: { read: "-l -L -s -S --list --listfiles --search --status --version" },
  rpm: { read: "-q -qa -qi -ql -qf --query" },
  systemctl: {
    read: "status list-units list-unit-files is-active is-enabled is-failed show cat list-timers list-sockets --version",
    process: "start stop restart reload --user",
  },
  launchctl: { read: "list print" },
  defaults: { read: "read domains find" },
  code: {
    run: "--diff --wait --list-extensions --version -r -n . -g --goto",
    install: "--install-extension",
  },
  sqlite3: { run: "*" },
  turbo: { run: "*" },
  php: { run: "*" },
  codex: { read: "--version --help -V -h" },
  claude: { read: "--version --help" },
  rustup: {
    read: "show which --version doc",
    install: "update toolchain target component default override install",
  },
  nvm: { read: "ls list current which --version ls-remote", install: "install use alias uninstall" },
};

export const VERB_PROGRAMS: ReadonlyMap<string, ReadonlyMap<string, Simple>> = new Map(
  Object.entries(BY_VERB).map(([name, verbs]) => [
    name,
    new Map(
      Object.entries(verbs).flatMap(([kind, words]) =>
        words.split(" ").map((word) => [word, kind as Simple] as const),
      ),
    ),
  ]),
);

/** `gh pr create` shows something to the world, `gh pr view` does not: the second word decides. */
export const PUBLISHING_VERBS =
  /^(?:create|merge|close|reopen|comment|edit|review|ready|delete|lock|unlock|transfer|rename|fork|sync|upload|enable|disable|cancel|rerun|run|trigger|retry|approve|revoke|login|logout|refresh|setup-git|archive|deploy|add|remove|set|pin|unpin|develop|clone)$/;

export const GIT_VERBS: ReadonlyMap<string, Simple> = new Map(
  (
    [
      [
        "read",
        "status log diff show blame annotate branch tag describe rev-parse rev-list ls-files ls-tree cat-file grep shortlog reflog stash-list whatchanged name-rev merge-base for-each-ref show-ref symbolic-ref var help version --version config remote count-objects fsck check-ignore check-attr diff-tree diff-index diff-files cherry range-diff bisect-log verify-commit verify-tag show-branch ls-remote worktree-list request-pull format-patch archive bundle diagnose --help --no-pager",
      ],
      [
        "commit",
        "add commit checkout switch restore merge rebase cherry-pick revert reset rm mv stash init branch tag am apply notes clean worktree bisect submodule sparse-checkout rerere update-index write-tree read-tree commit-tree hash-object mergetool difftool gc maintenance lfs subtree flow absorb update-ref",
      ],
      ["sync", "fetch pull push clone"],
    ] as const
  ).flatMap(([kind, words]) => words.split(" ").map((word) => [word, kind] as const)),
);
