// Refunds, captures and voids at PayPal under faults: nothing is done twice, and no unknown outcome is reported as done or
// failed.
import type { Fault } from '@paylog/testing/fakeServer'
import t from 'tap'
import type { IntentRef } from '../provider.ts'
import {
  authorizedOrder,
  captureAuthorized,
  capturedOrder,
  paymentId,
  paypalHarness,
  refund,
} from './testing/paypalHarness.ts'

const refund_id = '0198f3a0-0000-7000-8000-00000000c001'
type Harness = Awaited<ReturnType<typeof paypalHarness>>

type Money = { readonly received_cents: number; readonly refunded_cents: number; readonly capturable_cents: number }

/** The calls that move money: how a payment gets ready for it, the call, and the money afterwards. */
const operations: Readonly<
  Record<
    string,
    {
      readonly start: (harness: Harness) => Promise<IntentRef>
      readonly act: (harness: Harness, ref: IntentRef) => Promise<unknown>
      readonly path: RegExp
      readonly before: Money
      readonly after: Money
    }
  >
> = {
  refund: {
    start: async (harness) => (await capturedOrder(harness)).ref,
    act: ({ paypal }, ref) =>
      refund(paypal, {
        ...ref,
        idempotency_key: refund_id,
        refund_id,
        amount_cents: 500,
        is_whole: false,
        reason: 'other',
        requested_at: '2026-09-01T10:00:00.000Z',
        is_repeated: true,
      }),
    path: /refund$/,
    before: { received_cents: 1999, refunded_cents: 0, capturable_cents: 0 },
    after: { received_cents: 1999, refunded_cents: 500, capturable_cents: 0 },
  },
  capture: {
    start: authorizedOrder,
    act: ({ paypal }, ref) => captureAuthorized(paypal, { ...ref, idempotency_key: 'x1', amount_cents: 1500 }),
    path: /capture$/,
    before: { received_cents: 0, refunded_cents: 0, capturable_cents: 1999 },
    after: { received_cents: 1500, refunded_cents: 0, capturable_cents: 0 },
  },
  void: {
    start: authorizedOrder,
    act: ({ paypal }, ref) => paypal.cancelIntent({ ...ref, idempotency_key: 'v1' }),
    path: /void$/,
    before: { received_cents: 0, refunded_cents: 0, capturable_cents: 1999 },
    after: { received_cents: 0, refunded_cents: 0, capturable_cents: 0 },
  },
}

const shortFaults: readonly Fault[] = [
  { kind: 'drop', commits: false },
  { kind: 'drop', commits: true },
  { kind: 'status', status: 500, commits: false },
  { kind: 'status', status: 503, commits: true },
  { kind: 'status', status: 429, commits: false, retryAfter: '0' },
]
const lastingFaults: readonly Fault[] = [
  { kind: 'hang', commits: false },
  { kind: 'hang', commits: true },
  { kind: 'drop', commits: true },
  { kind: 'status', status: 500, commits: false },
  { kind: 'status', status: 502, commits: true },
  { kind: 'status', status: 409, commits: false },
]

for (const [name, { start, act, path, before, after }] of Object.entries(operations)) {
  t.test(`PayPal: a ${name} overcomes a short fault with the same key, and is done once`, async (t) => {
    for (const fault of shortFaults) {
      const harness = await paypalHarness(t)
      const ref = await start(harness)
      harness.fake.faults.next(fault)
      await act(harness, ref)
      t.same(harness.fake.balanceOf(paymentId), after, JSON.stringify(fault))
      t.equal(new Set(harness.fake.callsTo(path).map(({ key }) => key)).size, 1)
    }
  })

  t.test(`PayPal: a ${name} without a clear response is unknown, and repeating it does it once`, async (t) => {
    const check = async (fault: Fault) => {
      const harness = await paypalHarness(t, { timeoutMs: 1000 })
      const ref = await start(harness)
      harness.fake.faults.always(fault)
      await t.rejects(act(harness, ref), { name: 'ProviderError', kind: 'unknown' }, JSON.stringify(fault))
      t.same(harness.fake.balanceOf(paymentId), 'commits' in fault && fault.commits ? after : before)
      harness.fake.faults.always(undefined)
      await act(harness, ref)
      t.same(harness.fake.balanceOf(paymentId), after)
    }
    await Promise.all(lastingFaults.map(check))
  })

  t.test(`PayPal: a throttled ${name} is unavailable, and nothing is done`, async (t) => {
    const harness = await paypalHarness(t, { timeoutMs: 500 })
    const ref = await start(harness)
    harness.fake.faults.always({ kind: 'status', status: 429, commits: false, retryAfter: '60' })
    await t.rejects(act(harness, ref), { name: 'ProviderError', kind: 'unavailable', code: 'rate_limited' })
    t.same(harness.fake.balanceOf(paymentId), before)
  })

  t.test(`PayPal: a ${name} while PayPal processes the same key is unknown`, async (t) => {
    const harness = await paypalHarness(t)
    const ref = await start(harness)
    harness.fake.rejectNext('PREVIOUS_REQUEST_IN_PROGRESS')
    harness.fake.rejectNext('PREVIOUS_REQUEST_IN_PROGRESS')
    harness.fake.rejectNext('PREVIOUS_REQUEST_IN_PROGRESS')
    await Promise.allSettled([act(harness, ref), act(harness, ref)])
    await act(harness, ref)
    t.same(harness.fake.balanceOf(paymentId), after)
  })
}
