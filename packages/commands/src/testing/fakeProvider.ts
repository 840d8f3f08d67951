// The in-process provider of tests: intents, idempotency keys and charges, a catalogue and saved methods. A test sets which
// calls fail, what the payer does, and what happens during a call.
import type { RefundStatus } from '@paylog/domain/payments/events'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import {
  type CreateIntent,
  type FoundIntent,
  type IntentRef,
  type IntentSnapshot,
  type Provider,
  ProviderError,
  type RefundCharge,
  type ReportedRefund,
} from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { createChargeLedger } from '@paylog/testing/fakeServer'
import type { Test } from 'tap'
import { createCatalogState, fakeCatalog } from './fakeCatalog.ts'
import { createSteps, perform } from './fakeSteps.ts'
import { createVaultState, fakeVault } from './fakeVault.ts'

export type FakeIntent = {
  readonly id: string
  readonly payment_id: string
  amount_cents: number
  currency: string
  status: PaymentStatus
  charges: string[]
  /** The payer has approved, and nothing is captured yet. */
  approved: boolean
  capturable_cents: number
  readonly refunds: FakeRefund[]
}

export type FakeRefund = {
  readonly id: string
  /** Ours; null for one that was made in the provider's dashboard. */
  readonly refund_id: string | null
  readonly charge: string | null
  readonly amount_cents: number
  status: RefundStatus
}

export type FakeProviderOptions = {
  readonly id?: string
  /** An approved intent is charged only by a capture call. */
  readonly captures?: boolean
  /** For tests that charge a payment twice on purpose. */
  readonly allowDouble?: boolean
}

const webhookSecret = 'fake-secret'

/** Each test begins without recorded calls and planned failures. */
export function createFakeProvider(t: Test, options: FakeProviderOptions = {}) {
  const fake = createState(t, options)
  t.beforeEach(() => {
    fake.calls.length = 0
    fake.failures.clear()
    fake.always = undefined
    fake.before = undefined
    fake.meanwhile = undefined
    fake.declines = false
  })
  return { fake, provider: providerOn(fake, options) }
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
    catalog: createCatalogState(),
    vault: createVaultState(),
    /** The calls are `create <key>`, `retrieve <intent>`, `find <payment>`, `cancel <intent>`, `capture <key>`. */
    ...createSteps(),
    /** The arguments of each retrieveIntent call. */
    requests: [] as IntentRef[],
    /** Whether captures are declined. */
    declines: false,
    of: intentsOf,
    /** The payment's single intent. */
    onlyOf(paymentId: string): FakeIntent {
      const [intent, ...others] = intentsOf(paymentId)
      if (!intent || others.length > 0) throw new Error('expected exactly one intent')
      return intent
    },
    /** Charges the payer. @returns the charge's id */
    charge(intent: FakeIntent, amount_cents = intent.amount_cents) {
      const charge_id = `ch_${intent.id}_${intent.charges.length + 1}`
      intent.charges.push(charge_id)
      intent.status = 'succeeded'
      intent.approved = false
      intent.amount_cents = amount_cents
      ledger.add({ ...intent, charge_id, intent_id: intent.id })
      return charge_id
    },
    authorize(intent: FakeIntent) {
      intent.status = 'processing'
      intent.capturable_cents = intent.amount_cents
    },
    /** Refunds, once for each key, and never more than the charges. */
    refund(request: RefundRequest): ReportedRefund {
      const { provider_intent_id, provider_payment_id, amount_cents, refund_id = null, status = refundStatus } = request
      const intent = intents.get(provider_intent_id)
      if (!intent) throw new Error('unknown intent')
      const earlier = intent.refunds.find((each) => refund_id !== null && each.refund_id === refund_id)
      if (earlier) return refundReport(intent, earlier)
      const refunded = intent.refunds.filter((each) => each.status !== 'failed').map((each) => each.amount_cents)
      const left = intent.amount_cents * intent.charges.length - refunded.reduce((sum, cents) => sum + cents, 0)
      if (amount_cents > left) throw new ProviderError('rejected', 'refund_too_large', 'Message for the caller')
      const id = `re_${intent.id}_${intent.refunds.length + 1}`
      const refund = { id, refund_id, charge: provider_payment_id, amount_cents, status }
      intent.refunds.push(refund)
      return refundReport(intent, refund)
    },
    approve(intent: FakeIntent) {
      intent.status = 'processing'
      intent.approved = true
    },
    /** Sets what became of the payment's single intent at the provider; a success is a charge. */
    set(paymentId: string, status: PaymentStatus | 'approved') {
      const intent = this.onlyOf(paymentId)
      if (status === 'approved') this.approve(intent)
      else if (status === 'succeeded') this.charge(intent)
      else intent.status = status
    },
    /** Creates an intent at the provider, without a call of ours. */
    make(
      { payment_id, amount_cents = 2599, currency = 'EUR' }: Partial<CreateIntent>,
      status: PaymentStatus = 'pending',
    ) {
      if (payment_id === undefined) throw new Error('payment_id is required')
      const id = `pi_${intents.size + 1}_${payment_id.slice(-4)}`
      const asked = { id, payment_id, amount_cents, currency, status }
      const intent: FakeIntent = { ...asked, charges: [], approved: false, capturable_cents: 0, refunds: [] }
      intents.set(id, intent)
      return intent
    },
  }
}

function providerOn(state: FakeProviderState, { id = 'fake', captures = false }: FakeProviderOptions): Provider {
  const captured = new Map<string, PaymentStatus>()
  return {
    ...createSandbox({ webhookSecrets: [webhookSecret] }),
    id,
    catalog: fakeCatalog(state, state.catalog),
    methods: fakeVault(state, state.vault),
    createIntent: (request) =>
      perform(state, `create ${request.idempotency_key}`, () => {
        const intent = state.byKey.get(request.idempotency_key) ?? state.make(request)
        state.byKey.set(request.idempotency_key, intent)
        return { provider_intent_id: intent.id, client_secret: `${intent.id}_secret` }
      }),
    retrieveIntent: (ref) =>
      perform(state, `retrieve ${ref.provider_intent_id}`, () => {
        state.requests.push(ref)
        const intent = state.intents.get(ref.provider_intent_id)
        return intent ? snapshotOf(intent, captures) : null
      }),
    findPaymentId: ({ provider_intent_id: id, provider_payment_id: charge }) =>
      perform(state, `find payment of ${id ?? charge}`, () => {
        const isMeant = (intent: FakeIntent) => intent.id === id || intent.charges.some((each) => each === charge)
        return [...state.intents.values()].find(isMeant)?.payment_id ?? null
      }),
    findIntents: (paymentId) => perform(state, `find ${paymentId}`, () => state.of(paymentId).map(foundIntent)),
    cancelIntent: ({ provider_intent_id }) =>
      perform(state, `cancel ${provider_intent_id}`, () => {
        const intent = state.intents.get(provider_intent_id)
        if (!intent) return null
        if (intent.status !== 'succeeded') {
          intent.status = 'canceled'
          intent.approved = false
          intent.capturable_cents = 0
        }
        return snapshotOf(intent, captures)
      }),
    captureAuthorized: ({ provider_intent_id, amount_cents }) =>
      perform(state, `capture ${provider_intent_id}`, () => {
        const intent = state.intents.get(provider_intent_id)
        if (!intent) throw new Error('unknown intent')
        if (intent.status === 'processing' && intent.capturable_cents >= amount_cents)
          state.charge(intent, amount_cents)
        intent.capturable_cents = 0
        return snapshotOf(intent, captures)
      }),
    refund: (request) => perform(state, `refund ${request.idempotency_key}`, () => state.refund(request)),
    captureIntent: captures
      ? ({ provider_intent_id, idempotency_key: key }) =>
          perform(state, `capture ${key}`, () => {
            const intent = state.intents.get(provider_intent_id)
            if (!intent) throw new Error('unknown intent')
            if (!captured.has(key)) {
              if (!state.declines) state.charge(intent)
              captured.set(key, state.declines ? 'failed' : 'succeeded')
            }
            return snapshotOf({ ...intent, status: captured.get(key) ?? 'failed', approved: false }, captures)
          })
      : null,
  }
}

type RefundRequest = Pick<RefundCharge, 'provider_intent_id' | 'provider_payment_id' | 'amount_cents'> & {
  readonly refund_id?: string
  readonly status?: RefundStatus
}

const refundStatus: RefundStatus = 'succeeded'

/** What the provider says of a refund. */
function refundReport({ id: provider_intent_id, currency }: FakeIntent, refund: FakeRefund): ReportedRefund {
  const { id: provider_refund_id, refund_id, charge: provider_payment_id, amount_cents, status } = refund
  const provider_time = new Date().toISOString()
  const about = { refund_id, provider_refund_id, status, provider_intent_id, provider_payment_id }
  return { ...about, amount_cents, currency, provider_time, provider_event_id: null }
}

function foundIntent({ id: provider_intent_id, status }: FakeIntent): FoundIntent {
  return { provider_intent_id, client_secret: `${provider_intent_id}_secret`, status }
}

function snapshotOf(intent: FakeIntent, captures: boolean): IntentSnapshot {
  const { id: provider_intent_id, status, amount_cents, currency, charges, approved, capturable_cents } = intent
  const [first, ...further] = charges
  return {
    report: {
      status,
      provider_time: new Date().toISOString(),
      provider_event_id: null,
      provider_intent_id,
      provider_payment_id: first ?? null,
      amount_cents,
      currency: currency.toLowerCase(),
      ...(capturable_cents > 0 && { capturable_cents }),
      ...(status === 'failed' ? { failure_code: 'declined', failure_message: 'Declined' } : {}),
    },
    further_charges: further.map((provider_payment_id) => ({ provider_payment_id, amount_cents, currency })),
    awaits_capture: captures && approved,
    refunds: intent.refunds.map((refund) => refundReport(intent, refund)),
  }
}
