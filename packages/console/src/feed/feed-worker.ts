// The worker that reads the stream of events, so that parsing does not block the page.
import { DaemonClient } from "@codexkit/daemon/client";
import type { FeedReport, FeedRequest } from "./feed-protocol.ts";
import { StreamReader } from "./stream-reader.ts";

const client = new DaemonClient({ url: location.origin });
const reader = new StreamReader(client, (report: FeedReport) => postMessage(report));
addEventListener("message", ({ data }: MessageEvent<FeedRequest>) => reader.handle(data));
