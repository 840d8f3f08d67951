// Creating, retrieving and capturing PayPal orders.
import t from 'tap'
import { payment_id, refTo } from '../testing/requests.ts'
import { capture, orderRequest, paypalHarness, withApproved } from './testing/paypalHarness.ts'

const currentTime = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/

t.test('PayPal: an order is created with the payment id, and client_secret is its approval page', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const intent = await paypal.createIntent(orderRequest)
  const id = intent.provider_intent_id
  const page = `https://www.sandbox.paypal.com/checkoutnow?token=${id}`
  t.same(intent, { provider_intent_id: id, client_secret: page, redirect_url: page })
  const [call] = fake.callsTo(/checkout/)
  t.match(call, { method: 'POST', path: '/v2/checkout/orders', key: payment_id, isWhole: true })
  t.same(JSON.parse(call?.body ?? ''), {
    intent: 'CAPTURE',
    purchase_units: [
      {
        custom_id: payment_id,
        invoice_id: payment_id,
        amount: { currency_code: 'EUR', value: '19.99' },
        description: 'Two tickets',
      },
    ],
  })
})

t.test('PayPal: a long description is cut to the limit, never within a character', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const descriptions = ['x'.repeat(300), 'ü'.repeat(100), `x${'😀'.repeat(50)}`, '', null]
  const kept: (string | undefined)[] = []
  for (const [index, description] of descriptions.entries()) {
    const { provider_intent_id } = await paypal.createIntent({
      ...orderRequest,
      idempotency_key: `k${index}`,
      description,
    })
    kept.push(fake.orders.get(provider_intent_id)?.unit.description)
  }
  t.same(kept, ['x'.repeat(127), 'ü'.repeat(63), `x${'😀'.repeat(31)}`, undefined, undefined])
})

t.test('PayPal: no order is requested for an amount that PayPal cannot express', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const request = { ...orderRequest, currency: 'HUF', amount_cents: 150 }
  t.throws(() => paypal.checkAmount(150, 'HUF'), { code: 'currency_not_supported' })
  await t.rejects(paypal.createIntent(request), { name: 'ProviderError', kind: 'currency' })
  t.equal(fake.calls.length, 0)
})

t.test('PayPal: an order without captures has the payment status of its own status', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const { provider_intent_id } = await paypal.createIntent(orderRequest)
  const rows = [
    ['CREATED', 'pending', false],
    ['SAVED', 'pending', false],
    ['PAYER_ACTION_REQUIRED', 'pending', false],
    ['APPROVED', 'processing', true],
    ['COMPLETED', 'processing', false],
    ['VOIDED', 'canceled', false],
  ] as const
  for (const [orderStatus, status, awaits_capture] of rows) {
    fake.setOrderStatus(provider_intent_id, orderStatus)
    const snapshot = await paypal.retrieveIntent(refTo(provider_intent_id))
    t.match(
      snapshot,
      {
        report: {
          status,
          provider_intent_id,
          provider_payment_id: null,
          provider_event_id: null,
          provider_time: currentTime,
          amount_cents: 1999,
          currency: 'EUR',
        },
        further_charges: [],
        awaits_capture,
      },
      orderStatus,
    )
  }
})

t.test('PayPal: a captured order has the payment status of its capture', async (t) => {
  const { fake, paypal, ref } = await withApproved(t)
  fake.nextCaptures('pending')
  const pending = await capture(paypal, ref, 'c1')
  t.match(pending, { report: { status: 'processing', amount_cents: 1999 }, awaits_capture: false })
  const captureId = pending.report.provider_payment_id ?? ''
  t.match(await paypal.retrieveIntent(ref), { report: { status: 'processing', provider_payment_id: captureId } })
  fake.settleCapture(captureId, 'completed')
  const taken = {
    report: { status: 'succeeded', provider_payment_id: captureId, amount_cents: 1999, currency: 'EUR' },
  }
  t.match(await paypal.retrieveIntent(ref), taken)
  fake.refund(captureId, '5.00')
  t.match(await paypal.retrieveIntent(ref), taken, 'partially refunded')
  fake.refund(captureId)
  t.match(await paypal.retrieveIntent(ref), taken, 'fully refunded')
})

t.test('PayPal: a declined capture makes the payment failed', async (t) => {
  const { fake, paypal, ref } = await withApproved(t)
  fake.nextCaptures('declined')
  const failed = { status: 'failed', failure_code: 'capture_declined', amount_cents: 1999 }
  t.match(await capture(paypal, ref, 'c1'), { report: failed, awaits_capture: false })
  t.match(await paypal.retrieveIntent(ref), { report: failed })
})

t.test('PayPal: a second capture is listed in further_charges', async (t) => {
  const { fake, paypal, ref } = await withApproved(t, { allowDouble: true })
  const first = await capture(paypal, ref, 'c1')
  t.same(first.further_charges, [])
  const second = fake.captureTwice(ref.provider_intent_id)
  t.match(await paypal.retrieveIntent(ref), {
    report: { status: 'succeeded', provider_payment_id: first.report.provider_payment_id },
    further_charges: [{ provider_payment_id: second, amount_cents: first.report.amount_cents }],
  })
})

t.test('PayPal: an unknown order is null, not canceled', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const { provider_intent_id } = await paypal.createIntent(orderRequest)
  fake.expireOrder(provider_intent_id)
  t.equal(await paypal.retrieveIntent(refTo(provider_intent_id)), null)
})

t.test('PayPal: an order is captured once, with the given key', async (t) => {
  const { fake, paypal, ref } = await withApproved(t)
  const first = await capture(paypal, ref, 'c1')
  t.match(first, { report: { status: 'succeeded', provider_time: currentTime }, awaits_capture: false })
  t.same((await capture(paypal, ref, 'c1')).report.provider_payment_id, first.report.provider_payment_id)
  const path = `/v2/checkout/orders/${ref.provider_intent_id}/capture`
  t.same(
    fake.callsTo(/capture$/).map((call) => [call.path, call.key]),
    [
      [path, 'c1'],
      [path, 'c1'],
    ],
  )
  t.match(fake.charges, [{ payment_id, amount_cents: 1999, currency: 'EUR' }])
  t.equal(fake.charges.length, 1)
})

t.test('PayPal: an order is captured once, even with expired or different keys', async (t) => {
  const { fake, paypal, ref } = await withApproved(t)
  const first = await capture(paypal, ref, 'c1')
  fake.forgetRequestIds()
  for (const key of ['c1', 'c2']) {
    const again = await capture(paypal, ref, key)
    t.match(again.report, { status: 'succeeded', provider_payment_id: first.report.provider_payment_id })
  }
  t.equal(fake.charges.length, 1)
})

t.test('PayPal: a declined payment method makes the payment failed, and the payer may approve again', async (t) => {
  const { fake, paypal, ref } = await withApproved(t)
  fake.nextCaptures({ rejected: 'INSTRUMENT_DECLINED' }, { rejected: 'PAYER_CANNOT_PAY' })
  t.match(await capture(paypal, ref, 'c1'), {
    report: {
      status: 'failed',
      provider_time: currentTime,
      provider_event_id: null,
      provider_intent_id: ref.provider_intent_id,
      provider_payment_id: null,
      failure_code: 'instrument_declined',
      failure_message: 'PayPal declined the payment',
    },
    awaits_capture: false,
  })
  t.match(await capture(paypal, ref, 'c2'), { report: { status: 'failed', failure_code: 'payer_cannot_pay' } })
  t.match(await capture(paypal, ref, 'c3'), { report: { status: 'succeeded' } })
})

t.test('PayPal: an order that cannot be captured is read instead', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const { provider_intent_id } = await paypal.createIntent(orderRequest)
  t.match(await capture(paypal, refTo(provider_intent_id), 'c1'), {
    report: { status: 'pending', amount_cents: 1999 },
    awaits_capture: false,
  })
  fake.approve(provider_intent_id)
  fake.nextCaptures({ rejected: 'PAYER_ACTION_REQUIRED' })
  t.match(await capture(paypal, refTo(provider_intent_id), 'c2'), { report: { status: 'processing' } })
})

t.test('PayPal: a capture rejected for another reason throws', async (t) => {
  const { fake, paypal, ref } = await withApproved(t)
  fake.nextCaptures({ rejected: 'DUPLICATE_INVOICE_ID' }, { rejected: 'PAYEE_ACCOUNT_RESTRICTED' })
  await t.rejects(capture(paypal, ref, 'c1'), { kind: 'rejected', code: 'duplicate_invoice_id' })
  await t.rejects(capture(paypal, ref, 'c2'), { kind: 'rejected', code: 'payee_account_restricted' })
  fake.expireOrder(ref.provider_intent_id)
  await t.rejects(capture(paypal, ref, 'c3'), { kind: 'rejected', code: 'invalid_resource_id' })
  t.equal(fake.charges.length, 0)
})

t.test('PayPal has no findIntents and createSetupIntent, and its pages expire', async (t) => {
  const { paypal } = await paypalHarness(t)
  t.match(paypal, { id: 'paypal', findIntents: null, createSetupIntent: null, pagesExpire: true })
  t.notOk(paypal.isTestMethod('pm_card_visa'))
})
