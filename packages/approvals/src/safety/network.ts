import { cautioned, denied } from "../finding.ts";
import { TAINT } from "../shell/invocation.ts";
import { isSender, sendsSecret } from "../shell/taint.ts";
import { forNames, type Check, type CheckTable } from "./check.ts";

/** Secrets on their way out: a file with keys, or the whole environment, into a program that talks to the network. */
export const exfiltration: Check = (invocation, places) => {
  if (!isSender(invocation.name)) return undefined;
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

/** A container that is let out: the whole disk mounted, all privileges, the host's processes. */
const container: Check = ({ argv }) => {
  const words = argv.slice(1).map(({ text }) => text);
  const line = words.join(" ");
  if (!/(?:^|\s)(?:run|create|exec|up)(?:\s|$)/.test(line)) return undefined;
  const escapes = words.some(
    (word) =>
      /^--(?:privileged|pid=host|userns=host|uts=host|ipc=host|cap-add(?:=.*)?|security-opt(?:=.*)?|device(?:=.*)?)$/.test(
        word,
      ) ||
      /(?:^|[=,])\/:\//.test(word) ||
      /(?:docker|containerd|podman)\.sock/.test(word) ||
      /^(?:-v|--volume=?)?(?:type=bind,)?(?:source=|src=)?\/(?:etc|root|proc|sys|dev|boot|usr|bin|home)?[:,]/.test(
        word,
      ),
  );
  const pair = words.some((word, index) => word === "--pid" && words[index + 1] === "host");
  return escapes || pair
    ? denied("container-escape", "a container with the host's rights or files")
    : undefined;
};

/** What can't be brought back: clusters, buckets, databases, released packages. A person should see these. */
const IRREVERSIBLE =
  /^(?:(?:terraform|tofu|pulumi|cdk|sst|serverless|sls|vagrant) (?:.* )?(?:destroy|remove)|kubectl (?:.* )?delete|helm (?:.* )?(?:uninstall|delete)|aws (?:.* )?(?:rb|rm|delete-\S+|terminate-\S+)|gcloud (?:.* )?delete|az (?:.* )?delete|gsutil (?:.* )?(?:rm|rb)|doctl (?:.* )?delete|heroku (?:apps:destroy|pg:reset)|fly(?:ctl)? (?:apps )?destroy|npm (?:unpublish|deprecate|owner|access)|cargo yank|gh (?:repo (?:delete|archive)|release delete|secret)|docker (?:system|volume|image|builder) prune|docker volume rm|dropdb|mysqladmin (?:.* )?drop|redis-cli (?:.* )?flush\S*|mongo\S* .*drop|rabbitmqctl reset|etcdctl del|supabase db reset|prisma migrate reset|rails db:(?:drop|reset)|rake db:(?:drop|reset))(?:\s|$)/i;

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
