import type { Recorded } from '@paylog/event-store/codec/codec'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { recordedEvent } from '@paylog/webhooks/testing/paymentFixture'
import t from 'tap'
import { createPaymentCounters } from './paymentCounters.ts'

/** Counters that were passed these events, and what was logged. */
async function counted(...events: readonly Recorded[]) {
  const metrics = createMetrics()
  const warnings: unknown[] = []
  const warn = (...line: readonly unknown[]) => void warnings.push(line)
  const count = createPaymentCounters(metrics, { providers: ['fake'], log: { warn } })
  count(events)
  const page = await metrics.registry.metrics()
  const counterOf = (name: string, labels: string) =>
    Number(new RegExp(`^payment_${name}_total\\{provider="fake",${labels}\\} (\\d+)$`, 'm').exec(page)?.[1])
  return {
    warnings,
    refunds: ['succeeded', 'failed', 'failed_after_success'].map((end) => counterOf('refunds', `outcome="${end}"`)),
    disputes: ['open', 'won', 'lost'].map((status) => counterOf('disputes', `status="${status}"`)),
    attention: (code: string) => counterOf('attention', `code="${code}"`),
  }
}

t.test('the counters of enabled providers start at zero', async (t) => {
  const { refunds, disputes, attention, warnings } = await counted()
  t.strictSame(
    [refunds, disputes],
    [
      [0, 0, 0],
      [0, 0, 0],
    ],
  )
  for (const code of ['amount_mismatch', 'unrequested_charge', 'foreign_intent']) t.equal(attention(code), 0)
  t.strictSame(warnings, [])
})

t.test('a refund is counted when it succeeds, and again when it fails after that', async (t) => {
  const ended = (data: object) => recordedEvent('RefundRecorded', { data })
  const { refunds, warnings } = await counted(
    ended({ status: 'pending' }),
    ended({ status: 'succeeded' }),
    ended({ status: 'succeeded', was_succeeded: true }),
    ended({ status: 'failed' }),
    ended({ status: 'failed', was_succeeded: true }),
  )
  t.strictSame(refunds, [1, 1, 1])
  const failure = [{ payment_id: '018f0000-0000-7000-8000-000000000001', provider_id: 'fake' }, 'a refund failed']
  t.match(warnings, [failure, failure])
  t.equal(warnings.length, 2)
})

t.test('a refund that the provider rejects is counted as failed, one that can be repeated is not', async (t) => {
  const call = (data: object) => recordedEvent('ProviderCallFailed', { data: { call: 'refund', ...data } })
  const { refunds } = await counted(
    call({ outcome: 'rejected', error_code: 'provider_rejected' }),
    call({ outcome: 'rejected', error_code: 'provider_unavailable' }),
    call({ outcome: 'throttled', error_code: 'provider_unavailable' }),
    call({ outcome: 'unknown' }),
    call({ call: 'capture', outcome: 'rejected', error_code: 'provider_rejected' }),
  )
  t.strictSame(refunds, [0, 1, 0])
})

t.test('a dispute is counted when it is opened and when it is closed', async (t) => {
  const dispute = (data: object) => recordedEvent('PaymentDisputeRecorded', { data })
  const { disputes } = await counted(
    dispute({ status: 'open' }),
    dispute({ status: 'open', is_new_status: false }),
    dispute({ status: 'lost' }),
  )
  t.strictSame(disputes, [1, 0, 1])
})

t.test('each fact that needs attention is counted by its code, and logged as one warning', async (t) => {
  const conflict = recordedEvent('PaymentConflictDetected', { data: { attention: 'unrequested_charge' } })
  const { attention, warnings, refunds } = await counted(
    conflict,
    recordedEvent('PaymentConflictDetected'),
    recordedEvent('RefundRecorded', { data: { attention: 'refund_exceeds_payment' } }),
    recordedEvent('PaymentSucceeded'),
  )
  t.equal(attention('unrequested_charge'), 1)
  t.equal(attention('refund_exceeds_payment'), 1)
  t.equal(attention('amount_mismatch'), 0)
  t.strictSame(refunds, [1, 0, 0])
  t.match(warnings, [
    [
      {
        payment_id: '018f0000-0000-7000-8000-000000000001',
        provider_id: 'fake',
        code: 'unrequested_charge',
        correlationId: 'request-1',
        event_id: conflict.id,
      },
      'payment needs attention: The payer was charged more than once',
    ],
    [{ code: 'refund_exceeds_payment' }, 'payment needs attention: More was refunded than was received'],
  ])
  t.equal(warnings.length, 2)
})

t.test('events of a provider that is no longer enabled are counted too', async (t) => {
  const metrics = createMetrics()
  const count = createPaymentCounters(metrics, { providers: [], log: { warn: () => undefined } })
  count([recordedEvent('RefundRecorded')])
  t.match(await metrics.registry.metrics(), 'payment_refunds_total{provider="fake",outcome="succeeded"} 1')
})
