// Test support: the fakes of the providers, and the calls of all adapters, each ready to be made on a fake.
import type { ProviderName } from '@paylog/domain/providerEvents'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { FaultPlan } from '@paylog/testing/fakeServer'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'
import type { CreateIntent, IntentRef, Provider, RefundCharge } from '../provider.ts'
import { connect } from './providerHarness.ts'

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

const payment_id = '018f2a3b-4c5d-7e6f-8a9b-0c1d2e3f4a5b'
const refund_id = '018f2a3b-0000-7000-8000-00000000000a'

export const intent: CreateIntent = {
  payment_id,
  idempotency_key: payment_id,
  amount_cents: 2599,
  currency: 'USD',
  description: null,
  capture_method: 'automatic',
  return_url: null,
  cancel_url: null,
  statement_descriptor: null,
  provider_method_id: null,
  provider_customer_id: null,
}

export const refTo = (provider_intent_id: string, more: Partial<IntentRef> = {}): IntentRef => ({
  payment_id,
  provider_intent_id,
  provider_payment_id: null,
  currency: 'USD',
  capture_method: 'automatic',
  created_at: new Date(Date.now() - 1_000).toISOString(),
  ...more,
})

const refundOf = (ref: IntentRef, is_repeated: boolean): RefundCharge => ({
  ...ref,
  idempotency_key: refund_id,
  refund_id,
  amount_cents: 599,
  is_whole: false,
  reason: 'other',
  requested_at: ref.created_at,
  is_repeated,
})

/** The calls of a provider by name. */
const callsOf = (provider: Provider, ref: IntentRef) => ({
  createIntent: () => provider.createIntent(intent),
  retrieveIntent: async () => provider.retrieveIntent?.(ref),
  captureIntent: async () => provider.captureIntent?.({ ...ref, idempotency_key: 'take' }),
  captureAuthorized: async () =>
    provider.captureAuthorized?.({ ...ref, idempotency_key: 'capture', amount_cents: 1500 }),
  cancelIntent: () => provider.cancelIntent({ ...ref, idempotency_key: 'cancel' }),
  refund: async (isRepeated = false) => provider.refund?.(refundOf(ref, isRepeated)),
})
type CallName = keyof ReturnType<typeof callsOf>

type Fake<Call> = { readonly calls: readonly Call[]; readonly faults: FaultPlan; readonly readFaults: FaultPlan }

/** @param options `counts`: whether a request is one that changes something, or that reads */
function ready<Call extends { readonly method: string; readonly key?: string | null | undefined }>(
  call: CallName,
  fake: Fake<Call>,
  options: {
    readonly provider: Provider
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
    faults: call === 'retrieveIntent' ? readFaults : faults,
    readFaults,
    effects: effects[call] ?? (() => 0),
    keys: () => calls.slice(before).flatMap((request) => (counts(request) ? [request.key] : [])),
  }
}

/** These calls need an authorization. */
const isManual = (call: CallName) => call === 'captureAuthorized' || call === 'cancelIntent'

function stripe(call: CallName): OperationKind['start'] {
  return async (t, timeoutMs) => {
    const fake = await startFakeStripe(t)
    const provider = await connect(t, fake.env, { timeoutMs })
    const capture_method = isManual(call) ? 'manual' : 'automatic'
    const made = call === 'createIntent' ? null : await provider.createIntent({ ...intent, capture_method })
    const id = made?.provider_intent_id ?? ''
    if (isManual(call) || call === 'refund') fake.pay(id, 'succeeded')
    const effects = {
      createIntent: () => fake.intents().length,
      captureAuthorized: () => fake.ledger.charges.length,
      cancelIntent: () => fake.events.filter(({ type }) => type === 'payment_intent.canceled').length,
      refund: () => fake.refundsOf(id).length,
    }
    const reads = call === 'retrieveIntent'
    return ready(call, fake, { provider, ref: refTo(id), effects, counts: ({ method }) => reads || method !== 'GET' })
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
    const taken = isManual(call) || call === 'refund' ? await callsOf(provider, ref).captureIntent() : undefined
    const provider_payment_id = call === 'refund' ? (taken?.evidence.provider_payment_id ?? null) : null
    const money = () => fake.balanceOf(payment_id)
    const effects = {
      createIntent: () => fake.orders.size,
      captureIntent: () => fake.charges.length,
      captureAuthorized: () => fake.charges.length,
      cancelIntent: () => (money().capturable_cents === 0 ? 1 : 0),
      refund: () => money().refunded_cents / 599,
    }
    const reads = call === 'retrieveIntent'
    return ready(call, fake, {
      provider,
      ref: { ...ref, provider_payment_id },
      effects,
      counts: ({ method, path }) => reads === (method === 'GET') && !path.includes('oauth2'),
    })
  }
}

function authorizeNet(call: CallName): OperationKind['start'] {
  return async (t, timeoutMs) => {
    const fake = await startFakeAuthorizeNet(t)
    const provider = await connect(t, fake.env, { timeoutMs })
    const capture_method = isManual(call) ? 'manual' : 'automatic'
    const { provider_intent_id: invoice, client_secret } = await provider.createIntent({ ...intent, capture_method })
    const isPaid = isManual(call) || call === 'refund'
    const { transId = null } = isPaid ? fake.pay({ token: client_secret ?? '' }) : {}
    if (call === 'refund') fake.settle()
    // The currency of the account is read once.
    if (isPaid) await provider.retrieveIntent?.(refTo(invoice))
    const voided = () => fake.transactions.filter(({ transactionStatus }) => transactionStatus === 'voided')
    const effects = {
      captureAuthorized: () => fake.ledger.charges.length,
      cancelIntent: () => voided().length,
      refund: () => fake.moneyOf(invoice).refunded_cents / 599,
    }
    const changing = call === 'createIntent' ? 'getHostedPaymentPage' : 'createTransaction'
    const sent = call === 'retrieveIntent' ? 'getUnsettledTransactionList' : changing
    const ref = refTo(invoice, { provider_payment_id: transId, capture_method })
    return ready(call, fake, { provider, ref, effects, counts: ({ method }) => method === sent })
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
  effect: call === 'retrieveIntent' ? 0 : 1,
  isRepeatable: true,
  readsFirst: false,
  ...more,
})

const readsFirst = { readsFirst: true }

export const operations: readonly OperationKind[] = [
  operation('stripe', stripe, 'createIntent'),
  operation('stripe', stripe, 'retrieveIntent'),
  operation('stripe', stripe, 'captureAuthorized'),
  operation('stripe', stripe, 'cancelIntent'),
  operation('stripe', stripe, 'refund'),
  operation('paypal', paypal, 'createIntent'),
  operation('paypal', paypal, 'retrieveIntent'),
  operation('paypal', paypal, 'captureIntent'),
  operation('paypal', paypal, 'captureAuthorized', readsFirst),
  operation('paypal', paypal, 'cancelIntent', readsFirst),
  operation('paypal', paypal, 'refund'),
  // A token charges nothing.
  operation('authorize-net', authorizeNet, 'createIntent', { effect: 0 }),
  operation('authorize-net', authorizeNet, 'retrieveIntent'),
  operation('authorize-net', authorizeNet, 'captureAuthorized', readsFirst),
  operation('authorize-net', authorizeNet, 'cancelIntent', readsFirst),
  // There are no keys, and the gateway does not recognise a refund that it has made before.
  operation('authorize-net', authorizeNet, 'refund', { ...readsFirst, isRepeatable: false }),
]
