// Webhooks about Paylog's own payments: sent once per Paylog event, even when a provider repeats its notifications.

import type { Payment } from '@paylog/domain/payments/payment'
import type { Provider } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { signSandboxEvent } from '@paylog/providers/sandbox/signature'
import { connectAuthorizeNet, connectPaypal, connectStripe } from '@paylog/providers/testing/providerHarness'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t, { type Test } from 'tap'
import {
  createCanonicalTableHarness,
  foreignLegacyMessage,
  now,
  ownAttention,
  ownLegacyMessage,
  ownMessage,
  type Signed,
} from './canonicalTableHarness.ts'
import * as generic from './genericFixtures.ts'

const harness = await createCanonicalTableHarness(t)
const timeoutMs = 15_000

const fakeStripe = await startFakeStripe(t, { now: () => now })
const fakePaypal = await startFakePaypal(t)
const fakeGateway = await startFakeAuthorizeNet(t)
const stripe = connectStripe(t, fakeStripe, { timeoutMs })
const paypal = connectPaypal(t, fakePaypal, { timeoutMs })
const gateway = connectAuthorizeNet(t, fakeGateway, { timeoutMs })
const secret = 'sandbox-secret'
const sandbox = createSandbox({ webhookSecrets: [secret] })

/** A notification, and the messages it leads to besides the raw one. */
type Notified = {
  readonly provider_type: string
  readonly occurred_at: string
  readonly signed: Signed
  readonly canonical?: readonly [event: string, status: string]
  /** The end of the generic name and Paylog's status. */
  readonly list?: readonly [generic: string, status: string]
}

/** Receives each notification twice, as providers may send it. */
async function check(
  t: Test,
  provider: Provider,
  payment: Payment,
  notified: Notified,
  fields: object = {},
): Promise<void> {
  const { provider_type, occurred_at, signed, canonical, list } = notified
  t.comment(provider_type)
  const expected = {
    provider_type,
    occurred_at,
    canonicalTime: now.toISOString(),
    canonical: canonical === undefined ? [] : [ownMessage(payment, ...canonical)],
    legacy:
      list === undefined
        ? []
        : [ownLegacyMessage(payment, `payment_intent.${list[0]}`, { status: list[1], ...fields })],
  }
  await harness.check(t, provider, signed, expected, 2)
}

/** Receives a notification about a refund or dispute twice: one canonical message, and nothing for the legacy list. */
async function checkFact(
  t: Test,
  provider: Provider,
  { payment_id }: Payment,
  { provider_type, signed }: Notified,
  { event, ...facts }: { readonly event: string; readonly refund?: object; readonly dispute?: object },
): Promise<void> {
  t.comment(provider_type)
  const messages = await harness.messagesDuring(async () => {
    await harness.receive(provider, signed)
    await harness.receive(provider, signed)
  })
  const to = (node: string) => messages.filter((message) => message.node === node)
  const bodies = to('1').map(({ body }) => JSON.parse(body))
  t.match(bodies, [{ event, data: { payment_id, amount: 2200, currency: 'USD', status: 'succeeded', ...facts } }])
  t.equal(bodies.length, 1, 'canonical endpoint')
  t.strictSame(
    to('2').map((message) => message.event),
    [`${provider.id}:${provider_type}`],
  )
  t.strictSame(to('legacy-1'), [], 'legacy list')
}
const refunded = { event: 'payment.refunded', refund: { amount: 700, status: 'succeeded' } }
const disputed = { event: 'payment.disputed', dispute: { amount: 2200, status: 'open' } }

for (const provider of [stripe, paypal, gateway, sandbox])
  t.test(`${provider.id}: opening a payment sends payment.created exactly once [6.2-created-once]`, async (t) => {
    let opened: Payment | undefined
    const messages = await harness.messagesDuring(async () => {
      opened = await harness.open(provider)
    })
    if (opened === undefined) throw new Error('The payment was not opened')
    const [event, data] = ownMessage(opened, 'payment.created', 'pending')
    const body = JSON.stringify({ event, provider: provider.id, timestamp: now.toISOString(), data })
    t.strictSame(
      messages.map((message) => [message.node, message.user_id, message.payment_id, message.body]),
      ['1', '3'].map((node) => [node, 'u1', opened?.payment_id, body]),
    )
  })

t.test('Stripe: webhooks of own payments', async (t) => {
  const second = '2026-01-02T03:04:05.000Z'
  const notified = (
    events: readonly { readonly type: string }[],
    type: string,
    messages: Pick<Notified, 'canonical' | 'list'> = {},
  ): Notified => {
    const event = events.findLast((each) => each.type === type)
    if (event === undefined) throw new Error(`Stripe sent no ${type}`)
    return { provider_type: type, occurred_at: second, signed: fakeStripe.signed(event), ...messages }
  }
  const open = async () => {
    const payment = await harness.open(stripe)
    return { payment, intent: payment.provider_intent_id ?? '' }
  }

  t.test('Stripe: webhooks of a payment that succeeds, is refunded and disputed', async (t) => {
    const { payment, intent } = await open()
    const created = notified(fakeStripe.events, 'payment_intent.created', { list: ['created', 'pending'] })
    await check(t, stripe, payment, created)
    const paid = fakeStripe.pay(intent, 'succeeded')
    await check(t, stripe, payment, notified(paid, 'charge.succeeded'))
    const success = { canonical: ['payment.succeeded', 'succeeded'], list: ['succeeded', 'succeeded'] } as const
    await check(t, stripe, payment, notified(paid, 'payment_intent.succeeded', success))
    const events = fakeStripe.refund(intent, 700)
    await checkFact(t, stripe, payment, notified(events, 'refund.created'), refunded)
    await check(t, stripe, payment, notified(events, 'charge.refunded'))
    await checkFact(t, stripe, payment, notified(fakeStripe.dispute(intent), 'charge.dispute.created'), disputed)
  })

  for (const [outcome, type, generic, status, canonical] of [
    ['failed', 'payment_intent.payment_failed', 'failed', 'failed', 'payment.failed'],
    ['canceled', 'payment_intent.canceled', 'canceled', 'canceled', 'payment.failed'],
    ['processing', 'payment_intent.processing', 'processing', 'processing', null],
    ['requires_capture', 'payment_intent.amount_capturable_updated', 'processing', 'processing', null],
    ['requires_action', 'payment_intent.requires_action', 'requires_action', 'pending', null],
  ] as const)
    t.test(`Stripe: webhooks of a payment that is ${outcome}`, async (t) => {
      const { payment, intent } = await open()
      const list = [generic, status] as const
      const messages = canonical === null ? { list } : { list, canonical: [canonical, status] as const }
      await check(t, stripe, payment, notified(fakeStripe.pay(intent, outcome), type, messages))
    })

  t.test(
    'Stripe: an intent of another system that names a Paylog payment is delivered as foreign, and needs attention',
    async (t) => {
      const { payment } = await open()
      const { payment_id } = payment
      const other = fakeStripe.openIntent({ amount: 100, currency: 'usd', metadata: { payment_id } })
      const { provider_type, occurred_at, signed } = notified(
        fakeStripe.pay(other.id, 'succeeded'),
        'payment_intent.succeeded',
      )
      const fields = { payment_id: other.id, amount: 100, currency: 'USD', status: 'succeeded' }
      const legacy = [foreignLegacyMessage('payment_intent.succeeded', { email: null }, fields)]
      const canonicalTime = now.toISOString()
      const expected = { provider_type, occurred_at, canonicalTime, canonical: [ownAttention(payment)], legacy }
      await harness.check(t, stripe, signed, expected, 2)
    },
  )
})

t.test('PayPal: webhooks of own payments', async (t) => {
  const notified = (type: string, messages: Pick<Notified, 'canonical' | 'list'> = {}): Notified => {
    const event = fakePaypal.events.findLast(({ event_type }) => event_type === type)
    if (event === undefined) throw new Error(`PayPal sent no ${type}`)
    const occurred_at: string = JSON.parse(event.body).create_time
    return { provider_type: type, occurred_at, signed: fakePaypal.signed(event), ...messages }
  }
  const approved = async (t: Test) => {
    const payment = await harness.open(paypal)
    fakePaypal.approve(payment.provider_intent_id ?? '')
    await check(t, paypal, payment, notified('CHECKOUT.ORDER.APPROVED', { list: ['processing', 'processing'] }))
    return payment
  }
  const capture = async ({ payment_id, provider_intent_id }: Payment) => {
    const intent = {
      payment_id,
      provider_intent_id: provider_intent_id ?? '',
      provider_payment_id: null,
      currency: 'USD',
    }
    const snapshot = await paypal.captureIntent?.({
      ...intent,
      capture_method: 'automatic',
      created_at: now.toISOString(),
      idempotency_key: payment_id,
    })
    return snapshot?.evidence.provider_payment_id ?? ''
  }

  t.test('PayPal: webhooks of a payment that succeeds, is refunded and disputed', async (t) => {
    const payment = await approved(t)
    const id = await capture(payment)
    await check(t, paypal, payment, notified('CHECKOUT.ORDER.COMPLETED'))
    const success = { canonical: ['payment.succeeded', 'succeeded'], list: ['succeeded', 'succeeded'] } as const
    await check(t, paypal, payment, notified('PAYMENT.CAPTURE.COMPLETED', success))
    fakePaypal.refund(id, '7.00')
    await checkFact(t, paypal, payment, notified('PAYMENT.CAPTURE.REFUNDED'), refunded)
    fakePaypal.dispute(id)
    await checkFact(t, paypal, payment, notified('CUSTOMER.DISPUTE.CREATED'), disputed)
  })

  t.test('PayPal: webhooks of a payment that is reviewed and denied', async (t) => {
    const payment = await approved(t)
    fakePaypal.nextCaptures('pending')
    const id = await capture(payment)
    await check(t, paypal, payment, notified('PAYMENT.CAPTURE.PENDING', { list: ['processing', 'processing'] }))
    fakePaypal.settleCapture(id, 'denied')
    const denial = { canonical: ['payment.failed', 'failed'], list: ['failed', 'failed'] } as const
    await check(t, paypal, payment, notified('PAYMENT.CAPTURE.DENIED', denial))
  })

  t.test("PayPal: a reversed approval without an amount is delivered with the payment's amount", async (t) => {
    const payment = await approved(t)
    fakePaypal.reverseApproval(payment.provider_intent_id ?? '')
    const reversal = { canonical: ['payment.failed', 'canceled'], list: ['canceled', 'canceled'] } as const
    const withoutAmount = { amount: null, currency: null }
    await check(t, paypal, payment, notified('CHECKOUT.PAYMENT-APPROVAL.REVERSED', reversal), withoutAmount)
  })
})

t.test('Authorize.Net: webhooks of own payments', async (t) => {
  const notified = (type: string, messages: Pick<Notified, 'canonical' | 'list'> = {}): Notified => {
    const event = fakeGateway.events.at(-1)
    if (event?.eventType !== `net.authorize.${type}`) throw new Error(`Unexpected event ${event?.eventType}`)
    const occurred_at = new Date(JSON.parse(event.body).eventDate).toISOString()
    return { provider_type: event.eventType, occurred_at, signed: fakeGateway.signed(event), ...messages }
  }
  const paid = async (how: Parameters<typeof fakeGateway.pay>[1] = {}) => {
    const payment = await harness.open(gateway)
    return { payment, ...fakeGateway.pay({ token: payment.client_secret ?? '' }, how) }
  }
  const success = { canonical: ['payment.succeeded', 'succeeded'], list: ['succeeded', 'succeeded'] } as const
  const failure = { canonical: ['payment.failed', 'failed'], list: ['failed', 'failed'] } as const
  const processing = { list: ['processing', 'processing'] } as const

  t.test('Authorize.Net: webhooks of a payment that succeeds and is refunded', async (t) => {
    const { payment, transId } = await paid()
    await check(t, gateway, payment, notified('payment.authcapture.created', success))
    fakeGateway.refund(transId, 700)
    await checkFact(t, gateway, payment, notified('payment.refund.created'), refunded)
  })

  t.test('Authorize.Net: webhooks of a payment that is authorized and captured', async (t) => {
    const { payment, transId } = await paid({ authOnly: true })
    await check(t, gateway, payment, notified('payment.authorization.created', processing))
    fakeGateway.capture(transId)
    await check(t, gateway, payment, notified('payment.priorAuthCapture.created', success))
  })

  t.test('Authorize.Net: webhooks of held payments that are approved or declined', async (t) => {
    const good = await paid({ outcome: 'held' })
    await check(t, gateway, good.payment, notified('payment.fraud.held', processing))
    fakeGateway.approveHeld(good.transId)
    await check(t, gateway, good.payment, notified('payment.fraud.approved', success))
    const bad = await paid({ outcome: 'held' })
    fakeGateway.declineHeld(bad.transId)
    await check(t, gateway, bad.payment, notified('payment.fraud.declined', failure))
  })

  t.test('Authorize.Net: webhooks of a payment that is voided', async (t) => {
    const { payment, transId } = await paid({ authOnly: true })
    fakeGateway.voidTransaction(transId)
    const end = { canonical: ['payment.failed', 'canceled'], list: ['canceled', 'canceled'] } as const
    await check(t, gateway, payment, notified('payment.void.created', end))
  })
})

t.test('sandbox: webhooks of own payments in every status', async (t) => {
  for (const [kind, status, canonical] of [
    ['requires_action', 'pending', null],
    ['processing', 'processing', null],
    ['succeeded', 'succeeded', 'payment.succeeded'],
    ['failed', 'failed', 'payment.failed'],
    ['canceled', 'canceled', 'payment.failed'],
  ] as const) {
    const payment = await harness.open(sandbox)
    const object = { id: payment.provider_intent_id, amount: 2200, currency: 'usd', status: kind }
    const body = generic.body('sandbox', `payment_intent.${kind}`, object)
    const signature = signSandboxEvent(secret, body, Math.floor(now.getTime() / 1_000))
    const list = [kind, status] as const
    await check(t, sandbox, payment, {
      provider_type: `payment_intent.${kind}`,
      occurred_at: generic.occurred_at,
      signed: { body, headers: { 'sandbox-signature': signature } },
      list,
      ...(canonical === null ? {} : { canonical: [canonical, status] as const }),
    })
  }
})
