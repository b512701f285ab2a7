import { belowHome } from "../files/sensitive-paths.ts";
import { cautioned, denied } from "../finding.ts";
import { TAINT } from "../shell/invocation.ts";
import { isSender, sendsSecret } from "../shell/taint.ts";
import { isUnknown } from "../shell/value.ts";
import { forNames, type Check, type CheckTable } from "./check.ts";

/** Secrets on their way out: a file with keys, or the whole environment, into a program that talks to the network. */
export const exfiltration: Check = (invocation, places) => {
  if (!isSender(invocation.name)) return undefined;
  // Between two folders of this machine rsync is just another `cp`.
  if (
    invocation.name === "rsync" &&
    !invocation.argv.some((word) => word.text.includes(":") || isUnknown(word))
  )
    return undefined;
  const arrives = invocation.feed | invocation.inner;
  if ((arrives & TAINT.credentials) !== 0 || sendsSecret(invocation, places))
    return denied("exfiltration", "sends credentials over the network");
  if ((arrives & TAINT.environment) !== 0)
    return denied("exfiltration", "sends the environment over the network");
  return undefined;
};

/** A shell at the other end of a connection. */
const netcat: Check = ({ argv, feed }) => {
  const words = argv.slice(1).map(({ text }) => text);
  const shell = words.some(
    (word) =>
      /^-[a-z]*[ec]$|^--(?:exec|sh-exec|lua-exec)/.test(word) || /^(?:exec|system|shell):/i.test(word),
  );
  if (shell) return denied("reverse-shell", "gives a shell to whoever is at the other end");
  return (feed & TAINT.other) !== 0
    ? cautioned("raw-network", "sends what a command prints over a raw connection")
    : undefined;
};

/** Folders of the host that give a container the host. */
const HOST_FOLDER =
  /^\/(?:|etc|root|proc|sys|dev|boot|usr|bin|sbin|lib|lib64|home|users|var|run|var\/run|var\/lib|var\/lib\/docker)$/i;

/** A container that is let out: the host's folders mounted, all privileges, the host's processes. */
const container: Check = (invocation, places) => {
  const words = invocation.argv.slice(1).map(({ text }) => text);
  if (!words.some((word) => /^(?:run|create|exec|up)$/.test(word))) return undefined;
  const escapes = words.some(
    (word, index) =>
      /^--(?:privileged(?:=(?!false).*)?|(?:pid|userns|uts|ipc|cgroupns)=host|cap-add(?:=.*)?|security-opt(?:=.*)?|device(?:=.*)?)$/.test(
        word,
      ) ||
      (/^--(?:pid|userns|uts|ipc|cgroupns)$/.test(word) && words[index + 1] === "host") ||
      /(?:docker|containerd|podman)\.sock/.test(word),
  );
  const mounts = words.flatMap((word, index) => {
    if (word === "-v" || word === "--volume") return (words[index + 1] ?? "").split(":").slice(0, 1);
    const volume = /^(?:-v=?|--volume=)(.+)$/.exec(word)?.[1];
    if (volume !== undefined) return volume.split(":").slice(0, 1);
    return [...word.matchAll(/(?:^|,|=)(?:src|source)=([^,]*)/g)].map((match) => match[1] ?? "");
  });
  const host = mounts.some((mount) => {
    if (!/^[./~]/.test(mount)) return false;
    const path = places.absolute(mount, places.cwd);
    return HOST_FOLDER.test(path) || belowHome(path, places.home) === "" || places.isCredential(path);
  });
  return escapes || host
    ? denied("container-escape", "a container with the host's rights or files")
    : undefined;
};

/** What can't be brought back: clusters, buckets, databases, released packages. A person should see these. */
const IRREVERSIBLE =
  /^(?:(?:terraform|tofu|pulumi|cdk|sst|serverless|sls|vagrant) (?:.* )?(?:destroy|remove|state rm)|(?:terraform|tofu) (?:.* )?apply (?:.* )?--?(?:destroy|auto-approve)|kubectl (?:.* )?(?:delete|drain|replace --force)|helm (?:.* )?(?:uninstall|delete)|aws (?:.* )?(?:rb|rm|delete-\S+|terminate-\S+)|gcloud (?:.* )?delete|az (?:.* )?delete|gsutil (?:.* )?(?:rm|rb)|doctl (?:.* )?delete|heroku (?:apps:destroy|pg:reset)|fly(?:ctl)? (?:apps )?destroy|npm (?:unpublish|deprecate|owner|access)|cargo yank|gh (?:repo (?:delete|archive)|release delete|secret|api (?:.* )?(?:-X ?|--method[ =])delete|alias set)|(?:docker|podman|nerdctl) (?:system|volume|image|builder) (?:prune|reset)|(?:docker|podman|nerdctl) volume rm|docker[ -]compose (?:.* )?down (?:.* )?(?:-v|--volumes)|dropdb|mysqladmin (?:.* )?drop|redis-cli (?:.* )?flush\S*|mongo\S* .*drop|rabbitmqctl reset|etcdctl del|supabase db reset|prisma migrate reset|rails db:(?:drop|reset)|rake db:(?:drop|reset))(?:\s|$)/i;

const SQL =
  /\b(?:drop\s+(?:database|schema|table|user)|truncate\s+(?:table\s+)?\w|delete\s+from\s+[\w."`]+\s*(?:;|$)|alter\s+user|grant\s+all)\b/i;

export const irreversible: Check = ({ name, argv }) => {
  const words = argv.slice(1).map(({ text }) => text);
  const line = [name, ...words].join(" ").slice(0, 2048);
  if (IRREVERSIBLE.test(line))
    return cautioned("irreversible", "deletes something that can't be brought back");
  return SQL.test(line) ? cautioned("irreversible", "SQL that deletes data") : undefined;
};

export const NETWORK: CheckTable = {
  ...forNames("nc ncat netcat socat cryptcat pwncat telnet", netcat),
  ...forNames(
    "docker podman nerdctl docker-compose",
    (invocation, places) => container(invocation, places) ?? irreversible(invocation, places),
  ),
  ...forNames(
    "terraform tofu pulumi cdk sst serverless sls vagrant kubectl helm aws gcloud az gsutil doctl heroku fly flyctl npm cargo gh dropdb mysqladmin redis-cli mongo mongosh rabbitmqctl etcdctl supabase prisma rails rake psql mysql sqlite3 mariadb",
    irreversible,
  ),
};
