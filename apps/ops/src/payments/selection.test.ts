// Which payments are selected for a check.
import type { Recorded } from '@paylog/event-store/codec/codec'
import { recordedEvent } from '@paylog/webhooks/testing/paymentFixture'
import t from 'tap'
import { createPaymentSelection } from './reconcile.ts'

const created = new Date('2026-11-20T12:00:00.000Z')
const about = (payment_id: string, provider_id = 'stripe') => ({ at: created, data: { payment_id, provider_id } })
const initiated = (id: string, { at = created, provider_id = 'stripe' } = {}) =>
  recordedEvent('PaymentInitiated', { ...about(id, provider_id), at })
const started = (id: string) => recordedEvent('PaymentAttemptStarted', about(id))
const failed = (id: string) => recordedEvent('PaymentAttemptFailed', about(id))
const rejected = (id: string) =>
  recordedEvent('ProviderCallFailed', { data: { ...about(id).data, call: 'create', outcome: 'rejected' } })

function chosen(events: readonly Recorded[], { since, all = false }: { since?: number; all?: boolean } = {}) {
  const { payments, apply } = createPaymentSelection({ since, all })
  events.forEach(apply)
  return [...payments].map(([id, provider]) => `${provider} ${id}`)
}

t.test('payments are selected until they are final, in the order of their creation', async (t) => {
  const events = [
    initiated('a'),
    initiated('b', { provider_id: 'paypal' }),
    initiated('c'),
    initiated('d'),
    failed('a'),
    recordedEvent('PaymentSucceeded', about('c')),
    recordedEvent('PaymentCanceled', about('d')),
  ]
  t.same(chosen(events), ['stripe a', 'paypal b'])
  t.same(chosen(events, { all: true }), ['stripe a', 'paypal b', 'stripe c', 'stripe d'])
})

t.test('a payment whose call was rejected is not selected until another call starts', async (t) => {
  const events = [initiated('a'), initiated('b'), rejected('a'), rejected('b')]
  t.same(chosen(events), [])
  t.same(chosen(events, { all: true }), [])
  t.same(chosen([...events, started('b'), started('a')]), ['stripe b', 'stripe a'])
})

t.test('--since skips payments created earlier, unless a new attempt started since', async (t) => {
  const before = { at: new Date(created.getTime() - 1) }
  const since = created.getTime()
  const events = [initiated('a', before), initiated('b'), initiated('c', before), rejected('c'), started('c')]
  t.same(chosen(events, { since }), ['stripe b', 'stripe c'])
  t.same(chosen([...events, failed('a')], { since, all: true }), ['stripe b', 'stripe c'])
})
