// A provider that keeps balances, for tests of the routes that move money: intents that a test pays or authorizes,
// captures, cancellations and refunds, with keys, and with failures that a test plans.

import type { RefundStatus } from '@paylog/domain/payments/events'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import {
  type CreateIntent,
  type IntentSnapshot,
  type Provider,
  ProviderError,
  type ProviderErrorKind,
  type RefundCharge,
  type ReportedRefund,
} from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'

type Intent = {
  readonly request: CreateIntent
  status: PaymentStatus
  capturable: number
  received: number
  expired: boolean
  readonly refunds: Map<string, ReportedRefund>
}

type Verb = 'create' | 'retrieve' | 'cancel' | 'capture' | 'refund'
/** `done`: the provider executes the call all the same. */
type Failure = { readonly kind: ProviderErrorKind; readonly done?: boolean }

export function createFakeMoneyProvider() {
  const fake = createState()
  return { fake, provider: providerOn(fake) }
}

type State = ReturnType<typeof createState>

function createState() {
  const intents = new Map<string, Intent>()
  const failures = new Map<Verb, Failure[]>()
  const intentOf = (paymentId: string): Intent => {
    const found = [...intents.values()].filter(({ request }) => request.payment_id === paymentId).at(-1)
    if (!found) throw new Error('no intent')
    return found
  }
  return {
    intents,
    calls: [] as Verb[],
    created: [] as CreateIntent[],
    failures,
    /** The status of new refunds. */
    refundStatus: 'succeeded' as RefundStatus,
    /** Runs before a call. */
    before: undefined as ((verb: Verb) => Promise<unknown>) | undefined,
    failNext: (verb: Verb, ...next: Failure[]) => void failures.set(verb, next),
    /** The newest intent of a payment. */
    intentOf,
    pay(paymentId: string, amount?: number) {
      const intent = intentOf(paymentId)
      Object.assign(intent, { status: 'succeeded', received: amount ?? intent.request.amount_cents })
    },
    authorize(paymentId: string) {
      const intent = intentOf(paymentId)
      Object.assign(intent, { status: 'processing', capturable: intent.request.amount_cents })
    },
    refundsOf: (paymentId: string) => [...intentOf(paymentId).refunds.values()],
  }
}

function providerOn(state: State): Provider {
  const intentAt = (id: string) => state.intents.get(id)
  const existing = (id: string) => {
    const intent = intentAt(id)
    if (!intent) throw new ProviderError('rejected', 'no_intent', 'There is no such intent')
    return intent
  }
  return {
    ...createSandbox({ webhookSecrets: ['secret'] }),
    id: 'fake',
    pagesExpire: true,
    createIntent: (request) =>
      perform(state, 'create', () => {
        const provider_intent_id = `pi_${request.idempotency_key}`
        state.created.push(request)
        if (!state.intents.has(provider_intent_id)) state.intents.set(provider_intent_id, newIntent(request))
        const redirect_url = `https://pay.example.com/${provider_intent_id}`
        return { provider_intent_id, client_secret: `${provider_intent_id}_secret`, redirect_url }
      }),
    retrieveIntent: ({ provider_intent_id: id }) =>
      perform(state, 'retrieve', () => {
        const intent = intentAt(id)
        return intent ? snapshotOf(id, intent) : null
      }),
    cancelIntent: ({ provider_intent_id: id }) =>
      perform(state, 'cancel', () => {
        const intent = existing(id)
        if (intent.status !== 'succeeded') Object.assign(intent, { status: 'canceled', capturable: 0 })
        return snapshotOf(id, intent)
      }),
    captureIntent: null,
    captureAuthorized: ({ provider_intent_id: id, amount_cents: received }) =>
      perform(state, 'capture', () => {
        const intent = existing(id)
        if (intent.capturable > 0) Object.assign(intent, { status: 'succeeded', received, capturable: 0 })
        return snapshotOf(id, intent)
      }),
    refund: (request) => perform(state, 'refund', () => refundOf(state, existing(request.provider_intent_id), request)),
  }
}

const newIntent = (request: CreateIntent): Intent => ({
  request,
  status: 'pending',
  capturable: 0,
  received: 0,
  expired: false,
  refunds: new Map(),
})

function refundOf({ refundStatus: status }: State, intent: Intent, request: RefundCharge): ReportedRefund {
  const { refund_id, amount_cents: refund_cents, provider_intent_id, provider_payment_id } = request
  const earlier = intent.refunds.get(request.idempotency_key)
  if (earlier) return earlier
  const refunded = [...intent.refunds.values()].reduce((sum, each) => sum + (each.refund_cents ?? 0), 0)
  if (refunded + refund_cents > intent.received)
    throw new ProviderError('rejected', 'too_much', 'The refund is larger than the charge')
  const source = { provider_time: new Date().toISOString(), provider_event_id: null }
  const ids = { provider_intent_id, provider_payment_id, provider_refund_id: `re_${refund_id}`, refund_id }
  const refund: ReportedRefund = { ...source, ...ids, refund_cents, status }
  intent.refunds.set(request.idempotency_key, refund)
  return refund
}

function snapshotOf(provider_intent_id: string, intent: Intent): IntentSnapshot {
  const { status, capturable, received, request, refunds, expired } = intent
  return {
    evidence: {
      status,
      provider_time: new Date().toISOString(),
      provider_event_id: null,
      provider_intent_id,
      provider_payment_id: received > 0 || capturable > 0 ? `ch_${provider_intent_id}` : null,
      amount_cents: received > 0 ? received : request.amount_cents,
      currency: request.currency.toLowerCase(),
      capturable_cents: capturable,
    },
    further_charges: [],
    awaits_capture: false,
    refunds: [...refunds.values()],
    is_page_expired: expired,
  }
}

async function perform<Result>(state: State, verb: Verb, act: () => Result): Promise<Result> {
  state.calls.push(verb)
  await state.before?.(verb)
  const failure = state.failures.get(verb)?.shift()
  if (!failure) return act()
  if (failure.done) act()
  throw new ProviderError(failure.kind, `${verb}_${failure.kind}`, 'Message for the caller')
}
