// Which payment PayPal's notifications name, and which are about other systems' payments.
import t from 'tap'
import { payment_id } from '../testing/requests.ts'
import { readEvent } from './testing/paypalHarness.ts'

type Ids = { readonly custom?: unknown; readonly invoice?: unknown }

/** Types, with an object that has these ids in its own fields. */
const objects: readonly [string, (ids: Ids) => object][] = [
  [
    'CHECKOUT.ORDER.APPROVED',
    ({ custom, invoice }) => ({ id: 'O1', purchase_units: [{ custom_id: custom, invoice_id: invoice }] }),
  ],
  [
    'CHECKOUT.ORDER.COMPLETED',
    ({ custom, invoice }) => ({ id: 'O1', purchase_units: [{ custom_id: custom, invoice_id: invoice }] }),
  ],
  ['PAYMENT.CAPTURE.PENDING', ({ custom, invoice }) => ({ id: 'C1', custom_id: custom, invoice_id: invoice })],
  ['PAYMENT.AUTHORIZATION.CREATED', ({ custom, invoice }) => ({ id: 'A1', custom_id: custom, invoice_id: invoice })],
  [
    'CUSTOMER.DISPUTE.CREATED',
    ({ custom, invoice }) => ({
      dispute_id: 'D1',
      disputed_transactions: [{ seller_transaction_id: 'C1', custom, invoice_number: invoice }],
    }),
  ],
]
const refundOf = ({ custom, invoice }: Ids) => ({
  id: 'R1',
  custom_id: custom,
  invoice_id: invoice,
  links: [{ rel: 'up', href: 'https://api.paypal.com/v2/payments/captures/C1' }],
})
const withRefund = [...objects, ['PAYMENT.CAPTURE.REFUNDED', refundOf] as const]

t.test('PayPal: a notification names its payment in custom_id, or else in invoice_id', (t) => {
  const other = payment_id.replace('5b', '5c')
  for (const [type, object] of withRefund) {
    const named = (ids: Ids) => readEvent(type, object(ids)).referenced_payment_id
    t.equal(named({ custom: payment_id }), payment_id, type)
    t.equal(named({ invoice: payment_id }), payment_id, type)
    t.equal(named({ custom: '17', invoice: payment_id }), payment_id, type)
    t.equal(named({ custom: payment_id, invoice: other }), payment_id, type)
    t.equal(named({ custom: null, invoice: 'INV-1' }), null, type)
    t.equal(named({ invoice: `${payment_id}x` }), null, type)
    t.ok(readEvent(type, object({ custom: '17', invoice: payment_id })).report, type)
  }
  t.end()
})

t.test('PayPal: an object with another system’s custom_id has no report', (t) => {
  for (const [type, object] of objects) {
    const foreign = readEvent(type, object({ custom: '17', invoice: 'INV-1' }))
    t.match(foreign, { provider_type: type, referenced_payment_id: null, report: null })
    t.equal(readEvent(type, object({ custom: '17' })).report, null, type)
    for (const ids of [{}, { custom: null }, { custom: '' }, { invoice: 'INV-1' }])
      t.ok(readEvent(type, object(ids)).report, `${type} ${JSON.stringify(ids)}`)
  }
  t.end()
})

t.test('PayPal: a refund with another system’s custom_id is reported with its capture', (t) => {
  t.match(readEvent('PAYMENT.CAPTURE.REFUNDED', refundOf({ custom: 'refund-17' })), {
    referenced_payment_id: null,
    report: { about: 'refund', refund_id: null, provider_refund_id: 'R1', provider_payment_id: 'C1' },
  })
  t.end()
})

t.test('PayPal: a dispute without ids of ours is reported with its capture', (t) => {
  const [disputed] = objects.filter(([type]) => type.startsWith('CUSTOMER.'))
  t.match(readEvent('CUSTOMER.DISPUTE.CREATED', disputed?.[1]({}) ?? {}), {
    referenced_payment_id: null,
    report: { about: 'dispute', provider_dispute_id: 'D1', provider_intent_id: null, provider_payment_id: 'C1' },
  })
  t.end()
})
