// Workflows as a test sees them: a real log, a provider on a stage, and a clock that can be moved.
import { randomUUIDv7 } from 'node:crypto'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { paymentStream, type StreamName } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import { startEventStore } from '@paylog/testing/eventStore'
import type { Test } from 'tap'
import type { Workflow } from '../context.ts'
import { openPayment } from '../openPayment.ts'

export const metadata = { correlationId: 'test', causationId: 'test', actor: 'worker' }

export async function workflowUnderTest(t: Test, provider: Provider) {
  const log = await startEventStore(t)
  const store = createEventStore({ connectionString: log.connectionString })
  t.teardown(() => store.close())
  const time = { now: () => new Date() }
  const providers = new Map([[provider.id, provider]])
  const workflow: Workflow = { store, providers, now: () => time.now() }
  return {
    workflow,
    store,
    providers,
    time,
    /** Opens a payment of 25.99 EUR; what the provider did not do is no error here. */
    open: ({ on = workflow, ...request }: Opening = {}) => open(on, provider.id, request),
    typesOf: async (stream: StreamName) => (await store.readStream(stream)).map(({ type }) => type),
    eventsOf: (paymentId: string) => store.readStream(paymentStream(paymentId)),
    later(ms: number) {
      time.now = () => new Date(Date.now() + ms)
    },
  }
}

type Opening = { readonly on?: Workflow; readonly payment_id?: string; readonly request_fingerprint?: string }

async function open(
  workflow: Workflow,
  provider_id: string,
  { payment_id = randomUUIDv7(), request_fingerprint }: Omit<Opening, 'on'>,
) {
  const { payment } = await openPayment(workflow, {
    payment_id,
    request_fingerprint: request_fingerprint ?? null,
    metadata,
    command: async () => ({
      payment_id,
      provider_id,
      request_fingerprint: request_fingerprint ?? null,
      occurred_at: workflow.now().toISOString(),
      total_cents: 2599,
      currency: 'EUR',
      payer: { id: null, type: 'guest', email: null },
      concept: null,
      description: null,
      reference_code: null,
      category: null,
      tags: null,
      payment_method_id: null,
      is_guest_payment: true,
      guest_email: null,
      guest_name: null,
      guest_phone: null,
      metadata: {},
    }),
  })
  return payment
}

/** The log as a process sees it that dies: the first appends are made, and nothing after them. */
export function dyingAfter(appends: number, workflow: Workflow): Workflow {
  let made = 0
  const { store } = workflow
  const handle: EventStore['handle'] = async (command) => {
    if (made === appends) throw new Error('the process died here')
    made++
    return store.handle(command)
  }
  return { ...workflow, store: { ...store, handle } }
}
