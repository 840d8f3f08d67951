// Creating PayPal orders: return addresses, manual capture, and saved methods that pay at once.
import t, { type Test } from 'tap'
import { payment_id, refTo } from '../testing/requests.ts'
import { orderRequest, type PaypalHarness, paypalHarness, withCaptured } from './testing/paypalHarness.ts'

const card = { card: { brand: 'VISA', last_digits: '1111', expiry: '2027-02', name: 'Pat Example' } }
const wallet = { paypal: { email_address: 'pat@example.com', payer_id: 'QYR5Z8XDVJNXQ', usage_type: 'MERCHANT' } }
const [return_url, cancel_url] = ['https://shop.example.com/paid', 'https://shop.example.com/cart']

const bodyOf = ({ fake }: PaypalHarness): { readonly payment_source?: unknown; readonly intent: string } =>
  JSON.parse(fake.callsTo(/checkout\/orders$/).at(-1)?.body ?? '')

/** Saves a method as the payer. @returns the fields of an order with it */
async function saveMethod({ fake, paypal }: PaypalHarness, source: typeof card | typeof wallet) {
  const token = fake.vault.approveSetup(source)
  const request = { idempotency_key: `m-${token}`, token, user_id: 'user-1', provider_customer_id: null }
  const { provider_method_id, provider_customer_id } = await paypal.methods.attachMethod(request)
  return { provider_method_id, provider_customer_id }
}

async function withSaved(t: Test, source: typeof card | typeof wallet) {
  const harness = await paypalHarness(t)
  return { harness, ...harness, saved: await saveMethod(harness, source) }
}

t.test('PayPal: the payer is sent back to the return and cancel addresses of the payment', async (t) => {
  const harness = await paypalHarness(t)
  const { paypal } = harness
  const rows = [
    { return_url, cancel_url },
    { return_url, cancel_url: null },
    { return_url: null, cancel_url },
  ]
  for (const [index, urls] of rows.entries()) {
    const request = { ...orderRequest, idempotency_key: `k${index}`, ...urls }
    const { provider_intent_id, client_secret, redirect_url } = await paypal.createIntent(request)
    const given = Object.fromEntries(Object.entries(urls).filter(([, url]) => url !== null))
    t.same(bodyOf(harness).payment_source, { paypal: { experience_context: { ...given, user_action: 'PAY_NOW' } } })
    t.equal(redirect_url, `https://www.sandbox.paypal.com/checkoutnow?token=${provider_intent_id}`)
    t.equal(client_secret, redirect_url)
    t.match(await paypal.retrieveIntent(refTo(provider_intent_id)), { report: { status: 'pending' } })
  }
})

t.test('PayPal: a payment that is captured manually is an order to authorize, with its descriptor', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const request = { ...orderRequest, capture_method: 'manual', statement_descriptor: 'EXAMPLE SHOP' } as const
  const { provider_intent_id } = await paypal.createIntent(request)
  t.match(fake.orders.get(provider_intent_id), { intent: 'AUTHORIZE', unit: { soft_descriptor: 'EXAMPLE SHOP' } })
})

t.test('PayPal: a saved method pays with its vault id in the creating call, once', async (t) => {
  for (const source of [wallet, card]) {
    const { harness, fake, paypal, saved } = await withSaved(t, source)
    const request = { ...orderRequest, ...saved }
    const intent = await paypal.createIntent(request)
    t.match(intent, { client_secret: null, redirect_url: null })
    t.same(bodyOf(harness).payment_source, { [Object.keys(source)[0] ?? '']: { vault_id: saved.provider_method_id } })
    t.same(await paypal.createIntent(request), intent, 'a repeated call')
    t.match(fake.balanceOf(payment_id), { received_cents: 1999 })
    const snapshot = await paypal.retrieveIntent(refTo(intent.provider_intent_id))
    t.match(snapshot, { report: { status: 'succeeded', amount_cents: 1999 }, awaits_capture: false })
    t.equal(fake.charges.length, 1)
  }
})

t.test('PayPal: a saved method is authorized when the payment is captured manually', async (t) => {
  const harness = await paypalHarness(t)
  const { fake, paypal } = harness
  const request = { ...orderRequest, ...(await saveMethod(harness, wallet)), capture_method: 'manual' } as const
  const { provider_intent_id } = await paypal.createIntent(request)
  t.match(await paypal.retrieveIntent(refTo(provider_intent_id)), {
    report: { status: 'processing', capturable_cents: 1999 },
    awaits_capture: false,
  })
  t.match(fake.balanceOf(payment_id), { received_cents: 0, capturable_cents: 1999 })
})

t.test('PayPal: the payer approves when a saved method needs it', async (t) => {
  const { harness, fake, paypal, saved } = await withSaved(t, wallet)
  fake.nextCaptures('payer_action')
  const intent = await paypal.createIntent({ ...orderRequest, ...saved, return_url, cancel_url })
  t.match(intent.redirect_url, /checkoutnow/)
  const experience_context = { return_url, cancel_url, user_action: 'PAY_NOW' }
  t.same(bodyOf(harness).payment_source, { paypal: { vault_id: saved.provider_method_id, experience_context } })
  fake.approve(intent.provider_intent_id)
  t.match(await paypal.retrieveIntent(refTo(intent.provider_intent_id)), { awaits_capture: true })
})

t.test('PayPal: a declined or deleted saved method rejects the payment and takes no money', async (t) => {
  const { fake, paypal, saved } = await withSaved(t, wallet)
  fake.nextCaptures({ rejected: 'INSTRUMENT_DECLINED' })
  const request = { ...orderRequest, ...saved }
  await t.rejects(paypal.createIntent(request), { kind: 'declined', code: 'instrument_declined' })
  fake.vault.remove(saved.provider_method_id)
  await t.rejects(paypal.createIntent(request), { kind: 'rejected', code: 'token_id_not_found' })
  t.equal(fake.charges.length, 0)
})

t.test('PayPal: a saved method that has paid is not charged again by a repeated create call', async (t) => {
  const { harness, fake, paypal, saved } = await withSaved(t, wallet)
  const request = { ...orderRequest, ...saved }
  fake.faults.next({ kind: 'drop', commits: true })
  const intent = await paypal.createIntent(request)
  fake.vault.remove(saved.provider_method_id)
  t.same(await paypal.createIntent(request), intent, 'the method was deleted')
  fake.forgetRequestIds()
  const forgotten = { kind: 'unknown', code: 'duplicate_invoice_id' }
  const again = await saveMethod(harness, wallet)
  await t.rejects(paypal.createIntent({ ...request, ...again }), forgotten, 'the key was forgotten')
  t.equal(fake.charges.length, 1)
})

t.test('PayPal: a method that is not attached to a customer is not sent', async (t) => {
  const harness = await paypalHarness(t)
  await harness.paypal.createIntent({ ...orderRequest, provider_method_id: 'tok1' })
  t.equal(bodyOf(harness).payment_source, undefined)
})

t.test('PayPal: an order for a paid invoice number is rejected without a saved method', async (t) => {
  const { paypal } = await withCaptured(t)
  const again = paypal.createIntent({ ...orderRequest, idempotency_key: `${payment_id}-2` })
  await t.rejects(again, { kind: 'rejected', code: 'duplicate_invoice_id' })
})
