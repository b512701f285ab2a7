import type { ProgramDeclaration } from "./declaration/declaration.ts";
import { sevenZip } from "./7z.ts";
import { ag } from "./ag.ts";
import { awk, gawk, mawk, nawk } from "./awk.ts";
import { aws } from "./aws.ts";
import { b2sum } from "./b2sum.ts";
import { base32, base64 } from "./base64.ts";
import { basename } from "./basename.ts";
import { bash } from "./bash.ts";
import { bat } from "./bat.ts";
import { bc } from "./bc.ts";
import { buildTools } from "./build-tools.ts";
import { bun } from "./bun.ts";
import { bundle } from "./bundle.ts";
import { bzip2 } from "./bzip2.ts";
import { cargo } from "./cargo.ts";
import { cat } from "./cat.ts";
import { md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum } from "./checksums.ts";
import { chmod } from "./chmod.ts";
import { cksum } from "./cksum.ts";
import { cmake } from "./cmake.ts";
import { cmp } from "./cmp.ts";
import { col } from "./col.ts";
import { column } from "./column.ts";
import { comm } from "./comm.ts";
import { command } from "./command.ts";
import { compilers, managedCompilers } from "./compilers.ts";
import { corepack } from "./corepack.ts";
import { cp } from "./cp.ts";
import { csplit } from "./csplit.ts";
import { curl } from "./curl.ts";
import { cut } from "./cut.ts";
import { databaseTools } from "./database-tools.ts";
import { date } from "./date.ts";
import { dd } from "./dd.ts";
import { debuggers } from "./debuggers.ts";
import { deno } from "./deno.ts";
import { df } from "./df.ts";
import { diff } from "./diff.ts";
import { dir } from "./dir.ts";
import { dirname } from "./dirname.ts";
import { docker, dockerCompose } from "./docker.ts";
import { dotnet } from "./dotnet.ts";
import { du } from "./du.ts";
import { echo } from "./echo.ts";
import { env } from "./env.ts";
import { envsubst } from "./envsubst.ts";
import { expand, unexpand } from "./expand.ts";
import { expr } from "./expr.ts";
import { fd } from "./fd.ts";
import { file } from "./file.ts";
import { find } from "./find.ts";
import { flock } from "./flock.ts";
import { fmt } from "./fmt.ts";
import { fold } from "./fold.ts";
import { free } from "./free.ts";
import { fuser } from "./fuser.ts";
import { getconf } from "./getconf.ts";
import { gh } from "./gh.ts";
import { git } from "./git.ts";
import { go } from "./go.ts";
import { egrep, fgrep, grep } from "./grep.ts";
import { gunzip, gzip } from "./gzip.ts";
import { head } from "./head.ts";
import { helm } from "./helm.ts";
import { hexdump } from "./hexdump.ts";
import { hostname } from "./hostname.ts";
import { iconv } from "./iconv.ts";
import { id } from "./id.ts";
import { install } from "./install.ts";
import { interpreters } from "./interpreters.ts";
import { ionice } from "./ionice.ts";
import { ip } from "./ip.ts";
import { join } from "./join.ts";
import { journalctl } from "./journalctl.ts";
import { jq } from "./jq.ts";
import { just } from "./just.ts";
import { kill } from "./kill.ts";
import { killall } from "./killall.ts";
import { kubectl } from "./kubectl.ts";
import { less, more } from "./less.ts";
import { linters } from "./linters.ts";
import { ln } from "./ln.ts";
import { locale } from "./locale.ts";
import { ls } from "./ls.ts";
import { lsof } from "./lsof.ts";
import { make } from "./make.ts";
import { mkdir } from "./mkdir.ts";
import { mktemp } from "./mktemp.ts";
import { mv } from "./mv.ts";
import { netstat } from "./netstat.ts";
import { nice } from "./nice.ts";
import { nix } from "./nix.ts";
import { nl } from "./nl.ts";
import { colon, falseProgram, trueProgram } from "./no-operation.ts";
import { node } from "./node.ts";
import { nohup } from "./nohup.ts";
import { npm } from "./npm.ts";
import { nproc } from "./nproc.ts";
import { npx } from "./npx.ts";
import { numfmt } from "./numfmt.ts";
import { nvidiaSmi } from "./nvidia-smi.ts";
import { od } from "./od.ts";
import { openssl } from "./openssl.ts";
import { paste } from "./paste.ts";
import { patch } from "./patch.ts";
import { perl } from "./perl.ts";
import { pgrep } from "./pgrep.ts";
import { pidof } from "./pidof.ts";
import { dig, kustomize, nc, redisCli } from "./network-probes.ts";
import { ping } from "./ping.ts";
import { pip } from "./pip.ts";
import { pkill } from "./pkill.ts";
import { pnpm } from "./pnpm.ts";
import { poetry } from "./poetry.ts";
import { printenv } from "./printenv.ts";
import { printf } from "./printf.ts";
import { ps } from "./ps.ts";
import { psql } from "./psql.ts";
import { pwd } from "./pwd.ts";
import { python } from "./python.ts";
import { rails } from "./rails.ts";
import { readlink } from "./readlink.ts";
import { realpath } from "./realpath.ts";
import { rev } from "./rev.ts";
import { rg } from "./rg.ts";
import { rm } from "./rm.ts";
import { rmdir } from "./rmdir.ts";
import { rsync } from "./rsync.ts";
import { scp } from "./scp.ts";
import { script } from "./script.ts";
import { sed } from "./sed.ts";
import { seq } from "./seq.ts";
import { setsid } from "./setsid.ts";
import { shasum } from "./shasum.ts";
import { shuf } from "./shuf.ts";
import { sleep } from "./sleep.ts";
import { sort } from "./sort.ts";
import { split } from "./split.ts";
import { sqlite3 } from "./sqlite3.ts";
import { ss } from "./ss.ts";
import { ssh } from "./ssh.ts";
import { stat } from "./stat.ts";
import { stdbuf } from "./stdbuf.ts";
import { strace } from "./strace.ts";
import { strings } from "./strings.ts";
import { tac } from "./tac.ts";
import { systemReaders } from "./system-readers.ts";
import { tail } from "./tail.ts";
import { tar } from "./tar.ts";
import { tee } from "./tee.ts";
import { terraform } from "./terraform.ts";
import { bracket, testProgram } from "./test-expression.ts";
import { testRunners } from "./test-runners.ts";
import { time } from "./time.ts";
import { timeout } from "./timeout.ts";
import { touch } from "./touch.ts";
import { tput } from "./tput.ts";
import { tr } from "./tr.ts";
import { tree } from "./tree.ts";
import { truncate } from "./truncate.ts";
import { typeBuiltin } from "./type.ts";
import { uname } from "./uname.ts";
import { uniq } from "./uniq.ts";
import { unzip } from "./unzip.ts";
import { uptime } from "./uptime.ts";
import { uv } from "./uv.ts";
import { uvx } from "./uvx.ts";
import { watch } from "./watch.ts";
import { wc } from "./wc.ts";
import { wget } from "./wget.ts";
import { which } from "./which.ts";
import { arch, groups, logname, tty, whoami } from "./whoami.ts";
import { xargs } from "./xargs.ts";
import { xxd } from "./xxd.ts";
import { xz } from "./xz.ts";
import { yarn } from "./yarn.ts";
import { yq } from "./yq.ts";
import { bzcat, xzcat, zcat, zstdcat } from "./zcat.ts";
import { zip } from "./zip.ts";
import { zstd } from "./zstd.ts";

/** Every declared program, sorted by its name. A program that is not listed here is not understood. */
export const ALL_PROGRAMS: readonly ProgramDeclaration[] = [
  ag,
  arch,
  awk,
  aws,
  b2sum,
  base32,
  base64,
  basename,
  bash,
  bat,
  bc,
  bracket,
  buildTools,
  bun,
  bundle,
  bzcat,
  bzip2,
  cargo,
  cat,
  chmod,
  cksum,
  cmake,
  cmp,
  col,
  colon,
  column,
  comm,
  command,
  compilers,
  managedCompilers,
  corepack,
  cp,
  csplit,
  curl,
  cut,
  databaseTools,
  date,
  dd,
  debuggers,
  deno,
  df,
  diff,
  dir,
  dirname,
  docker,
  dockerCompose,
  dotnet,
  du,
  echo,
  egrep,
  env,
  envsubst,
  expand,
  expr,
  falseProgram,
  fd,
  fgrep,
  file,
  find,
  flock,
  fmt,
  fold,
  free,
  fuser,
  gawk,
  getconf,
  gh,
  git,
  go,
  grep,
  groups,
  gunzip,
  gzip,
  head,
  helm,
  hexdump,
  hostname,
  iconv,
  id,
  install,
  interpreters,
  ionice,
  ip,
  join,
  journalctl,
  jq,
  just,
  kill,
  killall,
  kubectl,
  less,
  linters,
  ln,
  locale,
  logname,
  ls,
  lsof,
  make,
  mawk,
  md5sum,
  mkdir,
  mktemp,
  more,
  mv,
  nawk,
  netstat,
  nice,
  nix,
  nl,
  node,
  nohup,
  npm,
  nproc,
  npx,
  numfmt,
  nvidiaSmi,
  od,
  openssl,
  paste,
  patch,
  perl,
  pgrep,
  pidof,
  dig,
  kustomize,
  nc,
  redisCli,
  ping,
  pip,
  pkill,
  pnpm,
  poetry,
  printenv,
  printf,
  ps,
  psql,
  pwd,
  python,
  rails,
  readlink,
  realpath,
  rev,
  rg,
  rm,
  rmdir,
  rsync,
  scp,
  script,
  sed,
  seq,
  setsid,
  sevenZip,
  sha1sum,
  sha224sum,
  sha256sum,
  sha384sum,
  sha512sum,
  shasum,
  shuf,
  sleep,
  sort,
  split,
  sqlite3,
  ss,
  ssh,
  stat,
  stdbuf,
  strace,
  strings,
  tac,
  ...systemReaders,
  tail,
  tar,
  tee,
  terraform,
  testProgram,
  testRunners,
  time,
  timeout,
  touch,
  tput,
  tr,
  tree,
  trueProgram,
  truncate,
  tty,
  typeBuiltin,
  uname,
  unexpand,
  uniq,
  unzip,
  uptime,
  uv,
  uvx,
  watch,
  wc,
  wget,
  which,
  whoami,
  xargs,
  xxd,
  xz,
  xzcat,
  yarn,
  yq,
  zcat,
  zip,
  zstd,
  zstdcat,
];
