import { randomUUID } from 'node:crypto'
import { intentOwnerFold } from '@paylog/domain/provider-events/events'
import { createEventStore, newStream } from '@paylog/event-store/eventStore'
import { providerIntentStream } from '@paylog/event-store/streamName'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { createWorkflowMetrics } from './measureWorkflows.ts'

t.test('appends are counted by the category of their stream and how they ended', async (t) => {
  const log = await startEventStore(t)
  const metrics = createMetrics()
  const { append } = createWorkflowMetrics(metrics)
  const timing = { appendTimeoutMs: 2_000, appendPatienceMs: 3_000 }
  const store = createEventStore({ connectionString: log.connectionString, observe: append, timing })
  t.teardown(() => store.close())
  const stream = providerIntentStream('sandbox', randomUUID())
  const own = (count: number) =>
    store.handle({
      stream,
      fold: intentOwnerFold,
      decide: () =>
        Array.from({ length: count }, () => ({
          type: 'ProviderIntentOwned' as const,
          data: { payment_id: randomUUID(), provider_id: 'sandbox', provider_intent_id: 'pi' },
        })),
      metadata: { correlationId: 'c', causationId: 'c', actor: 'worker' },
      known: newStream(intentOwnerFold),
    })
  await own(2)
  // It takes the stream for a new one, and decides again.
  await own(3)
  await log.kill()
  await t.rejects(own(1), { code: 'event_store_unavailable' })
  const text = await metrics.registry.metrics()
  const count = (outcome: string) =>
    `event_store_append_duration_seconds_count{category="providerIntent",outcome="${outcome}"}`
  t.match(text, `${count('recorded')} 2`)
  t.match(text, `${count('conflict')} 1`)
  t.match(text, `${count('failed')} 1`)
  t.match(text, 'event_store_events_appended_total{category="providerIntent"} 5')
  t.notMatch(text, stream, 'streams are without number')
})
