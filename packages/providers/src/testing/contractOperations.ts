// Test support: the fakes of the providers, and the calls of all adapters, each ready to be made on a fake.
import type { ProviderName } from '@paylog/domain/providerEvents'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { FaultPlan } from '@paylog/testing/fakeServer'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'
import type { CreateIntent, IntentRef, Provider } from '../provider.ts'
import { type ConnectedProvider, connect } from './providerHarness.ts'
import { createRequest, payment_id, refTo as refToIntent, refundOf } from './requests.ts'

/** The fake of each provider that is called over HTTP. Its `env` connects an adapter to it. */
export const startFakes = {
  stripe: startFakeStripe,
  paypal: startFakePaypal,
  'authorize-net': startFakeAuthorizeNet,
} satisfies Readonly<Record<Exclude<ProviderName, 'sandbox'>, unknown>>

export type Operation = {
  readonly provider: Provider
  /** @param isRepeated whether an earlier call may have reached the provider */
  readonly act: (isRepeated?: boolean) => Promise<unknown>
  /** Of the request that changes something, or of the reading one. */
  readonly faults: FaultPlan
  /** Of the requests before it. */
  readonly readFaults: FaultPlan
  /** How often the provider did it. */
  readonly effects: () => number
  /** The key of each request that changes something, or that reads; `undefined` at a provider without keys. */
  readonly keys: () => readonly unknown[]
}

export type OperationKind = {
  readonly name: string
  readonly start: (t: Test, timeoutMs: number) => Promise<Operation>
  /** How often the provider has done it after the call: 0 for what can be done any number of times. */
  readonly effect: 0 | 1
  /** Whether a request is repeated after a lost response. */
  readonly isRepeatable: boolean
  readonly readsFirst: boolean
}

const usd = { currency: 'USD' } as const
export const intent: CreateIntent = { ...createRequest, ...usd }
export const refTo = (id: string, more: Partial<IntentRef> = {}): IntentRef => refToIntent(id, { ...usd, ...more })

/** The calls of a provider by name. */
const callsOf = (provider: ConnectedProvider, ref: IntentRef) => ({
  createIntent: () => provider.createIntent(intent),
  retrieveIntent: () => provider.retrieveIntent(ref),
  captureIntent: () => provider.captureIntent({ ...ref, idempotency_key: 'take' }),
  captureAuthorized: () => provider.captureAuthorized({ ...ref, idempotency_key: 'capture', amount_cents: 1500 }),
  cancelIntent: () => provider.cancelIntent({ ...ref, idempotency_key: 'cancel' }),
  findPaymentId: () => provider.findPaymentId({ ...ref, provider_intent_id: null }),
  refund: (is_repeated = false) => provider.refund(refundOf(ref, { is_repeated, requested_at: ref.created_at })),
})
type CallName = keyof ReturnType<typeof callsOf>

type Fake<Call> = { readonly calls: readonly Call[]; readonly faults: FaultPlan; readonly readFaults: FaultPlan }

/** @param options `counts`: whether a request is one that changes something, or that reads */
function ready<Call extends { readonly method: string; readonly key?: string | null | undefined }>(
  call: CallName,
  fake: Fake<Call>,
  options: {
    readonly provider: ConnectedProvider
    readonly ref: IntentRef
    /** 0 for a call that it does not name. */
    readonly effects: Readonly<Partial<Record<CallName, () => number>>>
    readonly counts: (request: Call) => boolean
  },
): Operation {
  const { provider, ref, effects, counts } = options
  const { faults, readFaults, calls } = fake
  const before = calls.length
  return {
    provider,
    act: callsOf(provider, ref)[call],
    faults: isRead(call) ? readFaults : faults,
    readFaults,
    effects: effects[call] ?? (() => 0),
    keys: () => calls.slice(before).flatMap((request) => (counts(request) ? [request.key] : [])),
  }
}

/** These calls need an authorization. */
const isManual = (call: CallName) => call === 'captureAuthorized' || call === 'cancelIntent'
/** These calls need a charge. */
const needsCharge = (call: CallName) => call === 'refund' || call === 'findPaymentId'
const isRead = (call: CallName) => call === 'retrieveIntent' || call === 'findPaymentId'

function stripe(call: CallName): OperationKind['start'] {
  return async (t, timeoutMs) => {
    const fake = await startFakeStripe(t)
    const provider = await connect(t, fake.env, { timeoutMs })
    const capture_method = isManual(call) ? 'manual' : 'automatic'
    const made = call === 'createIntent' ? null : await provider.createIntent({ ...intent, capture_method })
    const id = made?.provider_intent_id ?? ''
    if (isManual(call) || needsCharge(call)) fake.pay(id, 'succeeded')
    const provider_payment_id = call === 'findPaymentId' ? fake.intent(id).latest_charge : null
    const effects = {
      createIntent: () => fake.intents().length,
      captureAuthorized: () => fake.ledger.charges.length,
      cancelIntent: () => fake.events.filter(({ type }) => type === 'payment_intent.canceled').length,
      refund: () => fake.refundsOf(id).length,
    }
    const ref = refTo(id, { provider_payment_id })
    return ready(call, fake, { provider, ref, effects, counts: ({ method }) => isRead(call) || method !== 'GET' })
  }
}

function paypal(call: CallName): OperationKind['start'] {
  return async (t, timeoutMs) => {
    const fake = await startFakePaypal(t)
    const provider = await connect(t, fake.env, { timeoutMs })
    const capture_method = isManual(call) ? 'manual' : 'automatic'
    const made = call === 'createIntent' ? null : await provider.createIntent({ ...intent, capture_method })
    const ref = refTo(made?.provider_intent_id ?? '', { capture_method })
    if (made && call !== 'retrieveIntent') fake.approve(ref.provider_intent_id)
    const taken = isManual(call) || needsCharge(call) ? await callsOf(provider, ref).captureIntent() : undefined
    const provider_payment_id = needsCharge(call) ? (taken?.report.provider_payment_id ?? null) : null
    const money = () => fake.balanceOf(payment_id)
    const effects = {
      createIntent: () => fake.orders.size,
      captureIntent: () => fake.charges.length,
      captureAuthorized: () => fake.charges.length,
      cancelIntent: () => (money().capturable_cents === 0 ? 1 : 0),
      refund: () => money().refunded_cents / 599,
    }
    return ready(call, fake, {
      provider,
      ref: { ...ref, provider_payment_id },
      effects,
      counts: ({ method, path }) => isRead(call) === (method === 'GET') && !path.includes('oauth2'),
    })
  }
}

function authorizeNet(call: CallName): OperationKind['start'] {
  return async (t, timeoutMs) => {
    const fake = await startFakeAuthorizeNet(t)
    const provider = await connect(t, fake.env, { timeoutMs })
    const capture_method = isManual(call) ? 'manual' : 'automatic'
    const { provider_intent_id: invoice, client_secret } = await provider.createIntent({ ...intent, capture_method })
    const isPaid = isManual(call) || needsCharge(call)
    const { transId = null } = isPaid ? fake.pay({ token: client_secret ?? '' }) : {}
    if (call === 'refund') fake.settle()
    // The currency of the account is read once.
    if (isPaid) await provider.retrieveIntent(refTo(invoice))
    const voided = () => fake.transactions.filter(({ transactionStatus }) => transactionStatus === 'voided')
    const effects = {
      captureAuthorized: () => fake.ledger.charges.length,
      cancelIntent: () => voided().length,
      refund: () => fake.moneyOf(invoice).refunded_cents / 599,
    }
    const sent: Partial<Record<CallName, string>> = {
      createIntent: 'getHostedPaymentPage',
      retrieveIntent: 'getUnsettledTransactionList',
      findPaymentId: 'getTransactionDetails',
    }
    const ref = refTo(invoice, { provider_payment_id: transId, capture_method })
    return ready(call, fake, {
      provider,
      ref,
      effects,
      counts: ({ method }) => method === (sent[call] ?? 'createTransaction'),
    })
  }
}

const operation = (
  provider: string,
  start: (call: CallName) => OperationKind['start'],
  call: CallName,
  more: Partial<OperationKind> = {},
): OperationKind => ({
  name: `${provider} ${call}`,
  start: start(call),
  effect: isRead(call) ? 0 : 1,
  isRepeatable: true,
  readsFirst: false,
  ...more,
})

const readsFirst = { readsFirst: true }

export const operations: readonly OperationKind[] = [
  operation('stripe', stripe, 'createIntent'),
  operation('stripe', stripe, 'retrieveIntent'),
  operation('stripe', stripe, 'findPaymentId'),
  operation('stripe', stripe, 'captureAuthorized'),
  operation('stripe', stripe, 'cancelIntent'),
  operation('stripe', stripe, 'refund'),
  operation('paypal', paypal, 'createIntent'),
  operation('paypal', paypal, 'retrieveIntent'),
  operation('paypal', paypal, 'findPaymentId'),
  operation('paypal', paypal, 'captureIntent'),
  operation('paypal', paypal, 'captureAuthorized', readsFirst),
  operation('paypal', paypal, 'cancelIntent', readsFirst),
  operation('paypal', paypal, 'refund'),
  // A token charges nothing.
  operation('authorize-net', authorizeNet, 'createIntent', { effect: 0 }),
  operation('authorize-net', authorizeNet, 'retrieveIntent'),
  operation('authorize-net', authorizeNet, 'findPaymentId'),
  operation('authorize-net', authorizeNet, 'captureAuthorized', readsFirst),
  operation('authorize-net', authorizeNet, 'cancelIntent', readsFirst),
  // There are no keys, and the gateway does not recognise a refund that it has made before.
  operation('authorize-net', authorizeNet, 'refund', { ...readsFirst, isRepeatable: false }),
]
