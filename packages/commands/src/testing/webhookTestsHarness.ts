// The webhook test routes under test: endpoints of every mode, requests, and recorded state.
import { type WebhookTestFacts, webhookTestFold } from '@paylog/domain/webhookTest'
import { webhookTestStream } from '@paylog/event-store/streamName'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import type { Test } from 'tap'
import { ada, commandApiHarness, type Headers } from './commandApiHarness.ts'

/** `1` raw, `2` canonical, `3` both, `4` a chat with canonical events, `legacy-1` the legacy list. */
const everyMode = {
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: 'https://raw.example.com/hook',
  WEBHOOK_1_EVENT_MODE: 'raw',
  WEBHOOK_2_ENABLED: 'true',
  WEBHOOK_2_URL: 'https://canonical.example.com/hook',
  WEBHOOK_3_ENABLED: 'true',
  WEBHOOK_3_URL: 'https://both.example.com/hook',
  WEBHOOK_3_EVENT_MODE: 'both',
  WEBHOOK_4_ENABLED: 'true',
  WEBHOOK_4_URL: 'https://hooks.slack.com/services/T/B/x',
  EXTERNAL_WEBHOOK_URLS: 'https://legacy.example.com/hook',
}

export type WebhookTestData = {
  readonly id: string
  readonly canonical_events: readonly string[]
  readonly deliveries: readonly { readonly node: string; readonly event: string; readonly mode: string }[]
}

export const testRoute = '/webhooks/test'
export const simulateRoute = '/webhooks/external/simulate'

/** @param env of the endpoints @param testsBy the value of WEBHOOK_TESTS_BY */
export async function webhookTestsHarness(
  t: Test,
  env: Readonly<Record<string, string>> = everyMode,
  testsBy: 'session' | 'admin' = 'session',
) {
  const { endpoints: configured, problems } = decodeEndpoints(env)
  if (problems.length > 0) throw new Error(problems.join())
  const endpoints = [...configured]
  const api = await commandApiHarness(t, { endpoints, testsBy })
  const { send, store } = api
  const stateOf = async (id: string): Promise<WebhookTestFacts | null> =>
    (await store.load(webhookTestStream(id), webhookTestFold)).state
  return {
    ...api,
    /** Mutable, so that a test can change the configuration. */
    endpoints,
    test: (body?: unknown, headers: Headers = ada) => send<WebhookTestData>('POST', testRoute, headers, body),
    simulate: (body?: unknown, headers: Headers = ada) => send<WebhookTestData>('POST', simulateRoute, headers, body),
    eventsOf: (id: string) => store.readStream(webhookTestStream(id)),
    /** The recorded facts of a test. @throws if there are none */
    async recorded(id: string): Promise<WebhookTestFacts> {
      const facts = await stateOf(id)
      if (facts === null) throw new Error(`no webhook test ${id}`)
      return facts
    },
  }
}
