// Runs workflows on a real event store, with a given provider and a clock that a test can move.
import { randomUUIDv7 } from 'node:crypto'
import type { CaptureMethod, Payer } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { priceOf } from '@paylog/domain/payments/initiate'
import type { PaymentState, PaymentStatus } from '@paylog/domain/payments/payment'
import { type RecordStatus, recordStatus } from '@paylog/domain/payments/statusReports'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream, type StreamName } from '@paylog/event-store/streamName'
import { connectEventStore } from '@paylog/event-store/testing/eventStoreHarness'
import type { Provider } from '@paylog/providers/provider'
import { startEventStore } from '@paylog/testing/eventStore'
import { paymentFields } from '@paylog/testing/paymentFields'
import type { Test } from 'tap'
import type { Workflow } from '../context.ts'
import { initiatePayment, replayPayment } from '../payments/initiatePayment.ts'
import type { FakeIntent } from './fakeProvider.ts'

export const metadata = { correlationId: 'test', causationId: 'test', actor: 'worker' }

/** Each test begins with the provider enabled and the current time. */
export async function workflowHarness(t: Test, provider: Provider) {
  const log = await startEventStore(t)
  const store = connectEventStore(t, { connectionString: log.connectionString, keys: log.keys })
  const time = { now: () => new Date() }
  const providers = new Map([[provider.id, provider]])
  const workflow: Workflow = { store, providers, now: () => time.now() }
  t.beforeEach(() => {
    providers.set(provider.id, provider)
    time.now = () => new Date()
  })
  return {
    workflow,
    store,
    keys: log.keys,
    providers,
    time,
    /** Opens a payment of 25.99 EUR, also when the provider call fails. */
    open: ({ on = workflow, ...request }: OpenOptions = {}) => open(on, provider.id, request),
    typesOf: async (stream: StreamName) => (await store.readStream(stream)).map(({ type }) => type),
    eventsOf: (paymentId: string) => store.readStream(paymentStream(paymentId)),
    /** Records a notification from a provider that cannot be queried. */
    notify: (intent: FakeIntent, status: PaymentStatus, charge?: string) =>
      notify(store, intent, { status, provider_payment_id: charge ?? null }),
    /** Records a notification, with its provider time, from a provider that can be queried. */
    notifyAt: (intent: FakeIntent, status: PaymentStatus, provider_time: string) =>
      notify(store, intent, { status, provider_time, source: 'queryable_notification' }),
    advance(ms: number) {
      time.now = () => new Date(Date.now() + ms)
    },
  }
}

type OpenOptions = {
  readonly on?: Workflow
  readonly payment_id?: string
  readonly request_fingerprint?: string
  readonly capture_method?: CaptureMethod
  readonly expires_at?: string
  readonly payer?: Payer
  readonly guest_email?: string
}

async function open(
  workflow: Workflow,
  provider_id: string,
  { payment_id = randomUUIDv7(), request_fingerprint, ...more }: Omit<OpenOptions, 'on'>,
) {
  const command = {
    ...paymentFields,
    payment_id,
    provider_id,
    request_fingerprint: request_fingerprint ?? null,
    occurred_at: workflow.now().toISOString(),
    ...priceOf({ total_cents: 2599, currency: 'EUR' }),
    payer: { id: null, type: 'guest', email: null },
    ...more,
  }
  const recorded = { metadata, assumed: await workflow.store.load(paymentStream(payment_id), paymentFold) }
  const initiated = await (recorded.assumed.state.status === 'none'
    ? initiatePayment(workflow, command, recorded)
    : replayPayment(workflow, command, recorded))
  return initiated.payment
}

function notify(store: EventStore, intent: FakeIntent, report: Pick<RecordStatus, 'status'> & Partial<RecordStatus>) {
  const at = new Date().toISOString()
  const command = {
    occurred_at: at,
    provider_time: at,
    provider_event_id: `evt_${randomUUIDv7()}`,
    provider_intent_id: intent.id,
    provider_payment_id: null,
    amount_cents: intent.amount_cents,
    currency: intent.currency,
    awaits_capture: intent.approved,
    ...report,
  }
  return store.handle({
    stream: paymentStream(intent.payment_id),
    fold: paymentFold,
    decide: (state: PaymentState) => recordStatus(command, state),
    metadata,
  })
}

class ProcessCrashed extends Error {
  override readonly message = 'the process died here'
}

/** @returns whether the work ended with a simulated crash @throws any other error */
export async function crashes(work: Promise<unknown>): Promise<boolean> {
  return await work.then(
    () => false,
    (error: unknown) => {
      if (error instanceof ProcessCrashed) return true
      throw error
    },
  )
}

/** Deterministic pseudo-random integers below a bound. */
export function seededRandom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A workflow whose process crashes after this many appends. */
export function crashAfter(appends: number, workflow: Workflow): Workflow {
  let made = 0
  const { store } = workflow
  const handle: EventStore['handle'] = async (command) => {
    if (made === appends) throw new ProcessCrashed()
    made++
    return store.handle(command)
  }
  return { ...workflow, store: { ...store, handle } }
}
