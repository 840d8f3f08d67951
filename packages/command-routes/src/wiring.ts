// Builds the write side from its configuration; used by its own main and by the api.
import { createEventStore } from '@paylog/event-store/eventStore'
import { configuredIdentity } from '@paylog/identity/configured'
import { createCallers } from '@paylog/runtime/http/callers'
import type { Health } from '@paylog/runtime/process/health'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import { enabledProviders } from '@paylog/workflows/enabledProviders'
import { createWorkflowMetrics } from '@paylog/workflows/measureWorkflows'
import type { FastifyPluginAsync } from 'fastify'
import { commandApi } from './commandApi.ts'
import type { CommandConfig } from './config.ts'
import { rememberedGuest } from './guest-tokens/rememberedGuest.ts'

/** The write side as a plugin. Its connections are closed by the lifecycle, after the server that uses them. */
export async function wireCommandApi(
  config: CommandConfig,
  { lifecycle, health, metrics }: { readonly lifecycle: Lifecycle; readonly health: Health; readonly metrics: Metrics },
): Promise<FastifyPluginAsync> {
  const observe = createWorkflowMetrics(metrics)
  const providers = await enabledProviders(config, observe.providerCall)
  for (const provider of providers.values()) lifecycle.add(`provider ${provider.id}`, () => provider.close())
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, observe: observe.append })
  lifecycle.add('event store', () => store.close())
  health.check('event_store', async () => {
    const head = await store.head()
    return { head: head?.commit.toString() ?? null }
  })
  // No check of the providers: each is one of several, and the payer's choice.
  // No check of readiness goes with it: without it sessions get 503, but no other replica would be better off.
  const identity = configuredIdentity(config)
  lifecycle.add('identity', () => identity.close())
  const now = () => new Date()
  const emailOf = rememberedGuest({ store, maxAgeMs: config.GUEST_TOKEN_HISTORY_MAX_AGE, now })
  const actorOrRemembered = config.GUEST_TOKEN_HISTORY_FALLBACK ? identity.actorOrRemembered(emailOf) : identity.actorOf
  const callers = createCallers(identity.actorOf, actorOrRemembered)
  const { nodes, WEBHOOK_TESTS_BY: testsBy } = config
  return commandApi({ workflow: { store, providers, now }, callers, endpoints: nodes, testsBy })
}
