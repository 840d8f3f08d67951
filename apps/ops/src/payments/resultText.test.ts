import type { Reconciliation } from '@paylog/commands/payments/reconcilePayment'
import { existingPayment, type Payment } from '@paylog/domain/payments/payment'
import { created, fold, initiated } from '@paylog/domain/payments/testing/paymentFixture'
import type { IntentSnapshot } from '@paylog/providers/provider'
import t from 'tap'
import type { ReconcileResult } from './queryProviders.ts'
import { resultJson, resultText } from './resultText.ts'

const payment: Payment = {
  ...existingPayment(fold([...initiated, ...created])),
  ...{ provider_id: 'stripe', total_cents: 2200, currency: 'EUR' },
}
const { payment_id } = payment

type Reported = Partial<IntentSnapshot['report']> & { readonly further_charges?: readonly string[] }

function result(
  finding: ReconcileResult['finding'],
  here: Partial<Payment>,
  there?: Reported,
  problem?: string,
): ReconcileResult {
  const { further_charges = [], ...reported } = there ?? {}
  const further = further_charges.map((provider_payment_id) => ({
    provider_payment_id,
    amount_cents: 2200,
    currency: 'EUR',
  }))
  const report: IntentSnapshot['report'] = {
    status: 'succeeded',
    provider_time: '2026-11-20T12:00:00.000Z',
    provider_event_id: null,
    provider_intent_id: 'pi_1',
    provider_payment_id: 'ch_1',
    amount_cents: 2200,
    currency: 'eur',
    ...reported,
  }
  const reconciliation: Reconciliation = {
    finding: finding === 'stateless' ? 'same' : finding,
    status_before: 'pending',
    payment: { ...payment, ...here },
    snapshot: there && { report, further_charges: further, awaits_capture: false },
    problem,
  }
  return { payment_id, provider_id: 'stripe', finding, reconciliation, problem }
}

const textOf = (...given: Parameters<typeof result>) =>
  resultText(result(...given))
    .split(payment_id)[1]
    ?.trim()

t.test('a result line has amounts with the decimals of their currency', async (t) => {
  const differs = (total_cents: number, currency: string, there: Reported) =>
    textOf('amount_differs', { total_cents, currency }, there)
  t.equal(differs(2200, 'EUR', { amount_cents: 5 }), '22.00 EUR is due, 0.05 EUR at the provider')
  t.equal(differs(2200, 'EUR', { currency: 'usd' }), '22.00 EUR is due, 22.00 USD at the provider')
  t.equal(differs(2200, 'JPY', { amount_cents: 0, currency: 'jpy' }), '2200 JPY is due, 0 JPY at the provider')
  t.equal(
    differs(2200, 'KWD', { amount_cents: 22000, currency: 'kwd' }),
    '2.200 KWD is due, 22.000 KWD at the provider',
  )
})

t.test('a conflict line has both statuses, and the charges that are not recorded', async (t) => {
  const known = { status: 'succeeded', provider_payment_id: 'ch_1' } as const
  t.equal(
    textOf('conflict', known, { status: 'failed', provider_payment_id: 'ch_2' }),
    'succeeded in Paylog, failed at the provider',
  )
  t.equal(textOf('conflict', known, { status: 'canceled' }), 'succeeded in Paylog, canceled at the provider')
  t.equal(textOf('conflict', { ...known, status: 'canceled' }, {}), 'canceled in Paylog, succeeded at the provider')
  t.equal(textOf('conflict', known, { provider_payment_id: null }), 'succeeded in Paylog, succeeded at the provider')
  t.equal(
    textOf('conflict', { status: 'canceled' }, {}),
    'canceled in Paylog, succeeded at the provider, charges at the provider: ch_1, recorded: none',
  )
  t.equal(
    textOf('conflict', known, { further_charges: ['ch_2'] }),
    'succeeded in Paylog, succeeded at the provider, charges at the provider: ch_1 ch_2, recorded: ch_1',
  )
})

t.test('the lines of missing, unknown and unreachable results have a reason', async (t) => {
  t.equal(textOf('missing', {}), 'pending in Paylog, intent pi_1 unknown to the provider')
  t.equal(textOf('unknown', {}), 'pending in Paylog, a call got no response')
  t.equal(textOf('unknown', {}, undefined, 'timeout'), 'pending in Paylog, timeout')
  t.equal(textOf('unreachable', {}, undefined, 'refused'), 'pending in Paylog, refused')
  const skipped: ReconcileResult = { ...result('unreachable', {}), reconciliation: undefined, problem: 'timeout' }
  t.match(resultText(skipped), / {2}timeout$/)
  t.same(resultJson(skipped), {
    finding: 'unreachable',
    payment_id,
    provider_id: 'stripe',
    provider_intent_id: null,
    status_before: null,
    status: null,
    amount_cents: null,
    currency: null,
    reported: null,
    problem: 'timeout',
  })
})
