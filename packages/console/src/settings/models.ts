import type { DaemonClient, OperationResponse } from "@codexkit/daemon/client";

export type Model = OperationResponse<"GET /models">["data"][number];

const loaded = new WeakMap<DaemonClient, Promise<readonly Model[]>>();

/** The models that Codex offers. Read once per page. After a failure, the next call retries. */
export async function loadModels(client: DaemonClient): Promise<readonly Model[]> {
  const known = loaded.get(client);
  if (known) return known;
  const models = client.request("GET /models").then(({ data }) => data.filter(({ hidden }) => !hidden));
  loaded.set(client, models);
  models.catch(() => loaded.delete(client));
  return models;
}

/** The efforts of a model, or of the default model. */
export function effortsOf(models: readonly Model[], model: string | undefined): readonly string[] {
  const found =
    model === undefined || model === ""
      ? models.find(({ isDefault }) => isDefault)
      : models.find((candidate) => candidate.model === model);
  return found?.efforts ?? [];
}
