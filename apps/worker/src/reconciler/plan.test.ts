import type { NonStatusEvent } from '@paylog/domain/payments/duplicates'
import { eventSamples, recordedEvent } from '@paylog/webhooks/testing/paymentFixture'
import t from 'tap'
import { planOf, type ReconciledEvent, type ReconcilePlan } from './plan.ts'

const at = new Date('2026-05-06T07:08:09.000Z')
const after = (ms: number) => new Date(at.getTime() + ms)
const hour = 3_600_000
const unused = async () => Promise.reject(new Error('a plan does not call the provider'))
const providers = new Map([
  ['fake', { retrieveIntent: unused, captureIntent: null }],
  ['capturing', { retrieveIntent: unused, captureIntent: unused }],
  ['mute', { retrieveIntent: null, captureIntent: null }],
])
const rules = { providers, reconcileAfterMs: hour }
const nothingLeft = { finish: null, ask: null, watch: null, expire: null }
/** An open create call is finished all the same. */
const settled = { ask: null, watch: null, expire: null }
const watched = { ask: null, watch: after(hour) }

type EventType = ReconciledEvent['type']

t.test('each event sets and clears exactly its own follow-up times', async (t) => {
  const table: Readonly<
    Record<Exclude<EventType, NonStatusEvent['type']>, ReconcilePlan | null> &
      Partial<Record<EventType, null | ReconcilePlan>>
  > = {
    PaymentInitiated: { finish: after(30_000) },
    ProviderNotificationReceived: null,
    PaymentAttemptStarted: { finish: after(30_000) },
    ProviderIntentCreated: { finish: null, watch: after(hour) },
    PaymentActionRequired: watched,
    PaymentProcessingStarted: watched,
    PaymentAttemptFailed: watched,
    PaymentAmountMismatch: { watch: after(hour) },
    PaymentSucceeded: settled,
    PaymentCanceled: settled,
    ProviderEventIgnored: null,
    PaymentConflictDetected: null,
    RefundRecorded: null,
    PaymentCancelRequested: { finish: after(30_000) },
    PaymentCaptureRequested: { finish: after(30_000) },
    RefundRequested: { finish: after(30_000) },
    ProviderCallFailed: { finish: after(10_000) },
    PaymentDisputeRecorded: null,
    ProviderEventReceived: { finish: after(30_000) },
    ProviderEventApplied: nothingLeft,
    ProviderEventAppliedToMethod: nothingLeft,
    ProviderEventUnmatched: nothingLeft,
  }
  for (const type of Object.keys(eventSamples) as EventType[]) {
    t.strictSame(planOf(recordedEvent(type, { at }), rules), table[type], type)
    const unknown = planOf(recordedEvent(type, { at }), { ...rules, providers: new Map() })
    t.strictSame(unknown, table[type], `${type} of a disabled provider`)
  }
})

t.test('without retrieveIntent nothing is watched once the intent exists', async (t) => {
  const data = { provider_id: 'mute' }
  t.strictSame(planOf(recordedEvent('PaymentInitiated', { at, data }), rules), { finish: after(30_000) })
  t.strictSame(planOf(recordedEvent('ProviderIntentCreated', { at, data }), rules), { finish: null, watch: null })
  for (const type of ['PaymentActionRequired', 'PaymentProcessingStarted', 'PaymentAttemptFailed'] as const)
    t.equal(planOf(recordedEvent(type, { at, data }), rules), null, type)
  t.equal(planOf(recordedEvent('PaymentAmountMismatch', { at, data }), rules), null)
  const regression = { ...data, reason: 'regression' } as const
  t.equal(planOf(recordedEvent('ProviderEventIgnored', { at, data: regression }), rules), null)
})

t.test('a report that leaves the status undecided is checked at once, other ignored reports are not', async (t) => {
  const planFor = (reason: 'tie' | 'regression' | 'stale' | 'final' | 'foreign_intent') =>
    planOf(recordedEvent('ProviderEventIgnored', { at, data: { reason } }), rules)
  for (const reason of ['tie', 'regression'] as const) t.strictSame(planFor(reason), { ask: at }, reason)
  for (const reason of ['stale', 'final', 'foreign_intent'] as const) t.equal(planFor(reason), null, reason)
})

t.test('an approval that Paylog has to capture is checked at once', async (t) => {
  const processing = (provider_id: string, provider_event_id: string | null) =>
    planOf(recordedEvent('PaymentProcessingStarted', { at, data: { provider_id, provider_event_id } }), rules)
  t.strictSame(processing('capturing', 'evt_1'), { ask: at })
  t.strictSame(processing('fake', 'evt_1'), watched)
  t.strictSame(
    processing('capturing', null),
    { ask: after(30_000) },
    'the caller whose response contained the approval gets time to capture',
  )
})

t.test('a rejected call ends the follow-up, a failed payment does not', async (t) => {
  const failure = { call: 'create', outcome: 'rejected', error_code: 'payment_declined' } as const
  const rejected = recordedEvent('ProviderCallFailed', { at, data: failure })
  t.strictSame(planOf(rejected, rules), nothingLeft)
})

t.test('a payment is canceled when it expires, unless it never does', async (t) => {
  const expires_at = after(24 * hour).toISOString()
  t.strictSame(planOf(recordedEvent('PaymentInitiated', { at, data: { expires_at } }), rules), {
    finish: after(30_000),
    expire: after(24 * hour),
  })
  const never = recordedEvent('PaymentInitiated', { at, data: { expires_at: null } })
  t.strictSame(planOf(never, rules), { finish: after(30_000) })
})

t.test('an authorized payment is not captured by the worker', async (t) => {
  const data = { provider_id: 'capturing', capturable_cents: 2599 }
  t.strictSame(planOf(recordedEvent('PaymentProcessingStarted', { at, data }), rules), watched)
})

t.test('a rejected call of an operation leaves the follow-up as it is', async (t) => {
  const data = { outcome: 'rejected' } as const
  t.equal(planOf(recordedEvent('ProviderCallFailed', { at, data }), rules), null)
})
