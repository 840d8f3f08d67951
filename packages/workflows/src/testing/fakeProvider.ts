// A provider inside the process that keeps intents, keys and charges as real ones do. A test moves its scenery: what an
// answer is replaced with, what the payer does, and what happens while a question is under way.
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import {
  type CreateIntent,
  type FoundIntent,
  type IntentRef,
  type IntentSnapshot,
  type Provider,
  ProviderError,
  type ProviderErrorKind,
} from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { createChargeLedger } from '@paylog/testing/fakeServer'
import type { Test } from 'tap'

export type FakeIntent = {
  readonly id: string
  readonly payment_id: string
  amount_cents: number
  currency: string
  status: PaymentStatus
  charges: string[]
  /** The payer has approved, and nothing was taken yet. */
  approved: boolean
}

/** What a call meets; `done` says whether the provider did it all the same. */
export type ProviderFailure = { readonly kind: ProviderErrorKind; readonly done?: boolean }

export type FakeProviderOptions = {
  /** Approved money has to be taken by a call of ours. */
  readonly captures?: boolean
  /** For a test that charges a payment twice on purpose. */
  readonly allowDouble?: boolean
}

const webhookSecret = 'staged-secret'

export function createFakeProvider(t: Test, options: FakeProviderOptions = {}) {
  const stage = createState(t, options)
  return { stage, provider: providerOn(stage, options) }
}

type FakeProviderState = ReturnType<typeof createState>

function createState(t: Test, { allowDouble = false }: FakeProviderOptions) {
  const ledger = createChargeLedger(t, { allowDouble })
  const intents = new Map<string, FakeIntent>()
  const intentsOf = (paymentId: string) => [...intents.values()].filter(({ payment_id }) => payment_id === paymentId)
  return {
    intents,
    ledger,
    byKey: new Map<string, FakeIntent>(),
    /** Every call, as `create <key>`, `retrieve <intent>`, `find <payment>`, `cancel <intent>`, `capture <key>`. */
    calls: [] as string[],
    /** What was asked for. */
    requests: [] as IntentRef[],
    /** The next calls of a kind meet these. */
    failures: new Map<string, (ProviderFailure | undefined)[]>(),
    /** Runs after a call took effect and before it is answered. */
    meanwhile: undefined as ((call: string) => Promise<unknown>) | undefined,
    /** The next captures are declined. */
    declines: false,
    of: intentsOf,
    /** For a payment that must have one intent. */
    onlyOf(paymentId: string): FakeIntent {
      const [intent, ...others] = intentsOf(paymentId)
      if (!intent || others.length > 0) throw new Error('One payment, one intent')
      return intent
    },
    /** The payer pays: what providers call a charge. */
    charge(intent: FakeIntent, amount_cents = intent.amount_cents) {
      const charge_id = `ch_${intent.id}_${intent.charges.length + 1}`
      intent.charges.push(charge_id)
      intent.status = 'succeeded'
      intent.approved = false
      intent.amount_cents = amount_cents
      ledger.add({ ...intent, charge_id, intent_id: intent.id })
      return charge_id
    },
    approve(intent: FakeIntent) {
      intent.status = 'processing'
      intent.approved = true
    },
    /** An intent that the provider makes, whoever is told of it. */
    make(
      { payment_id, amount_cents = 2599, currency = 'EUR' }: Partial<CreateIntent>,
      status: PaymentStatus = 'pending',
    ) {
      if (payment_id === undefined) throw new Error('An intent belongs to a payment')
      const id = `pi_${intents.size + 1}_${payment_id.slice(-4)}`
      const intent: FakeIntent = { id, payment_id, amount_cents, currency, status, charges: [], approved: false }
      intents.set(id, intent)
      return intent
    },
  }
}

function providerOn(state: FakeProviderState, { captures = false }: FakeProviderOptions): Provider {
  const captured = new Map<string, PaymentStatus>()
  return {
    ...createSandbox({ webhookSecrets: [webhookSecret] }),
    id: 'staged',
    createIntent: (request) =>
      perform(state, `create ${request.idempotency_key}`, () => {
        const intent = state.byKey.get(request.idempotency_key) ?? state.make(request)
        state.byKey.set(request.idempotency_key, intent)
        return { provider_intent_id: intent.id, client_secret: `${intent.id}_secret` }
      }),
    retrieveIntent: (asked) =>
      perform(state, `retrieve ${asked.provider_intent_id}`, () => {
        state.requests.push(asked)
        const { provider_intent_id } = asked
        const intent = state.intents.get(provider_intent_id)
        return intent ? snapshotOf(intent, captures) : null
      }),
    findIntents: (paymentId) => perform(state, `find ${paymentId}`, () => state.of(paymentId).map(foundIntent)),
    cancelIntent: (intentId) =>
      perform(state, `cancel ${intentId}`, () => {
        const intent = state.intents.get(intentId)
        if (intent) intent.status = 'canceled'
      }),
    captureIntent: captures
      ? ({ provider_intent_id, idempotency_key: key }) =>
          perform(state, `capture ${key}`, () => {
            const intent = state.intents.get(provider_intent_id)
            if (!intent) throw new Error('There is nothing to capture')
            if (!captured.has(key)) {
              if (!state.declines) state.charge(intent)
              captured.set(key, state.declines ? 'failed' : 'succeeded')
            }
            return snapshotOf({ ...intent, status: captured.get(key) ?? 'failed', approved: false }, captures)
          })
      : null,
  }
}

async function perform<Answer>(state: FakeProviderState, call: string, act: () => Answer): Promise<Answer> {
  state.calls.push(call)
  const [verb = ''] = call.split(' ')
  const fault = state.failures.get(verb)?.shift()
  if (fault && !fault.done) throw providerError(verb, fault)
  const result = act()
  await state.meanwhile?.(call)
  if (fault) throw providerError(verb, fault)
  return result
}

function providerError(verb: string, { kind }: ProviderFailure): ProviderError {
  return new ProviderError(kind, `${verb}_${kind}`, 'In words for the caller')
}

function foundIntent({ id: provider_intent_id, status }: FakeIntent): FoundIntent {
  return { provider_intent_id, client_secret: `${provider_intent_id}_secret`, status }
}

function snapshotOf(intent: FakeIntent, captures: boolean): IntentSnapshot {
  const { id: provider_intent_id, status, amount_cents, currency, charges, approved } = intent
  const [first, ...further_charges] = charges
  return {
    evidence: {
      status,
      provider_time: new Date().toISOString(),
      provider_event_id: null,
      provider_intent_id,
      provider_payment_id: first ?? null,
      amount_cents,
      currency: currency.toLowerCase(),
      ...(status === 'failed' ? { failure_code: 'declined', failure_message: 'Declined' } : {}),
    },
    further_charges,
    awaits_capture: captures && approved,
  }
}
