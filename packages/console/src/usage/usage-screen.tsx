import { createMemo, createResource, For, type JSX, Show } from "solid-js";
import { useDaemon } from "../feed/index.ts";
import { toHref } from "../routing/index.ts";
import { sessionTitle } from "../settings/session-title.ts";
import { preferences } from "../settings/preferences.ts";
import { formatCount, loadedValue } from "../ui/index.ts";
import { Meter } from "./meter.tsx";
import { PriceForm } from "./price-form.tsx";
import { QuotaList } from "./quota-list.tsx";
import { TokenTable } from "./token-table.tsx";
import { addUsage, budgetUse, costOf, formatCost, rankByUsage } from "./usage-model.ts";
import "./usage.css";

/** Quotas, and tokens of all sessions. */
export default function UsageScreen(): JSX.Element {
  const { client, sessions } = useDaemon();
  const ranked = createMemo(() => rankByUsage(sessions()));
  const total = createMemo(() => addUsage(ranked().map(({ usage }) => usage)));
  const budgets = createMemo(() =>
    sessions().flatMap((session) => budgetUse(session).map((use) => ({ session, ...use }))),
  );
  const [account] = createResource(async () => client.request("GET /account").catch(() => undefined));
  return (
    <section class="screen">
      <h1>Usage</h1>
      <section class="usage-section" aria-labelledby="usage-quota">
        <h2 id="usage-quota">Quota of the account</h2>
        <p class="muted">{describeAccount(loadedValue(account)?.account)}</p>
        <QuotaList />
      </section>
      <section class="usage-section" aria-labelledby="usage-sessions">
        <h2 id="usage-sessions">Sessions</h2>
        <Show when={ranked().length > 0} fallback={<p class="muted">No session has used tokens yet.</p>}>
          <TokenTable usage={total()} caption="All sessions" />
          <Show when={preferences().prices}>
            {(prices) => <p>About {formatCost(costOf(total(), prices()))} by your prices.</p>}
          </Show>
          <table class="usage-table">
            <caption class="visually-hidden">Tokens by session</caption>
            <thead>
              <tr>
                <th scope="col">Session</th>
                <th scope="col">Share</th>
                <th scope="col">Tokens</th>
                <Show when={preferences().prices}>
                  <th scope="col">Cost</th>
                </Show>
              </tr>
            </thead>
            <tbody>
              <For each={ranked()}>
                {({ session, usage, share }) => (
                  <tr>
                    <th scope="row">
                      <a href={toHref(`/s/${encodeURIComponent(session.id)}?p=usage`)}>
                        {sessionTitle(session)}
                      </a>
                    </th>
                    <td>
                      <span class="meter-bar" aria-hidden="true">
                        <span class="meter-fill" style={{ width: `${Math.max(1, share * 100)}%` }} />
                      </span>
                    </td>
                    <td>{formatCount(usage.totalTokens)}</td>
                    <Show when={preferences().prices}>
                      {(prices) => <td>{formatCost(costOf(usage, prices()))}</td>}
                    </Show>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </Show>
      </section>
      <Show when={budgets().length > 0}>
        <section class="usage-section" aria-labelledby="usage-budgets">
          <h2 id="usage-budgets">Budgets</h2>
          <For each={budgets()}>
            {({ session, label, used, limit }) => (
              <Meter
                label={`${sessionTitle(session)}, ${label}`}
                value={used / limit}
                text={`${formatCount(used)} of ${formatCount(limit)}`}
              />
            )}
          </For>
        </section>
      </Show>
      <section class="usage-section" aria-labelledby="usage-prices">
        <h2 id="usage-prices">Prices</h2>
        <PriceForm />
      </section>
    </section>
  );
}

function describeAccount(
  account: { readonly type: string; readonly [name: string]: unknown } | null | undefined,
): string {
  if (account === undefined) return "The account is not known.";
  if (account === null) return "Codex is not logged in.";
  const plan = typeof account["planType"] === "string" ? `, plan ${account["planType"]}` : "";
  return `${account.type === "apiKey" ? "API key" : account.type}${plan}`;
}
