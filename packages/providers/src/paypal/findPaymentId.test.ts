// Finding the payment of orders and captures at PayPal.
import t, { type Test } from 'tap'
import type { ProviderIds } from '../provider.ts'
import { payment_id } from '../testing/requests.ts'
import { orderRequest, paypalHarness, paypalWithListener } from './testing/paypalHarness.ts'

const orderOnly = (provider_intent_id: string): ProviderIds => ({ provider_intent_id, provider_payment_id: null })
const captureOnly = (provider_payment_id: string): ProviderIds => ({ provider_intent_id: null, provider_payment_id })
const orders = '/v2/checkout/orders'
const captures = '/v2/payments/captures'

/** The adapter connected to a PayPal with these objects. */
async function paypalWithObjects(t: Test, objects: Readonly<Record<string, object>>) {
  const paths: string[] = []
  const paypal = await paypalWithListener(t, ({ url = '' }, response) => {
    paths.push(url)
    const found = objects[url]
    response.writeHead(found ? 200 : 404).end(JSON.stringify(found ?? { name: 'RESOURCE_NOT_FOUND' }))
  })
  return { paypal, paths }
}

t.test('PayPal: the payment of an order is found, and an unknown order has none', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const { provider_intent_id } = await paypal.createIntent(orderRequest)
  t.equal(await paypal.findPaymentId(orderOnly(provider_intent_id)), payment_id)
  fake.expireOrder(provider_intent_id)
  t.equal(await paypal.findPaymentId(orderOnly(provider_intent_id)), null)
})

t.test('PayPal: an order names its payment in custom_id or invoice_id', async (t) => {
  const order = (id: string, unit: object) => ({ [`${orders}/${id}`]: { id, purchase_units: [unit] } })
  const { paypal } = await paypalWithObjects(t, {
    ...order('O1', { custom_id: payment_id, invoice_id: 'INV-1' }),
    ...order('O2', { custom_id: '17', invoice_id: payment_id }),
    ...order('O3', { custom_id: '17', invoice_id: 'INV-1' }),
    ...order('O4', {}),
    [`${orders}/O5`]: { id: 'O5' },
  })
  const found = await Promise.all(['O1', 'O2', 'O3', 'O4', 'O5'].map((id) => paypal.findPaymentId(orderOnly(id))))
  t.same(found, [payment_id, payment_id, null, null, null])
})

t.test('PayPal: the payment of a capture is named by the capture or its order', async (t) => {
  const related = (order_id: string) => ({ supplementary_data: { related_ids: { order_id } } })
  const up = { rel: 'up', href: `https://api.paypal.com${orders}/O1` }
  const { paypal, paths } = await paypalWithObjects(t, {
    [`${captures}/C1`]: { id: 'C1', custom_id: payment_id, ...related('O2') },
    [`${captures}/C2`]: { id: 'C2', invoice_id: payment_id },
    [`${captures}/C3`]: { id: 'C3', ...related('O1') },
    [`${captures}/C4`]: { id: 'C4', links: [up] },
    [`${captures}/C5`]: { id: 'C5', ...related('O2') },
    [`${captures}/C6`]: { id: 'C6' },
    [`${captures}/C7`]: { id: 'C7', ...related('O9') },
    [`${orders}/O1`]: { id: 'O1', purchase_units: [{ custom_id: payment_id }] },
    [`${orders}/O2`]: { id: 'O2', purchase_units: [{ custom_id: '17' }] },
  })
  const found = async (id: string) => {
    paths.length = 0
    return [await paypal.findPaymentId(captureOnly(id)), paths.length]
  }
  t.same(await found('C1'), [payment_id, 1])
  t.same(await found('C2'), [payment_id, 1])
  t.same(await found('C3'), [payment_id, 2], 'named by its order')
  t.same(await found('C4'), [payment_id, 2], 'linked to its order')
  t.same(await found('C5'), [null, 2])
  t.same(await found('C6'), [null, 1])
  t.same(await found('C7'), [null, 2], 'an unknown order')
  t.same(await found('C8'), [null, 1], 'an unknown capture')
  paths.length = 0
  t.equal(await paypal.findPaymentId({ provider_intent_id: 'O2', provider_payment_id: 'C1' }), null)
  t.same(paths, [`${orders}/O2`], 'a known order decides')
})

t.test('PayPal: ids that are not PayPal’s cause no call', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  for (const id of ['pi_1', '../O1', 'O1/capture', 'x'.repeat(37), ''])
    for (const ids of [orderOnly(id), captureOnly(id)]) t.equal(await paypal.findPaymentId(ids), null, id)
  t.equal(await paypal.findPaymentId({ provider_intent_id: null, provider_payment_id: null }), null)
  t.equal(fake.calls.length, 0)
})

t.test('PayPal: a lookup without a clear response fails', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const { provider_intent_id } = await paypal.createIntent(orderRequest)
  fake.readFaults.next({ kind: 'status', status: 403, commits: false })
  await t.rejects(paypal.findPaymentId(orderOnly(provider_intent_id)), { name: 'ProviderError', kind: 'unavailable' })
  const other = await paypalWithObjects(t, { [`${orders}/O1`]: { id: 'O2' } })
  await t.rejects(other.paypal.findPaymentId(orderOnly('O1')), { kind: 'unknown', code: 'another_object' })
})
