// Refunding PayPal captures, and the refunds that an order shows.
import t from 'tap'
import type { IntentRef } from '../provider.ts'
import { payment_id, refund_id, refundOf } from '../testing/requests.ts'
import { capture, readBody, withApproved, withCaptured } from './testing/paypalHarness.ts'

const requestFor = (ref: IntentRef, amount_cents = 500, id = refund_id) =>
  refundOf(ref, { refund_id: id, amount_cents, is_whole: amount_cents === 1999 })

t.test('PayPal: a refund is made once, and names the payment and itself', async (t) => {
  const { fake, paypal, ref, captureId } = await withCaptured(t)
  const made = await paypal.refund(requestFor(ref))
  t.match(made, {
    status: 'succeeded',
    refund_id,
    amount_cents: 500,
    provider_refund_id: /^[A-Z0-9]{17}$/,
    provider_payment_id: captureId,
    provider_intent_id: ref.provider_intent_id,
    provider_event_id: null,
    provider_time: /^20\d\d-.*Z$/,
  })
  t.notOk('failure_code' in made)
  t.same(await paypal.refund({ ...requestFor(ref), is_repeated: true }), made, 'the same key')
  t.same(fake.balanceOf(payment_id), { received_cents: 1999, refunded_cents: 500, capturable_cents: 0 })
  const [call] = fake.callsTo(/refund$/)
  t.match(call, { path: `/v2/payments/captures/${captureId}/refund`, key: refund_id })
  t.same(JSON.parse(call?.body ?? ''), {
    amount: { currency_code: 'EUR', value: '5.00' },
    custom_id: `${payment_id}.${refund_id}`,
  })
  const { referenced_payment_id, report } = paypal.readNotification(Buffer.from(fake.events.at(-1)?.body ?? ''))
  t.match({ referenced_payment_id, report }, { referenced_payment_id: payment_id, report: { refund_id } })
})

t.test('PayPal: an order shows its refunds, from calls and from the dashboard', async (t) => {
  const { fake, paypal, ref, captureId } = await withCaptured(t)
  t.notOk('refunds' in ((await paypal.retrieveIntent(ref)) ?? {}))
  const made = await paypal.refund(requestFor(ref))
  fake.refund(captureId, '1.00')
  fake.reverse(captureId)
  const snapshot = await paypal.retrieveIntent(ref)
  t.match(snapshot?.report, { status: 'succeeded', provider_payment_id: captureId, amount_cents: 1999 })
  t.same(snapshot?.refunds?.[0], made)
  const others = { refund_id: null, status: 'succeeded', provider_payment_id: captureId, provider_event_id: null }
  t.match(snapshot?.refunds?.slice(1), [
    { ...others, amount_cents: 100 },
    { ...others, amount_cents: 1399 },
  ])
})

t.test('PayPal: a pending refund may fail later', async (t) => {
  const { fake, paypal, ref } = await withCaptured(t)
  fake.nextRefunds('pending', 'failed', 'cancelled')
  const pending = await paypal.refund(requestFor(ref))
  t.match(pending, { status: 'pending', amount_cents: 500 })
  const more = paypal.refund(requestFor(ref, 1500, refund_id.replace('00a', '020')))
  await t.rejects(more, { kind: 'rejected', code: 'refund_amount_exceeded' }, 'while it is pending')
  const failed = fake.settleRefund(pending.provider_refund_id ?? '', 'failed', 'ECHECK')
  t.match(readBody(failed).report, {
    about: 'refund',
    refund_id,
    status: 'failed',
    failure_code: 'echeck',
  })
  t.match((await paypal.retrieveIntent(ref))?.refunds, [{ refund_id, status: 'failed', failure_code: 'echeck' }])
  t.same(fake.balanceOf(payment_id), { received_cents: 1999, refunded_cents: 0, capturable_cents: 0 })
  for (const [index, status] of ['failed', 'cancelled'].entries()) {
    const id = refund_id.replace('00a', `01${index}`)
    t.match(await paypal.refund(requestFor(ref, 100, id)), { status: 'failed', failure_code: status }, status)
  }
  const whole = requestFor(ref, 1999, refund_id.replace('00a', '021'))
  t.match(await paypal.refund(whole), { status: 'succeeded' }, 'failed ones do not count')
})

t.test('PayPal: a refund that PayPal does not make is rejected with its issue', async (t) => {
  const { fake, paypal, ref, captureId } = await withCaptured(t)
  const rejected = (amount: number, code: string) =>
    t.rejects(paypal.refund(requestFor(ref, amount)), { name: 'ProviderError', kind: 'rejected', code }, code)
  const issues = ['REFUND_TIME_LIMIT_EXCEEDED', 'TRANSACTION_DISPUTED', 'TRANSACTION_REFUSED', 'DECIMAL_PRECISION']
  for (const issue of issues) {
    fake.nextRefunds({ rejected: issue })
    await rejected(500, issue.toLowerCase())
  }
  await rejected(2000, 'refund_amount_exceeded')
  await rejected(0, 'cannot_be_zero_or_negative')
  fake.refund(captureId)
  await rejected(500, 'capture_fully_refunded')
  const unknown = { ...ref, provider_payment_id: 'C9' }
  await t.rejects(paypal.refund(requestFor(unknown)), { kind: 'rejected', code: 'invalid_resource_id' })
  t.same(fake.balanceOf(payment_id), { received_cents: 1999, refunded_cents: 1999, capturable_cents: 0 })
})

t.test('PayPal: a pending capture cannot be refunded', async (t) => {
  const { fake, paypal, ref } = await withApproved(t)
  fake.nextCaptures('pending')
  const { report } = await capture(paypal, ref, 'c1')
  const pending = requestFor({ ...ref, provider_payment_id: report.provider_payment_id })
  await t.rejects(paypal.refund(pending), { kind: 'rejected', code: 'pending_capture' })
})

t.test('PayPal: without a capture id, the order’s only capture is refunded', async (t) => {
  const { fake, paypal, ref, captureId } = await withCaptured(t, { allowDouble: true })
  const unnamed = { ...ref, provider_payment_id: null }
  t.match(await paypal.refund(requestFor(unnamed)), { provider_payment_id: captureId })
  const none = { kind: 'rejected', code: 'capture_not_found' }
  fake.captureTwice(ref.provider_intent_id)
  await t.rejects(paypal.refund(requestFor(unnamed)), none, 'two captures')
  fake.expireOrder(ref.provider_intent_id)
  await t.rejects(paypal.refund(requestFor(unnamed)), none, 'no order')
})

t.test('PayPal: amounts without decimals are refunded as PayPal writes them', async (t) => {
  const { fake, paypal, ref } = await withCaptured(t)
  const forints = { ...requestFor({ ...ref, currency: 'HUF' }), amount_cents: 150 }
  await t.rejects(paypal.refund(forints), { kind: 'currency', code: 'currency_not_supported' })
  const yen = { ...requestFor({ ...ref, currency: 'JPY' }), amount_cents: 150 }
  await t.rejects(paypal.refund(yen), { kind: 'rejected', code: 'refund_capture_currency_mismatch' })
  t.equal(fake.callsTo(/refund$/).length, 1)
})
