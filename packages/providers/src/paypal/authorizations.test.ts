// Authorizing, capturing and canceling payments at PayPal.
import t from 'tap'
import type { IntentRef } from '../provider.ts'
import { payment_id, refTo } from '../testing/requests.ts'
import {
  capture,
  orderRequest,
  paypalHarness,
  withApproved,
  withAuthorized,
  withCaptured,
} from './testing/paypalHarness.ts'

const take = (ref: IntentRef, amount_cents = 1999, key = 'x1') => ({ ...ref, idempotency_key: key, amount_cents })
const cancel = (ref: IntentRef, idempotency_key = 'v1') => ({ ...ref, idempotency_key })

t.test('PayPal: an approved order of a manual payment is authorized, and not captured', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const { provider_intent_id } = await paypal.createIntent({ ...orderRequest, capture_method: 'manual' })
  const ref = refTo(provider_intent_id, { capture_method: 'manual' })
  t.match(await paypal.retrieveIntent(ref), { report: { status: 'pending' }, awaits_capture: false })
  fake.approve(provider_intent_id)
  t.match(await paypal.retrieveIntent(ref), { report: { status: 'processing' }, awaits_capture: true })
  const authorized = { report: { status: 'processing', capturable_cents: 1999, provider_payment_id: null } }
  t.match(await capture(paypal, ref, 'a1'), { ...authorized, awaits_capture: false })
  t.match(await capture(paypal, ref, 'a2'), authorized, 'another key')
  t.match(await paypal.retrieveIntent(ref), authorized)
  t.same(fake.balanceOf(payment_id), { received_cents: 0, refunded_cents: 0, capturable_cents: 1999 })
  t.match(fake.callsTo(/authorize$/)[0], { path: `/v2/checkout/orders/${provider_intent_id}/authorize`, key: 'a1' })
})

t.test('PayPal: each status of an authorization leads to its payment status', async (t) => {
  const { fake, paypal, ref } = await withApproved(t, {}, 'manual')
  fake.nextCaptures('pending')
  const pending = await capture(paypal, ref, 'a1')
  t.match(pending, { report: { status: 'processing', capturable_cents: 0 }, awaits_capture: false })
  const rows = [
    ['CREATED', { status: 'processing', capturable_cents: 1999 }],
    ['VOIDED', { status: 'canceled', capturable_cents: undefined }],
    ['DENIED', { status: 'failed', failure_code: 'authorization_denied' }],
  ] as const
  for (const [status, report] of rows) {
    fake.settleAuthorization(ref.provider_intent_id, status)
    t.match(await paypal.retrieveIntent(ref), { report }, status)
  }
})

t.test('PayPal: a declined authorization makes the payment failed, and the payer may approve again', async (t) => {
  const { fake, paypal, ref } = await withApproved(t, {}, 'manual')
  fake.nextCaptures({ rejected: 'INSTRUMENT_DECLINED' })
  t.match(await capture(paypal, ref, 'a1'), { report: { status: 'failed', failure_code: 'instrument_declined' } })
  t.match(await paypal.retrieveIntent(ref), { awaits_capture: true })
  t.match(await capture(paypal, ref, 'a2'), { report: { capturable_cents: 1999 } })
})

t.test('PayPal: authorized money is captured once, wholly or in part, and the rest is released', async (t) => {
  for (const cents of [1999, 500]) {
    const { fake, paypal, ref } = await withAuthorized(t)
    const captured = await paypal.captureAuthorized(take(ref, cents))
    const report = { status: 'succeeded', amount_cents: cents, provider_intent_id: ref.provider_intent_id }
    t.match(captured, { report, further_charges: [], awaits_capture: false })
    for (const key of ['x1', 'x2'])
      t.match(await paypal.captureAuthorized(take(ref, cents, key)), { report }, `again with ${key}`)
    t.match(await paypal.retrieveIntent(ref), { report, further_charges: [] })
    t.same(fake.balanceOf(payment_id), { received_cents: cents, refunded_cents: 0, capturable_cents: 0 })
    const [call] = fake.callsTo(/authorizations\/[^/]+\/capture$/)
    t.equal(call?.key, 'x1')
    t.same(JSON.parse(call?.body ?? ''), {
      amount: { currency_code: 'EUR', value: cents === 500 ? '5.00' : '19.99' },
      final_capture: true,
    })
  }
})

t.test('PayPal: a pending capture of an authorization leaves nothing to capture', async (t) => {
  const { fake, paypal, ref } = await withAuthorized(t)
  fake.nextCaptures('pending')
  const pending = { report: { status: 'processing', capturable_cents: 0 } }
  const captured = await paypal.captureAuthorized(take(ref))
  t.match(captured, pending)
  t.match(await paypal.retrieveIntent(ref), pending)
  fake.settleCapture(captured.report.provider_payment_id ?? '', 'completed')
  t.match(await paypal.retrieveIntent(ref), { report: { status: 'succeeded' } })
})

t.test('PayPal: a declined capture of an authorization is an error, and the money stays capturable', async (t) => {
  const { fake, paypal, ref } = await withAuthorized(t)
  fake.nextCaptures('declined', { rejected: 'TRANSACTION_REFUSED' }, { rejected: 'PAYEE_ACCOUNT_RESTRICTED' })
  await t.rejects(paypal.captureAuthorized(take(ref)), { kind: 'declined', code: 'capture_declined' })
  await t.rejects(paypal.captureAuthorized(take(ref, 1999, 'x2')), { kind: 'declined', code: 'transaction_refused' })
  const restricted = { kind: 'rejected', code: 'payee_account_restricted' }
  await t.rejects(paypal.captureAuthorized(take(ref, 1999, 'x3')), restricted)
  t.match(await paypal.retrieveIntent(ref), { report: { status: 'processing', capturable_cents: 1999 } })
  t.match(await paypal.captureAuthorized(take(ref, 1999, 'x4')), { report: { status: 'succeeded' } })
})

t.test('PayPal: an authorization that is voided in between returns the canceled order', async (t) => {
  const { fake, paypal, ref } = await withAuthorized(t)
  fake.settleAuthorization(ref.provider_intent_id, 'VOIDED')
  t.match(await paypal.captureAuthorized(take(ref)), { report: { status: 'canceled' } })
  fake.expireOrder(ref.provider_intent_id)
  await t.rejects(paypal.captureAuthorized(take(ref)), { kind: 'rejected', code: 'order_not_found' })
})

t.test('PayPal: canceling voids what is authorized', async (t) => {
  const { fake, paypal, ref } = await withAuthorized(t)
  const canceled = { report: { status: 'canceled', provider_intent_id: ref.provider_intent_id } }
  t.match(await paypal.cancelIntent(cancel(ref)), { ...canceled, awaits_capture: false })
  t.match(await paypal.cancelIntent(cancel(ref, 'v2')), canceled, 'again with another key')
  t.match(await paypal.retrieveIntent(ref), canceled)
  t.same(fake.balanceOf(payment_id), { received_cents: 0, refunded_cents: 0, capturable_cents: 0 })
  t.equal(fake.callsTo(/void$/).length, 1)
  t.equal(fake.events.at(-1)?.event_type, 'PAYMENT.AUTHORIZATION.VOIDED')
})

t.test('PayPal: an order that cannot be canceled at PayPal is canceled by never capturing it', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const { provider_intent_id } = await paypal.createIntent(orderRequest)
  const canceled = {
    report: { status: 'canceled', provider_intent_id, provider_payment_id: null },
    awaits_capture: false,
  }
  t.match(await paypal.cancelIntent(cancel(refTo(provider_intent_id))), canceled, 'not approved')
  fake.approve(provider_intent_id)
  t.match(await paypal.cancelIntent(cancel(refTo(provider_intent_id))), canceled, 'approved')
  t.same(
    fake.callsTo(/checkout\/orders\//).map(({ method }) => method),
    ['GET', 'GET'],
  )
  fake.expireOrder(provider_intent_id)
  t.equal(await paypal.cancelIntent(cancel(refTo(provider_intent_id))), null, 'unknown')
})

t.test('PayPal: an order that is paid or whose capture is pending cannot be canceled', async (t) => {
  const { paypal, captureId, ref } = await withCaptured(t)
  const paid = { report: { status: 'succeeded', provider_payment_id: captureId } }
  t.match(await paypal.cancelIntent(cancel(ref)), paid)
  const { ref: approved, ...other } = await withApproved(t)
  other.fake.nextCaptures('pending')
  await capture(other.paypal, approved, 'c1')
  t.match(await other.paypal.cancelIntent(cancel(approved)), { report: { status: 'processing' } })
})

t.test('PayPal: a void that PayPal rejects for another reason throws', async (t) => {
  const { fake, paypal, ref } = await withAuthorized(t)
  fake.rejectNext('CANNOT_BE_VOIDED')
  await t.rejects(paypal.cancelIntent(cancel(ref)), { kind: 'rejected', code: 'cannot_be_voided' })
  t.match(await paypal.retrieveIntent(ref), { report: { status: 'processing', capturable_cents: 1999 } })
})
